//! Constructors: `float(x)`, `wp.vec3(..)`, `wp.mat22(..)`, structs, `wp.zeros(..)`.

use super::BuiltinCall;
use crate::lower::call::CallArgument;
use crate::lower::operand::{LoweringResult, Operand, fault};
use crate::lower::writer::Writer;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use gbxcule_python_names::syntax::Expr;
use gbxcule_warp_types::annotation::{Annotation, StructKey};
use gbxcule_warp_types::signature;
use gbxcule_warp_types::type_expr;
use gbxcule_warp_types::value::KnownValue;
use std::rc::Rc;

/// The type and the shape that a constructor's keywords give.
type TypeKeywords = (Option<Rc<Annotation>>, Option<Vec<u32>>);

impl<'a> BuiltinCall<'_, '_, 'a> {
    /// Makes a value of a type that the text names.
    pub(in crate::lower) fn construct_type(
        &mut self,
        annotation: &Annotation,
    ) -> LoweringResult<Operand<'a>> {
        let (call, span) = (self.call, self.span);
        if let Some((code, what)) = annotation.unsupported() {
            return fault(code, span, format!("{what} aren't supported"));
        }
        let mut given = Vec::new();
        for (keyword, operand, expr) in
            self.e.arguments_but(&call.arguments, &["dtype", "length", "shape"])?
        {
            match keyword {
                None | Some("p" | "q" | "x" | "y" | "z" | "w" | "v" | "pos" | "rot") => {
                    given.push((operand, expr.map_or(span, |e| self.e.span(e))));
                }
                Some(name) => {
                    let message = format!("this constructor has no parameter `{name}`");
                    return fault(Code::WrongArguments, span, message);
                }
            }
        }
        let stated = self.dtype_and_extents(&call.arguments.keywords)?;
        let annotation = completed(&mut self.e.b, annotation, stated, &given);
        if let Annotation::Scalar(scalar) = annotation {
            return number(&mut self.e.b, scalar, &given, span).map(Operand::Value);
        }
        let ty = self.e.b.concrete(&annotation, span)?;
        composite(&mut self.e.b, ty, &given, span).map(Operand::Value)
    }

    /// The keywords that complete a constructor's type.
    pub(super) fn dtype_and_extents(
        &mut self,
        keywords: &'a [gbxcule_python_names::syntax::Keyword],
    ) -> LoweringResult<TypeKeywords> {
        let (mut dtype, mut extents) = (None, None);
        for keyword in keywords {
            match keyword.arg.as_ref().map(|arg| arg.as_str()) {
                Some("dtype") => match self.e.expr(&keyword.value)? {
                    Operand::KnownValue(known) => {
                        dtype =
                            Some(Rc::new(type_expr::as_type(self.e.unit, &known, &keyword.value)?));
                    }
                    _ => {
                        let message = "a type is needed here";
                        return fault(Code::UnknownType, self.e.span(&keyword.value), message);
                    }
                },
                Some("length" | "shape") => extents = Some(self.known_shape(&keyword.value)?),
                _ => {}
            }
        }
        Ok((dtype, extents))
    }

    /// Returns a shape written in the text: a number or a tuple of numbers.
    pub(super) fn known_shape(&mut self, expr: &'a Expr) -> LoweringResult<Vec<u32>> {
        let operand = self.e.expr(expr)?;
        let parts: Vec<Operand<'a>> = match operand {
            Operand::Tuple(parts) => parts.to_vec(),
            Operand::KnownValue(KnownValue::Sequence(parts)) => {
                parts.iter().cloned().map(Operand::KnownValue).collect()
            }
            one => vec![one],
        };
        let extents: Option<Vec<u32>> = parts
            .iter()
            .map(|part| match part {
                Operand::KnownValue(KnownValue::Int(len)) => {
                    u32::try_from(*len).ok().filter(|len| (1..=1 << 24).contains(len))
                }
                Operand::KnownValue(KnownValue::Typed(literal)) => literal
                    .as_int()
                    .and_then(|len| u32::try_from(len).ok())
                    .filter(|len| (1..=1 << 24).contains(len)),
                _ => None,
            })
            .collect();
        match extents {
            Some(extents) if (1..=4).contains(&extents.len()) => Ok(extents),
            _ => fault(
                Code::NeedsConstant,
                self.e.span(expr),
                "a shape is one to four numbers above 0, known when compiled",
            ),
        }
    }
}

/// `float(x)`, `wp.uint8(x)`
fn number<'a>(
    b: &mut Writer<'_, 'a>,
    to: Scalar,
    given: &[(Operand<'a>, Span)],
    span: Span,
) -> LoweringResult<Value> {
    match given {
        [] => Ok(b.literal(Literal::from_bits(to, 0))),
        [(Operand::KnownValue(known), _)] if known.as_f64().is_some() => {
            let through = match known {
                // Numbers in the text are `int32` or `float32` before they are converted, except to
                // 64-bit types.
                KnownValue::Int(value) if to.bits() < 64 && to.is_float() => {
                    // A number of 32 bits stands for its bits: `0xFFFFFFFF` is -1.
                    if *value < i32::MIN.into() || *value > u32::MAX.into() {
                        return b.too_large(*value, span);
                    }
                    KnownValue::Typed(Literal::int(Scalar::I32, *value))
                }
                KnownValue::Float(value) if to.bits() < 64 => {
                    KnownValue::Typed(Literal::float(Scalar::F32, *value))
                }
                other => other.clone(),
            };
            let Some(literal) = through.literal(to) else {
                return fault(Code::TypeMismatch, span, "a number is needed here");
            };
            Ok(b.literal(literal))
        }
        [(operand, here)] => {
            let value = b.value(operand.clone(), *here)?;
            let ty = b.ty(value);
            if ty.as_scalar().is_none() {
                let found = b.shown(ty);
                let message = format!("a number is needed here, found `{found}`");
                return fault(Code::TypeMismatch, span, message);
            }
            if ty == Type::scalar(to) {
                return Ok(value);
            }
            Ok(b.convert(value, to))
        }
        _ => fault(Code::WrongArguments, span, "one number is needed here"),
    }
}

/// A vector, matrix, quaternion or transform of arguments.
fn composite<'a>(
    b: &mut Writer<'_, 'a>,
    ty: Type,
    given: &[(Operand<'a>, Span)],
    span: Span,
) -> LoweringResult<Value> {
    let Some((scalar, count)) = b.module.types.components(ty) else {
        let found = b.shown(ty);
        return fault(Code::NotCallable, span, format!("a `{found}` can't be made like this"));
    };
    if given.is_empty() {
        return Ok(b.zero(ty));
    }
    let (mut parts, nested) = composite_parts(b, scalar, given, span)?;
    if nested && given.len() > 1 && matches!(b.shape(ty), Shape::Matrix { .. }) {
        let what = "a matrix of vectors would be one of rows or of columns: write \
                    `wp.matrix_from_rows(..)` or `wp.matrix_from_cols(..)`";
        return fault(Code::WrongArguments, span, what);
    }
    if parts.len() == 3
        && nested
        && let Shape::Transform(of) = *b.shape(ty)
    {
        // A transform without a rotation has the identity.
        parts.extend([0, 0, 0, 1].map(|value| b.literal(Literal::int(of, value))));
    }
    if parts.len() == 1 && !nested && count > 1 {
        return Ok(b.splat(ty, parts[0]));
    }
    if parts.len() as u32 != count {
        let (name, found) = (b.shown(ty), parts.len());
        let message = format!("a `{name}` has {count} components, found {found}");
        return fault(Code::WrongArguments, span, message);
    }
    Ok(b.construct(ty, &parts))
}

/// Returns the components of arguments, and true if some arguments were composites.
fn composite_parts<'a>(
    b: &mut Writer<'_, 'a>,
    scalar: Scalar,
    given: &[(Operand<'a>, Span)],
    span: Span,
) -> LoweringResult<(Vec<Value>, bool)> {
    let mut parts: Vec<Value> = Vec::new();
    let mut nested = false;
    for (operand, here) in given {
        let value = match operand {
            Operand::KnownValue(known) if known.as_f64().is_some() => match known.literal(scalar) {
                Some(literal) => b.literal(literal),
                None => return fault(Code::TypeMismatch, *here, "a number is needed here"),
            },
            operand => b.value(operand.clone(), *here)?,
        };
        let found = b.ty(value);
        if found.as_scalar() == Some(scalar) {
            parts.push(value);
        } else if found.as_scalar().is_none() && b.module.types.components(found).is_some() {
            nested = true;
            let is_copy = given.len() == 1;
            let value = if is_copy { b.convert(value, scalar) } else { value };
            parts.extend(b.parts(value));
        } else {
            let (wanted, found) = (scalar.spelled(), b.shown(found));
            let message = format!("components are `{wanted}` here, found `{found}`");
            return fault(Code::TypeMismatch, *here, message);
        }
    }
    for &part in &parts {
        if b.ty(part).as_scalar() != Some(scalar) {
            let (wanted, found) = (scalar.spelled(), b.shown(b.ty(part)));
            let message = format!("components are `{wanted}` here, found `{found}`");
            return fault(Code::TypeMismatch, span, message);
        }
    }
    Ok((parts, nested))
}

/// Completes a constructor's type by its keywords and arguments.
fn completed<'a>(
    b: &mut Writer<'_, 'a>,
    annotation: &Annotation,
    (dtype, extents): TypeKeywords,
    given: &[(Operand<'a>, Span)],
) -> Annotation {
    let first = match given.first() {
        Some((operand, _)) => {
            let operand = operand.clone();
            b.operand_type(&operand)
        }
        None => None,
    };
    let scalar = first.and_then(|ty| b.module.types.components(ty)).map(|(scalar, _)| scalar);
    let of = |named: &Rc<Annotation>| -> Rc<Annotation> {
        match (&dtype, &**named, scalar) {
            (Some(dtype), ..) => dtype.clone(),
            (None, Annotation::Scalar(_), _) => named.clone(),
            (None, _, Some(scalar)) => Annotation::scalar(scalar),
            (None, _, None) => Annotation::scalar(Scalar::F32),
        }
    };
    match annotation {
        Annotation::Vector(len, named) => {
            let count = match first.map(|ty| b.shape(ty).clone()) {
                Some(Shape::Vector { len, .. }) if given.len() == 1 => Some(len),
                _ if given.len() > 1 => Some(given.len() as u16),
                _ => None,
            };
            let stated = extents.and_then(|e| u16::try_from(e[0]).ok());
            Annotation::Vector(len.or(stated).or(count), of(named))
        }
        Annotation::Matrix(rows, cols, named) => {
            let stated = match extents.as_deref() {
                Some(&[rows, cols]) => Some((rows as u16, cols as u16)),
                _ => None,
            };
            let copied = match first.map(|ty| b.shape(ty).clone()) {
                Some(Shape::Matrix { rows, cols, .. }) => Some((rows, cols)),
                _ => None,
            };
            let size = stated.or(copied);
            Annotation::Matrix(
                rows.or(size.map(|it| it.0)),
                cols.or(size.map(|it| it.1)),
                of(named),
            )
        }
        Annotation::Quaternion(named) => Annotation::Quaternion(of(named)),
        Annotation::Transform(named) => Annotation::Transform(of(named)),
        other => other.clone(),
    }
}

/// `MyStruct()`, `MyStruct(a, field=b)`
pub(in crate::lower) fn construct_struct<'a>(
    b: &mut Writer<'_, 'a>,
    key: StructKey,
    given: Vec<CallArgument<'a>>,
    span: Span,
) -> LoweringResult<Operand<'a>> {
    let ty = b.structure(key)?;
    if given.is_empty() {
        return Ok(Operand::Value(b.zero(ty)));
    }
    let (name, _, specs) = signature::fields(b.unit(), key)?;
    let fields: Vec<Type> = match b.shape(ty) {
        Shape::Struct(id) => {
            b.module.types.structure(*id).fields.iter().map(|field| field.ty).collect()
        }
        _ => Vec::new(),
    };
    let mut parts: Vec<Option<Value>> = vec![None; fields.len()];
    for (position, (keyword, operand, expr)) in given.into_iter().enumerate() {
        let here = expr.map_or(span, |expr| b.unit().span(expr));
        let at = match keyword {
            None => Some(position),
            Some(keyword) => specs.iter().position(|spec| spec.name == keyword),
        };
        let Some(at) = at.filter(|&at| at < fields.len()) else {
            return fault(Code::WrongArguments, here, format!("`{name}` has no such field"));
        };
        let value = b.value(operand, here)?;
        let value = if b.ty(value) == fields[at] {
            Some(value)
        } else {
            b.adapted(value, fields[at], true)
        };
        let Some(value) = value else {
            let wanted = b.shown(fields[at]);
            let message = format!("field `{}` is a `{wanted}`", specs[at].name);
            return fault(Code::TypeMismatch, here, message);
        };
        parts[at] = Some(value);
    }
    let mut values = Vec::with_capacity(parts.len());
    for (part, &ty) in parts.into_iter().zip(&fields) {
        values.push(match part {
            Some(value) => value,
            None => b.zero_of(ty),
        });
    }
    Ok(Operand::Value(b.construct(ty, &values)))
}
