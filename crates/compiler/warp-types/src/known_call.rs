//! Results of calls of types and of Warp's own functions that are known from the text.

use crate::annotation::Annotation;
use crate::type_expr;
use crate::unit::{Call, Evaluation, Unit};
use crate::value::{KnownValue, WarpValue, type_value};
use crate::warp;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::ty::Scalar;
use gbxcule_python_names::syntax::Expr;
use gbxcule_python_values::python_number;

/// Result of a call of a member of a module; `None` if the member isn't Warp's.
pub(crate) fn member_call<'a>(
    unit: &Unit<'a>,
    path: &str,
    call: &Call<'_, 'a>,
) -> Option<Evaluation<'a>> {
    const TYPES: [&str; 7] =
        ["vector", "matrix", "vec", "mat", "quaternion", "transformation", "fixedarray"];
    let unknown = || unit.unknown_result(call.expr);
    if let "numpy.finfo" | "numpy.iinfo" = path {
        return Some(number_type(unit, call).map(|of| {
            // The function `limit` gives attributes of this value.
            KnownValue::Member(format!("{path}.{}", of.name()).into())
        }));
    }
    let name = path.strip_prefix("warp.").unwrap_or("");
    Some(match name {
        "constant" => match call.args.args.first() {
            Some(arg) => unit.known(arg, call.scope),
            None => Err(unknown()),
        },
        name if warp::array_named(name).is_some() || TYPES.contains(&name) => {
            type_expr::annotation(unit, call.expr, call.scope).map(type_value)
        }
        name if makes_array(name) => {
            let fault =
                unit.needs_python(call.expr, "an array isn't known when a kernel is compiled");
            Err(Box::new(fault.help("pass it as an argument of the launch")))
        }
        _ => return None,
    })
}

/// The type whose limits NumPy is asked for; Python's numbers have 64 bits there.
fn number_type<'a>(unit: &Unit<'a>, call: &Call<'_, 'a>) -> Result<Scalar, Box<Diagnostic>> {
    let [arg] = &*call.args.args else { return Err(unit.unknown_result(call.expr)) };
    let is_python = arg.is_name_expr();
    match unit.known(arg, call.scope)? {
        KnownValue::Dialect(WarpValue::Type(Annotation::Scalar(of))) => Ok(match of {
            Scalar::F32 if is_python => Scalar::F64,
            Scalar::I32 if is_python => Scalar::I64,
            of => of,
        }),
        _ => Err(unit.unknown_result(call.expr)),
    }
}

/// Limit of a type of numbers: `of` is `numpy.finfo.float32` or another such call.
pub(crate) fn limit<'a>(of: &str, name: &str) -> Option<KnownValue<'a>> {
    let (function, of) = of.strip_prefix("numpy.")?.split_once('.')?;
    let of = Scalar::named(of)?;
    if function == "finfo" {
        let [eps, max, tiny] = match of {
            Scalar::F32 => [f32::EPSILON, f32::MAX, f32::MIN_POSITIVE].map(f64::from),
            Scalar::F64 => [f64::EPSILON, f64::MAX, f64::MIN_POSITIVE],
            _ => return None,
        };
        return Some(KnownValue::Float(match name {
            "eps" => eps,
            "max" => max,
            "min" => -max,
            "tiny" | "smallest_normal" => tiny,
            _ => return None,
        }));
    }
    let values = 1_i128 << of.bits();
    let least = if of.is_signed_int() { -(values / 2) } else { 0 };
    match name {
        "min" if of.is_int() => Some(KnownValue::Int(least)),
        "max" if of.is_int() => Some(KnownValue::Int(least + values - 1)),
        _ => None,
    }
}

/// Result of a call of a type.
pub(crate) fn type_call<'a>(
    unit: &Unit<'a>,
    ty: &Annotation,
    call: &Call<'_, 'a>,
) -> Evaluation<'a> {
    let unknown = || unit.unknown_result(call.expr);
    match ty {
        Annotation::Scalar(scalar) => scalar_call(unit, *scalar, call),
        Annotation::Quaternion(_)
        | Annotation::Transform(_)
        | Annotation::Vector(..)
        | Annotation::Matrix(..)
            if matches!(call.func, Expr::Attribute(it)
                if matches!(it.attr.as_str(), "quaternion" | "transformation"))
                && call.args.args.is_empty() =>
        {
            type_expr::annotation(unit, call.expr, call.scope).map(type_value)
        }
        Annotation::Vector(..)
        | Annotation::Matrix(..)
        | Annotation::Quaternion(_)
        | Annotation::Transform(_) => composite(unit, ty, call),
        _ => Err(unknown()),
    }
}

/// Result of `int(x)`, a Python number, or of `wp.int32(x)`, a number of type `int32`.
fn scalar_call<'a>(unit: &Unit<'a>, scalar: Scalar, call: &Call<'_, 'a>) -> Evaluation<'a> {
    let unknown = || unit.unknown_result(call.expr);
    let is_python = matches!(call.func, Expr::Name(name)
        if matches!(name.id.as_str(), "int" | "float" | "bool"));
    let [arg] = &*call.args.args else { return Err(unknown()) };
    let value = unit.settled(unit.known(arg, call.scope)?);
    let result = match is_python {
        true => python_number(scalar, &value),
        false => value.literal(scalar).map(KnownValue::Typed),
    };
    result.ok_or_else(unknown)
}

/// A vector, matrix, quaternion or transform of known numbers.
fn composite<'a>(unit: &Unit<'a>, ty: &Annotation, call: &Call<'_, 'a>) -> Evaluation<'a> {
    let unknown = || unit.unknown_result(call.expr);
    let args = call.args;
    let (of, count) = match ty {
        Annotation::Vector(Some(len), of) => (of, usize::from(*len)),
        Annotation::Matrix(Some(rows), Some(cols), of) => {
            (of, usize::from(*rows) * usize::from(*cols))
        }
        Annotation::Quaternion(of) => (of, 4),
        // Python's `wp.transform()` is the identity, but in kernels `wp.transform()` is all
        // zeros.
        Annotation::Transform(of) if !args.is_empty() => (of, 7),
        _ => return Err(unknown()),
    };
    let Annotation::Scalar(scalar) = **of else { return Err(unknown()) };
    let mut parts = Vec::new();
    if !args.keywords.is_empty() {
        return Err(unknown());
    }
    for arg in &args.args {
        let arg = match arg {
            Expr::Starred(starred) => &*starred.value,
            arg => arg,
        };
        flatten(unit.known(arg, call.scope)?, &mut parts);
    }
    let literals: Option<Vec<Literal>> = parts.iter().map(|part| part.literal(scalar)).collect();
    let mut literals = literals.ok_or_else(unknown)?;
    if literals.is_empty() {
        literals = vec![Literal::from_bits(scalar, 0); count];
    } else if literals.len() == 1 {
        literals = vec![literals[0]; count];
    } else if literals.len() == 3 && count == 7 {
        // A transform without a rotation has the identity.
        literals.extend([0, 0, 0, 1].map(|part| Literal::int(scalar, part)));
    }
    if literals.len() != count {
        return Err(unknown());
    }
    Ok(WarpValue::Composite(ty.clone(), literals.into()).into())
}

/// Adds the numbers in a value: the numbers of nested sequences, and the components of vectors.
fn flatten<'a>(value: KnownValue<'a>, parts: &mut Vec<KnownValue<'a>>) {
    match value {
        KnownValue::Sequence(inner) => inner.iter().for_each(|part| flatten(part.clone(), parts)),
        // Vectors are the rows of a matrix.
        KnownValue::Dialect(WarpValue::Composite(_, own)) => {
            parts.extend(own.iter().map(|part| KnownValue::Typed(*part)));
        }
        part => parts.push(part),
    }
}

/// Returns true for functions of Warp that make arrays.
fn makes_array(name: &str) -> bool {
    let name = name.strip_suffix("_like").unwrap_or(name);
    matches!(name, "zeros" | "ones" | "empty" | "full" | "from_numpy" | "from_torch" | "clone")
}
