//! Arithmetic and functions of scalars, on vectors by component where NVIDIA Warp allows it.

use super::{
    BuiltinRow, Derivative, Dim, Domain, Native, Pattern, Visibility, body, native, row_of,
};
use crate::build::Builder;
use crate::op::{Op, Value};
use Derivative::Through;
use Domain::{Any, Float, Int, Number};
use Pattern::{A, Is, T, Unit};

const V: Pattern = Pattern::Vector(Dim::N);

/// Row of a function of one float.
macro_rules! float {
    ($name:literal, $native:ident, $doc:literal) => {
        row_of($name, &[native(Float, &["x"], &[T], T, Native::$native)], Through, $doc)
    };
}

/// Row of a test of a float, or of all components of a composite, that returns a `bool`.
macro_rules! test {
    ($name:literal, $native:ident, $all:literal, $doc:literal) => {
        row_of(
            $name,
            &[
                native(Float, &["x"], &[T], Pattern::Is(BOOL), Native::$native),
                body(Float, &["x"], &[V], Is(BOOL), |b| tested(b, Native::$native, $all)),
                body(Float, &["x"], &[Pattern::Quaternion], Is(BOOL), |b| {
                    tested(b, Native::$native, $all)
                }),
                body(Float, &["x"], &[Pattern::Matrix(Dim::N, Dim::M)], Is(BOOL), |b| {
                    tested(b, Native::$native, $all)
                }),
            ],
            Through,
            $doc,
        )
    };
}

const BOOL: crate::ty::Scalar = crate::ty::Scalar::Bool;

#[rustfmt::skip]
pub(super) static ROWS: &[BuiltinRow] = &[
    row_of("min", &[
        native(Number, &["a", "b"], &[T, T], T, Native::Min),
        body(Number, &["a", "b"], &[V, V], V, |b| Some(by_component(b, Native::Min))),
        body(Number, &["a"], &[V], T, |b| folded(b, Native::Min)),
    ], Through, "The smaller of two, by component on vectors; the smallest component of one vector."),
    row_of("max", &[
        native(Number, &["a", "b"], &[T, T], T, Native::Max),
        body(Number, &["a", "b"], &[V, V], V, |b| Some(by_component(b, Native::Max))),
        body(Number, &["a"], &[V], T, |b| folded(b, Native::Max)),
    ], Through, "The larger of two, by component on vectors; the largest component of one vector."),
    row_of("clamp", &[body(Number, &["x", "low", "high"], &[T, T, T], T, |b| {
        let (x, low, high) = (b.arg(0), b.arg(1), b.arg(2));
        let raised = b.native(Native::Max, &[low, x]);
        Some(b.native(Native::Min, &[raised, high]))
    })], Through, "`min(max(low, x), high)`"),
    row_of("abs", &[
        native(Number, &["x"], &[T], T, Native::Abs),
        body(Number, &["x"], &[V], V, |b| Some(by_component(b, Native::Abs))),
    ], Through, "The magnitude; of the smallest integer, itself."),
    row_of("sign", &[
        body(Number, &["x"], &[T], T, |b| {
            let x = b.arg(0);
            Some(sign(b, x))
        }),
        body(Number, &["x"], &[V], V, |b| {
            let x = b.arg(0);
            let ty = b.body().type_of(x);
            let parts = b.parts(x);
            let signs: Vec<Value> = parts.into_iter().map(|part| sign(b, part)).collect();
            Some(b.assemble(ty, &signs))
        }),
    ], Through, "-1 below zero, else 1; by component on vectors."),
    row_of("copysign", &[native(Float, &["x", "y"], &[T, T], T, Native::Copysign)], Through,
        "The magnitude of x with the sign of y."),
    row_of("step", &[body(Number, &["x"], &[T], T, |b| {
        let x = b.arg(0);
        let (zero, one) = (number(b, x, 0.0), number(b, x, 1.0));
        let below = b.lt(x, zero);
        Some(b.select(below, one, zero))
    })], Through, "1 below zero, else 0."),
    row_of("nonzero", &[body(Number, &["x"], &[T], T, |b| {
        let x = b.arg(0);
        let (zero, one) = (number(b, x, 0.0), number(b, x, 1.0));
        let equal = b.eq(x, zero);
        Some(b.select(equal, zero, one))
    })], Through, "0 of zero, else 1."),
    float!("sin", Sin, "The sine of radians."),
    float!("cos", Cos, "The cosine of radians."),
    float!("tan", Tan, "The tangent of radians."),
    float!("asin", Asin, "The arc sine; x is first clamped to -1..1, NaN to -1."),
    float!("acos", Acos, "The arc cosine; x is first clamped to -1..1, NaN to -1."),
    float!("atan", Atan, "The arc tangent."),
    row_of("atan2", &[native(Float, &["y", "x"], &[T, T], T, Native::Atan2)], Through,
        "The angle of the point (x, y)."),
    float!("sinh", Sinh, "The hyperbolic sine."),
    float!("cosh", Cosh, "The hyperbolic cosine."),
    float!("tanh", Tanh, "The hyperbolic tangent."),
    float!("sqrt", Sqrt, "The square root; NaN below zero."),
    float!("cbrt", Cbrt, "The cubic root."),
    float!("exp", Exp, "e to the power of x."),
    float!("log", Log, "The natural logarithm."),
    float!("log2", Log2, "The logarithm to base 2."),
    float!("log10", Log10, "The logarithm to base 10."),
    row_of("pow", &[native(Float, &["x", "y"], &[T, T], T, Native::Pow)], Through, "x to the power of y."),
    float!("erf", Erf, "The error function."),
    float!("erfc", Erfc, "`1 - erf(x)`, accurate where the result is small."),
    float!("erfinv", Erfinv, "The inverse of the error function."),
    float!("erfcinv", Erfcinv, "The inverse of the complementary error function."),
    float!("floor", Floor, "The nearest whole number at or below."),
    float!("ceil", Ceil, "The nearest whole number at or above."),
    float!("trunc", Trunc, "The whole number next towards zero."),
    float!("round", Round, "The nearest whole number, halves away from zero."),
    float!("rint", Rint, "The nearest whole number, halves to even."),
    row_of("frac", &[body(Float, &["x"], &[T], T, |b| {
        let x = b.arg(0);
        let truncated = b.native(Native::Trunc, &[x]);
        Some(b.sub(x, truncated))
    })], Through, "`x - trunc(x)`, with the sign of x."),
    row_of("degrees", &[body(Float, &["x"], &[T], T, |b| scaled(b, 57.29577951308232))], Through,
        "Radians to degrees."),
    row_of("radians", &[body(Float, &["x"], &[T], T, |b| scaled(b, 0.017453292519943295))], Through,
        "Degrees to radians."),
    test!("isnan", IsNan, false, "True if x, or any component of x, is not a number."),
    test!("isinf", IsInf, false, "True if x, or any component of x, is infinite."),
    test!("isfinite", IsFinite, true, "True if x, or every component of x, is finite."),
    row_of("bit_count", &[native(Int, &["x"], &[T], Is(crate::ty::Scalar::I32), Native::BitCount)], Through,
        "The number of bits that are 1."),
    BuiltinRow { visibility: Visibility::Inner, ..row_of("leading_zeros",
        &[native(Int, &["x"], &[T], Is(crate::ty::Scalar::I32), Native::LeadingZeros)], Through,
        "The number of zero bits above the highest 1; the type's width if x is 0.") },
    BuiltinRow { visibility: Visibility::Inner, ..row_of("trailing_zeros",
        &[native(Int, &["x"], &[T], Is(crate::ty::Scalar::I32), Native::TrailingZeros)], Through,
        "The number of zero bits below the lowest 1; the type's width if x is 0.") },
    row_of("lerp", &[
        body(Float, &["a", "b", "t"], &[T, T, T], T, |b| Some(lerp(b))),
        body(Float, &["a", "b", "t"], &[V, V, T], V, |b| Some(lerp(b))),
        body(Float, &["a", "b", "t"], &[Pattern::Matrix(Dim::N, Dim::M), Pattern::Matrix(Dim::N, Dim::M), T],
            Pattern::Matrix(Dim::N, Dim::M), |b| Some(lerp(b))),
        body(Float, &["a", "b", "t"], &[Pattern::Quaternion, Pattern::Quaternion, T], Pattern::Quaternion, |b| Some(lerp(b))),
        body(Float, &["a", "b", "t"], &[Pattern::Transform, Pattern::Transform, T], Pattern::Transform, |b| Some(lerp(b))),
    ], Through, "`a * (1 - t) + b * t`"),
    row_of("smoothstep", &[body(Float, &["a", "b", "x"], &[T, T, T], T, |b| {
        let (low, high, x) = (b.arg(0), b.arg(1), b.arg(2));
        let (above, width) = (b.sub(x, low), b.sub(high, low));
        let ratio = b.div(above, width);
        let (zero, one) = (number(b, x, 0.0), number(b, x, 1.0));
        let t = b.named("clamp", &[ratio, zero, one]);
        let (two, three) = (number(b, x, 2.0), number(b, x, 3.0));
        let twice = b.mul(two, t);
        let (square, slope) = (b.mul(t, t), b.sub(three, twice));
        Some(b.mul(square, slope))
    })], Through, "0 below a, 1 above b, a smooth cubic between."),
    row_of("where", &[
        body(Any, &["condition", "if_true", "if_false"], &[Is(BOOL), A, A], A, |b| {
            let (condition, accept, reject) = (b.arg(0), b.arg(1), b.arg(2));
            Some(b.select(condition, accept, reject))
        }),
        body(Int, &["condition", "if_true", "if_false"], &[T, A, A], A, |b| {
            let (condition, accept, reject) = (b.arg(0), b.arg(1), b.arg(2));
            let condition = b.convert(condition, BOOL);
            Some(b.select(condition, accept, reject))
        }),
        body(Any, &["array", "if_true", "if_false"], &[Pattern::AnyArray, A, A], A, |b| {
            let (array, accept, reject) = (b.arg(0), b.arg(1), b.arg(2));
            let condition = b.present(array);
            Some(b.select(condition, accept, reject))
        }),
    ], Through, "The second argument if the first is true, else the third; both are evaluated."),
    row_of("expect_eq", &[body(Any, &["actual", "expected"], &[A, A], Unit, |b| expect(b, true))], Through,
        "Prints a line if the two differ."),
    row_of("expect_neq", &[body(Any, &["actual", "expected"], &[A, A], Unit, |b| expect(b, false))], Through,
        "Prints a line if the two are equal."),
    row_of("expect_near", &[
        body(Float, &["actual", "expected", "tolerance"], &[T, T, T], Unit, expect_near),
        body(Float, &["actual", "expected", "tolerance"], &[V, V, T], Unit, expect_near),
        body(Float, &["actual", "expected", "tolerance"], &[Pattern::Quaternion, Pattern::Quaternion, T], Unit, expect_near),
        body(Float, &["actual", "expected", "tolerance"],
            &[Pattern::Matrix(Dim::N, Dim::M), Pattern::Matrix(Dim::N, Dim::M), T], Unit, expect_near),
    ], Through, "Prints a line if any component of the two differs by more than the tolerance."),
    BuiltinRow { visibility: Visibility::Inner, ..row_of("equal", &[body(Any, &["a", "b"], &[A, A], Is(BOOL), |b| {
        let (left, right) = (b.arg(0), b.arg(1));
        Some(equal(b, left, right))
    })], Through, "True if all components are equal.") },
];

/// Makes a constant of the scalar type of `like`.
pub(super) fn number(b: &mut Builder<'_>, like: Value, value: f64) -> Value {
    let ty = b.body().type_of(like);
    let scalar = b.module.types.components(ty).map(|(scalar, _)| scalar);
    match scalar {
        Some(scalar) => b.number(crate::ty::Type::scalar(scalar), value),
        None => b.emit(Op::Zero, crate::ty::Type::INVALID),
    }
}

fn sign(b: &mut Builder<'_>, x: Value) -> Value {
    let (zero, one) = (number(b, x, 0.0), number(b, x, 1.0));
    let minus = b.neg(one);
    let below = b.lt(x, zero);
    b.select(below, minus, one)
}

/// Applies a native builtin to each component of all parameters.
fn by_component(b: &mut Builder<'_>, native: Native) -> Value {
    let args: Vec<Value> = (0..native.row().arity).map(|at| b.arg(u32::from(at))).collect();
    let ty = b.body().type_of(args[0]);
    let columns: Vec<Vec<Value>> = args.iter().map(|&arg| b.parts(arg)).collect();
    let results: Vec<Value> = (0..columns[0].len())
        .map(|at| {
            let row: Vec<Value> = columns.iter().map(|column| column[at]).collect();
            b.native(native, &row)
        })
        .collect();
    b.assemble(ty, &results)
}

/// Folds a native builtin of two operands over all components of the parameter.
fn folded(b: &mut Builder<'_>, native: Native) -> Option<Value> {
    let arg = b.arg(0);
    b.parts(arg).into_iter().reduce(|all, part| b.native(native, &[all, part]))
}

fn tested(b: &mut Builder<'_>, native: Native, all: bool) -> Option<Value> {
    let arg = b.arg(0);
    let tests: Vec<Value> =
        b.parts(arg).into_iter().map(|part| b.native(native, &[part])).collect();
    tests.into_iter().reduce(|left, right| if all { b.and(left, right) } else { b.or(left, right) })
}

fn scaled(b: &mut Builder<'_>, factor: f64) -> Option<Value> {
    let x = b.arg(0);
    let factor = number(b, x, factor);
    Some(b.mul(x, factor))
}

fn lerp(b: &mut Builder<'_>) -> Value {
    let (from, to, t) = (b.arg(0), b.arg(1), b.arg(2));
    let one = number(b, t, 1.0);
    let complement = b.sub(one, t);
    let (left, right) = (b.scale(from, complement), b.scale(to, t));
    b.add(left, right)
}

/// Compares two values: true if all components are equal. Values of types without components are
/// never equal.
fn equal(b: &mut Builder<'_>, left: Value, right: Value) -> Value {
    let (left, right) = (b.parts(left), b.parts(right));
    let pairs: Vec<Value> = left.into_iter().zip(right).map(|(l, r)| b.eq(l, r)).collect();
    let all = pairs.into_iter().reduce(|all, pair| b.and(all, pair));
    all.unwrap_or_else(|| b.bool(false))
}

fn expect(b: &mut Builder<'_>, wanted: bool) -> Option<Value> {
    let (actual, expected) = (b.arg(0), b.arg(1));
    let same = equal(b, actual, expected);
    let failed = if wanted { b.not(same) } else { same };
    b.if_then(failed, |b| {
        let name = if wanted { "expect_eq" } else { "expect_neq" };
        b.print(Some(&format!("Error, {name}() failed:\n\t Expected: ")), &[]);
        b.print(None, &[expected]);
        b.print(Some("\t Actual: "), &[]);
        b.print(None, &[actual]);
    });
    None
}

fn expect_near(b: &mut Builder<'_>) -> Option<Value> {
    let (actual, expected, tolerance) = (b.arg(0), b.arg(1), b.arg(2));
    let difference = b.sub(actual, expected);
    let sizes: Vec<Value> =
        b.parts(difference).into_iter().map(|part| b.native(Native::Abs, &[part])).collect();
    let largest = sizes.into_iter().reduce(|all, size| b.native(Native::Max, &[all, size]))?;
    let failed = b.lt(tolerance, largest);
    b.if_then(failed, |b| {
        let lines = [
            ("Error, expect_near() failed with tolerance ", tolerance),
            ("    Expected: ", expected),
            ("    Actual: ", actual),
            ("    Absolute difference: ", largest),
        ];
        for (label, value) in lines {
            b.print(Some(label), &[]);
            b.print(None, &[value]);
        }
    });
    None
}
