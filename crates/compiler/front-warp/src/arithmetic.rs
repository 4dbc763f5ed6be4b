//! Python's arithmetic on numbers known from the text, and what they are as truth values and
//! scalars.

use super::annotation::Annotation;
use super::constant::KnownValue;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::ty::Scalar;
use gbxcule_python_names::syntax::{CmpOp, Operator};

/// Most numbers of a `range` that are kept as a constant.
pub(super) const MAX_RANGE: usize = 4096;

pub(super) fn arithmetic<'a>(
    op: Operator,
    left: &KnownValue<'a>,
    right: &KnownValue<'a>,
) -> Option<KnownValue<'a>> {
    if let (Some(l), Some(r)) = (as_int(left), as_int(right)) {
        let are_bools = matches!((left, right), (KnownValue::Bool(_), KnownValue::Bool(_)));
        return integer_arithmetic(op, l, r, are_bools);
    }
    match (op, left, right) {
        (Operator::Add, KnownValue::Sequence(left), KnownValue::Sequence(right)) => {
            let is_short = left.len() + right.len() <= MAX_RANGE;
            let parts = || left.iter().chain(right.iter()).cloned().collect();
            return is_short.then(|| KnownValue::Sequence(parts()));
        }
        (Operator::Mult, KnownValue::Sequence(parts), KnownValue::Int(times))
        | (Operator::Mult, KnownValue::Int(times), KnownValue::Sequence(parts)) => {
            let times = usize::try_from(*times).unwrap_or(0);
            let len = parts.len().checked_mul(times).filter(|len| *len <= MAX_RANGE)?;
            return Some(KnownValue::Sequence(parts.iter().cycle().take(len).cloned().collect()));
        }
        _ => {}
    }
    let plain = |value: &KnownValue<'a>| match value {
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

/// Arithmetic on integers; bits of two truth values are a truth value.
fn integer_arithmetic<'a>(
    op: Operator,
    l: i128,
    r: i128,
    are_bools: bool,
) -> Option<KnownValue<'a>> {
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

/// An integer as a float, if there is one that equals it: Python rounds others once, later.
pub(super) fn exact(value: i128) -> Option<f64> {
    let float = value as f64;
    (float as i128 == value && value != i128::MAX).then_some(float)
}

/// Python raises an error where the power is infinite, and has complex numbers where it is none.
fn float_power(left: f64, right: f64) -> Option<f64> {
    Some(left.powf(right)).filter(|power| finite_as_its_operands(*power, &[left, right]))
}

fn finite_as_its_operands(result: f64, operands: &[f64]) -> bool {
    result.is_finite() || operands.iter().any(|operand| !operand.is_finite())
}

/// Quotient and remainder as Python defines them: the remainder is exact, with the divisor's sign.
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

pub(super) fn as_int(value: &KnownValue<'_>) -> Option<i128> {
    match value {
        KnownValue::Int(value) => Some(*value),
        KnownValue::Bool(value) => Some(i128::from(*value)),
        _ => None,
    }
}

fn is_bool(value: &KnownValue<'_>) -> bool {
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

pub(super) fn compared(op: CmpOp, left: &KnownValue<'_>, right: &KnownValue<'_>) -> Option<bool> {
    if let (CmpOp::Is | CmpOp::IsNot, true) = (op, is_bool(left) || is_bool(right)) {
        return Some((left == right) == (op == CmpOp::Is));
    }
    if let (Some(l), Some(r)) = (as_int(left), as_int(right)) {
        return ordered(op, l, r);
    }
    let float = |value: &KnownValue<'_>| as_int(value).map_or_else(|| value.as_f64(), exact);
    if let (Some(l), Some(r)) = (float(left), float(right)) {
        return ordered(op, l, r);
    }
    if let (CmpOp::In | CmpOp::NotIn, KnownValue::Sequence(parts)) = (op, right) {
        let found = parts.iter().any(|part| compared(CmpOp::Eq, left, part) == Some(true));
        return Some(found == (op == CmpOp::In));
    }
    if let (CmpOp::In | CmpOp::NotIn, KnownValue::Text(part), KnownValue::Text(text)) =
        (op, left, right)
    {
        return Some(text.contains(&**part) == (op == CmpOp::In));
    }
    if let (CmpOp::In | CmpOp::NotIn, KnownValue::Dict(items)) = (op, right) {
        let found = items.iter().any(|(key, _)| compared(CmpOp::Eq, left, key) == Some(true));
        return Some(found == (op == CmpOp::In));
    }
    // A value that is only named here, such as `sys.platform`, may be anything.
    let named =
        |it: &KnownValue<'_>| matches!(it, KnownValue::Member(path) if !path.starts_with("warp."));
    if named(left) || named(right) {
        return None;
    }
    // A second name of a function may mean fewer of its overloads.
    if let (KnownValue::Function(left), KnownValue::Function(right)) = (left, right)
        && left != right
        && (left.home, left.name, left.frame) == (right.home, right.name, right.frame)
    {
        return None;
    }
    match op {
        CmpOp::Eq | CmpOp::Is => Some(left == right),
        CmpOp::NotEq | CmpOp::IsNot => Some(left != right),
        _ => None,
    }
}

/// Python's own `float`, `int` and `bool` of a value, by the scalars that stand for them.
pub(super) fn python_number<'a>(scalar: Scalar, of: &KnownValue<'a>) -> Option<KnownValue<'a>> {
    Some(match (scalar, of) {
        (Scalar::F32, KnownValue::Text(text)) => KnownValue::Float(text.trim().parse().ok()?),
        (Scalar::F32, _) => KnownValue::Float(of.as_f64()?),
        (Scalar::I32, KnownValue::Text(text)) => KnownValue::Int(text.trim().parse().ok()?),
        (Scalar::I32, _) => match as_int(of) {
            Some(value) => KnownValue::Int(value),
            None => whole(of.as_f64()?.trunc())?,
        },
        _ => KnownValue::Bool(of.truth()?),
    })
}

/// A float that is a whole number, as an integer. An `i128` holds none above.
fn whole<'a>(value: f64) -> Option<KnownValue<'a>> {
    (value.abs() < 1e38).then_some(KnownValue::Int(value as i128))
}

/// Result of a function of Python, `math` or NumPy.
pub(super) fn python_function<'a>(path: &str, args: &[KnownValue<'a>]) -> Option<KnownValue<'a>> {
    let number = |at: usize| args.get(at).and_then(KnownValue::as_f64);
    let int = |at: usize| args.get(at).and_then(as_int);
    // NumPy gives an infinity or no number where `math` raises an error.
    let float = |value: f64, operands: &[f64]| {
        let given = path.starts_with("numpy.") || finite_as_its_operands(value, operands);
        given.then_some(KnownValue::Float(value))
    };
    if let (Some(function), 1) = (function_of_one(path), args.len()) {
        let operand = number(0)?;
        return float(function(operand), &[operand]);
    }
    Some(match (path, args.len()) {
        ("math.atan2" | "numpy.arctan2", 2) => KnownValue::Float(number(0)?.atan2(number(1)?)),
        ("math.radians" | "numpy.radians" | "numpy.deg2rad", 1) => {
            KnownValue::Float(number(0)?.to_radians())
        }
        ("math.degrees" | "numpy.degrees" | "numpy.rad2deg", 1) => {
            KnownValue::Float(number(0)?.to_degrees())
        }
        ("math.log", 2) => {
            let (number, base) = (number(0)?, number(1)?);
            float(number.ln() / base.ln(), &[number, base])?
        }
        ("math.hypot" | "numpy.hypot", 2) => {
            let (x, y) = (number(0)?, number(1)?);
            float(x.hypot(y), &[x, y])?
        }
        ("math.pow", 2) => KnownValue::Float(float_power(number(0)?, number(1)?)?),
        ("math.floor", 1) => whole(number(0)?.floor())?,
        ("math.ceil", 1) => whole(number(0)?.ceil())?,
        ("math.trunc", 1) => whole(number(0)?.trunc())?,
        ("builtins.round", 1) => match int(0) {
            Some(value) => KnownValue::Int(value),
            None => whole(number(0)?.round_ties_even())?,
        },
        ("builtins.round", 2) => {
            let digits = usize::try_from(int(1)?).ok().filter(|digits| *digits <= 17)?;
            match int(0) {
                Some(value) => KnownValue::Int(value),
                // Both round what the number is exactly.
                None => KnownValue::Float(format!("{:.digits$}", number(0)?).parse().ok()?),
            }
        }
        // NumPy's types have the names of ours.
        ("numpy.dtype" | "warp.dtype_from_numpy" | "warp.dtype_to_numpy", 1) => match &args[0] {
            KnownValue::Type(Annotation::Scalar(of)) => KnownValue::Type(Annotation::Scalar(*of)),
            _ => return None,
        },
        ("builtins.abs", 1) => match int(0) {
            Some(value) => KnownValue::Int(value.checked_abs()?),
            None => KnownValue::Float(number(0)?.abs()),
        },
        ("builtins.pow", 2) => arithmetic(Operator::Pow, &args[0], &args[1])?,
        _ => {
            return integer_function(path, args)
                .or_else(|| super::sequence::sequence_function(path, args));
        }
    })
}

/// A function of one number that gives a float.
fn function_of_one(path: &str) -> Option<fn(f64) -> f64> {
    Some(match path {
        "math.sqrt" | "numpy.sqrt" => f64::sqrt,
        "math.sin" | "numpy.sin" => f64::sin,
        "math.cos" | "numpy.cos" => f64::cos,
        "math.tan" | "numpy.tan" => f64::tan,
        "math.exp" | "numpy.exp" => f64::exp,
        "math.log" | "numpy.log" => f64::ln,
        "math.log2" | "numpy.log2" => f64::log2,
        "math.log10" | "numpy.log10" => f64::log10,
        "math.asin" | "numpy.arcsin" => f64::asin,
        "math.acos" | "numpy.arccos" => f64::acos,
        "math.atan" | "numpy.arctan" => f64::atan,
        "math.fabs" | "numpy.fabs" => f64::abs,
        "math.tanh" | "numpy.tanh" => f64::tanh,
        "math.sinh" | "numpy.sinh" => f64::sinh,
        "math.cosh" | "numpy.cosh" => f64::cosh,
        "math.expm1" | "numpy.expm1" => f64::exp_m1,
        "math.log1p" | "numpy.log1p" => f64::ln_1p,
        "math.cbrt" | "numpy.cbrt" => f64::cbrt,
        "numpy.floor" => f64::floor,
        "numpy.ceil" => f64::ceil,
        _ => return None,
    })
}

/// Result of a function on integers.
fn integer_function<'a>(path: &str, args: &[KnownValue<'a>]) -> Option<KnownValue<'a>> {
    let int = |at: usize| args.get(at).and_then(as_int);
    Some(KnownValue::Int(match (path, args.len()) {
        ("builtins.int", 2) => match (&args[0], int(1)?) {
            (KnownValue::Text(text), base @ (2 | 8 | 10 | 16)) => {
                let digits = text.trim().to_ascii_lowercase();
                let prefix = match base {
                    2 => "0b",
                    8 => "0o",
                    16 => "0x",
                    _ => "",
                };
                let digits = digits.strip_prefix(prefix).unwrap_or(&digits);
                i128::from_str_radix(digits, base as u32).ok()?
            }
            _ => return None,
        },
        _ => return None,
    }))
}

impl KnownValue<'_> {
    /// Truth of the value in Python.
    pub(super) fn truth(&self) -> Option<bool> {
        Some(match self {
            Self::None => false,
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Float(value) => *value != 0.0,
            Self::Text(text) => !text.is_empty(),
            Self::Typed(literal) => literal.as_f64() != 0.0,
            Self::Sequence(parts) => !parts.is_empty(),
            Self::Dict(items) => !items.is_empty(),
            Self::Type(_) | Self::Module(_) | Self::Function(..) | Self::Class(_) => true,
            Self::Python(..) | Self::ImportedModule(_) => true,
            _ => return None,
        })
    }

    /// Number, if it is one.
    pub(super) fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Bool(value) => Some(f64::from(u8::from(*value))),
            Self::Int(value) => Some(*value as f64),
            Self::Float(value) => Some(*value),
            Self::Typed(literal) => Some(literal.as_f64()),
            _ => None,
        }
    }

    /// Converts it to a scalar of a type.
    pub(super) fn literal(&self, scalar: Scalar) -> Option<Literal> {
        match self {
            Self::Bool(value) => Some(Literal::int(scalar, i128::from(*value))),
            Self::Int(value) => Some(Literal::int(scalar, *value)),
            Self::Float(value) => Some(Literal::float(scalar, *value)),
            Self::Typed(literal) => Some(match literal.as_int() {
                Some(value) => Literal::int(scalar, value),
                None => Literal::float(scalar, literal.as_f64()),
            }),
            _ => None,
        }
    }
}
