//! Wide loads of shared memory, of whose words a kernel may use only some.
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
use super::memory::{self, MemoryRange, Named};

/// Value of a word beyond the block's memory.
const NOTHING: u32 = 0x5B5B_5B5B;

impl Warp<'_> {
    /// Returns the words of a wide load of shared memory.
    pub(super) fn shared_words(
        &self,
        inst: &DecodedInstruction,
        (address, size): (u64, usize),
        lane: usize,
    ) -> [u32; 4] {
        let mut words = [NOTHING; 4];
        let Some(device) = self.device else { return words };
        let is_inside = device.borrow().shared_place(address, size).is_ok();
        if is_inside || !address.is_multiple_of(size as u64) {
            let spot = self.spot(inst, address, lane, size, Named::Shared);
            let is_plain = device.borrow().replacement.is_none();
            if is_plain && self.hazard(inst, (spot, size), lane, Manner::WideRead, &[]).is_none() {
                let mut bytes = [0; 16];
                self.read(spot, &mut bytes[..size]);
                return memory::words(bytes, size, false);
            }
        }
        let mut faults = Vec::new();
        for (at, word) in words.iter_mut().enumerate().take(size / 4) {
            let address = address + 4 * at as u64;
            let (value, fault) = self.shared_word(inst, address, lane);
            *word = value;
            faults.extend(fault.map(|fault| (address as usize, fault)));
        }
        // If all words are faulty, the source itself reads a faulty word.
        if faults.len() == size / 4 {
            faults.swap_remove(0).1.raise();
        }
        let mut device = device.borrow_mut();
        for (at, fault) in faults {
            let read = (self.grid_thread(lane), device.order.now, at);
            device.suspects.add(read, fault);
        }
        words
    }

    /// Returns one word of a wide load, and the word's fault, if it has one.
    fn shared_word(
        &self,
        inst: &DecodedInstruction,
        address: u64,
        lane: usize,
    ) -> (u32, Option<Fault>) {
        let Some(device) = self.device else { return (NOTHING, None) };
        let place = device.borrow().shared_place(address, 4);
        let (mut value, fault) = match place {
            Ok(place) => {
                let (spot, mut bytes) = (MemoryRange::Device(place), [0; 4]);
                self.read(spot, &mut bytes);
                let fault = self.hazard(inst, (spot, 4), lane, Manner::WideRead, &[]);
                (u32::from_le_bytes(bytes), fault)
            }
            Err(reason) => {
                let fault = self.fault_of(FaultKind::OutsideArray, inst, 1 << lane, &reason);
                (NOTHING, Some(fault))
            }
        };
        let device = device.borrow();
        let read = (self.grid_thread(lane), device.order.now, address as usize);
        if let Some(replacement) = &device.replacement
            && replacement.words.contains(&read)
        {
            value = replacement.value;
        }
        (value, fault)
    }
}
