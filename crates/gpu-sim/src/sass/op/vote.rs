//! Votes and other exchanges among the lanes that run together.

use super::super::decoded::DecodedInstruction;
use super::super::warp::{LANES, Mask, Warp, each};

/// The first lane's word becomes the warp's.
pub(in super::super) fn first(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let word = warp.word(&step.from[0], lanes.trailing_zeros() as usize);
    warp.file[usize::from(step.to)] = [word; LANES];
}

/// The lanes of which a predicate holds, and whether it does of one or of all.
pub(in super::super) fn vote(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let votes = warp.given(step.given[0]) & lanes;
    let is_all = step.choice[1] == 1;
    let holds = if is_all { votes == lanes } else { votes != 0 };
    for lane in each(lanes | step.whole) {
        warp.file[usize::from(step.to)][lane] = votes;
    }
    warp.set(step, 0, lanes, if holds { !0 } else { 0 });
}

/// The lanes' words, put together to one, which becomes the warp's.
pub(in super::super) fn reduce(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    if warp.together != 0 && warp.together & warp.alive != lanes {
        warp.fail(step, "lanes of its mask lack");
    }
    let both: fn(u32, u32) -> u32 = match step.choice[1] {
        0 => |a, b| a & b,
        1 => |a, b| a | b,
        2 => |a, b| a ^ b,
        3 => u32::wrapping_add,
        4 => u32::min,
        5 => u32::max,
        6 => |a, b| (a as i32).min(b as i32) as u32,
        _ => |a, b| (a as i32).max(b as i32) as u32,
    };
    let word = each(lanes).map(|lane| warp.word(&step.from[0], lane)).reduce(both);
    warp.file[usize::from(step.to)] = [word.unwrap_or(0); LANES];
}
