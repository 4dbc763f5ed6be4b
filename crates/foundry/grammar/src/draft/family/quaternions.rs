//! Rotations: quaternions composed, inverted, blended, applied to vectors.

use crate::ast::{FLOAT, Ty, VEC3};
use crate::draft::KernelBuilder;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    m.set_real(Scalar::F32);
    m.launch(1);
    for _ in 0..m.random().between(1, 2) {
        m.input(Ty::Quat);
    }
    m.input(VEC3);
    if m.random().chance(50) {
        m.input(FLOAT);
    }
    if m.random().chance(35) {
        m.value(FLOAT);
    }
    m.bindings(&[Ty::Quat, VEC3, Ty::Quat, FLOAT], 3);
    if m.random().chance(12) {
        m.branch(Ty::Quat);
    }
    let ty = m.random().pick(&[Ty::Quat, VEC3, VEC3, Ty::Quat, FLOAT]);
    m.store(ty);
    if m.random().chance(15) {
        m.store(VEC3);
    }
}
