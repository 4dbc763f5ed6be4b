//! Arrays of two to four dimensions: grids, transposes, products of matrices in arrays, broadcast
//! rows and columns.

use crate::ast::{Expr, INT, Name, Stmt, Ty, VEC2, VEC3};
use crate::draft::KernelBuilder;
use crate::input::ArgumentInput;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    let dims = m.random().pick(&[2, 2, 2, 3, 4]);
    m.launch(dims);
    let float = m.float_type();
    let ty = if m.real() == Scalar::F32 && m.random().chance(20) {
        m.random().pick(&[VEC3, VEC2])
    } else {
        float
    };
    match m.random().weighted([4, if dims == 2 { 3 } else { 0 }, 2]) {
        0 => beside(m, ty),
        1 => product(m, ty),
        _ => turned(m, ty),
    }
    m.bindings(&[float], 1);
    if m.random().chance(25) {
        m.branch(float);
    }
    m.store(ty);
}

/// Reads arrays of as many dimensions as the grid, and arrays of fewer.
fn beside(m: &mut KernelBuilder, ty: Ty) {
    let float = m.float_type();
    m.input(ty);
    if m.random().chance(50) {
        m.input(float);
    }
    let dims = m.dims();
    let dim = m.random().below(dims.len());
    let line: Name = m.side_table(float, vec![dims[dim]]);
    let element = Expr::from(&line).index(vec![m.index(dim)]);
    m.reveal(element, float);
    if m.random().chance(40) {
        m.value(float);
    }
    if m.random().chance(30) {
        let at = m.random().below(dims.len());
        let index = m.index(at);
        m.reveal(index, INT);
    }
}

/// Multiplies a row of one array by a column of another.
fn product(m: &mut KernelBuilder, ty: Ty) {
    let inner = m.random().between(3, 6) as u32;
    let float = m.float_type();
    let dims = m.dims();
    let left = m.side_table(ty, vec![dims[0], inner]);
    let right = m.side_table(float, vec![inner, dims[1]]);
    let total = m.accumulator(ty, 0.0);
    let at = m.name_from(&["k", "inner", "m"]);
    let (row, col) = (m.index(0), m.index(1));
    let body = m.block(|m| {
        let since = m.next_var();
        let first = Expr::from(&left).index(vec![row, Expr::from(&at)]);
        let second = Expr::from(&right).index(vec![Expr::from(&at), col]);
        let terms = first.mul(second);
        m.reveal(terms, ty);
        m.offer(&at, INT);
        m.write_update(&total, ty, false, since);
    });
    let extent = Expr::from(&left).attr("shape").index(vec![Expr::Int(1)]);
    m.push(Stmt::For(at, vec![extent], body));
    m.reveal(&total, ty);
    if m.random().chance(30) {
        m.value(float);
    }
}

/// Reads an array whose dimensions come in another order than the grid's.
fn turned(m: &mut KernelBuilder, ty: Ty) {
    let shape: Vec<u32> = m.dims().iter().rev().copied().collect();
    let given = ArgumentInput::spread(m.random(), shape.clone());
    let name = m.side_input(ty, shape, given);
    let at = m.here().into_iter().rev().collect();
    m.reveal(Expr::from(&name).index(at), ty);
    let other = m.float_type();
    let shape = m.dims();
    let name = m.side_table(other, shape.clone());
    m.reveal_array(&name, other, shape);
}
