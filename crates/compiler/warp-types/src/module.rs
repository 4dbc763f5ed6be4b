//! Members of modules that the dialect knows, and attributes of types.

use crate::annotation::Annotation;
use crate::geometry;
use crate::unit::{Evaluation, Unit};
use crate::value::{KnownValue, type_value};
use crate::warp;
use gbxcule_ir::ty::Scalar;
use gbxcule_python_names::syntax::Expr;

/// Member of a module by the module's path; `None` if the dialect doesn't define the member.
pub(crate) fn member<'a>(
    unit: &Unit<'a>,
    path: &str,
    name: &str,
    expr: &Expr,
) -> Option<Evaluation<'a>> {
    match (path, name) {
        ("numpy", "bool_") => return Some(Ok(type_value(Annotation::Scalar(Scalar::Bool)))),
        ("warp", "wp") => return Some(Ok(KnownValue::Module("warp".into()))),
        _ => {}
    }
    if (path == "warp" || path == "warp.sparse" && name.starts_with("bsr_"))
        && let Some(value) = geometry::member(unit, name, expr)
    {
        return Some(value);
    }
    if let Some(library) = unit.dialect.library.filter(|library| library.name == path) {
        return Some(library.member(name, unit.quote(unit.span(expr)), unit.span(expr)));
    }
    if matches!(path, "warp" | "math" | "numpy")
        && let Some(value) = warp::number_named(name)
    {
        return Some(Ok(KnownValue::Float(value)));
    }
    if matches!(path, "warp" | "typing" | "numpy")
        && let Some(ty) = warp::type_named(name)
    {
        return Some(Ok(type_value(ty)));
    }
    match (path, name) {
        ("warp", "types" | "math" | "context" | "utils") => {
            Some(Ok(KnownValue::Module("warp".into())))
        }
        ("warp", "fem" | "optim" | "sparse" | "render" | "sim" | "config") => {
            Some(Ok(KnownValue::Module(format!("warp.{name}").into())))
        }
        _ => None,
    }
}

/// Attribute of a type.
pub fn type_attribute<'a>(
    unit: &Unit<'a>,
    ty: &Annotation,
    name: &str,
    expr: &Expr,
) -> Evaluation<'a> {
    match (ty, name) {
        (
            Annotation::Vector(_, of)
            | Annotation::Matrix(_, _, of)
            | Annotation::Quaternion(of)
            | Annotation::Transform(of)
            | Annotation::Array(of, _)
            | Annotation::Indexed(of, _),
            "dtype" | "_wp_scalar_type_",
        ) => Ok(type_value((**of).clone())),
        (Annotation::Vector(Some(len), _), "length" | "_length_") => {
            Ok(KnownValue::Int((*len).into()))
        }
        _ => {
            Err(unit
                .needs_python(expr, format!("`{name}` of a type is only known when Python runs")))
        }
    }
}
