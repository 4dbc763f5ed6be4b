//! The operators as functions: what `a * b` and `wp.mul(a, b)` mean for each pair of types.

use super::formula::{Formula, Term, formula};
use super::transform::halves;
use super::{BuiltinRow, Derivative, Dim, Domain, Pattern, body, row_of};
use crate::build::Builder;
use crate::op::{BinaryOp, UnaryOp, Value};
use Derivative::Through;
use Domain::{Bool, Float, Int, Number};
use Pattern::{Quaternion, T, Transform};

const V: Pattern = Pattern::Vector(Dim::N);
const M: Pattern = matrix(Dim::N, Dim::M);

const fn matrix(rows: Dim, cols: Dim) -> Pattern {
    Pattern::Matrix(rows, cols)
}

/// Signatures of an operation on two scalars, or two vectors, of one type.
macro_rules! scalars_and_vectors {
    ($domain:ident, $op:ident) => {
        &[
            body($domain, &["a", "b"], &[T, T], T, |b| both(b, BinaryOp::$op)),
            body($domain, &["a", "b"], &[V, V], V, |b| both(b, BinaryOp::$op)),
        ]
    };
}

/// Signatures of an operation on two values of one type, component by component.
macro_rules! by_component {
    ($op:ident) => {
        &[
            body(Number, &["a", "b"], &[T, T], T, |b| both(b, BinaryOp::$op)),
            body(Number, &["a", "b"], &[V, V], V, |b| both(b, BinaryOp::$op)),
            body(Number, &["a", "b"], &[M, M], M, |b| both(b, BinaryOp::$op)),
            body(Float, &["a", "b"], &[Quaternion, Quaternion], Quaternion, |b| {
                both(b, BinaryOp::$op)
            }),
            body(Float, &["a", "b"], &[Transform, Transform], Transform, |b| {
                both(b, BinaryOp::$op)
            }),
        ]
    };
}

#[rustfmt::skip]
macro_rules! quotient {
    ($domain:ident) => {
        &[
            body($domain, &["a", "b"], &[T, T], T, |b| both(b, BinaryOp::Divide)),
            body($domain, &["a", "b"], &[V, T], V, |b| both(b, BinaryOp::Divide)),
            body($domain, &["a", "b"], &[T, V], V, |b| both(b, BinaryOp::Divide)),
            body($domain, &["a", "b"], &[M, T], M, |b| both(b, BinaryOp::Divide)),
            body($domain, &["a", "b"], &[T, M], M, |b| both(b, BinaryOp::Divide)),
            body(Float, &["a", "b"], &[Quaternion, T], Quaternion, |b| both(b, BinaryOp::Divide)),
            body(Float, &["a", "b"], &[T, Quaternion], Quaternion, |b| both(b, BinaryOp::Divide)),
        ]
    };
}

#[rustfmt::skip]
pub(super) static ROWS: &[BuiltinRow] = &[
    row_of("add", by_component!(Add), Through, "`a + b`"),
    row_of("sub", by_component!(Subtract), Through, "`a - b`"),
    row_of("mul", &[
        body(Number, &["a", "b"], &[T, T], T, |b| both(b, BinaryOp::Multiply)),
        body(Number, &["a", "b"], &[V, T], V, |b| both(b, BinaryOp::Multiply)),
        body(Number, &["a", "b"], &[T, V], V, |b| both(b, BinaryOp::Multiply)),
        body(Number, &["a", "b"], &[M, T], M, |b| both(b, BinaryOp::Multiply)),
        body(Number, &["a", "b"], &[T, M], M, |b| both(b, BinaryOp::Multiply)),
        body(Float, &["a", "b"], &[Quaternion, T], Quaternion, |b| both(b, BinaryOp::Multiply)),
        body(Float, &["a", "b"], &[T, Quaternion], Quaternion, |b| both(b, BinaryOp::Multiply)),
        body(Float, &["a", "b"], &[Transform, T], Transform, |b| both(b, BinaryOp::Multiply)),
        body(Float, &["a", "b"], &[T, Transform], Transform, |b| both(b, BinaryOp::Multiply)),
        body(Number, &["a", "b"], &[M, matrix(Dim::M, Dim::K)], matrix(Dim::N, Dim::K), |b| formula(b, |f| {
            let [a, b] = f.args();
            let ((rows, inner), (_, cols)) = (a.extents(), b.extents());
            let (p, q) = (a.parts(), b.parts());
            let dot = |at: usize| Term::fused_dot((0..inner).map(|k| (p[at / cols * inner + k], q[k * cols + at % cols])));
            f.result(&(0..rows * cols).map(dot).collect::<Vec<_>>())
        })),
        body(Number, &["a", "b"], &[M, Pattern::Vector(Dim::M)], V, |b| formula(b, |f| {
            let [a, b] = f.args();
            let (rows, inner) = a.extents();
            product(f, a, b, rows, inner, 1)
        })),
        body(Number, &["a", "b"], &[V, M], Pattern::Vector(Dim::M), |b| formula(b, |f| {
            let [a, b] = f.args();
            let (inner, cols) = b.extents();
            product(f, a, b, 1, inner, cols)
        })),
        body(Float, &["a", "b"], &[Quaternion, Quaternion], Quaternion, |b| formula(b, |f| {
            let [p, q] = f.args();
            let ([a, b, c, w], [x, y, z, v]) = (p.split(), q.split());
            f.quaternion(&[
                w * x + v * a + b * z - y * c,
                w * y + v * b + c * x - z * a,
                w * z + v * c + a * y - x * b,
                w * v - a * x - b * y - c * z,
            ])
        })),
        body(Float, &["a", "b"], &[Transform, Transform], Transform, |b| formula(b, |f| {
            let [(p, q), (x, r)] = f.args::<2>().map(halves);
            f.transform(f.call("quat_rotate", &[q, x]) + p, f.call("mul", &[q, r]))
        })),
    ], Through, "`a * b`: by scalars, of matrices and vectors, of rotations, of transformations."),
    row_of("div", quotient!(Number), Through, "`a / b`; integers truncate."),
    row_of("div_approx", quotient!(Float), Through, "`a / b`, as exact as `div`."),
    row_of("floordiv", &[body(Number, &["a", "b"], &[T, T], T, |b| both(b, BinaryOp::FloorDivide))], Through,
        "`a // b`, rounded towards minus infinity."),
    row_of("mod", scalars_and_vectors!(Number, Remainder), Through, "`a % b` with the sign of a, as in C."),
    row_of("bit_and", scalars_and_vectors!(Int, And), Through, "`a & b`"),
    row_of("bit_or", scalars_and_vectors!(Int, Or), Through, "`a | b`"),
    row_of("bit_xor", scalars_and_vectors!(Int, Xor), Through, "`a ^ b`"),
    row_of("lshift", scalars_and_vectors!(Int, ShiftLeft), Through, "`a << b`"),
    row_of("rshift", scalars_and_vectors!(Int, ShiftRight), Through, "`a >> b`"),
    row_of("invert", &[
        body(Int, &["x"], &[T], T, |b| one(b, UnaryOp::Not)),
        body(Int, &["x"], &[V], V, |b| one(b, UnaryOp::Not)),
    ], Through, "`~x`"),
    row_of("neg", &[
        body(Number, &["x"], &[T], T, |b| one(b, UnaryOp::Negate)),
        body(Number, &["x"], &[V], V, |b| one(b, UnaryOp::Negate)),
        body(Number, &["x"], &[M], M, |b| one(b, UnaryOp::Negate)),
        body(Float, &["x"], &[Quaternion], Quaternion, |b| one(b, UnaryOp::Negate)),
    ], Through, "`-x`"),
    row_of("pos", &[
        body(Number, &["x"], &[T], T, |b| Some(b.arg(0))),
        body(Number, &["x"], &[V], V, |b| Some(b.arg(0))),
        body(Number, &["x"], &[M], M, |b| Some(b.arg(0))),
        body(Float, &["x"], &[Quaternion], Quaternion, |b| Some(b.arg(0))),
    ], Through, "`+x`"),
    row_of("unot", &[
        body(Bool, &["x"], &[T], T, |b| one(b, UnaryOp::Not)),
        body(Int, &["x"], &[T], Pattern::Is(crate::ty::Scalar::Bool), |b| formula(b, |f| {
            let x = f.arg(0);
            x.equals(x.like(0.0))
        })),
    ], Through, "`not x`"),
];

fn both(b: &mut Builder<'_>, op: BinaryOp) -> Option<Value> {
    formula(b, |f| f.arg(0).binary(op, f.arg(1)))
}

fn one(b: &mut Builder<'_>, op: UnaryOp) -> Option<Value> {
    let x = b.arg(0);
    Some(b.unary(op, x))
}

/// Multiplies a matrix and a vector; each sum begins with its first product.
fn product<'f>(
    f: Formula<'f>,
    a: Term<'f>,
    b: Term<'f>,
    rows: usize,
    inner: usize,
    cols: usize,
) -> Term<'f> {
    let (p, q) = (a.parts(), b.parts());
    let mut parts = Vec::with_capacity(rows * cols);
    for (r, c) in (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))) {
        let sum =
            (1..inner).fold(p[r * inner] * q[c], |sum, k| sum + p[r * inner + k] * q[k * cols + c]);
        parts.push(sum);
    }
    f.result(&parts)
}
