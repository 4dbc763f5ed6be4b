//! Memory and parts of variables: elements, components, fields, atomics; and what is refused.

use crate::pattern::{refused, right};
use crate::write::Write;
use gbxcule_kernel::ir::builtin::Native;
use gbxcule_kernel::ir::{AtomicOp, BinaryOp, Builder, Field, PlaceId, Scalar, Struct, Type};
use gbxcule_kernel::source::Span;

/// `y = x[i]; x[i] = y * y`: what was read is gone.
#[test]
fn writing_an_element_that_was_read_and_is_needed_is_refused() {
    let message = refused(|b| {
        let t = b.tid();
        let array = b.param_place(0);
        let cell = b.element(array, &[t]);
        let old = b.load(cell);
        let square = b.mul(old, old);
        b.store(cell, square);
    });
    assert!(message.contains("overwritten"), "{message}");
}

/// `x[i] = 3 * x[i] + 1`: nothing that is gone is needed.
#[test]
fn writing_an_element_that_was_read_but_is_not_needed() {
    right(|b| {
        let (t, three, one) = (b.tid(), b.real(3.0), b.real(1.0));
        let array = b.param_place(0);
        let cell = b.element(array, &[t]);
        let old = b.load(cell);
        let scaled = b.mul(old, three);
        let new = b.add(scaled, one);
        b.store(cell, new);
    });
}

#[test]
fn multiplying_an_output_element_in_place_is_refused() {
    let message = refused(|b| {
        let t = b.tid();
        let cell = b.out_place(t);
        b.loop_n(|b, i| {
            let (old, x) = (b.load(cell), b.x(i));
            let new = b.mul(old, x);
            b.store(cell, new);
        });
    });
    assert!(message.contains("overwritten"), "{message}");
}

/// `o[t] = x[t]; o[t] *= x[t + 2]`: what was read is what was just stored.
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

/// `o[t] = x[t] ** 2; y = o[t]; o[t] = sin(y) * x[t]`
#[test]
fn store_load_store() {
    right(|b| {
        let t = b.tid();
        let (cell, x) = (b.out_place(t), b.x(t));
        let square = b.mul(x, x);
        b.store(cell, square);
        let y = b.load(cell);
        let sine = b.fun(Native::Sin, y);
        let product = b.mul(sine, x);
        b.store(cell, product);
    });
}

/// The last of several stores counts; the others had no effect.
#[test]
fn an_element_stored_in_every_iteration() {
    right(|b| {
        let t = b.tid();
        let cell = b.out_place(t);
        b.loop_n(|b, i| {
            let x = b.x(i);
            let square = b.mul(x, x);
            b.store(cell, square);
        });
    });
}

fn vector(b: &mut Builder<'_>) -> PlaceId {
    let vec3 = b.module.types.vector(3, Scalar::F64);
    let parts = [0, 1, 2].map(|index| {
        let index = b.i32(index);
        b.x(index)
    });
    let value = b.construct(vec3, &parts);
    b.var("v", value)
}

fn write_sum(b: &mut Builder<'_>, v: PlaceId) {
    let value = b.load(v);
    let (parts, half) = (b.parts(value), b.real(0.5));
    let last = b.mul(parts[2], half);
    let product = b.mul(parts[0], parts[1]);
    let sum = b.add(product, last);
    b.out(sum);
}

#[test]
fn a_component_reassigned() {
    right(|b| {
        let (v, t) = (vector(b), b.tid());
        let (first, x) = (b.component(v, 0), b.x(t));
        let old = b.load(first);
        let sine = b.fun(Native::Sin, old);
        let new = b.mul(sine, x);
        b.store(first, new);
        write_sum(b, v);
    });
}

#[test]
fn a_component_multiplied_twice() {
    right(|b| {
        let (v, t) = (vector(b), b.tid());
        let (first, x) = (b.component(v, 0), b.x(t));
        for _ in 0..2 {
            let old = b.load(first);
            let new = b.mul(old, x);
            b.store(first, new);
        }
        write_sum(b, v);
    });
}

/// `v[i % 3] = v[(i + 1) % 3] * x[i]` in a dynamic loop.
#[test]
fn components_by_index_in_a_dynamic_loop() {
    right(|b| {
        let v = vector(b);
        b.loop_n(|b, i| {
            let (three, one) = (b.i32(3), b.i32(1));
            let next = b.add(i, one);
            let at = [i, next].map(|index| b.binary(BinaryOp::Remainder, index, three));
            let [to, from] = at.map(|index| b.at(v, index));
            let (value, x) = (b.load(from), b.x(i));
            let new = b.mul(value, x);
            b.store(to, new);
        });
        write_sum(b, v);
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

#[test]
fn old_values_of_atomics_are_refused() {
    let message = refused(|b| {
        let (three, t) = (b.i32(3), b.tid());
        let (cell, x) = (b.out_place(three), b.x(t));
        let old = b.atomic(AtomicOp::Add, cell, x);
        let square = b.mul(old, old);
        b.out(square);
    });
    assert!(message.contains("old value"), "{message}");
}

#[test]
fn a_float_made_of_bits_of_another_is_refused() {
    let message = refused(|b| {
        let t = b.tid();
        let x = b.x(t);
        let bits = b.bitcast(x, Scalar::U64);
        let same = b.bitcast(bits, Scalar::F64);
        b.out(same);
    });
    assert!(message.contains("bits"), "{message}");
}
