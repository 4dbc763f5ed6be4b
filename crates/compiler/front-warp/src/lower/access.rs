//! Names, attributes and subscripts: places where possible, values elsewhere.

use super::operand::{Binding, LoweringError, LoweringResult, Operand, fault};
use super::tile::tile_index;
use super::writer::Writer;
use super::{Expressions, indexed_array};
use gbxcule_ir::builtin::{Visibility, find, row};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::Value;
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Shape, Type};
use gbxcule_python_names::syntax::Expr;
use gbxcule_python_values::of_self;
use gbxcule_python_values::with_stack;
use gbxcule_warp_types::annotation::Annotation;
use gbxcule_warp_types::geometry;
use gbxcule_warp_types::value::{KnownValue, WarpValue};
use gbxcule_warp_types::warp;

/// Target of a chain of names, attributes and subscripts.
pub(super) enum Access<'a> {
    Place(PlaceId),
    Operand(Operand<'a>),
}

impl<'a> Access<'a> {
    /// Reads the value now.
    pub(super) fn read(self, b: &mut Writer<'_, 'a>) -> Operand<'a> {
        match self {
            Self::Operand(operand) => operand,
            Self::Place(place) => Operand::Value(b.load(place)),
        }
    }

    pub(super) fn ty(&self, b: &mut Writer<'_, 'a>) -> Option<Type> {
        match self {
            Self::Place(place) => Some(b.place_type(*place)),
            Self::Operand(operand) => b.operand_type(operand),
        }
    }

    /// Reads the value as a value of the IR.
    pub(super) fn value(self, b: &mut Writer<'_, 'a>, span: Span) -> LoweringResult<Value> {
        let operand = self.read(b);
        b.value(operand, span)
    }

    /// Returns a place that holds the value.
    pub(super) fn spill(self, b: &mut Writer<'_, 'a>, span: Span) -> LoweringResult<PlaceId> {
        let operand = match self {
            Self::Place(place) => return Ok(place),
            Self::Operand(operand) => operand,
        };
        let value = b.value(operand, span)?;
        let ty = b.ty(value);
        if matches!(b.shape(ty), Shape::Array { .. }) {
            return Ok(b.array_place(value));
        }
        if b.module.types.layout(ty).is_none() {
            let message = format!("a `{}` has no parts to choose from at run time", b.shown(ty));
            return fault(Code::TypeMismatch, span, message);
        }
        Ok(b.stored("part", value))
    }

    pub(super) fn component(
        self,
        b: &mut Writer<'_, 'a>,
        position: u32,
        span: Span,
    ) -> LoweringResult<Self> {
        Ok(match self {
            Self::Place(place) => Self::Place(b.component(place, position)),
            Self::Operand(operand) => {
                let value = b.value(operand, span)?;
                Self::Operand(b.extract(value, position).into())
            }
        })
    }

    /// `x.attr`
    pub(super) fn attribute(
        self,
        b: &mut Writer<'_, 'a>,
        attr: &'a str,
        expr: &'a Expr,
    ) -> LoweringResult<Self> {
        let span = b.unit().span(expr);
        match &self {
            Self::Operand(Operand::KnownValue(
                KnownValue::Dialect(WarpValue::Composite(..)) | KnownValue::Typed(_),
            )) => {}
            Self::Operand(Operand::KnownValue(KnownValue::Member(path)))
                if &**path == "warp.adjoint" =>
            {
                let message = "`wp.adjoint` is indexed by a parameter: `wp.adjoint[x]`";
                return fault(Code::UnsupportedAdjoint, span, message);
            }
            Self::Operand(Operand::KnownValue(known)) => {
                let known = b.unit().attribute(known, attr, expr)?;
                return Ok(Self::Operand(known.into()));
            }
            Self::Operand(Operand::Tile(tile)) => {
                return tile.attribute(b, attr, span).map(|known| Self::Operand(known.into()));
            }
            _ => {}
        }
        let Some(ty) = self.ty(b) else {
            return fault(Code::UnknownAttribute, span, format!("a tuple has no `{attr}`"));
        };
        if let Some((of, dims)) = b.indexed_element(ty) {
            let indexed = self.value(b, span)?;
            return indexed_array::attribute(b, indexed, (of, dims), attr, span).map(Self::Operand);
        }
        if let Shape::Array { .. } = b.shape(ty) {
            let array = self.value(b, span)?;
            return array_attribute(b, array, attr, span).map(Self::Operand);
        }
        match part_named(b, ty, attr) {
            Some(Part::Field(field)) => {
                if let Self::Operand(Operand::Value(value)) = self
                    && matches!(b.shape(ty), Shape::Struct(_))
                {
                    return Ok(Self::Operand(b.extract(value, field).into()));
                }
                let place = self.spill(b, span)?;
                Ok(Self::Place(b.field(place, field)))
            }
            Some(Part::Component(at)) => self.component(b, at, span),
            None => type_attribute(b, ty, attr, span).map(|known| Self::Operand(known.into())),
        }
    }
}

impl<'a> Expressions<'_, 'a> {
    pub(super) fn access(&mut self, expr: &'a Expr) -> LoweringResult<Access<'a>> {
        match expr {
            Expr::Name(name) => self.name_access(name.id.as_str(), expr),
            Expr::Attribute(_) if of_self(expr).is_some() && !self.names.contains("self") => {
                let known = self.unit.known(expr, self.scope)?;
                Ok(Access::Operand(known.into()))
            }
            Expr::Attribute(attribute) => {
                let base = self.access(&attribute.value)?;
                base.attribute(&mut self.b, attribute.attr.as_str(), expr)
            }
            Expr::Subscript(_) => self.subscript(expr),
            _ => with_stack(|| self.expr(expr)).map(Access::Operand),
        }
    }

    fn name_access(&mut self, name: &'a str, expr: &'a Expr) -> LoweringResult<Access<'a>> {
        let binding = self.names.get(name).cloned();
        Ok(match binding {
            Some(Binding::Local(local)) => Access::Place(self.b.local_place(local)),
            Some(Binding::Param(at)) => Access::Place(self.b.param_place(at)),
            Some(Binding::Value(value)) => Access::Operand(Operand::Value(value)),
            Some(Binding::KnownValue(_, Some(local))) if self.names.is_read_from_variable(name) => {
                Access::Place(self.b.local_place(local))
            }
            Some(Binding::KnownValue(known, _)) => Access::Operand(known.into()),
            Some(Binding::Tuple(parts)) => Access::Operand(Operand::Tuple(parts)),
            Some(Binding::Extents(array)) => Access::Operand(Operand::Extents(array)),
            Some(Binding::Tile(tile)) => Access::Operand(Operand::Tile(tile)),
            Some(Binding::Refused | Binding::Parts(_) | Binding::TileParam(_)) => {
                return Err(LoweringError::Reported);
            }
            None => {
                let known = match self.unit.known(expr, self.scope) {
                    Err(undefined) if undefined.code == Code::UndefinedName => {
                        if is_builtin(name) {
                            KnownValue::Member(format!("warp.{name}").into())
                        } else if self.names.is_bound_somewhere(name) {
                            let message =
                                format!("`{name}` isn't bound on every way to this place");
                            return fault(Code::UndefinedName, self.span(expr), message);
                        } else {
                            geometry::bare(self.unit, name, expr).ok_or(undefined)?
                        }
                    }
                    other => other?,
                };
                Access::Operand(known.into())
            }
        })
    }

    /// Operand that a name stands for.
    pub(super) fn name_operand(
        &mut self,
        name: &'a str,
        expr: &'a Expr,
    ) -> LoweringResult<Operand<'a>> {
        let access = self.name_access(name, expr)?;
        Ok(access.read(&mut self.b))
    }

    fn subscript(&mut self, expr: &'a Expr) -> LoweringResult<Access<'a>> {
        let (base, groups) = index_groups(expr);
        let mut access = self.access(base)?;
        let mut position = 0;
        if let Access::Operand(Operand::KnownValue(known)) = &access {
            match known {
                KnownValue::Member(path) if &**path == "warp.adjoint" => {
                    position = 1;
                    access = self.adjoint(groups[0].0, groups[0].1)?;
                }
                KnownValue::Member(path) => {
                    let name = path.rsplit('.').next().unwrap_or(path);
                    if let Some((code, what)) = warp::missing_feature(name) {
                        return fault(code, self.span(expr), format!("{what} aren't supported"));
                    }
                    return Ok(Access::Operand(Operand::KnownValue(
                        self.unit.known(expr, self.scope)?,
                    )));
                }
                KnownValue::Dialect(WarpValue::Type(_)) => {
                    return Ok(Access::Operand(Operand::KnownValue(
                        self.unit.known(expr, self.scope)?,
                    )));
                }
                _ => {}
            }
        }
        while position < groups.len() {
            let mut indices: Vec<&'a Expr> = groups[position].0.iter().collect();
            let mut subscript = groups[position].1;
            position += 1;
            let ty = access.ty(&mut self.b);
            let dims = ty.and_then(|ty| match *self.b.shape(ty) {
                Shape::Array { dims, .. } => Some(dims),
                _ => self.b.indexed_element(ty).map(|(_, dims)| dims),
            });
            if let Some(dims) = dims {
                let plain = |indices: &[&Expr]| {
                    !indices.iter().any(|index| matches!(index, Expr::Slice(_)))
                };
                while indices.len() < usize::from(dims)
                    && position < groups.len()
                    && plain(&indices)
                    && indices.len() + groups[position].0.len() <= usize::from(dims)
                    && !groups[position].0.iter().any(|index| matches!(index, Expr::Slice(_)))
                {
                    indices.extend(groups[position].0.iter());
                    subscript = groups[position].1;
                    position += 1;
                }
            }
            access = self.indexed(access, &indices, subscript)?;
        }
        Ok(access)
    }

    pub(super) fn indexed(
        &mut self,
        base: Access<'a>,
        indices: &[&'a Expr],
        expr: &'a Expr,
    ) -> LoweringResult<Access<'a>> {
        let span = self.span(expr);
        let base = match base {
            Access::Operand(operand) => match self.indexed_operand(&operand, indices, expr)? {
                Some(access) => return Ok(access),
                None => Access::Operand(operand),
            },
            place => place,
        };
        let Some(ty) = base.ty(&mut self.b) else {
            return Err(not_indexed(span));
        };
        if let Some(indexed) = self.b.indexed_element(ty) {
            return self.indexed_at(base, indexed, indices, expr);
        }
        match self.b.shape(ty).clone() {
            Shape::Array { dims, .. } => self.array_index(base, dims, indices, expr),
            Shape::Fixed { .. } => {
                let mut place = base.spill(&mut self.b, span)?;
                for &index in indices {
                    let index = self.index_value(index)?;
                    place = self.b.at(place, index);
                    if self.b.place_type(place) == Type::INVALID {
                        return fault(Code::WrongArguments, span, "too many indices");
                    }
                }
                Ok(Access::Place(place))
            }
            Shape::Vector { len, .. } => self.vector_index(base, u32::from(len), indices, expr),
            Shape::Quaternion(_) => self.vector_index(base, 4, indices, expr),
            Shape::Transform(_) => self.vector_index(base, 7, indices, expr),
            Shape::Matrix { rows, cols, .. } => {
                self.matrix_index(base, u32::from(rows), u32::from(cols), indices, expr)
            }
            Shape::Tuple(parts) => {
                let at = self.constant_index(indices, parts.len(), expr)?;
                let tuple = base.value(&mut self.b, span)?;
                Ok(Access::Operand(Operand::Value(self.b.extract(tuple, at as u32))))
            }
            _ => {
                let found = self.b.shown(ty);
                fault(Code::TypeMismatch, span, format!("a `{found}` can't be indexed"))
            }
        }
    }

    /// An element of a tuple, tile or other operand; `None` for a value of the IR.
    fn indexed_operand(
        &mut self,
        operand: &Operand<'a>,
        indices: &[&'a Expr],
        expr: &'a Expr,
    ) -> LoweringResult<Option<Access<'a>>> {
        let access = match operand {
            Operand::Tuple(parts) => {
                let at = self.constant_index(indices, parts.len(), expr)?;
                Access::Operand(parts[at].clone())
            }
            Operand::KnownValue(KnownValue::Sequence(parts)) => {
                let at = self.constant_index(indices, parts.len(), expr)?;
                Access::Operand(Operand::KnownValue(parts[at].clone()))
            }
            Operand::Tile(tile) => tile_index(self, tile, indices, expr)?,
            Operand::Extents(array) => {
                let value = self.extent_at(*array, indices, expr)?;
                Access::Operand(Operand::Value(value))
            }
            _ => return Ok(None),
        };
        Ok(Some(access))
    }

    pub(super) fn constant_index(
        &mut self,
        indices: &[&'a Expr],
        len: usize,
        expr: &'a Expr,
    ) -> LoweringResult<usize> {
        if let [index] = indices
            && let Operand::KnownValue(KnownValue::Int(at)) = self.expr(index)?
        {
            let wrapped = if at < 0 { at + len as i128 } else { at };
            return match usize::try_from(wrapped) {
                Ok(at) if at < len => Ok(at),
                _ => fault(
                    Code::IndexOutOfRange,
                    self.span(expr),
                    format!("index {at} in a tuple of {len}"),
                ),
            };
        }
        let message = "a tuple's index is a number written in the text";
        let fault = Diagnostic::error(Code::NeedsConstant, self.span(expr), message);
        Err(fault.help("pass the numbers as an array, or make a vector of them").into())
    }

    /// One index as a value of an integer type.
    pub(super) fn index_value(&mut self, index: &'a Expr) -> LoweringResult<Value> {
        let operand = self.expr(index)?;
        self.b.integer(operand, self.span(index), "an index is an integer")
    }
}

/// Returns the field or component of a type that has this name.
fn part_named(b: &Writer<'_, '_>, ty: Type, attr: &str) -> Option<Part> {
    let component = |len: usize| {
        let at = "xyzw".find(attr).filter(|&at| attr.len() == 1 && at < len);
        at.map(|at| Part::Component(at as u32))
    };
    match *b.shape(ty) {
        Shape::Struct(id) => {
            let fields = &b.module.types.structure(id).fields;
            fields.iter().position(|field| field.name == attr).map(|at| Part::Field(at as u32))
        }
        Shape::Vector { len, .. } => component(usize::from(len)),
        Shape::Quaternion(_) => component(4),
        Shape::Transform(_) => match attr {
            "p" => Some(Part::Field(0)),
            "q" => Some(Part::Field(1)),
            _ => None,
        },
        _ => None,
    }
}

fn type_attribute<'a>(
    b: &Writer<'_, 'a>,
    ty: Type,
    attr: &str,
    span: Span,
) -> LoweringResult<KnownValue<'a>> {
    match (b.module.types.components(ty), attr) {
        (Some((scalar, _)), "dtype") => {
            return Ok(KnownValue::Dialect(WarpValue::Type(Annotation::Scalar(scalar))));
        }
        (Some((_, count)), "length") => return Ok(KnownValue::Int(i128::from(count))),
        _ => {}
    }
    let message = format!("a `{}` has no `{attr}`", b.shown(ty));
    let fault = Diagnostic::error(Code::UnknownAttribute, span, message);
    let names: Vec<String> = match b.shape(ty) {
        Shape::Struct(id) => {
            let fields = &b.module.types.structure(*id).fields;
            fields.iter().map(|field| format!("`{}`", field.name)).collect()
        }
        _ => Vec::new(),
    };
    Err(match names.is_empty() {
        true => fault,
        false => fault.help(format!("it has {}", names.join(", "))),
    }
    .into())
}

fn array_attribute<'a>(
    b: &mut Writer<'_, 'a>,
    array: Value,
    attr: &str,
    span: Span,
) -> LoweringResult<Operand<'a>> {
    let (of, dims) = match *b.shape(b.ty(array)) {
        Shape::Array { of, dims } => (of, dims),
        _ => (Type::INVALID, 0),
    };
    match attr {
        "shape" => Ok(Operand::Extents(array)),
        "ndim" => Ok(KnownValue::Int(i128::from(dims)).into()),
        "grad" => Ok(b.gradient(array).into()),
        "dtype" => element_type(b, of, span).map(Into::into),
        "size" => {
            let extents = b.extents(array);
            Ok(b.product(extents).into())
        }
        "ptr" | "data" => fault(Code::UnsupportedPointer, span, "raw pointers aren't supported"),
        "strides" => fault(Code::UnsupportedPointer, span, "strides of arrays aren't supported"),
        _ => {
            let message = format!("an `{}` has no `{attr}`", b.shown(b.ty(array)));
            fault(Code::UnknownAttribute, span, message)
        }
    }
}

/// `a.dtype`
pub(super) fn element_type<'a>(
    b: &Writer<'_, '_>,
    of: Type,
    span: Span,
) -> LoweringResult<KnownValue<'a>> {
    match Annotation::of_type(of, &b.module.types) {
        Some(annotation) => Ok(KnownValue::Dialect(WarpValue::Type(annotation))),
        None => {
            let message = "a struct's type can't be taken from an array";
            fault(Code::UnsupportedValue, span, message)
        }
    }
}

/// Fault of an index into a value that has no elements in a kernel.
fn not_indexed(span: Span) -> LoweringError {
    Diagnostic::error(Code::TypeMismatch, span, "this can't be indexed").into()
}

enum Part {
    Field(u32),
    Component(u32),
}

/// Returns true if a builtin that programs may call has a name.
pub(super) fn is_builtin(name: &str) -> bool {
    find(name).is_some_and(|builtin| row(builtin).visibility == Visibility::Dialect)
}

/// The indexed expression, and the indices of each subscript: `a[i][j]` on an array of
/// two dimensions is `a[i, j]`.
fn index_groups(expr: &Expr) -> (&Expr, Vec<(&[Expr], &Expr)>) {
    let (mut base, mut groups) = (expr, Vec::new());
    while let Expr::Subscript(subscript) = base {
        let indices = match &*subscript.slice {
            Expr::Tuple(tuple) => &tuple.elts[..],
            one => std::slice::from_ref(one),
        };
        groups.push((indices, base));
        base = &subscript.value;
    }
    groups.reverse();
    (base, groups)
}
