//! Conversions between integers and floats, and between floats.

use super::super::decoded::DecodedInstruction;
use super::super::operand::Part;
use super::super::warp::{Mask, Warp, each};
use super::float::doubles;
use super::round::{Rounding, bits, directed, flushed, long_bits, sum};

/// Converts an integer to a float, in two halves that are exact in 64 bits.
fn integer(value: i128, rounding: Rounding) -> u32 {
    let low = value & 0xFFFF_FFFF;
    bits(sum((value - low) as f64, low as f64, rounding))
}

pub(crate) fn from_signed(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let rounding = Rounding::of_conversion(inst.modifiers[0]);
    warp.map(inst, lanes, |[a]| integer(i128::from(a as i32), rounding));
}

/// Returns a part of a word as an integer: `U8`, `U16`, `U32`, `S8`, `S16` by their number.
pub(super) fn small(word: u32, part: Part, kind: u8) -> i128 {
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

pub(crate) fn from_small(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (kind, rounding) = (inst.modifiers[0], Rounding::of_conversion(inst.modifiers[1]));
    let part = inst.from[0].part;
    warp.map(inst, lanes, |[a]| integer(small(a, part, kind), rounding));
}

pub(crate) fn from_word(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (is_unsigned, rounding) =
        (inst.modifiers[0] == 1, Rounding::of_conversion(inst.modifiers[1]));
    warp.map(inst, lanes, |[a]| {
        let value = if is_unsigned { i128::from(a) } else { i128::from(a as i32) };
        integer(value, rounding)
    });
}

pub(crate) fn from_long(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (is_unsigned, rounding) =
        (inst.modifiers[0] == 1, Rounding::of_conversion(inst.modifiers[1]));
    for lane in each(lanes | inst.whole) {
        let long = warp.integer(&inst.from[0], lane);
        let value = if is_unsigned { i128::from(long) } else { i128::from(long as i64) };
        warp.file[usize::from(inst.to)][lane] = integer(value, rounding);
    }
}

pub(crate) fn to_double(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (part, rounding) = (inst.from[0].part, Rounding::of_conversion(inst.modifiers[1]));
    warp.map_long(inst, lanes, |warp, lane| {
        let (word, long) = (warp.word(&inst.from[0], lane), warp.integer(&inst.from[0], lane));
        let value = match inst.modifiers[0] {
            0 => i128::from(word as i32),
            1 => i128::from(word),
            2 => i128::from(long as i64),
            3 => i128::from(long),
            4 => small(word, part, 4),
            5 => small(word, part, 1),
            6 => small(word, part, 3),
            _ => small(word, part, 0),
        };
        let near = value as f64;
        long_bits(directed(near, (near as i128 - value) as f64, rounding))
    });
}

/// `I2I`: clamps to the range of `U8`, `S8`, `U16`, `S16`, by their number.
pub(crate) fn clamp(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (least, most) =
        [(0, 0xFF), (-0x80, 0x7F), (0, 0xFFFF), (-0x8000, 0x7FFF)][usize::from(inst.modifiers[0])];
    warp.map(inst, lanes, |[a]| (a as i32).clamp(least, most) as u32);
}

/// Rounds to a whole number. `way` is the number of the direction in the patterns: to the
/// nearest, towards zero, down, up.
pub(super) fn whole(value: f64, way: u8) -> f64 {
    match way {
        0 => value.round_ties_even(),
        1 => value.trunc(),
        2 => value.floor(),
        _ => value.ceil(),
    }
}

/// Converts a whole number to an integer: signed, `U32`, `S16` or `U16`, by their number in the
/// patterns. A number out of range becomes the nearest end of the range, a NaN zero.
pub(super) fn word(value: f64, kind: u8, way: u8) -> u32 {
    let value = whole(value, way);
    match kind {
        0 => value as i32 as u32,
        1 => value as u32,
        2 => value as i16 as u32,
        _ => u32::from(value as u16),
    }
}

/// Converts to 64 bits. A number out of range becomes the nearest end of the range, a NaN
/// `0x8000_0000_0000_0000`.
pub(super) fn long(value: f64, is_unsigned: bool, way: u8) -> u64 {
    let value = whole(value, way);
    match (value.is_nan(), is_unsigned) {
        (true, _) => 1 << 63,
        (false, true) => value as u64,
        (false, false) => value as i64 as u64,
    }
}

pub(crate) fn to_word(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let [flushes, kind, way] = [0, 1, 2].map(|at| inst.modifiers[at]);
    warp.map(inst, lanes, |[a]| {
        word(f64::from(flushed(f32::from_bits(a), flushes == 1)), kind, way)
    });
}

pub(crate) fn to_long(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.map_long(inst, lanes, |warp, lane| {
        let value = f64::from(f32::from_bits(warp.word(&inst.from[0], lane)));
        long(value, inst.modifiers[0] == 1, inst.modifiers[1])
    });
}

pub(crate) fn double_to_word(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    for lane in each(lanes | inst.whole) {
        let [value] = doubles(warp, inst, lane);
        let (kind, way) = (inst.modifiers[0], inst.modifiers[1]);
        // A NaN of 64 bits becomes `0x8000_0000`, a NaN of 32 bits zero.
        let result = match (value.is_nan(), kind) {
            (true, 0 | 1) => 1 << 31,
            (true, 2) => i16::MIN as u32,
            (true, _) => 1 << 15,
            (false, _) => word(value, kind, way),
        };
        warp.file[usize::from(inst.to)][lane] = result;
    }
}

pub(crate) fn double_to_long(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.map_long(inst, lanes, |warp, lane| {
        let [value] = doubles(warp, inst, lane);
        long(value, inst.modifiers[0] == 1, inst.modifiers[1])
    });
}

pub(crate) fn round(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let (flushes, way) = (inst.modifiers[0] == 1, inst.modifiers[1]);
    warp.map(inst, lanes, |[a]| {
        bits(whole(f64::from(flushed(f32::from_bits(a), flushes)), way) as f32)
    });
}

pub(crate) fn round_double(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.map_long(inst, lanes, |warp, lane| {
        let [value] = doubles(warp, inst, lane);
        long_bits(whole(value, inst.modifiers[0]))
    });
}

pub(crate) fn widen(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    warp.map_long(inst, lanes, |warp, lane| {
        long_bits(f64::from(f32::from_bits(warp.word(&inst.from[0], lane))))
    });
}

pub(crate) fn narrow(warp: &mut Warp<'_>, inst: &DecodedInstruction, lanes: Mask) {
    let rounding = Rounding::of(inst.modifiers[0]);
    for lane in each(lanes | inst.whole) {
        let [value] = doubles(warp, inst, lane);
        let near = if value == 0.0 { value as f32 } else { sum(value, 0.0, rounding) };
        warp.file[usize::from(inst.to)][lane] = bits(near);
    }
}
