//! Parts of variables, and atomics, that `patterns.py` lacks.

use crate::pattern::right;
use crate::write::Write;
use gbxcule_ir::builtin::Native;
use gbxcule_ir::source::Span;
use gbxcule_ir::{AtomicOp, Field, Struct, Type};

/// `o[t] = x[t]; o[t] *= x[t + 2]` reads the element that it has just stored.
#[test]
fn multiplying_an_element_that_was_just_stored() {
    right(|b| {
        let (t, two) = (b.tid(), b.i32(2));
        let (cell, other) = (b.out_place(t), b.add(t, two));
        let (x, y) = (b.x(t), b.x(other));
        b.store(cell, x);
        let old = b.load(cell);
        let new = b.mul(old, y);
        b.store(cell, new);
        let old = b.load(cell);
        let new = b.fun(Native::Sin, old);
        b.store(cell, new);
    });
}

#[test]
fn struct_fields_and_fixed_arrays() {
    right(|b| {
        let four = b.module.types.fixed(Type::F64, 12);
        let field = |name: &str, ty| Field { name: name.into(), ty, span: Span::NONE };
        let fields = vec![field("n", Type::I32), field("table", four), field("s", Type::F64)];
        let definition = Struct { name: "S".into(), fields, span: Span::NONE };
        let ty = b.module.types.define_struct(definition);
        let local = b.local("t", ty);
        let whole = b.local_place(local);
        let (table, s) = (b.field(whole, 1), b.field(whole, 2));
        b.loop_n(|b, i| {
            let (cell, x, old) = (b.at(table, i), b.x(i), b.load(s));
            let new = b.add(x, old);
            b.store(cell, new);
            let product = b.mul(new, x);
            b.store(s, product);
        });
        let copy = b.load(whole);
        let second = b.var("u", copy);
        let (table, two) = (b.field(second, 1), b.i32(2));
        let cell = b.at(table, two);
        let s = b.field(second, 2);
        let (left, right) = (b.load(cell), b.load(s));
        let product = b.mul(left, right);
        b.out(product);
    });
}

#[test]
fn atomics_that_add_and_subtract() {
    right(|b| {
        let (three, t) = (b.i32(3), b.tid());
        let cell = b.out_place(three);
        b.loop_n(|b, i| {
            let (x, y) = (b.x(i), b.x(t));
            let product = b.mul(x, y);
            b.atomic(AtomicOp::Add, cell, product);
            b.atomic(AtomicOp::Subtract, cell, x);
        });
    });
}

#[test]
fn atomic_extremes() {
    for op in [AtomicOp::Max, AtomicOp::Min] {
        right(|b| {
            let three = b.i32(3);
            let cell = b.out_place(three);
            b.loop_n(|b, i| {
                let (x, t) = (b.x(i), b.tid());
                let y = b.x(t);
                let product = b.mul(x, y);
                b.atomic(op, cell, product);
            });
        });
    }
}
