//! Sums, products and quotients of array elements and parameters, in floats of every width.

use crate::draft::KernelBuilder;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    if m.random().chance(20) {
        m.set_real(Scalar::F16);
    }
    let dims = if m.random().chance(80) { 1 } else { 2 };
    m.launch(dims);
    let float = m.float_type();
    for _ in 0..m.random().between(1, 3) {
        m.input(float);
    }
    for _ in 0..m.random().between(0, 2) {
        m.value(float);
    }
    m.bindings(&[float], 3);
    m.store(float);
    if m.random().chance(20) {
        m.store(float);
    }
}
