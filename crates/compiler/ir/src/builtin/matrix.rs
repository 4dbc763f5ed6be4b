//! Matrices, row-major. Products are in [`super::operator`].

use super::formula::{Formula, Term, formula};
use super::{BuiltinRow, Derivative, Dim, Domain, Pattern, body, row_of};
use crate::op::CompareOp;
use crate::ty::Scalar;
use Derivative::Through;
use Domain::{Float, Number};
use Pattern::T;

const V: Pattern = Pattern::Vector(Dim::N);
const M: Pattern = matrix(Dim::N, Dim::M);
const SQUARE: Pattern = matrix(Dim::N, Dim::N);

const fn matrix(rows: Dim, cols: Dim) -> Pattern {
    Pattern::Matrix(rows, cols)
}

const fn square(n: u16) -> Pattern {
    matrix(Dim::Is(n), Dim::Is(n))
}

/// Signatures of a matrix that is built from several vectors of one length.
macro_rules! vectors {
    ($count:literal, $names:expr, $params:expr, rows) => {
        body(Number, &$names, &$params, matrix(Dim::Is($count), Dim::N), |b| {
            formula(b, |f| f.result(&f.args::<$count>().map(Term::parts).concat()))
        })
    };
    ($count:literal, $names:expr, $params:expr, cols) => {
        body(Number, &$names, &$params, matrix(Dim::N, Dim::Is($count)), |b| {
            formula(b, |f| {
                let columns = f.args::<$count>().map(Term::parts);
                let parts: Vec<_> = (0..columns[0].len())
                    .flat_map(|row| {
                        columns.iter().map(move |column| column[row]).collect::<Vec<_>>()
                    })
                    .collect();
                f.result(&parts)
            })
        })
    };
}

macro_rules! all_vectors {
    ($kind:ident) => {
        &[
            vectors!(2, ["v0", "v1"], [V; 2], $kind),
            vectors!(3, ["v0", "v1", "v2"], [V; 3], $kind),
            vectors!(4, ["v0", "v1", "v2", "v3"], [V; 4], $kind),
            vectors!(5, ["v0", "v1", "v2", "v3", "v4"], [V; 5], $kind),
            vectors!(6, ["v0", "v1", "v2", "v3", "v4", "v5"], [V; 6], $kind),
        ]
    };
}

#[rustfmt::skip]
macro_rules! inverses {
    () => {
        &[
            body(Float, &["m"], &[square(2)], square(2), |b| formula(b, |f| inverse(f, 2))),
            body(Float, &["m"], &[square(3)], square(3), |b| formula(b, |f| inverse(f, 3))),
            body(Float, &["m"], &[square(4)], square(4), |b| formula(b, |f| inverse(f, 4))),
        ]
    };
}

#[rustfmt::skip]
pub(super) static ROWS: &[BuiltinRow] = &[
    row_of("matrix_from_rows", all_vectors!(rows), Through, "The matrix with these rows."),
    row_of("matrix_from_cols", all_vectors!(cols), Through, "The matrix with these columns."),
    row_of("transpose", &[body(Number, &["a"], &[M], matrix(Dim::M, Dim::N), |b| formula(b, |f| {
        let a = f.arg(0);
        let ((rows, cols), parts) = (a.extents(), a.parts());
        let turned: Vec<_> = (0..rows * cols).map(|at| parts[at % rows * cols + at / rows]).collect();
        f.result(&turned)
    }))], Through, "Rows become columns."),
    row_of("ddot", &[body(Number, &["a", "b"], &[M, M], T, |b| formula(b, |f| {
        let [a, b] = f.args::<2>().map(Term::parts);
        Term::fused_dot(a.into_iter().zip(b))
    }))], Through, "The sum of the products of components."),
    row_of("trace", &[body(Number, &["a"], &[SQUARE], T, |b| formula(b, |f| sum(diagonal(f.arg(0)))))], Through,
        "The sum of the diagonal."),
    row_of("get_diag", &[body(Number, &["a"], &[SQUARE], V, |b| formula(b, |f| f.result(&diagonal(f.arg(0)))))], Through,
        "The diagonal."),
    row_of("diag", &[body(Number, &["a"], &[V], SQUARE, |b| formula(b, |f| {
        let parts = f.arg(0).parts();
        let (n, zero) = (parts.len(), parts[0].like(0.0));
        let all: Vec<_> = (0..n * n).map(|at| if at % (n + 1) == 0 { parts[at / n] } else { zero }).collect();
        f.result(&all)
    }))], Through, "The matrix with this diagonal and zeros elsewhere."),
    row_of("outer", &[body(Number, &["a", "b"], &[V, Pattern::Vector(Dim::M)], M, |b| formula(b, |f| {
        let [a, b] = f.args::<2>().map(Term::parts);
        let parts: Vec<_> = a.iter().flat_map(|&a| b.iter().map(move |&b| a * b)).collect();
        f.result(&parts)
    }))], Through, "Every component of a times every component of b."),
    row_of("skew", &[body(Number, &["v"], &[Pattern::Vector(Dim::Is(3))], square(3), |b| formula(b, |f| {
        let [x, y, z] = f.arg(0).split();
        let zero = x.like(0.0);
        f.matrix(3, &[zero, -z, y, z, zero, -x, -y, x, zero])
    }))], Through, "The matrix whose product with a vector is the cross product."),
    row_of("determinant", &[
        body(Float, &["m"], &[square(2)], T, |b| formula(b, |f| determinant(f, 2))),
        body(Float, &["m"], &[square(3)], T, |b| formula(b, |f| determinant(f, 3))),
        body(Float, &["m"], &[square(4)], T, |b| formula(b, |f| determinant(f, 4))),
    ], Through, "The determinant."),
    row_of("inverse", inverses!(), Through, "The inverse; zero for a matrix that has no inverse."),
    row_of("inverse_approx", inverses!(), Through, "The inverse, as exact as `inverse`."),
];

fn sum<'f>(terms: impl IntoIterator<Item = Term<'f>>) -> Term<'f> {
    let all = terms.into_iter().reduce(|sum, term| sum + term);
    all.unwrap_or_else(|| unreachable!("check rule 2: a matrix has a component"))
}

fn diagonal(m: Term<'_>) -> Vec<Term<'_>> {
    let (n, parts) = (m.extents().0, m.parts());
    (0..n).map(|at| parts[at * (n + 1)]).collect()
}

// Determinants and inverses take NVIDIA Warp's steps, so that they round alike.

fn determinant<'f>(f: Formula<'f>, n: usize) -> Term<'f> {
    let m = f.arg(0).parts();
    match n {
        2 => determinant_of_two(&m),
        3 => {
            let [x, y, z] = rows_of_three(f);
            x.dot(y.cross(z))
        }
        _ => {
            let minors = minors(&m, 2);
            determinant_of_four(&m, |row| cofactor(&m, &minors, row, 0))
        }
    }
}

fn determinant_of_two<'f>(m: &[Term<'f>]) -> Term<'f> {
    m[0] * m[3] - m[2] * m[1]
}

fn rows_of_three(f: Formula<'_>) -> [Term<'_>; 3] {
    let m = f.arg(0).parts();
    std::array::from_fn(|row| f.vector(&m[row * 3..][..3]))
}

/// Sums the first column's numbers times their cofactors, the last row first.
fn determinant_of_four<'f>(m: &[Term<'f>], cofactor: impl Fn(usize) -> Term<'f>) -> Term<'f> {
    sum((0..4).rev().map(|row| m[row * 4] * cofactor(row)))
}

/// Returns the scalar in which cofactors of a matrix of four are computed: 64 bits, except for
/// narrow floats.
fn scalar_of_cofactors(m: &[Term<'_>]) -> Scalar {
    let of = m[0].scalar();
    if of == Scalar::F32 { Scalar::F64 } else { of }
}

/// Returns the determinants of two neighbouring columns of a matrix of four: of the rows 0 and 1,
/// 0 and 2, 0 and 3, 1 and 2, 1 and 3, 2 and 3.
fn minors<'f>(m: &[Term<'f>], column: usize) -> [Term<'f>; 6] {
    let minor = |(upper, lower): (usize, usize)| {
        let at = |row: usize, beside: usize| m[row * 4 + column + beside];
        determinant_of_two(&[at(upper, 0), at(upper, 1), at(lower, 0), at(lower, 1)])
            .to(scalar_of_cofactors(m))
    };
    [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)].map(minor)
}

/// Computes a cofactor of a matrix of four from the minors of the two columns beside
/// the cofactor's pair of columns. Cofactors of the first two columns are rounded.
fn cofactor<'f>(m: &[Term<'f>], minors: &[Term<'f>; 6], row: usize, col: usize) -> Term<'f> {
    let mut others = (0..4).filter(|other| *other != row);
    let [a, b, c] = std::array::from_fn(|_| others.next().unwrap_or(row));
    let product = |row: usize, upper: usize, lower: usize| {
        let minor = minors[[0, 2, 3][upper] + lower - 1];
        // The number in the pair's other column.
        m[row * 4 + (col ^ 1)].to(scalar_of_cofactors(m)) * minor
    };
    let (first, middle, last) = (product(a, b, c), product(b, a, c), product(c, a, b));
    let is_even = (row + col).is_multiple_of(2);
    let sum = if is_even { first - middle + last } else { middle - last - first };
    if col < 2 { sum.to(m[0].scalar()) } else { sum }
}

/// Divides cofactors by the determinant; gives zeros for a matrix without an inverse.
fn inverse<'f>(f: Formula<'f>, n: usize) -> Term<'f> {
    let m = f.arg(0).parts();
    let (of, zero) = (m[0].scalar(), m[0].like(0.0));
    // A determinant of NaN counts as 0, except for 3 by 3.
    let is_regular = |determinant: Term<'f>| determinant.abs().gt(determinant.like(0.0));
    let divisor = |regular: Term<'f>, determinant: Term<'f>| {
        regular.select(determinant, determinant.like(1.0))
    };
    let (regular, parts): (_, Vec<_>) = match n {
        2 => {
            let determinant = determinant_of_two(&m);
            let regular = is_regular(determinant);
            let scale = 1.0 / divisor(regular, determinant);
            (regular, [m[3], -m[1], -m[2], m[0]].map(|part| part * scale).to_vec())
        }
        3 => {
            let [x, y, z] = rows_of_three(f);
            let columns = [y.cross(z), z.cross(x), x.cross(y)];
            let determinant = x.dot(columns[0]);
            let regular = determinant.compare(CompareOp::NotEqual, zero);
            let scale = 1.0 / divisor(regular, determinant);
            let columns = columns.map(Term::parts);
            (regular, (0..9).map(|at| columns[at % 3][at / 3] * scale).collect())
        }
        _ => {
            let pairs = [minors(&m, 0), minors(&m, 2)];
            let cofactors: Vec<_> =
                (0..16).map(|at| cofactor(&m, &pairs[1 - at % 4 / 2], at / 4, at % 4)).collect();
            let determinant = determinant_of_four(&m, |row| cofactors[row * 4]);
            let regular = is_regular(determinant);
            let scale = 1.0 / divisor(regular, determinant).to(Scalar::F64);
            let part = |at: usize| cofactors[at % 4 * 4 + at / 4].to(Scalar::F64) * scale;
            (regular, (0..16).map(|at| part(at).to(of)).collect())
        }
    };
    let parts: Vec<_> = parts.into_iter().map(|part| regular.select(part, zero)).collect();
    f.result(&parts)
}
