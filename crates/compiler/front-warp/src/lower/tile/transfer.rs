//! Copies between tiles and arrays, and between tiles.

use super::super::Expressions;
use super::super::operand::{LoweringResult, Operand, fault};
use super::super::writer::Writer;
use super::call::TileCall;
use super::view::{coordinate, offset_parts};
use super::{Position, Tile, check_element, each, made_tile, plus, repeat};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{AtomicOp, CompareOp, Selector, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use gbxcule_python_names::syntax::Operator;
use std::rc::Rc;

/// The part of an array that a tile is copied from or to.
struct Window {
    array: Value,
    of: Type,
    offset: Vec<Option<Value>>,
    /// The array's extents, if elements beyond them are skipped.
    bounds: Option<Vec<Value>>,
    /// A dimension of the array that is indexed through a tile.
    indices: Option<(usize, Rc<Tile>)>,
}

fn window<'a>(
    b: &mut Writer<'_, 'a>,
    call: &TileCall<'a>,
    extents: &[u32],
) -> LoweringResult<Window> {
    let rank = extents.len();
    let array = b.value(call.needed("a")?, call.span)?;
    let Shape::Array { of, dims } = *b.shape(b.ty(array)) else {
        let found = b.shown(b.ty(array));
        return fault(Code::TypeMismatch, call.span, format!("`a` is an array, found `{found}`"));
    };
    if usize::from(dims) != rank {
        let message = format!("the tile has {rank} dimensions, the array {dims}");
        return fault(Code::WrongArguments, call.span, message);
    }
    let mut offset = Vec::new();
    for part in offset_parts(b, call)? {
        offset.push(Some(coordinate(b, part, call.span)?));
    }
    if offset.is_empty() {
        offset = vec![None; rank];
    }
    if offset.len() != rank {
        let message = format!("{} offsets for {rank} dimensions", offset.len());
        return fault(Code::WrongArguments, call.span, message);
    }
    let bounds = call.flag("bounds_check", true)?.then(|| b.extents(array));
    let indices = match call.get("indices") {
        Some(_) => Some(window_indices(b, call, extents)?),
        None => None,
    };
    Ok(Window { array, of, offset, bounds, indices })
}

/// Returns the dimension in which `indices` select, and the tile of indices.
fn window_indices<'a>(
    b: &mut Writer<'_, 'a>,
    call: &TileCall<'a>,
    extents: &[u32],
) -> LoweringResult<(usize, Rc<Tile>)> {
    let indices = call.tile("indices")?;
    let axis = call.numbers("axis")?.and_then(|axis| axis.first().copied()).unwrap_or(0);
    let axis = usize::try_from(axis).unwrap_or(usize::MAX);
    if indices.of != Type::I32 || extents.get(axis).is_none_or(|&it| indices.extents() != [it]) {
        let found = indices.shape().shown(b);
        let message =
            format!("`indices` is a tile of `int32`, one for each of `axis`, found `{found}`");
        return fault(Code::TypeMismatch, call.span, message);
    }
    Ok((axis, indices))
}

impl Window {
    /// Returns the array's indices for coordinates in dimensions from `first` on, and a `bool`
    /// that is true if the indices lie in the array.
    fn indices(
        &self,
        b: &mut Writer<'_, '_>,
        first: usize,
        coordinates: &[Value],
    ) -> (Vec<Value>, Option<Value>) {
        let mut indices = Vec::with_capacity(coordinates.len());
        let mut inside = None;
        for (dim, &coordinate) in (first..).zip(coordinates) {
            let (mut coordinate, mut is_taken) = (coordinate, false);
            if let Some((axis, tile)) = &self.indices {
                is_taken = true;
                if *axis == dim {
                    let place = tile.element_at(b, &[coordinate]);
                    coordinate = b.load(place);
                }
            }
            let index = plus(b, self.offset[dim], Some(coordinate)).unwrap_or(coordinate);
            indices.push(index);
            let Some(bounds) = &self.bounds else { continue };
            let mut fits = b.lt(index, bounds[dim]);
            if is_taken {
                let zero = b.i32(0);
                let above = b.compare(CompareOp::GreaterEqual, index, zero);
                fits = b.and(above, fits);
            }
            inside = Some(inside.map_or(fits, |all| b.and(all, fits)));
        }
        (indices, inside)
    }

    /// Calls `act` for each element of a tile of this shape for which the array has an element.
    /// The other elements of `zeroed` become zero.
    fn each<'a>(
        &self,
        b: &mut Writer<'_, 'a>,
        extents: &[u32],
        zeroed: Option<&Tile>,
        act: impl Fn(&mut Writer<'_, 'a>, &mut Position, PlaceId),
    ) -> LoweringResult<()> {
        let zero = |b: &mut Writer<'_, 'a>, position: &mut Position| {
            if let Some(tile) = zeroed {
                let place = tile.element(b, position);
                let zero = b.zero_of(self.of);
                b.store(place, zero);
            }
            Ok(())
        };
        let (&cols, outer) = extents.split_last().unwrap_or((&1, &[]));
        each(b, outer, |b, row| {
            let before = row.coordinates(b);
            let position = |b: &mut Writer<'_, 'a>, col: Value| {
                let width = b.i32(cols as i32);
                let first = if outer.is_empty() { None } else { Some(b.mul(row.flat, width)) };
                let flat = plus(b, first, Some(col)).unwrap_or(col);
                let coordinates = Some([&before[..], &[col]].concat());
                Position { flat, extents: extents.to_vec(), coordinates }
            };
            let (indices, inside) = self.indices(b, 0, &before);
            let within = |b: &mut Writer<'_, 'a>| {
                // The indices of a row are checked once.
                let selectors: Vec<Selector> = indices.into_iter().map(Selector::At).collect();
                let array = match selectors[..] {
                    [] => self.array,
                    _ => b.view(self.array, &selectors),
                };
                repeat(b, cols, |b, col| {
                    let mut position = position(b, col);
                    let (index, inside) = self.indices(b, outer.len(), &[col]);
                    let array = b.array_place(array);
                    let place = b.element(array, &index);
                    let mut outside = position.clone();
                    let within = |b: &mut Writer<'_, 'a>| {
                        act(b, &mut position, place);
                        Ok(())
                    };
                    where_inside(b, inside, within, |b| zero(b, &mut outside))
                })
            };
            let beyond = |b: &mut Writer<'_, 'a>| match zeroed {
                None => Ok(()),
                Some(_) => repeat(b, cols, |b, col| {
                    let mut position = position(b, col);
                    zero(b, &mut position)
                }),
            };
            where_inside(b, inside, within, beyond)
        })
    }
}

/// Adds the code of `inside` where the condition holds and the code of `outside` elsewhere.
/// Without a condition it adds only the code of `inside`.
fn where_inside<'a>(
    b: &mut Writer<'_, 'a>,
    is_inside: Option<Value>,
    inside: impl FnOnce(&mut Writer<'_, 'a>) -> LoweringResult<()>,
    outside: impl FnOnce(&mut Writer<'_, 'a>) -> LoweringResult<()>,
) -> LoweringResult<()> {
    let Some(condition) = is_inside else { return inside(b) };
    b.open_block();
    let accepted = inside(b);
    let accept = b.close_block();
    b.open_block();
    let rejected = outside(b);
    let reject = b.close_block();
    b.if_blocks(condition, accept, reject);
    accepted.and(rejected)
}

pub(super) fn load<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Tile> {
    let extents = call.extents("shape")?;
    let window = window(b, call, &extents)?;
    let shape = super::TileShape { of: window.of, extents: extents.clone() };
    let tile = Tile::new(b, "tile", &shape, call.span)?;
    window.each(b, &extents, Some(&tile), |b, position, from| {
        let to = tile.element(b, position);
        let value = b.load(from);
        b.store(to, value);
    })?;
    Ok(tile)
}

pub(super) fn store<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<()> {
    let tile = call.tile("t")?;
    let window = window(b, call, &tile.extents())?;
    same_elements(b, &tile, window.of, call)?;
    window.each(b, &tile.extents(), None, |b, position, to| {
        let value = tile.loaded(b, position);
        b.store(to, value);
    })
}

/// `wp.tile_atomic_add(a, t, offset)`: returns a tile of the old values.
pub(super) fn atomic_add<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Tile> {
    let tile = call.tile("t")?;
    let window = window(b, call, &tile.extents())?;
    same_elements(b, &tile, window.of, call)?;
    let atomic = b.module.types.components(window.of).is_some_and(|(scalar, _)| {
        !matches!(scalar, Scalar::Bool | Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16)
    });
    if !atomic {
        let found = b.shown(window.of);
        let message = format!("a `{found}` can't be added atomically");
        return fault(Code::TypeMismatch, call.span, message);
    }
    let before = Tile::new(b, "before", &tile.shape(), call.span)?;
    window.each(b, &tile.extents(), Some(&before), |b, position, to| {
        let value = tile.loaded(b, position);
        let result = before.element(b, position);
        let old = b.atomic(AtomicOp::Add, to, value);
        b.store(result, old);
    })?;
    Ok(before)
}

fn same_elements<'a>(
    b: &mut Writer<'_, 'a>,
    tile: &Tile,
    of: Type,
    call: &TileCall<'a>,
) -> LoweringResult<()> {
    if tile.of == of {
        return Ok(());
    }
    let (found, wanted) = (b.shown(tile.of), b.shown(of));
    let message = format!("the array has elements of `{wanted}`, the tile of `{found}`");
    fault(Code::TypeMismatch, call.span, message)
}

/// `wp.tile_assign(dst, src, offset)`
pub(super) fn assign_part<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<()> {
    let (to, from) = (call.tile("dst")?, call.tile("src")?);
    let shape = from.extents();
    let offset = offset_parts(b, call)?;
    if shape.len() != to.dims.len() || !(offset.is_empty() || offset.len() == shape.len()) {
        let message = "both tiles and the offset have as many dimensions";
        return fault(Code::WrongArguments, call.span, message);
    }
    let part = to.view(b, offset, Some(shape), call.span)?;
    assign(b, &part, &from, call.span)
}

/// Writes a tile's elements into a view; numbers are converted to its type.
pub(in crate::lower) fn assign<'a>(
    b: &mut Writer<'_, 'a>,
    to: &Tile,
    from: &Tile,
    span: gbxcule_ir::source::Span,
) -> LoweringResult<()> {
    if to.extents() != from.extents() {
        let (wanted, found) = (to.shape().shown(b), from.shape().shown(b));
        let message = format!("this part is a `{wanted}`, found `{found}`");
        return fault(Code::TypeMismatch, span, message);
    }
    if to.of == from.of {
        return from.copy_to(to, b, span);
    }
    let (Some(scalar), Some(_)) = (to.of.as_scalar(), from.of.as_scalar()) else {
        let (wanted, found) = (b.shown(to.of), b.shown(from.of));
        let message = format!("this tile has elements of `{wanted}`, found `{found}`");
        return fault(Code::TypeMismatch, span, message);
    };
    let converted = made_tile(b, &from.extents(), span, |b, position| {
        let value = from.loaded(b, position);
        Ok(b.convert(value, scalar))
    })?;
    converted.copy_to(to, b, span)
}

/// `wp.tile_scatter_add(t, i, value, has_value)`: each thread adds at its own index.
/// `wp.tile_scatter_masked` writes instead of adding.
pub(super) fn scatter<'a>(cx: &mut Expressions<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<()> {
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
        indices.push(coordinate(&mut cx.b, operand.clone(), call.span)?);
    }
    let value = cx.b.value(given[rank].clone(), call.span)?;
    let has_value = cx.b.truth(given[rank + 1].clone(), call.span)?;
    check_element(&cx.b, cx.b.ty(value), tile.of, call.span)?;
    cx.b.open_block();
    let place = tile.element_at(&mut cx.b, &indices);
    let stored = match call.name {
        "tile_scatter_masked" => Ok(value),
        _ => {
            let [old, value] = [cx.b.load(place), value].map(Operand::Value);
            let sum = cx.binary(Operator::Add, old, value, call.span);
            sum.and_then(|sum| cx.b.value(sum, call.span))
        }
    };
    if let Ok(stored) = stored {
        cx.b.store(place, stored);
    }
    let accept = cx.b.close_block();
    cx.b.open_block();
    let reject = cx.b.close_block();
    cx.b.if_blocks(has_value, accept, reject);
    stored.map(drop)
}
