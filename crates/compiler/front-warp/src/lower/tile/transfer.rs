//! Copies between tiles and arrays, and between tiles.

use super::super::{FunctionLowering, LoweringResult, Operand, fault};
use super::call::TileCall;
use super::{Position, Tile};
use crate::syntax::Operator;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{AtomicOp, CompareOp, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use std::rc::Rc;

/// A part of an array that a tile is read from or written to.
struct Window {
    array: Value,
    of: Type,
    offset: Vec<Option<Value>>,
    /// The array's extents, if elements beyond them are left out.
    bounds: Option<Vec<Value>>,
    /// A dimension of the array that is indexed through a tile.
    indices: Option<(usize, Rc<Tile>)>,
}

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    fn window(&mut self, call: &TileCall<'a>, extents: &[u32]) -> LoweringResult<Window> {
        let rank = extents.len();
        let array = self.value(call.needed("a")?, call.span)?;
        let Shape::Array { of, dims } = *self.shape(self.ty(array)) else {
            let found = self.shown(self.ty(array));
            return fault(
                Code::TypeMismatch,
                call.span,
                format!("`a` is an array, found `{found}`"),
            );
        };
        if usize::from(dims) != rank {
            let message = format!("the tile has {rank} dimensions, the array {dims}");
            return fault(Code::WrongArguments, call.span, message);
        }
        let mut offset = Vec::new();
        for part in self.tile_offset_parts(call)? {
            offset.push(Some(self.tile_coordinate(part, call.span)?));
        }
        if offset.is_empty() {
            offset = vec![None; rank];
        }
        if offset.len() != rank {
            let message = format!("{} offsets for {rank} dimensions", offset.len());
            return fault(Code::WrongArguments, call.span, message);
        }
        let bounds = call.flag("bounds_check", true)?.then(|| self.extents(array));
        let indices = match call.get("indices") {
            Some(_) => Some(self.window_indices(call, extents)?),
            None => None,
        };
        Ok(Window { array, of, offset, bounds, indices })
    }

    /// The dimension that `indices` are for, and the tile of them.
    fn window_indices(
        &mut self,
        call: &TileCall<'a>,
        extents: &[u32],
    ) -> LoweringResult<(usize, Rc<Tile>)> {
        let indices = call.tile("indices")?;
        let axis = call.numbers("axis")?.and_then(|axis| axis.first().copied()).unwrap_or(0);
        let axis = usize::try_from(axis).unwrap_or(usize::MAX);
        if indices.of != Type::I32 || extents.get(axis).is_none_or(|&it| indices.extents() != [it])
        {
            let found = self.shown_tile(&indices.shape());
            let message =
                format!("`indices` is a tile of `int32`, one for each of `axis`, found `{found}`");
            return fault(Code::TypeMismatch, call.span, message);
        }
        Ok((axis, indices))
    }

    /// The element of the array for a position, and whether it is inside.
    fn in_window(&mut self, window: &Window, position: &mut Position) -> (PlaceId, Option<Value>) {
        let mut coordinates = self.coordinates(position);
        if let Some((axis, tile)) = &window.indices {
            let place = self.element_at(tile, &[coordinates[*axis]]);
            coordinates[*axis] = self.b.load(place);
        }
        let mut indices = Vec::with_capacity(coordinates.len());
        for (&coordinate, &offset) in coordinates.iter().zip(&window.offset) {
            indices.push(self.plus(offset, Some(coordinate)).unwrap_or(coordinate));
        }
        let mut inside = None;
        for (&index, &extent) in indices.iter().zip(window.bounds.iter().flatten()) {
            let mut fits = self.b.lt(index, extent);
            if window.indices.is_some() {
                let zero = self.b.i32(0);
                let above = self.b.compare(CompareOp::GreaterEqual, index, zero);
                fits = self.b.and(above, fits);
            }
            inside = Some(match inside {
                Some(all) => self.b.and(all, fits),
                None => fits,
            });
        }
        let array = self.b.array_place(window.array);
        (self.b.element(array, &indices), inside)
    }

    /// Runs `inside` for an element that the array has, else `outside`.
    fn where_inside(
        &mut self,
        is_inside: Option<Value>,
        inside: impl FnOnce(&mut Self),
        outside: impl FnOnce(&mut Self),
    ) {
        let Some(condition) = is_inside else { return inside(self) };
        self.b.open_block();
        inside(self);
        let accept = self.b.close_block();
        self.b.open_block();
        outside(self);
        let reject = self.b.close_block();
        self.b.if_blocks(condition, accept, reject);
    }

    pub(super) fn tile_load(&mut self, call: &TileCall<'a>) -> LoweringResult<Tile> {
        let extents = call.extents("shape")?;
        let window = self.window(call, &extents)?;
        let shape = super::TileShape { of: window.of, extents: extents.clone() };
        let tile = self.new_tile("tile", &shape, call.span)?;
        self.each(&extents, |lower, position| {
            let (from, inside) = lower.in_window(&window, position);
            let to = lower.element(&tile, position);
            lower.where_inside(
                inside,
                |lower| {
                    let value = lower.b.load(from);
                    lower.b.store(to, value);
                },
                |lower| {
                    let zero = lower.zero(window.of);
                    lower.b.store(to, zero);
                },
            );
            Ok(())
        })?;
        Ok(tile)
    }

    pub(super) fn tile_store(&mut self, call: &TileCall<'a>) -> LoweringResult<()> {
        let tile = call.tile("t")?;
        let window = self.window(call, &tile.extents())?;
        self.same_elements(&tile, window.of, call)?;
        self.each(&tile.extents(), |lower, position| {
            let (to, inside) = lower.in_window(&window, position);
            let value = lower.loaded(&tile, position);
            lower.where_inside(inside, |lower| lower.b.store(to, value), |_| ());
            Ok(())
        })
    }

    /// `wp.tile_atomic_add(a, t, offset)`: a tile of what was there before.
    pub(super) fn tile_atomic_add(&mut self, call: &TileCall<'a>) -> LoweringResult<Tile> {
        let tile = call.tile("t")?;
        let window = self.window(call, &tile.extents())?;
        self.same_elements(&tile, window.of, call)?;
        let atomic = self.b.module.types.components(window.of).is_some_and(|(scalar, _)| {
            !matches!(scalar, Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16)
        });
        if !atomic {
            let found = self.shown(window.of);
            let message = format!("a `{found}` can't be added atomically");
            return fault(Code::TypeMismatch, call.span, message);
        }
        let before = self.new_tile("before", &tile.shape(), call.span)?;
        self.each(&tile.extents(), |lower, position| {
            let (to, inside) = lower.in_window(&window, position);
            let value = lower.loaded(&tile, position);
            let kept = lower.element(&before, position);
            lower.where_inside(
                inside,
                |lower| {
                    let old = lower.b.atomic(AtomicOp::Add, to, value);
                    lower.b.store(kept, old);
                },
                |lower| {
                    let zero = lower.zero(window.of);
                    lower.b.store(kept, zero);
                },
            );
            Ok(())
        })?;
        Ok(before)
    }

    fn same_elements(&mut self, tile: &Tile, of: Type, call: &TileCall<'a>) -> LoweringResult<()> {
        if tile.of == of {
            return Ok(());
        }
        let (found, wanted) = (self.shown(tile.of), self.shown(of));
        let message = format!("the array has elements of `{wanted}`, the tile of `{found}`");
        fault(Code::TypeMismatch, call.span, message)
    }

    /// `wp.tile_assign(dst, src, offset)`
    pub(super) fn tile_assign(&mut self, call: &TileCall<'a>) -> LoweringResult<()> {
        let (to, from) = (call.tile("dst")?, call.tile("src")?);
        let shape = from.extents();
        let offset = self.tile_offset_parts(call)?;
        if shape.len() != to.dims.len() || !(offset.is_empty() || offset.len() == shape.len()) {
            let message = "both tiles and the offset have as many dimensions";
            return fault(Code::WrongArguments, call.span, message);
        }
        let part = self.tile_view(&to, offset, Some(shape), call.span)?;
        self.assign_tile(&part, &from, call.span)
    }

    /// Writes a tile's elements into a view; numbers become the view's.
    pub(in super::super) fn assign_tile(
        &mut self,
        to: &Tile,
        from: &Tile,
        span: gbxcule_ir::source::Span,
    ) -> LoweringResult<()> {
        if to.extents() != from.extents() {
            let (wanted, found) = (self.shown_tile(&to.shape()), self.shown_tile(&from.shape()));
            let message = format!("this part is a `{wanted}`, found `{found}`");
            return fault(Code::TypeMismatch, span, message);
        }
        if to.of == from.of {
            return self.copy_tile(from, to, span);
        }
        let (Some(scalar), Some(_)) = (to.of.as_scalar(), from.of.as_scalar()) else {
            let (wanted, found) = (self.shown(to.of), self.shown(from.of));
            let message = format!("this tile has elements of `{wanted}`, found `{found}`");
            return fault(Code::TypeMismatch, span, message);
        };
        let converted = self.made_tile(&from.extents(), span, |lower, position| {
            let value = lower.loaded(from, position);
            Ok(lower.b.convert(value, scalar))
        })?;
        self.copy_tile(&converted, to, span)
    }

    /// `wp.tile_scatter_add(t, i, value, has_value)`: each thread adds at its own index;
    /// `wp.tile_scatter_masked` writes there.
    pub(super) fn tile_scatter(&mut self, call: &TileCall<'a>) -> LoweringResult<()> {
        let tile = call.tile("a")?;
        let rank = tile.dims.len();
        let (positional, named): (Vec<_>, Vec<_>) =
            call.rest.iter().cloned().partition(|(keyword, ..)| keyword.is_none());
        let mut given: Vec<Operand<'a>> = positional.into_iter().map(|(_, it, _)| it).collect();
        for name in ["i", "j", "k", "l", "value", "has_value"] {
            given.extend(
                named.iter().filter(|(key, ..)| *key == Some(name)).map(|(_, it, _)| it.clone()),
            );
        }
        if given.len() != rank + 2 {
            let message = "an index for each dimension, a value and `has_value` are needed";
            return fault(Code::WrongArguments, call.span, message);
        }
        let mut indices = Vec::new();
        for operand in &given[..rank] {
            indices.push(self.tile_coordinate(operand.clone(), call.span)?);
        }
        let value = self.value(given[rank].clone(), call.span)?;
        let has_value = self.truth(given[rank + 1].clone(), call.span)?;
        if self.ty(value) != tile.of {
            let (found, wanted) = (self.shown(self.ty(value)), self.shown(tile.of));
            let message = format!("the tile has elements of `{wanted}`, found `{found}`");
            return fault(Code::TypeMismatch, call.span, message);
        }
        let mut outcome = Ok(());
        self.where_inside(
            Some(has_value),
            |lower| {
                let place = lower.element_at(&tile, &indices);
                if call.name == "tile_scatter_masked" {
                    return lower.b.store(place, value);
                }
                let [old, value] = [lower.b.load(place), value].map(Operand::Value);
                let sum = lower.binary(Operator::Add, old, value, call.span);
                outcome = sum.and_then(|sum| {
                    let sum = lower.value(sum, call.span)?;
                    lower.b.store(place, sum);
                    Ok(())
                });
            },
            |_| (),
        );
        outcome
    }
}
