//! Random numbers: NVIDIA Warp's generator, PCG with 32 bits of state that the caller holds.

use super::{BuiltinRow, Derivative, Domain, Pattern, body, row_of};
use crate::build::Builder;
use crate::constant::Literal;
use crate::op::{BinaryOp, Value};
use crate::ty::Scalar;
use Derivative::Zero;
use Domain::Any;
use Pattern::{Is, Reference};

const I32: Pattern = Is(Scalar::I32);
const U32: Pattern = Is(Scalar::U32);
const F32: Pattern = Is(Scalar::F32);
pub(super) const STATE: Pattern = Reference(Scalar::U32);

#[rustfmt::skip]
pub(super) static ROWS: &[BuiltinRow] = &[
    row_of("rand_init", &[
        body(Any, &["seed"], &[I32], U32, |b| {
            let seed = b.arg(0);
            let seed = b.convert(seed, Scalar::U32);
            Some(pcg(b, seed))
        }),
        body(Any, &["seed", "offset"], &[I32, I32], U32, |b| {
            let (seed, offset) = (b.arg(0), b.arg(1));
            let (seed, offset) = (b.convert(seed, Scalar::U32), b.convert(offset, Scalar::U32));
            let scrambled = pcg(b, offset);
            let sum = b.add(seed, scrambled);
            Some(pcg(b, sum))
        }),
    ], Zero, "A state made of a seed, or of a seed and an offset."),
    row_of("randu", &[
        body(Any, &["state"], &[STATE], U32, |b| Some(advance(b))),
        body(Any, &["state", "low", "high"], &[STATE, U32, U32], U32, |b| {
            let (low, high) = (b.arg(1), b.arg(2));
            let bits = advance(b);
            let width = b.sub(high, low);
            let above = b.binary(BinaryOp::Remainder, bits, width);
            Some(b.add(above, low))
        }),
    ], Zero, "Any `uint32`, or one in low..high."),
    row_of("randi", &[
        body(Any, &["state"], &[STATE], I32, |b| {
            let bits = advance(b);
            Some(b.convert(bits, Scalar::I32))
        }),
        body(Any, &["state", "low", "high"], &[STATE, I32, I32], I32, |b| {
            let (low, high) = (b.arg(1), b.arg(2));
            let bits = advance(b);
            let width = b.sub(high, low);
            let width = b.convert(width, Scalar::U32);
            let above = b.binary(BinaryOp::Remainder, bits, width);
            let low = b.convert(low, Scalar::U32);
            let sum = b.add(above, low);
            Some(b.convert(sum, Scalar::I32))
        }),
    ], Zero, "Any `int32`, or one in low..high."),
    row_of("randf", &[
        body(Any, &["state"], &[STATE], F32, |b| Some(unit(b))),
        body(Any, &["state", "low", "high"], &[STATE, F32, F32], F32, |b| {
            let (low, high) = (b.arg(1), b.arg(2));
            let (width, fraction) = (b.sub(high, low), unit(b));
            let above = b.mul(width, fraction);
            Some(b.add(above, low))
        }),
    ], Zero, "A float in 0..1, or in low..high."),
];

/// Returns the state that follows a state, which is also the number drawn.
fn pcg(b: &mut Builder<'_>, state: Value) -> Value {
    let u32 =
        |b: &mut Builder<'_>, value: u32| b.literal(Literal::int(Scalar::U32, i128::from(value)));
    let (factor, increment) = (u32(b, 747_796_405), u32(b, 2_891_336_453));
    let product = b.mul(state, factor);
    let mixed = b.add(product, increment);
    let (high, four) = (u32(b, 28), u32(b, 4));
    let top = b.binary(BinaryOp::ShiftRight, mixed, high);
    let amount = b.add(top, four);
    let shifted = b.binary(BinaryOp::ShiftRight, mixed, amount);
    let folded = b.binary(BinaryOp::Xor, shifted, mixed);
    let last = u32(b, 277_803_737);
    let word = b.mul(folded, last);
    let amount = u32(b, 22);
    let shifted = b.binary(BinaryOp::ShiftRight, word, amount);
    b.binary(BinaryOp::Xor, shifted, word)
}

/// Advances the state of parameter 0 and returns it.
fn advance(b: &mut Builder<'_>) -> Value {
    let place = b.param_place(0);
    let state = b.load(place);
    let next = pcg(b, state);
    b.store(place, next);
    next
}

/// Draws 24 random bits as a float in 0..1.
fn unit(b: &mut Builder<'_>) -> Value {
    let bits = advance(b);
    let eight = b.literal(Literal::int(Scalar::U32, 8));
    let top = b.binary(BinaryOp::ShiftRight, bits, eight);
    let top = b.convert(top, Scalar::F32);
    let scale = b.f32(1.0 / 16_777_216.0);
    b.mul(top, scale)
}
