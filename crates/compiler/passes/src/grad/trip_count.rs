//! Number of rounds of a `For`, as `i64`, and the index of each.

use gbxcule_ir::build::Builder;
use gbxcule_ir::builtin::Native;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::Body;
use gbxcule_ir::op::{BinaryOp, Op, Value};
use gbxcule_ir::ty::{Scalar, Type};

/// Returns the number of iterations, if all bounds are literals.
pub(super) fn iterations(body: &Body, range: [Value; 3]) -> Option<u64> {
    let [start, end, step] = range.map(|bound| body.integer(bound));
    let (distance, step) = (end? - start?, step?);
    let (distance, step) = if step < 0 { (-distance, -step) } else { (distance, step) };
    if step == 0 || distance <= 0 { Some(0) } else { u64::try_from((distance - 1) / step + 1).ok() }
}

/// Computes the number of iterations. Bounds of up to 32 bits are widened, so that nothing wraps;
/// differences of wider bounds are taken in the unsigned type, where they are exact.
pub(super) fn count(b: &mut Builder<'_>, [start, end, step]: [Value; 3]) -> Value {
    let scalar = b.body().type_of(step).as_scalar().unwrap_or(Scalar::I32);
    if scalar.bits() <= 32 {
        return widened(b, [start, end, step]);
    }
    let zero_trips = b.number(Type::I64, 0.0);
    let zero = b.number(Type::scalar(scalar), 0.0);
    let step_number = b.body().integer(step);
    let upwards = |b: &mut Builder<'_>| steps(b, start, end, step, scalar);
    let downwards = |b: &mut Builder<'_>| {
        let size = b.neg(step);
        steps(b, end, start, size, scalar)
    };
    match step_number {
        Some(0) => zero_trips,
        Some(step) if step > 0 => upwards(b),
        Some(_) => downwards(b),
        None if !scalar.is_signed_int() => {
            // Step 0 would divide by zero.
            let (up, some) = (nonzero_steps(b, start, end, step, scalar), b.lt(zero, step));
            b.select(some, up, zero_trips)
        }
        None => {
            let up = nonzero_steps(b, start, end, step, scalar);
            let size = b.neg(step);
            let down = nonzero_steps(b, end, start, size, scalar);
            let (rises, falls) = (b.lt(zero, step), b.lt(step, zero));
            let down = b.select(falls, down, zero_trips);
            b.select(rises, up, down)
        }
    }
}

/// Computes the number of iterations between bounds of up to 32 bits: `max(end - start + step - 1,
/// 0) / step`.
fn widened(b: &mut Builder<'_>, [start, end, step]: [Value; 3]) -> Value {
    let zero = b.number(Type::I64, 0.0);
    match b.body().integer(step) {
        Some(0) => zero,
        Some(by) => {
            let (from, to) = if by > 0 { (start, end) } else { (end, start) };
            let size = by.abs();
            let distance = difference(b, to, from, size - 1);
            let rounded = b.native(Native::Max, &[distance, zero]);
            if size == 1 {
                return rounded;
            }
            let size = b.literal(Literal::int(Scalar::I64, size));
            b.binary(BinaryOp::Divide, rounded, size)
        }
        None => {
            // The quotient is rounded towards zero, and only a positive one is a number of
            // iterations. Step 0 would divide by zero.
            let (step, one) = (wide(b, step, 0), b.number(Type::I64, 1.0));
            let minus = b.number(Type::I64, -1.0);
            let rises = b.lt(zero, step);
            let sign = b.select(rises, one, minus);
            let distance = difference(b, end, start, 0);
            let past = b.sub(step, sign);
            let past = b.add(distance, past);
            let never = b.eq(step, zero);
            let size = b.select(never, one, step);
            let quotient = b.div(past, size);
            let trips = b.native(Native::Max, &[quotient, zero]);
            b.select(never, zero, trips)
        }
    }
}

/// Computes `to - from + more` as `i64`, with all literals folded into one number.
fn difference(b: &mut Builder<'_>, to: Value, from: Value, more: i128) -> Value {
    match b.body().integer(from) {
        Some(from) => wide(b, to, more - from),
        None => {
            let (to, from) = (wide(b, to, more), wide(b, from, 0));
            b.sub(to, from)
        }
    }
}

/// Computes the exact sum of a value of up to 32 bits and a constant, as `i64`.
pub(super) fn wide(b: &mut Builder<'_>, value: Value, more: i128) -> Value {
    if let Some(known) = b.body().integer(value) {
        return b.literal(Literal::int(Scalar::I64, known + more));
    }
    let value = b.convert(value, Scalar::I64);
    let size = b.literal(Literal::int(Scalar::I64, more.abs()));
    match more {
        0 => value,
        1.. => b.add(value, size),
        _ => b.sub(value, size),
    }
}

/// Returns the index of an iteration.
pub(super) fn index(b: &mut Builder<'_>, start: Value, step: Value, count: Value) -> Value {
    let scalar = b.body().type_of(start).as_scalar().unwrap_or(Scalar::I32);
    let count = b.convert(count, scalar);
    let offset = match b.body().integer(step) {
        Some(1) => count,
        Some(-1) => return b.sub(start, count),
        _ => b.mul(count, step),
    };
    if b.body().integer(start) == Some(0) { offset } else { b.add(start, offset) }
}

fn nonzero_steps(b: &mut Builder<'_>, from: Value, to: Value, step: Value, of: Scalar) -> Value {
    let (zero, one) = (b.number(Type::scalar(of), 0.0), b.number(Type::scalar(of), 1.0));
    let none = b.eq(step, zero);
    let step = b.select(none, one, step);
    steps(b, from, to, step, of)
}

/// Returns the number of steps of a positive size from one number to another, without the last.
fn steps(b: &mut Builder<'_>, from: Value, to: Value, step: Value, of: Scalar) -> Value {
    let unsigned = match of.bits() {
        8 => Scalar::U8,
        16 => Scalar::U16,
        32 => Scalar::U32,
        _ => Scalar::U64,
    };
    let below = b.lt(from, to);
    let distance = b.sub(to, from);
    let distance = b.convert(distance, unsigned);
    let step = match b.body().values[step].op {
        Op::Literal(literal) => b.literal(Literal::int(unsigned, literal.as_int().unwrap_or(1))),
        _ => b.convert(step, unsigned),
    };
    let one = b.number(Type::scalar(unsigned), 1.0);
    let less = b.sub(distance, one);
    let quotient = match b.body().values[step].op {
        Op::Literal(literal) if literal.as_int() == Some(1) => less,
        _ => b.binary(BinaryOp::Divide, less, step),
    };
    // The sum of the widest type is taken as i64 only: a loop of 2^63 iterations never ends
    // anyway.
    let (quotient, one) = (b.convert(quotient, Scalar::I64), b.number(Type::I64, 1.0));
    let trips = b.add(quotient, one);
    let none = b.number(Type::I64, 0.0);
    b.select(below, trips, none)
}
