//! Matrices, row-major. Products are in [`super::operator`].

use super::formula::{Formula, Term, formula};
use super::{BuiltinRow, Derivative, Dim, Domain, Pattern, body, row_of};
use crate::op::CompareOp;
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
        body(Float, &["m"], &[square(2)], T, |b| formula(b, |f| minor(&f.arg(0).parts(), 2))),
        body(Float, &["m"], &[square(3)], T, |b| formula(b, |f| minor(&f.arg(0).parts(), 3))),
        body(Float, &["m"], &[square(4)], T, |b| formula(b, |f| minor(&f.arg(0).parts(), 4))),
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

/// Computes the determinant of a square of components, along its first row.
fn minor<'f>(m: &[Term<'f>], n: usize) -> Term<'f> {
    match n {
        1 => m[0],
        2 => m[0] * m[3] - m[2] * m[1],
        _ => {
            let terms =
                (0..n).map(|col| m[col] * minor(&submatrix(m, n, 0, col), n - 1)).enumerate();
            let all = terms.reduce(|(_, sum), (col, term)| {
                (col, if col % 2 == 0 { sum + term } else { sum - term })
            });
            all.map_or(m[0], |(_, sum)| sum)
        }
    }
}

/// Returns all elements of a square matrix except those of one row and one column.
fn submatrix<'f>(m: &[Term<'f>], n: usize, row: usize, col: usize) -> Vec<Term<'f>> {
    (0..n * n).filter(|at| at / n != row && at % n != col).map(|at| m[at]).collect()
}

/// Divides cofactors by the determinant.
fn inverse(f: Formula<'_>, n: usize) -> Term<'_> {
    let m = f.arg(0).parts();
    let determinant = f.call("determinant", &[f.arg(0)]);
    let (zero, one) = (determinant.like(0.0), determinant.like(1.0));
    // NVIDIA Warp's inverse for a determinant of NaN depends on the size: zeros, except for 3 by 3.
    let regular = if n == 3 {
        determinant.compare(CompareOp::NotEqual, zero)
    } else {
        determinant.abs().gt(zero)
    };
    let scale = one / regular.select(determinant, one);
    let parts: Vec<_> = (0..n * n)
        .map(|position| {
            let (row, col) = (position % n, position / n);
            let cofactor = minor(&submatrix(&m, n, row, col), n - 1);
            let cofactor = if (row + col) % 2 == 0 { cofactor } else { -cofactor };
            regular.select(cofactor * scale, zero)
        })
        .collect();
    f.result(&parts)
}
