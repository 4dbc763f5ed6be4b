//! Integers and `bool`.

use super::DivisionByZero;
use crate::constant::Literal;
use crate::op::BinaryOp;
use crate::ty::Scalar;

pub(super) fn binary(
    op: BinaryOp,
    left: Literal,
    right: Literal,
) -> Result<Literal, DivisionByZero> {
    let scalar = left.scalar();
    let (a, b) = (left.as_int().unwrap_or_default(), right.as_int().unwrap_or_default());
    // 128 bits hold every sum and quotient, and the low half of every product.
    let value = match op {
        BinaryOp::Add => a + b,
        BinaryOp::Subtract => a - b,
        BinaryOp::Multiply => a.wrapping_mul(b),
        BinaryOp::Divide => a.checked_div(b).ok_or(DivisionByZero)?,
        BinaryOp::Remainder => a.checked_rem(b).ok_or(DivisionByZero)?,
        BinaryOp::FloorDivide => {
            let quotient = a.checked_div(b).ok_or(DivisionByZero)?;
            quotient - i128::from(a % b != 0 && (a < 0) != (b < 0))
        }
        BinaryOp::And => a & b,
        BinaryOp::Or => a | b,
        BinaryOp::Xor => a ^ b,
        BinaryOp::ShiftLeft => shift(scalar, right, 0, |amount| a << amount),
        BinaryOp::ShiftRight => shift(scalar, right, if a < 0 { -1 } else { 0 }, |n| a >> n),
    };
    Ok(Literal::int(scalar, value))
}

fn shift(scalar: Scalar, amount: Literal, beyond: i128, by: impl Fn(u32) -> i128) -> i128 {
    match amount.bits() {
        amount if amount < u64::from(scalar.bits()) => by(amount as u32),
        _ => beyond,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn eval(op: BinaryOp, scalar: Scalar, a: i128, b: i128) -> Option<i128> {
        let (a, b) = (Literal::int(scalar, a), Literal::int(scalar, b));
        binary(op, a, b).ok()?.as_int()
    }

    #[test]
    fn arithmetic_wraps_at_the_types_width() {
        assert_eq!(eval(BinaryOp::Add, Scalar::U8, 200, 100), Some(44));
        assert_eq!(eval(BinaryOp::Multiply, Scalar::I64, i128::from(i64::MAX), 2), Some(-2));
        let max = i128::from(u64::MAX);
        assert_eq!(eval(BinaryOp::Multiply, Scalar::U64, max, max), Some(1));
        assert_eq!(eval(BinaryOp::Divide, Scalar::I8, -128, -1), Some(-128));
        assert_eq!(eval(BinaryOp::Remainder, Scalar::I8, -128, -1), Some(0));
    }

    #[test]
    fn division_truncates_or_floors_and_never_divides_by_zero() {
        assert_eq!(eval(BinaryOp::Divide, Scalar::I32, -7, 2), Some(-3));
        assert_eq!(eval(BinaryOp::FloorDivide, Scalar::I32, -7, 2), Some(-4));
        assert_eq!(eval(BinaryOp::FloorDivide, Scalar::I32, 7, -2), Some(-4));
        assert_eq!(eval(BinaryOp::FloorDivide, Scalar::I32, -8, 2), Some(-4));
        assert_eq!(eval(BinaryOp::Remainder, Scalar::I32, -7, 2), Some(-1));
        assert_eq!(eval(BinaryOp::Divide, Scalar::U32, 1, 0), None);
        assert_eq!(eval(BinaryOp::FloorDivide, Scalar::I32, 1, 0), None);
    }

    #[test]
    fn shifts_by_the_width_or_more_leave_nothing_but_the_sign() {
        assert_eq!(eval(BinaryOp::ShiftLeft, Scalar::U8, 0x81, 1), Some(2));
        assert_eq!(eval(BinaryOp::ShiftLeft, Scalar::I32, 1, 32), Some(0));
        assert_eq!(eval(BinaryOp::ShiftRight, Scalar::I32, -5, 1), Some(-3));
        assert_eq!(eval(BinaryOp::ShiftRight, Scalar::I32, -5, 99), Some(-1));
        // A negative amount is a large unsigned one.
        assert_eq!(eval(BinaryOp::ShiftLeft, Scalar::I8, 1, -1), Some(0));
    }
}
