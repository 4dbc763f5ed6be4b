//! Patterns that `patterns.py` lacks; the dialect can't express most of them.

use crate::oracle::{Verdict, compare};
use crate::write::{Write, case, case_with};
use gbxcule_ir::builtin::Native;
use gbxcule_ir::{Arg, AtomicOp, BinaryOp, Builder, Module, Param, Scalar, Type};

#[track_caller]
pub(crate) fn right(fill: impl FnOnce(&mut Builder<'_>)) {
    match compare(&case(fill)) {
        Verdict::Right => {}
        Verdict::Wrong(what) => panic!("{what}"),
        verdict => panic!("{verdict:?}"),
    }
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

/// The state has 288 bytes: segments of 4 iterations, and 4 checkpoints. The lengths are those of 1
/// to 20 segments, full and partly filled, as literals and as numbers known only at run time.
#[test]
fn loops_of_every_length_with_a_large_state() {
    let all = |length: Option<i32>| {
        case(|b| {
            let of = b.module.types.matrix(6, 6, Scalar::F64);
            let t = b.tid();
            let x = b.x(t);
            let start = b.splat(of, x);
            let s = b.var("s", start);
            let body = |b: &mut Builder<'_>, i| {
                let (old, three) = (b.load(s), b.i32(3));
                let at = b.binary(BinaryOp::Remainder, i, three);
                let factor = b.x(at);
                let half = b.real(0.5);
                let parts = b.parts(old);
                let (first, last) = (parts[0], parts[35]);
                let (product, damped) = (b.mul(last, factor), b.mul(first, half));
                let sum = b.add(product, damped);
                let sine = b.fun(Native::Sin, sum);
                let mut parts = parts[1..].to_vec();
                parts.push(b.mul(sine, half));
                let new = b.construct(of, &parts);
                b.store(s, new);
            };
            match length {
                Some(length) => b.loop_to(length, body),
                None => b.loop_n(body),
            }
            let last = b.load(s);
            let last = b.extract(last, 35);
            b.out(last);
        })
    };
    for length in (0..10).chain([19, 20, 21, 61, 80]) {
        let mut dynamic = all(None);
        dynamic.numbers[0] = length;
        for case in [all(Some(length)), dynamic] {
            assert_eq!(compare(&case), Verdict::Right, "{length}");
        }
    }
}

/// Bounds are literals or arguments, steps go up and down, and some ranges end where one more step
/// would wrap.
#[test]
fn loops_over_every_range() {
    let small = [[0, 5], [5, 0], [-3, 4], [4, -3], [2, 2]];
    let steps = [1, -1, 2, -2, 3];
    let small = small.into_iter().flat_map(|[start, end]| steps.map(|step| [start, end, step]));
    let (least, most) = (i32::MIN, i32::MAX);
    let large = [
        [most - 2, most, 1],
        [most - 3, most, 2],
        [most, most, -1],
        [least + 2, least, -1],
        [least + 3, least, -2],
        [least, least + 2, 1],
        [least, least, 1],
        [0, 5, 0],
    ];
    for range in small.chain(large) {
        for dynamic in 0..4 {
            // At most two of the three bounds are arguments.
            let mut case = case(|b| {
                let arguments = match dynamic {
                    0 => [None, None, None],
                    1 => [None, Some(2), None],
                    2 => [Some(2), Some(3), None],
                    _ => [Some(2), None, Some(3)],
                };
                let mut bounds = range.map(|bound| b.i32(bound));
                for (bound, argument) in bounds.iter_mut().zip(arguments) {
                    argument.into_iter().for_each(|at| *bound = b.arg(at));
                }
                let zero = b.real(0.0);
                let s = b.var("s", zero);
                b.for_range("i", bounds, |b, i| {
                    let one = b.i32(1);
                    let at = b.and(i, one);
                    let (old, x) = (b.load(s), b.x(at));
                    let square = b.mul(x, x);
                    let new = b.add(old, square);
                    b.store(s, new);
                });
                let last = b.load(s);
                b.out(last);
            });
            let [start, end, step] = range;
            case.numbers = match dynamic {
                0 | 1 => vec![end, 3],
                2 => vec![start, end],
                _ => vec![start, step],
            };
            // A literal step of 0 is refused.
            if step != 0 || dynamic == 3 {
                assert_eq!(compare(&case), Verdict::Right, "{range:?}, {dynamic}");
            }
        }
    }
}

/// A loop of thousands of iterations has segments of 64, whose starts are computed again from 16
/// checkpoints.
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
