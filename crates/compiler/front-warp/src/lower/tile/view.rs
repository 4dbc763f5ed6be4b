//! Views of tiles: elements, slices, transposed and broadcast tiles.

use super::super::access::Access;
use super::super::{FunctionLowering, LoweringResult, Operand, fault};
use super::{Dim, Tile, dense};
use crate::constant::KnownValue;
use crate::syntax::{Expr, ExprSlice};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Scalar;
use std::rc::Rc;

/// An index into a tile.
enum TileIndex<'a> {
    Known(i128),
    Value(Value),
    Slice(&'a ExprSlice),
}

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    /// `t[i, j]`, `t[i]`, `t[1:, ::-1]`
    pub(in super::super) fn tile_index(
        &mut self,
        tile: &Tile,
        indices: &[&'a Expr],
        expr: &'a Expr,
    ) -> LoweringResult<Access<'a>> {
        let span = self.span(expr);
        let mut wanted = Vec::with_capacity(indices.len());
        let mut gather = None;
        for (axis, &index) in indices.iter().enumerate() {
            wanted.push(match index {
                Expr::Slice(slice) => TileIndex::Slice(slice),
                index => match self.expr(index)? {
                    Operand::KnownValue(KnownValue::Int(at)) => TileIndex::Known(at),
                    Operand::Tile(rows) if gather.is_none() && axis < tile.dims.len() => {
                        gather = Some((axis, rows));
                        continue;
                    }
                    operand => TileIndex::Value(self.tile_coordinate(operand, self.span(index))?),
                },
            });
        }
        if let Some((axis, rows)) = gather {
            let is_whole = |index: &TileIndex<'_>| matches!(index, TileIndex::Slice(it) if it.lower.is_none() && it.upper.is_none() && it.step.is_none());
            if indices.len() > tile.dims.len() || !wanted.iter().all(is_whole) {
                let message = "beside a tile of indices stand only `:`";
                return fault(Code::UnsupportedTile, span, message);
            }
            return self.tile_gather(tile, axis, &rows, span).map(Access::Operand);
        }
        let inner = wanted.split_off(wanted.len().min(tile.dims.len()));
        let whole = wanted.len() == tile.dims.len()
            && !wanted.iter().any(|index| matches!(index, TileIndex::Slice(_)));
        let view = self.sliced(tile, wanted, true, span)?;
        if !whole {
            if !inner.is_empty() {
                return fault(Code::WrongArguments, span, "too many indices");
            }
            return Ok(Access::Operand(Operand::Tile(Rc::new(view))));
        }
        let place = self.element_at(&view, &[]);
        if inner.is_empty() {
            return Ok(Access::Place(place));
        }
        let rest = &indices[indices.len() - inner.len()..];
        self.indexed(Access::Place(place), rest, expr)
    }

    /// An integer of an operand, as the coordinate of a tile.
    pub(super) fn tile_coordinate(
        &mut self,
        operand: Operand<'a>,
        span: Span,
    ) -> LoweringResult<Value> {
        let value = self.value(operand, span)?;
        if self.ty(value).as_scalar().is_some_and(Scalar::is_int) {
            return Ok(self.b.convert(value, Scalar::I32));
        }
        let found = self.shown(self.ty(value));
        fault(Code::TypeMismatch, span, format!("an index is an integer, found `{found}`"))
    }

    /// The view that indices and slices of the leading dimensions leave. `wraps` lets numbers below
    /// 0 count from the end.
    fn sliced(
        &mut self,
        tile: &Tile,
        indices: Vec<TileIndex<'a>>,
        wraps: bool,
        span: Span,
    ) -> LoweringResult<Tile> {
        let mut view = Tile { dims: Vec::new(), ..tile.clone() };
        let mut indices = indices.into_iter();
        for dim in &tile.dims {
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
                    let step = self.times(value, dim.stride);
                    view.moved = self.plus(view.moved, step);
                }
                Some(TileIndex::Slice(slice)) => {
                    let (start, len, step) = self.slice_bounds(slice, dim.extent, span)?;
                    view.start += start * dim.stride;
                    view.dims.push(Dim { extent: len, stride: dim.stride * step });
                }
            }
        }
        Ok(view)
    }

    /// Start, length and step of a slice, as Python counts them.
    fn slice_bounds(
        &mut self,
        slice: &'a ExprSlice,
        extent: u32,
        span: Span,
    ) -> LoweringResult<(i32, u32, i32)> {
        let mut part = |part: &'a Option<Box<Expr>>| match part {
            None => Ok(None),
            Some(part) => match self.expr(part)? {
                Operand::KnownValue(KnownValue::Int(at)) => Ok(Some(at)),
                Operand::KnownValue(KnownValue::None) => Ok(None),
                _ => fault(
                    Code::NeedsConstant,
                    span,
                    "a slice of a tile has bounds known when compiled",
                ),
            },
        };
        let (lower, upper, step) = (part(&slice.lower)?, part(&slice.upper)?, part(&slice.step)?);
        let (extent, step) = (i128::from(extent), step.unwrap_or(1));
        if step == 0 {
            return fault(Code::WrongArguments, span, "the step of a slice can't be 0");
        }
        let (low, high) = if step > 0 { (0, extent) } else { (-1, extent - 1) };
        let bound = |at: i128| (if at < 0 { at + extent } else { at }).clamp(low, high);
        let (first, last) = if step > 0 { (low, high) } else { (high, low) };
        let (start, end) = (lower.map_or(first, bound), upper.map_or(last, bound));
        let len = (end - start + step - step.signum()) / step;
        if len <= 0 {
            return fault(Code::WrongArguments, span, "a slice of a tile has at least one element");
        }
        Ok((start as i32, len as u32, step as i32))
    }

    /// `wp.tile_view(t, offset, shape)`
    pub(super) fn tile_view(
        &mut self,
        tile: &Tile,
        offset: Vec<Operand<'a>>,
        shape: Option<Vec<u32>>,
        span: Span,
    ) -> LoweringResult<Tile> {
        if offset.len() > tile.dims.len() {
            return fault(Code::WrongArguments, span, "more offsets than the tile has dimensions");
        }
        let mut indices = Vec::with_capacity(offset.len());
        for operand in offset {
            indices.push(match operand {
                Operand::KnownValue(KnownValue::Int(at)) => TileIndex::Known(at),
                operand => TileIndex::Value(self.tile_coordinate(operand, span)?),
            });
        }
        let view = self.sliced(tile, indices, false, span)?;
        let Some(shape) = shape else {
            if view.dims.is_empty() {
                let message = "this view has no dimension: `wp.tile_extract` gives an element";
                return fault(Code::WrongArguments, span, message);
            }
            return Ok(view);
        };
        if shape.len() != tile.dims.len()
            || shape.iter().zip(&tile.dims).any(|(extent, dim)| *extent > dim.extent)
        {
            let message = "the view's shape has the tile's dimensions and lies within them";
            return fault(Code::WrongArguments, span, message);
        }
        let dims = shape.iter().zip(&tile.dims);
        let dims = dims.map(|(&extent, dim)| Dim { extent, stride: dim.stride });
        Ok(Tile { dims: dims.collect(), ..view })
    }

    pub(super) fn tile_transpose(&mut self, tile: &Tile, span: Span) -> LoweringResult<Tile> {
        let [rows, cols] = tile.dims[..] else {
            return fault(Code::WrongArguments, span, "a tile of two dimensions is transposed");
        };
        Ok(Tile { dims: vec![cols, rows], ..tile.clone() })
    }

    /// `wp.tile_broadcast(t, shape)`, by NumPy's rules.
    pub(super) fn tile_broadcast(
        &mut self,
        tile: &Tile,
        shape: &[u32],
        span: Span,
    ) -> LoweringResult<Tile> {
        let missing = shape.len().checked_sub(tile.dims.len());
        let Some(missing) = missing else {
            return fault(
                Code::WrongArguments,
                span,
                "the shape has fewer dimensions than the tile",
            );
        };
        let mut dims = Vec::with_capacity(shape.len());
        for (at, &extent) in shape.iter().enumerate() {
            let dim = at.checked_sub(missing).map(|at| tile.dims[at]);
            dims.push(match dim {
                Some(dim) if dim.extent == extent => dim,
                None | Some(Dim { extent: 1, .. }) => Dim { extent, stride: 0 },
                Some(dim) => {
                    let message = format!("a dimension of {} can't become {extent}", dim.extent);
                    return fault(Code::WrongArguments, span, message);
                }
            });
        }
        Ok(Tile { dims, ..tile.clone() })
    }

    /// `wp.tile_reshape(t, shape)`; one extent may be -1.
    pub(super) fn tile_reshape(
        &mut self,
        tile: &Tile,
        shape: &[i128],
        span: Span,
    ) -> LoweringResult<Tile> {
        if !tile.is_dense() {
            let message = "a strided view can't be reshaped: copy it first by `wp.tile_assign`";
            return fault(Code::UnsupportedTile, span, message);
        }
        let count = i128::from(tile.count());
        let mut known = shape.iter().filter(|&&extent| extent != -1);
        // A product that is too large is not a count either.
        let known = known.try_fold(1i128, |all, &extent| all.checked_mul(extent)).unwrap_or(0);
        let open = shape.iter().filter(|&&extent| extent == -1).count();
        let fits = match open {
            0 => known == count,
            1 => known > 0 && count % known == 0,
            _ => false,
        };
        if !fits || shape.iter().any(|&extent| extent < -1 || extent == 0) {
            let message = format!("{count} elements don't have this shape");
            return fault(Code::WrongArguments, span, message);
        }
        let extents = shape.iter().map(|&extent| if extent == -1 { count / known } else { extent });
        let extents: Vec<u32> = extents.map(|extent| extent as u32).collect();
        Ok(Tile { dims: dense(&extents), ..tile.clone() })
    }

    /// `wp.tile_squeeze(t, axis)`
    pub(super) fn tile_squeeze(
        &mut self,
        tile: &Tile,
        axes: Option<&[i128]>,
        span: Span,
    ) -> LoweringResult<Tile> {
        let rank = tile.dims.len() as i128;
        let goes = |at: usize, dim: &Dim| match axes {
            None => dim.extent == 1,
            Some(axes) => {
                axes.iter().any(|&axis| (if axis < 0 { axis + rank } else { axis }) == at as i128)
            }
        };
        let mut dims = Vec::new();
        for (at, dim) in tile.dims.iter().enumerate() {
            match goes(at, dim) {
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
        Ok(Tile { dims, ..tile.clone() })
    }
}
