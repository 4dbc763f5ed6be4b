//! Rigid transformations: a rotation, then a translation.

use super::formula::{Formula, Term, formula};
use super::{BuiltinRow, Derivative, Dim, Domain, Pattern, body, row_of};
use crate::ty::Scalar;
use Derivative::Through;
use Domain::{F32, Float};
use Pattern::{Place, Quaternion, Transform, Triple, Unit};

const V3: Pattern = Pattern::Vector(Dim::Is(3));
const M44: Pattern = Pattern::Matrix(Dim::Is(4), Dim::Is(4));

#[rustfmt::skip]
pub(super) static ROWS: &[BuiltinRow] = &[
    row_of("transform_identity", &[body(F32, &[], &[], Pattern::TransformOf(Scalar::F32), |b| formula(b, |f| {
        let (zero, rotation) = (f.float(0.0), f.call("quat_identity", &[]));
        f.transform(f.vector(&[zero, zero, zero]), rotation)
    }))], Through, "The transformation that changes nothing."),
    row_of("transform_get_translation", &[body(Float, &["t"], &[Transform], V3, |b| formula(b, |f| halves(f.arg(0)).0))],
        Through, "The translation."),
    row_of("transform_get_rotation", &[body(Float, &["t"], &[Transform], Quaternion, |b| formula(b, |f| halves(f.arg(0)).1))],
        Through, "The rotation."),
    row_of("transform_set_translation", &[body(Float, &["t", "p"], &[Place(&Transform), V3], Unit, |b| {
        let (whole, p) = (b.param_place(0), b.arg(1));
        let part = b.field(whole, 0);
        b.store(part, p);
        None
    })], Through, "Sets the translation."),
    row_of("transform_set_rotation", &[body(Float, &["t", "q"], &[Place(&Transform), Quaternion], Unit, |b| {
        let (whole, q) = (b.param_place(0), b.arg(1));
        let part = b.field(whole, 1);
        b.store(part, q);
        None
    })], Through, "Sets the rotation."),
    row_of("transform_multiply", &[body(Float, &["a", "b"], &[Transform, Transform], Transform, |b| formula(b, |f| {
        let [a, b] = f.args();
        f.call("mul", &[a, b])
    }))], Through, "First b, then a."),
    row_of("transform_inverse", &[body(Float, &["t"], &[Transform], Transform, |b| formula(b, |f| {
        let (p, q) = halves(f.arg(0));
        let back = f.call("quat_inverse", &[q]);
        f.transform(-f.call("quat_rotate", &[back, p]), back)
    }))], Through, "The way back."),
    row_of("transform_vector", &[
        body(Float, &["t", "x"], &[Transform, V3], V3, |b| formula(b, |f| {
            let [t, x] = f.args();
            f.call("quat_rotate", &[halves(t).1, x])
        })),
        body(Float, &["m", "x"], &[M44, V3], V3, |b| formula(b, |f| { let [m, x] = f.args(); affine(m, x, 0.0) })),
    ], Through, "A direction, which is rotated but not moved; a matrix acts without its last column."),
    row_of("transform_point", &[
        body(Float, &["t", "x"], &[Transform, V3], V3, |b| formula(b, |f| {
            let [t, x] = f.args();
            let (p, q) = halves(t);
            p + f.call("quat_rotate", &[q, x])
        })),
        body(Float, &["m", "x"], &[M44, V3], V3, |b| formula(b, |f| { let [m, x] = f.args(); affine(m, x, 1.0) })),
    ], Through, "A point, which is rotated, then moved; a matrix acts with its last column, without division."),
    row_of("transform_from_matrix", &[body(Float, &["m"], &[M44], Transform, |b| formula(b, |f| {
        let m = f.arg(0);
        let parts = m.parts();
        f.transform(f.vector(&[parts[3], parts[7], parts[11]]), f.call("quat_from_matrix", &[m]))
    }))], Through, "The transformation that a matrix of rotation and translation stands for."),
    row_of("transform_to_matrix", &[body(Float, &["t"], &[Transform], M44, |b| formula(b, |f| {
        let (p, q) = halves(f.arg(0));
        let scale = p.like(1.0);
        composed(f, p, q, scale)
    }))], Through, "Its matrix."),
    row_of("transform_compose", &[body(Float, &["position", "rotation", "scale"], &[V3, Quaternion, V3], M44, |b| formula(b, |f| {
        let [p, q, s] = f.args();
        composed(f, p, q, s)
    }))], Through, "A matrix that scales, then rotates, then moves."),
    row_of("transform_decompose", &[body(Float, &["m"], &[M44], Triple(&V3, &Quaternion, &V3), |b| formula(b, |f| {
        let m = f.arg(0).parts();
        let position = f.vector(&[m[3], m[7], m[11]]);
        let scales = [0, 1, 2].map(|col| {
            let (x, y, z) = (m[col], m[col + 4], m[col + 8]);
            (x * x + y * y + z * z).sqrt()
        });
        let rotation: Vec<_> = (0..9).map(|at| {
            let (part, scale) = (m[at / 3 * 4 + at % 3], scales[at % 3]);
            // A column of zeros is left unchanged.
            let none = scale.equals(scale.like(0.0));
            none.select(part, part / scale.or_one_where(none))
        }).collect();
        let rotation = f.call("quat_from_matrix", &[f.matrix(3, &rotation)]);
        f.tuple(&[position, rotation, f.vector(&scales)])
    }))], Through, "The translation, rotation and scale of which `transform_compose` makes the matrix."),
];

/// Splits a transform into translation and rotation.
pub(super) fn halves(t: Term<'_>) -> (Term<'_>, Term<'_>) {
    let (f, parts) = (t.formula(), t.parts());
    (f.vector(&parts[..3]), f.quaternion(&parts[3..]))
}

fn affine<'f>(m: Term<'f>, x: Term<'f>, last: f64) -> Term<'f> {
    let f = m.formula();
    let [x, y, z] = x.split();
    let rows: Vec<Term<'f>> = m
        .parts()
        .chunks(4)
        .take(3)
        .map(|row| {
            let sum = row[0] * x + row[1] * y + row[2] * z;
            if last == 0.0 { sum } else { sum + row[3] }
        })
        .collect();
    f.vector(&rows)
}

fn composed<'f>(f: Formula<'f>, p: Term<'f>, q: Term<'f>, s: Term<'f>) -> Term<'f> {
    let (r, p, s) = (f.call("quat_to_matrix", &[q]).parts(), p.parts(), s.parts());
    let (zero, one) = (p[0].like(0.0), p[0].like(1.0));
    let parts: Vec<Term<'f>> = (0..16)
        .map(|at| match (at / 4, at % 4) {
            (3, 3) => one,
            (3, _) => zero,
            (row, 3) => p[row],
            (row, col) => s[col] * r[row * 3 + col],
        })
        .collect();
    f.matrix(4, &parts)
}
