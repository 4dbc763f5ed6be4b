//! Vectors.

use super::formula::{Formula, Term, formula};
use super::scalar::number;
use super::{BuiltinRow, Derivative, Dim, Domain, Native, Pattern, body, row_of};
use crate::build::Builder;
use crate::op::Value;
use crate::ty::{Scalar, Shape};
use Derivative::Through;
use Domain::{F32, Float, Number};
use Pattern::{Is, Quaternion, T};

const V: Pattern = Pattern::Vector(Dim::N);
const V3: Pattern = Pattern::Vector(Dim::Is(3));

#[rustfmt::skip]
pub(super) static ROWS: &[BuiltinRow] = &[
    row_of("dot", &[
        body(Number, &["a", "b"], &[V, V], T, |b| { let (x, y) = (b.arg(0), b.arg(1)); dot(b, x, y) }),
        body(Float, &["a", "b"], &[Quaternion, Quaternion], T, |b| { let (x, y) = (b.arg(0), b.arg(1)); dot(b, x, y) }),
    ], Through, "The sum of the products of components."),
    row_of("length_sq", &[
        body(Number, &["a"], &[V], T, |b| { let x = b.arg(0); dot(b, x, x) }),
        body(Float, &["a"], &[Quaternion], T, |b| { let x = b.arg(0); dot(b, x, x) }),
    ], Through, "The square of the length."),
    row_of("length", &[
        body(Float, &["a"], &[V], T, |b| { let x = b.arg(0); length(b, x) }),
        body(Float, &["a"], &[Quaternion], T, |b| { let x = b.arg(0); length(b, x) }),
    ], Through, "The Euclidean length."),
    row_of("normalize", &[
        body(Float, &["a"], &[V], V, normalize),
        body(Float, &["a"], &[Quaternion], Quaternion, normalize),
    ], Through, "The same direction with length 1. A zero vector stays zero, a zero quaternion becomes the identity."),
    row_of("smooth_normalize", &[
        body(F32, &["v"], &[V], V, |b| formula(b, |f| { let v = f.arg(0); v / pseudo_huber(v, v.dot(v).like(1.0)) })),
        body(F32, &["v", "delta"], &[V, T], V, |b| formula(b, |f| { let [v, delta] = f.args(); v / pseudo_huber(v, delta) })),
    ], Through, "A vector by its pseudo-Huber norm."),
    row_of("norm_l1", &[body(F32, &["v"], &[V], T, |b| formula(b, |f| {
        let sizes = f.arg(0).parts().into_iter().map(Term::abs);
        sizes.reduce(|sum, size| sum + size).unwrap_or_else(|| f.float(0.0))
    }))], Through, "The sum of the components' magnitudes."),
    row_of("norm_l2", &[
        body(Float, &["v"], &[V], T, |b| { let x = b.arg(0); length(b, x) }),
        body(Float, &["v"], &[Quaternion], T, |b| { let x = b.arg(0); length(b, x) }),
    ], Through, "The Euclidean length."),
    row_of("norm_huber", &[
        body(F32, &["v"], &[V], T, |b| formula(b, |f| huber(f, f.float(1.0)))),
        body(F32, &["v", "delta"], &[V, T], T, |b| formula(b, |f| huber(f, f.arg(1)))),
    ], Through, "Half the square of the length up to delta; beyond delta it grows linearly."),
    row_of("norm_pseudo_huber", &[
        body(F32, &["v"], &[V], T, |b| formula(b, |f| pseudo_huber(f.arg(0), f.float(1.0)))),
        body(F32, &["v", "delta"], &[V, T], T, |b| formula(b, |f| pseudo_huber(f.arg(0), f.arg(1)))),
    ], Through, "`delta * sqrt(1 + length_sq(v) / delta^2)`"),
    row_of("argmin", &[body(Number, &["a"], &[V], Is(Scalar::U32), |b| formula(b, |f| extreme(f, Term::lt)))], Derivative::Zero,
        "The position of the smallest component, the first of several equal ones."),
    row_of("argmax", &[body(Number, &["a"], &[V], Is(Scalar::U32), |b| formula(b, |f| extreme(f, Term::gt)))], Derivative::Zero,
        "The position of the largest component, the first of several equal ones."),
    row_of("cross", &[body(Number, &["a", "b"], &[V3, V3], V3, |b| {
        let (x, y) = (b.arg(0), b.arg(1));
        let ty = b.body().type_of(x);
        let (p, q) = (b.parts(x), b.parts(y));
        let parts = [(1, 2), (2, 0), (0, 1)].map(|(i, j)| {
            let (left, right) = (b.mul(p[i], q[j]), b.mul(p[j], q[i]));
            b.sub(left, right)
        });
        Some(b.construct(ty, &parts))
    })], Through, "The cross product."),
    row_of("cw_mul", &[
        body(Number, &["a", "b"], &[V, V], V, |b| { let (x, y) = (b.arg(0), b.arg(1)); Some(b.mul(x, y)) }),
        body(Number, &["a", "b"], &[Pattern::Matrix(Dim::N, Dim::M), Pattern::Matrix(Dim::N, Dim::M)], Pattern::Matrix(Dim::N, Dim::M),
            |b| { let (x, y) = (b.arg(0), b.arg(1)); Some(b.mul(x, y)) }),
    ], Through, "The products of components."),
    row_of("cw_div", &[
        body(Number, &["a", "b"], &[V, V], V, |b| { let (x, y) = (b.arg(0), b.arg(1)); Some(b.div(x, y)) }),
        body(Number, &["a", "b"], &[Pattern::Matrix(Dim::N, Dim::M), Pattern::Matrix(Dim::N, Dim::M)], Pattern::Matrix(Dim::N, Dim::M),
            |b| { let (x, y) = (b.arg(0), b.arg(1)); Some(b.div(x, y)) }),
    ], Through, "The quotients of components."),
];

/// Sums the products of components, from the first to the last.
pub(super) fn dot(b: &mut Builder<'_>, x: Value, y: Value) -> Option<Value> {
    let left = b.parts(x);
    let right = if x == y { left.clone() } else { b.parts(y) };
    let products: Vec<Value> = left.into_iter().zip(right).map(|(x, y)| b.mul(x, y)).collect();
    products.into_iter().reduce(|sum, product| b.add(sum, product))
}

fn huber<'f>(f: Formula<'f>, delta: Term<'f>) -> Term<'f> {
    let v = f.arg(0);
    let square = v.dot(v);
    let inside = square.le(delta * delta);
    inside.select(0.5 * square, delta * (square.or_one_where(inside).sqrt() - 0.5 * delta))
}

fn pseudo_huber<'f>(v: Term<'f>, delta: Term<'f>) -> Term<'f> {
    delta * (1.0 + v.dot(v) / (delta * delta)).sqrt()
}

/// Returns the position of the first component that is better than all before it. NaNs are passed
/// over.
fn extreme<'f>(f: Formula<'f>, better: fn(Term<'f>, Term<'f>) -> Term<'f>) -> Term<'f> {
    let parts = f.arg(0).parts();
    let (mut best, mut at) = (parts[0], f.int(0));
    for (position, &part) in parts.iter().enumerate().skip(1) {
        let mut wins = better(part, best);
        if part.scalar().is_float() {
            let (lost, number) = (best.equals(best), part.equals(part));
            wins = lost.select(wins, number);
        }
        best = wins.select(part, best);
        at = wins.select(f.int(position as i32), at);
    }
    at.to(Scalar::U32)
}

fn length(b: &mut Builder<'_>, x: Value) -> Option<Value> {
    let square = dot(b, x, x)?;
    Some(b.native(Native::Sqrt, &[square]))
}

fn normalize(b: &mut Builder<'_>) -> Option<Value> {
    let x = b.arg(0);
    let ty = b.body().type_of(x);
    let is_quaternion = matches!(b.module.types[ty], Shape::Quaternion(_));
    let length = length(b, x)?;
    let [zero, one] = [0.0, 1.0].map(|value| number(b, length, value));
    // Threads that are run together take no branch, and the reverse of a zero vector divides by 1.
    let positive = b.lt(zero, length);
    let length = b.select(positive, length, one);
    // Warp multiplies quaternions by the inverse of their length.
    let (unit, other) = if is_quaternion {
        let inverse = b.div(one, length);
        let by = b.splat(ty, inverse);
        (b.mul(x, by), b.construct(ty, &[zero, zero, zero, one]))
    } else {
        let below = b.splat(ty, length);
        (b.div(x, below), b.zero(ty))
    };
    Some(b.select(positive, unit, other))
}
