//! The patterns that NVIDIA Warp 1.19 differentiates wrongly without saying so, and those around them.

use crate::oracle::{Verdict, WEIGHTS, compare, unit};
use crate::write::{Write, case, case_with};
use gbxcule_kernel::arbitrary::Random;
use gbxcule_kernel::ir::builtin::Native;
use gbxcule_kernel::ir::{Arg, AtomicOp, BinaryOp, Builder, Module, Param, Type};

#[track_caller]
pub(crate) fn right(fill: impl FnOnce(&mut Builder<'_>)) {
    match compare(&case(fill)) {
        Verdict::Right => {}
        Verdict::Wrong(what) => panic!("{what}"),
        verdict => panic!("{verdict:?}"),
    }
}

#[track_caller]
pub(crate) fn refused(fill: impl FnOnce(&mut Builder<'_>)) -> String {
    match compare(&case(fill)) {
        Verdict::Refused(diagnostics) => diagnostics[0].message.clone(),
        verdict => panic!("{verdict:?}"),
    }
}

#[test]
fn a_sum_over_a_dynamic_range() {
    right(|b| {
        let zero = b.real(0.0);
        let s = b.var("s", zero);
        b.loop_n(|b, i| {
            let (old, x) = (b.load(s), b.x(i));
            let square = b.mul(x, x);
            let new = b.add(old, square);
            b.store(s, new);
        });
        let total = b.load(s);
        b.out(total);
    });
}

#[test]
fn a_product_over_a_dynamic_range() {
    right(|b| {
        let one = b.real(1.0);
        let p = b.var("p", one);
        b.loop_n(|b, i| {
            let (old, x) = (b.load(p), b.x(i));
            let new = b.mul(old, x);
            b.store(p, new);
        });
        let product = b.load(p);
        b.out(product);
    });
}

#[test]
fn a_product_over_a_static_range_of_17() {
    right(|b| {
        let one = b.real(1.0);
        let p = b.var("p", one);
        b.loop_to(17, |b, i| {
            let six = b.i32(6);
            let at = b.binary(BinaryOp::Remainder, i, six);
            let (old, x) = (b.load(p), b.x(at));
            let new = b.mul(old, x);
            b.store(p, new);
        });
        let product = b.load(p);
        b.out(product);
    });
}

#[test]
fn a_recurrence() {
    right(|b| {
        let (t, zero) = (b.tid(), b.real(0.5));
        let x = b.x(t);
        let s = b.var("s", zero);
        b.loop_n(|b, _| {
            let old = b.load(s);
            let product = b.mul(old, x);
            let sine = b.fun(Native::Sin, product);
            let new = b.add(sine, x);
            b.store(s, new);
        });
        let last = b.load(s);
        b.out(last);
    });
}

#[test]
fn a_branch_on_carried_state() {
    right(|b| {
        let start = b.real(0.4);
        let s = b.var("s", start);
        b.loop_n(|b, i| {
            let (old, x, bound) = (b.load(s), b.x(i), b.real(0.9));
            let small = b.lt(old, bound);
            b.if_else(
                small,
                |b| {
                    let product = b.mul(old, x);
                    let new = b.add(product, x);
                    b.store(s, new);
                },
                |b| {
                    let new = b.fun(Native::Cos, old);
                    b.store(s, new);
                },
            );
        });
        let last = b.load(s);
        b.out(last);
    });
}

#[test]
fn nested_dynamic_products() {
    right(|b| {
        let (zero, one) = (b.real(0.0), b.real(1.0));
        let s = b.var("s", zero);
        let p = b.var("p", one);
        b.loop_n(|b, i| {
            let one = b.real(1.0);
            b.store(p, one);
            let (first, end, step) = (b.i32(0), b.arg(3), b.i32(1));
            b.for_range("j", [first, end, step], |b, j| {
                let (old, x, y) = (b.load(p), b.x(j), b.x(i));
                let product = b.mul(old, x);
                let new = b.mul(product, y);
                b.store(p, new);
            });
            let (sum, product) = (b.load(s), b.load(p));
            let new = b.add(sum, product);
            b.store(s, new);
        });
        let total = b.load(s);
        b.out(total);
    });
}

#[test]
fn an_accumulator_used_after_the_loop() {
    right(|b| {
        let zero = b.real(0.0);
        let s = b.var("s", zero);
        b.loop_n(|b, i| {
            let (old, x) = (b.load(s), b.x(i));
            let new = b.add(old, x);
            b.store(s, new);
        });
        let (t, total) = (b.tid(), b.load(s));
        let x = b.x(t);
        let (square, sine) = (b.mul(total, total), b.fun(Native::Sin, total));
        let scaled = b.mul(square, x);
        let result = b.add(scaled, sine);
        b.out(result);
    });
}

#[test]
fn an_accumulator_used_in_a_later_loop() {
    right(|b| {
        let (zero, one) = (b.real(0.0), b.real(1.0));
        let s = b.var("s", zero);
        b.loop_n(|b, i| {
            let (old, x) = (b.load(s), b.x(i));
            let new = b.add(old, x);
            b.store(s, new);
        });
        let p = b.var("p", one);
        b.loop_n(|b, i| {
            let (old, x, total) = (b.load(p), b.x(i), b.load(s));
            let term = b.mul(x, total);
            let new = b.mul(old, term);
            b.store(p, new);
            let zero = b.real(0.5);
            let changed = b.mul(total, zero);
            b.store(s, changed);
        });
        let result = b.load(p);
        b.out(result);
    });
}

/// `while i < n: p = p * x[i] + s; s += x[i] * p`
#[test]
fn a_while_with_sums_and_products() {
    right(|b| {
        let (zero, one) = (b.real(0.0), b.real(1.0));
        let (s, p) = (b.var("s", zero), b.var("p", one));
        b.counted_while(|b, i| {
            let (sum, product, x) = (b.load(s), b.load(p), b.x(i));
            let scaled = b.mul(product, x);
            let next = b.add(scaled, sum);
            b.store(p, next);
            let term = b.mul(x, next);
            let next = b.add(sum, term);
            b.store(s, next);
        });
        let (sum, product) = (b.load(s), b.load(p));
        let result = b.mul(sum, product);
        b.out(result);
    });
}

/// A loop that leaves, or goes on with the next iteration, when a product is large.
fn product_with(b: &mut Builder<'_>, end: Option<i32>, leave: fn(&mut Builder<'_>)) {
    let one = b.real(1.0);
    let p = b.var("p", one);
    let body = |b: &mut Builder<'_>, i| {
        let (old, x) = (b.load(p), b.x(i));
        let new = b.mul(old, x);
        b.store(p, new);
        let bound = b.real(-1.0);
        let low = b.lt(new, bound);
        b.if_then(low, leave);
        let new = b.add(new, x);
        b.store(p, new);
    };
    match end {
        Some(end) => b.loop_to(end, body),
        None => b.loop_n(body),
    }
    let product = b.load(p);
    b.out(product);
}

#[test]
fn break_in_dynamic_and_static_ranges() {
    right(|b| product_with(b, None, |b| b.break_loop()));
    right(|b| product_with(b, Some(6), |b| b.break_loop()));
}

#[test]
fn continue_in_dynamic_and_static_ranges() {
    right(|b| product_with(b, None, |b| b.continue_loop()));
    right(|b| product_with(b, Some(6), |b| b.continue_loop()));
}

#[test]
fn return_from_a_loop_of_a_kernel() {
    right(|b| {
        product_with(b, None, |b| {
            let two = b.real(2.0);
            b.out(two);
            b.ret(None);
        });
    });
}

/// `def f(a, b): p = a; for i in range(5): p = p * b; if p > 1: return p * a; return p`
#[test]
fn return_from_a_loop_of_a_function() {
    let mut module = Module::new("m");
    let params = vec![Param::value("a", Type::F64), Param::value("b", Type::F64)];
    let f = module.declare("f", params, Type::F64);
    let mut b = Builder::new(&mut module, f);
    let (first, second) = (b.arg(0), b.arg(1));
    let p = b.var("p", first);
    b.loop_to(5, |b, _| {
        let old = b.load(p);
        let new = b.mul(old, second);
        b.store(p, new);
        let one = b.real(1.0);
        let large = b.lt(one, new);
        b.if_then(large, |b| {
            let result = b.mul(new, first);
            b.ret(Some(result));
        });
    });
    let last = b.load(p);
    b.ret(Some(last));
    b.finish();
    let case = case_with(module, |b| {
        let (t, two) = (b.tid(), b.i32(2));
        let other = b.add(t, two);
        let args = [b.x(t), b.x(other)].map(Arg::Value);
        let result = b.call(f, &args);
        b.out(result);
    });
    assert_eq!(compare(&case), Verdict::Right);
}

/// `def f(a, mut b) -> (a * b, sin(a)): b = b * b * a`
#[test]
fn a_function_with_several_results_and_an_argument_by_reference() {
    let mut module = Module::new("m");
    let both = module.types.tuple(&[Type::F64, Type::F64]);
    let params = vec![Param::value("a", Type::F64), Param::mutable("b", Type::F64)];
    let f = module.declare("f", params, both);
    let mut b = Builder::new(&mut module, f);
    let (a, place) = (b.arg(0), b.param_place(1));
    let old = b.load(place);
    let results = [b.mul(a, old), b.fun(Native::Sin, a)];
    let square = b.mul(old, old);
    let new = b.mul(square, a);
    b.store(place, new);
    let results = b.tuple(&results);
    b.ret(Some(results));
    b.finish();
    let case = case_with(module, |b| {
        let t = b.tid();
        let x = b.x(t);
        let s = b.var("s", x);
        b.loop_n(|b, i| {
            let x = b.x(i);
            let results = b.call(f, &[Arg::Value(x), Arg::Place(s)]);
            let (first, second) = (b.extract(results, 0), b.extract(results, 1));
            let now = b.load(s);
            let (sum, three) = (b.add(now, first), b.real(0.3));
            let product = b.mul(sum, second);
            let new = b.mul(product, three);
            b.store(s, new);
        });
        let last = b.load(s);
        b.out(last);
    });
    assert_eq!(compare(&case), Verdict::Right);
}

#[test]
fn an_inner_sum_used_by_the_outer_body() {
    right(|b| {
        let one = b.real(1.0);
        let zero = b.real(0.0);
        let (p, s) = (b.var("p", one), b.var("s", zero));
        b.loop_n(|b, i| {
            let zero = b.real(0.0);
            b.store(s, zero);
            let (first, one) = (b.i32(0), b.i32(1));
            let end = b.add(i, one);
            b.for_range("j", [first, end, one], |b, j| {
                let (old, x) = (b.load(s), b.x(j));
                let new = b.add(old, x);
                b.store(s, new);
            });
            let (sum, x, old) = (b.load(s), b.x(i), b.load(p));
            let term = b.mul(sum, x);
            let new = b.mul(old, term);
            b.store(p, new);
        });
        let result = b.load(p);
        b.out(result);
    });
}

#[test]
fn a_carried_integer_index() {
    right(|b| {
        let (zero, one) = (b.i32(1), b.real(1.0));
        let (at, p) = (b.var("at", zero), b.var("p", one));
        b.loop_n(|b, i| {
            let (index, old) = (b.load(at), b.load(p));
            let x = b.x(index);
            let new = b.mul(old, x);
            b.store(p, new);
            let (two, six) = (b.i32(2), b.i32(6));
            let scaled = b.mul(index, two);
            let moved = b.add(scaled, i);
            let next = b.binary(BinaryOp::Remainder, moved, six);
            b.store(at, next);
        });
        let result = b.load(p);
        b.out(result);
    });
}

/// A loop of thousands of iterations, whose state is brought back from 16 checkpoints.
#[test]
fn a_recurrence_of_three_thousand_steps() {
    let mut long = case(|b| {
        let (t, start) = (b.tid(), b.real(0.5));
        let x = b.x(t);
        let s = b.var("s", start);
        b.loop_n(|b, _| {
            let old = b.load(s);
            let product = b.mul(old, x);
            let sine = b.fun(Native::Sin, product);
            let half = b.real(0.5);
            let scaled = b.mul(sine, half);
            let new = b.add(scaled, x);
            b.store(s, new);
        });
        let last = b.load(s);
        b.out(last);
    });
    long.numbers[0] = 3000;
    assert_eq!(compare(&long), Verdict::Right);
}

/// An arm that isn't chosen has an infinite derivative.
#[test]
fn what_is_not_chosen_does_not_spoil_the_gradient() {
    right(|b| {
        let (t, zero) = (b.tid(), b.real(0.0));
        let x = b.x(t);
        let difference = b.sub(x, x);
        let root = b.fun(Native::Sqrt, difference);
        let inverse = b.div(x, difference);
        let sum = b.add(root, inverse);
        let positive = b.lt(zero, difference);
        let double = b.add(x, x);
        let chosen = b.select(positive, sum, double);
        b.out(chosen);
    });
}

/// `def f(x): return x` whose gradient by hand is twice the right one.
#[test]
fn a_gradient_by_hand_is_called() {
    let mut module = Module::new("m");
    let f = module.declare("f", vec![Param::value("x", Type::F64)], Type::F64);
    let mut b = Builder::new(&mut module, f);
    let x = b.arg(0);
    b.ret(Some(x));
    b.finish();
    let params = vec![Param::value("x", Type::F64), Param::value("adj_result", Type::F64)];
    let by_hand = module.declare("by_hand", params, Type::F64);
    let mut b = Builder::new(&mut module, by_hand);
    let adjoint = b.arg(1);
    let twice = b.add(adjoint, adjoint);
    b.ret(Some(twice));
    b.finish();
    module.functions[f].adjoint = Some(by_hand);
    let case = case_with(module, |b| {
        let t = b.tid();
        let x = b.x(t);
        let result = b.call(f, &[Arg::Value(x)]);
        b.out(result);
    });
    let Verdict::Wrong(what) = compare(&case) else { panic!("it isn't called") };
    let first = what.lines().next().unwrap_or_default();
    let numbers: Vec<f64> = first.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    let [_, found, wanted] = numbers[..] else { panic!("{first}") };
    // The gradient grows from what was there.
    let before = unit(&mut Random::new(WEIGHTS));
    assert!((found - before - 2.0 * (wanted - before)).abs() < 1e-6, "{first}");
}

/// A function with arrays, a loop and an early return, called in a loop.
#[test]
fn a_function_that_reads_and_writes_arrays() {
    let mut module = Module::new("m");
    let array = module.types.array(Type::F64, 1);
    let params = vec![
        Param::value("x", array),
        Param::value("o", array),
        Param::value("a", Type::F64),
        Param::mutable("s", Type::F64),
    ];
    let f = module.declare("f", params, Type::F64);
    let mut b = Builder::new(&mut module, f);
    let one = b.real(1.0);
    let p = b.var("p", one);
    b.loop_to(4, |b, i| {
        let (old, x, a) = (b.load(p), b.x(i), b.arg(2));
        let term = b.mul(x, a);
        let new = b.mul(old, term);
        b.store(p, new);
        let s = b.param_place(3);
        let sum = b.load(s);
        let next = b.add(sum, new);
        b.store(s, next);
        let two = b.i32(2);
        let cell = b.out_place(two);
        b.atomic(AtomicOp::Add, cell, new);
        let bound = b.real(-0.8);
        let low = b.lt(new, bound);
        b.if_then(low, |b| b.ret(Some(next)));
    });
    let last = b.load(p);
    b.ret(Some(last));
    b.finish();
    let case = case_with(module, |b| {
        let (t, half) = (b.tid(), b.real(0.5));
        let x = b.x(t);
        let s = b.var("s", half);
        let (array, out) = (b.arg(0), b.arg(1));
        b.loop_n(|b, _| {
            let old = b.load(s);
            let args = [Arg::Value(array), Arg::Value(out), Arg::Value(x), Arg::Place(s)];
            let result = b.call(f, &args);
            let product = b.mul(old, result);
            let sine = b.fun(Native::Sin, product);
            b.store(s, sine);
        });
        let last = b.load(s);
        b.out(last);
    });
    assert_eq!(compare(&case), Verdict::Right);
}

#[test]
fn arc_functions_are_flat_where_they_clamp() {
    for native in [Native::Asin, Native::Acos] {
        right(|b| {
            let (t, two) = (b.tid(), b.real(2.0));
            let x = b.x(t);
            let large = b.add(x, two);
            let clamped = b.fun(native, large);
            let sum = b.add(clamped, x);
            b.out(sum);
        });
    }
}
