//! Sums, products and comparisons of integers.

use super::super::decoded::{DecodedInstruction, Source};
use super::super::warp::{Mask, NO_PREDICATE, Warp, each};
use super::PredicateCombine;

pub(in super::super) fn add(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    warp.map(step, lanes, |[a, b]| a.wrapping_add(b));
}

/// `VABSDIFF4.U8`: computes the distances of the four bytes.
pub(in super::super) fn distances_of_bytes(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
) {
    warp.map(step, lanes, |[a, b]: [u32; 2]| {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        u32::from_le_bytes(std::array::from_fn(|at| a[at].abs_diff(b[at])))
    });
}

/// `VABSDIFF`: adds the distance of two words to a third.
pub(in super::super) fn add_distance(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    match step.choice[0] {
        0 => warp.map(step, lanes, |[a, b, c]| (a as i32).abs_diff(b as i32).wrapping_add(c)),
        _ => warp.map(step, lanes, |[a, b, c]| a.abs_diff(b).wrapping_add(c)),
    }
}

/// Returns a byte of a word, signed or unsigned.
fn byte(word: u32, at: u32, is_signed: bool) -> i64 {
    let byte = (word >> (8 * at)) as u8;
    if is_signed { i64::from(byte as i8) } else { i64::from(byte) }
}

/// `IDP.4A`: adds the products of four pairs of bytes to a word.
pub(in super::super) fn add_product_of_bytes(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
) {
    let [one, other] = [step.choice[0] == 1, step.choice[1] == 1];
    warp.map(step, lanes, |[a, b, c]| {
        let sum: i64 = (0..4).map(|at| byte(a, at, one) * byte(b, at, other)).sum();
        c.wrapping_add(sum as u32)
    });
}

/// `IDP.2A`: adds the products of two halves and two bytes, the lower or the upper ones, to a word.
pub(in super::super) fn add_product_of_halves(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
) {
    let (first, is_signed, other) =
        (2 * u32::from(step.choice[0]), step.choice[1] == 1, step.choice[2] == 1);
    warp.map(step, lanes, |[a, b, c]| {
        let half = |at: u32| match (a >> (16 * at)) as u16 {
            half if is_signed => i64::from(half as i16),
            half => i64::from(half),
        };
        let sum: i64 = (0..2).map(|at| half(at) * byte(b, first + at, other)).sum();
        c.wrapping_add(sum as u32)
    });
}

/// Returns a word as an unsigned summand: `-x` is `~x + 1`, whose carry counts.
fn summand(warp: &Warp<'_>, source: &Source, lane: usize) -> u64 {
    let word = warp.file[usize::from(source.low)][lane] ^ source.flip;
    u64::from(word) + u64::from(source.minus & 1)
}

/// Adds three words; the carry, 0 to 2, goes into two predicates.
fn sum(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask, more: impl Fn(usize) -> u64) {
    let (mut one, mut two) = (0, 0);
    for lane in each(lanes | step.whole) {
        let words = step.from.iter().map(|source| summand(warp, source, lane));
        let sum: u64 = words.sum::<u64>() + more(lane);
        warp.file[usize::from(step.to)][lane] = sum as u32;
        one |= u32::from(sum >> 32 >= 1) << lane;
        two |= u32::from(sum >> 32 >= 2) << lane;
    }
    warp.set(step, 0, lanes, one);
    warp.set(step, 1, lanes, two);
}

pub(in super::super) fn add3(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    if step.has[0] {
        sum(warp, step, lanes, |_| 0);
    } else {
        warp.map(step, lanes, |[a, b, c]| a.wrapping_add(b).wrapping_add(c));
    }
}

pub(in super::super) fn add3_carry(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let (a, b) = (warp.given(step.given[0]), warp.given(step.given[1]));
    sum(warp, step, lanes, |lane| u64::from((a >> lane & 1) + (b >> lane & 1)));
}

pub(in super::super) fn multiply_add(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    warp.map(step, lanes, |[a, b, c]| a.wrapping_mul(b).wrapping_add(c));
}

pub(in super::super) fn multiply_add_carry(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
) {
    let carry = warp.given(step.given[0]);
    for lane in each(lanes | step.whole) {
        let [a, b, c] = step.from.map(|source| warp.word(&source, lane));
        let sum = a.wrapping_mul(b).wrapping_add(c).wrapping_add(carry >> lane & 1);
        warp.file[usize::from(step.to)][lane] = sum;
    }
}

/// Returns the product of two words, signed or unsigned.
fn product(step: &DecodedInstruction, a: u32, b: u32) -> u64 {
    let is_unsigned = step.choice[1] == 1;
    if is_unsigned {
        u64::from(a) * u64::from(b)
    } else {
        (i64::from(a as i32) * i64::from(b as i32)) as u64
    }
}

/// Returns the 65-bit sum of a product, 64 bits and a carry, in one lane.
fn wide(warp: &Warp<'_>, step: &DecodedInstruction, carry: Mask, lane: usize) -> u128 {
    let [a, b] = [0, 1].map(|at| warp.word(&step.from[at], lane));
    let sum = u128::from(product(step, a, b)) + u128::from(warp.integer(&step.from[2], lane));
    sum + u128::from(carry >> lane & 1)
}

/// Gives the upper word of the sum of a product and a pair.
pub(in super::super) fn multiply_high(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let mut carry = 0;
    for lane in each(lanes | step.whole) {
        let sum = wide(warp, step, 0, lane);
        warp.file[usize::from(step.to)][lane] = (sum >> 32) as u32;
        carry |= u32::from(sum >> 64 != 0) << lane;
    }
    warp.set(step, 0, lanes, carry);
}

fn multiply_wide_by(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask, carry: Mask) {
    let mut carried = 0;
    for lane in each(lanes | step.whole) {
        let sum = wide(warp, step, carry, lane);
        carried |= u32::from(sum >> 64 != 0) << lane;
        warp.file[usize::from(step.to)][lane] = sum as u32;
        warp.file[usize::from(step.to) + 1][lane] = (sum >> 32) as u32;
    }
    warp.set(step, 0, lanes, carried);
}

pub(in super::super) fn multiply_wide(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    multiply_wide_by(warp, step, lanes, 0);
}

pub(in super::super) fn multiply_wide_carry(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
) {
    multiply_wide_by(warp, step, lanes, warp.given(step.given[0]));
}

/// `LEA`: adds a shifted word and another one, with the carry.
fn shifted(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
    carry: Mask,
    word: impl Fn(&Warp<'_>, usize) -> u32,
) {
    let mut carried = 0;
    for lane in each(lanes | step.whole) {
        let a = u64::from(word(warp, lane) ^ step.from[0].flip) + u64::from(step.from[0].minus & 1);
        let sum = a + summand(warp, &step.from[1], lane) + u64::from(carry >> lane & 1);
        warp.file[usize::from(step.to)][lane] = sum as u32;
        carried |= u32::from(sum >> 32 != 0) << lane;
    }
    warp.set(step, 0, lanes, carried);
}

fn plain(warp: &Warp<'_>, source: &Source, lane: usize) -> u32 {
    warp.file[usize::from(source.low)][lane]
}

pub(in super::super) fn shift_add(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let by = step.numbers[0] & 31;
    shifted(warp, step, lanes, 0, |warp, lane| plain(warp, &step.from[0], lane) << by);
}

/// Returns the upper word of the shifted pair of the first and third operand.
fn upper(warp: &Warp<'_>, step: &DecodedInstruction, lane: usize) -> u32 {
    let [low, high] = [0, 2].map(|at| u64::from(plain(warp, &step.from[at], lane)));
    ((high << 32 | low) << (step.numbers[0] & 31) >> 32) as u32
}

pub(in super::super) fn shift_add_high(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
) {
    shifted(warp, step, lanes, 0, |warp, lane| upper(warp, step, lane));
}

pub(in super::super) fn shift_add_high_carry(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
) {
    let carry = warp.given(step.given[0]);
    shifted(warp, step, lanes, carry, |warp, lane| upper(warp, step, lane));
}

/// Returns the upper word of a shifted, sign-extended word.
fn upper_sign(warp: &Warp<'_>, step: &DecodedInstruction, lane: usize) -> u32 {
    let long = i64::from(plain(warp, &step.from[0], lane) as i32);
    (long << (step.numbers[0] & 31) >> 32) as u32
}

pub(in super::super) fn shift_add_sign(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
) {
    shifted(warp, step, lanes, 0, |warp, lane| upper_sign(warp, step, lane));
}

pub(in super::super) fn shift_add_sign_carry(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
) {
    let carry = warp.given(step.given[0]);
    shifted(warp, step, lanes, carry, |warp, lane| upper_sign(warp, step, lane));
}

pub(in super::super) fn absolute(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    warp.map(step, lanes, |[a]| (a as i32).wrapping_abs() as u32);
}

fn lower(a: u32, b: u32, is_unsigned: bool) -> bool {
    if is_unsigned { a < b } else { (a as i32) < (b as i32) }
}

/// Gives the lesser of two words if the predicate holds, else the greater; returns the lanes that
/// took the first.
fn choose(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask, is_sum: bool) -> Mask {
    let is_least = warp.given(step.given[0]);
    let is_unsigned = step.choice[1] == 1;
    let mut first = 0;
    for lane in each(lanes | step.whole) {
        let [a, b, c] = step.from.map(|source| warp.word(&source, lane));
        let (a, b) = if is_sum { (a.wrapping_add(b), c) } else { (a, b) };
        let takes = (is_least >> lane & 1 == 1) == lower(a, b, is_unsigned);
        warp.file[usize::from(step.to)][lane] = if takes { a } else { b };
        first |= u32::from(takes) << lane;
    }
    first
}

pub(in super::super) fn least(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    choose(warp, step, lanes, false);
}

/// Refuses predicates for the chosen operand: only `PT` was ever seen there, so their meaning is
/// unknown.
fn refuse_truths(warp: &Warp<'_>, step: &DecodedInstruction) {
    if step.truths.iter().any(|index| *index != NO_PREDICATE) {
        warp.fail(step, "a predicate whose meaning is not known");
    }
}

pub(in super::super) fn least_of(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    refuse_truths(warp, step);
    choose(warp, step, lanes, false);
}

pub(in super::super) fn add_least(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    choose(warp, step, lanes, true);
}

pub(in super::super) fn least_of_halves(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
) {
    refuse_truths(warp, step);
    let is_least = warp.given(step.given[0]);
    let is_unsigned = step.choice[0] == 0;
    for lane in each(lanes | step.whole) {
        let [a, b] = [0, 1].map(|at| warp.word(&step.from[at], lane));
        let half = |shift: u32| {
            // A half above 16 zeros compares like a word, signed as well.
            let (x, y) = (a >> shift << 16, b >> shift << 16);
            let takes = (is_least >> lane & 1 == 1) == lower(x, y, is_unsigned);
            (if takes { x } else { y }) >> 16
        };
        warp.file[usize::from(step.to)][lane] = half(0) | half(16) << 16;
    }
}

/// Returns the lanes in which the comparison of the pattern's modifiers holds.
fn comparison(warp: &Warp<'_>, step: &DecodedInstruction, lanes: Mask) -> Mask {
    let is_unsigned = step.choice[2] == 1;
    // With their highest bit inverted, signed numbers compare as unsigned ones.
    let sign = if is_unsigned { 0 } else { 1 << 31 };
    match step.choice[1] {
        0 => 0,
        1 => warp.test(step, lanes, |[a, b]| a ^ sign < b ^ sign),
        2 => warp.test(step, lanes, |[a, b]| a == b),
        3 => warp.test(step, lanes, |[a, b]| a ^ sign <= b ^ sign),
        4 => warp.test(step, lanes, |[a, b]| a ^ sign > b ^ sign),
        5 => warp.test(step, lanes, |[a, b]| a != b),
        6 => warp.test(step, lanes, |[a, b]| a ^ sign >= b ^ sign),
        _ => !0,
    }
}

fn set_both(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask, holds: Mask) {
    let (given, joint) = (warp.given(step.given[0]), PredicateCombine(step.choice[3]));
    warp.set(step, 0, lanes, joint.of(holds, given));
    warp.set(step, 1, lanes, joint.of(!holds, given));
}

pub(in super::super) fn compare(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let holds = comparison(warp, step, lanes);
    set_both(warp, step, lanes, holds);
}

/// Compares the upper words of pairs; the last predicate has the comparison of the lower ones.
pub(in super::super) fn compare_high(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let (holds, low) = (comparison(warp, step, lanes), warp.given(step.given[1]));
    let same = warp.test(step, lanes, |[a, b]| a == b);
    set_both(warp, step, lanes, (holds & !same) | (low & same));
}
