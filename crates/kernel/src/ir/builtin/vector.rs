//! Vectors.

use super::scalar::number;
use super::{Derivative, Dim, Domain, Native, Pattern, Row, body, row_of};
use crate::ir::build::Builder;
use crate::ir::op::Value;
use Derivative::Through;
use Domain::{Float, Number};
use Pattern::{Quaternion, T};

const V: Pattern = Pattern::Vector(Dim::N);
const V3: Pattern = Pattern::Vector(Dim::Is(3));

#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
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
    ], Through, "The same direction with length 1; zero stays zero."),
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

/// The sum of products of components, from the first on.
pub(super) fn dot(b: &mut Builder<'_>, x: Value, y: Value) -> Option<Value> {
    let left = b.parts(x);
    let right = if x == y { left.clone() } else { b.parts(y) };
    let products: Vec<Value> = left.into_iter().zip(right).map(|(x, y)| b.mul(x, y)).collect();
    products.into_iter().reduce(|sum, product| b.add(sum, product))
}

fn length(b: &mut Builder<'_>, x: Value) -> Option<Value> {
    let square = dot(b, x, x)?;
    Some(b.native(Native::Sqrt, &[square]))
}

fn normalize(b: &mut Builder<'_>) -> Option<Value> {
    let x = b.arg(0);
    let ty = b.body().type_of(x);
    let length = length(b, x)?;
    let zero = number(b, length, 0.0);
    let positive = b.lt(zero, length);
    b.if_then(positive, |b| {
        let below = b.splat(ty, length);
        let unit = b.div(x, below);
        b.ret(Some(unit));
    });
    Some(b.zero(ty))
}
