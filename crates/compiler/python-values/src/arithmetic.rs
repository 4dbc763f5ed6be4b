//! Python's operators and functions on known numbers.

use crate::value::{DialectValue, KnownValue};
use gbxcule_ir::ty::Scalar;
use gbxcule_python_names::syntax::{CmpOp, Operator};

/// Result of an operator; `None` if only Python knows it.
pub(crate) fn arithmetic<'a, F: DialectValue>(
    op: Operator,
    left: &KnownValue<'a, F>,
    right: &KnownValue<'a, F>,
) -> Option<KnownValue<'a, F>> {
    if let (Some(l), Some(r)) = (left.as_int(), right.as_int()) {
        let are_bools = matches!((left, right), (KnownValue::Bool(_), KnownValue::Bool(_)));
        return integer_arithmetic(op, l, r, are_bools);
    }
    let plain = |value: &KnownValue<'a, F>| match value {
        KnownValue::Int(value) => exact(*value),
        KnownValue::Float(_) | KnownValue::Bool(_) => value.as_f64(),
        _ => None,
    };
    let (l, r) = (plain(left)?, plain(right)?);
    Some(KnownValue::Float(match op {
        Operator::Add => l + r,
        Operator::Sub => l - r,
        Operator::Mult => l * r,
        Operator::Div if r != 0.0 => l / r,
        Operator::FloorDiv if r != 0.0 => float_divmod(l, r).0,
        Operator::Mod if r != 0.0 => float_divmod(l, r).1,
        Operator::Pow => float_power(l, r)?,
        _ => return None,
    }))
}

/// Result of an operator on integers. `&`, `|` and `^` of two truth values give a truth value.
fn integer_arithmetic<'a, F: DialectValue>(
    op: Operator,
    l: i128,
    r: i128,
    are_bools: bool,
) -> Option<KnownValue<'a, F>> {
    Some(match op {
        Operator::Add => KnownValue::Int(l.checked_add(r)?),
        Operator::Sub => KnownValue::Int(l.checked_sub(r)?),
        Operator::Mult => KnownValue::Int(l.checked_mul(r)?),
        Operator::Div if r != 0 => KnownValue::Float(exact(l)? / exact(r)?),
        Operator::FloorDiv if r != 0 => KnownValue::Int(floor_div(l, r)?),
        Operator::Mod if r != 0 => {
            KnownValue::Int(l.checked_sub(floor_div(l, r)?.checked_mul(r)?)?)
        }
        Operator::Pow if r < 0 => KnownValue::Float(float_power(exact(l)?, exact(r)?)?),
        Operator::Pow => KnownValue::Int(l.checked_pow(u32::try_from(r).ok()?)?),
        Operator::LShift => {
            KnownValue::Int(l.checked_mul(2i128.checked_pow(u32::try_from(r).ok()?)?)?)
        }
        Operator::RShift => KnownValue::Int(l.checked_shr(u32::try_from(r).ok()?)?),
        Operator::BitAnd | Operator::BitOr | Operator::BitXor => {
            let bits = match op {
                Operator::BitAnd => l & r,
                Operator::BitOr => l | r,
                _ => l ^ r,
            };
            if are_bools { KnownValue::Bool(bits != 0) } else { KnownValue::Int(bits) }
        }
        _ => return None,
    })
}

/// Returns the float that equals an integer, if there is one. Python rounds other integers once,
/// at a later point.
pub(crate) fn exact(value: i128) -> Option<f64> {
    let float = value as f64;
    (float as i128 == value && value != i128::MAX).then_some(float)
}

/// Power of floats; `None` where Python raises an error or gives a complex number.
fn float_power(left: f64, right: f64) -> Option<f64> {
    Some(left.powf(right)).filter(|power| finite_as_its_operands(*power, &[left, right]))
}

fn finite_as_its_operands(result: f64, operands: &[f64]) -> bool {
    result.is_finite() || operands.iter().any(|operand| !operand.is_finite())
}

/// Quotient and remainder of Python: the remainder is exact and has the divisor's sign.
fn float_divmod(left: f64, right: f64) -> (f64, f64) {
    let mut remainder = left % right;
    let mut quotient = (left - remainder) / right;
    if remainder == 0.0 {
        remainder = 0.0f64.copysign(right);
    } else if (right < 0.0) != (remainder < 0.0) {
        remainder += right;
        quotient -= 1.0;
    }
    if quotient == 0.0 {
        return (0.0f64.copysign(left / right), remainder);
    }
    let floor = quotient.floor();
    (if quotient - floor > 0.5 { floor + 1.0 } else { floor }, remainder)
}

fn is_bool<F: DialectValue>(value: &KnownValue<'_, F>) -> bool {
    matches!(value, KnownValue::Bool(_))
}

fn floor_div(left: i128, right: i128) -> Option<i128> {
    let quotient = left.checked_div(right)?;
    Some(if left % right != 0 && (left < 0) != (right < 0) { quotient - 1 } else { quotient })
}

fn ordered<T: PartialOrd + Copy>(op: CmpOp, left: T, right: T) -> Option<bool> {
    Some(match op {
        CmpOp::Eq => left == right,
        CmpOp::NotEq => left != right,
        CmpOp::Lt => left < right,
        CmpOp::LtE => left <= right,
        CmpOp::Gt => left > right,
        CmpOp::GtE => left >= right,
        _ => return None,
    })
}

/// Answer to a comparison; `None` if only Python knows it.
pub fn compared<F: DialectValue>(
    op: CmpOp,
    left: &KnownValue<'_, F>,
    right: &KnownValue<'_, F>,
) -> Option<bool> {
    if let (CmpOp::Is | CmpOp::IsNot, true) = (op, is_bool(left) || is_bool(right)) {
        return Some((left == right) == (op == CmpOp::Is));
    }
    if let (Some(l), Some(r)) = (left.as_int(), right.as_int()) {
        return ordered(op, l, r);
    }
    let float = |value: &KnownValue<'_, F>| value.as_int().map_or_else(|| value.as_f64(), exact);
    if let (Some(l), Some(r)) = (float(left), float(right)) {
        return ordered(op, l, r);
    }
    if let (CmpOp::In | CmpOp::NotIn, KnownValue::Dict(items)) = (op, right) {
        let has_key = items.iter().any(|(key, _)| compared(CmpOp::Eq, left, key) == Some(true));
        return Some(has_key == (op == CmpOp::In));
    }
    // A value of which only the name is known, such as `sys.platform`, may equal any value.
    let named = |it: &KnownValue<'_, F>| matches!(it, KnownValue::Member(path) if !F::is_own(path));
    if named(left) || named(right) {
        return None;
    }
    let is_equal = match (left, right) {
        (KnownValue::Dialect(left), KnownValue::Dialect(right)) => left.equals(right)?,
        (left, right) => left == right,
    };
    match op {
        CmpOp::Eq | CmpOp::Is => Some(is_equal),
        CmpOp::NotEq | CmpOp::IsNot => Some(!is_equal),
        _ => None,
    }
}

/// Result of Python's own `float`, `int` or `bool`, by the scalar type that stands for each.
pub fn python_number<'a, F: DialectValue>(
    scalar: Scalar,
    of: &KnownValue<'a, F>,
) -> Option<KnownValue<'a, F>> {
    Some(match (scalar, of) {
        (Scalar::F32, _) => KnownValue::Float(of.as_f64()?),
        (Scalar::I32, _) => match of.as_int() {
            Some(value) => KnownValue::Int(value),
            None => whole(of.as_f64()?.trunc())?,
        },
        _ => KnownValue::Bool(of.truth()?),
    })
}

/// Converts a float that is a whole number; `None` for numbers that may not fit an `i128`.
fn whole<'a, F: DialectValue>(value: f64) -> Option<KnownValue<'a, F>> {
    (value.abs() < 1e38).then_some(KnownValue::Int(value as i128))
}

/// Result of a function of `math` or NumPy on one number, by its path.
pub(crate) fn number_function(path: &str, operand: f64) -> Option<f64> {
    let function = match path.strip_prefix("math.").or_else(|| path.strip_prefix("numpy."))? {
        "sqrt" => f64::sqrt,
        "sin" => f64::sin,
        "cos" => f64::cos,
        "tan" => f64::tan,
        "exp" => f64::exp,
        "log" => f64::ln,
        "radians" => f64::to_radians,
        "degrees" => f64::to_degrees,
        _ => return None,
    };
    // NumPy gives an infinity or NaN where `math` raises an error.
    let result = function(operand);
    let is_given = path.starts_with("numpy.") || finite_as_its_operands(result, &[operand]);
    is_given.then_some(result)
}
