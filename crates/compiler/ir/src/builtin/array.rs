//! Arrays as arguments.

use super::formula::formula;
use super::{BuiltinRow, Derivative, Domain, Pattern, body, row_of};
use crate::build::Builder;
use crate::op::Value;
use crate::ty::{Scalar, Type};
use Derivative::Zero;
use Domain::Number;
use Pattern::{Array, Is, T};

const I32: Pattern = Is(Scalar::I32);

#[rustfmt::skip]
pub(super) static ROWS: &[BuiltinRow] = &[
    row_of("lower_bound", &[
        body(Number, &["array", "value"], &[Array(1), T], I32, |b| {
            let (array, value) = (b.arg(0), b.arg(1));
            let (begin, end) = (b.i32(0), b.extent(array, 0));
            lower_bound(b, [begin, end], value)
        }),
        body(Number, &["array", "begin", "end", "value"], &[Array(1), I32, I32, T], I32, |b| {
            let (begin, end, value) = (b.arg(1), b.arg(2), b.arg(3));
            lower_bound(b, [begin, end], value)
        }),
    ], Zero, "The position of the first element of a sorted array that is not below a value, at most the last position."),
];

/// Halves the range until it holds one position.
fn lower_bound(b: &mut Builder<'_>, range: [Value; 2], value: Value) -> Option<Value> {
    let one = b.i32(1);
    let last = b.sub(range[1], one);
    let [lower, upper] = [("lower", range[0]), ("upper", last)].map(|(name, first)| {
        let local = b.local(name, Type::I32);
        let place = b.local_place(local);
        b.store(place, first);
        place
    });
    b.while_loop(
        |b| {
            let (lower, upper) = (b.load(lower), b.load(upper));
            b.lt(lower, upper)
        },
        |b| {
            let (from, to) = (b.load(lower), b.load(upper));
            let (width, two) = (b.sub(to, from), b.i32(2));
            let half = b.div(width, two);
            let middle = b.add(from, half);
            let array = b.param_place(0);
            let cell = b.element(array, &[middle]);
            let element = b.load(cell);
            let below = b.lt(element, value);
            b.if_else(
                below,
                |b| {
                    let next = b.add(middle, one);
                    b.store(lower, next);
                },
                |b| b.store(upper, middle),
            );
        },
    );
    formula(b, |f| f.with(|b| b.load(lower)))
}
