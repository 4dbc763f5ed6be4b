//! Native builtins: functions that each back end, and `eval`, must compute by itself.
//!
//! All take scalars of one type and return a scalar. On `f16` and `bf16` they are computed in `f32`
//! and rounded once.

use super::{Domain, native_derivative as derivative};
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
    Fma,
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
    /// Scalars that it takes.
    pub domain: Domain,
    /// Number of operands.
    pub arity: u8,
    /// Scalar of the result; `None` stands for the operands' own.
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

/// Derivative of a builtin.
#[derive(Clone, Copy, Debug)]
pub enum Derivative {
    /// `grad` differentiates the builtin's body.
    Through,
    /// Zero almost everywhere, or undefined because the result is not a float.
    Zero,
    /// Partial derivatives, built from operands and result.
    Partials(PartialsFn),
}

/// Builds the partial derivatives, one for each operand, from operands and result.
pub type PartialsFn = fn(&mut Builder<'_>, &[Value], Value) -> Vec<Value>;

impl Native {
    /// Returns the native's row.
    pub fn row(self) -> &'static NativeRow {
        &NATIVES[self as usize]
    }

    /// Returns the scalar type of the result for operands of a scalar type.
    pub fn result(self, of: Scalar) -> Scalar {
        self.row().result.unwrap_or(of)
    }

    /// Iterates over every native builtin, in the order of the table.
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
static NATIVES: [NativeRow; 37] = [
    // If one operand is NaN, the result is the other; if both are equal (-0 and 0 are), the first.
    row(Native::Min, "min", 0, Partials(derivative::min)).binary().on(Domain::Number),
    row(Native::Max, "max", 0, Partials(derivative::max)).binary().on(Domain::Number),
    // The smallest integer's absolute value is itself.
    row(Native::Abs, "abs", 0, Partials(derivative::abs)).on(Domain::Number),
    row(Native::Copysign, "copysign", 0, Partials(derivative::copysign)).binary(),
    // `a * b + c`, rounded once.
    NativeRow { arity: 3, ..row(Native::Fma, "fma", 0, Partials(derivative::fma)) },
    row(Native::Floor, "floor", 0, Zero),
    row(Native::Ceil, "ceil", 0, Zero),
    row(Native::Trunc, "trunc", 0, Zero),
    // Halves are rounded away from zero.
    row(Native::Round, "round", 0, Zero),
    // Halves are rounded to even.
    row(Native::Rint, "rint", 0, Zero),
    row(Native::Sqrt, "sqrt", 0, Partials(derivative::sqrt)),
    row(Native::Cbrt, "cbrt", 2, Partials(derivative::cbrt)),
    row(Native::Sin, "sin", 2, Partials(derivative::sin)),
    row(Native::Cos, "cos", 2, Partials(derivative::cos)),
    row(Native::Tan, "tan", 2, Partials(derivative::tan)),
    // Operands outside -1..1 are clamped.
    row(Native::Asin, "asin", 2, Partials(derivative::asin)),
    row(Native::Acos, "acos", 2, Partials(derivative::acos)),
    row(Native::Atan, "atan", 2, Partials(derivative::atan)),
    row(Native::Atan2, "atan2", 2, Partials(derivative::atan2)).binary(),
    row(Native::Sinh, "sinh", 2, Partials(derivative::sinh)),
    row(Native::Cosh, "cosh", 2, Partials(derivative::cosh)),
    row(Native::Tanh, "tanh", 2, Partials(derivative::tanh)),
    row(Native::Exp, "exp", 2, Partials(derivative::exp)),
    row(Native::Log, "log", 2, Partials(derivative::log)),
    row(Native::Log2, "log2", 2, Partials(derivative::log2)),
    row(Native::Log10, "log10", 2, Partials(derivative::log10)),
    row(Native::Pow, "pow", 4, Partials(derivative::pow)).binary(),
    row(Native::Erf, "erf", 4, Partials(derivative::erf)),
    row(Native::Erfc, "erfc", 4, Partials(derivative::erfc)),
    row(Native::Erfinv, "erfinv", 8, Partials(derivative::erfinv)),
    row(Native::Erfcinv, "erfcinv", 8, Partials(derivative::erfcinv)),
    row(Native::IsNan, "isnan", 0, Zero).with_result(Scalar::Bool),
    row(Native::IsInf, "isinf", 0, Zero).with_result(Scalar::Bool),
    row(Native::IsFinite, "isfinite", 0, Zero).with_result(Scalar::Bool),
    // Counts the bits that are 1, in the type's own width.
    row(Native::BitCount, "bit_count", 0, Zero).on(Domain::Int).with_result(Scalar::I32),
    // The count for 0 is the width.
    row(Native::LeadingZeros, "leading_zeros", 0, Zero).on(Domain::Int).with_result(Scalar::I32),
    row(Native::TrailingZeros, "trailing_zeros", 0, Zero).on(Domain::Int).with_result(Scalar::I32),
];

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
