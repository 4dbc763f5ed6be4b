//! Sums, products and comparisons of integers.

use super::super::decoded::{DecodedInstruction, Source};
use super::super::warp::{Mask, NO_PREDICATE, Warp, each};
use super::PredicateCombine;

pub(crate) fn add(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.map(inst, lanes, |[a, b]| a.wrapping_add(b));
}

/// `VABSDIFF4.U8`: computes the distances of the four bytes.
pub(crate) fn distances_of_bytes(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.map(inst, lanes, |[a, b]: [u32; 2]| {
        let (a, b) = (a.to_le_bytes(), b.to_le_bytes());
        u32::from_le_bytes(std::array::from_fn(|at| a[at].abs_diff(b[at])))
    });
}

/// `VABSDIFF4.U8.ACC`: adds the distances of the four bytes to a word.
pub(crate) fn add_distances_of_bytes(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.map(inst, lanes, |[a, b, c]: [u32; 3]| {
        let pairs = a.to_le_bytes().into_iter().zip(b.to_le_bytes());
        pairs.fold(c, |sum, (a, b)| sum.wrapping_add(a.abs_diff(b).into()))
    });
}

/// `VABSDIFF`: adds the distance of two words to a third.
pub(crate) fn add_distance(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    match inst.modifiers[0] {
        0 => warp.map(inst, lanes, |[a, b, c]| (a as i32).abs_diff(b as i32).wrapping_add(c)),
        _ => warp.map(inst, lanes, |[a, b, c]| a.abs_diff(b).wrapping_add(c)),
    }
}

/// Returns a byte of a word, signed or unsigned.
fn byte(word: u32, at: u32, is_signed: bool) -> i64 {
    let byte = (word >> (8 * at)) as u8;
    if is_signed { i64::from(byte as i8) } else { i64::from(byte) }
}

/// `IDP.4A`: adds the products of four pairs of bytes to a word.
pub(crate) fn add_product_of_bytes(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let [one, other] = [inst.modifiers[0] == 1, inst.modifiers[1] == 1];
    warp.map(inst, lanes, |[a, b, c]| {
        let sum: i64 = (0..4).map(|at| byte(a, at, one) * byte(b, at, other)).sum();
        c.wrapping_add(sum as u32)
    });
}

/// `IDP.2A`: adds the products of two halves and two bytes to a word; the bytes are the lower or
/// the upper two.
pub(crate) fn add_product_of_halves(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (first, is_signed, other) =
        (2 * u32::from(inst.modifiers[0]), inst.modifiers[1] == 1, inst.modifiers[2] == 1);
    warp.map(inst, lanes, |[a, b, c]| {
        let half = |at: u32| match (a >> (16 * at)) as u16 {
            half if is_signed => i64::from(half as i16),
            half => i64::from(half),
        };
        let sum: i64 = (0..2).map(|at| half(at) * byte(b, first + at, other)).sum();
        c.wrapping_add(sum as u32)
    });
}

/// Returns a source as a number to add. A negated source is `~x + 1`, which may need 33 bits: a
/// sum's carry counts it.
fn summand(warp: &Warp<'_>, source: &Source, lane: usize) -> u64 {
    let word = warp.file[usize::from(source.low)][lane] ^ source.flip;
    u64::from(word) + u64::from(source.minus & 1)
}

/// Adds three words and `more`. The carry is 0, 1 or 2: the first predicate says that it is at
/// least 1, the second that it is 2.
fn sum(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask, more: impl Fn(usize) -> u64) {
    let (mut one, mut two) = (0, 0);
    for lane in each(lanes | inst.whole) {
        let words = inst.from.iter().map(|source| summand(warp, source, lane));
        let sum: u64 = words.sum::<u64>() + more(lane);
        warp.file[usize::from(inst.to)][lane] = sum as u32;
        one |= u32::from(sum >> 32 >= 1) << lane;
        two |= u32::from(sum >> 32 >= 2) << lane;
    }
    warp.set(inst, 0, lanes, one);
    warp.set(inst, 1, lanes, two);
}

pub(crate) fn add3(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    if inst.has[0] {
        sum(warp, inst, lanes, |_| 0);
    } else {
        warp.map(inst, lanes, |[a, b, c]| a.wrapping_add(b).wrapping_add(c));
    }
}

pub(crate) fn add3_carry(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (a, b) = (warp.given(inst.given[0]), warp.given(inst.given[1]));
    sum(warp, inst, lanes, |lane| u64::from((a >> lane & 1) + (b >> lane & 1)));
}

pub(crate) fn multiply_add(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.map(inst, lanes, |[a, b, c]| a.wrapping_mul(b).wrapping_add(c));
}

pub(crate) fn multiply_add_carry(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let carry = warp.given(inst.given[0]);
    for lane in each(lanes | inst.whole) {
        let [a, b, c] = inst.from.map(|source| warp.word(&source, lane));
        let sum = a.wrapping_mul(b).wrapping_add(c).wrapping_add(carry >> lane & 1);
        warp.file[usize::from(inst.to)][lane] = sum;
    }
}

/// Returns the product of two signed or unsigned words.
fn product(inst: &DecodedInstruction, a: u32, b: u32) -> u64 {
    let is_unsigned = inst.modifiers[1] == 1;
    if is_unsigned {
        u64::from(a) * u64::from(b)
    } else {
        (i64::from(a as i32) * i64::from(b as i32)) as u64
    }
}

/// Returns, for one lane, the product plus a 64-bit source plus a carry; the sum may need 65 bits.
fn wide(warp: &Warp<'_>, inst: &DecodedInstruction, carry: Mask, lane: usize) -> u128 {
    let [a, b] = [0, 1].map(|at| warp.word(&inst.from[at], lane));
    let sum = u128::from(product(inst, a, b)) + u128::from(warp.integer(&inst.from[2], lane));
    sum + u128::from(carry >> lane & 1)
}

/// Writes the upper word of the product plus a 64-bit source.
pub(crate) fn multiply_high(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let mut carry = 0;
    for lane in each(lanes | inst.whole) {
        let sum = wide(warp, inst, 0, lane);
        warp.file[usize::from(inst.to)][lane] = (sum >> 32) as u32;
        carry |= u32::from(sum >> 64 != 0) << lane;
    }
    warp.set(inst, 0, lanes, carry);
}

fn multiply_wide_by(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask, carry: Mask) {
    let mut carried = 0;
    for lane in each(lanes | inst.whole) {
        let sum = wide(warp, inst, carry, lane);
        carried |= u32::from(sum >> 64 != 0) << lane;
        warp.file[usize::from(inst.to)][lane] = sum as u32;
        warp.file[usize::from(inst.to) + 1][lane] = (sum >> 32) as u32;
    }
    warp.set(inst, 0, lanes, carried);
}

pub(crate) fn multiply_wide(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    multiply_wide_by(warp, inst, lanes, 0);
}

pub(crate) fn multiply_wide_carry(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    multiply_wide_by(warp, inst, lanes, warp.given(inst.given[0]));
}

/// `LEA`: adds a shifted word, another word and the carry.
fn shifted(
    warp: &mut Warp<'_>,
    inst: &DecodedInstruction,
    lanes: Mask,
    carry: Mask,
    word: impl Fn(&Warp<'_>, usize) -> u32,
) {
    let mut carried = 0;
    for lane in each(lanes | inst.whole) {
        let a = u64::from(word(warp, lane) ^ inst.from[0].flip) + u64::from(inst.from[0].minus & 1);
        let sum = a + summand(warp, &inst.from[1], lane) + u64::from(carry >> lane & 1);
        warp.file[usize::from(inst.to)][lane] = sum as u32;
        carried |= u32::from(sum >> 32 != 0) << lane;
    }
    warp.set(inst, 0, lanes, carried);
}

fn plain(warp: &Warp<'_>, source: &Source, lane: usize) -> u32 {
    warp.file[usize::from(source.low)][lane]
}

pub(crate) fn shift_add(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let by = inst.numbers[0] & 31;
    shifted(warp, inst, lanes, 0, |warp, lane| plain(warp, &inst.from[0], lane) << by);
}

/// Returns the upper word of the shifted pair of the first and third operand.
fn upper(warp: &Warp<'_>, inst: &DecodedInstruction, lane: usize) -> u32 {
    let [low, high] = [0, 2].map(|at| u64::from(plain(warp, &inst.from[at], lane)));
    ((high << 32 | low) << (inst.numbers[0] & 31) >> 32) as u32
}

pub(crate) fn shift_add_high(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    shifted(warp, inst, lanes, 0, |warp, lane| upper(warp, inst, lane));
}

pub(crate) fn shift_add_high_carry(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let carry = warp.given(inst.given[0]);
    shifted(warp, inst, lanes, carry, |warp, lane| upper(warp, inst, lane));
}

/// Returns the upper word of a shifted, sign-extended word.
fn upper_sign(warp: &Warp<'_>, inst: &DecodedInstruction, lane: usize) -> u32 {
    let long = i64::from(plain(warp, &inst.from[0], lane) as i32);
    (long << (inst.numbers[0] & 31) >> 32) as u32
}

pub(crate) fn shift_add_sign(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    shifted(warp, inst, lanes, 0, |warp, lane| upper_sign(warp, inst, lane));
}

pub(crate) fn shift_add_sign_carry(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let carry = warp.given(inst.given[0]);
    shifted(warp, inst, lanes, carry, |warp, lane| upper_sign(warp, inst, lane));
}

pub(crate) fn absolute(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.map(inst, lanes, |[a]| (a as i32).wrapping_abs() as u32);
}

fn lower(a: u32, b: u32, is_unsigned: bool) -> bool {
    if is_unsigned { a < b } else { (a as i32) < (b as i32) }
}

/// Gives the lesser of two words if the predicate holds, else the greater; returns the lanes that
/// took the first word.
fn choose(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask, is_sum: bool) -> Mask {
    let is_least = warp.given(inst.given[0]);
    let is_unsigned = inst.modifiers[1] == 1;
    let mut first = 0;
    for lane in each(lanes | inst.whole) {
        let [a, b, c] = inst.from.map(|source| warp.word(&source, lane));
        let (a, b) = if is_sum { (a.wrapping_add(b), c) } else { (a, b) };
        let takes = (is_least >> lane & 1 == 1) == lower(a, b, is_unsigned);
        warp.file[usize::from(inst.to)][lane] = if takes { a } else { b };
        first |= u32::from(takes) << lane;
    }
    first
}

pub(crate) fn least(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    choose(warp, inst, lanes, false);
}

/// Refuses predicates for the chosen operand: only `PT` was ever seen there, so the meaning of
/// other predicates is unknown.
fn refuse_truths(warp: &Warp<'_>, inst: &DecodedInstruction) {
    if inst.truths.iter().any(|index| *index != NO_PREDICATE) {
        warp.fail(inst, "a predicate whose meaning is not known");
    }
}

pub(crate) fn least_of(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    refuse_truths(warp, inst);
    choose(warp, inst, lanes, false);
}

pub(crate) fn add_least(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    choose(warp, inst, lanes, true);
}

/// `VIMNMX.U16x2` of two words, `VIMNMX3.U16x2` of three: the least or greatest half of each place.
pub(crate) fn least_of_halves<const WORDS: usize>(
    warp: &mut Warp<'_>,
    inst: &DecodedInstruction,
    lanes: Mask,
) {
    refuse_truths(warp, inst);
    let is_least = warp.given(inst.given[0]);
    let is_unsigned = inst.modifiers[0] == 0;
    for lane in each(lanes | inst.whole) {
        let is_least = is_least >> lane & 1 == 1;
        let half = |shift: u32| {
            // A half shifted above 16 zeros compares like a word, also if it is signed.
            let halves = inst.from[..WORDS].iter().map(|from| warp.word(from, lane) >> shift << 16);
            let takes = |x, y| if is_least == lower(x, y, is_unsigned) { x } else { y };
            halves.reduce(takes).unwrap_or_default() >> 16
        };
        warp.file[usize::from(inst.to)][lane] = half(0) | half(16) << 16;
    }
}

/// Returns the lanes in which the comparison of the pattern's modifiers holds.
fn comparison(warp: &Warp<'_>, inst: &DecodedInstruction, lanes: Mask) -> Mask {
    let is_unsigned = inst.modifiers[2] == 1;
    // Signed numbers whose highest bits are inverted compare as unsigned numbers.
    let sign = if is_unsigned { 0 } else { 1 << 31 };
    match inst.modifiers[1] {
        0 => 0,
        1 => warp.test(inst, lanes, |[a, b]| a ^ sign < b ^ sign),
        2 => warp.test(inst, lanes, |[a, b]| a == b),
        3 => warp.test(inst, lanes, |[a, b]| a ^ sign <= b ^ sign),
        4 => warp.test(inst, lanes, |[a, b]| a ^ sign > b ^ sign),
        5 => warp.test(inst, lanes, |[a, b]| a != b),
        6 => warp.test(inst, lanes, |[a, b]| a ^ sign >= b ^ sign),
        _ => !0,
    }
}

fn set_both(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask, holds: Mask) {
    let (given, joint) = (warp.given(inst.given[0]), PredicateCombine(inst.modifiers[3]));
    warp.set(inst, 0, lanes, joint.of(holds, given));
    warp.set(inst, 1, lanes, joint.of(!holds, given));
}

pub(crate) fn compare(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let holds = comparison(warp, inst, lanes);
    set_both(warp, inst, lanes, holds);
}

/// Compares the upper words of pairs; the last predicate holds the comparison of the lower words.
pub(crate) fn compare_high(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (holds, low) = (comparison(warp, inst, lanes), warp.given(inst.given[1]));
    let same = warp.test(inst, lanes, |[a, b]| a == b);
    set_both(warp, inst, lanes, (holds & !same) | (low & same));
}
