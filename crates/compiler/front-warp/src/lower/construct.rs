//! Constructors: `float(x)`, `wp.vec3(..)`, `wp.mat22(..)`, structs, `wp.zeros(..)`.

use super::call::CallArgument;
use super::{FunctionLowering, LoweringResult, Operand, fault, fits_in_memory};
use crate::annotation::{Annotation, StructKey};
use crate::constant::KnownValue;
use crate::syntax::{self, Expr, ExprCall};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use std::rc::Rc;

/// The type and the shape that a constructor's keywords give.
type TypeKeywords = (Option<Rc<Annotation>>, Option<Vec<u32>>);

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    /// A value of a type named by the text.
    pub(super) fn construct_type(
        &mut self,
        annotation: &Annotation,
        call: &'a ExprCall,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        if let Some((code, what)) = annotation.unsupported() {
            return fault(code, span, format!("{what} aren't supported"));
        }
        let keywords = &call.arguments.keywords;
        let mut given = Vec::new();
        for (keyword, operand, expr) in self.given_values(call)? {
            match keyword {
                None | Some("p" | "q" | "x" | "y" | "z" | "w" | "v" | "pos" | "rot") => {
                    given.push((operand, expr.map_or(span, |e| self.span(e))));
                }
                Some(name) => {
                    return fault(
                        Code::WrongArguments,
                        span,
                        format!("this constructor has no parameter `{name}`"),
                    );
                }
            }
        }
        let annotation = self.completed(annotation, keywords, &given)?;
        if let Annotation::Scalar(scalar) = annotation {
            return self.scalar(scalar, &given, span).map(Operand::Value);
        }
        let ty = self.session.concrete(self.b.module, &annotation, span)?;
        self.composite(ty, &given, span).map(Operand::Value)
    }

    /// Arguments but `dtype`, `length` and `shape`, which say the type.
    pub(super) fn given_values(
        &mut self,
        call: &'a ExprCall,
    ) -> LoweringResult<Vec<CallArgument<'a>>> {
        let mut given = Vec::new();
        for arg in &call.arguments.args {
            match arg {
                Expr::Starred(starred) => {
                    for part in self.starred(&starred.value)? {
                        given.push((None, part, None));
                    }
                }
                arg => given.push((None, self.expr(arg)?, Some(arg))),
            }
        }
        for keyword in &call.arguments.keywords {
            let Some(name) = &keyword.arg else {
                return fault(
                    Code::UnsupportedSyntax,
                    self.span(&keyword.value),
                    "`**` is no part of the dialect",
                );
            };
            if !matches!(name.as_str(), "dtype" | "length" | "shape") {
                given.push((Some(name.as_str()), self.expr(&keyword.value)?, Some(&keyword.value)));
            }
        }
        Ok(given)
    }

    /// A constructor's type with what its arguments add to it.
    fn completed(
        &mut self,
        annotation: &Annotation,
        keywords: &'a [crate::syntax::Keyword],
        given: &[(Operand<'a>, Span)],
    ) -> LoweringResult<Annotation> {
        let (dtype, extents) = self.dtype_and_extents(keywords)?;
        let first = match given.first() {
            Some((operand, _)) => {
                let operand = operand.clone();
                self.operand_type(&operand)
            }
            None => None,
        };
        let scalar =
            first.and_then(|ty| self.b.module.types.components(ty)).map(|(scalar, _)| scalar);
        let of = |named: &Rc<Annotation>| -> Rc<Annotation> {
            match (&dtype, &**named, scalar) {
                (Some(dtype), ..) => dtype.clone(),
                (None, Annotation::Scalar(_), _) => named.clone(),
                (None, _, Some(scalar)) => Annotation::scalar(scalar),
                (None, _, None) => Annotation::scalar(Scalar::F32),
            }
        };
        Ok(match annotation {
            Annotation::Vector(len, named) => {
                let count = match first.map(|ty| self.shape(ty).clone()) {
                    Some(Shape::Vector { len, .. }) if given.len() == 1 => Some(len),
                    _ if given.len() > 1 => Some(given.len() as u16),
                    _ => None,
                };
                let said = extents.and_then(|e| u16::try_from(e[0]).ok());
                Annotation::Vector(len.or(said).or(count), of(named))
            }
            Annotation::Matrix(rows, cols, named) => {
                let said = match extents.as_deref() {
                    Some(&[rows, cols]) => Some((rows as u16, cols as u16)),
                    _ => None,
                };
                let copied = match first.map(|ty| self.shape(ty).clone()) {
                    Some(Shape::Matrix { rows, cols, .. }) => Some((rows, cols)),
                    _ => None,
                };
                let found = said.or(copied);
                Annotation::Matrix(
                    rows.or(found.map(|f| f.0)),
                    cols.or(found.map(|f| f.1)),
                    of(named),
                )
            }
            Annotation::Quaternion(named) => Annotation::Quaternion(of(named)),
            Annotation::Transform(named) => Annotation::Transform(of(named)),
            other => other.clone(),
        })
    }

    /// The keywords that complete a constructor's type.
    fn dtype_and_extents(
        &mut self,
        keywords: &'a [crate::syntax::Keyword],
    ) -> LoweringResult<TypeKeywords> {
        let (mut dtype, mut extents) = (None, None);
        for keyword in keywords {
            match keyword.arg.as_ref().map(|arg| arg.as_str()) {
                Some("dtype") => match self.expr(&keyword.value)? {
                    Operand::KnownValue(known) => {
                        dtype = Some(Rc::new(self.unit.as_type(&known, &keyword.value)?));
                    }
                    _ => {
                        return fault(
                            Code::UnknownType,
                            self.span(&keyword.value),
                            "a type is needed here",
                        );
                    }
                },
                Some("length" | "shape") => extents = Some(self.known_shape(&keyword.value)?),
                _ => {}
            }
        }
        Ok((dtype, extents))
    }

    /// A shape written in the text: a number or a tuple of numbers.
    pub(super) fn known_shape(&mut self, expr: &'a Expr) -> LoweringResult<Vec<u32>> {
        let operand = self.expr(expr)?;
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
                self.span(expr),
                "a shape is one to four numbers above 0, known when compiled",
            ),
        }
    }

    /// `float(x)`, `wp.uint8(x)`
    fn scalar(
        &mut self,
        to: Scalar,
        given: &[(Operand<'a>, Span)],
        span: Span,
    ) -> LoweringResult<Value> {
        match given {
            [] => Ok(self.b.literal(Literal::from_bits(to, 0))),
            [(Operand::KnownValue(known), _)] if known.as_f64().is_some() => {
                let through = match known {
                    // Numbers in the text are `int32` and `float32` first, but for 64-bit types.
                    KnownValue::Int(value) if to.bits() < 64 && to.is_float() => {
                        if i32::try_from(*value).is_err() {
                            return self.too_large(*value, span);
                        }
                        KnownValue::Int(*value)
                    }
                    KnownValue::Float(value) if to.bits() < 64 => {
                        KnownValue::Typed(Literal::float(Scalar::F32, *value))
                    }
                    other => other.clone(),
                };
                let Some(literal) = through.literal(to) else {
                    return fault(Code::TypeMismatch, span, "a number is needed here");
                };
                Ok(self.b.literal(literal))
            }
            [(operand, here)] => {
                let value = self.value(operand.clone(), *here)?;
                let ty = self.ty(value);
                if ty.as_scalar().is_none() {
                    let found = self.shown(ty);
                    return fault(
                        Code::TypeMismatch,
                        span,
                        format!("a number is needed here, found `{found}`"),
                    );
                }
                if ty == Type::scalar(to) {
                    return Ok(value);
                }
                Ok(self.b.convert(value, to))
            }
            _ => fault(Code::WrongArguments, span, "one number is needed here"),
        }
    }

    /// A vector, matrix, quaternion or transform of arguments.
    pub(super) fn composite(
        &mut self,
        ty: Type,
        given: &[(Operand<'a>, Span)],
        span: Span,
    ) -> LoweringResult<Value> {
        let Some((scalar, count)) = self.b.module.types.components(ty) else {
            let found = self.shown(ty);
            return fault(Code::NotCallable, span, format!("a `{found}` can't be made like this"));
        };
        if given.is_empty() {
            return Ok(self.b.zero(ty));
        }
        let (mut parts, nested) = self.composite_parts(scalar, given, span)?;
        if nested && given.len() > 1 && matches!(self.shape(ty), Shape::Matrix { .. }) {
            let what = "a matrix of vectors would be one of rows or of columns: write \
                        `wp.matrix_from_rows(..)` or `wp.matrix_from_cols(..)`";
            return fault(Code::WrongArguments, span, what);
        }
        if parts.len() == 3
            && nested
            && let Shape::Transform(of) = *self.shape(ty)
        {
            // The rotation of a transform is none unless it is given.
            parts.extend([0, 0, 0, 1].map(|value| self.b.literal(Literal::int(of, value))));
        }
        if parts.len() == 1 && !nested && count > 1 {
            return Ok(self.b.splat(ty, parts[0]));
        }
        if parts.len() as u32 != count {
            let (name, found) = (self.shown(ty), parts.len());
            return fault(
                Code::WrongArguments,
                span,
                format!("a `{name}` has {count} components, found {found}"),
            );
        }
        Ok(self.b.construct(ty, &parts))
    }

    /// The components of arguments, and whether some of them were composites.
    fn composite_parts(
        &mut self,
        scalar: Scalar,
        given: &[(Operand<'a>, Span)],
        span: Span,
    ) -> LoweringResult<(Vec<Value>, bool)> {
        let mut parts: Vec<Value> = Vec::new();
        let mut nested = false;
        for (operand, here) in given {
            let value = match operand {
                Operand::KnownValue(known) if known.as_f64().is_some() => {
                    match known.literal(scalar) {
                        Some(literal) => self.b.literal(literal),
                        None => return fault(Code::TypeMismatch, *here, "a number is needed here"),
                    }
                }
                operand => self.value(operand.clone(), *here)?,
            };
            let found = self.ty(value);
            if found.as_scalar() == Some(scalar) {
                parts.push(value);
            } else if found.as_scalar().is_none() && self.b.module.types.components(found).is_some()
            {
                nested = true;
                let whole = given.len() == 1;
                let value =
                    if whole { self.converted(value, scalar).unwrap_or(value) } else { value };
                parts.extend(self.b.parts(value));
            } else {
                let (wanted, found) = (scalar.spelled(), self.shown(found));
                return fault(
                    Code::TypeMismatch,
                    *here,
                    format!("components are `{wanted}` here, found `{found}`"),
                );
            }
        }
        for &part in &parts {
            if self.ty(part).as_scalar() != Some(scalar) {
                let (wanted, found) = (scalar.spelled(), self.shown(self.ty(part)));
                return fault(
                    Code::TypeMismatch,
                    span,
                    format!("components are `{wanted}` here, found `{found}`"),
                );
            }
        }
        Ok((parts, nested))
    }

    /// `MyStruct()`, `MyStruct(a, field=b)`
    pub(super) fn construct_struct(
        &mut self,
        key: StructKey,
        given: Vec<CallArgument<'a>>,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let ty = self.session.structure(self.b.module, key)?;
        if given.is_empty() {
            return Ok(Operand::Value(self.b.zero(ty)));
        }
        let (name, _, specs) = self.unit.fields(key)?;
        let fields: Vec<Type> = match self.shape(ty) {
            Shape::Struct(id) => {
                self.b.module.types.structure(*id).fields.iter().map(|field| field.ty).collect()
            }
            _ => Vec::new(),
        };
        let mut parts: Vec<Option<Value>> = vec![None; fields.len()];
        for (position, (keyword, operand, expr)) in given.into_iter().enumerate() {
            let here = expr.map_or(span, |expr| self.span(expr));
            let at = match keyword {
                None => Some(position),
                Some(keyword) => specs.iter().position(|spec| spec.name == keyword),
            };
            let Some(at) = at.filter(|&at| at < fields.len()) else {
                return fault(Code::WrongArguments, here, format!("`{name}` has no such field"));
            };
            let value = self.value(operand, here)?;
            let value = if self.ty(value) == fields[at] {
                Some(value)
            } else {
                self.adapted(value, fields[at], true)
            };
            let Some(value) = value else {
                let wanted = self.shown(fields[at]);
                return fault(
                    Code::TypeMismatch,
                    here,
                    format!("field `{}` is a `{wanted}`", specs[at].name),
                );
            };
            parts[at] = Some(value);
        }
        let mut values = Vec::with_capacity(parts.len());
        for (part, &ty) in parts.into_iter().zip(&fields) {
            values.push(match part {
                Some(value) => value,
                None => self.zero(ty),
            });
        }
        Ok(Operand::Value(self.b.construct(ty, &values)))
    }

    /// `wp.zeros(shape=.., dtype=..)`: an array in the function itself.
    pub(super) fn zeros(&mut self, call: &'a ExprCall, span: Span) -> LoweringResult<Operand<'a>> {
        let named = |name, position| syntax::argument(&call.arguments, name, position);
        let Some(shape) = named("shape", 0) else {
            return fault(Code::WrongArguments, span, "`wp.zeros` needs a shape");
        };
        let extents = self.known_shape(shape)?;
        let annotation = match named("dtype", 1) {
            Some(dtype) => match self.expr(dtype)? {
                Operand::KnownValue(known) => self.unit.as_type(&known, dtype)?,
                _ => return fault(Code::UnknownType, self.span(dtype), "a type is needed here"),
            },
            None => Annotation::Scalar(Scalar::F32),
        };
        let mut ty = self.session.concrete(self.b.module, &annotation, span)?;
        for &extent in extents.iter().rev() {
            ty = self.b.module.types.fixed(ty, extent);
            fits_in_memory(self.b.module, ty, span)?;
        }
        let place = self.temporary("zeros", ty);
        let zero = self.b.zero(ty);
        self.b.store(place, zero);
        Ok(Operand::Value(self.b.as_array(place, extents.len() as u8)))
    }

    /// `wp.identity(n=3, dtype=float)`
    pub(super) fn identity(
        &mut self,
        call: &'a ExprCall,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let named = |name, position| syntax::argument(&call.arguments, name, position);
        let Some(n) = named("n", 0) else {
            return fault(Code::WrongArguments, span, "`wp.identity` needs a size");
        };
        let extents = self.known_shape(n)?;
        let scalar = match named("dtype", 1) {
            Some(dtype) => match self.expr(dtype)? {
                Operand::KnownValue(KnownValue::Type(Annotation::Scalar(scalar))) => scalar,
                _ => {
                    return fault(
                        Code::UnknownType,
                        self.span(dtype),
                        "a scalar type is needed here",
                    );
                }
            },
            None => Scalar::F32,
        };
        let [n @ 1..=64] = extents[..] else {
            return fault(Code::WrongArguments, span, "the size is one number up to 64");
        };
        let one = self.b.literal(Literal::int(scalar, 1));
        let zero = self.b.literal(Literal::from_bits(scalar, 0));
        let parts: Vec<Value> =
            (0..n * n).map(|at| if at % (n + 1) == 0 { one } else { zero }).collect();
        let ty = self.b.module.types.matrix(n as u16, n as u16, scalar);
        Ok(Operand::Value(self.b.construct(ty, &parts)))
    }

    /// `wp.quat_identity(dtype)`, `wp.transform_identity(dtype)`
    pub(super) fn neutral(
        &mut self,
        name: &str,
        call: &'a ExprCall,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let keyword = call.arguments.keywords.first().map(|keyword| &keyword.value);
        let scalar = match keyword.or(call.arguments.args.first()) {
            Some(dtype) => match self.expr(dtype)? {
                Operand::KnownValue(KnownValue::Type(Annotation::Scalar(scalar)))
                    if scalar.is_float() =>
                {
                    scalar
                }
                _ => {
                    return fault(
                        Code::UnknownType,
                        self.span(dtype),
                        "a float type is needed here",
                    );
                }
            },
            None => Scalar::F32,
        };
        let (ty, count) = match name {
            "quat_identity" => (self.b.module.types.quaternion(scalar), 4),
            _ => (self.b.module.types.transform(scalar), 7),
        };
        self.b.set_span(span);
        let parts: Vec<Value> = (1..=count)
            .map(|at| self.b.literal(Literal::int(scalar, i128::from(at == count))))
            .collect();
        Ok(Operand::Value(self.b.construct(ty, &parts)))
    }

    /// `wp.matrix_from_rows(..)`, `wp.matrix_from_cols(..)`
    pub(super) fn matrix_from(
        &mut self,
        by_rows: bool,
        call: &'a ExprCall,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let mut vectors = Vec::new();
        for (_, operand, expr) in self.call_arguments(&call.arguments)? {
            vectors.push(self.value(operand, expr.map_or(span, |expr| self.span(expr)))?);
        }
        let shapes: Vec<Type> = vectors.iter().map(|&vector| self.ty(vector)).collect();
        let first = shapes.first().map(|&ty| self.shape(ty).clone());
        let (Some(Shape::Vector { len, of }), true) =
            (first, shapes.windows(2).all(|pair| pair[0] == pair[1]))
        else {
            return fault(Code::TypeMismatch, span, "vectors of one type are needed here");
        };
        let count = vectors.len() as u16;
        let columns: Vec<Vec<Value>> = vectors.iter().map(|&vector| self.b.parts(vector)).collect();
        let (rows, cols) = if by_rows { (count, len) } else { (len, count) };
        let at = |row: u16, col: u16| if by_rows { (row, col) } else { (col, row) };
        let cells = (0..rows).flat_map(|row| (0..cols).map(move |col| (row, col)));
        let parts: Vec<Value> = cells
            .map(|(row, col)| {
                let (vector, component) = at(row, col);
                columns[usize::from(vector)][usize::from(component)]
            })
            .collect();
        let ty = self.b.module.types.matrix(rows, cols, of);
        Ok(Operand::Value(self.b.construct(ty, &parts)))
    }
}
