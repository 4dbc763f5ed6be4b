//! Small matrices: products, inverses, rows and columns, matrices of vectors.

use crate::ast::Ty;
use crate::draft::KernelBuilder;

pub(super) fn build(m: &mut KernelBuilder) {
    m.launch(1);
    let (float, of) = (m.float_type(), m.real());
    let n = m.random().pick(&[2, 2, 3, 3, 4]);
    let (matrix, vector) = (Ty::Mat(n, n, of), Ty::Vec(n, of));
    for _ in 0..m.random().between(1, 2) {
        m.input(matrix);
    }
    if m.random().chance(65) {
        m.input(vector);
    }
    if m.random().chance(40) {
        let ty = if m.random().chance(50) { matrix } else { float };
        m.value(ty);
    }
    if m.random().chance(30) {
        m.input(float);
    }
    m.bindings(&[matrix, vector, matrix, float], 3);
    if m.random().chance(12) {
        m.gather(matrix);
    }
    let ty = m.random().pick(&[matrix, matrix, vector, float]);
    m.store(ty);
}
