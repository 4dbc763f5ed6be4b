//! Loads of shared memory, of whose words a kernel may use only some.
//!
//! The compiler may load more words than the source reads, for example words after the end of an
//! array in the last rounds of an unrolled loop. If no thread of the block has written such a
//! word, or if the load of the word races with another thread, this is a fault only if the kernel
//! uses the word's value. So the word becomes one of the
//! [`Suspects`](super::super::suspect::Suspects).

use super::super::decoded::DecodedInstruction;
use super::super::fault::{Fault, FaultKind};
use super::super::shadow::Manner;
use super::super::warp::Warp;
use super::memory::{MemoryRange, Named};

/// Value of a word beyond the block's memory.
const NOTHING: u32 = 0x5B5B_5B5B;

impl Warp<'_> {
    /// Returns the bytes of a load of shared memory.
    pub(super) fn shared_bytes(
        &self,
        inst: &DecodedInstruction,
        (address, size): (u64, usize),
        lane: usize,
    ) -> [u8; 16] {
        let mut bytes = [0; 16];
        let Some(device) = self.device else {
            self.fail(inst, "shared memory without a device's memory");
        };
        let manner = if size > 4 { Manner::WideRead } else { Manner::Read };
        let is_inside = device.borrow().shared_place(address, size).is_ok();
        if is_inside || !address.is_multiple_of(size as u64) {
            let spot = self.spot(inst, address, lane, size, Named::Shared);
            let is_plain = device.borrow().replacement.is_none();
            if is_plain && self.hazard(inst, (spot, size), lane, manner, &[]).is_none() {
                self.read(spot, &mut bytes[..size]);
                return bytes;
            }
        }
        for (at, part) in bytes[..size].chunks_mut(4).enumerate() {
            let place = (address + 4 * at as u64, part.len());
            let (value, fault) = self.shared_word(inst, place, lane, manner);
            part.copy_from_slice(&value.to_le_bytes()[..part.len()]);
            if let Some(fault) = fault {
                let mut device = device.borrow_mut();
                let read = (self.grid_thread(lane), device.order.now, word(place.0));
                device.suspects.add(read, fault);
            }
        }
        bytes
    }

    /// Returns at most one word of a load, and its fault, if it has one.
    fn shared_word(
        &self,
        inst: &DecodedInstruction,
        (address, size): (u64, usize),
        lane: usize,
        manner: Manner,
    ) -> (u32, Option<Fault>) {
        let Some(device) = self.device else { return (NOTHING, None) };
        let place = device.borrow().shared_place(address, size);
        let (mut value, fault) = match place {
            Ok(place) => {
                let (spot, mut bytes) = (MemoryRange::Device(place), [0; 4]);
                self.read(spot, &mut bytes[..size]);
                let fault = self.hazard(inst, (spot, size), lane, manner, &[]);
                (u32::from_le_bytes(bytes), fault)
            }
            Err(reason) => {
                let fault = self.fault_of(FaultKind::OutsideArray, inst, 1 << lane, &reason);
                (NOTHING, Some(fault))
            }
        };
        let device = device.borrow();
        let read = (self.grid_thread(lane), device.order.now, word(address));
        if let Some(replacement) = &device.replacement
            && replacement.words.contains(&read)
        {
            value = replacement.value;
        }
        (value, fault)
    }
}

/// Returns the offset of the word that holds an address of shared memory.
fn word(address: u64) -> usize {
    address as usize / 4 * 4
}
