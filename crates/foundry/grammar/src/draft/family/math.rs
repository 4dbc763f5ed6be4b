//! Transcendental functions, and typical formulas of them: responses, profiles, waves.

use crate::draft::KernelBuilder;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    if m.random().chance(10) {
        m.set_real(Scalar::F16);
    }
    m.launch(1);
    let float = m.float_type();
    for _ in 0..m.random().between(1, 3) {
        m.input(float);
    }
    for _ in 0..m.random().between(0, 2) {
        m.value(float);
    }
    let depth = m.random().between(2, 4) as usize;
    m.set_depth(depth);
    m.bindings(&[float], 3);
    m.store(float);
    if m.random().chance(25) {
        m.store(float);
    }
}
