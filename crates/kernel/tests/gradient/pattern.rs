//! The patterns that NVIDIA Warp 1.19 differentiates wrongly without saying so, and those around them.

use crate::oracle::{Verdict, compare};
use crate::write::{Write, case};
use gbxcule_kernel::ir::Builder;
use gbxcule_kernel::ir::builtin::Native;

#[track_caller]
fn right(fill: impl FnOnce(&mut Builder<'_>)) {
    match compare(&case(fill)) {
        Verdict::Right => {}
        Verdict::Wrong(what) => panic!("{what}"),
        verdict => panic!("{verdict:?}"),
    }
}

#[track_caller]
fn refused(fill: impl FnOnce(&mut Builder<'_>)) -> String {
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
            let at = b.binary(gbxcule_kernel::ir::BinaryOp::Remainder, i, six);
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
