//! Elements, parts and extents of indexed arrays.

use super::Expressions;
use super::access::{Access, element_type};
use super::operand::{LoweringResult, Operand, fault};
use super::view::check_count;
use super::writer::Writer;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{Selector, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Type};
use gbxcule_python_names::syntax::Expr;
use gbxcule_warp_types::indexed_array;
use gbxcule_warp_types::value::KnownValue;

/// Lengths of the dimensions: a dimension with a list of indices has the list's length, any other
/// dimension the array's.
pub(super) fn extents(b: &mut Writer<'_, '_>, indexed: Value, dims: u8) -> Vec<Value> {
    let data = b.extract(indexed, 0);
    let mut extents = Vec::with_capacity(usize::from(dims));
    for dim in 0..dims {
        let indices = b.extract(indexed, u32::from(dim) + 1);
        let (listed, whole) = (b.extent(indices, 0), b.extent(data, dim));
        let present = b.present(indices);
        extents.push(b.select(present, listed, whole));
    }
    extents
}

/// `a.shape` and similar attributes of an array with these elements and dimensions.
pub(super) fn attribute<'a>(
    b: &mut Writer<'_, 'a>,
    indexed: Value,
    (of, dims): (Type, u8),
    attr: &str,
    span: Span,
) -> LoweringResult<Operand<'a>> {
    match attr {
        "shape" => {
            let mut extents = extents(b, indexed, dims);
            // NVIDIA Warp keeps four lengths whatever the number of dimensions; the lengths of
            // missing dimensions are 0.
            extents.resize_with(4, || b.i32(0));
            Ok(Operand::Tuple(extents.into_iter().map(Operand::Value).collect()))
        }
        "size" => {
            let extents = extents(b, indexed, dims);
            Ok(b.product(extents).into())
        }
        "ndim" => Ok(KnownValue::Int(i128::from(dims)).into()),
        "dtype" => element_type(b, of, span).map(Into::into),
        _ => {
            let message = format!("an indexed array has no `{attr}`");
            fault(Code::UnknownAttribute, span, message)
        }
    }
}

impl<'a> Expressions<'_, 'a> {
    /// An element; if there are fewer indices than dimensions, an indexed array of the other
    /// dimensions.
    pub(super) fn indexed_at(
        &mut self,
        base: Access<'a>,
        (of, dims): (Type, u8),
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
        let b = &mut self.b;
        let indexed = base.value(b, span)?;
        if values.len() == usize::from(dims) {
            return Ok(Access::Place(place(b, indexed, &values)));
        }
        let data = b.extract(indexed, 0);
        let at: Vec<Selector> =
            through_lists(b, indexed, &values).into_iter().map(Selector::At).collect();
        let remaining_dims = values.len() as u32 + 1..u32::from(dims) + 1;
        let mut parts = vec![b.view(data, &at)];
        parts.extend(remaining_dims.map(|list| b.extract(indexed, list)));
        let ty = indexed_array::interned(&mut b.module.types, of, dims - values.len() as u8);
        Ok(Access::Operand(b.construct(ty, &parts).into()))
    }
}

/// The element that indices, one for each dimension, lead to.
pub(super) fn place(b: &mut Writer<'_, '_>, indexed: Value, indices: &[Value]) -> PlaceId {
    let at = through_lists(b, indexed, indices);
    let data = b.extract(indexed, 0);
    let place = b.array_place(data);
    b.element(place, &at)
}

/// Indices of the array itself.
fn through_lists(b: &mut Writer<'_, '_>, indexed: Value, indices: &[Value]) -> Vec<Value> {
    let mut positions = Vec::with_capacity(indices.len());
    for (dim, &index) in indices.iter().enumerate() {
        let list = b.extract(indexed, dim as u32 + 1);
        let index = b.convert(index, Scalar::I32);
        let at = b.stored("at", index);
        let present = b.present(list);
        b.if_then(present, |b| {
            let place = b.array_place(list);
            let place = b.element(place, &[index]);
            let listed = b.load(place);
            b.store(at, listed);
        });
        positions.push(b.load(at));
    }
    positions
}
