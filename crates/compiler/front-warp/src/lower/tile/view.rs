//! Views of tiles: elements, slices, transposed and broadcast tiles.

use super::super::Expressions;
use super::super::access::Access;
use super::super::operand::{LoweringResult, Operand, fault};
use super::super::writer::Writer;
use super::call::TileCall;
use super::order::gather;
use super::{Dim, Tile, dense, plus, times};
use crate::lower::component::python_slice;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Scalar;
use gbxcule_python_names::syntax::{Expr, ExprSlice};
use gbxcule_warp_types::value::KnownValue;

/// An index into a tile.
enum TileIndex {
    Known(i128),
    Value(Value),
    Slice { start: i32, len: u32, step: i32 },
}

/// `t[i, j]`, `t[i]`, `t[1:, ::-1]`
pub(in crate::lower) fn tile_index<'a>(
    cx: &mut Expressions<'_, 'a>,
    tile: &Tile,
    indices: &[&'a Expr],
    expr: &'a Expr,
) -> LoweringResult<Access<'a>> {
    let span = cx.span(expr);
    let rank = tile.dims.len();
    let mut wanted = Vec::with_capacity(indices.len());
    let mut rows = None;
    for (axis, &index) in indices.iter().enumerate() {
        wanted.push(match index {
            Expr::Slice(slice) => match tile.dims.get(axis) {
                Some(dim) => slice_bounds(cx, slice, dim.extent, span)?,
                None => TileIndex::Known(0),
            },
            index => match cx.expr(index)? {
                Operand::KnownValue(KnownValue::Int(position)) => TileIndex::Known(position),
                Operand::Tile(tile) if rows.is_none() && axis < rank => {
                    rows = Some((axis, tile));
                    TileIndex::Known(0)
                }
                operand => TileIndex::Value(coordinate(&mut cx.b, operand, cx.unit.span(index))?),
            },
        });
    }
    if let Some((axis, rows)) = rows {
        let is_whole = |index: &Expr| matches!(index, Expr::Slice(it) if it.lower.is_none() && it.upper.is_none() && it.step.is_none());
        let mut others = indices.iter().enumerate().filter(|(position, _)| *position != axis);
        if indices.len() > rank || !others.all(|(_, index)| is_whole(index)) {
            let message = "beside a tile of indices only `:`";
            return fault(Code::UnsupportedTile, span, message);
        }
        return Ok(Access::Operand(gather(&mut cx.b, tile, axis, &rows, span)?));
    }
    let inner = wanted.split_off(wanted.len().min(rank));
    let is_element = wanted.len() == rank
        && !wanted.iter().any(|index| matches!(index, TileIndex::Slice { .. }));
    let view = tile.sliced(&mut cx.b, wanted, true, span)?;
    if !is_element {
        if !inner.is_empty() {
            return fault(Code::WrongArguments, span, "too many indices");
        }
        return Ok(Access::Operand(view.into()));
    }
    let place = view.element_at(&mut cx.b, &[]);
    if inner.is_empty() {
        return Ok(Access::Place(place));
    }
    cx.indexed(Access::Place(place), &indices[rank..], expr)
}

/// Start, length and step of a slice, as Python counts them.
fn slice_bounds<'a>(
    cx: &mut Expressions<'_, 'a>,
    slice: &'a ExprSlice,
    extent: u32,
    span: Span,
) -> LoweringResult<TileIndex> {
    let mut part = |part: &'a Option<Box<Expr>>| match part {
        None => Ok(None),
        Some(part) => match cx.expr(part)? {
            Operand::KnownValue(KnownValue::Int(at)) => Ok(Some(at)),
            Operand::KnownValue(KnownValue::None) => Ok(None),
            _ => {
                fault(Code::NeedsConstant, span, "a slice of a tile has bounds known when compiled")
            }
        },
    };
    let bounds = [part(&slice.lower)?, part(&slice.upper)?, part(&slice.step)?];
    let Some((start, len, step)) = python_slice(bounds, extent) else {
        return fault(Code::WrongArguments, span, "the step of a slice can't be 0");
    };
    if len == 0 {
        return fault(Code::WrongArguments, span, "a slice of a tile has at least one element");
    }
    Ok(TileIndex::Slice { start: start as i32, len: len as u32, step: step as i32 })
}

/// Converts an operand to an integer, as the coordinate of a tile.
pub(super) fn coordinate<'a>(
    b: &mut Writer<'_, 'a>,
    operand: Operand<'a>,
    span: Span,
) -> LoweringResult<Value> {
    let value = b.value(operand, span)?;
    if b.ty(value).as_scalar().is_some_and(Scalar::is_int) {
        return Ok(b.convert(value, Scalar::I32));
    }
    let found = b.shown(b.ty(value));
    fault(Code::TypeMismatch, span, format!("an index is an integer, found `{found}`"))
}

/// The operands of `offset`.
pub(super) fn offset_parts<'a>(
    b: &mut Writer<'_, 'a>,
    call: &TileCall<'a>,
) -> LoweringResult<Vec<Operand<'a>>> {
    Ok(match call.get("offset").cloned() {
        None | Some(Operand::KnownValue(KnownValue::None)) => Vec::new(),
        Some(one @ Operand::KnownValue(KnownValue::Int(_) | KnownValue::Typed(_))) => vec![one],
        Some(Operand::Value(value)) if b.ty(value).as_scalar().is_some() => {
            vec![Operand::Value(value)]
        }
        Some(operand) => b.spread(operand, call.span)?,
    })
}

impl Tile {
    /// The view that remains after indices and slices of the leading dimensions. With `wraps`,
    /// numbers below 0 count from the end.
    fn sliced(
        &self,
        b: &mut Writer<'_, '_>,
        indices: Vec<TileIndex>,
        wraps: bool,
        span: Span,
    ) -> LoweringResult<Tile> {
        let mut view = Tile { dims: Vec::new(), ..self.clone() };
        let mut indices = indices.into_iter();
        for dim in &self.dims {
            match indices.next() {
                None => view.dims.push(*dim),
                Some(TileIndex::Known(at)) => {
                    let extent = i128::from(dim.extent);
                    let wrapped = if at < 0 && wraps { at + extent } else { at };
                    if !(0..extent).contains(&wrapped) {
                        let message = format!("index {at} in a dimension of {extent}");
                        return fault(Code::IndexOutOfRange, span, message);
                    }
                    view.start += wrapped as i32 * dim.stride;
                }
                Some(TileIndex::Value(value)) => {
                    let step = times(b, value, dim.stride);
                    view.moved = plus(b, view.moved, step);
                }
                Some(TileIndex::Slice { start, len, step }) => {
                    view.start += start * dim.stride;
                    view.dims.push(Dim { extent: len, stride: dim.stride * step });
                }
            }
        }
        Ok(view)
    }

    /// `wp.tile_view(t, offset, shape)`
    pub(super) fn view<'a>(
        &self,
        b: &mut Writer<'_, 'a>,
        offset: Vec<Operand<'a>>,
        shape: Option<Vec<u32>>,
        span: Span,
    ) -> LoweringResult<Tile> {
        if offset.len() > self.dims.len() {
            return fault(Code::WrongArguments, span, "more offsets than the tile has dimensions");
        }
        let mut indices = Vec::with_capacity(offset.len());
        for operand in offset {
            indices.push(match operand {
                Operand::KnownValue(KnownValue::Int(at)) => TileIndex::Known(at),
                operand => TileIndex::Value(coordinate(b, operand, span)?),
            });
        }
        let view = self.sliced(b, indices, false, span)?;
        let Some(shape) = shape else {
            if view.dims.is_empty() {
                let message = "this view has no dimension: `wp.tile_extract` gives an element";
                return fault(Code::WrongArguments, span, message);
            }
            return Ok(view);
        };
        if shape.len() != self.dims.len()
            || shape.iter().zip(&self.dims).any(|(extent, dim)| *extent > dim.extent)
        {
            let message = "the view's shape has the tile's dimensions and lies within them";
            return fault(Code::WrongArguments, span, message);
        }
        let dims = shape.iter().zip(&self.dims);
        let dims = dims.map(|(&extent, dim)| Dim { extent, stride: dim.stride });
        Ok(Tile { dims: dims.collect(), ..view })
    }

    pub(super) fn transposed(&self, span: Span) -> LoweringResult<Tile> {
        let [rows, cols] = self.dims[..] else {
            return fault(
                Code::WrongArguments,
                span,
                "only a tile of two dimensions can be transposed",
            );
        };
        Ok(Tile { dims: vec![cols, rows], ..self.clone() })
    }

    /// `wp.tile_broadcast(t, shape)`, by NumPy's rules.
    pub(super) fn broadcast(&self, shape: &[u32], span: Span) -> LoweringResult<Tile> {
        let missing = shape.len().checked_sub(self.dims.len());
        let Some(missing) = missing else {
            let message = "the shape has fewer dimensions than the tile";
            return fault(Code::WrongArguments, span, message);
        };
        let mut dims = Vec::with_capacity(shape.len());
        for (at, &extent) in shape.iter().enumerate() {
            let dim = at.checked_sub(missing).map(|at| self.dims[at]);
            dims.push(match dim {
                Some(dim) if dim.extent == extent => dim,
                None | Some(Dim { extent: 1, .. }) => Dim { extent, stride: 0 },
                Some(dim) => {
                    let message = format!("a dimension of {} can't become {extent}", dim.extent);
                    return fault(Code::WrongArguments, span, message);
                }
            });
        }
        Ok(Tile { dims, ..self.clone() })
    }

    /// `wp.tile_reshape(t, shape)`; one extent may be -1.
    pub(super) fn reshape(&self, shape: &[i128], span: Span) -> LoweringResult<Tile> {
        if !self.is_dense() {
            let message = "a strided view can't be reshaped: copy it first by `wp.tile_assign`";
            return fault(Code::UnsupportedTile, span, message);
        }
        let count = i128::from(self.count());
        let mut known_extents = shape.iter().filter(|&&extent| extent != -1);
        // Extents whose product overflows can't fit any number of elements.
        let product =
            known_extents.try_fold(1i128, |all, &extent| all.checked_mul(extent)).unwrap_or(0);
        let open = shape.iter().filter(|&&extent| extent == -1).count();
        let fits = match open {
            0 => product == count,
            1 => product > 0 && count % product == 0,
            _ => false,
        };
        if !fits || shape.iter().any(|&extent| extent < -1 || extent == 0) {
            let message = format!("{count} elements don't have this shape");
            return fault(Code::WrongArguments, span, message);
        }
        let extents =
            shape.iter().map(|&extent| if extent == -1 { count / product } else { extent });
        let extents: Vec<u32> = extents.map(|extent| extent as u32).collect();
        Ok(Tile { dims: dense(&extents), ..self.clone() })
    }

    /// `wp.tile_squeeze(t, axis)`
    pub(super) fn squeeze(&self, axes: Option<&[i128]>, span: Span) -> LoweringResult<Tile> {
        let rank = self.dims.len() as i128;
        let goes = |position: usize, dim: &Dim| match axes {
            None => dim.extent == 1,
            Some(axes) => axes
                .iter()
                .any(|&axis| (if axis < 0 { axis + rank } else { axis }) == position as i128),
        };
        let mut dims = Vec::new();
        for (position, dim) in self.dims.iter().enumerate() {
            match goes(position, dim) {
                true if dim.extent != 1 => {
                    let message = "only dimensions of extent 1 are squeezed";
                    return fault(Code::WrongArguments, span, message);
                }
                true => {}
                false => dims.push(*dim),
            }
        }
        if dims.is_empty() {
            dims.push(Dim { extent: 1, stride: 1 });
        }
        Ok(Tile { dims, ..self.clone() })
    }
}
