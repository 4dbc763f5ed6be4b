//! Memory of a device: separate arrays, the shared memory of the running block, and the shadow
//! memory of both.
//!
//! Each array has a window of addresses that is far larger than the array. So an access outside
//! of an array never reaches another array, and is reported as an access of the array whose
//! window it hits.

use super::shadow::{Conflict, Manner, Order, Pending, Shadow};
use super::suspect::{Replacement, Suspects};

/// First address of the windows of arrays.
const FIRST_WINDOW: u64 = 1 << 44;
/// Bytes of a window; the array begins in its middle.
const WINDOW: u64 = 1 << 38;
/// First address of the window of shared memory.
pub const SHARED_WINDOW: u64 = 0x7E00_0000_0000_0000;
/// Number that stands for shared memory in place of an array's number.
pub const SHARED: usize = usize::MAX;

/// An array, or a variable of the module.
#[derive(Debug)]
pub struct DeviceArray {
    /// Name in messages.
    pub name: String,
    /// Bytes of an element, for indices in messages.
    pub element_bytes: usize,
    /// Contents, padded to a multiple of 4 bytes.
    bytes: Vec<u8>,
    /// Number of bytes of the array.
    length: usize,
    /// Address of the first byte.
    address: u64,
    shadow: Shadow,
}

/// Memory of a device.
#[derive(Debug)]
pub struct DeviceMemory {
    arrays: Vec<DeviceArray>,
    /// The module's variables, which have fixed addresses.
    variables: Vec<DeviceArray>,
    shared: DeviceArray,
    is_written: Vec<bool>,
    /// Order of accesses.
    pub order: Order,
    /// Instructions that may still be issued.
    pub budget: u64,
    /// Seed of the order of lanes.
    pub seed: u64,
    /// True if the simulator looks for races.
    pub finds_races: bool,
    /// Words of wide loads of shared memory that are unwritten or race with another access.
    pub suspects: Suspects,
    /// Values for the suspect words of an earlier launch.
    pub replacement: Option<Replacement>,
    /// Wide reads that race with the last access.
    pub(super) unsure: Vec<Conflict>,
}

/// Place of an access in an array.
#[derive(Clone, Copy, Debug)]
pub struct DevicePlace {
    /// Number of the array, or [`SHARED`].
    array: usize,
    /// Offset in bytes.
    at: usize,
}

impl DevicePlace {
    /// Returns the offset in the array, in bytes.
    pub fn offset(self) -> usize {
        self.at
    }

    /// Returns true if the place is in shared memory.
    pub fn is_shared(self) -> bool {
        self.array == SHARED
    }
}

impl Default for DeviceMemory {
    fn default() -> Self {
        Self::new()
    }
}

impl DeviceMemory {
    /// Makes memory without arrays.
    pub fn new() -> Self {
        let shared = DeviceArray::new("shared memory", 4, Vec::new(), SHARED_WINDOW);
        Self {
            arrays: Vec::new(),
            variables: Vec::new(),
            shared,
            is_written: Vec::new(),
            order: Order::default(),
            budget: u64::MAX,
            seed: 0,
            finds_races: true,
            suspects: Suspects::default(),
            replacement: None,
            unsure: Vec::new(),
        }
    }

    /// Adds an array, and returns its address.
    pub fn add(&mut self, name: &str, element_bytes: usize, bytes: Vec<u8>) -> u64 {
        let address = FIRST_WINDOW + WINDOW * self.arrays.len() as u64 + WINDOW / 2;
        self.arrays.push(DeviceArray::new(name, element_bytes, bytes, address));
        address
    }

    /// Returns the bytes of an array by its number, in the order of their addition.
    pub fn bytes(&self, array: usize) -> &[u8] {
        let array = &self.arrays[array];
        &array.bytes[..array.length]
    }

    /// Returns the bytes of a variable of the module.
    pub fn variable(&self, name: &str) -> Option<&[u8]> {
        self.variables.iter().find(|it| it.name == name).map(|it| &it.bytes[..it.length])
    }

    /// Adds a variable of the module at its address.
    pub(super) fn add_variable(&mut self, name: &str, address: u64, bytes: Vec<u8>) {
        self.variables.push(DeviceArray::new(name, 4, bytes, address));
    }

    /// Begins a launch of blocks with this shared memory and number of threads.
    pub(super) fn begin_launch(&mut self, shared_bytes: usize, threads: u32) {
        self.shared.bytes = vec![0; shared_bytes];
        self.shared.shadow = Shadow::new(shared_bytes);
        self.order = Order::new(threads);
    }

    /// Begins a block, whose shared memory counts as unwritten.
    pub(super) fn begin_block(&mut self, block: u32) {
        // Each block finds other leftover bytes in its shared memory.
        let noise = 0x5B ^ (block as u8).wrapping_mul(29);
        self.shared.bytes.fill(noise);
        self.shared.shadow.clear();
        self.is_written.clear();
        self.is_written.resize(self.shared.bytes.len(), false);
        self.order.begin_block();
    }

    /// Returns the place of an access, or the reason why the access has no place. An exchange of
    /// a word may reach beyond the end of an array of smaller elements, because compilers turn a
    /// 16-bit exchange into a 32-bit one.
    pub(super) fn place(
        &self,
        address: u64,
        size: usize,
        is_exchange: bool,
    ) -> Result<DevicePlace, String> {
        let number = (address.wrapping_sub(FIRST_WINDOW) / WINDOW) as usize;
        if let Some(array) = self.arrays.get(number) {
            return Ok(DevicePlace {
                array: number,
                at: array.offset(address, size, is_exchange)?,
            });
        }
        if address >= SHARED_WINDOW {
            return self.shared_place(address - SHARED_WINDOW, size);
        }
        let count = self.arrays.len();
        let inside =
            |it: &DeviceArray| (it.address..it.address + it.length as u64).contains(&address);
        if let Some(at) = self.variables.iter().position(inside) {
            let offset = self.variables[at].offset(address, size, is_exchange)?;
            return Ok(DevicePlace { array: count + at, at: offset });
        }
        Err(match address {
            0 => "the address is null: the array is absent".into(),
            1..0x1_0000_0000 => format!("address {address:#x} is near null: the array is absent"),
            _ => format!("no array has the address {address:#x}"),
        })
    }

    /// Returns a place in the block's shared memory.
    pub(super) fn shared_place(&self, at: u64, size: usize) -> Result<DevicePlace, String> {
        let bytes = self.shared.bytes.len();
        let end = usize::try_from(at).ok().and_then(|at| at.checked_add(size));
        if end.is_some_and(|end| end <= bytes) {
            return Ok(DevicePlace { array: SHARED, at: at as usize });
        }
        // Offsets have 32 bits.
        let at = at as u32 as i32;
        Err(format!("byte {at} of shared memory, of which the block has {bytes}"))
    }

    fn array(&self, number: usize) -> &DeviceArray {
        match self.arrays.len() {
            _ if number == SHARED => &self.shared,
            count if number >= count => &self.variables[number - count],
            _ => &self.arrays[number],
        }
    }

    fn array_mut(&mut self, number: usize) -> &mut DeviceArray {
        match self.arrays.len() {
            _ if number == SHARED => &mut self.shared,
            count if number >= count => &mut self.variables[number - count],
            _ => &mut self.arrays[number],
        }
    }

    /// Copies bytes out of memory.
    pub(super) fn read(&self, place: DevicePlace, to: &mut [u8]) {
        to.copy_from_slice(&self.array(place.array).bytes[place.at..place.at + to.len()]);
    }

    /// Copies bytes into memory.
    pub(super) fn write(&mut self, place: DevicePlace, from: &[u8]) {
        self.array_mut(place.array).bytes[place.at..place.at + from.len()].copy_from_slice(from);
        if place.is_shared() {
            self.is_written[place.at..place.at + from.len()].fill(true);
        }
    }

    /// Returns true if threads of the block have written all these bytes.
    pub(super) fn is_initialised(&self, place: DevicePlace, size: usize) -> bool {
        !place.is_shared() || self.is_written[place.at..place.at + size].iter().all(|it| *it)
    }

    /// Records an access in the shadow memory, and returns the access with which it races.
    /// `becomes` has the bytes that the access writes, if they are known.
    pub(super) fn note(
        &mut self,
        place: DevicePlace,
        size: usize,
        manner: Manner,
        (thread, instruction): (u32, u32),
        becomes: &[u8],
    ) -> Option<Conflict> {
        if !self.finds_races {
            return None;
        }
        let is_plain = matches!(
            manner,
            Manner::Read | Manner::WideRead | Manner::ConstantRead | Manner::Write
        );
        if !is_plain {
            let mut was = [0; 16];
            self.read(place, &mut was[..becomes.len()]);
            let is_change = becomes.is_empty() || was[..becomes.len()] != *becomes;
            self.order.meet((place.array, place.at), thread, manner, is_change);
        }
        let count = self.arrays.len();
        let array = match place.array {
            SHARED => &mut self.shared,
            number if number >= count => &mut self.variables[number - count],
            number => &mut self.arrays[number],
        };
        let access = (thread, instruction);
        array.shadow.note(&self.order, (place.at, size), manner, access, &mut self.unsure)
    }

    /// Returns the name of a place for messages.
    pub(super) fn name(&self, place: DevicePlace, at: usize) -> String {
        let array = self.array(place.array);
        match place.is_shared() {
            true => format!("byte {at} of shared memory"),
            false => format!("`{}[{}]`", array.name, at / array.element_bytes.max(1)),
        }
    }

    /// Returns the conflicts of plain reads with atomic operations that remain at the end of a
    /// launch, or for shared memory at the end of a block, with the names of their places.
    pub(super) fn pending(&self, of_block: bool) -> Vec<(String, Pending)> {
        let shared = of_block.then_some(&self.shared);
        let others = self.arrays.iter().chain(&self.variables).filter(|_| !of_block);
        let each = |(number, array): (usize, &DeviceArray)| {
            let number = if of_block { SHARED } else { number };
            array.shadow.pending().map(|it| (number, *it)).collect::<Vec<_>>()
        };
        let mut all: Vec<_> = shared.into_iter().chain(others).enumerate().flat_map(each).collect();
        all.sort_by_key(|(_, it)| (it.conflict.at, it.later.thread()));
        let named = |(array, pending): (usize, Pending)| {
            let at = pending.conflict.at;
            (self.name(DevicePlace { array, at }, at), pending)
        };
        all.into_iter().map(named).collect()
    }

    /// Returns true if all arrays and variables of both memories are equal, and both launches
    /// issued the same number of instructions.
    pub fn is_same(&self, other: &Self) -> bool {
        let all = |it: &'_ Self| -> Vec<_> {
            let arrays = it.arrays.iter().chain(&it.variables);
            arrays.map(|it| it.bytes.clone()).collect()
        };
        self.budget == other.budget && all(self) == all(other)
    }
}

impl DeviceArray {
    fn new(name: &str, element_bytes: usize, bytes: Vec<u8>, address: u64) -> Self {
        let length = bytes.len();
        let mut bytes = bytes;
        bytes.resize(length.next_multiple_of(4), 0);
        let shadow = Shadow::new(bytes.len());
        Self { name: name.into(), element_bytes, bytes, length, address, shadow }
    }

    fn offset(&self, address: u64, size: usize, is_exchange: bool) -> Result<usize, String> {
        let at = address.wrapping_sub(self.address) as i64;
        let end = usize::try_from(at).ok().and_then(|at| at.checked_add(size));
        let most = match end {
            Some(_) if is_exchange && (at as usize) < self.length => self.bytes.len(),
            _ => self.length,
        };
        if end.is_some_and(|end| end <= most) {
            return Ok(at as usize);
        }
        let of = self.element_bytes.max(1);
        let (element, count) = (at.div_euclid(of as i64), self.length / of);
        Err(format!("`{}[{element}]`: it has {count} elements", self.name))
    }
}
