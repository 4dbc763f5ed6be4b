//! Elements, parts and extents of indexed arrays.

use super::access::Access;
use super::view::check_count;
use super::{FunctionLowering, LoweringResult, Operand, fault};
use crate::annotation::Annotation;
use crate::constant::KnownValue;
use crate::indexed_array;
use crate::syntax::Expr;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{Selector, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::ty::{Scalar, Type};

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    /// Elements and dimensions of an indexed array, if a type is one.
    pub(super) fn indexed_element(&self, ty: Type) -> Option<(Type, u8)> {
        indexed_array::element(&self.b.module.types, ty)
    }

    /// Lengths of the dimensions: those of the lists, or of the array where there is none.
    pub(super) fn indexed_extents(&mut self, indexed: Value, dims: u8) -> Vec<Value> {
        let data = self.b.extract(indexed, 0);
        let mut extents = Vec::with_capacity(usize::from(dims));
        for dim in 0..dims {
            let indices = self.b.extract(indexed, u32::from(dim) + 1);
            let (listed, whole) = (self.b.extent(indices, 0), self.b.extent(data, dim));
            let present = self.b.present(indices);
            extents.push(self.b.select(present, listed, whole));
        }
        extents
    }

    /// `a.shape` and its like.
    pub(super) fn indexed_attribute(
        &mut self,
        base: Access<'a>,
        dims: u8,
        attr: &str,
        expr: &'a Expr,
    ) -> LoweringResult<Operand<'a>> {
        let span = self.span(expr);
        let operand = self.read(base);
        let indexed = self.value(operand, span)?;
        match attr {
            "shape" => {
                let mut extents = self.indexed_extents(indexed, dims);
                // NVIDIA Warp keeps four lengths whatever the dimensions; those beyond are 0.
                extents.resize_with(4, || self.b.i32(0));
                Ok(Operand::Tuple(extents.into_iter().map(Operand::Value).collect()))
            }
            "size" => {
                let extents = self.indexed_extents(indexed, dims);
                let size = extents.into_iter().reduce(|size, extent| self.b.mul(size, extent));
                Ok(Operand::Value(size.unwrap_or(indexed)))
            }
            "ndim" => Ok(Operand::KnownValue(KnownValue::Int(i128::from(dims)))),
            "dtype" => {
                let of = self.indexed_element(self.ty(indexed)).map(|(of, _)| of);
                match of.and_then(|of| Annotation::of_type(of, &self.b.module.types)) {
                    Some(annotation) => Ok(Operand::KnownValue(KnownValue::Type(annotation))),
                    None => fault(
                        Code::UnsupportedValue,
                        span,
                        "a struct's type can't be taken from an array",
                    ),
                }
            }
            _ => {
                let message = format!("an indexed array has no `{attr}`");
                fault(Code::UnknownAttribute, span, message)
            }
        }
    }

    /// An element, or, of fewer indices than dimensions, an indexed array of the rest.
    pub(super) fn indexed_at(
        &mut self,
        base: Access<'a>,
        dims: u8,
        indices: &[&'a Expr],
        expr: &'a Expr,
    ) -> LoweringResult<Access<'a>> {
        let span = self.span(expr);
        check_count(indices, dims, span)?;
        let mut values = Vec::with_capacity(indices.len());
        for &index in indices {
            if matches!(index, Expr::Slice(_)) {
                let message = "slices of indexed arrays aren't supported";
                return fault(Code::UnsupportedIndexedArray, span, message);
            }
            values.push(self.index_value(index)?);
        }
        let operand = self.read(base);
        let indexed = self.value(operand, span)?;
        if values.len() == usize::from(dims) {
            return Ok(Access::Place(self.indexed_place(indexed, &values)));
        }
        let data = self.b.extract(indexed, 0);
        let at: Vec<Selector> =
            self.through_lists(indexed, &values).into_iter().map(Selector::At).collect();
        let rest = values.len() as u32 + 1..u32::from(dims) + 1;
        let mut parts = vec![self.b.view(data, &at)];
        parts.extend(rest.map(|list| self.b.extract(indexed, list)));
        let left = dims - values.len() as u8;
        let of = self.indexed_element(self.ty(indexed)).map_or(Type::INVALID, |(of, _)| of);
        let ty = indexed_array::interned(&mut self.b.module.types, of, left);
        Ok(Access::Operand(Operand::Value(self.b.construct(ty, &parts))))
    }

    /// The element that indices, one for each dimension, lead to.
    pub(super) fn indexed_place(&mut self, indexed: Value, indices: &[Value]) -> PlaceId {
        let at = self.through_lists(indexed, indices);
        let data = self.b.extract(indexed, 0);
        let place = self.b.array_place(data);
        self.b.element(place, &at)
    }

    /// Indices of the array itself.
    fn through_lists(&mut self, indexed: Value, indices: &[Value]) -> Vec<Value> {
        let mut found = Vec::with_capacity(indices.len());
        for (dim, &index) in indices.iter().enumerate() {
            let list = self.b.extract(indexed, dim as u32 + 1);
            let index = self.b.convert(index, Scalar::I32);
            let at = self.temporary("at", Type::I32);
            self.b.store(at, index);
            let present = self.b.present(list);
            self.b.if_then(present, |b| {
                let place = b.array_place(list);
                let place = b.element(place, &[index]);
                let listed = b.load(place);
                b.store(at, listed);
            });
            found.push(self.b.load(at));
        }
        found
    }
}
