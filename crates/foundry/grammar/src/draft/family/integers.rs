//! Integers of all widths: bits, remainders, hashes, digit loops, counters.

use crate::ast::{Expr, Name, Stmt, Ty};
use crate::draft::KernelBuilder;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    let of = m.random().pick(&[
        Scalar::I32,
        Scalar::I32,
        Scalar::I32,
        Scalar::U32,
        Scalar::U32,
        Scalar::I64,
        Scalar::U64,
        Scalar::I16,
        Scalar::U8,
        Scalar::U16,
        Scalar::I8,
    ]);
    let ty = Ty::Scalar(of);
    m.launch(1);
    for _ in 0..m.random().between(1, 3) {
        m.input(ty);
    }
    if m.random().chance(50) {
        m.value(ty);
    }
    m.bindings(&[ty], 2);
    match m.random().weighted([3, 3, 3, 2]) {
        0 => {}
        1 => m.branch(ty),
        2 => _ = m.gather(ty),
        _ => digits(m, of),
    }
    m.store(ty);
}

/// Writes a loop that splits a number into digits or bits, the lowest first.
fn digits(m: &mut KernelBuilder, of: Scalar) {
    let ty = Ty::Scalar(of);
    let start = m.integer(of, 1);
    // Signed numbers lose their sign, because a loop that shifts a negative number never reaches 0.
    let mask = m.literal(of, 127.0);
    let rest: Name = m.name_from(&["rest", "remaining", "bits", "left_over"]);
    m.push(Stmt::Assign(vec![Expr::from(&rest)], Expr::binary(start, "&", mask)));
    let total = m.accumulator(ty, 0.0);
    let by = m.random().pick(&[2, 3, 10]);
    let (by, zero) = (m.literal(of, f64::from(by)), m.literal(of, 0.0));
    let place = Expr::from(&rest);
    let body = m.block(|m| {
        let since = m.next_var();
        let digit = m.name_from(&["digit", "low", "bit"]);
        m.push(Stmt::Assign(
            vec![Expr::from(&digit)],
            Expr::binary(place.clone(), "%", by.clone()),
        ));
        m.reveal(&digit, ty);
        let value = m.local_expr(ty, 1, since);
        let op = m.random().pick(&["+", "^"]);
        let total = Expr::from(&total);
        m.push(Stmt::Assign(vec![total.clone()], Expr::binary(total, op, value)));
        m.push(Stmt::Assign(vec![place.clone()], Expr::binary(place.clone(), "//", by.clone())));
    });
    m.push(Stmt::While(Expr::binary(place, ">", zero), body));
    m.reveal(&total, ty);
}
