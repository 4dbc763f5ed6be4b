//! Finds bounds of an index from the operations that made it.

use gbxcule_ir::function::Body;
use gbxcule_ir::op::{BinaryOp, Op, Value};
use gbxcule_ir::ty::Scalar;

/// Greatest number of operations that are followed back.
const MAX_DEPTH: usize = 16;

/// Returns an upper bound of an integer that is never negative; `None` if it may be negative or no
/// bound is found.
pub(super) fn upper_bound(body: &Body, value: Value) -> Option<u128> {
    bound_within(body, value, MAX_DEPTH)
}

fn bound_within(body: &Body, value: Value, depth: usize) -> Option<u128> {
    let scalar = body.type_of(value).as_scalar()?;
    let of_type = match scalar {
        Scalar::Bool => Some(1),
        scalar if scalar.is_unsigned_int() => Some((1_u128 << scalar.bits()) - 1),
        _ => None,
    };
    if depth == 0 {
        return of_type;
    }
    let bound = |value| bound_within(body, value, depth - 1);
    let literal = |value| u128::try_from(body.integer(value)?).ok();
    let of_operation = match body.values[value].op {
        Op::Literal(_) => literal(value),
        // A conversion does not change a number that fits the new type.
        Op::Convert(from) => bound(from)
            .filter(|&most| most < 1_u128 << (scalar.bits() - u32::from(scalar.is_signed_int()))),
        Op::Binary(BinaryOp::And, left, right) => match (bound(left), bound(right)) {
            (Some(left), Some(right)) => Some(left.min(right)),
            (one, other) => one.or(other),
        },
        Op::Binary(BinaryOp::ShiftRight, left, right) => {
            let amount = literal(right).filter(|&amount| amount < 128);
            amount.and_then(|amount| Some(bound(left)? >> amount))
        }
        Op::Binary(BinaryOp::Remainder, left, right) => {
            let divisor = literal(right).filter(|&divisor| divisor > 0);
            divisor.and_then(|divisor| Some(bound(left)?.min(divisor - 1)))
        }
        _ => None,
    };
    match (of_operation, of_type) {
        (Some(of_operation), Some(of_type)) => Some(of_operation.min(of_type)),
        (of_operation, of_type) => of_operation.or(of_type),
    }
}
