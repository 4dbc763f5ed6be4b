//! Functions: one or several, that call each other, with early returns, loops of their own, several
//! results.

use crate::ast::{Ty, VEC2, VEC3};
use crate::draft::KernelBuilder;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    let float = m.float_type();
    let vectors = m.real() == Scalar::F32 && m.random().chance(45);
    let types: Vec<Ty> = if vectors { vec![float, VEC3, VEC2, float] } else { vec![float] };
    for _ in 0..m.random().between(1, 3) {
        let result = m.random().pick(&types);
        let params: Vec<Ty> =
            (0..m.random().between(1, 3)).map(|_| m.random().pick(&types)).collect();
        let several = m.random().chance(30);
        let more = if several { m.random().between(1, 2) } else { 0 };
        let more = (0..more).map(|_| m.random().pick(&types)).collect::<Vec<_>>();
        m.function(&params, &[&[result], more.as_slice()].concat());
    }
    m.launch(1);
    for _ in 0..m.random().between(1, 2) {
        m.input(float);
    }
    if vectors {
        let ty = if m.random().chance(70) { VEC3 } else { VEC2 };
        m.input(ty);
    }
    if m.random().chance(40) {
        m.value(float);
    }
    m.bindings(&types, 1);
    m.call_all();
    if m.random().chance(25) {
        m.gather(float);
    }
    let ty = m.random().pick(&types);
    m.store(ty);
}
