//! Branches on data: arms that change variables, selections, early ends of a thread.

use crate::ast::{Expr, INT, Stmt, VEC2, VEC3};
use crate::draft::KernelBuilder;

pub(super) fn build(m: &mut KernelBuilder) {
    m.launch(1);
    let float = m.float_type();
    let ty = if m.real() == gbxcule_ir::Scalar::F32 && m.random().chance(20) {
        m.random().pick(&[VEC2, VEC3])
    } else {
        float
    };
    m.input(ty);
    for _ in 0..m.random().between(1, 2) {
        m.input(float);
    }
    if m.random().chance(40) {
        m.input(INT);
    }
    for _ in 0..m.random().between(0, 2) {
        m.value(float);
    }
    if m.random().chance(20) {
        leave_early(m);
    }
    for _ in 0..m.random().between(1, 2) {
        m.bindings(&[float], 1);
        m.branch(ty);
    }
    m.store(ty);
}

/// Writes `if condition: return`. The stores before it keep their effect.
fn leave_early(m: &mut KernelBuilder) {
    let float = m.float_type();
    let shape = m.dims();
    let kept = m.output(float, shape);
    let value = m.expr(float, 1);
    let at = m.here();
    let condition = m.truth(1);
    let body = m.block(|m| {
        m.push(Stmt::Assign(vec![Expr::from(&kept).index(at)], value));
        m.push(Stmt::Return(vec![]));
    });
    m.push(Stmt::If(vec![(condition, body)], vec![]));
}
