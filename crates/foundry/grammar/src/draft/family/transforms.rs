//! Rigid transformations: poses composed, inverted, applied to points and directions.

use crate::ast::{FLOAT, Ty, VEC3};
use crate::draft::KernelBuilder;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    m.set_real(Scalar::F32);
    m.launch(1);
    for _ in 0..m.random().between(1, 2) {
        m.input(Ty::Transform);
    }
    m.input(VEC3);
    if m.random().chance(30) {
        m.input(Ty::Quat);
    }
    if m.random().chance(35) {
        m.value(FLOAT);
    }
    m.bindings(&[Ty::Transform, VEC3, Ty::Quat, VEC3, FLOAT], 3);
    if m.random().chance(10) {
        m.branch(VEC3);
    }
    let ty = m.random().pick(&[Ty::Transform, VEC3, VEC3, Ty::Quat, FLOAT]);
    m.store(ty);
}
