//! Native builtins: functions that each back end, and `eval`, must compute by itself.
//!
//! All take scalars of one type and give a scalar. On `f16` and `bf16` they are done in `f32` and
//! rounded once.

use super::Domain;
use crate::build::Builder;
use crate::op::Value;
use crate::ty::Scalar;

/// A native builtin.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[allow(missing_docs, reason = "the table below says it")]
pub enum Native {
    Min,
    Max,
    Abs,
    Copysign,
    Floor,
    Ceil,
    Trunc,
    Round,
    Rint,
    Sqrt,
    Cbrt,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Exp,
    Log,
    Log2,
    Log10,
    Pow,
    Erf,
    Erfc,
    Erfinv,
    Erfcinv,
    IsNan,
    IsInf,
    IsFinite,
    BitCount,
    LeadingZeros,
    TrailingZeros,
}

/// Row of the table of native builtins.
#[derive(Clone, Copy, Debug)]
pub struct NativeRow {
    /// Native function.
    pub native: Native,
    /// Name in printed IR.
    pub name: &'static str,
    /// Scalars it takes.
    pub domain: Domain,
    /// Number of operands.
    pub arity: u8,
    /// The result's scalar; `None` for the operands' own.
    pub result: Option<Scalar>,
    /// Units in the last place by which two ways of running may differ on f32 and f64.
    pub ulps: u8,
    /// Name of the function that C++ text calls.
    pub cxx: &'static str,
    /// Name of the function that CUDA text calls.
    pub cuda: &'static str,
    /// Derivative that `grad` uses.
    pub derivative: Derivative,
}

/// Derivative of a builtin, as `grad` finds it.
#[derive(Clone, Copy, Debug)]
pub enum Derivative {
    /// The builtin's body is differentiated.
    Through,
    /// Zero almost everywhere, or not a number at all.
    Zero,
    /// Partial derivatives are given.
    Partials(PartialsFn),
}

/// Builds the partial derivatives, one for each operand, from operands and result.
pub type PartialsFn = fn(&mut Builder<'_>, &[Value], Value) -> Vec<Value>;

impl Native {
    /// Row.
    pub fn row(self) -> &'static NativeRow {
        &NATIVES[self as usize]
    }

    /// The scalar of its result on operands of a scalar type.
    pub fn result(self, of: Scalar) -> Scalar {
        self.row().result.unwrap_or(of)
    }

    /// Every native builtin, in the order of the table.
    pub fn all() -> impl Iterator<Item = Self> {
        NATIVES.iter().map(|row| row.native)
    }
}

const fn row(native: Native, name: &'static str, ulps: u8, derivative: Derivative) -> NativeRow {
    let domain = Domain::Float;
    NativeRow {
        native,
        name,
        domain,
        arity: 1,
        result: None,
        ulps,
        cxx: name,
        cuda: name,
        derivative,
    }
}

impl NativeRow {
    const fn binary(self) -> Self {
        Self { arity: 2, ..self }
    }

    const fn on(self, domain: Domain) -> Self {
        Self { domain, ..self }
    }

    const fn with_result(self, result: Scalar) -> Self {
        Self { result: Some(result), ..self }
    }
}

use Derivative::{Partials, Zero};

/// Rows of all natives, in the order of the enum.
#[rustfmt::skip]
static NATIVES: [NativeRow; 36] = [
    // If one operand is NaN the other; if both are equal (-0 and 0 are) the first.
    row(Native::Min, "min", 0, Partials(|b, a, r| { let first = is_first_operand(b, a[0], r); either(b, a[0], first) })).binary().on(Domain::Number),
    row(Native::Max, "max", 0, Partials(|b, a, r| { let first = is_first_operand(b, a[0], r); either(b, a[0], first) })).binary().on(Domain::Number),
    // Of the smallest integer, itself.
    row(Native::Abs, "abs", 0, Partials(|b, a, _| { let s = sign(b, a[0]); vec![s] })).on(Domain::Number),
    row(Native::Copysign, "copysign", 0, Partials(|b, a, r| {
        let (x, y) = (sign_bit(b, a[0]), sign_bit(b, r));
        let zero = constant(b, r, 0.0);
        vec![b.mul(x, y), zero]
    })).binary(),
    row(Native::Floor, "floor", 0, Zero),
    row(Native::Ceil, "ceil", 0, Zero),
    row(Native::Trunc, "trunc", 0, Zero),
    // Halves away from zero.
    row(Native::Round, "round", 0, Zero),
    // Halves to even.
    row(Native::Rint, "rint", 0, Zero),
    row(Native::Sqrt, "sqrt", 0, Partials(|b, _, r| { let half = constant(b, r, 0.5); vec![b.div(half, r)] })),
    row(Native::Cbrt, "cbrt", 2, Partials(|b, _, r| {
        let (third, square) = (constant(b, r, 1.0 / 3.0), b.mul(r, r));
        vec![b.div(third, square)]
    })),
    row(Native::Sin, "sin", 2, Partials(|b, a, _| vec![b.native(Native::Cos, &a[..1])])),
    row(Native::Cos, "cos", 2, Partials(|b, a, _| { let s = b.native(Native::Sin, &a[..1]); vec![b.neg(s)] })),
    row(Native::Tan, "tan", 2, Partials(|b, _, r| { let (one, t) = (constant(b, r, 1.0), b.mul(r, r)); vec![b.add(one, t)] })),
    // Operands beyond -1 and 1 are taken as -1 and 1.
    row(Native::Asin, "asin", 2, Partials(|b, a, _| vec![arc(b, a[0], 1.0)])),
    row(Native::Acos, "acos", 2, Partials(|b, a, _| vec![arc(b, a[0], -1.0)])),
    row(Native::Atan, "atan", 2, Partials(|b, a, _| {
        let (one, square) = (constant(b, a[0], 1.0), b.mul(a[0], a[0]));
        let below = b.add(one, square);
        vec![b.div(one, below)]
    })),
    row(Native::Atan2, "atan2", 2, Partials(|b, a, _| {
        let (yy, xx) = (b.mul(a[0], a[0]), b.mul(a[1], a[1]));
        let (below, minus) = (b.add(xx, yy), b.neg(a[0]));
        vec![b.div(a[1], below), b.div(minus, below)]
    })).binary(),
    row(Native::Sinh, "sinh", 2, Partials(|b, a, _| vec![b.native(Native::Cosh, &a[..1])])),
    row(Native::Cosh, "cosh", 2, Partials(|b, a, _| vec![b.native(Native::Sinh, &a[..1])])),
    row(Native::Tanh, "tanh", 2, Partials(|b, _, r| { let (one, t) = (constant(b, r, 1.0), b.mul(r, r)); vec![b.sub(one, t)] })),
    row(Native::Exp, "exp", 2, Partials(|_, _, r| vec![r])),
    row(Native::Log, "log", 2, Partials(|b, a, _| vec![reciprocal(b, a[0], 1.0)])),
    row(Native::Log2, "log2", 2, Partials(|b, a, _| vec![reciprocal(b, a[0], std::f64::consts::LOG2_E)])),
    row(Native::Log10, "log10", 2, Partials(|b, a, _| vec![reciprocal(b, a[0], std::f64::consts::LOG10_E)])),
    row(Native::Pow, "pow", 4, Partials(|b, a, r| {
        let one = constant(b, r, 1.0);
        let less = b.sub(a[1], one);
        let (power, log) = (b.native(Native::Pow, &[a[0], less]), b.native(Native::Log, &a[..1]));
        vec![b.mul(a[1], power), b.mul(r, log)]
    })).binary(),
    row(Native::Erf, "erf", 4, Partials(|b, a, _| vec![gaussian(b, a[0], std::f64::consts::FRAC_2_SQRT_PI)])),
    row(Native::Erfc, "erfc", 4, Partials(|b, a, _| vec![gaussian(b, a[0], -std::f64::consts::FRAC_2_SQRT_PI)])),
    row(Native::Erfinv, "erfinv", 8, Partials(|b, _, r| { let one = constant(b, r, 1.0); let below = gaussian(b, r, std::f64::consts::FRAC_2_SQRT_PI); vec![b.div(one, below)] })),
    row(Native::Erfcinv, "erfcinv", 8, Partials(|b, _, r| { let one = constant(b, r, 1.0); let below = gaussian(b, r, -std::f64::consts::FRAC_2_SQRT_PI); vec![b.div(one, below)] })),
    row(Native::IsNan, "isnan", 0, Zero).with_result(Scalar::Bool),
    row(Native::IsInf, "isinf", 0, Zero).with_result(Scalar::Bool),
    row(Native::IsFinite, "isfinite", 0, Zero).with_result(Scalar::Bool),
    // Bits that are 1, of the type's own width.
    row(Native::BitCount, "bit_count", 0, Zero).on(Domain::Int).with_result(Scalar::I32),
    // Of 0, the width.
    row(Native::LeadingZeros, "leading_zeros", 0, Zero).on(Domain::Int).with_result(Scalar::I32),
    row(Native::TrailingZeros, "trailing_zeros", 0, Zero).on(Domain::Int).with_result(Scalar::I32),
];

fn constant(b: &mut Builder<'_>, like: Value, value: f64) -> Value {
    let ty = b.body().type_of(like);
    b.number(ty, value)
}

fn reciprocal(b: &mut Builder<'_>, x: Value, above: f64) -> Value {
    let above = constant(b, x, above);
    b.div(above, x)
}

/// -1 below zero, else 1: what the dialect calls `sign`.
fn sign(b: &mut Builder<'_>, x: Value) -> Value {
    let (zero, one, minus) = (constant(b, x, 0.0), constant(b, x, 1.0), constant(b, x, -1.0));
    let below = b.lt(x, zero);
    b.select(below, minus, one)
}

/// The sign bit as -1 or 1, of zeros too.
fn sign_bit(b: &mut Builder<'_>, x: Value) -> Value {
    let one = constant(b, x, 1.0);
    b.native(Native::Copysign, &[one, x])
}

/// Condition under which the result of `min` or `max` is its first operand.
fn is_first_operand(b: &mut Builder<'_>, first: Value, result: Value) -> Value {
    b.eq(first, result)
}

fn either(b: &mut Builder<'_>, like: Value, first: Value) -> Vec<Value> {
    let (zero, one) = (constant(b, like, 0.0), constant(b, like, 1.0));
    vec![b.select(first, one, zero), b.select(first, zero, one)]
}

/// `above / sqrt(1 - x^2)`; 0 beyond -1 and 1, where the operand is clamped.
fn arc(b: &mut Builder<'_>, x: Value, above: f64) -> Value {
    let (one, square, above) = (constant(b, x, 1.0), b.mul(x, x), constant(b, x, above));
    let rest = b.sub(one, square);
    let root = b.native(Native::Sqrt, &[rest]);
    let (slope, zero) = (b.div(above, root), constant(b, x, 0.0));
    let beyond = b.lt(rest, zero);
    b.select(beyond, zero, slope)
}

/// `height * exp(-x^2)`
fn gaussian(b: &mut Builder<'_>, x: Value, height: f64) -> Value {
    let (square, height) = (b.mul(x, x), constant(b, x, height));
    let minus = b.neg(square);
    let exp = b.native(Native::Exp, &[minus]);
    b.mul(height, exp)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_the_enum() {
        for (position, row) in NATIVES.iter().enumerate() {
            assert_eq!(row.native as usize, position, "{}", row.name);
        }
    }
}
