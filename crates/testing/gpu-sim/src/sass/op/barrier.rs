//! The barrier of a block, and what it makes of votes.

use super::super::block::Reduction;
use super::super::decoded::DecodedInstruction;
use super::super::fault::FaultKind;
use super::super::warp::{Mask, Warp, each};

/// `BAR.SYNC`: lanes wait for all of the block that have not ended.
pub(in super::super) fn wait(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    if warp.device.is_some() && lanes != warp.alive {
        let reason = "it waits at the block's barrier, and other threads of its warp go elsewhere";
        warp.fault(FaultKind::DivergentBarrier, step, lanes, reason);
    }
    warp.arrive(step, lanes, Reduction::Wait, 0);
}

/// `BAR.RED`: lanes wait so, and each votes by a predicate. The assembler brings a warp's lanes
/// together before it; what it would give to lanes that come one after the other is not known.
pub(in super::super) fn vote(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    if lanes != warp.alive {
        let all = warp.alive;
        let reason = format!("lanes {lanes:x} vote without the others of their warp, {all:x}");
        warp.fault(FaultKind::DivergentBarrier, step, lanes, &reason);
    }
    let reduction = [Reduction::Or, Reduction::And, Reduction::Count][usize::from(step.choice[0])];
    warp.arrive(step, lanes, reduction, warp.given(step.given[0]));
}

/// `B2R.RESULT RZ`: nothing reads the result; that of a predicate's vote is dropped so, too.
pub(in super::super) fn drop_result(warp: &mut Warp<'_>, step: &DecodedInstruction, _: Mask) {
    if warp.result.is_none() {
        warp.fail(step, "the block's barrier asked for no votes");
    }
}

/// `B2R.RESULT R0`: how many votes hold.
pub(in super::super) fn count(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let Some((Reduction::Count, votes)) = warp.result else {
        warp.fail(step, "the block's barrier counted no votes");
    };
    for lane in each(lanes) {
        warp.file[usize::from(step.to)][lane] = votes;
    }
}

/// `B2R.RESULT RZ, P0`: whether one vote holds, or all do.
pub(in super::super) fn holds(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let Some((Reduction::Or | Reduction::And, holds)) = warp.result else {
        warp.fail(step, "the block's barrier asked for no predicate");
    };
    warp.set(step, 0, lanes, if holds == 1 { !0 } else { 0 });
}
