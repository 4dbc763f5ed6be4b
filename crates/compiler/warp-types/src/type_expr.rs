//! Types as the text writes them: annotations, and expressions that stand for a type.

use crate::annotation::Annotation;
use crate::unit::Unit;
use crate::value::{KnownValue, WarpValue};
use crate::warp;
use gbxcule_ir::builtin::nearest_of;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::ty::Scalar;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{self, Arguments, Expr, Operator};
use std::rc::Rc;

/// The usual names of types, for advice on misspelled ones.
const TYPES: &str = "array array2d array3d array4d bool float16 float32 float64 int8 int16 int32 int64 mat22 \
    mat33 mat44 quat spatial_vector transform uint8 uint32 vec2 vec3";

/// Advice for types of Python that kernels don't have.
fn foreign_type_help(expr: &Expr) -> Option<&'static str> {
    let name = match expr {
        Expr::Subscript(subscript) => return foreign_type_help(&subscript.value),
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        Expr::BinOp(binary) if binary.op == Operator::BitOr => "Union",
        _ => return None,
    };
    Some(match name {
        "Optional" | "Union" => {
            "a parameter has one type: write that alone; an array that a launch gives as `None` is \
             false in the kernel"
        }
        "List" | "list" | "Sequence" | "ndarray" | "ArrayLike" | "NDArray" | "Tensor" => {
            "an array is written `wp.array(dtype=float)`, or `wp.array2d(..)` with two dimensions"
        }
        "Dict" | "dict" | "str" => "kernels take numbers, vectors, arrays and structs",
        _ => return None,
    })
}

type AnnotationResult = Result<Annotation, Box<Diagnostic>>;

/// Returns the type of an annotation.
pub fn annotation<'a>(unit: &Unit<'a>, expr: &'a Expr, scope: ScopeId) -> AnnotationResult {
    annotated_type(unit, expr, scope).map_err(|fault| match foreign_type_help(expr) {
        Some(help) if matches!(fault.code, Code::UnknownType | Code::ImportedName) => {
            Box::new(fault.help(help))
        }
        _ => fault,
    })
}

fn annotated_type<'a>(unit: &Unit<'a>, expr: &'a Expr, scope: ScopeId) -> AnnotationResult {
    match expr {
        Expr::BinOp(_) => Err(no_type(unit, expr, unit.quote(unit.span(expr)))),
        Expr::Subscript(subscript) => {
            let parts: Vec<&'a Expr> = match &*subscript.slice {
                Expr::Tuple(tuple) => tuple.elts.iter().collect(),
                one => vec![one],
            };
            subscripted(unit, &subscript.value, &parts, expr, scope)
        }
        Expr::Call(call) => called(unit, &call.func, &call.arguments, expr, scope),
        Expr::NoneLiteral(_) => Ok(Annotation::Tuple(Some(Rc::new([])))),
        _ => {
            let value = unit.known(expr, scope)?;
            as_type(unit, &value, expr)
        }
    }
}

/// A static value as a type.
pub fn as_type<'a>(unit: &Unit<'a>, value: &KnownValue<'a>, expr: &Expr) -> AnnotationResult {
    match value {
        KnownValue::Dialect(WarpValue::Type(ty)) => Ok(ty.clone()),
        KnownValue::Member(path) => match &**path {
            "typing.Any" => Ok(Annotation::Any),
            "typing.Callable" | "collections.abc.Callable" => Ok(Annotation::Callable),
            "typing.Tuple" => Ok(Annotation::Tuple(None)),
            "types.NoneType" => Ok(Annotation::Tuple(Some(Rc::new([])))),
            path => {
                let name = path.strip_prefix("warp.").unwrap_or("");
                if let Some(class) = warp::array_named(name) {
                    return Ok(class.of(Annotation::Any));
                }
                if name == "tile" {
                    return Ok(Annotation::Tile(Rc::new(Annotation::Any), None));
                }
                if let Some((code, what)) = warp::missing_feature(name) {
                    return Ok(Annotation::Unsupported(code, what));
                }
                let short = path.rsplit('.').next().unwrap_or(path);
                if path.starts_with("numpy.")
                    && let Some(scalar) = warp::scalar_named(short)
                {
                    return Ok(Annotation::Scalar(scalar));
                }
                if path.starts_with("builtins.") {
                    return Err(no_type(unit, expr, short));
                }
                if !path.starts_with("warp.") || path.matches('.').count() > 1 {
                    return Err(unit.files.unknown_module(path, unit.span(expr)));
                }
                Err(no_type(unit, expr, short))
            }
        },
        KnownValue::Text(text) => warp::type_named(text).ok_or_else(|| {
            Box::new(no_type(unit, expr, text).help("write the type without quotes"))
        }),
        KnownValue::None => Ok(Annotation::Tuple(Some(Rc::new([])))),
        KnownValue::Class(_) => {
            let fault = no_type(unit, expr, unit.quote(unit.span(expr)));
            Err(Box::new(
                fault.help("a class is a type if it is a `@wp.struct`, or if its base is a type"),
            ))
        }
        _ => Err(no_type(unit, expr, unit.quote(unit.span(expr)))),
    }
}

fn no_type<'a>(unit: &Unit<'a>, expr: &Expr, name: &str) -> Box<Diagnostic> {
    let message = format!("`{name}` isn't a type of the dialect");
    let fault = Diagnostic::error(Code::UnknownType, unit.span(expr), message);
    Box::new(match nearest_of(name, TYPES.split(' ')) {
        Some(near) => fault.help(format!("`wp.{near}` is")),
        None => fault,
    })
}

fn subscripted<'a>(
    unit: &Unit<'a>,
    base: &'a Expr,
    parts: &[&'a Expr],
    expr: &'a Expr,
    scope: ScopeId,
) -> AnnotationResult {
    let value = unit.known(base, scope)?;
    let name = match &value {
        KnownValue::Member(path) => path.strip_prefix("warp.").unwrap_or(path).to_owned(),
        KnownValue::Dialect(WarpValue::Type(Annotation::Tuple(None))) => "tuple".to_owned(),
        KnownValue::Dialect(WarpValue::Type(Annotation::Callable)) => {
            return Ok(Annotation::Callable);
        }
        KnownValue::Dialect(WarpValue::Type(unsupported @ Annotation::Unsupported(..))) => {
            return Ok(unsupported.clone());
        }
        _ => return Err(no_type(unit, expr, unit.quote(unit.span(expr)))),
    };
    if let Some(mut class) = warp::array_named(&name) {
        let of = annotation(unit, parts[0], scope)?;
        if let Some(second) = parts.get(1) {
            class.dims = Some(dimensions(unit, second, scope)?);
        }
        return Ok(class.of(of));
    }
    match name.as_str() {
        "tile" => {
            let of = Rc::new(annotation(unit, parts[0], scope)?);
            Ok(Annotation::Tile(of, tile_extents(unit, &parts[1..], expr, scope)?))
        }
        "tuple" | "typing.Tuple" => {
            if parts.iter().any(|part| matches!(part, Expr::EllipsisLiteral(_))) {
                return Ok(Annotation::Tuple(None));
            }
            let parts: Result<Vec<_>, _> =
                parts.iter().map(|part| annotation(unit, part, scope)).collect();
            Ok(Annotation::Tuple(Some(parts?.into())))
        }
        "ref" => Ok(Annotation::Reference(Rc::new(annotation(unit, parts[0], scope)?))),
        "typing.Callable" | "collections.abc.Callable" => Ok(Annotation::Callable),
        "vec" | "vector" | "types.vector" => vector_of(unit, parts, expr, scope),
        "mat" | "matrix" | "types.matrix" => {
            let [rows, cols, of] = parts else { return Err(no_type(unit, expr, &name)) };
            let of = annotation(unit, of, scope)?;
            let (rows, cols) = (extent(unit, rows, scope)?, extent(unit, cols, scope)?);
            Ok(Annotation::Matrix(rows, cols, Rc::new(of)))
        }
        "quaternion" => Ok(Annotation::Quaternion(Rc::new(annotation(unit, parts[0], scope)?))),
        "transformation" => Ok(Annotation::Transform(Rc::new(annotation(unit, parts[0], scope)?))),
        name => match warp::missing_feature(name) {
            Some((code, what)) => Ok(Annotation::Unsupported(code, what)),
            None => Err(no_type(unit, expr, name)),
        },
    }
}

/// The shape of a tile: numbers, or one tuple of them.
fn tile_extents<'a>(
    unit: &Unit<'a>,
    parts: &[&'a Expr],
    expr: &'a Expr,
    scope: ScopeId,
) -> Result<Option<Rc<[u32]>>, Box<Diagnostic>> {
    let mut extents = Vec::new();
    for part in parts {
        match unit.known(part, scope)? {
            KnownValue::Sequence(inner) => extents.extend(inner.iter().cloned()),
            one => extents.push(one),
        }
    }
    let extent = |known: &KnownValue<'a>| match known {
        KnownValue::Int(extent) => u32::try_from(*extent).ok().filter(|&extent| extent > 0),
        _ => None,
    };
    match extents.iter().map(extent).collect::<Option<Vec<u32>>>() {
        Some(found) if found.is_empty() => Ok(None),
        Some(found) if found.len() <= 4 => Ok(Some(found.into())),
        _ => {
            let message = "a tile's shape is one to four numbers above 0";
            Err(Box::new(Diagnostic::error(Code::UnknownType, unit.span(expr), message)))
        }
    }
}

fn vector_of<'a>(
    unit: &Unit<'a>,
    parts: &[&'a Expr],
    expr: &'a Expr,
    scope: ScopeId,
) -> AnnotationResult {
    let [len, of] = parts else { return Err(no_type(unit, expr, "vector")) };
    let of = annotation(unit, of, scope)?;
    Ok(Annotation::Vector(extent(unit, len, scope)?, Rc::new(of)))
}

fn dimensions<'a>(unit: &Unit<'a>, expr: &'a Expr, scope: ScopeId) -> Result<u8, Box<Diagnostic>> {
    let expr = literal(unit, expr, scope);
    match unit.known(expr, scope)? {
        KnownValue::Int(dims @ 1..=4) => Ok(dims as u8),
        _ => {
            let message = "an array has 1 to 4 dimensions";
            Err(Box::new(Diagnostic::error(Code::UnknownType, unit.span(expr), message)))
        }
    }
}

/// Returns `3` for `Literal[3]`, and any other expression unchanged.
fn literal<'a>(unit: &Unit<'a>, expr: &'a Expr, scope: ScopeId) -> &'a Expr {
    match expr {
        Expr::Subscript(it) => match unit.path(&it.value, scope).as_deref() {
            Some("typing.Literal" | "typing_extensions.Literal") => &it.slice,
            _ => expr,
        },
        expr => expr,
    }
}

/// A length: a number, or `Any`.
fn extent<'a>(
    unit: &Unit<'a>,
    expr: &'a Expr,
    scope: ScopeId,
) -> Result<Option<u16>, Box<Diagnostic>> {
    let expr = literal(unit, expr, scope);
    match unit.known(expr, scope)? {
        KnownValue::Int(len) if (1..=1024).contains(&len) => Ok(Some(len as u16)),
        KnownValue::Member(path) if &*path == "typing.Any" => Ok(None),
        KnownValue::Dialect(WarpValue::Type(Annotation::Any)) => Ok(None),
        _ => {
            let message = "a length is a whole number from 1 to 1024, or `Any`";
            Err(Box::new(Diagnostic::error(Code::UnknownType, unit.span(expr), message)))
        }
    }
}

/// The extents of a matrix, as far as they are known.
fn matrix_extents<'a>(
    unit: &Unit<'a>,
    shape: &'a Expr,
    scope: ScopeId,
) -> Result<Vec<Option<u16>>, Box<Diagnostic>> {
    if let Expr::Tuple(tuple) = shape {
        return tuple.elts.iter().map(|part| extent(unit, part, scope)).collect();
    }
    let KnownValue::Sequence(parts) = unit.known(shape, scope)? else { return Ok(Vec::new()) };
    let extent = |part: &KnownValue<'_>| match part {
        KnownValue::Int(len) => u16::try_from(*len).ok(),
        _ => None,
    };
    Ok(parts.iter().map(extent).collect())
}

fn called<'a>(
    unit: &Unit<'a>,
    func: &'a Expr,
    args: &'a Arguments,
    expr: &'a Expr,
    scope: ScopeId,
) -> AnnotationResult {
    let callee = unit.known(func, scope)?;
    let argument = |name, position| syntax::argument(args, name, position);
    let member = match &callee {
        KnownValue::Member(path) => path.strip_prefix("warp.").unwrap_or(path),
        KnownValue::Dialect(WarpValue::Type(unsupported @ Annotation::Unsupported(..))) => {
            return Ok(unsupported.clone());
        }
        KnownValue::Dialect(WarpValue::Type(Annotation::Quaternion(_))) => "quaternion",
        KnownValue::Dialect(WarpValue::Type(Annotation::Transform(_))) => "transformation",
        _ => return as_type(unit, &unit.known(expr, scope)?, expr),
    };
    let dtype = |position| {
        let given = argument("dtype", position).map(|of| annotation(unit, of, scope));
        given.unwrap_or(Ok(Annotation::Scalar(Scalar::F32)))
    };
    if member == "tile" {
        return tile_annotation(unit, args, expr, scope);
    }
    if let Some(mut class) = warp::array_named(member) {
        if let Some(ndim) = argument("ndim", 9) {
            class.dims = Some(dimensions(unit, ndim, scope)?);
        }
        return Ok(class.of(dtype_or_any(unit, args, scope)?));
    }
    let required =
        |name, position| argument(name, position).ok_or_else(|| no_type(unit, expr, member));
    match member {
        "vector" | "vec" => {
            let len = extent(unit, required("length", 0)?, scope)?;
            Ok(Annotation::Vector(len, Rc::new(dtype(1)?)))
        }
        "matrix" | "mat" => {
            let shape = required("shape", 0)?;
            let [rows, cols] = matrix_extents(unit, shape, scope)?[..] else {
                return Err(no_type(unit, expr, member));
            };
            Ok(Annotation::Matrix(rows, cols, Rc::new(dtype(1)?)))
        }
        "quaternion" => Ok(Annotation::Quaternion(Rc::new(dtype(0)?))),
        "transformation" => Ok(Annotation::Transform(Rc::new(dtype(0)?))),
        "fixedarray" => {
            let (extents, of) = (required("shape", 1)?, dtype(0)?);
            Ok(Annotation::Fixed(Rc::new(of), shape(unit, extents, scope)?.into()))
        }
        name => {
            if let Some((code, what)) = warp::missing_feature(name) {
                return Ok(Annotation::Unsupported(code, what));
            }
            let value = unit.known(expr, scope);
            as_type(unit, &value.map_err(|fault| of_warp(unit, &callee, func, fault))?, expr)
        }
    }
}

/// Returns the fault of a call that gives no type. For a function of Warp the fault says that the
/// function isn't a type.
fn of_warp<'a>(
    unit: &Unit<'a>,
    callee: &KnownValue<'a>,
    func: &Expr,
    fault: Box<Diagnostic>,
) -> Box<Diagnostic> {
    match callee {
        KnownValue::Member(path) => match path.strip_prefix("warp.") {
            Some(name) => no_type(unit, func, name),
            None => fault,
        },
        _ => fault,
    }
}

/// The annotation of `wp.tile(dtype, shape)`.
fn tile_annotation<'a>(
    unit: &Unit<'a>,
    args: &'a Arguments,
    expr: &'a Expr,
    scope: ScopeId,
) -> AnnotationResult {
    let shape = syntax::argument(args, "shape", 1).into_iter().collect::<Vec<_>>();
    let of = dtype_or_any(unit, args, scope)?;
    Ok(Annotation::Tile(Rc::new(of), tile_extents(unit, &shape, expr, scope)?))
}

fn dtype_or_any<'a>(unit: &Unit<'a>, args: &'a Arguments, scope: ScopeId) -> AnnotationResult {
    match syntax::argument(args, "dtype", 0) {
        Some(of) => annotation(unit, of, scope),
        None => Ok(Annotation::Any),
    }
}

/// A constant shape: a number or a tuple of numbers.
pub fn shape<'a>(
    unit: &Unit<'a>,
    expr: &'a Expr,
    scope: ScopeId,
) -> Result<Vec<u32>, Box<Diagnostic>> {
    let value = unit.known(expr, scope)?;
    let extents: Option<Vec<u32>> = match &value {
        KnownValue::Int(len) => u32::try_from(*len).ok().map(|len| vec![len]),
        KnownValue::Sequence(parts) => parts
            .iter()
            .map(|part| match part {
                KnownValue::Int(len) => u32::try_from(*len).ok(),
                _ => None,
            })
            .collect(),
        _ => None,
    };
    extents.filter(|e| (1..=4).contains(&e.len()) && e.iter().all(|&len| len > 0)).ok_or_else(
        || {
            let message =
                "a shape is one to four whole numbers above 0, known without running Python";
            Box::new(Diagnostic::error(Code::NeedsPythonEvaluation, unit.span(expr), message))
        },
    )
}
