//! Votes and other exchanges among the lanes that run together.

use super::super::decoded::DecodedInstruction;
use super::super::fault::FaultKind;
use super::super::warp::{LANES, Mask, Warp, each, equal};

/// Copies the first lane's word to a uniform register, and sets a predicate in the lanes whose
/// word differs.
pub(crate) fn first(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let word = warp.word(&inst.from[0], lanes.trailing_zeros() as usize);
    let alike = equal(lanes, &warp.words(&inst.from[0]), word);
    warp.file[usize::from(inst.to)] = [word; LANES];
    warp.set(inst, 0, lanes, !alike);
}

/// Gives the lanes in which a predicate holds, and whether it holds in any lane or in all lanes.
pub(crate) fn vote(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let votes = warp.given(inst.given[0]) & lanes;
    let is_all = inst.modifiers[1] == 1;
    let holds = if is_all { votes == lanes } else { votes != 0 };
    for lane in each(lanes | inst.whole) {
        warp.file[usize::from(inst.to)][lane] = votes;
    }
    warp.set(inst, 0, lanes, if holds { !0 } else { 0 });
}

/// Ends the launch if `WARPSYNC` brought together other lanes than these.
fn check_together(warp: &Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    if warp.together != 0 && warp.together & warp.alive != lanes {
        let reason = "lanes of its mask are elsewhere";
        warp.fault(FaultKind::DivergentBarrier, inst, lanes, reason);
    }
}

/// Reduces the lanes' words to one uniform word.
pub(crate) fn reduce(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    check_together(warp, inst, lanes);
    let both: fn(u32, u32) -> u32 = match inst.modifiers[1] {
        0 => |a, b| a & b,
        1 => |a, b| a | b,
        2 => |a, b| a ^ b,
        3 => u32::wrapping_add,
        4 => u32::min,
        5 => u32::max,
        6 => |a, b| (a as i32).min(b as i32) as u32,
        7 => |a, b| (a as i32).max(b as i32) as u32,
        _ => u32::wrapping_add,
    };
    let word = each(lanes).map(|lane| warp.word(&inst.from[0], lane)).reduce(both);
    warp.file[usize::from(inst.to)] = [word.unwrap_or(0); LANES];
}

/// Returns the lane whose word `SHFL` gives to a lane, and whether that lane lies in the same
/// segment, by the rule of `shfl.sync` in the PTX ISA document.
fn sender(mode: u8, lane: u32, by: u32, bounds: u32) -> (u32, bool) {
    let (by, clamp, segments) = (by & 31, bounds & 31, bounds >> 8 & 31);
    let first = lane & segments;
    let last = first | clamp & !segments;
    let from = match mode {
        0 => first | by & !segments,
        1 => lane.wrapping_sub(by),
        2 => lane + by,
        _ => lane ^ by,
    };
    let is_inside = if mode == 1 { from as i32 >= last as i32 } else { from <= last };
    (if is_inside { from } else { lane }, is_inside)
}

/// Word from a lane that does not take part, which CUDA leaves undefined.
const UNDEFINED: u32 = 0x5A5A_5A5A;

/// Gives each lane the word of another lane. In the host's memory, which only this project's
/// kernels use, a lane that does not take part gives its last word.
pub(crate) fn shuffle(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    check_together(warp, inst, lanes);
    let words = warp.words(&inst.from[0]);
    let mut inside = 0;
    for lane in each(lanes) {
        let [by, bounds] = [1, 2].map(|at| warp.word(&inst.from[at], lane));
        let (from, is_inside) = sender(inst.modifiers[0], lane as u32, by, bounds);
        let takes_part = lanes >> from & 1 == 1 || warp.device.is_none();
        let word = if takes_part { words[from as usize] } else { UNDEFINED };
        warp.file[usize::from(inst.to)][lane] = word;
        inside |= u32::from(is_inside) << lane;
    }
    warp.set(inst, 0, lanes, inside);
}

/// Returns the lanes with the same value as a lane.
fn alike(warp: &Warp<'_>, inst: &DecodedInstruction, lanes: Mask, lane: usize) -> Mask {
    let mask = if inst.modifiers[0] == 1 { !0 } else { 0xFFFF_FFFF };
    let value = |lane| warp.integer(&inst.from[0], lane) & mask;
    each(lanes).filter(|it| value(*it) == value(lane)).fold(0, |all, it| all | 1 << it)
}

/// Gives each lane the set of lanes that have its value.
pub(crate) fn match_any(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    check_together(warp, inst, lanes);
    let masks: [Mask; LANES] = std::array::from_fn(|lane| alike(warp, inst, lanes, lane));
    for lane in each(lanes) {
        warp.file[usize::from(inst.to)][lane] = masks[lane];
    }
}

/// Gives the set of all lanes if all have one value, else 0.
pub(crate) fn match_all(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    check_together(warp, inst, lanes);
    let is_one = alike(warp, inst, lanes, lanes.trailing_zeros() as usize) == lanes;
    for lane in each(lanes) {
        warp.file[usize::from(inst.to)][lane] = if is_one { lanes } else { 0 };
    }
    warp.set(inst, 0, lanes, if is_one { !0 } else { 0 });
}
