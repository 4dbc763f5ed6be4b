//! Neighbours on a line or grid, with clamped, wrapped or skipped borders.

use crate::ast::{Expr, Name, Stmt, Ty, VEC3};
use crate::draft::KernelBuilder;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    let dims = m.random().pick(&[1, 1, 2, 2, 3]);
    m.launch(dims);
    let ty = if m.real() == Scalar::F32 && m.random().chance(15) { VEC3 } else { m.float_type() };
    let field = m.side_table_here(ty);
    let float = m.float_type();
    if m.random().chance(50) {
        m.value(float);
    }
    if m.random().chance(40) {
        m.input(float);
    }
    let skips = m.random().chance(35);
    if skips {
        inner(m, &field, ty);
    } else {
        let wraps = m.random().chance(40);
        neighbours(m, &field, ty, if wraps { Border::Wrapped } else { Border::Clamped });
        m.bindings(&[float, ty], 1);
        m.store(ty);
    }
}

#[derive(Clone, Copy, PartialEq)]
enum Border {
    Clamped,
    Wrapped,
    Skipped,
}

fn extent(field: &Name, dim: usize) -> Expr {
    Expr::from(field).attr("shape").index(vec![Expr::Int(dim as i64)])
}

/// Returns the index `by` steps from the launch index along a dimension.
fn beside(m: &KernelBuilder, field: &Name, dim: usize, by: i64, border: Border) -> Expr {
    let at = m.index(dim);
    let step = Expr::Int(by.abs());
    let moved = if by < 0 { at.clone().sub(step) } else { at.clone().add(step) };
    let n = extent(field, dim);
    match border {
        Border::Skipped => moved,
        Border::Clamped if by < 0 => Expr::wp("max", vec![moved, Expr::Int(0)]),
        Border::Clamped => Expr::wp("min", vec![moved, n.sub(Expr::Int(1))]),
        Border::Wrapped if by < 0 => Expr::binary(at.add(n.clone()).sub(Expr::Int(-by)), "%", n),
        Border::Wrapped => Expr::binary(moved, "%", n),
    }
}

/// Defines variables for the thread's element and those around it, all still to be read.
fn neighbours(m: &mut KernelBuilder, field: &Name, ty: Ty, border: Border) {
    let reach = if border != Border::Skipped && m.random().chance(20) { 2 } else { 1 };
    let dims = m.dims().len();
    let names = [["left", "right"], ["below", "above"], ["back", "front"]];
    let mut steps: Vec<(usize, i64)> = (0..dims).flat_map(|dim| [(dim, -1), (dim, 1)]).collect();
    if steps.len() > 2 && m.random().chance(30) {
        steps.remove(m.random().below(steps.len()));
    }
    if m.random().chance(75) {
        let here = Expr::from(field).index(m.here());
        let name = m.name_from(&["center", "mid", "here", "c"]);
        m.define_as(name, ty, here);
    }
    for (dim, way) in steps {
        let mut at = m.here();
        at[dim] = beside(m, field, dim, way * reach, border);
        let element = Expr::from(field).index(at);
        let name = m.name_from(&[names[dim][usize::from(way > 0)]]);
        m.define_as(name, ty, element);
    }
}

/// Writes a condition that holds only at points with all neighbours.
fn inner(m: &mut KernelBuilder, field: &Name, ty: Ty) {
    let mut condition: Option<Expr> = None;
    for dim in 0..m.dims().len() {
        let at = m.index(dim);
        let low = Expr::binary(at.clone(), ">", Expr::Int(0));
        let high = Expr::binary(at, "<", extent(field, dim).sub(Expr::Int(1)));
        let both = Expr::binary(low, "and", high);
        condition = Some(match condition {
            Some(before) => Expr::binary(before, "and", both),
            None => both,
        });
    }
    // Each dimension needs a point that has neighbours on both sides.
    let shape = m.widen(3);
    let out = m.output(ty, shape);
    let at = m.here();
    let body = m.block(|m| {
        neighbours(m, field, ty, Border::Skipped);
        let value = m.closing(ty);
        m.push(Stmt::Assign(vec![Expr::from(&out).index(at)], value));
    });
    if let Some(condition) = condition {
        m.push(Stmt::If(vec![(condition, body)], vec![]));
    }
}
