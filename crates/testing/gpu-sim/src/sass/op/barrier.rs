//! The barrier of a block and its votes, numbered barriers, and fences.

use super::super::block::Reduction;
use super::super::decoded::DecodedInstruction;
use super::super::fault::FaultKind;
use super::super::warp::{LANES, Mask, Warp, each, equal};

/// `BAR.SYNC`: lanes wait for all lanes of the block that have not ended.
pub(crate) fn wait(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    if warp.device.is_some() && lanes != warp.alive {
        let reason = "it waits at the block's barrier, and other threads of its warp go elsewhere";
        warp.fault(FaultKind::DivergentBarrier, inst, lanes, reason);
    }
    warp.arrive(inst, lanes, Reduction::Wait, 0);
}

/// `BAR.SYNC R0, 0x40`: lanes wait at a numbered barrier until the given number of threads have
/// come. The form without `DEFER_BLOCKING` may stand in divergent code.
pub(crate) fn wait_named(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let is_aligned = inst.modifiers[0] == 1;
    if is_aligned && lanes != warp.alive {
        let reason = "it waits at a barrier, and other threads of its warp go elsewhere";
        warp.fault(FaultKind::DivergentBarrier, inst, lanes, reason);
    }
    let numbers = warp.words(&inst.from[0]);
    let mut left = lanes;
    while left != 0 {
        let number = numbers[left.trailing_zeros() as usize];
        let same = equal(left, &numbers, number);
        left &= !same;
        if number == 0 && !inst.has[0] {
            warp.arrive(inst, same, Reduction::Wait, 0);
        } else {
            come_to(warp, inst, same, number);
            warp.hold_at(number, same);
        }
    }
}

/// `BAR.ARV`: lanes arrive at a barrier without waiting.
pub(crate) fn come(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let number = warp.word(&inst.from[0], lanes.trailing_zeros() as usize);
    come_to(warp, inst, lanes, number);
}

fn come_to(warp: &Warp<'_>, inst: &DecodedInstruction, lanes: Mask, number: u32) {
    let Some(device) = warp.device else {
        warp.fail(inst, "a barrier with a number without a device's memory");
    };
    let is_counted = inst.has[0] || inst.pattern == "BAR.ARV";
    let expected = is_counted.then(|| warp.word(&inst.from[1], lanes.trailing_zeros() as usize));
    // A whole warp counts as 32 threads.
    let count = if lanes == warp.alive { LANES as u32 } else { lanes.count_ones() };
    let threads: Vec<u32> = each(lanes).map(|lane| warp.thread + lane as u32).collect();
    let order = &mut device.borrow_mut().order;
    order.now += 1;
    let when = (order.now, warp.threads);
    if let Err(reason) = order.named.come((number, expected), (&threads, count), when) {
        warp.fault(FaultKind::DivergentBarrier, inst, lanes, &reason);
    }
}

/// `BAR.RED`: lanes wait at the barrier, and each lane votes by a predicate. The assembler brings
/// a warp's lanes together before this instruction; the result for lanes that come separately is
/// unknown.
pub(crate) fn vote(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    if lanes != warp.alive {
        let all = warp.alive;
        let reason = format!("lanes {lanes:x} vote without the others of their warp, {all:x}");
        warp.fault(FaultKind::DivergentBarrier, inst, lanes, &reason);
    }
    let reduction =
        [Reduction::Or, Reduction::And, Reduction::Count][usize::from(inst.modifiers[0])];
    warp.arrive(inst, lanes, reduction, warp.given(inst.given[0]));
}

/// `B2R.RESULT RZ`: drops the result, including the result of a vote.
pub(crate) fn drop_result(warp: &mut Warp<'_>, inst: &DecodedInstruction, _: Mask) {
    if warp.result.is_none() {
        warp.fail(inst, "the block's barrier asked for no votes");
    }
}

/// `B2R.RESULT R0`: gives the number of votes that hold.
pub(crate) fn count(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let Some((Reduction::Count, votes)) = warp.result else {
        warp.fail(inst, "the block's barrier counted no votes");
    };
    for lane in each(lanes) {
        warp.file[usize::from(inst.to)][lane] = votes;
    }
}

/// `B2R.RESULT RZ, P0`: true if one vote holds, or if all votes hold.
pub(crate) fn holds(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let Some((Reduction::Or | Reduction::And, holds)) = warp.result else {
        warp.fail(inst, "the block's barrier asked for no predicate");
    };
    warp.set(inst, 0, lanes, if holds == 1 { !0 } else { 0 });
}

/// `MEMBAR`: orders the earlier accesses of these lanes before their later ones, for the threads of
/// the block (`CTA`) or for all.
pub(crate) fn fence(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    fence_lanes(warp, lanes, inst.modifiers[1] == 1);
}

/// Orders the earlier accesses of these lanes before their later ones.
pub(super) fn fence_lanes(warp: &Warp<'_>, lanes: Mask, is_of_block: bool) {
    let Some(device) = warp.device else { return };
    let order = &mut device.borrow_mut().order;
    order.now += 1;
    each(lanes).for_each(|lane| order.fence(warp.grid_thread(lane), is_of_block));
}

/// `NOP` replaces a `__syncwarp` whose lanes are together already: it orders the earlier accesses
/// of these lanes before their later ones.
pub(crate) fn sync_warp(warp: &mut Warp<'_>, _: &DecodedInstruction, lanes: Mask) {
    let Some(device) = warp.device else { return };
    let of = |lane: usize| (warp.thread + lane as u32, warp.grid_thread(lane));
    let threads: Vec<(u32, u32)> = each(lanes).map(of).collect();
    device.borrow_mut().order.sync_lanes(&threads);
}
