//! Conversions between integers and floats, and between floats.

use super::super::decoded::DecodedInstruction;
use super::super::operand::Part;
use super::super::warp::{Mask, Warp, each};
use super::float::doubles;
use super::round::{Rounding, bits, flushed, long_bits, sum};

/// An integer as a float: both of its halves are exact in 64 bits.
fn integer(value: i128, rounding: Rounding) -> u32 {
    let low = value & 0xFFFF_FFFF;
    bits(sum((value - low) as f64, low as f64, rounding))
}

pub(in super::super) fn from_signed(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let rounding = Rounding::of_conversion(step.choice[0]);
    warp.map(step, lanes, |[a]| integer(i128::from(a as i32), rounding));
}

/// A part of a word as an integer: `U8`, `U16`, `U32`, `S8`, `S16` by their number.
fn small(word: u32, part: Part, kind: u8) -> i128 {
    let word = match part {
        Part::All => word,
        Part::Half(number) => word >> (16 * u32::from(number)),
        Part::Byte(number) => word >> (8 * u32::from(number)),
    };
    match kind {
        0 => i128::from(word as u8),
        1 => i128::from(word as u16),
        2 => i128::from(word),
        3 => i128::from(word as i8),
        _ => i128::from(word as i16),
    }
}

pub(in super::super) fn from_small(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let (kind, rounding) = (step.choice[0], Rounding::of_conversion(step.choice[1]));
    let part = step.from[0].part;
    warp.map(step, lanes, |[a]| integer(small(a, part, kind), rounding));
}

pub(in super::super) fn from_word(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let (is_unsigned, rounding) = (step.choice[0] == 1, Rounding::of_conversion(step.choice[1]));
    warp.map(step, lanes, |[a]| {
        let value = if is_unsigned { i128::from(a) } else { i128::from(a as i32) };
        integer(value, rounding)
    });
}

pub(in super::super) fn from_long(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let (is_unsigned, rounding) = (step.choice[0] == 1, Rounding::of_conversion(step.choice[1]));
    for lane in each(lanes | step.whole) {
        let long = warp.integer(&step.from[0], lane);
        let value = if is_unsigned { i128::from(long) } else { i128::from(long as i64) };
        warp.file[usize::from(step.to)][lane] = integer(value, rounding);
    }
}

pub(in super::super) fn to_double(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let part = step.from[0].part;
    warp.map_long(step, lanes, |warp, lane| {
        let (word, long) = (warp.word(&step.from[0], lane), warp.integer(&step.from[0], lane));
        let value = match step.choice[0] {
            0 => f64::from(word as i32),
            1 => f64::from(word),
            2 => (long as i64) as f64,
            3 => long as f64,
            4 => small(word, part, 4) as f64,
            5 => small(word, part, 1) as f64,
            6 => small(word, part, 3) as f64,
            _ => small(word, part, 0) as f64,
        };
        long_bits(value)
    });
}

/// A whole number: nearest, towards zero, down, up, by its number in the patterns.
fn whole(value: f64, way: u8) -> f64 {
    match way {
        0 => value.round_ties_even(),
        1 => value.trunc(),
        2 => value.floor(),
        _ => value.ceil(),
    }
}

/// A word: what is too large is the largest, and a NaN zero.
fn word(value: f64, is_unsigned: bool, way: u8) -> u32 {
    let value = whole(value, way);
    if is_unsigned { value as u32 } else { value as i32 as u32 }
}

/// 64 bits: what is too large is the largest, and a NaN the lowest of all.
fn long(value: f64, is_unsigned: bool, way: u8) -> u64 {
    let value = whole(value, way);
    match (value.is_nan(), is_unsigned) {
        (true, _) => 1 << 63,
        (false, true) => value as u64,
        (false, false) => value as i64 as u64,
    }
}

pub(in super::super) fn to_word(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let (flushes, is_unsigned) = (step.choice[0] == 1, step.choice[1] == 1);
    let way = step.choice[2];
    warp.map(step, lanes, |[a]| {
        word(f64::from(flushed(f32::from_bits(a), flushes)), is_unsigned, way)
    });
}

pub(in super::super) fn to_long(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    warp.map_long(step, lanes, |warp, lane| {
        let value = f64::from(f32::from_bits(warp.word(&step.from[0], lane)));
        long(value, step.choice[0] == 1, step.choice[1])
    });
}

pub(in super::super) fn double_to_word(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
) {
    for lane in each(lanes | step.whole) {
        let [value] = doubles(warp, step, lane);
        let result = match value.is_nan() {
            // A NaN of 64 bits is none of the numbers, and one of 32 is zero.
            true => 1 << 31,
            false => word(value, step.choice[0] == 1, step.choice[1]),
        };
        warp.file[usize::from(step.to)][lane] = result;
    }
}

pub(in super::super) fn double_to_long(
    warp: &mut Warp<'_>,
    step: &DecodedInstruction,
    lanes: Mask,
) {
    warp.map_long(step, lanes, |warp, lane| {
        let [value] = doubles(warp, step, lane);
        long(value, step.choice[0] == 1, step.choice[1])
    });
}

pub(in super::super) fn round(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let (flushes, way) = (step.choice[0] == 1, step.choice[1]);
    warp.map(step, lanes, |[a]| {
        bits(whole(f64::from(flushed(f32::from_bits(a), flushes)), way) as f32)
    });
}

pub(in super::super) fn round_double(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    warp.map_long(step, lanes, |warp, lane| {
        let [value] = doubles(warp, step, lane);
        long_bits(whole(value, step.choice[0]))
    });
}

pub(in super::super) fn widen(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    warp.map_long(step, lanes, |warp, lane| {
        long_bits(f64::from(f32::from_bits(warp.word(&step.from[0], lane))))
    });
}

pub(in super::super) fn narrow(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let rounding = Rounding::of(step.choice[0]);
    for lane in each(lanes | step.whole) {
        let [value] = doubles(warp, step, lane);
        let near = if value == 0.0 { value as f32 } else { sum(value, 0.0, rounding) };
        warp.file[usize::from(step.to)][lane] = bits(near);
    }
}

/// A float of 16 bits, in the half that the operand names.
pub(in super::super) fn from_half(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    let shift = if step.from[1].part == Part::Half(1) { 16 } else { 0 };
    for lane in each(lanes) {
        let half = warp.word(&step.from[1], lane) >> shift & 0xFFFF;
        let (exponent, fraction) = (half >> 10 & 31, f64::from(half & 0x3FF));
        let size = match exponent {
            0 => fraction * 2_f64.powi(-24),
            31 if fraction == 0.0 => f64::INFINITY,
            31 => f64::NAN,
            _ => (1024.0 + fraction) * 2_f64.powi(exponent as i32 - 25),
        };
        let value = if half >> 15 == 1 { -size } else { size };
        warp.file[usize::from(step.to)][lane] = bits(value as f32);
    }
}

/// The nearest float of 16 bits.
fn half(value: f32) -> u32 {
    let (sign, size) = (value.to_bits() >> 16 & 0x8000, f64::from(value.abs()));
    if size.is_nan() {
        return 0x7FFF;
    }
    // Numbers that round to 2^16 are infinite.
    if size >= 65520.0 {
        return sign | 0x7C00;
    }
    // Steps of 2^-24 below the normal numbers, of 2^-10 of the leading power of two above.
    let exponent = ((size.to_bits() >> 52) as i32 - 1023).max(-14);
    let steps = (size * 2_f64.powi(10 - exponent)).round_ties_even() as u32;
    sign | ((exponent + 14) as u32 * 1024 + steps)
}

/// Converts two floats to 16 bits in a register; the first is its upper half.
pub(in super::super) fn to_halves(warp: &mut Warp<'_>, step: &DecodedInstruction, lanes: Mask) {
    warp.map(step, lanes, |[high, low]| {
        half(f32::from_bits(high)) << 16 | half(f32::from_bits(low))
    });
}
