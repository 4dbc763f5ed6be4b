//! Barriers in shared memory (`mbarrier`): words of 64 bits on which threads arrive. A thread
//! waits by reading the word until the phase has changed.
//!
//! The low half holds the number of expected arrivals, the high half the number of missing
//! arrivals; both numbers are negative in their low bits. The top bit of the high half is the
//! phase. NVRTC's code initialises a barrier and tests its phase by ordinary instructions, and
//! this meaning follows from these instructions. UNVERIFIED on a GPU: the low half has 30 bits.

use super::super::decoded::DecodedInstruction;
use super::super::shadow::Manner;
use super::super::warp::{Mask, Warp, each};
use super::copy;
use super::memory::{MemoryRange, Named, in_some_order, put, words};

/// Bits of the number of missing arrivals.
const MISSING: u32 = 0x7FFF_FFFF;

/// Returns a barrier after one arrival. The last arrival begins the next phase.
fn arrived(barrier: u64) -> u64 {
    let (low, high) = (barrier as u32, (barrier >> 32) as u32);
    let next = high.wrapping_add(1);
    let high = match next & MISSING {
        0 => next & !MISSING | ((low << 2) as i32 >> 2) as u32 & MISSING,
        _ => next,
    };
    u64::from(high) << 32 | u64::from(low)
}

/// `ATOMS.ARRIVE.64`: each lane arrives, and gets the barrier's contents from before its arrival.
pub(crate) fn arrive(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.tick();
    for lane in in_some_order(warp, lanes) {
        let was = arrive_one(warp, inst, lane);
        put(warp, inst, lane, 8, words(was, 8, false));
    }
}

/// `ARRIVES.LDGSTSBAR.64`: each lane arrives when its asynchronous copies are complete.
pub(crate) fn arrive_by_copy(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    copy::finish(warp, inst, lanes);
    super::barrier::fence_lanes(warp, lanes, true);
    for lane in each(lanes) {
        arrive_one(warp, inst, lane);
    }
}

fn arrive_one(warp: &mut Warp<'_>, inst: &DecodedInstruction, lane: usize) -> [u8; 16] {
    let address = warp.address(inst, lane, Named::Shared);
    let spot: MemoryRange = warp.spot(inst, address, lane, 8, Named::Shared);
    // Threads that wait read only the high half.
    let high = warp.spot(inst, address + 4, lane, 4, Named::Shared);
    warp.touch(inst, (high, 4), lane, Manner::Atomic, &[]);
    let mut bytes = [0; 16];
    warp.read(spot, &mut bytes[..8]);
    let was = u64::from_le_bytes(std::array::from_fn(|at| bytes[at]));
    warp.write(spot, &arrived(was).to_le_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_arrival_changes_the_phase_and_expects_as_many_again() {
        // The contents that NVRTC writes for two threads.
        let first = 0x7FFF_FFFE_3FFF_FFFE;
        assert_eq!(arrived(first), 0x7FFF_FFFF_3FFF_FFFE);
        assert_eq!(arrived(arrived(first)), 0xFFFF_FFFE_3FFF_FFFE);
        assert_eq!(arrived(arrived(arrived(arrived(first)))), first);
    }
}
