//! Wide loads of shared memory of which a thread of the block has written some words and not all.
//!
//! For the last turns of an unrolled loop the compiler loads more words than these turns use, so an
//! unwritten word beside a written one is no fault: it is a number at random, which spoils the
//! results of a kernel that uses it, and the device's memory notes the load for messages.

use super::super::decoded::DecodedInstruction;
use super::super::shadow::Manner;
use super::super::warp::{Warp, mixed};
use super::memory::Named;

impl Warp<'_> {
    /// True if a thread of the block has written this word of shared memory.
    fn is_written(&self, address: u64) -> bool {
        self.device.is_some_and(|device| {
            let device = device.borrow();
            let place = device.shared_place(address, 4);
            place.is_ok_and(|place| device.is_initialised(place, 4))
        })
    }

    /// True if a load has several words, of which some were written and some were not, or lie
    /// behind the block's memory.
    pub(super) fn is_partly_written(&self, address: u64, size: usize) -> bool {
        let mut words = (address..address + size as u64).step_by(4);
        let is_first_written = size > 4 && self.is_written(address);
        size > 4
            && address.is_multiple_of(size as u64)
            && words.any(|at| self.is_written(at) != is_first_written)
    }

    /// Words of such a load.
    pub(super) fn partly_written_words(
        &self,
        step: &DecodedInstruction,
        (address, size): (u64, usize),
        lane: usize,
    ) -> [u32; 4] {
        let mut words = [0; 4];
        for (at, word) in words.iter_mut().enumerate().take(size / 4) {
            let address = address + 4 * at as u64;
            if self.is_written(address) {
                let spot = self.spot(step, address, lane, 4, Named::Shared);
                self.touch(step, (spot, 4), lane, Manner::Read, &[]);
                let mut bytes = [0; 4];
                self.read(spot, &mut bytes);
                *word = u32::from_le_bytes(bytes);
            } else {
                self.note_unwritten(step, address, lane);
                *word = mixed(self.counts.issues ^ address << 32) as u32;
            }
        }
        words
    }

    fn note_unwritten(&self, step: &DecodedInstruction, address: u64, lane: usize) {
        let Some(device) = self.device else { return };
        let (thread, block) = (self.thread + lane as u32, self.block);
        let line = step.line().map_or_else(String::new, |line| format!(" in line {line}"));
        device.borrow_mut().unwritten.get_or_insert_with(|| {
            format!(
                "thread {thread} of block {block}{line} loads byte {address} of shared memory, \
                 which no thread of the block has written"
            )
        });
    }
}
