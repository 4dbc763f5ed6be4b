//! Names, attributes and subscripts: places where there are any, values elsewhere.

use super::{Binding, Flow, Lower, Operand, fault};
use crate::diagnostic::Diagnostic;
use crate::front::python::annotation::Annotation;
use crate::front::python::constant::Static;
use crate::front::python::syntax::{self, Expr, ExprSlice};
use crate::front::python::warp;
use crate::ir::constant::Literal;
use crate::ir::op::{Selector, Value};
use crate::ir::place::PlaceId;
use crate::ir::ty::{Scalar, Shape, Type};
use crate::source::Span;

/// What a chain of names, attributes and subscripts leads to.
pub(super) enum Access<'a> {
    Place(PlaceId),
    Operand(Operand<'a>),
}

/// One index of a subscript.
enum Index<'a> {
    At(Value),
    Slice(&'a ExprSlice),
}

impl<'a> Lower<'_, '_, 'a, '_> {
    pub(super) fn access(&mut self, expr: &'a Expr) -> Flow<Access<'a>> {
        match expr {
            Expr::Name(name) => self.name_access(name.id.as_str(), expr),
            Expr::Attribute(attribute) => {
                let base = self.access(&attribute.value)?;
                self.attribute(base, attribute.attr.as_str(), expr)
            }
            Expr::Subscript(_) => self.subscript(expr),
            _ => super::stacked(|| self.expr(expr)).map(Access::Operand),
        }
    }

    fn name_access(&mut self, name: &'a str, expr: &'a Expr) -> Flow<Access<'a>> {
        let binding = self.names.get(name).cloned();
        Ok(match binding {
            Some(Binding::Local(local)) => Access::Place(self.b.local_place(local)),
            Some(Binding::Param(at)) => Access::Place(self.b.param_place(at)),
            Some(Binding::Value(value)) => Access::Operand(Operand::Value(value)),
            Some(Binding::Static(_, Some(local)))
                if self.usage.is_rebound(name) && !self.is_plain(name) =>
            {
                Access::Place(self.b.local_place(local))
            }
            Some(Binding::Static(known, _)) => Access::Operand(Operand::Static(known)),
            Some(Binding::Tuple(parts)) => Access::Operand(Operand::Tuple(parts)),
            Some(Binding::Extents(array)) => Access::Operand(Operand::Extents(array)),
            Some(Binding::Refused) => return Err(super::Stop::Reported),
            None => {
                let known = match self.unit.known(expr, self.scope) {
                    Err(undefined) if undefined.code == "undefined-name" => {
                        if crate::ir::builtin::find(name).is_some_and(|row| {
                            crate::ir::builtin::row(row).face == crate::ir::builtin::Face::Dialect
                        }) {
                            Static::Member(format!("warp.{name}").into())
                        } else if self.usage_binds(name) {
                            return fault(
                                "undefined-name",
                                self.span(expr),
                                format!("`{name}` isn't bound on every way to this place"),
                            );
                        } else {
                            return Err(undefined.into());
                        }
                    }
                    other => other?,
                };
                Access::Operand(Operand::Static(known))
            }
        })
    }

    fn usage_binds(&self, name: &str) -> bool {
        self.usage.is_bound(name)
    }

    /// Whether what a name stands for is a number known from the text.
    fn is_plain(&self, name: &str) -> bool {
        matches!(self.names.get(name), Some(Binding::Static(known, _)) if known.as_f64().is_some())
    }

    /// What a name stands for, as an operand.
    pub(super) fn name_operand(&mut self, name: &'a str, expr: &'a Expr) -> Flow<Operand<'a>> {
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

    fn access_type(&mut self, access: &Access<'a>) -> Option<Type> {
        match access {
            Access::Place(place) => Some(self.b.place_type(*place)),
            Access::Operand(operand) => self.operand_type(operand),
        }
    }

    fn attribute(&mut self, base: Access<'a>, attr: &'a str, expr: &'a Expr) -> Flow<Access<'a>> {
        if let Access::Operand(Operand::Static(known)) = &base
            && !matches!(known, Static::Composite(..) | Static::Typed(_))
        {
            if let Static::Member(path) = known
                && &**path == "warp.adjoint"
            {
                return fault(
                    "unsupported-adjoint",
                    self.span(expr),
                    "adjoint variables aren't supported",
                );
            }
            return Ok(Access::Operand(Operand::Static(self.unit.attribute(known, attr, expr)?)));
        }
        let Some(ty) = self.access_type(&base) else {
            return fault("unknown-attribute", self.span(expr), format!("a tuple has no `{attr}`"));
        };
        let component = |len: usize| "xyzw".find(attr).filter(|&at| attr.len() == 1 && at < len);
        let part = match self.shape(ty).clone() {
            Shape::Struct(id) => {
                let fields = &self.b.module.types.structure(id).fields;
                fields.iter().position(|field| field.name == attr).map(|at| Part::Field(at as u32))
            }
            Shape::Vector { len, .. } => {
                component(usize::from(len)).map(|at| Part::Component(at as u32))
            }
            Shape::Quaternion(_) => component(4).map(|at| Part::Component(at as u32)),
            Shape::Transform(_) => match attr {
                "p" => Some(Part::Field(0)),
                "q" => Some(Part::Field(1)),
                _ => None,
            },
            Shape::Array { .. } => {
                let array = self.read(base);
                let array = self.value(array, self.span(expr))?;
                return self.array_attribute(array, attr, expr).map(Access::Operand);
            }
            _ => None,
        };
        match part {
            Some(Part::Field(field)) => {
                if let Access::Operand(Operand::Value(value)) = base
                    && matches!(self.shape(ty), Shape::Struct(_))
                {
                    return Ok(Access::Operand(Operand::Value(self.b.extract(value, field))));
                }
                let place = self.spilled(base, self.span(expr))?;
                Ok(Access::Place(self.b.field(place, field)))
            }
            Some(Part::Component(at)) => self.component(base, at, self.span(expr)),
            None => self.type_attribute(ty, attr, expr),
        }
    }

    fn component(&mut self, base: Access<'a>, at: u32, span: Span) -> Flow<Access<'a>> {
        Ok(match base {
            Access::Place(place) => Access::Place(self.b.component(place, at)),
            Access::Operand(operand) => {
                let value = self.value(operand, span)?;
                Access::Operand(Operand::Value(self.b.extract(value, at)))
            }
        })
    }

    fn type_attribute(&mut self, ty: Type, attr: &'a str, expr: &'a Expr) -> Flow<Access<'a>> {
        if let (Some((scalar, count)), "dtype" | "length") =
            (self.b.module.types.components(ty), attr)
        {
            let known = match attr {
                "dtype" => Static::Type(Annotation::Scalar(scalar)),
                _ => Static::Int(i128::from(count)),
            };
            return Ok(Access::Operand(Operand::Static(known)));
        }
        let found = self.shown(ty);
        let fault = Diagnostic::error(
            "unknown-attribute",
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
        Err(super::Stop::Fault(Box::new(fault)))
    }

    fn array_attribute(&mut self, array: Value, attr: &str, expr: &'a Expr) -> Flow<Operand<'a>> {
        let (of, dims) = match *self.shape(self.ty(array)) {
            Shape::Array { of, dims } => (of, dims),
            _ => (Type::INVALID, 0),
        };
        match attr {
            "shape" => Ok(Operand::Extents(array)),
            "ndim" => Ok(Operand::Static(Static::Int(i128::from(dims)))),
            "grad" => Ok(Operand::Value(self.b.gradient(array))),
            "dtype" => match Annotation::of_type(of, &self.b.module.types) {
                Some(annotation) => Ok(Operand::Static(Static::Type(annotation))),
                None => fault(
                    "unsupported-value",
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
                fault("unsupported-pointer", self.span(expr), "raw pointers aren't supported")
            }
            "strides" => {
                fault("unsupported-pointer", self.span(expr), "strides of arrays aren't supported")
            }
            _ => {
                let found = self.shown(self.ty(array));
                fault("unknown-attribute", self.span(expr), format!("an `{found}` has no `{attr}`"))
            }
        }
    }

    /// A place that holds what an access leads to.
    pub(super) fn spilled(&mut self, access: Access<'a>, span: Span) -> Flow<PlaceId> {
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
                        "type-mismatch",
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

    fn subscript(&mut self, expr: &'a Expr) -> Flow<Access<'a>> {
        // `a[i][j]` on an array of two dimensions is `a[i, j]`.
        let mut groups: Vec<(&'a [Expr], &'a Expr)> = Vec::new();
        let mut base = expr;
        while let Expr::Subscript(subscript) = base {
            let indices = match &*subscript.slice {
                Expr::Tuple(tuple) => &tuple.elts[..],
                one => std::slice::from_ref(one),
            };
            groups.push((indices, base));
            base = &subscript.value;
        }
        groups.reverse();
        let mut access = self.access(base)?;
        if let Access::Operand(Operand::Static(known)) = &access {
            match known {
                Static::Member(path) if &**path == "warp.adjoint" => {
                    return fault(
                        "unsupported-adjoint",
                        self.span(expr),
                        "adjoint variables aren't supported",
                    );
                }
                Static::Member(path) => {
                    let name = path.rsplit('.').next().unwrap_or(path);
                    if let Some((code, what)) = warp::missing_feature(name) {
                        return fault(code, self.span(expr), format!("{what} aren't supported"));
                    }
                    return Ok(Access::Operand(Operand::Static(
                        self.unit.known(expr, self.scope)?,
                    )));
                }
                Static::Type(_) => {
                    return Ok(Access::Operand(Operand::Static(
                        self.unit.known(expr, self.scope)?,
                    )));
                }
                _ => {}
            }
        }
        let mut at = 0;
        while at < groups.len() {
            let mut indices: Vec<&'a Expr> = groups[at].0.iter().collect();
            let mut whole = groups[at].1;
            at += 1;
            let ty = self.access_type(&access);
            if let Some(Shape::Array { dims, .. }) = ty.map(|ty| self.shape(ty).clone()) {
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

    fn indexed(
        &mut self,
        base: Access<'a>,
        indices: &[&'a Expr],
        expr: &'a Expr,
    ) -> Flow<Access<'a>> {
        let span = self.span(expr);
        match &base {
            Access::Operand(Operand::Tuple(parts)) => {
                let at = self.constant_index(indices, parts.len(), expr)?;
                return Ok(Access::Operand(parts[at].clone()));
            }
            Access::Operand(Operand::Static(Static::Sequence(parts))) => {
                let at = self.constant_index(indices, parts.len(), expr)?;
                return Ok(Access::Operand(Operand::Static(parts[at].clone())));
            }
            Access::Operand(Operand::Extents(array)) => {
                let array = *array;
                return self
                    .extent_at(array, indices, expr)
                    .map(|value| Access::Operand(Operand::Value(value)));
            }
            _ => {}
        }
        let Some(ty) = self.access_type(&base) else {
            return fault("type-mismatch", span, "this can't be indexed");
        };
        match self.shape(ty).clone() {
            Shape::Array { dims, .. } => self.array_index(base, dims, indices, expr),
            Shape::Fixed { .. } => {
                let mut place = self.spilled(base, span)?;
                for &index in indices {
                    let index = self.index_value(index)?;
                    place = self.b.at(place, index);
                    if self.b.place_type(place) == Type::INVALID {
                        return fault("wrong-arguments", span, "too many indices");
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
                fault("type-mismatch", span, format!("a `{found}` can't be indexed"))
            }
        }
    }

    fn extent_at(&mut self, array: Value, indices: &[&'a Expr], expr: &'a Expr) -> Flow<Value> {
        let extents = match *self.shape(self.ty(array)) {
            Shape::Array { dims, .. } => usize::from(dims),
            _ => 0,
        };
        let [index] = indices else {
            return fault("wrong-arguments", self.span(expr), "a shape has one index");
        };
        let operand = self.expr(index)?;
        if let Operand::Static(Static::Int(at)) = operand {
            // NVIDIA Warp keeps four lengths whatever the dimensions; those beyond are 0.
            let wrapped = if at < 0 { at + extents as i128 } else { at };
            return match usize::try_from(wrapped) {
                Ok(at) if at < extents => Ok(self.b.extent(array, at as u8)),
                Ok(at) if at < 4 => Ok(self.b.i32(0)),
                _ => fault(
                    "index-out-of-range",
                    self.span(expr),
                    format!("the array has {extents} dimensions"),
                ),
            };
        }
        let index = self.value(operand, self.span(expr))?;
        let index = self.b.convert(index, Scalar::I32);
        let mut result = self.b.i32(0);
        for dim in (0..extents).rev() {
            let (number, extent) = (self.b.i32(dim as i32), self.b.extent(array, dim as u8));
            let here = self.b.eq(index, number);
            result = self.b.select(here, extent, result);
        }
        Ok(result)
    }

    fn constant_index(&mut self, indices: &[&'a Expr], len: usize, expr: &'a Expr) -> Flow<usize> {
        if let [index] = indices
            && let Operand::Static(Static::Int(at)) = self.expr(index)?
        {
            let wrapped = if at < 0 { at + len as i128 } else { at };
            return match usize::try_from(wrapped) {
                Ok(at) if at < len => Ok(at),
                _ => fault(
                    "index-out-of-range",
                    self.span(expr),
                    format!("index {at} in a tuple of {len}"),
                ),
            };
        }
        fault("needs-constant", self.span(expr), "a tuple's index is a number written in the text")
    }

    /// One index as a value of an integer type.
    fn index_value(&mut self, index: &'a Expr) -> Flow<Value> {
        let operand = self.expr(index)?;
        let value = self.value(operand, self.span(index))?;
        let ty = self.ty(value);
        if ty.as_scalar().is_some_and(Scalar::is_int) {
            return Ok(value);
        }
        let found = self.shown(ty);
        fault("type-mismatch", self.span(index), format!("an index is an integer, found `{found}`"))
    }

    fn array_index(
        &mut self,
        base: Access<'a>,
        dims: u8,
        indices: &[&'a Expr],
        expr: &'a Expr,
    ) -> Flow<Access<'a>> {
        let span = self.span(expr);
        if indices.len() > usize::from(dims) {
            let message = format!("{} indices for an array of {dims} dimensions", indices.len());
            return fault("wrong-arguments", span, message);
        }
        let mut selectors = Vec::with_capacity(indices.len());
        for &index in indices {
            selectors.push(match index {
                Expr::Slice(slice) => Index::Slice(slice),
                index => Index::At(self.index_value(index)?),
            });
        }
        let all: Option<Vec<Value>> = selectors
            .iter()
            .map(|selector| match selector {
                Index::At(value) => Some(*value),
                Index::Slice(_) => None,
            })
            .collect();
        if let Some(values) = all
            && values.len() == usize::from(dims)
        {
            let place = self.spilled(base, span)?;
            return Ok(Access::Place(self.b.element(place, &values)));
        }
        let array = self.read(base);
        let array = self.value(array, span)?;
        let mut parts = Vec::with_capacity(selectors.len());
        for (dim, selector) in selectors.into_iter().enumerate() {
            parts.push(match selector {
                Index::At(value) => Selector::At(value),
                Index::Slice(slice) => self.range_selector(array, dim as u8, slice)?,
            });
        }
        Ok(Access::Operand(Operand::Value(self.b.view(array, &parts))))
    }

    /// `start:stop:step` of an array's dimension: bounds are clamped as in Python.
    fn range_selector(&mut self, array: Value, dim: u8, slice: &'a ExprSlice) -> Flow<Selector> {
        let extent = self.b.extent(array, dim);
        let step = match slice.step.as_deref() {
            Some(step) => self.index_value(step)?,
            None => self.b.i32(1),
        };
        let step = self.b.convert(step, Scalar::I32);
        let negative = match self.literal_of(step).and_then(Literal::as_int) {
            Some(0) => {
                let span = syntax::span(self.unit.id, slice);
                return fault("wrong-arguments", span, "the step of a slice can't be 0");
            }
            Some(step) => step < 0,
            None => {
                let span = syntax::span(self.unit.id, slice);
                return fault(
                    "needs-constant",
                    span,
                    "the step of a slice is a number written in the text",
                );
            }
        };
        let zero = self.b.i32(0);
        let one = self.b.i32(1);
        let last = self.b.sub(extent, one);
        let minus = self.b.i32(-1);
        let (low, high) = if negative { (minus, last) } else { (zero, extent) };
        let start = match slice.lower.as_deref() {
            Some(bound) => self.slice_bound(bound, extent, low, high)?,
            None => {
                if negative {
                    last
                } else {
                    zero
                }
            }
        };
        let stop = match slice.upper.as_deref() {
            Some(bound) => self.slice_bound(bound, extent, low, high)?,
            None => {
                if negative {
                    minus
                } else {
                    extent
                }
            }
        };
        let distance = self.b.sub(stop, start);
        let len = if self.literal_of(step).and_then(Literal::as_int) == Some(1) {
            distance
        } else {
            let rounding = if negative { self.b.add(step, one) } else { self.b.sub(step, one) };
            let sum = self.b.add(distance, rounding);
            self.b.div(sum, step)
        };
        Ok(Selector::Range { start, len, step })
    }

    fn slice_bound(
        &mut self,
        bound: &'a Expr,
        extent: Value,
        low: Value,
        high: Value,
    ) -> Flow<Value> {
        let value = self.index_value(bound)?;
        let value = self.b.convert(value, Scalar::I32);
        let value = match self.literal_of(value).and_then(Literal::as_int) {
            Some(number) if number >= 0 => value,
            Some(_) => self.b.add(value, extent),
            None => {
                let zero = self.b.i32(0);
                let negative = self.b.lt(value, zero);
                let wrapped = self.b.add(value, extent);
                self.b.select(negative, wrapped, value)
            }
        };
        let raised = self.b.native(crate::ir::builtin::Native::Max, &[value, low]);
        Ok(self.b.native(crate::ir::builtin::Native::Min, &[raised, high]))
    }

    fn vector_index(
        &mut self,
        base: Access<'a>,
        len: u32,
        indices: &[&'a Expr],
        expr: &'a Expr,
    ) -> Flow<Access<'a>> {
        let span = self.span(expr);
        let [index] = indices else {
            return fault("wrong-arguments", span, "a vector has one index");
        };
        if let Expr::Slice(slice) = index {
            let positions = self.constant_slice(slice, len)?;
            let value = self.read(base);
            let value = self.value(value, span)?;
            return self
                .gathered(value, &positions, span)
                .map(|v| Access::Operand(Operand::Value(v)));
        }
        match self.component_index(index, len)? {
            Ok(at) => self.component(base, at, span),
            Err(index) => {
                let place = self.spilled(base, span)?;
                Ok(Access::Place(self.b.at(place, index)))
            }
        }
    }

    /// A component's index: a number known to be inside, or a value.
    fn component_index(&mut self, index: &'a Expr, len: u32) -> Flow<Result<u32, Value>> {
        let operand = self.expr(index)?;
        let known = match &operand {
            Operand::Static(Static::Int(at)) => Some(*at),
            Operand::Static(Static::Typed(literal)) => literal.as_int(),
            _ => None,
        };
        if let Some(at) = known {
            let wrapped = if at < 0 { at + i128::from(len) } else { at };
            return match u32::try_from(wrapped) {
                Ok(at) if at < len => Ok(Ok(at)),
                _ => fault(
                    "index-out-of-range",
                    self.span(index),
                    format!("index {at} of {len} components"),
                ),
            };
        }
        let value = self.value(operand, self.span(index))?;
        let ty = self.ty(value);
        if !ty.as_scalar().is_some_and(Scalar::is_int) {
            let found = self.shown(ty);
            return fault(
                "type-mismatch",
                self.span(index),
                format!("an index is an integer, found `{found}`"),
            );
        }
        Ok(Err(value))
    }

    fn constant_slice(&mut self, slice: &'a ExprSlice, len: u32) -> Flow<Vec<u32>> {
        let span = syntax::span(self.unit.id, slice);
        let bound = |this: &mut Self, part: Option<&'a Expr>| -> Flow<Option<i128>> {
            let Some(part) = part else { return Ok(None) };
            match this.expr(part)? {
                Operand::Static(Static::Int(at)) => Ok(Some(at)),
                _ => fault(
                    "needs-constant",
                    this.span(part),
                    "a slice of components has numbers written in the text",
                ),
            }
        };
        let lower = bound(self, slice.lower.as_deref())?;
        let upper = bound(self, slice.upper.as_deref())?;
        let step = bound(self, slice.step.as_deref())?.unwrap_or(1);
        if step == 0 {
            return fault("wrong-arguments", span, "the step of a slice can't be 0");
        }
        let len = i128::from(len);
        let (low, high) = if step > 0 { (0, len) } else { (-1, len - 1) };
        let inside = |at: i128| (if at < 0 { at + len } else { at }).clamp(low, high);
        let start = lower.map_or(if step > 0 { 0 } else { len - 1 }, inside);
        let stop = upper.map_or(if step > 0 { len } else { -1 }, inside);
        let mut positions = Vec::new();
        let mut next = start;
        while if step > 0 { next < stop } else { next > stop } {
            positions.push(next as u32);
            next += step;
        }
        if positions.is_empty() {
            return fault("wrong-arguments", span, "an empty slice is no vector");
        }
        Ok(positions)
    }

    /// A vector of some components.
    fn gathered(&mut self, value: Value, positions: &[u32], span: Span) -> Flow<Value> {
        let Some((scalar, _)) = self.b.module.types.components(self.ty(value)) else {
            return fault("type-mismatch", span, "this has no components");
        };
        let parts: Vec<Value> = positions.iter().map(|&at| self.b.extract(value, at)).collect();
        let ty = self.b.module.types.vector(parts.len() as u16, scalar);
        Ok(self.b.construct(ty, &parts))
    }

    fn matrix_index(
        &mut self,
        base: Access<'a>,
        rows: u32,
        cols: u32,
        indices: &[&'a Expr],
        expr: &'a Expr,
    ) -> Flow<Access<'a>> {
        let span = self.span(expr);
        let sliced = indices.iter().any(|index| matches!(index, Expr::Slice(_)));
        match indices {
            [row, col] if !sliced => {
                let row = self.component_index(row, rows)?;
                let col = self.component_index(col, cols)?;
                if let (Ok(row), Ok(col)) = (row, col) {
                    return self.component(base, row * cols + col, span);
                }
                let place = self.spilled(base, span)?;
                let row = match row {
                    Ok(at) => self.b.i32(at as i32),
                    Err(index) => index,
                };
                let place = self.b.at(place, row);
                match col {
                    Ok(at) => Ok(Access::Place(self.b.component(place, at))),
                    Err(index) => Ok(Access::Place(self.b.at(place, index))),
                }
            }
            [row] if !sliced => {
                let row = self.component_index(row, rows)?;
                let place = self.spilled(base, span)?;
                let row = match row {
                    Ok(at) => self.b.i32(at as i32),
                    Err(index) => index,
                };
                Ok(Access::Place(self.b.at(place, row)))
            }
            [row] | [row, _] => {
                let (row_at, row_keeps) = self.positions(row, rows)?;
                let (col_at, col_keeps) = match indices.get(1) {
                    Some(col) => self.positions(col, cols)?,
                    None => ((0..cols).collect(), true),
                };
                let value = self.read(base);
                let value = self.value(value, span)?;
                let all: Vec<u32> =
                    row_at.iter().flat_map(|r| col_at.iter().map(move |c| r * cols + c)).collect();
                if row_keeps && col_keeps {
                    let Some((scalar, _)) = self.b.module.types.components(self.ty(value)) else {
                        return fault("type-mismatch", span, "this has no components");
                    };
                    let parts: Vec<Value> =
                        all.iter().map(|&at| self.b.extract(value, at)).collect();
                    let ty = self.b.module.types.matrix(
                        row_at.len() as u16,
                        col_at.len() as u16,
                        scalar,
                    );
                    return Ok(Access::Operand(Operand::Value(self.b.construct(ty, &parts))));
                }
                self.gathered(value, &all, span).map(|v| Access::Operand(Operand::Value(v)))
            }
            _ => fault("wrong-arguments", span, "a matrix has one or two indices"),
        }
    }

    /// Rows or columns by a slice or number, and whether the dimension stays.
    pub(super) fn positions(&mut self, index: &'a Expr, len: u32) -> Flow<(Vec<u32>, bool)> {
        if let Expr::Slice(slice) = index {
            return Ok((self.constant_slice(slice, len)?, true));
        }
        match self.component_index(index, len)? {
            Ok(at) => Ok((vec![at], false)),
            Err(_) => fault(
                "needs-constant",
                self.span(index),
                "beside a slice an index is a number written in the text",
            ),
        }
    }
}

enum Part {
    Field(u32),
    Component(u32),
}
