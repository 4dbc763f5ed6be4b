//! Loops over counts, tables and rows, loops that end by a condition, and nested loops.

use crate::ast::{Expr, INT, Stmt, VEC3};
use crate::draft::KernelBuilder;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    m.launch(1);
    let float = m.float_type();
    m.input(float);
    if m.random().chance(40) {
        m.input(float);
    }
    if m.random().chance(40) {
        m.value(float);
    }
    m.bindings(&[float], 1);
    let ty = if m.real() == Scalar::F32 && m.random().chance(15) { VEC3 } else { float };
    for _ in 0..m.random().between(1, 2) {
        match m.random().weighted([6, 2, 4]) {
            0 => _ = m.gather(ty),
            1 => _ = m.while_until_small(),
            _ => nested(m),
        }
    }
    if m.random().chance(25) {
        m.branch(float);
    }
    m.store(ty);
}

/// Writes a loop in a loop; the outer index decides how often the inner loop runs.
fn nested(m: &mut KernelBuilder) {
    let float = m.float_type();
    let total = m.accumulator(float, 0.0);
    let (outer, inner) =
        (m.name_from(&["a", "p", "u", "r", "outer"]), m.name_from(&["b", "q", "v", "s", "inner"]));
    let count = m.count(2, 5);
    let by_outer = m.random().chance(50);
    let most = m.random().between(2, 4);
    let body = m.block(|m| {
        m.reveal(&outer, INT);
        let partial = m.accumulator(float, 0.0);
        let body = m.block(|m| {
            let since = m.next_var();
            m.reveal(&inner, INT);
            let value = m.local_expr(float, 2, since);
            m.push(Stmt::Augment(Expr::from(&partial), "+", value));
        });
        let end = if by_outer { Expr::from(&outer).add(Expr::Int(1)) } else { Expr::Int(most) };
        m.push(Stmt::For(inner, vec![end], body));
        let since = m.next_var();
        m.reveal(&partial, float);
        let value = m.local_expr(float, 1, since.saturating_sub(1));
        m.push(Stmt::Augment(Expr::from(&total), "+", value));
    });
    m.push(Stmt::For(outer, vec![Expr::from(&count)], body));
    m.reveal(&total, float);
}
