//! Matrices.

use super::{Derivative, Dim, Domain, Pattern, Row, body, row_of};
use crate::ir::build::Builder;
use crate::ir::op::Value;
use crate::ir::ty::Shape;
use Derivative::Through;
use Domain::Number;

const fn matrix(rows: Dim, cols: Dim) -> Pattern {
    Pattern::Matrix(rows, cols)
}

#[rustfmt::skip]
pub(super) static ROWS: &[Row] = &[
    row_of("mul", &[
        body(Number, &["a", "b"], &[matrix(Dim::N, Dim::M), matrix(Dim::M, Dim::K)], matrix(Dim::N, Dim::K), product),
        body(Number, &["a", "b"], &[matrix(Dim::N, Dim::M), Pattern::Vector(Dim::M)], Pattern::Vector(Dim::N), product),
        body(Number, &["a", "b"], &[Pattern::Vector(Dim::N), matrix(Dim::N, Dim::M)], Pattern::Vector(Dim::M), product),
    ], Through, "The product of matrices, or of a matrix and a vector."),
    row_of("transpose", &[body(Number, &["a"], &[matrix(Dim::N, Dim::M)], matrix(Dim::M, Dim::N), |b| {
        let a = b.arg(0);
        let ((rows, cols), result) = (extents(b, a, false), b.function().result);
        let parts = b.parts(a);
        let turned: Vec<Value> = (0..cols).flat_map(|c| (0..rows).map(move |r| (r, c))).map(|(r, c)| parts[r * cols + c]).collect();
        Some(b.construct(result, &turned))
    })], Through, "Rows become columns."),
];

/// Rows and columns; a vector on the left of a product is a row, on the right a column.
fn extents(b: &Builder<'_>, value: Value, left: bool) -> (usize, usize) {
    match b.module.types[b.body().type_of(value)] {
        Shape::Matrix { rows, cols, .. } => (usize::from(rows), usize::from(cols)),
        Shape::Vector { len, .. } if left => (1, usize::from(len)),
        Shape::Vector { len, .. } => (usize::from(len), 1),
        _ => (1, 1),
    }
}

fn product(b: &mut Builder<'_>) -> Option<Value> {
    let (left, right) = (b.arg(0), b.arg(1));
    let ((rows, inner), (_, cols)) = (extents(b, left, true), extents(b, right, false));
    let result = b.function().result;
    let (p, q) = (b.parts(left), b.parts(right));
    let mut parts = Vec::with_capacity(rows * cols);
    for (r, c) in (0..rows).flat_map(|r| (0..cols).map(move |c| (r, c))) {
        let mut sum = b.mul(p[r * inner], q[c]);
        for k in 1..inner {
            let term = b.mul(p[r * inner + k], q[k * cols + c]);
            sum = b.add(sum, term);
        }
        parts.push(sum);
    }
    Some(b.assemble(result, &parts))
}
