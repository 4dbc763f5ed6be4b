//! Floats: one rounding for each operation; 16-bit floats are computed in f32.

use crate::constant::Literal;
use crate::op::BinaryOp;
use crate::ty::Scalar;

macro_rules! operations {
    ($op:expr, $a:expr, $b:expr) => {
        match $op {
            BinaryOp::Add => $a + $b,
            BinaryOp::Subtract => $a - $b,
            BinaryOp::Multiply => $a * $b,
            BinaryOp::Divide => $a / $b,
            BinaryOp::FloorDivide => ($a / $b).floor(),
            BinaryOp::Remainder => $a % $b,
            _ => $a,
        }
    };
}

pub(super) fn binary(op: BinaryOp, left: Literal, right: Literal) -> Literal {
    let (scalar, a, b) = (left.scalar(), left.as_f64(), right.as_f64());
    if scalar == Scalar::F64 {
        return Literal::float(scalar, operations!(op, a, b));
    }
    let (a, b) = (a as f32, b as f32);
    if op == BinaryOp::FloorDivide {
        let quotient = Literal::float(scalar, f64::from(a / b));
        return Literal::float(scalar, quotient.as_f64().floor());
    }
    Literal::float(scalar, f64::from(operations!(op, a, b)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::half;

    #[test]
    fn f16_is_done_in_f32_and_rounded_once() {
        // 1 + 2^-11 lies halfway between neighbours and goes to the even one, 1.
        let (one, tiny) =
            (Literal::float(Scalar::F16, 1.0), Literal::float(Scalar::F16, 2f64.powi(-11)));
        assert_eq!(binary(BinaryOp::Add, one, tiny), one);
        let big = Literal::float(Scalar::F16, 60000.0);
        let sum = binary(BinaryOp::Add, big, big);
        assert_eq!(half::f32_from_f16(sum.bits() as u16), f32::INFINITY);
    }

    #[test]
    fn the_quotient_is_rounded_before_it_is_floored() {
        let (tiny, one) = (Literal::float(Scalar::Bf16, -1e-40), Literal::float(Scalar::Bf16, 1.0));
        let zero = Literal::float(Scalar::Bf16, -0.0);
        assert_eq!(binary(BinaryOp::FloorDivide, tiny, one).as_f64(), -1.0);
        let larger = Literal::float(Scalar::Bf16, 3e38);
        assert_eq!(binary(BinaryOp::FloorDivide, tiny, larger), zero);
    }

    #[test]
    fn the_remainder_has_the_sign_of_the_left_operand() {
        let of = |a, b| {
            binary(
                BinaryOp::Remainder,
                Literal::float(Scalar::F32, a),
                Literal::float(Scalar::F32, b),
            )
            .as_f64()
        };
        assert_eq!((of(-7.5, 2.0), of(7.5, -2.0)), (-1.5, 1.5));
        assert!(of(1.0, 0.0).is_nan());
    }
}
