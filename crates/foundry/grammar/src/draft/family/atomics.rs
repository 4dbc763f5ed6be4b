//! Scattered writes: histograms, sums by key, extremes by group, edges that add to both ends.

use crate::ast::{Expr, INT, Stmt, Ty, VEC3};
use crate::draft::KernelBuilder;
use crate::input::ArgumentInput;
use gbxcule_ir::Scalar;

pub(super) fn build(m: &mut KernelBuilder) {
    m.launch(1);
    let float = m.float_type();
    let ty = if m.real() == Scalar::F32 && m.random().chance(20) { VEC3 } else { float };
    m.input(ty);
    if m.random().chance(50) {
        m.input(float);
    }
    if m.random().chance(30) {
        m.value(float);
    }
    let bins = m.random().between(3, 6) as u32;
    match m.random().weighted([4, 3, 2, 2]) {
        0 => by_key(m, ty, bins),
        1 => ends(m, ty, bins),
        2 => histogram(m, bins),
        _ => groups(m, ty),
    }
}

fn keys(m: &mut KernelBuilder, bins: u32) -> Expr {
    let shape = m.dims();
    let keys =
        m.side_input(INT, shape.clone(), ArgumentInput::integers(shape, 0, i64::from(bins) - 1));
    Expr::from(&keys).index(m.here())
}

fn add(m: &mut KernelBuilder, out: &Expr, at: Expr, value: Expr, ty: Ty) {
    let scalar = matches!(ty, Ty::Scalar(_));
    let word =
        m.random().pick(&["+=", "atomic_add", "-=", "atomic_sub", "atomic_max", "atomic_min"]);
    let stmt = match word {
        "+=" => Stmt::Augment(out.clone().index(vec![at]), "+", value),
        "-=" => Stmt::Augment(out.clone().index(vec![at]), "-", value),
        word if !scalar && word != "atomic_sub" => {
            Stmt::Do(Expr::wp("atomic_add", vec![out.clone(), at, value]))
        }
        word => Stmt::Do(Expr::wp(word, vec![out.clone(), at, value])),
    };
    m.push(stmt);
}

/// Adds up values by a key.
fn by_key(m: &mut KernelBuilder, ty: Ty, bins: u32) {
    let at = keys(m, bins);
    let float = m.float_type();
    m.bindings(&[float, ty], 2);
    let out = Expr::from(&m.output(ty, vec![bins]));
    let key = m.name_from(&["key", "bin", "cell", "owner", "cluster"]);
    m.push(Stmt::Assign(vec![Expr::from(&key)], at));
    let guarded = m.random().chance(35);
    let condition = if guarded { Some(m.truth(2)) } else { None };
    let value = m.closing(ty);
    let body = m.block(|m| add(m, &out, Expr::from(&key), value, ty));
    match condition {
        Some(condition) => m.push(Stmt::If(vec![(condition, body)], vec![])),
        None => body.into_iter().for_each(|stmt| m.push(stmt)),
    }
}

/// Adds an edge's value to the node at one end, and subtracts it from the node at the other.
fn ends(m: &mut KernelBuilder, ty: Ty, nodes: u32) {
    let (first, second) = (keys(m, nodes), keys(m, nodes));
    let (a, b) = (
        m.name_from(&["a", "p", "src_node", "left"]),
        m.name_from(&["b", "q", "dst_node", "right"]),
    );
    m.push(Stmt::Assign(vec![Expr::from(&a)], first));
    m.push(Stmt::Assign(vec![Expr::from(&b)], second));
    let nodes_in = m.side_table(ty, vec![nodes]);
    let delta = Expr::from(&nodes_in)
        .index(vec![Expr::from(&a)])
        .sub(Expr::from(&nodes_in).index(vec![Expr::from(&b)]));
    m.define(ty, delta);
    let out = Expr::from(&m.output(ty, vec![nodes]));
    let value = m.closing(ty);
    let flow = m.define(ty, value);
    m.push(Stmt::Do(Expr::wp("atomic_add", vec![out.clone(), Expr::from(&a), Expr::from(&flow)])));
    let real = m.real();
    let half = m.some_float(real);
    m.push(Stmt::Do(Expr::wp(
        "atomic_sub",
        vec![out, Expr::from(&b), Expr::from(&flow).mul(half)],
    )));
}

/// Writes a histogram: a count of the values that fall into each bin.
fn histogram(m: &mut KernelBuilder, bins: u32) {
    let float = m.float_type();
    let counts = Expr::from(&m.output(INT, vec![bins]));
    let value = m.closing(float);
    let scale = m.random().pick(&[1.0, 2.0, 1.5]);
    let real = m.real();
    let (scale, middle) = (m.literal(real, scale), m.literal(real, f64::from(bins) * 0.5));
    let slot = m.name_from(&["bin", "slot", "bucket"]);
    let position = m.convert(Expr::wp("floor", vec![value.mul(scale).add(middle)]), Scalar::I32);
    let inside = Expr::wp("clamp", vec![position, Expr::Int(0), Expr::Int(i64::from(bins) - 1)]);
    m.push(Stmt::Assign(vec![Expr::from(&slot)], inside));
    let one = Expr::Int(m.random().between(1, 2));
    m.push(Stmt::Do(Expr::wp("atomic_add", vec![counts, Expr::from(&slot), one])));
}

/// Adds the values of neighbouring threads into one element.
fn groups(m: &mut KernelBuilder, ty: Ty) {
    let float = m.float_type();
    m.bindings(&[float, ty], 2);
    let size = m.random().between(2, 4);
    let count = (i64::from(m.dims()[0]) + size - 1) / size;
    let out = Expr::from(&m.output(ty, vec![count as u32]));
    let value = m.closing(ty);
    let at = Expr::binary(m.index(0), "//", Expr::Int(size));
    add(m, &out, at, value, ty);
}
