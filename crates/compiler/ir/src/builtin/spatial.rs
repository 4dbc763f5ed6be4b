//! Spatial algebra: vectors of six components, the angular (or torque) part first.

use super::formula::{Term, formula};
use super::transform::halves;
use super::{BuiltinRow, Derivative, Dim, Domain, Pattern, body, row_of};
use Derivative::Through;
use Domain::{F32, Float};
use Pattern::{T, Transform};

const V3: Pattern = Pattern::Vector(Dim::Is(3));
const V6: Pattern = Pattern::Vector(Dim::Is(6));
const M33: Pattern = Pattern::Matrix(Dim::Is(3), Dim::Is(3));
const M66: Pattern = Pattern::Matrix(Dim::Is(6), Dim::Is(6));

#[rustfmt::skip]
pub(super) static ROWS: &[BuiltinRow] = &[
    row_of("spatial_top", &[body(Float, &["v"], &[V6], V3, |b| formula(b, |f| halved(f.arg(0)).0))], Through,
        "The first three components."),
    row_of("spatial_bottom", &[body(Float, &["v"], &[V6], V3, |b| formula(b, |f| halved(f.arg(0)).1))], Through,
        "The last three components."),
    row_of("spatial_dot", &[body(Float, &["a", "b"], &[V6, V6], T, |b| formula(b, |f| {
        let [x, y] = f.args();
        x.dot(y)
    }))], Through, "The sum of the products of components."),
    row_of("spatial_cross", &[body(Float, &["a", "b"], &[V6, V6], V6, |b| formula(b, |f| {
        let [(w, v), (x, y)] = f.args::<2>().map(halved);
        joined(w.cross(x), v.cross(x) + w.cross(y))
    }))], Through, "The cross product of two motions."),
    row_of("spatial_cross_dual", &[body(Float, &["a", "b"], &[V6, V6], V6, |b| formula(b, |f| {
        let [(w, v), (x, y)] = f.args::<2>().map(halved);
        joined(w.cross(x) + v.cross(y), w.cross(y))
    }))], Through, "The cross product of a motion and a force."),
    row_of("spatial_adjoint", &[body(Float, &["r", "s"], &[M33, M33], M66, |b| formula(b, |f| {
        let [r, s] = f.args::<2>().map(Term::parts);
        let zero = r[0].like(0.0);
        let parts: Vec<_> = (0..36).map(|at| {
            let (row, col) = (at / 6, at % 6);
            let within = row % 3 * 3 + col % 3;
            match (row / 3, col / 3) {
                (1, 0) => s[within],
                (0, 1) => zero,
                _ => r[within],
            }
        }).collect();
        f.matrix(6, &parts)
    }))], Through, "The 6 by 6 matrix with r twice on the diagonal and s below."),
    row_of("velocity_at_point", &[body(F32, &["qd", "r"], &[V6, V3], V3, |b| formula(b, |f| {
        let (w, v) = halved(f.arg(0));
        v + w.cross(f.arg(1))
    }))], Through, "The velocity of a point of a moving body."),
    row_of("transform_twist", &[body(F32, &["t", "x"], &[Transform, V6], V6, |b| formula(b, |f| {
        let ((p, q), (w, v)) = (halves(f.arg(0)), halved(f.arg(1)));
        let (w, v) = (f.call("quat_rotate", &[q, w]), f.call("quat_rotate", &[q, v]));
        joined(w, v + p.cross(w))
    }))], Through, "A motion in the frame to which the transformation leads."),
    row_of("transform_wrench", &[body(F32, &["t", "x"], &[Transform, V6], V6, |b| formula(b, |f| {
        let ((p, q), (torque, force)) = (halves(f.arg(0)), halved(f.arg(1)));
        let (torque, force) = (f.call("quat_rotate", &[q, torque]), f.call("quat_rotate", &[q, force]));
        joined(torque + p.cross(force), force)
    }))], Through, "Torque and force in the frame to which the transformation leads."),
];

fn halved(v: Term<'_>) -> (Term<'_>, Term<'_>) {
    let (f, parts) = (v.formula(), v.parts());
    (f.vector(&parts[..3]), f.vector(&parts[3..]))
}

fn joined<'f>(top: Term<'f>, bottom: Term<'f>) -> Term<'f> {
    top.formula().vector(&[top.parts(), bottom.parts()].concat())
}
