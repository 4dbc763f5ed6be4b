//! Bits: copies, tables of truth, shifts, permutations, and predicates as bits.

use super::super::decoded::DecodedInstruction;
use super::super::operand::Part;
use super::super::warp::{Mask, Warp, each};

pub(crate) fn copy(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.map(inst, lanes, |[a]| a);
}

pub(crate) fn select(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let first = warp.given(inst.given[0]);
    for lane in each(lanes | inst.whole) {
        let at = usize::from(first >> lane & 1 == 0);
        warp.file[usize::from(inst.to)][lane] = warp.word(&inst.from[at], lane);
    }
}

/// Combines three words bit by bit by a truth table of eight bits; the bit of `a` is the highest
/// bit of the index.
#[inline(always)]
fn by_table(table: u32, a: u32, b: u32, c: u32) -> u32 {
    let term = |index: u32| {
        let side = |bit: u32, word: u32| if index & bit != 0 { word } else { !word };
        let takes = 0_u32.wrapping_sub(table >> index & 1);
        takes & side(4, a) & side(2, b) & side(1, c)
    };
    (0..8).fold(0, |all, index| all | term(index))
}

pub(crate) fn lut(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    match inst.numbers[0] {
        0xC0 => warp.map(inst, lanes, |[a, b]| a & b),
        0xFC => warp.map(inst, lanes, |[a, b]| a | b),
        0x3C => warp.map(inst, lanes, |[a, b]| a ^ b),
        table => warp.map(inst, lanes, |[a, b, c]| by_table(table, a, b, c)),
    }
    if inst.has[0] {
        let to = warp.file[usize::from(inst.to)];
        let table = inst.numbers[0];
        // A write to the sink keeps no word, so the result is computed again.
        let is_set = if inst.to == super::super::warp::SINK {
            warp.test(inst, lanes, |[a, b, c]| by_table(table, a, b, c) != 0)
        } else {
            each(lanes | inst.whole).fold(0, |all, lane| all | u32::from(to[lane] != 0) << lane)
        };
        let given = warp.given(inst.given[0]);
        warp.set(inst, 0, lanes, is_set | given);
    }
}

pub(crate) fn truth_lut(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let [a, b, c] = inst.given.map(|truth| warp.given(truth));
    warp.set(inst, 0, lanes, by_table(inst.numbers[0], a, b, c));
    warp.set(inst, 1, lanes, by_table(inst.numbers[1], a, b, c));
}

/// Shifts a part of a pair of registers, by the instruction's modifiers.
fn shift_by(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask, wraps: bool) {
    let is_left = inst.modifiers[1] == 0;
    let (is_signed, is_pair) = (inst.modifiers[2] & 1 == 1, inst.modifiers[2] >= 2);
    let is_high = inst.modifiers[3] == 1;
    let most = if is_pair { 64 } else { 32 };
    warp.map(inst, lanes, |[low, by, high]| {
        let by = if wraps { by & (most - 1) } else { by.min(most) };
        let pair = u64::from(high) << 32 | u64::from(low);
        let shifted = match (is_left, is_pair || !is_high) {
            // A 32-bit shift to the right takes only the upper word.
            (false, false) if is_signed => (i64::from(high as i32) >> by) as u64,
            (false, false) => u64::from(high) >> by,
            (false, true) if is_signed && is_pair => ((pair as i64) >> by.min(63)) as u64,
            (false, true) => pair.checked_shr(by).unwrap_or(0),
            (true, _) if is_pair || is_high => pair.checked_shl(by).unwrap_or(0),
            (true, _) => u64::from(low) << by,
        };
        let takes_upper = is_high && (is_left || is_pair);
        (if takes_upper { shifted >> 32 } else { shifted }) as u32
    });
}

pub(crate) fn shift(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    shift_by(warp, inst, lanes, false);
}

pub(crate) fn shift_wrap(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    shift_by(warp, inst, lanes, true);
}

/// Selects bytes of two words by four digits; bit 3 of a digit takes the byte's sign instead.
pub(crate) fn permute(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.map(inst, lanes, |[a, digits, b]| {
        let pair = u64::from(b) << 32 | u64::from(a);
        (0..4).fold(0, |word, at| {
            let digit = digits >> (4 * at) & 15;
            let byte = (pair >> (8 * (digit & 7))) as u32 & 0xFF;
            let sign = if byte & 0x80 != 0 { 0xFF } else { 0 };
            word | (if digit & 8 != 0 { sign } else { byte }) << (8 * at)
        })
    });
}

pub(crate) fn extend(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let is_unsigned = inst.modifiers[1] == 1;
    warp.map(inst, lanes, |[a, bits]| match bits {
        0 => 0,
        32.. => a,
        _ if is_unsigned => a & ((1 << bits) - 1),
        _ => ((a << (32 - bits)) as i32 >> (32 - bits)) as u32,
    });
}

pub(crate) fn mask(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.map(inst, lanes, |[from, count]| {
        let ones = 1_u32.checked_shl(count).map_or(!0, |it| it - 1);
        ones.checked_shl(from).unwrap_or(0)
    });
}

pub(crate) fn reverse(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.map(inst, lanes, |[a]| a.reverse_bits());
}

/// Gives the number of the highest bit that differs from the sign, or its distance from bit 31.
pub(crate) fn leading_one(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (is_unsigned, is_distance) = (inst.modifiers[1] == 1, inst.modifiers[2] == 1);
    warp.map(inst, lanes, |[a]| {
        let bits = if !is_unsigned && (a as i32) < 0 { !a } else { a };
        match bits.leading_zeros() {
            32 => !0,
            distance if is_distance => distance,
            distance => 31 - distance,
        }
    });
}

pub(crate) fn count_ones(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.map(inst, lanes, |[a]| a.count_ones());
}

/// `R2P`: copies bits of a byte to the predicates that a mask names.
pub(crate) fn unpack_predicates(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let shift = if let Part::Byte(number) = inst.from[0].part { 8 * u32::from(number) } else { 0 };
    for lane in each(lanes) {
        let bits = warp.word(&inst.from[0], lane) >> shift;
        for at in (0..7).filter(|at| inst.numbers[0] >> at & 1 == 1) {
            let others = warp.predicates[at] & !(1 << lane);
            warp.predicates[at] = others | (bits >> at & 1) << lane;
        }
    }
}

/// `P2R`: copies the predicates that a mask names to bits of a word.
pub(crate) fn pack_predicates(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    for lane in each(lanes) {
        let named = (0..7).filter(|at| inst.numbers[0] >> at & 1 == 1);
        let bits = named.map(|at| (warp.predicates[at] >> lane & 1) << at);
        warp.file[usize::from(inst.to)][lane] = bits.fold(0, |all, bit| all | bit);
    }
}
