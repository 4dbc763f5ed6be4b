//! Names, attributes and subscripts: places where there are any, values elsewhere.

use super::{Binding, FunctionLowering, LoweringError, LoweringResult, Operand, fault};
use crate::annotation::Annotation;
use crate::constant::KnownValue;
use crate::syntax::Expr;
use crate::warp;
use gbxcule_ir::builtin::{Visibility, find, row};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::Value;
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};

/// Target of a chain of names, attributes and subscripts.
pub(super) enum Access<'a> {
    Place(PlaceId),
    Operand(Operand<'a>),
}

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    pub(super) fn access(&mut self, expr: &'a Expr) -> LoweringResult<Access<'a>> {
        match expr {
            Expr::Name(name) => self.name_access(name.id.as_str(), expr),
            Expr::Attribute(_)
                if crate::attribute::of_self(expr).is_some()
                    && !self.names.contains_key("self") =>
            {
                let known = self.unit.known(expr, self.scope)?;
                Ok(Access::Operand(Operand::KnownValue(known)))
            }
            Expr::Attribute(attribute) => {
                let base = self.access(&attribute.value)?;
                self.attribute(base, attribute.attr.as_str(), expr)
            }
            Expr::Subscript(_) => self.subscript(expr),
            _ => super::with_stack(|| self.expr(expr)).map(Access::Operand),
        }
    }

    fn name_access(&mut self, name: &'a str, expr: &'a Expr) -> LoweringResult<Access<'a>> {
        let binding = self.names.get(name).cloned();
        Ok(match binding {
            Some(Binding::Local(local)) => Access::Place(self.b.local_place(local)),
            Some(Binding::Param(at)) => Access::Place(self.b.param_place(at)),
            Some(Binding::Value(value)) => Access::Operand(Operand::Value(value)),
            Some(Binding::KnownValue(_, Some(local)))
                if self.usage.is_rebound(name) && !self.is_plain(name) =>
            {
                Access::Place(self.b.local_place(local))
            }
            Some(Binding::KnownValue(known, _)) => Access::Operand(Operand::KnownValue(known)),
            Some(Binding::Tuple(parts)) => Access::Operand(Operand::Tuple(parts)),
            Some(Binding::Extents(array)) => Access::Operand(Operand::Extents(array)),
            Some(Binding::Tile(tile)) => Access::Operand(Operand::Tile(tile)),
            Some(Binding::Refused | Binding::Parts(_) | Binding::TileParam(_)) => {
                return Err(super::LoweringError::Reported);
            }
            None => {
                let known = match self.unit.known(expr, self.scope) {
                    Err(undefined) if undefined.code == Code::UndefinedName => {
                        if is_builtin(name) {
                            KnownValue::Member(format!("warp.{name}").into())
                        } else if self.usage_binds(name) {
                            return fault(
                                Code::UndefinedName,
                                self.span(expr),
                                format!("`{name}` isn't bound on every way to this place"),
                            );
                        } else {
                            self.unit.bare(name, expr).ok_or(undefined)?
                        }
                    }
                    other => other?,
                };
                Access::Operand(Operand::KnownValue(known))
            }
        })
    }

    fn usage_binds(&self, name: &str) -> bool {
        self.usage.is_bound(name)
    }

    /// Returns true if a name stands for a number known from the text.
    fn is_plain(&self, name: &str) -> bool {
        matches!(self.names.get(name), Some(Binding::KnownValue(known, _)) if known.as_f64().is_some())
    }

    /// Operand that a name stands for.
    pub(super) fn name_operand(
        &mut self,
        name: &'a str,
        expr: &'a Expr,
    ) -> LoweringResult<Operand<'a>> {
        let access = self.name_access(name, expr)?;
        Ok(self.read(access))
    }

    /// The value of an access, now.
    pub(super) fn read(&mut self, access: Access<'a>) -> Operand<'a> {
        match access {
            Access::Operand(operand) => operand,
            Access::Place(place) => Operand::Value(self.b.load(place)),
        }
    }

    pub(super) fn access_type(&mut self, access: &Access<'a>) -> Option<Type> {
        match access {
            Access::Place(place) => Some(self.b.place_type(*place)),
            Access::Operand(operand) => self.operand_type(operand),
        }
    }

    pub(super) fn attribute(
        &mut self,
        base: Access<'a>,
        attr: &'a str,
        expr: &'a Expr,
    ) -> LoweringResult<Access<'a>> {
        if let Access::Operand(Operand::KnownValue(known)) = &base
            && !matches!(known, KnownValue::Composite(..) | KnownValue::Typed(_))
        {
            if let KnownValue::Member(path) = known
                && &**path == "warp.adjoint"
            {
                return fault(
                    Code::UnsupportedAdjoint,
                    self.span(expr),
                    "`wp.adjoint` is indexed by a parameter: `wp.adjoint[x]`",
                );
            }
            let known = self.unit.attribute(known, attr, expr)?;
            return Ok(Access::Operand(Operand::KnownValue(known)));
        }
        if let Access::Operand(Operand::Tile(tile)) = &base {
            return self.tile_attribute(&tile.clone(), attr, expr);
        }
        let Some(ty) = self.access_type(&base) else {
            return fault(
                Code::UnknownAttribute,
                self.span(expr),
                format!("a tuple has no `{attr}`"),
            );
        };
        if let Some((_, dims)) = self.indexed_element(ty) {
            return self.indexed_attribute(base, dims, attr, expr).map(Access::Operand);
        }
        if let Shape::Array { .. } = self.shape(ty) {
            let array = self.read(base);
            let array = self.value(array, self.span(expr))?;
            return self.array_attribute(array, attr, expr).map(Access::Operand);
        }
        match self.part_named(ty, attr) {
            Some(Part::Field(field)) => {
                if let Access::Operand(Operand::Value(value)) = base
                    && matches!(self.shape(ty), Shape::Struct(_))
                {
                    return Ok(Access::Operand(Operand::Value(self.b.extract(value, field))));
                }
                let place = self.spill(base, self.span(expr))?;
                Ok(Access::Place(self.b.field(place, field)))
            }
            Some(Part::Component(at)) => self.component(base, at, self.span(expr)),
            None => self.type_attribute(ty, attr, expr),
        }
    }

    /// The field or component of a type that has a name.
    fn part_named(&self, ty: Type, attr: &str) -> Option<Part> {
        let component = |len: usize| {
            let at = "xyzw".find(attr).filter(|&at| attr.len() == 1 && at < len);
            at.map(|at| Part::Component(at as u32))
        };
        match *self.shape(ty) {
            Shape::Struct(id) => {
                let fields = &self.b.module.types.structure(id).fields;
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

    pub(super) fn component(
        &mut self,
        base: Access<'a>,
        at: u32,
        span: Span,
    ) -> LoweringResult<Access<'a>> {
        Ok(match base {
            Access::Place(place) => Access::Place(self.b.component(place, at)),
            Access::Operand(operand) => {
                let value = self.value(operand, span)?;
                Access::Operand(Operand::Value(self.b.extract(value, at)))
            }
        })
    }

    fn type_attribute(
        &mut self,
        ty: Type,
        attr: &'a str,
        expr: &'a Expr,
    ) -> LoweringResult<Access<'a>> {
        if let (Some((scalar, count)), "dtype" | "length") =
            (self.b.module.types.components(ty), attr)
        {
            let known = match attr {
                "dtype" => KnownValue::Type(Annotation::Scalar(scalar)),
                _ => KnownValue::Int(i128::from(count)),
            };
            return Ok(Access::Operand(Operand::KnownValue(known)));
        }
        let found = self.shown(ty);
        let fault = Diagnostic::error(
            Code::UnknownAttribute,
            self.span(expr),
            format!("a `{found}` has no `{attr}`"),
        );
        let fault = match self.shape(ty) {
            Shape::Struct(id) => {
                let names = self
                    .b
                    .module
                    .types
                    .structure(*id)
                    .fields
                    .iter()
                    .map(|f| format!("`{}`", f.name));
                let names: Vec<String> = names.collect();
                if names.is_empty() {
                    fault
                } else {
                    fault.help(format!("it has {}", names.join(", ")))
                }
            }
            _ => fault,
        };
        Err(super::LoweringError::Fault(Box::new(fault)))
    }

    fn array_attribute(
        &mut self,
        array: Value,
        attr: &str,
        expr: &'a Expr,
    ) -> LoweringResult<Operand<'a>> {
        let (of, dims) = match *self.shape(self.ty(array)) {
            Shape::Array { of, dims } => (of, dims),
            _ => (Type::INVALID, 0),
        };
        match attr {
            "shape" => Ok(Operand::Extents(array)),
            "ndim" => Ok(Operand::KnownValue(KnownValue::Int(i128::from(dims)))),
            "grad" => Ok(Operand::Value(self.b.gradient(array))),
            "dtype" => match Annotation::of_type(of, &self.b.module.types) {
                Some(annotation) => Ok(Operand::KnownValue(KnownValue::Type(annotation))),
                None => fault(
                    Code::UnsupportedValue,
                    self.span(expr),
                    "a struct's type can't be taken from an array",
                ),
            },
            "size" => {
                let extents = self.extents(array);
                let size = extents.into_iter().reduce(|size, extent| self.b.mul(size, extent));
                Ok(Operand::Value(size.unwrap_or(array)))
            }
            "ptr" | "data" => {
                fault(Code::UnsupportedPointer, self.span(expr), "raw pointers aren't supported")
            }
            "strides" => fault(
                Code::UnsupportedPointer,
                self.span(expr),
                "strides of arrays aren't supported",
            ),
            _ => {
                let found = self.shown(self.ty(array));
                fault(
                    Code::UnknownAttribute,
                    self.span(expr),
                    format!("an `{found}` has no `{attr}`"),
                )
            }
        }
    }

    /// A place that holds what an access leads to.
    pub(super) fn spill(&mut self, access: Access<'a>, span: Span) -> LoweringResult<PlaceId> {
        match access {
            Access::Place(place) => Ok(place),
            Access::Operand(operand) => {
                let value = self.value(operand, span)?;
                let ty = self.ty(value);
                if matches!(self.shape(ty), Shape::Array { .. }) {
                    return Ok(self.b.array_place(value));
                }
                if self.b.module.types.layout(ty).is_none() {
                    let found = self.shown(ty);
                    return fault(
                        Code::TypeMismatch,
                        span,
                        format!("a `{found}` has no parts to choose from at run time"),
                    );
                }
                let place = self.temporary("part", ty);
                self.b.store(place, value);
                Ok(place)
            }
        }
    }

    fn subscript(&mut self, expr: &'a Expr) -> LoweringResult<Access<'a>> {
        let (base, groups) = index_groups(expr);
        let mut access = self.access(base)?;
        let mut at = 0;
        if let Access::Operand(Operand::KnownValue(known)) = &access {
            match known {
                KnownValue::Member(path) if &**path == "warp.adjoint" => {
                    at = 1;
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
                KnownValue::Type(_) => {
                    return Ok(Access::Operand(Operand::KnownValue(
                        self.unit.known(expr, self.scope)?,
                    )));
                }
                _ => {}
            }
        }
        while at < groups.len() {
            let mut indices: Vec<&'a Expr> = groups[at].0.iter().collect();
            let mut whole = groups[at].1;
            at += 1;
            let ty = self.access_type(&access);
            let dims = ty.and_then(|ty| match *self.shape(ty) {
                Shape::Array { dims, .. } => Some(dims),
                _ => self.indexed_element(ty).map(|(_, dims)| dims),
            });
            if let Some(dims) = dims {
                let plain = |indices: &[&Expr]| {
                    !indices.iter().any(|index| matches!(index, Expr::Slice(_)))
                };
                while indices.len() < usize::from(dims)
                    && at < groups.len()
                    && plain(&indices)
                    && indices.len() + groups[at].0.len() <= usize::from(dims)
                    && !groups[at].0.iter().any(|index| matches!(index, Expr::Slice(_)))
                {
                    indices.extend(groups[at].0.iter());
                    whole = groups[at].1;
                    at += 1;
                }
            }
            access = self.indexed(access, &indices, whole)?;
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
        let Some(ty) = self.access_type(&base) else {
            return Err(self.not_indexed(span));
        };
        if let Some((_, dims)) = self.indexed_element(ty) {
            return self.indexed_at(base, dims, indices, expr);
        }
        match self.shape(ty).clone() {
            Shape::Array { dims, .. } => self.array_index(base, dims, indices, expr),
            Shape::Fixed { .. } => {
                let mut place = self.spill(base, span)?;
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
                let tuple = self.read(base);
                let tuple = self.value(tuple, span)?;
                Ok(Access::Operand(Operand::Value(self.b.extract(tuple, at as u32))))
            }
            _ => {
                let found = self.shown(ty);
                fault(Code::TypeMismatch, span, format!("a `{found}` can't be indexed"))
            }
        }
    }

    /// An element of an operand that is not a value of the IR; `None` if it is one.
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
            Operand::Tile(tile) => self.tile_index(&tile.clone(), indices, expr)?,
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
        Err(fault_with(fault, "pass the numbers as an array, or make a vector of them"))
    }

    /// Fault of an index into what has no elements in a kernel.
    fn not_indexed(&self, span: Span) -> LoweringError {
        LoweringError::Fault(Box::new(Diagnostic::error(
            Code::TypeMismatch,
            span,
            "this can't be indexed",
        )))
    }

    /// One index as a value of an integer type.
    pub(super) fn index_value(&mut self, index: &'a Expr) -> LoweringResult<Value> {
        let operand = self.expr(index)?;
        let value = self.value(operand, self.span(index))?;
        let ty = self.ty(value);
        if ty.as_scalar().is_some_and(Scalar::is_int) {
            return Ok(value);
        }
        let found = self.shown(ty);
        fault(
            Code::TypeMismatch,
            self.span(index),
            format!("an index is an integer, found `{found}`"),
        )
    }
}

enum Part {
    Field(u32),
    Component(u32),
}

/// Returns true if a builtin that programs may call has a name.
pub(super) fn is_builtin(name: &str) -> bool {
    find(name).is_some_and(|found| row(found).visibility == Visibility::Dialect)
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

fn fault_with(fault: Diagnostic, help: &str) -> LoweringError {
    LoweringError::Fault(Box::new(fault.help(help)))
}
