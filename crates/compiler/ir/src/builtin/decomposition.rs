//! Decompositions of small matrices. `U` and `V` are rotations, so the last singular value has the
//! sign of the determinant, as in NVIDIA Warp.

use super::formula::{Formula, Term, formula};
use super::sample::{build, variable};
use super::{BuiltinRow, Derivative, Dim, Domain, Pattern, Visibility, body, row_of};
use crate::build::Builder;
use crate::op::Value;
use crate::ty::{Scalar, Type};

use Derivative::Through;
use Domain::Float;
use Pattern::{Pair, Triple, Vector};
use std::f64::consts::{FRAC_PI_8, SQRT_2};

const V2: Pattern = Vector(Dim::Is(2));
const V3: Pattern = Vector(Dim::Is(3));
const M22: Pattern = Pattern::Matrix(Dim::Is(2), Dim::Is(2));
const M33: Pattern = Pattern::Matrix(Dim::Is(3), Dim::Is(3));

/// Number of rounds of Jacobi's method, the same as in Warp: more rounds would turn vectors of
/// equal eigenvalues further than Warp does.
const fn rounds(scalar: Scalar) -> i32 {
    if matches!(scalar, Scalar::F64) { 8 } else { 4 }
}

/// Square of the cotangent of pi / 8: 3 + sqrt(8).
const WIDEST: f64 = 3.0 + 2.0 * SQRT_2;

/// The planes of a round, each with the direction from its first axis to its second.
const PLANES: [(usize, usize); 3] = [(0, 1), (1, 2), (2, 0)];

#[rustfmt::skip]
pub(super) static ROWS: &[BuiltinRow] = &[
    row_of("qr3", &[body(Float, &["a"], &[M33], Pair(&M33, &M33), |b| formula(b, |f| {
        let mut r = SquareMatrix::of(f.arg(0));
        let mut q = SquareMatrix::identity(f.arg(0));
        for (upper, lower) in [(0, 1), (0, 2), (1, 2)] {
            let turn = Rotation::from_sides(r.at(upper, upper), r.at(lower, upper));
            r.turn_rows(upper, lower, turn);
            q.turn_columns(upper, lower, turn);
        }
        let zero = f.arg(0).part(0).like(0.0);
        [3, 6, 7].into_iter().for_each(|at| r.parts[at] = zero);
        f.tuple(&[q.matrix(f), r.matrix(f)])
    }))], Through, "A rotation and an upper triangular matrix whose product is `a`."),
    row_of("eig3", &[body(Float, &["a"], &[M33], Pair(&M33, &V3), eigen)], Through,
        "The eigenvectors of a symmetric matrix, as columns, and its eigenvalues."),
    row_of("svd3", &[body(Float, &["a"], &[M33], Triple(&M33, &V3, &M33), |b| formula(b, |f| {
        let a = f.arg(0);
        let square = f.call("mul", &[f.call("transpose", &[a]), a]);
        let rotation = f.call("eig3", &[square]).part(0);
        let pair = f.call("sort_columns", &[a, rotation]);
        let (columns, v) = (pair.part(0), pair.part(1));
        let qr = f.call("qr3", &[columns]);
        f.tuple(&[qr.part(0), f.call("get_diag", &[qr.part(1)]), v])
    }))], Through, "U, the singular values and V of `a = U * diag(s) * transpose(V)`."),
    row_of("svd2", &[body(Float, &["a"], &[M22], Triple(&M22, &V2, &M22), |b| formula(b, plane))], Through,
        "U, the singular values and V of `a = U * diag(s) * transpose(V)`; here U may be a reflection."),
    BuiltinRow { visibility: Visibility::Inner, ..row_of("sort_columns", &[body(Float, &["a", "v"], &[M33, M33], Pair(&M33, &M33), |b| formula(b, |f| {
        let [a, v] = f.args();
        let mut v = SquareMatrix::of(v);
        let mut product = SquareMatrix::of(f.call("mul", &[a, f.arg(1)]));
        for (left, right) in [(0, 1), (0, 2), (1, 2)] {
            let swaps = product.size(left).lt(product.size(right));
            product.swap_columns(swaps, left, right);
            v.swap_columns(swaps, left, right);
        }
        f.tuple(&[product.matrix(f), v.matrix(f)])
    }))], Through, "`a * v` and v, the longest columns of the product first.") },
];

/// A 3 by 3 matrix that is changed step by step.
#[derive(Clone)]
struct SquareMatrix<'f> {
    parts: Vec<Term<'f>>,
}

/// Cosine and sine of a rotation's angle.
#[derive(Clone, Copy)]
struct Rotation<'f> {
    cos: Term<'f>,
    sin: Term<'f>,
}

impl<'f> Rotation<'f> {
    /// Returns the rotation that turns a point to the positive first axis. The origin stays where
    /// it is.
    fn from_sides(x: Term<'f>, y: Term<'f>) -> Self {
        let (zero, one) = (x.like(0.0), x.like(1.0));
        let square = x * x + y * y;
        let none = square.equals(zero);
        let length = square.or_one_where(none).sqrt();
        Self { cos: none.select(one, x / length), sin: none.select(zero, y / length) }
    }

    /// Returns the rotation that makes an off-diagonal entry small. Its half angle is `atan(entry
    /// / (2 * difference))`, but at most pi / 8; the formula needs no nested square root. Source:
    /// McAdams and others, "Computing the Singular Value Decomposition of 3x3 matrices with
    /// minimal branching", 2011. Warp uses the same method, and the choice of rotations decides
    /// the order of eigenvalues.
    fn towards_diagonal(s: &SquareMatrix<'f>, first: usize, second: usize) -> Self {
        let sin = s.at(second, first);
        let cos = (s.at(first, first) - s.at(second, second)) * 2.0;
        let near = (sin * sin * WIDEST).lt(cos * cos);
        let square = cos * cos + sin * sin;
        let length = near.select(square, square.like(1.0)).sqrt();
        let cos = near.select(cos / length, cos.like(FRAC_PI_8.cos()));
        let sin = near.select(sin / length, sin.like(FRAC_PI_8.sin()));
        Self { cos: cos * cos - sin * sin, sin: 2.0 * sin * cos }
    }
}

impl<'f> SquareMatrix<'f> {
    fn of(m: Term<'f>) -> Self {
        Self { parts: m.parts() }
    }

    fn identity(like: Term<'f>) -> Self {
        let part = like.part(0);
        let (zero, one) = (part.like(0.0), part.like(1.0));
        Self { parts: (0..9).map(|at| if at % 4 == 0 { one } else { zero }).collect() }
    }

    fn at(&self, row: usize, col: usize) -> Term<'f> {
        self.parts[row * 3 + col]
    }

    fn matrix(&self, f: Formula<'f>) -> Term<'f> {
        f.matrix(3, &self.parts)
    }

    /// The square of a column's length.
    fn size(&self, col: usize) -> Term<'f> {
        let [x, y, z] = [0, 1, 2].map(|row| self.at(row, col));
        x * x + y * y + z * z
    }

    fn turn_rows(&mut self, upper: usize, lower: usize, Rotation { cos, sin }: Rotation<'f>) {
        for col in 0..3 {
            let (x, y) = (self.at(upper, col), self.at(lower, col));
            self.parts[upper * 3 + col] = cos * x + sin * y;
            self.parts[lower * 3 + col] = cos * y - sin * x;
        }
    }

    fn turn_columns(&mut self, left: usize, right: usize, Rotation { cos, sin }: Rotation<'f>) {
        for row in 0..3 {
            let (x, y) = (self.at(row, left), self.at(row, right));
            self.parts[row * 3 + left] = cos * x + sin * y;
            self.parts[row * 3 + right] = cos * y - sin * x;
        }
    }

    /// Swaps two columns and negates one of them, so that a rotation stays a rotation.
    fn swap_columns(&mut self, swaps: Term<'f>, left: usize, right: usize) {
        for row in 0..3 {
            let (x, y) = (self.at(row, left), self.at(row, right));
            self.parts[row * 3 + left] = swaps.select(y, x);
            self.parts[row * 3 + right] = swaps.select(-x, y);
        }
    }
}

/// Jacobi's method: rotates in the three planes, round after round, until the matrix is diagonal.
fn eigen(b: &mut Builder<'_>) -> Option<Value> {
    let a = b.arg(0);
    let ty = b.body().type_of(a);
    let scalar = b.module.types.components(ty).map_or(Scalar::F32, |(scalar, _)| scalar);
    let one = build(b, |f| SquareMatrix::identity(f.arg(0)).matrix(f));
    let (matrix, vectors) = (variable(b, "s", a), variable(b, "q", one));
    let (zero, rounds, step) = (b.i32(0), b.i32(rounds(scalar)), b.i32(1));
    b.for_range("round", [zero, rounds, step], |b, _| {
        let (s, q) = (b.load(matrix), b.load(vectors));
        let both = build(b, |f| {
            let [mut s, mut q] = [s, q].map(|value| SquareMatrix::of(f.with(|_| value)));
            for (left, right) in PLANES {
                let turn = Rotation::towards_diagonal(&s, left, right);
                s.turn_rows(left, right, turn);
                s.turn_columns(left, right, turn);
                q.turn_columns(left, right, turn);
            }
            f.tuple(&[s.matrix(f), q.matrix(f)])
        });
        let (s, q) = (b.extract(both, 0), b.extract(both, 1));
        b.store(matrix, s);
        b.store(vectors, q);
    });
    let (s, q) = (b.load(matrix), b.load(vectors));
    debug_assert_ne!(b.body().type_of(s), Type::INVALID);
    formula(b, |f| {
        let [s, q] = [s, q].map(|value| f.with(|_| value));
        f.tuple(&[q, f.call("get_diag", &[s])])
    })
}

/// Decomposes a 2 by 2 matrix in closed form: V from the larger eigenvalue of `transpose(a) * a`, U
/// from `a * V`.
fn plane<'f>(f: Formula<'f>) -> Term<'f> {
    let [a, b, c, d] = f.arg(0).split();
    let (zero, one) = (a.like(0.0), a.like(1.0));
    let (first, mixed, second) = (a * a + c * c, a * b + c * d, b * b + d * d);
    let (sum, difference) = (first + second, first - second);
    let square = difference * difference + mixed * mixed * 4.0;
    let alike = square.equals(zero);
    let root = alike.select(zero, square.or_one_where(alike).sqrt());
    let large = ((sum + root) * 0.5).sqrt();
    let small = ((sum - root) * 0.5).max(zero).sqrt();
    // The sum of the eigenvector's two usual forms: at most one of the forms is zero.
    let (x, y) = (difference + root - mixed * 2.0, difference - root + mixed * 2.0);
    let square = x * x + y * y;
    let degenerate = square.equals(zero);
    let length = square.or_one_where(degenerate).sqrt();
    let diagonal = x.like(std::f64::consts::FRAC_1_SQRT_2);
    // If the singular values are equal, any V is right.
    let x = alike.select(one, degenerate.select(diagonal, x / length));
    let y = alike.select(zero, degenerate.select(diagonal, y / length));
    let nothing = large.equals(zero);
    let below = large.or_one_where(nothing);
    let p = nothing.select(one, (a * x + b * y) / below);
    let q = nothing.select(zero, (c * x + d * y) / below);
    let side = (a * d - b * c).lt(zero).select(-one, one);
    let u = f.matrix(2, &[p, -q * side, q, p * side]);
    f.tuple(&[u, f.vector(&[large, small]), f.matrix(2, &[x, -y, y, x])])
}
