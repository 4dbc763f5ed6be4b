//! Vectors of two to four floats: products, lengths, components, rows of them.

use crate::ast::Ty;
use crate::draft::KernelBuilder;

pub(super) fn build(m: &mut KernelBuilder) {
    m.launch(1);
    let (float, of) = (m.float_type(), m.real());
    let len = m.random().pick(&[2, 3, 3, 3, 4]);
    let vector = Ty::Vec(len, of);
    for _ in 0..m.random().between(1, 3) {
        m.input(vector);
    }
    if m.random().chance(60) {
        m.input(float);
    }
    if m.random().chance(40) {
        m.value(vector);
    }
    if m.random().chance(40) {
        m.value(float);
    }
    m.bindings(&[vector, float, vector], 3);
    if m.random().chance(20) {
        m.branch(vector);
    }
    if m.random().chance(12) {
        m.gather(vector);
    }
    let ty = if m.random().chance(65) { vector } else { float };
    m.store(ty);
    if m.random().chance(20) {
        m.store(float);
    }
}
