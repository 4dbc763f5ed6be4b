//! Quaternions: components x, y, z, w. A rotation has length 1.

use super::formula::{Formula, Term, formula};
use super::{BuiltinRow, Derivative, Dim, Domain, Pattern, body, row_of};
use crate::ty::Scalar;
use Derivative::Through;
use Domain::{F32, Float};
use Pattern::{Is, Pair, Quaternion, T};

const V3: Pattern = Pattern::Vector(Dim::Is(3));
const I32: Pattern = Is(Scalar::I32);
const fn square(n: u16) -> Pattern {
    Pattern::Matrix(Dim::Is(n), Dim::Is(n))
}

#[rustfmt::skip]
pub(super) static ROWS: &[BuiltinRow] = &[
    row_of("quat_identity", &[body(F32, &[], &[], Pattern::QuaternionOf(Scalar::F32), |b| formula(b, |f| {
        let (zero, one) = (f.float(0.0), f.float(1.0));
        f.quaternion(&[zero, zero, zero, one])
    }))], Through, "No rotation."),
    row_of("quat_from_axis_angle", &[body(Float, &["axis", "angle"], &[V3, T], Quaternion, |b| formula(b, |f| {
        let [axis, angle] = f.args();
        let half = angle * 0.5;
        let [x, y, z] = (axis * half.sin()).split();
        f.quaternion(&[x, y, z, half.cos()])
    }))], Through, "The rotation around a unit axis by radians."),
    row_of("quat_to_axis_angle", &[body(Float, &["q"], &[Quaternion], Pair(&V3, &T), |b| formula(b, |f| {
        let q = f.arg(0);
        let w = q.part(3);
        let v = imaginary(q);
        let axis = f.call("normalize", &[v]);
        let axis = w.lt(w.like(0.0)).select(-axis, axis);
        let angle = 2.0 * f.call("length", &[v]).atan2(w.abs());
        f.tuple(&[axis, angle])
    }))], Through, "Axis and angle, the angle from 0 to pi."),
    row_of("quat_rpy", &[body(Float, &["roll", "pitch", "yaw"], &[T, T, T], Quaternion, |b| formula(b, |f| {
        let [r, p, y] = f.args::<3>().map(|angle| angle * 0.5).map(|half| (half.cos(), half.sin()));
        f.quaternion(&[
            y.0 * r.1 * p.0 - y.1 * r.0 * p.1,
            y.0 * r.0 * p.1 + y.1 * r.1 * p.0,
            y.1 * r.0 * p.0 - y.0 * r.1 * p.1,
            y.0 * r.0 * p.0 + y.1 * r.1 * p.1,
        ])
    }))], Through, "The rotation around the fixed axes x, then y, then z."),
    row_of("quat_to_rpy", &[body(F32, &["q"], &[Quaternion], V3, |b| formula(b, |f| {
        let [x, y, z, w] = f.arg(0).split();
        let roll = (2.0 * (w * x + y * z)).atan2(1.0 - 2.0 * (x * x + y * y));
        let pitch = (2.0 * (w * y - z * x)).asin();
        let yaw = (2.0 * (w * z + x * y)).atan2(1.0 - 2.0 * (y * y + z * z));
        f.vector(&[roll, pitch, yaw])
    }))], Through, "The angles of `quat_rpy`."),
    row_of("quat_inverse", &[body(Float, &["q"], &[Quaternion], Quaternion, |b| formula(b, |f| {
        let [x, y, z, w] = f.arg(0).split();
        f.quaternion(&[-x, -y, -z, w])
    }))], Through, "The rotation back."),
    row_of("quat_rotate", &[body(Float, &["q", "x"], &[Quaternion, V3], V3, |b| formula(b, |f| {
        let [q, x] = f.args();
        rotated(q, x, 1.0)
    }))], Through, "A vector, rotated."),
    row_of("quat_rotate_inv", &[body(Float, &["q", "x"], &[Quaternion, V3], V3, |b| formula(b, |f| {
        let [q, x] = f.args();
        rotated(q, x, -1.0)
    }))], Through, "A vector, rotated back."),
    row_of("quat_slerp", &[body(Float, &["a", "b", "t"], &[Quaternion, Quaternion, T], Quaternion, |b| formula(b, |f| {
        let [from, to, t] = f.args();
        let back = f.call("quat_inverse", &[from]);
        let between = f.call("mul", &[back, to]);
        let turn = f.call("quat_to_axis_angle", &[between]);
        let part = f.call("quat_from_axis_angle", &[turn.part(0), t * turn.part(1)]);
        f.call("mul", &[from, part])
    }))], Through, "The rotation on the way from a (t = 0) to b (t = 1), at constant speed."),
    row_of("quat_to_matrix", &[body(Float, &["q"], &[Quaternion], square(3), |b| formula(b, |f| {
        let q = f.arg(0);
        let (zero, one) = (q.part(0).like(0.0), q.part(0).like(1.0));
        let columns: Vec<_> = [0, 1, 2].map(|axis| {
            let unit = f.vector(&[0, 1, 2].map(|at| if at == axis { one } else { zero }));
            f.call("quat_rotate", &[q, unit]).parts()
        }).into();
        let parts: Vec<_> = (0..9).map(|at| columns[at % 3][at / 3]).collect();
        f.matrix(3, &parts)
    }))], Through, "The rotation's matrix."),
    row_of("quat_from_matrix", &[
        body(Float, &["m"], &[square(3)], Quaternion, |b| formula(b, |f| from_matrix(f, 3))),
        body(Float, &["m"], &[square(4)], Quaternion, |b| formula(b, |f| from_matrix(f, 4))),
    ], Through, "The rotation of a rotation matrix."),
    row_of("quat_between_vectors", &[body(F32, &["a", "b"], &[V3, V3], Quaternion, |b| formula(b, |f| {
        let [a, b] = f.args().map(|direction| f.call("normalize", &[direction]));
        // The rotation is around the normal of both vectors. With `angle` between the vectors,
        // the tangent of its half angle is sin(angle) / (1 + cos(angle)).
        let ([x, y, z], cosine) = (a.cross(b).split(), a.dot(b));
        let turn = f.quaternion(&[x, y, z, cosine + 1.0]);
        f.call("normalize", &[turn])
    }))], Through, "The shortest rotation from the direction of a to that of b; the two must not be opposite."),
    row_of("quat_twist", &[body(F32, &["axis", "q"], &[V3, Quaternion], Quaternion, |b| formula(b, |f| {
        let [axis, q] = f.args();
        let [x, y, z] = (axis * imaginary(q).dot(axis)).split();
        let twist = f.quaternion(&[x, y, z, q.part(3)]);
        f.call("normalize", &[twist])
    }))], Through, "The part of a rotation that is around an axis."),
    row_of("quat_twist_angle", &[body(F32, &["axis", "q"], &[V3, Quaternion], T, |b| formula(b, |f| {
        let [axis, q] = f.args();
        2.0 * axis.dot(imaginary(q)).abs().atan2(q.part(3))
    }))], Through, "The angle of `quat_twist`, without sign."),
    row_of("quat_twist_angle_signed", &[body(F32, &["axis", "q"], &[V3, Quaternion], T, |b| formula(b, |f| {
        let [axis, q] = f.args();
        2.0 * axis.dot(imaginary(q)).atan2(q.part(3))
    }))], Through, "The angle of `quat_twist`, with sign."),
    row_of("quat_from_euler", &[body(F32, &["e", "i", "j", "k"], &[V3, I32, I32, I32], Quaternion, |b| formula(b, |f| {
        let e = f.arg(0);
        let [i, j, k] = [1, 2, 3].map(|at| f.call("axis_rotation", &[e, f.arg(at)]));
        let inner = f.call("mul", &[j, i]);
        f.call("mul", &[k, inner])
    }))], Through, "The rotation around the fixed axes i, then j, then k, each by its own component of e."),
    BuiltinRow { visibility: super::Visibility::Inner, ..row_of("axis_rotation",
        &[body(F32, &["e", "axis"], &[V3, I32], Quaternion, |b| formula(b, |f| {
            let [e, axis] = f.args();
            let half = component(e, axis) * 0.5;
            let (sin, zero) = (half.sin(), half.like(0.0));
            // Any number but 0 and 1 stands for the z axis, as in Warp.
            let on = [0, 1].map(|at| axis.equals(f.int(at)));
            let (x, y) = (on[0].select(sin, zero), on[1].select(sin, zero));
            let z = on[0].select(zero, on[1].select(zero, sin));
            f.quaternion(&[x, y, z, half.cos()])
        }))], Through, "The rotation around the axis with a number, by the axis's component of e.") },
    row_of("quat_to_euler", &[body(F32, &["q", "i", "j", "k"], &[Quaternion, I32, I32, I32], V3, |b| formula(b, to_euler))],
        Through, "Angles for `quat_from_euler` with the same axes."),
];

/// Returns the part x, y, z.
fn imaginary(q: Term<'_>) -> Term<'_> {
    let [x, y, z, _] = q.split();
    q.formula().vector(&[x, y, z])
}

/// Rotates a vector forwards (1) or backwards (-1).
fn rotated<'f>(q: Term<'f>, x: Term<'f>, direction: f64) -> Term<'f> {
    let (v, w) = (imaginary(q), q.part(3));
    let along = v.dot(x) * 2.0;
    let turned = v.cross(x) * (w * (2.0 * direction));
    x * (w * w * 2.0 - 1.0) + v * along + turned
}

/// Selects a component by an index that is known only at run time; an index outside 0..2 selects
/// the last.
fn component<'f>(e: Term<'f>, axis: Term<'f>) -> Term<'f> {
    let f = e.formula();
    let [x, y, z] = e.split();
    axis.equals(f.int(0)).select(x, axis.equals(f.int(1)).select(y, z))
}

/// Shepperd's method: computes the largest of the four components first, and divides by it to get
/// the others.
fn from_matrix<'f>(f: Formula<'f>, width: usize) -> Term<'f> {
    let m = f.arg(0).parts();
    let at = |row: usize, col: usize| m[row * width + col];
    let (a, b, c) = (at(0, 0), at(1, 1), at(2, 2));
    let (zero, one) = (a.like(0.0), a.like(1.0));
    let trace = a + b + c;
    let sums = [at(0, 1) + at(1, 0), at(2, 0) + at(0, 2), at(1, 2) + at(2, 1)];
    let differences = [at(2, 1) - at(1, 2), at(0, 2) - at(2, 0), at(1, 0) - at(0, 1)];
    // Four times the square of each component, computed from the diagonal.
    let squares = [(a - (b + c)) + one, (b - (c + a)) + one, (c - (a + b)) + one, trace + one];
    let [p, q, r] = differences;
    let [xy, zx, yz] = sums;
    // Numerators of the other components, for each component that may be the largest.
    let multiples = [[zero, xy, zx, p], [xy, zero, yz, q], [zx, yz, zero, r], [p, q, r, zero]];
    let by_trace = trace.ge(zero);
    let second = b.gt(a);
    let third = c.gt(second.select(b, a));
    let choose =
        |[x, y, z, w]: [Term<'f>; 4]| by_trace.select(w, third.select(z, second.select(y, x)));
    let root = choose(squares).sqrt();
    let (largest, scale) = (root * 0.5, 0.5 / root);
    let parts: Vec<Term<'f>> = (0..4)
        .map(|at| {
            let mut candidates = multiples.map(|multiples| multiples[at] * scale);
            candidates[at] = largest;
            choose(candidates)
        })
        .collect();
    let q = f.quaternion(&parts);
    f.call("normalize", &[q])
}

/// Bernardes and Viollet, "Quaternion to Euler angles conversion: a direct, general and
/// computationally efficient method" (2022); axes are counted from 1 there.
fn to_euler<'f>(f: Formula<'f>) -> Term<'f> {
    let [x, y, z, w] = f.arg(0).split();
    let [i, j, last] = [1, 2, 3].map(|at| f.arg(at) + f.int(1));
    let same = i.equals(last);
    // A sequence that ends with its first axis uses the remaining axis here.
    let k = same.select(f.int(6) - i - j, last);
    let sign = ((i - j) * (j - k) * (k - i)).to(Scalar::F32) / 2.0;
    let along =
        |axis: Term<'f>| axis.equals(f.int(2)).select(y, axis.equals(f.int(3)).select(z, x));
    let (qi, qj, qk) = (along(i), along(j), along(k) * sign);
    let a = same.select(w, w - qj);
    let b = same.select(qi, qi + qk);
    let c = same.select(qj, qj + w);
    let d = same.select(qk, qk - qi);
    let (near, far) = (a * a + b * b, c * c + d * d);
    let middle = (2.0 * near / (near + far) - 1.0).acos();
    let (plus, minus) = (b.atan2(a), d.atan2(c));
    // If the middle angle is 0 or pi, only the sum or the difference of the outer angles is
    // determined, and the first angle is set to 0.
    let tiny = f.float(1e-6);
    let at_begin = middle.abs().lt(tiny);
    let at_end = (middle - std::f64::consts::PI).abs().lt(tiny);
    let zero = f.float(0.0);
    let first = at_begin.select(zero, at_end.select(zero, plus - minus));
    let third = at_begin.select(2.0 * plus, at_end.select(2.0 * minus, plus + minus));
    let second = same.select(middle, middle - std::f64::consts::FRAC_PI_2);
    let third = same.select(third, third * sign);
    let place = |axis: i32| {
        let axis = f.int(axis);
        k.equals(axis).select(third, j.equals(axis).select(second, first))
    };
    f.vector(&[place(1), place(2), place(3)])
}
