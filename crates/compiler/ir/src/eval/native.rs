//! Native builtins. Those on `f32` are computed in `f64` and rounded once, which is more exact than
//! any back end; `libm` makes the result the same on every host.

use super::{compare, special};
use crate::builtin::Native;
use crate::constant::Literal;
use crate::op::CompareOp;
use crate::ty::Scalar;

/// Computes a native builtin on operands of one type.
pub fn native(native: Native, args: &[Literal]) -> Literal {
    let first = args[0];
    let (scalar, x) = (first.scalar(), first.as_f64());
    let second = args.get(1).copied().unwrap_or(first);
    let i32 = |count: u32| Literal::int(Scalar::I32, i128::from(count));
    match native {
        Native::Min => pick(CompareOp::LessEqual, first, second),
        Native::Max => pick(CompareOp::GreaterEqual, first, second),
        Native::Abs => magnitude(first),
        Native::Copysign => {
            let sign = 1 << (scalar.bits() - 1);
            Literal::from_bits(scalar, first.bits() & !sign | second.bits() & sign)
        }
        Native::Fma if scalar == Scalar::F64 => {
            Literal::float(scalar, x.mul_add(second.as_f64(), args[2].as_f64()))
        }
        Native::Fma => {
            let [a, b, c] = [x, second.as_f64(), args[2].as_f64()].map(|it| it as f32);
            Literal::float(scalar, a.mul_add(b, c).into())
        }
        Native::IsNan => Literal::bool(x.is_nan()),
        Native::IsInf => Literal::bool(x.is_infinite()),
        Native::IsFinite => Literal::bool(x.is_finite()),
        Native::BitCount => i32(first.bits().count_ones()),
        Native::LeadingZeros => i32(first.bits().leading_zeros() + scalar.bits() - 64),
        Native::TrailingZeros => i32(first.bits().trailing_zeros().min(scalar.bits())),
        _ => Literal::float(scalar, real(native, x, second.as_f64())),
    }
}

fn pick(op: CompareOp, first: Literal, second: Literal) -> Literal {
    let first_holds = compare(op, first, second) || second.as_f64().is_nan();
    if first_holds { first } else { second }
}

fn magnitude(x: Literal) -> Literal {
    match x.as_int() {
        Some(value) => Literal::int(x.scalar(), value.abs()),
        None => Literal::from_bits(x.scalar(), x.bits() & !(1 << (x.scalar().bits() - 1))),
    }
}

/// Clamps to -1..1; NaN becomes -1, as in NVIDIA Warp.
fn clamped(x: f64) -> f64 {
    if x > -1.0 { x.min(1.0) } else { -1.0 }
}

/// Computes a function of one or two reals.
#[allow(clippy::manual_clamp, reason = "`clamp` would keep NaN")]
fn real(native: Native, x: f64, y: f64) -> f64 {
    match native {
        Native::Floor => x.floor(),
        Native::Ceil => x.ceil(),
        Native::Trunc => x.trunc(),
        Native::Round => x.round(),
        Native::Rint => x.round_ties_even(),
        Native::Sqrt => x.sqrt(),
        Native::Cbrt => libm::cbrt(x),
        Native::Sin => libm::sin(x),
        Native::Cos => libm::cos(x),
        Native::Tan => libm::tan(x),
        Native::Asin => libm::asin(clamped(x)),
        Native::Acos => libm::acos(clamped(x)),
        Native::Atan => libm::atan(x),
        Native::Atan2 => libm::atan2(x, y),
        Native::Sinh => libm::sinh(x),
        Native::Cosh => libm::cosh(x),
        Native::Tanh => libm::tanh(x),
        Native::Exp => libm::exp(x),
        Native::Log => libm::log(x),
        Native::Log2 => libm::log2(x),
        Native::Log10 => libm::log10(x),
        Native::Pow => libm::pow(x, y),
        Native::Erf => libm::erf(x),
        Native::Erfc => libm::erfc(x),
        Native::Erfinv => special::erfinv(x),
        Native::Erfcinv => special::erfcinv(x),
        _ => unreachable!("the exact ones are done by `native`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn f32s(of: Native, args: &[f64]) -> f64 {
        let args: Vec<Literal> = args.iter().map(|&arg| Literal::float(Scalar::F32, arg)).collect();
        native(of, &args).as_f64()
    }

    #[test]
    fn min_and_max_prefer_numbers_and_the_first_of_equals() {
        assert_eq!(f32s(Native::Min, &[f64::NAN, 1.0]), 1.0);
        assert_eq!(f32s(Native::Max, &[1.0, f64::NAN]), 1.0);
        assert!(f32s(Native::Min, &[-0.0, 0.0]).is_sign_negative());
        assert!(f32s(Native::Min, &[0.0, -0.0]).is_sign_positive());
        assert!(f32s(Native::Max, &[-0.0, 0.0]).is_sign_negative());
    }

    #[test]
    fn counts_are_of_the_types_own_width() {
        let minus = Literal::int(Scalar::I8, -1);
        assert_eq!(native(Native::BitCount, &[minus]).as_int(), Some(8));
        let zero = Literal::int(Scalar::U16, 0);
        assert_eq!(native(Native::LeadingZeros, &[zero]).as_int(), Some(16));
        assert_eq!(native(Native::TrailingZeros, &[zero]).as_int(), Some(16));
    }

    #[test]
    fn rounding_goes_both_ways_on_halves() {
        assert_eq!(f32s(Native::Round, &[-2.5]), -3.0);
        assert_eq!(f32s(Native::Rint, &[-2.5]), -2.0);
        assert_eq!(f32s(Native::Acos, &[1.5]), 0.0);
        assert_eq!(native(Native::Abs, &[Literal::int(Scalar::I8, -128)]).as_int(), Some(-128));
    }
}
