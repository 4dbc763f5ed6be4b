//! Global, shared and local memory, constants, and special registers.
//!
//! Addresses are addresses of a [`DeviceMemory`](super::super::device_memory::DeviceMemory), or
//! of the host's memory. Two windows that neither of them uses stand for a block's shared memory
//! and a lane's local memory.
#![allow(unsafe_code, reason = "a kernel's addresses are the host's; the driver closes all others")]

use super::super::count::Access;
use super::super::decoded::{Address, DecodedInstruction, Special};
use super::super::device_memory::{DevicePlace, SHARED_WINDOW};
use super::super::fault::{Fault, FaultKind};
use super::super::kernel_code::word;
use super::super::schedule::Extents;
use super::super::shadow::Manner;
use super::super::warp::{LANES, Mask, SINK, Warp, Word, ZERO, each, mixed};
use super::round::bits;

/// First address of the window that is local memory.
const LOCAL_WINDOW: u64 = 0x7F00_0000_0000_0000;

/// Local memory of all lanes, one after the other.
#[derive(Clone, Debug)]
pub struct Local {
    bytes: Vec<u8>,
    /// Bytes of one lane.
    size: usize,
}

impl Local {
    /// Makes unwritten memory of so many bytes for each lane.
    pub fn new(size: usize) -> Self {
        Self { bytes: vec![0xCD; size * LANES], size }
    }
}

/// Place of some bytes.
#[derive(Clone, Copy)]
pub(super) enum MemoryRange {
    Host(u64),
    Local(usize),
    Device(DevicePlace),
}

/// Memory that an instruction names.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Named {
    /// Any memory, by the window of the address.
    Generic,
    /// Shared memory, by an offset.
    Shared,
    /// Local memory, by an offset.
    Local,
}

impl Warp<'_> {
    pub(super) fn address(&self, inst: &DecodedInstruction, lane: usize, named: Named) -> u64 {
        self.address_of(inst, &inst.place, lane, named)
    }

    /// Returns the address of a place for a lane.
    pub(super) fn address_of(
        &self,
        inst: &DecodedInstruction,
        place: &Address,
        lane: usize,
        named: Named,
    ) -> u64 {
        let value = |at: Option<(u16, u16)>| {
            at.map_or(0, |(low, high)| {
                let [low, high] = [low, high].map(|at| u64::from(self.file[usize::from(at)][lane]));
                low | high << 32
            })
        };
        let is_offset = named != Named::Generic;
        if !is_offset && place.uniform.is_some_and(|(low, high)| low != ZERO && high == ZERO) {
            self.fail(inst, "a uniform register of 32 bits in an address of 64");
        }
        let sum = (value(place.base) << place.shift).wrapping_add(value(place.uniform));
        let sum = sum.wrapping_add(place.offset as u64);
        if is_offset { u64::from(sum as u32) } else { sum }
    }

    /// Returns the place of bytes at an address. If the address has no place, the launch ends.
    pub(super) fn spot(
        &self,
        inst: &DecodedInstruction,
        address: u64,
        lane: usize,
        size: usize,
        named: Named,
    ) -> MemoryRange {
        let local = match (named, self.device) {
            (Named::Local, _) => address,
            (Named::Generic, _) if address >= LOCAL_WINDOW => address - LOCAL_WINDOW,
            (_, Some(device)) => {
                let device = device.borrow();
                let place = match named {
                    Named::Shared => device.shared_place(address, size),
                    _ => device.place(address, size, inst.is_exchange),
                };
                match place {
                    Ok(place) if !address.is_multiple_of(size as u64) => {
                        let name = device.name(place, place.offset());
                        let reason = format!(
                            "{name} is the first of {size} bytes, but {size} doesn't divide its address"
                        );
                        self.fault(FaultKind::Misaligned, inst, 1 << lane, &reason);
                    }
                    Ok(place) => return MemoryRange::Device(place),
                    Err(reason) => {
                        self.fault(FaultKind::OutsideArray, inst, 1 << lane, &reason);
                    }
                }
            }
            (Named::Shared, None) => self.fail(inst, "shared memory without a device's memory"),
            (Named::Generic, None) => {
                if !address.is_multiple_of(size as u64) {
                    self.fail(inst, &format!("{size} bytes at {address:x}: it is not aligned"));
                }
                return MemoryRange::Host(address);
            }
        } as usize;
        if local + size > self.local.size || !local.is_multiple_of(size) {
            let reason = format!("{size} bytes at {local:x} of local memory");
            self.fault(FaultKind::OutsideArray, inst, 1 << lane, &reason);
        }
        MemoryRange::Local(lane * self.local.size + local)
    }

    pub(super) fn read(&self, spot: MemoryRange, to: &mut [u8]) {
        match spot {
            // SAFETY: the address is the kernel's own. The driver has protected all pages outside
            // of the device's memory, so a wrong address ends the launch by a fault, as on a GPU.
            MemoryRange::Host(address) => unsafe {
                std::ptr::copy_nonoverlapping(address as *const u8, to.as_mut_ptr(), to.len());
            },
            MemoryRange::Local(at) => to.copy_from_slice(&self.local.bytes[at..at + to.len()]),
            MemoryRange::Device(place) => {
                self.device.iter().for_each(|device| device.borrow().read(place, to));
            }
        }
    }

    pub(super) fn write(&mut self, spot: MemoryRange, from: &[u8]) {
        match spot {
            // SAFETY: as above.
            MemoryRange::Host(address) => unsafe {
                std::ptr::copy_nonoverlapping(from.as_ptr(), address as *mut u8, from.len());
            },
            MemoryRange::Local(at) => self.local.bytes[at..at + from.len()].copy_from_slice(from),
            MemoryRange::Device(place) => {
                self.device.iter().for_each(|device| device.borrow_mut().write(place, from));
            }
        }
    }

    /// Returns the number of a lane's thread in the grid.
    pub(super) fn grid_thread(&self, lane: usize) -> u32 {
        self.block * self.threads + self.thread + lane as u32
    }

    /// Advances the time of a device's accesses.
    pub(super) fn tick(&self) {
        self.device.iter().for_each(|device| device.borrow_mut().order.now += 1);
    }

    /// Records an access of a device's memory, and ends the launch if it is a race. `becomes` has
    /// the bytes that the access writes, if they are known.
    pub(super) fn touch(
        &self,
        inst: &DecodedInstruction,
        (spot, size): (MemoryRange, usize),
        lane: usize,
        manner: Manner,
        becomes: &[u8],
    ) {
        if let Some(fault) = self.hazard(inst, (spot, size), lane, manner, becomes) {
            fault.raise();
        }
    }

    /// Records an access of a device's memory, and returns its fault, if it has one.
    pub(super) fn hazard(
        &self,
        inst: &DecodedInstruction,
        (spot, size): (MemoryRange, usize),
        lane: usize,
        manner: Manner,
        becomes: &[u8],
    ) -> Option<Fault> {
        let (MemoryRange::Device(place), Some(device)) = (spot, self.device) else { return None };
        let mut device = device.borrow_mut();
        let is_read = !matches!(manner, Manner::Write | Manner::StrongWrite);
        if is_read && !device.is_initialised(place, size) {
            let at = device.name(place, place.offset());
            let reason = format!(
                "{at} is read before a thread of the block has written it: a barrier before the \
                 read is missing, or a store"
            );
            return Some(self.fault_of(FaultKind::UninitialisedShared, inst, 1 << lane, &reason));
        }
        let instruction = inst.address / super::super::listing::STRIDE;
        let thread = self.grid_thread(lane);
        let conflict = device.note(place, size, manner, (thread, instruction), becomes);
        for unsure in std::mem::take(&mut device.unsure) {
            let fault = self.race(inst, &device, (place, size), unsure, lane, (manner, becomes));
            device.suspects.add(unsure.earlier.word(unsure.at), fault);
        }
        let conflict = conflict?;
        Some(self.race(inst, &device, (place, size), conflict, lane, (manner, becomes)))
    }

    pub(super) fn count(&mut self, space: Access, lanes: Mask, addresses: &[u64; LANES]) {
        let mut sectors = [0; LANES];
        let mut count = 0;
        for lane in each(lanes) {
            let sector = addresses[lane] / 32;
            if !sectors[..count].contains(&sector) {
                sectors[count] = sector;
                count += 1;
            }
        }
        self.counts.access(space, count as u64);
    }

    fn count_local(&mut self, space: Access, lanes: Mask, addresses: &[u64; LANES]) {
        // In local memory the same word of all lanes lies side by side, so 8 words of 4 bytes are a
        // sector.
        let places = std::array::from_fn(|lane| (addresses[lane] / 4 * 32 + lane as u64) * 4);
        self.count(space, lanes, &places);
    }
}

/// Returns the size and the sign by the number in `{,.U8,.S8,.U16,.S16,.64,.128}`.
fn loaded(kind: u8) -> (usize, bool) {
    [(4, false), (1, false), (1, true), (2, false), (2, true), (8, false), (16, false)]
        [usize::from(kind)]
}

/// Returns the size by the number in `{,.U8,.U16,.64,.128,.S8,.S16}`.
fn stored(kind: u8) -> usize {
    [4, 1, 2, 8, 16, 1, 2][usize::from(kind)]
}

/// Returns loaded bytes as words; a small number is extended, with its sign if it is signed.
pub(super) fn words(bytes: [u8; 16], size: usize, is_signed: bool) -> [u32; 4] {
    let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|byte| bytes[4 * at + byte]));
    let first = match (size, is_signed) {
        (1, true) => bytes[0] as i8 as u32,
        (2, true) => i16::from_le_bytes([bytes[0], bytes[1]]) as u32,
        _ => word(0),
    };
    [first, word(1), word(2), word(3)]
}

pub(super) fn put(
    warp: &mut Warp<'_>,
    inst: &DecodedInstruction,
    lane: usize,
    size: usize,
    words: [u32; 4],
) {
    let count = size.div_ceil(4);
    for (at, word) in words.into_iter().enumerate().take(count) {
        warp.file[usize::from(inst.to) + at][lane] = word;
    }
}

fn load_by(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask, named: Named) {
    let (size, is_signed) = loaded(inst.modifiers[1]);
    let manner = match inst.modifiers[2] {
        // This load is part of a loop that implements one atomic operation.
        0 if named == Named::Shared && inst.is_exchange => Manner::StrongRead,
        0 => Manner::Read,
        1 => Manner::ConstantRead,
        _ => Manner::StrongRead,
    };
    let mut addresses = [0; LANES];
    warp.tick();
    for lane in each(lanes) {
        addresses[lane] = warp.address(inst, lane, named);
        if named == Named::Shared && !inst.is_exchange {
            let bytes = warp.shared_bytes(inst, (addresses[lane], size), lane);
            put(warp, inst, lane, size, words(bytes, size, is_signed));
            continue;
        }
        let spot = warp.spot(inst, addresses[lane], lane, size, named);
        warp.touch(inst, (spot, size), lane, manner, &[]);
        let mut bytes = [0; 16];
        warp.read(spot, &mut bytes[..size]);
        put(warp, inst, lane, size, words(bytes, size, is_signed));
    }
    match named {
        Named::Local => warp.count_local(Access::LocalLoad, lanes, &addresses),
        Named::Generic => warp.count(Access::Load, lanes, &addresses),
        Named::Shared => {}
    }
}

pub(crate) fn load(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    load_by(warp, inst, lanes, Named::Generic);
}

pub(crate) fn load_local(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    load_by(warp, inst, lanes, Named::Local);
}

pub(crate) fn load_shared(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    load_by(warp, inst, lanes, Named::Shared);
}

fn store_by(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask, named: Named) {
    let size = stored(inst.modifiers[1]);
    let manner = if inst.modifiers[2] >= 1 { Manner::StrongWrite } else { Manner::Write };
    let from = inst.from[0].low;
    // All words of `RZ` are zero.
    let word_at = |at: u16| if from == ZERO { from } else { from + at };
    let mut addresses = [0; LANES];
    warp.tick();
    for lane in each(lanes) {
        addresses[lane] = warp.address(inst, lane, named);
        let spot = warp.spot(inst, addresses[lane], lane, size, named);
        let mut bytes = [0; 16];
        for at in 0..size.div_ceil(4) {
            let word = warp.file[usize::from(word_at(at as u16))][lane];
            bytes[4 * at..4 * at + 4].copy_from_slice(&word.to_le_bytes());
        }
        warp.touch(inst, (spot, size), lane, manner, &bytes[..size]);
        warp.write(spot, &bytes[..size]);
    }
    match named {
        Named::Local => warp.count_local(Access::LocalStore, lanes, &addresses),
        Named::Generic => warp.count(Access::Store, lanes, &addresses),
        Named::Shared => {}
    }
}

pub(crate) fn store(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    store_by(warp, inst, lanes, Named::Generic);
}

pub(crate) fn store_local(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    store_by(warp, inst, lanes, Named::Local);
}

pub(crate) fn store_shared(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    store_by(warp, inst, lanes, Named::Shared);
}

/// Returns the memory of an atomic operation, which is shared memory for `ATOMS`.
fn named_by(inst: &DecodedInstruction) -> Named {
    if inst.pattern.contains("ATOMS") { Named::Shared } else { Named::Generic }
}

/// Returns the lanes in the order of their atomic operations. In a device's memory a seed chooses
/// the order.
pub(super) fn in_some_order(warp: &Warp<'_>, lanes: Mask) -> impl Iterator<Item = usize> + use<> {
    let seed = warp.device.map_or(0, |device| device.borrow().seed);
    let chance = if seed == 0 { 0 } else { mixed(seed ^ warp.counts.issues) };
    let (first, is_reverse) = ((chance % 32) as usize, chance & 32 != 0);
    (0..LANES).filter_map(move |at| {
        let at = if is_reverse { LANES - 1 - at } else { at };
        let lane = (at + first) % LANES;
        (lanes >> lane & 1 == 1).then_some(lane)
    })
}

/// Reads and writes a place in each lane, one after the other; a register gets the old value.
fn exchange(
    warp: &mut Warp<'_>,
    inst: &DecodedInstruction,
    lanes: Mask,
    size: usize,
    f: impl Fn(&Warp<'_>, usize, u64) -> u64,
) {
    let named = named_by(inst);
    let is_of_block = inst.text.contains("STRONG.SM");
    let manner = if is_of_block { Manner::AtomicOfBlock } else { Manner::Atomic };
    let mut addresses = [0; LANES];
    warp.tick();
    for lane in in_some_order(warp, lanes) {
        addresses[lane] = warp.address(inst, lane, named);
        // An atomic operation on a generic address skips shared memory, for which the code has
        // other instructions.
        if named == Named::Generic && is_shared(warp, addresses[lane]) {
            warp.set(inst, 0, 1 << lane, 0);
            continue;
        }
        warp.set(inst, 0, 1 << lane, !0);
        let spot = warp.spot(inst, addresses[lane], lane, size, named);
        let mut bytes = [0; 16];
        warp.read(spot, &mut bytes[..size]);
        let was = u64::from_le_bytes(std::array::from_fn(|at| bytes[at]));
        let becomes = f(warp, lane, was).to_le_bytes();
        warp.touch(inst, (spot, size), lane, manner, &becomes[..size]);
        warp.write(spot, &becomes[..size]);
        put(warp, inst, lane, size, words(bytes, size, false));
    }
    if named == Named::Generic {
        warp.count(Access::Atomic, lanes, &addresses);
    }
}

fn is_shared(warp: &Warp<'_>, address: u64) -> bool {
    warp.device.is_some() && (SHARED_WINDOW..LOCAL_WINDOW).contains(&address)
}

/// `QSPC.E`: true if an address is in shared memory (`S`), in shared memory of a block of the
/// cluster (`D`), in global memory (`G`) or in local memory (`L`). A cluster is one block here.
pub(crate) fn is_in_space(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let mut inside = 0;
    for lane in each(lanes) {
        let address = warp.address(inst, lane, Named::Generic);
        let (is_shared, is_local) = (is_shared(warp, address), address >= LOCAL_WINDOW);
        let is_inside = [is_shared, is_shared, !is_shared && !is_local, is_local];
        inside |= u32::from(is_inside[usize::from(inst.modifiers[0])]) << lane;
    }
    warp.set(inst, 0, lanes, inside);
}

/// `ATOMS.POPC.INC.32`: each lane adds one.
pub(crate) fn increment(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    exchange(warp, inst, lanes, 4, |_, _, was| was.wrapping_add(1));
}

/// `CAST.SPIN`: compares and exchanges; the register, or `ATOMS`'s predicate on sm_100, says
/// whether the exchange took place.
pub(crate) fn exchange_or_fail(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let is_long = inst.modifiers[1] == 1;
    let mask = if is_long { !0 } else { 0xFFFF_FFFF };
    let expected: [u64; LANES] = std::array::from_fn(|lane| warp.long(&inst.from[0], lane) & mask);
    atomic_exchange(warp, inst, lanes);
    let mut exchanged = 0;
    for lane in each(lanes) {
        let [low, high] = [0, 1].map(|at| u64::from(warp.file[usize::from(inst.to) + at][lane]));
        let was = if is_long { low | high << 32 } else { low };
        exchanged |= u32::from(was == expected[lane]) << lane;
        warp.file[usize::from(inst.to)][lane] = u32::from(was == expected[lane]);
        if is_long {
            warp.file[usize::from(inst.to) + 1][lane] = 0;
        }
    }
    if inst.to == SINK {
        warp.set(inst, 0, lanes, exchanged);
    }
}

/// Adds two pairs of floats of 16 bits.
pub(crate) fn atomic_halves(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let is_brain = inst.modifiers[1] == 1;
    exchange(warp, inst, lanes, 4, |warp, lane, was| {
        let value = warp.word(&inst.from[0], lane);
        u64::from(super::half::sum(was as u32, value, is_brain))
    });
}

pub(crate) fn atomic(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (is_signed, is_long) = (inst.modifiers[2] & 1 == 1, inst.modifiers[2] >= 2);
    let size = if is_long { 8 } else { 4 };
    exchange(warp, inst, lanes, size, |warp, lane, was| {
        let value = warp.long(&inst.from[0], lane);
        let value = if is_long { value } else { u64::from(value as u32) };
        // Keys whose order is the order of signed or unsigned numbers.
        let order = |it: u64| match (is_signed, is_long) {
            (true, true) => i128::from(it as i64),
            (true, false) => i128::from(it as i32),
            _ => i128::from(it),
        };
        match inst.modifiers[1] {
            0 => was.wrapping_add(value),
            1 if order(value) < order(was) => value,
            2 if order(value) > order(was) => value,
            1 | 2 => was,
            3 => was & value,
            4 => was | value,
            5 => was ^ value,
            7 if was >= value => 0,
            7 => was + 1,
            8 if was == 0 || was > value => value,
            8 => was - 1,
            _ => value,
        }
    });
}

pub(crate) fn atomic_float(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let is_double = inst.modifiers[1] == 1;
    exchange(warp, inst, lanes, if is_double { 8 } else { 4 }, |warp, lane, was| {
        let value = warp.long(&inst.from[0], lane);
        if is_double {
            super::round::long_bits(f64::from_bits(was) + f64::from_bits(value))
        } else {
            let flushed = |it: u32| super::round::flushed(f32::from_bits(it), true);
            let sum = flushed(was as u32) + flushed(value as u32);
            u64::from(bits(super::round::flushed(sum, true)))
        }
    });
}

pub(crate) fn atomic_exchange(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let is_long = inst.modifiers[1] == 1;
    let mask = if is_long { !0 } else { 0xFFFF_FFFF };
    exchange(warp, inst, lanes, if is_long { 8 } else { 4 }, |warp, lane, was| {
        let [expected, value] = [0, 1].map(|at| warp.long(&inst.from[at], lane) & mask);
        if was == expected { value } else { was }
    });
}

/// Loads from a constant bank at an offset in a register.
pub(crate) fn constant(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (size, is_signed) = loaded(inst.modifiers[1]);
    let constant = inst.constant;
    for lane in each(lanes | inst.whole) {
        let bank = match usize::from(constant.bank) {
            0 => warp.bank0,
            bank => warp.program.banks.get(bank).map_or(&[][..], Vec::as_slice),
        };
        let base = i64::from(warp.file[usize::from(constant.base)][lane]);
        let at = usize::try_from(base + constant.offset).unwrap_or(usize::MAX);
        let Some(found) = at.checked_add(size).and_then(|end| bank.get(at..end)) else {
            warp.fail(inst, &format!("no constant in bank {} at {at:x}", constant.bank));
        };
        let mut bytes = [0; 16];
        bytes[..size].copy_from_slice(found);
        put(warp, inst, lane, size, words(bytes, size, is_signed));
    }
}

fn special_word(warp: &Warp<'_>, inst: &DecodedInstruction) -> Word {
    std::array::from_fn(|lane| match inst.special {
        Special::Zero => 0,
        Special::Thread(dim) => warp.shape.1.index(warp.thread + lane as u32, dim),
        Special::Block(dim) => warp.shape.0.index(warp.block, dim),
        Special::Lane => lane as u32,
        Special::Warp => (warp.thread / LANES as u32 % 128) << 8,
        // The clock advances with each instruction by irregular steps, so that no code relies on
        // it.
        Special::Clock => {
            let issues = warp.counts.issues;
            (64 * issues + mixed(issues) % 64) as u32
        }
        Special::Lanes(wanted, with_equal) => each(!0).fold(0, |all, other| {
            let is_so = other.cmp(&lane) == wanted || with_equal && other == lane;
            all | u32::from(is_so) << other
        }),
    })
}

pub(crate) fn special(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let words = special_word(warp, inst);
    for lane in each(lanes | inst.whole) {
        warp.file[usize::from(inst.to)][lane] = words[lane];
    }
}

/// `CS2R`: writes a register or a pair.
pub(crate) fn special_pair(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    special(warp, inst, lanes);
    if inst.modifiers[0] == 0 && inst.to < SINK {
        for lane in each(lanes) {
            warp.file[usize::from(inst.to) + 1][lane] = 0;
        }
    }
}

/// Makes bank 0 of a launch with the driver's values, but without the parameters.
pub(crate) fn bank0(
    size: usize,
    arch: u32,
    (blocks, threads): (Extents, Extents),
    local_bytes: u32,
) -> Vec<u8> {
    let mut bank = vec![0; size];
    let mut put = |at: usize, value: u32| bank[at..at + 4].copy_from_slice(&value.to_le_bytes());
    let (shape, stack) = if arch >= 100 { (0x360, 0x37C) } else { (0, 0x28) };
    for (at, value) in threads.0.into_iter().enumerate() {
        put(shape + 4 * at, value);
    }
    let grid = if arch >= 100 { 0x370 } else { 0xC };
    for (at, value) in blocks.0.into_iter().enumerate() {
        put(grid + 4 * at, value);
    }
    put(stack, local_bytes);
    if arch < 90 {
        // The upper word of the first address of shared memory's window; the lower one is zero.
        put(0x1C, (SHARED_WINDOW >> 32) as u32);
    }
    // The upper word of the first address of local memory's window; the lower one is zero.
    put(if arch >= 100 { 0x2FC } else { 0x24 }, (LOCAL_WINDOW >> 32) as u32);
    debug_assert!(word(&bank, stack) == Some(local_bytes), "bank 0 is larger than that");
    bank
}
