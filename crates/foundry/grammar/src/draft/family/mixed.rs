//! Several of everything: functions, branches and loops over vectors, matrices and numbers.

use crate::ast::{INT, MAT22, MAT33, Ty, VEC2, VEC3, VEC4};
use crate::draft::KernelBuilder;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    let float = m.float_type();
    let narrow = m.real() == Scalar::F32;
    let composites: &[Ty] = if narrow { &[VEC3, VEC2, VEC4, MAT33, MAT22, Ty::Quat] } else { &[] };
    let mut types = vec![float, float];
    for _ in 0..2 {
        if !composites.is_empty() {
            types.push(m.random().pick(composites));
        }
    }
    if m.random().chance(75) {
        let params: Vec<Ty> =
            (0..m.random().between(1, 3)).map(|_| m.random().pick(&types)).collect();
        let result = m.random().pick(&types);
        let second = m.random().pick(&types);
        let results = [result, second];
        let several = if m.random().chance(20) { 2 } else { 1 };
        m.function(&params, &results[..several]);
    }
    m.launch(1);
    m.input(float);
    let mut inputs = types.clone();
    inputs.dedup();
    for ty in inputs.into_iter().skip(1) {
        m.input(ty);
    }
    if m.random().chance(35) {
        m.input(INT);
    }
    if m.random().chance(50) {
        m.value(float);
    }
    m.bindings(&types, 2);
    m.call_all();
    for _ in 0..m.random().between(1, 4) {
        match m.random().weighted([5, 4, 2, 2]) {
            0 => m.branch(float),
            1 => _ = m.gather(float),
            2 => _ = m.while_until_small(),
            _ => {
                let ty = m.random().pick(&types);
                if ty == float { m.branch(ty) } else { m.bindings(&[ty], 1) }
            }
        }
        if m.random().chance(40) {
            m.bindings(&types, 1);
        }
    }
    let ty = m.random().pick(&types);
    m.store(ty);
    if m.random().chance(20) {
        m.store(float);
    }
}
