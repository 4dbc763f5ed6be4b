//! Distances and intersections of edges and triangles.

use super::formula::{Formula, Term, formula};
use super::{BuiltinRow, Derivative, Dim, Domain, Pattern, body, row_of};
use crate::ty::Scalar;
use Derivative::{Through, Zero};
use Domain::Any;
use Pattern::{Is, VectorOf};

const V3: Pattern = VectorOf(Dim::Is(3), Scalar::F32);
const V3D: Pattern = VectorOf(Dim::Is(3), Scalar::F64);
const I32: Pattern = Is(Scalar::I32);

/// Greatest distance of a point from a triangle's plane, times the length of the normal, at which
/// the point counts as lying in the plane.
const IN_PLANE: f64 = 1e-6;

#[rustfmt::skip]
pub(super) static ROWS: &[BuiltinRow] = &[
    row_of("closest_point_edge_edge", &[body(Any, &["p1", "q1", "p2", "q2", "epsilon"], &[V3, V3, V3, V3, Is(Scalar::F32)], V3, |b| formula(b, closest))], Through,
        "The positions on two edges, from 0 to 1, of the points nearest to each other, and their distance."),
    row_of("intersect_tri_tri", &[
        body(Any, &["v0", "v1", "v2", "u0", "u1", "u2"], &[V3; 6], I32, |b| formula(b, intersect)),
        body(Any, &["v0", "v1", "v2", "u0", "u1", "u2"], &[V3D; 6], I32, |b| formula(b, intersect)),
    ], Zero, "1 if two triangles have a point in common, else 0."),
];

fn closest(f: Formula<'_>) -> Term<'_> {
    let [p, _, q, _, epsilon] = f.args();
    let (along_p, along_q) = (f.arg(1) - p, f.arg(3) - q);
    let between = p - q;
    let (a, e) = (along_p.dot(along_p), along_q.dot(along_q));
    let (b, c, g) = (along_p.dot(along_q), along_p.dot(between), along_q.dot(between));
    let (zero, one) = (a.like(0.0), a.like(1.0));
    let clamped = |x| f.call("clamp", &[x, zero, one]);
    let (p_is_point, q_is_point) = (a.le(epsilon), e.le(epsilon));
    let (a_safe, e_safe) = (a.or_one_where(p_is_point), e.or_one_where(q_is_point));

    // The nearest points of the two lines, moved onto the edges.
    let denominator = difference(a, e, b, b);
    let parallel = denominator.le(zero);
    let s = clamped(difference(b, g, c, e) / denominator.or_one_where(parallel));
    let s = parallel.select(zero, s);
    let t = (b * s + g) / e_safe;
    let (before, after) = (t.lt(zero), t.gt(one));
    let s_at_begin = clamped(-c / a_safe);
    let s_at_end = clamped((b - c) / a_safe);
    let s = before.select(s_at_begin, after.select(s_at_end, s));
    let t = before.select(zero, after.select(one, t));

    let s = p_is_point.select(zero, q_is_point.select(s_at_begin, s));
    let t = q_is_point.select(zero, p_is_point.select(clamped(g / e_safe), t));
    let apart = (q + t * along_q) - (p + s * along_p);
    f.vector(&[s, t, f.call("length", &[apart])])
}

/// Computes `a * b - c * d` in `f64`, because the products nearly cancel.
fn difference<'f>(a: Term<'f>, b: Term<'f>, c: Term<'f>, d: Term<'f>) -> Term<'f> {
    let [a, b, c, d] = [a, b, c, d].map(|term| term.to(Scalar::F64));
    (a * b - c * d).to(Scalar::F32)
}

/// Tests if two triangles meet: if an edge of one meets the other, or, in one plane, if they
/// overlap.
fn intersect(f: Formula<'_>) -> Term<'_> {
    let all: [Term<'_>; 6] = f.args();
    let (v, u) = ([all[0], all[1], all[2]], [all[3], all[4], all[5]]);
    let (normal, v_heights) = heights(u, v);
    let (_, u_heights) = heights(v, u);
    let zero = v_heights[0].like(0.0);
    let mut meet = Vec::new();
    for (edges, heights, triangle) in [(v, v_heights, u), (u, u_heights, v)] {
        for at in 0..3 {
            let next = (at + 1) % 3;
            let (low, high) = (heights[at], heights[next]);
            let in_plane = and(low.equals(zero), high.equals(zero));
            let crosses = or(and(low.le(zero), high.ge(zero)), and(low.ge(zero), high.le(zero)));
            let through = line_meets_triangle(edges[at], edges[next], triangle);
            meet.push(and(
                through,
                in_plane.select(in_plane.formula().with(|b| b.bool(false)), crosses),
            ));
        }
    }
    let some = meet.into_iter().reduce(or).unwrap_or_else(|| unreachable!("six edges"));
    let [x, y, z] = v_heights.map(|height| height.equals(zero));
    let flat = and(x, and(y, z));
    let (one, none) = (f.int(1), f.int(0));
    flat.select(overlap(normal, v, u), some).select(one, none)
}

/// Returns the normal of a triangle, and the heights of points over its plane, in units of the
/// normal's length.
fn heights<'f>(triangle: [Term<'f>; 3], points: [Term<'f>; 3]) -> (Term<'f>, [Term<'f>; 3]) {
    let [a, b, c] = triangle;
    let normal = (b - a).cross(c - a);
    let heights = points.map(|point| {
        let height = normal.dot(point - a);
        height.abs().lt(height.like(IN_PLANE)).select(height.like(0.0), height)
    });
    (normal, heights)
}

/// Tests if the line through two points meets a triangle: the line passes all three edges on the
/// same side.
fn line_meets_triangle<'f>(from: Term<'f>, to: Term<'f>, triangle: [Term<'f>; 3]) -> Term<'f> {
    let along = to - from;
    let corners = triangle.map(|corner| corner - from);
    let hands = [0, 1, 2].map(|at| along.dot(corners[at].cross(corners[(at + 1) % 3])));
    let zero = hands[0].like(0.0);
    let [a, b, c] = hands.map(|hand| hand.ge(zero));
    let [x, y, z] = hands.map(|hand| hand.le(zero));
    or(and(a, and(b, c)), and(x, and(y, z)))
}

/// Tests if two triangles in a plane overlap: no side of either separates them.
fn overlap<'f>(normal: Term<'f>, v: [Term<'f>; 3], u: [Term<'f>; 3]) -> Term<'f> {
    let apart = [v, u].into_iter().flat_map(|triangle| {
        (0..3).map(move |at| {
            let axis = normal.cross(triangle[(at + 1) % 3] - triangle[at]);
            let bounds = |corners: [Term<'f>; 3]| {
                let [x, y, z] = corners.map(|corner| axis.dot(corner - triangle[at]));
                let low = x.lt(y).select(x, y);
                (z.lt(low).select(z, low), x.max(y).max(z))
            };
            let ((low, high), (other_low, other_high)) = (bounds(v), bounds(u));
            or(high.lt(other_low), other_high.lt(low))
        })
    });
    let apart = apart.reduce(or).unwrap_or_else(|| unreachable!("six sides"));
    let formula = apart.formula();
    apart.select(formula.with(|b| b.bool(false)), formula.with(|b| b.bool(true)))
}

fn and<'f>(left: Term<'f>, right: Term<'f>) -> Term<'f> {
    left.formula().with(|b| b.and(left.value, right.value))
}

fn or<'f>(left: Term<'f>, right: Term<'f>) -> Term<'f> {
    left.formula().with(|b| b.or(left.value, right.value))
}
