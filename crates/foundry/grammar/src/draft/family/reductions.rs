//! Sums, extremes and products over rows, windows and whole arrays.

use crate::ast::{Expr, INT, Name, Stmt, Ty, VEC3};
use crate::draft::KernelBuilder;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    m.launch(1);
    let ty = if m.real() == Scalar::F32 && m.random().chance(15) { VEC3 } else { m.float_type() };
    match m.random().weighted([4, 3, 3]) {
        0 => rows(m, ty),
        1 => whole(m, ty),
        _ => windows(m, ty),
    }
}

/// Reduces each row in a thread.
fn rows(m: &mut KernelBuilder, ty: Ty) {
    let float = m.float_type();
    if m.random().chance(50) {
        m.input(float);
    }
    let length = m.random().between(3, 8) as u32;
    let threads = m.dims()[0];
    let table = m.side_table(ty, vec![threads, length]);
    let weights = m.random().chance(50).then(|| m.side_table(float, vec![length]));
    let total = m.accumulator(ty, 0.0);
    let at = m.name_from(&["k", "j", "col", "c"]);
    let row = m.index(0);
    let element = Expr::from(&table).index(vec![row, Expr::from(&at)]);
    let body = m.block(|m| {
        let since = m.next_var();
        pend(m, element, ty);
        if let Some(weights) = &weights {
            pend(m, Expr::from(weights).index(vec![Expr::from(&at)]), float);
        }
        m.write_update(&total, ty, false, since);
    });
    let extent = Expr::from(&table).attr("shape").index(vec![Expr::Int(1)]);
    m.push(Stmt::For(at, vec![extent], body));
    m.reveal(&total, ty);
    if m.random().chance(30) {
        m.branch(float);
    }
    let ty = if m.random().chance(70) { ty } else { float };
    m.store(ty);
}

fn pend(m: &mut KernelBuilder, expr: Expr, ty: Ty) {
    m.reveal(expr, ty);
}

/// Reduces the elements of all threads to one number.
fn whole(m: &mut KernelBuilder, ty: Ty) {
    let float = m.float_type();
    m.input(ty);
    if m.random().chance(50) {
        m.input(float);
    }
    if m.random().chance(40) {
        m.value(float);
    }
    m.bindings(&[float, ty], 2);
    let out = m.output(float, vec![1]);
    let word = m.random().pick(&["atomic_add", "atomic_add", "atomic_max", "atomic_min"]);
    let value = m.closing(float);
    m.push(Stmt::Do(Expr::wp(word, vec![Expr::from(&out), Expr::Int(0), value])));
}

/// Reduces the elements around each thread's element, or the elements before it.
fn windows(m: &mut KernelBuilder, ty: Ty) {
    let float = m.float_type();
    let source: Name = m.side_table_here(ty);
    if m.random().chance(40) {
        m.input(float);
    }
    let total = m.accumulator(ty, 0.0);
    let (at, here) = (m.name_from(&["k", "j", "s", "o"]), m.index(0));
    let n = Expr::from(&source).attr("shape").index(vec![Expr::Int(0)]);
    let radius = m.random().between(1, 3);
    let (range, place) = match m.random().below(3) {
        0 => (vec![here.clone().add(Expr::Int(1))], Expr::from(&at)),
        1 => {
            let low = Expr::wp("max", vec![here.clone().sub(Expr::Int(radius)), Expr::Int(0)]);
            let high = Expr::wp("min", vec![here.clone().add(Expr::Int(radius + 1)), n]);
            (vec![low, high], Expr::from(&at))
        }
        _ => {
            let wrapped = Expr::binary(here.clone().add(Expr::from(&at)), "%", n);
            (vec![Expr::Int(2 * radius + 1)], wrapped)
        }
    };
    let element = Expr::from(&source).index(vec![place]);
    let body = m.block(|m| {
        let since = m.next_var();
        pend(m, element, ty);
        m.offer(&at, INT);
        m.write_update(&total, ty, false, since);
    });
    m.push(Stmt::For(at, range, body));
    m.reveal(&total, ty);
    let ty = if m.random().chance(70) { ty } else { float };
    m.store(ty);
}
