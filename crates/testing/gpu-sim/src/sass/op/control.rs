//! Control of lanes: jumps, calls, barriers of convergence.

use super::super::decoded::DecodedInstruction;
use super::super::fault::FaultKind;
use super::super::listing::STRIDE;
use super::super::warp::{LANES, Mask, Meeting, Warp, each};

pub(crate) fn nothing(_: &mut Warp<'_>, _: &DecodedInstruction, _: Mask) {}

/// `BPT.TRAP`: ends the launch.
pub(crate) fn trap(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.fault(FaultKind::Trap, inst, lanes, "it stops the launch");
}

/// Returns the lanes in which the optional predicate holds as well.
fn guarded_lanes(warp: &Warp<'_>, inst: &DecodedInstruction, lanes: Mask) -> Mask {
    let is_given = inst.given[0].index != super::super::warp::FALSE;
    if is_given { lanes & warp.given(inst.given[0]) } else { lanes }
}

/// `BRA` and `CALL`. Before a `CALL` another instruction puts the return address into a register.
pub(crate) fn jump(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let lanes = guarded_lanes(warp, inst, lanes);
    if lanes != 0 {
        warp.jump(lanes, inst.target);
    }
}

/// `BRA.DIV` jumps with all active lanes if the lanes that pass the guard differ from a mask;
/// `BRA.CONV` jumps if they equal it.
pub(crate) fn jump_by_mask(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let mask = warp.word(&inst.from[0], lanes.trailing_zeros() as usize);
    let has_parted = mask != lanes & warp.given(inst.given[0]);
    let is_for_parted = inst.modifiers[0] == 0;
    if has_parted == is_for_parted {
        warp.jump(lanes, inst.target);
    }
}

/// `WARPSYNC`: lanes wait for the lanes of a mask. With `WARPSYNC.EXCLUSIVE` they then run as a
/// separate group up to a `BSYNC`.
pub(crate) fn sync_lanes(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let is_exclusive = inst.modifiers[0] == 1;
    meet(warp, inst, lanes, if is_exclusive { Meeting::Together } else { Meeting::Apart });
}

/// `WARPSYNC.ALL`: lanes wait for all others of the warp that have not ended.
pub(crate) fn sync_all(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.sync_lanes(inst, lanes, &[!0; LANES], Meeting::Apart);
}

/// `WARPSYNC.COLLECTIVE`: the lanes of a mask come from several places and run the following code
/// once, together; the code reads and writes registers that all these places use.
pub(crate) fn begin_collective(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    for lane in each(lanes) {
        warp.collective[lane] = inst.target;
    }
    meet(warp, inst, lanes, Meeting::AtOnePlace);
}

/// `ENDCOLLECTIVE`: each lane returns to the place from which it came.
pub(crate) fn end_collective(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    if lanes != warp.together & warp.alive {
        warp.fail(inst, "lanes of its mask lack");
    }
    warp.together = 0;
    let to = warp.collective;
    warp.scatter(lanes, &to);
}

fn meet(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask, then: Meeting) {
    let mut masks = [0; LANES];
    for lane in each(lanes) {
        masks[lane] = warp.word(&inst.from[0], lane);
    }
    warp.sync_lanes(inst, lanes, &masks, then);
}

/// Jumps to the sum of a register, a number and the next instruction's address.
pub(crate) fn jump_by_table(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let next = inst.address + STRIDE;
    let mut to = [0; 32];
    for lane in each(lanes) {
        let offset = warp.word(&inst.from[0], lane).wrapping_add(inst.numbers[0]);
        to[lane] = number(warp, inst, next.wrapping_add(offset));
    }
    warp.scatter(lanes, &to);
}

/// Jumps to an address relative to the address of a function.
pub(crate) fn return_to(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let mut to = [0; 32];
    for lane in each(lanes) {
        let address = warp.word(&inst.from[0], lane).wrapping_add(inst.target * STRIDE);
        to[lane] = number(warp, inst, address);
    }
    warp.scatter(lanes, &to);
}

/// Returns the number of the instruction at an address.
fn number(warp: &Warp<'_>, inst: &DecodedInstruction, address: u32) -> u32 {
    let number = address / STRIDE;
    if !address.is_multiple_of(STRIDE) || number as usize >= warp.program.instructions.len() {
        warp.fail(inst, &format!("no instruction at {address:x}"));
    }
    number
}

pub(crate) fn exit(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.exit(guarded_lanes(warp, inst, lanes));
}

/// `BSSY`: records these lanes in the barrier.
pub(crate) fn set_barrier_lanes(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    for lane in each(warp.order.sharing(lanes)) {
        warp.barriers[usize::from(inst.barrier)][lane] = lanes;
    }
}

/// `BSYNC`: waits until the barrier's lanes have arrived.
pub(crate) fn wait_at_barrier(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.sync(inst.barrier, lanes);
}

/// `BREAK`: takes these lanes out of the barrier, so that no lane waits for them.
pub(crate) fn break_barrier(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let lanes = guarded_lanes(warp, inst, lanes);
    let (alive, shared) = (warp.alive, warp.order.sharing(0));
    let named = &mut warp.barriers[usize::from(inst.barrier)];
    for lane in each(lanes) {
        let mask = named[lane];
        for other in each(shared | alive & !lanes & mask) {
            if named[other] == mask {
                named[other] = mask & !lanes;
            }
        }
    }
    warp.release();
}

/// `BMOV B0, R0`
pub(crate) fn set_barrier(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let first = lanes.trailing_zeros() as usize;
    for lane in each(warp.order.sharing(lanes)) {
        let from = if lanes >> lane & 1 == 1 { lane } else { first };
        warp.barriers[usize::from(inst.barrier)][lane] = warp.word(&inst.from[0], from);
    }
}

/// `BMOV.CLEAR R0, B0`
pub(crate) fn take_barrier(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    for lane in each(lanes) {
        warp.file[usize::from(inst.to)][lane] = warp.barriers[usize::from(inst.barrier)][lane];
    }
    for lane in each(warp.order.sharing(lanes)) {
        warp.barriers[usize::from(inst.barrier)][lane] = 0;
    }
}
