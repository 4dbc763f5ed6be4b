//! Floats of 16 bits, two in a register: IEEE 754's format, and `BF16`, which is the upper half
//! of a float of 32 bits. Subnormal numbers are kept.

use super::super::decoded::{DecodedInstruction, Source};
use super::super::operand::Part;
use super::super::warp::{Mask, Warp, each};
use super::PredicateCombine;
use super::convert::{long, small, whole, word};
use super::float::{doubles, extreme, holds};
use super::round::{Rounding, bits, two_sum};
use std::array::from_fn;

/// The NaN that every operation gives.
const NAN: u16 = 0x7FFF;

/// A format of 16 bits.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Format {
    /// Bits of the fraction.
    fraction: u32,
    /// Exponent of the least normal number.
    least: i32,
}

impl Format {
    /// Returns the format by its number in the patterns: IEEE 754's format, then `BF16`.
    pub(super) fn of(modifier: u8) -> Self {
        match modifier {
            0 => Self { fraction: 10, least: -14 },
            _ => Self { fraction: 7, least: -126 },
        }
    }

    fn infinity(self) -> u16 {
        0x7FFF >> self.fraction << self.fraction
    }

    pub(super) fn value(self, half: u16) -> f64 {
        let (size, scale) = (half & 0x7FFF, self.least - self.fraction as i32);
        let (exponent, fraction) = (size >> self.fraction, size & !self.infinity());
        let value = match exponent {
            _ if size > self.infinity() => f64::NAN,
            _ if size == self.infinity() => f64::INFINITY,
            0 => f64::from(fraction) * 2_f64.powi(scale),
            _ => {
                let digits = f64::from(1 << self.fraction | fraction);
                digits * 2_f64.powi(scale + i32::from(exponent) - 1)
            }
        };
        if half >> 15 == 1 { -value } else { value }
    }

    /// Rounds a number.
    pub(super) fn round(self, value: f64, rounding: Rounding) -> u16 {
        let (is_negative, size) = (value.is_sign_negative(), value.abs());
        let sign = u16::from(is_negative) << 15;
        if value.is_nan() {
            return NAN;
        }
        if size == f64::INFINITY {
            return sign | self.infinity();
        }
        let grows = rounding == if is_negative { Rounding::Down } else { Rounding::Up };
        // Size of a unit in the last place, which is constant below the normal numbers.
        let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(self.least);
        let units = size * 2_f64.powi(self.fraction as i32 - exponent);
        let units = match rounding {
            Rounding::Nearest => units.round_ties_even(),
            _ if grows => units.ceil(),
            _ => units.trunc(),
        };
        let word = (((exponent - self.least) as u32) << self.fraction) + units as u32;
        let infinity = u32::from(self.infinity());
        let may_be_infinite = grows || rounding == Rounding::Nearest;
        sign | word.min(if may_be_infinite { infinity } else { infinity - 1 }) as u16
    }

    /// Rounds `a + b` to the nearest number.
    fn round_sum(self, a: f64, b: f64) -> u16 {
        let (value, rest) = two_sum(a, b);
        let value = if value.is_finite() { sticky(value, rest) } else { value };
        self.round(value, Rounding::Nearest)
    }
}

/// Returns a number and the error of its rounding as one number. If the error isn't 0 the last
/// bit is odd, so that rounding the result to fewer bits rounds the exact sum.
fn sticky(value: f64, rest: f64) -> f64 {
    let bits = value.to_bits();
    if rest == 0.0 {
        value
    } else if (rest < 0.0) != (value < 0.0) && bits & 1 == 0 {
        f64::from_bits(bits - 1)
    } else {
        f64::from_bits(bits | 1)
    }
}

/// Returns the lower or upper half of a source.
fn half(word: u32, part: Part, is_upper: bool) -> u16 {
    let is_upper = if let Part::Half(number) = part { number == 1 } else { is_upper };
    (if is_upper { word >> 16 } else { word }) as u16
}

/// Computes both halves of a register.
fn map_halves<const N: usize>(
    warp: &mut Warp<'_>,
    inst: &DecodedInstruction,
    lanes: Mask,
    f: impl Fn([u16; N]) -> u16,
) {
    let parts: [Part; N] = from_fn(|at| inst.from[at].part);
    warp.map(inst, lanes, |words: [u32; N]| {
        let [low, high] = [false, true]
            .map(|is_upper| u32::from(f(from_fn(|at| half(words[at], parts[at], is_upper)))));
        high << 16 | low
    });
}

/// Limits a result as the form says: no limit, `.SAT`, or `.RELU`.
fn limited(format: Format, result: u16, limit: u8) -> u16 {
    let is_nan = result & 0x7FFF > format.infinity();
    match limit {
        1 if is_nan => 0,
        1 | 2 if !is_nan && result >> 15 == 1 => 0,
        1 => result.min(format.round(1.0, Rounding::Nearest)),
        _ => result,
    }
}

pub(crate) fn add(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (format, limit) = (Format::of(inst.modifiers[0]), inst.modifiers[1]);
    map_halves(warp, inst, lanes, |halves| {
        let [a, b] = halves.map(|it| format.value(it));
        limited(format, format.round_sum(a, b), limit)
    });
}

pub(crate) fn multiply(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (format, limit) = (Format::of(inst.modifiers[0]), inst.modifiers[1]);
    map_halves(warp, inst, lanes, |halves| {
        let [a, b] = halves.map(|it| format.value(it));
        limited(format, format.round(a * b, Rounding::Nearest), limit)
    });
}

pub(crate) fn multiply_add(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (format, limit) = (Format::of(inst.modifiers[1]), inst.modifiers[2]);
    map_halves(warp, inst, lanes, |halves| {
        let [a, b, c] = halves.map(|it| format.value(it));
        limited(format, format.round_sum(a * b, c), limit)
    });
}

pub(crate) fn least(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (format, keeps_nan) = (Format::of(inst.modifiers[0]), inst.modifiers[1] == 1);
    let is_least = warp.given(inst.given[0]);
    // The predicate is usually constant, so one of the two sets of lanes is empty.
    for (lanes, is_least) in [(lanes & is_least, true), (lanes & !is_least, false)] {
        map_halves(warp, inst, lanes, |halves| {
            let [a, b] = halves.map(|it| format.value(it));
            format.round(extreme(a, b, is_least, keeps_nan), Rounding::Nearest)
        });
    }
}

/// Returns the lanes in which a comparison holds for the lower halves, and the lanes in which it
/// holds for the upper halves.
fn comparisons(
    warp: &Warp<'_>,
    inst: &DecodedInstruction,
    lanes: Mask,
    (format, number): (Format, u8),
) -> [Mask; 2] {
    let value = |source: &Source, lane: usize, is_upper: bool| {
        format.value(half(warp.word(source, lane), source.part, is_upper))
    };
    [false, true].map(|is_upper| {
        each(lanes).fold(0, |all, lane| {
            let [a, b] = [0, 1].map(|at| value(&inst.from[at], lane, is_upper));
            all | u32::from(holds(number, a, b)) << lane
        })
    })
}

/// `HSET2`: sets all bits of a half if the comparison holds; with `.BF` gives 1.0.
pub(crate) fn set(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let [_, is_float, number, joint, ..] = inst.modifiers;
    let format = Format::of(inst.modifiers[0]);
    let truth = if is_float == 1 { format.round(1.0, Rounding::Nearest) } else { !0 };
    let given = warp.given(inst.given[0]);
    let [low, high] = comparisons(warp, inst, lanes, (format, number))
        .map(|holds| PredicateCombine(joint).of(holds, given));
    for lane in each(lanes) {
        let [low, high] = [low, high].map(|it| (it >> lane & 1) * u32::from(truth));
        warp.file[usize::from(inst.to)][lane] = high << 16 | low;
    }
}

/// `HSETP2`: sets one predicate for the lower halves, and one for the upper halves.
pub(crate) fn compare(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let format = Format::of(inst.modifiers[0]);
    let given = warp.given(inst.given[0]);
    let holds = comparisons(warp, inst, lanes, (format, inst.modifiers[1]));
    for (at, holds) in holds.into_iter().enumerate() {
        warp.set(inst, at, lanes, PredicateCombine(inst.modifiers[2]).of(holds, given));
    }
}

/// `HADD2.F32`: converts the half that the operand names to a float of 32 bits.
pub(crate) fn widen(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let part = inst.from[1].part;
    warp.map(inst, lanes, |[_, word]| bits(Format::of(0).value(half(word, part, false)) as f32));
}

fn pack_by(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask, format: Format) {
    let rounding = if inst.modifiers[1] == 1 { Rounding::Zero } else { Rounding::Nearest };
    warp.map(inst, lanes, |words: [u32; 2]| {
        let [high, low] =
            words.map(|it| u32::from(format.round(f64::from(f32::from_bits(it)), rounding)));
        high << 16 | low
    });
}

/// Packs two floats of 32 bits; the first becomes the upper half.
pub(crate) fn pack(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    pack_by(warp, inst, lanes, Format::of(0));
}

pub(crate) fn pack_brain(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    pack_by(warp, inst, lanes, Format::of(1));
}

pub(crate) fn narrow(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (format, rounding) = (Format::of(inst.modifiers[0]), Rounding::of(inst.modifiers[1]));
    warp.map(inst, lanes, |[a]| u32::from(format.round(f64::from(f32::from_bits(a)), rounding)));
}

pub(crate) fn narrow_double(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (format, rounding) = (Format::of(inst.modifiers[0]), Rounding::of(inst.modifiers[1]));
    for lane in each(lanes) {
        let [value] = doubles(warp, inst, lane);
        warp.file[usize::from(inst.to)][lane] = u32::from(format.round(value, rounding));
    }
}

/// Converts an integer to a half, in two parts that are exact in 64 bits.
fn integer(format: Format, value: i128, rounding: Rounding) -> u32 {
    let low = value & 0xFFFF_FFFF;
    let (sum, rest) = two_sum((value - low) as f64, low as f64);
    u32::from(format.round(sticky(sum, rest), rounding))
}

pub(crate) fn from_word(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (format, rounding) =
        (Format::of(inst.modifiers[0]), Rounding::of_conversion(inst.modifiers[2]));
    let part = inst.from[0].part;
    warp.map(inst, lanes, |[a]| {
        let value = match inst.modifiers[1] {
            0 => i128::from(a as i32),
            kind => small(a, part, kind - 1),
        };
        integer(format, value, rounding)
    });
}

pub(crate) fn from_long(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (format, rounding) =
        (Format::of(inst.modifiers[0]), Rounding::of_conversion(inst.modifiers[2]));
    for lane in each(lanes) {
        let long = warp.integer(&inst.from[0], lane);
        let is_unsigned = inst.modifiers[1] == 1;
        let value = if is_unsigned { i128::from(long) } else { i128::from(long as i64) };
        warp.file[usize::from(inst.to)][lane] = integer(format, value, rounding);
    }
}

pub(crate) fn to_word(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let [kind, format, way, ..] = inst.modifiers;
    let part = inst.from[0].part;
    warp.map(inst, lanes, |[a]| word(Format::of(format).value(half(a, part, false)), kind, way));
}

pub(crate) fn to_long(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let [kind, format, way, ..] = inst.modifiers;
    warp.map_long(inst, lanes, |warp, lane| {
        let source = &inst.from[0];
        let value = Format::of(format).value(half(warp.word(source, lane), source.part, false));
        long(value, kind == 1, way)
    });
}

/// Rounds a half to a whole number.
pub(crate) fn round(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (format, way) = (Format::of(inst.modifiers[0]), inst.modifiers[1]);
    let part = inst.from[0].part;
    warp.map(inst, lanes, |[a]| {
        let value = whole(format.value(half(a, part, false)), way);
        u32::from(format.round(value, Rounding::Nearest))
    });
}

/// Adds two pairs of halves.
pub(super) fn sum(a: u32, b: u32, is_brain: bool) -> u32 {
    let format = Format::of(u8::from(is_brain));
    let half = |at: u32| {
        let [a, b] = [a, b].map(|pair| format.value((pair >> at) as u16));
        u32::from(format.round_sum(a, b)) << at
    };
    half(0) | half(16)
}
