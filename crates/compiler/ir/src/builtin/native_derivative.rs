//! Derivatives of native builtins by each operand, computed from the operands and the result. The
//! table of `native` names them.

use super::native::Native;
use crate::build::Builder;
use crate::op::Value;

pub(super) fn min(b: &mut Builder<'_>, a: &[Value], r: Value) -> Vec<Value> {
    let first = is_first_operand(b, a[0], r);
    either(b, a[0], first)
}

pub(super) fn max(b: &mut Builder<'_>, a: &[Value], r: Value) -> Vec<Value> {
    let first = is_first_operand(b, a[0], r);
    either(b, a[0], first)
}

pub(super) fn abs(b: &mut Builder<'_>, a: &[Value], _: Value) -> Vec<Value> {
    let s = sign(b, a[0]);
    vec![s]
}

pub(super) fn copysign(b: &mut Builder<'_>, a: &[Value], r: Value) -> Vec<Value> {
    let (x, y) = (sign_bit(b, a[0]), sign_bit(b, r));
    let zero = constant(b, r, 0.0);
    vec![b.mul(x, y), zero]
}

pub(super) fn fma(b: &mut Builder<'_>, a: &[Value], r: Value) -> Vec<Value> {
    vec![a[1], a[0], constant(b, r, 1.0)]
}

pub(super) fn sqrt(b: &mut Builder<'_>, _: &[Value], r: Value) -> Vec<Value> {
    let half = constant(b, r, 0.5);
    vec![b.div(half, r)]
}

pub(super) fn cbrt(b: &mut Builder<'_>, _: &[Value], r: Value) -> Vec<Value> {
    let (third, square) = (constant(b, r, 1.0 / 3.0), b.mul(r, r));
    vec![b.div(third, square)]
}

pub(super) fn sin(b: &mut Builder<'_>, a: &[Value], _: Value) -> Vec<Value> {
    vec![b.native(Native::Cos, &a[..1])]
}

pub(super) fn cos(b: &mut Builder<'_>, a: &[Value], _: Value) -> Vec<Value> {
    let s = b.native(Native::Sin, &a[..1]);
    vec![b.neg(s)]
}

pub(super) fn tan(b: &mut Builder<'_>, _: &[Value], r: Value) -> Vec<Value> {
    let (one, t) = (constant(b, r, 1.0), b.mul(r, r));
    vec![b.add(one, t)]
}

pub(super) fn asin(b: &mut Builder<'_>, a: &[Value], _: Value) -> Vec<Value> {
    vec![arc(b, a[0], 1.0)]
}

pub(super) fn acos(b: &mut Builder<'_>, a: &[Value], _: Value) -> Vec<Value> {
    vec![arc(b, a[0], -1.0)]
}

pub(super) fn atan(b: &mut Builder<'_>, a: &[Value], _: Value) -> Vec<Value> {
    let (one, square) = (constant(b, a[0], 1.0), b.mul(a[0], a[0]));
    let below = b.add(one, square);
    vec![b.div(one, below)]
}

pub(super) fn atan2(b: &mut Builder<'_>, a: &[Value], _: Value) -> Vec<Value> {
    let (yy, xx) = (b.mul(a[0], a[0]), b.mul(a[1], a[1]));
    let (below, minus) = (b.add(xx, yy), b.neg(a[0]));
    vec![b.div(a[1], below), b.div(minus, below)]
}

pub(super) fn sinh(b: &mut Builder<'_>, a: &[Value], _: Value) -> Vec<Value> {
    vec![b.native(Native::Cosh, &a[..1])]
}

pub(super) fn cosh(b: &mut Builder<'_>, a: &[Value], _: Value) -> Vec<Value> {
    vec![b.native(Native::Sinh, &a[..1])]
}

pub(super) fn tanh(b: &mut Builder<'_>, _: &[Value], r: Value) -> Vec<Value> {
    let (one, t) = (constant(b, r, 1.0), b.mul(r, r));
    vec![b.sub(one, t)]
}

pub(super) fn exp(_: &mut Builder<'_>, _: &[Value], r: Value) -> Vec<Value> {
    vec![r]
}

pub(super) fn log(b: &mut Builder<'_>, a: &[Value], _: Value) -> Vec<Value> {
    vec![reciprocal(b, a[0], 1.0)]
}

pub(super) fn log2(b: &mut Builder<'_>, a: &[Value], _: Value) -> Vec<Value> {
    vec![reciprocal(b, a[0], std::f64::consts::LOG2_E)]
}

pub(super) fn log10(b: &mut Builder<'_>, a: &[Value], _: Value) -> Vec<Value> {
    vec![reciprocal(b, a[0], std::f64::consts::LOG10_E)]
}

pub(super) fn pow(b: &mut Builder<'_>, a: &[Value], r: Value) -> Vec<Value> {
    let one = constant(b, r, 1.0);
    let less = b.sub(a[1], one);
    let (power, log) = (b.native(Native::Pow, &[a[0], less]), b.native(Native::Log, &a[..1]));
    vec![b.mul(a[1], power), b.mul(r, log)]
}

pub(super) fn erf(b: &mut Builder<'_>, a: &[Value], _: Value) -> Vec<Value> {
    vec![gaussian(b, a[0], std::f64::consts::FRAC_2_SQRT_PI)]
}

pub(super) fn erfc(b: &mut Builder<'_>, a: &[Value], _: Value) -> Vec<Value> {
    vec![gaussian(b, a[0], -std::f64::consts::FRAC_2_SQRT_PI)]
}

pub(super) fn erfinv(b: &mut Builder<'_>, _: &[Value], r: Value) -> Vec<Value> {
    let one = constant(b, r, 1.0);
    let below = gaussian(b, r, std::f64::consts::FRAC_2_SQRT_PI);
    vec![b.div(one, below)]
}

pub(super) fn erfcinv(b: &mut Builder<'_>, _: &[Value], r: Value) -> Vec<Value> {
    let one = constant(b, r, 1.0);
    let below = gaussian(b, r, -std::f64::consts::FRAC_2_SQRT_PI);
    vec![b.div(one, below)]
}

fn constant(b: &mut Builder<'_>, like: Value, value: f64) -> Value {
    let ty = b.body().type_of(like);
    b.number(ty, value)
}

fn reciprocal(b: &mut Builder<'_>, x: Value, above: f64) -> Value {
    let above = constant(b, x, above);
    b.div(above, x)
}

/// Computes -1 below zero, else 1, as the dialect's `sign` does.
fn sign(b: &mut Builder<'_>, x: Value) -> Value {
    let (zero, one, minus) = (constant(b, x, 0.0), constant(b, x, 1.0), constant(b, x, -1.0));
    let below = b.lt(x, zero);
    b.select(below, minus, one)
}

/// Computes -1 or 1 from the sign bit, for zeros as well.
fn sign_bit(b: &mut Builder<'_>, x: Value) -> Value {
    let one = constant(b, x, 1.0);
    b.native(Native::Copysign, &[one, x])
}

/// Computes whether the result of `min` or `max` is its first operand.
fn is_first_operand(b: &mut Builder<'_>, first: Value, result: Value) -> Value {
    b.eq(first, result)
}

fn either(b: &mut Builder<'_>, like: Value, first: Value) -> Vec<Value> {
    let (zero, one) = (constant(b, like, 0.0), constant(b, like, 1.0));
    vec![b.select(first, one, zero), b.select(first, zero, one)]
}

/// Computes `above / sqrt(1 - x^2)`, and 0 outside -1..1, where the operand is clamped.
fn arc(b: &mut Builder<'_>, x: Value, above: f64) -> Value {
    let (one, square, above) = (constant(b, x, 1.0), b.mul(x, x), constant(b, x, above));
    let difference = b.sub(one, square);
    let root = b.native(Native::Sqrt, &[difference]);
    let (slope, zero) = (b.div(above, root), constant(b, x, 0.0));
    let beyond = b.lt(difference, zero);
    b.select(beyond, zero, slope)
}

/// Computes `height * exp(-x^2)`.
fn gaussian(b: &mut Builder<'_>, x: Value, height: f64) -> Value {
    let (square, height) = (b.mul(x, x), constant(b, x, height));
    let minus = b.neg(square);
    let exp = b.native(Native::Exp, &[minus]);
    b.mul(height, exp)
}
