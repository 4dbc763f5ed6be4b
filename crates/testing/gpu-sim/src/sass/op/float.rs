//! Floats of 32 and 64 bits.

use super::super::decoded::{DecodedInstruction, Source};
use super::super::warp::{LANES, Mask, Warp, each};
use super::PredicateCombine;
use super::round::{NAN, Rounding, bits, flushed, long_bits, multiply_add_double, sum, sum_double};

/// Returns the flags of forms whose pattern has `{,.FTZ}{,.RN,.RZ,.RM,.RP}`.
fn rounding(inst: &DecodedInstruction) -> (bool, Rounding) {
    (inst.modifiers[0] == 1, Rounding::of(inst.modifiers[1].saturating_sub(1)))
}

fn float(word: u32, flushes: bool) -> f32 {
    flushed(f32::from_bits(word), flushes)
}

/// `.SAT`: a NaN becomes 0.
fn saturated(value: f32) -> f32 {
    value.max(0.0).clamp(0.0, 1.0) + 0.0
}

pub(crate) fn add(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (flushes, rounding) = rounding(inst);
    let saturates = inst.modifiers[2] == 1;
    warp.map(inst, lanes, |[a, b]| {
        let (a, b) = (float(a, flushes), float(b, flushes));
        let value = match rounding {
            Rounding::Nearest => a + b,
            _ => sum(f64::from(a), f64::from(b), rounding),
        };
        bits(flushed(if saturates { saturated(value) } else { value }, flushes))
    });
}

pub(crate) fn multiply(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (flushes, rounding) = rounding(inst);
    let saturates = inst.modifiers[2] == 1;
    warp.map(inst, lanes, |[a, b]| {
        let (a, b) = (float(a, flushes), float(b, flushes));
        let exact = f64::from(a) * f64::from(b);
        let value = match rounding {
            Rounding::Nearest => a * b,
            _ if exact == 0.0 => exact as f32,
            _ => sum(exact, 0.0, rounding),
        };
        bits(flushed(if saturates { saturated(value) } else { value }, flushes))
    });
}

pub(crate) fn multiply_add(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (flushes, rounding) = rounding(inst);
    let saturates = inst.modifiers[2] == 1;
    warp.map(inst, lanes, |[a, b, c]| {
        let [a, b, c] = [a, b, c].map(|it| float(it, flushes));
        let value = match rounding {
            Rounding::Nearest => a.mul_add(b, c),
            _ => sum(f64::from(a) * f64::from(b), f64::from(c), rounding),
        };
        bits(flushed(if saturates { saturated(value) } else { value }, flushes))
    });
}

/// Returns the lesser or greater of two numbers; -0 is less than +0. If one operand is NaN, the
/// result is the other operand, or NaN if `keeps_nan` is true.
pub(super) fn extreme(a: f64, b: f64, is_least: bool, keeps_nan: bool) -> f64 {
    if a.is_nan() || b.is_nan() {
        let takes_first = b.is_nan() != keeps_nan;
        return if a.is_nan() == b.is_nan() || takes_first { a } else { b };
    }
    let is_less = a < b || a == b && a.is_sign_negative();
    if is_less == is_least { a } else { b }
}

pub(crate) fn least(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    least_of::<2>(warp, inst, lanes);
}

pub(crate) fn least_of_three(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    least_of::<3>(warp, inst, lanes);
}

fn least_of<const N: usize>(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let is_least = warp.given(inst.given[0]);
    let (flushes, keeps_nan) = (inst.modifiers[0] == 1, inst.modifiers[1] == 1);
    for lane in each(lanes) {
        let number = |source: &Source| f64::from(float(warp.word(source, lane), flushes));
        let least = |a, b| extreme(a, b, is_least >> lane & 1 == 1, keeps_nan);
        let value = inst.from[1..N].iter().map(number).fold(number(&inst.from[0]), least);
        warp.file[usize::from(inst.to)][lane] = bits(value as f32);
    }
}

pub(crate) fn select(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    super::logic::select(warp, inst, lanes);
}

/// `FCHK`: true if a division must take its slow branch. The slow branch is always right, so a
/// result of true is never wrong.
pub(crate) fn check_division(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let slow = warp.test(inst, lanes, |[a, b]| {
        let [a, b] = [a, b].map(|it| (it >> 23 & 0xFF) as i32);
        let is_extreme = a == 255 || a < 25 || b == 255 || b == 0 || b >= 253;
        is_extreme || !(-120..=125).contains(&(a - b))
    });
    warp.set(inst, 0, lanes, slow);
}

/// Compares by the number in the pattern; comparisons from `LTU` on are also true for a NaN.
pub(super) fn holds(number: u8, a: f64, b: f64) -> bool {
    let is_unordered = a.is_nan() || b.is_nan();
    match number {
        0 => false,
        1 => a < b,
        2 => a == b,
        3 => a <= b,
        4 => a > b,
        5 => a != b && !is_unordered,
        6 => a >= b,
        7 => !is_unordered,
        8 => is_unordered,
        9..=14 => is_unordered || holds(number - 8, a, b),
        _ => true,
    }
}

fn set_both(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask, joint: u8, holds: Mask) {
    let (given, joint) = (warp.given(inst.given[0]), PredicateCombine(joint));
    warp.set(inst, 0, lanes, joint.of(holds, given));
    warp.set(inst, 1, lanes, joint.of(!holds, given));
}

pub(crate) fn compare(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (number, flushes) = (inst.modifiers[0], inst.modifiers[1] == 1);
    let all = warp.test(inst, lanes, |[a, b]| {
        holds(number, f64::from(float(a, flushes)), f64::from(float(b, flushes)))
    });
    set_both(warp, inst, lanes, inst.modifiers[2], all);
}

/// `FSET.BF`: gives 1.0 if the comparison holds, else 0.0.
pub(crate) fn one_if(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (number, flushes) = (inst.modifiers[0], inst.modifiers[1] == 1);
    let all = warp.test(inst, lanes, |[a, b]| {
        holds(number, f64::from(float(a, flushes)), f64::from(float(b, flushes)))
    });
    let all = PredicateCombine(inst.modifiers[2]).of(all, warp.given(inst.given[0]));
    for lane in each(lanes) {
        let value = if all >> lane & 1 == 1 { 1.0_f32 } else { 0.0 };
        warp.file[usize::from(inst.to)][lane] = bits(value);
    }
}

/// Computes the nearest value; a GPU's value may differ by an ulp or two. Subnormal numbers count
/// as zero: for a form of PTX that keeps them, the assembler scales the operand first.
pub(crate) fn approximate(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let number = inst.modifiers[0];
    warp.map(inst, lanes, |[a]| {
        let a = f64::from(float(a, true));
        let value = match number {
            0 => 1.0 / a,
            1 => 1.0 / a.sqrt(),
            2 => a.sqrt(),
            3 => a.exp2(),
            4 => a.log2(),
            // Sine and cosine take an angle in turns.
            5 => (a * std::f64::consts::TAU).sin(),
            6 => (a * std::f64::consts::TAU).cos(),
            _ => a.tanh(),
        };
        bits(flushed(value as f32, true))
    });
}

/// Gives the upper word of the reciprocal, or of the reciprocal root, of a double whose upper word
/// is given.
pub(crate) fn approximate_high(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let is_root = inst.modifiers[0] == 1;
    warp.map(inst, lanes, |[a]| {
        let a = f64::from_bits(u64::from(a) << 32);
        let a = if a.is_subnormal() { 0_f64.copysign(a) } else { a };
        let value = if is_root { 1.0 / a.sqrt() } else { 1.0 / a };
        (long_bits(value) >> 32) as u32
    });
}

fn double(warp: &Warp<'_>, source: &Source, lane: usize) -> f64 {
    let mask = u64::from(source.keep) << 32 | 0xFFFF_FFFF;
    f64::from_bits((warp.long(source, lane) & mask) ^ u64::from(source.flip) << 32)
}

pub(super) fn doubles<const N: usize>(
    warp: &Warp<'_>,
    inst: &DecodedInstruction,
    lane: usize,
) -> [f64; N] {
    std::array::from_fn(|at| double(warp, &inst.from[at], lane))
}

/// Computes a double of `N` doubles in each lane. The sources of all lanes are read at once, which
/// takes a fraction of the time.
fn map_doubles<const N: usize>(
    warp: &mut Warp<'_>,
    inst: &DecodedInstruction,
    lanes: Mask,
    f: impl Fn([f64; N]) -> f64,
) {
    let from: [[f64; LANES]; N] = std::array::from_fn(|at| {
        let source = &inst.from[at];
        let [low, high] = [source.low, source.high].map(|it| &warp.file[usize::from(it)]);
        std::array::from_fn(|lane| {
            let high = (high[lane] & source.keep) ^ source.flip;
            f64::from_bits(u64::from(low[lane]) | u64::from(high) << 32)
        })
    });
    warp.map_long(inst, lanes, |_, lane| long_bits(f(std::array::from_fn(|at| from[at][lane]))));
}

pub(crate) fn add_doubles(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    match Rounding::of(inst.modifiers[0]) {
        Rounding::Nearest => map_doubles(warp, inst, lanes, |[a, b]| a + b),
        way => map_doubles(warp, inst, lanes, |[a, b]| sum_double(a, b, way)),
    }
}

pub(crate) fn multiply_doubles(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    match Rounding::of(inst.modifiers[0]) {
        Rounding::Nearest => map_doubles(warp, inst, lanes, |[a, b]| a * b),
        way => map_doubles(warp, inst, lanes, |[a, b]: [f64; 2]| {
            let product = a * b;
            let over = if product.is_finite() { -a.mul_add(b, -product) } else { 0.0 };
            super::round::directed(product, over, way)
        }),
    }
}

pub(crate) fn multiply_add_doubles(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let way = Rounding::of(inst.modifiers[0]);
    map_doubles(warp, inst, lanes, |[a, b, c]| multiply_add_double(a, b, c, way));
}

pub(crate) fn compare_doubles(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let mut all = 0;
    for lane in each(lanes) {
        let [a, b] = doubles(warp, inst, lane);
        all |= u32::from(holds(inst.modifiers[0], a, b)) << lane;
    }
    set_both(warp, inst, lanes, inst.modifiers[1], all);
}

/// Sets two predicates: one if the first of two doubles is the lesser (or greater), one if both
/// are NaN.
pub(crate) fn least_double(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let is_least = inst.modifiers[0] == 0;
    let (mut first, mut neither) = (0, 0);
    for lane in each(lanes) {
        let [a, b]: [f64; 2] = doubles(warp, inst, lane);
        // -0 is less than +0.
        let is_less = a < b || a == b && a.is_sign_negative();
        let takes = if a.is_nan() || b.is_nan() { b.is_nan() } else { is_less == is_least };
        first |= u32::from(takes) << lane;
        neither |= u32::from(a.is_nan() && b.is_nan()) << lane;
    }
    let given = warp.given(inst.given[0]);
    warp.set(inst, 0, lanes, first & given);
    warp.set(inst, 1, lanes, neither & given);
}

/// `HFMA2 R0, -RZ, RZ, a, b`: loads a number whose two halves stand in the instruction.
pub(crate) fn literal_halves(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let literal = inst.literal;
    // A NaN half would become the canonical NaN.
    let is_number = |half: u32| half & 0x7C00 != 0x7C00 || half & 0x3FF == 0;
    if !is_number(literal >> 16) || !is_number(literal & 0xFFFF) {
        warp.fail(inst, &format!("a NaN of 16 bits, in {NAN:x} of 32"));
    }
    // The product is -0, and adding -0 changes no half, not even -0.
    warp.map(inst, lanes, |[]| literal);
}
