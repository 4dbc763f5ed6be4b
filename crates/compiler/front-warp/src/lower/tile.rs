//! Tiles: blocks of elements that the threads of a block work on together.
//!
//! A tile is not a value of the IR. It is a fixed array in a variable, and the extents and strides
//! by which that is read: views share the variable. An operation on tiles becomes one loop over the
//! elements of its result ([`FunctionLowering::each`]), so back ends need nothing for most of them.

mod arithmetic;
mod call;
mod make;
mod name;
mod order;
mod solve;
mod transfer;
mod view;

pub(super) use name::TileNames;

use super::access::Access;
use super::{FunctionLowering, LoweringResult, Operand, fault};
use crate::constant::KnownValue;
use crate::syntax::Expr;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Type;

/// A tile may take so many bytes.
const MAX_BYTES: u64 = 1 << 20;

/// A tile, or a view of one, may have so many elements.
pub(super) const MAX_ELEMENTS: u64 = MAX_BYTES;

/// A dimension of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dim {
    pub(super) extent: u32,
    /// Elements of the storage from one index to the next.
    stride: i32,
}

/// A tile, or a view of one.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Tile {
    /// A fixed array.
    pub(super) storage: PlaceId,
    pub(super) of: Type,
    pub(super) dims: Vec<Dim>,
    /// Position of the first element in the storage.
    start: i32,
    /// Number that is added to that when the kernel runs.
    moved: Option<Value>,
}

/// Tiles of one element type and shape, for the types of functions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TileShape {
    pub(super) of: Type,
    pub(super) extents: Vec<u32>,
}

/// A tile as a function gets it.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TileParam {
    of: Type,
    dims: Vec<Dim>,
    start: i32,
    /// The parameter that is its storage.
    storage: u32,
    /// The parameter that is added to where it begins.
    moved: Option<u32>,
}

/// An element of the tile that a loop makes.
pub(super) struct Position {
    /// Number in row-major order.
    pub(super) flat: Value,
    extents: Vec<u32>,
    coordinates: Option<Vec<Value>>,
}

impl Tile {
    pub(super) fn extents(&self) -> Vec<u32> {
        self.dims.iter().map(|dim| dim.extent).collect()
    }

    pub(super) fn count(&self) -> u32 {
        self.dims.iter().map(|dim| dim.extent).product()
    }

    pub(super) fn shape(&self) -> TileShape {
        TileShape { of: self.of, extents: self.extents() }
    }

    /// Returns true if elements that follow each other do so in the storage too.
    pub(super) fn is_dense(&self) -> bool {
        let mut stride = 1;
        self.dims.iter().rev().all(|dim| {
            let fits = dim.extent == 1 || dim.stride == stride;
            stride *= dim.extent as i32;
            fits
        })
    }

    fn shares_storage(&self, other: &Self) -> bool {
        self.storage == other.storage
    }
}

/// Row-major dimensions.
fn dense(extents: &[u32]) -> Vec<Dim> {
    let mut stride = 1;
    let dims = extents.iter().rev().map(|&extent| {
        let dim = Dim { extent, stride };
        stride *= extent as i32;
        dim
    });
    let mut dims: Vec<Dim> = dims.collect();
    dims.reverse();
    dims
}

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    /// A variable for a tile; its elements are open.
    pub(super) fn new_tile(
        &mut self,
        name: &str,
        shape: &TileShape,
        span: Span,
    ) -> LoweringResult<Tile> {
        let count = shape.extents.iter().map(|&extent| u64::from(extent)).product::<u64>();
        let Some(layout) = self.b.module.types.layout(shape.of) else {
            let found = self.shown(shape.of);
            return fault(Code::TypeMismatch, span, format!("a tile has no elements of `{found}`"));
        };
        let bytes = count.saturating_mul(layout.size);
        if bytes > MAX_BYTES {
            let message = format!("a tile has at most {MAX_BYTES} bytes, this one {bytes}");
            return fault(Code::TooComplex, span, message);
        }
        let ty = self.b.module.types.fixed(shape.of, count as u32);
        let local = self.b.scratch(name, ty);
        let storage = self.b.local_place(local);
        Ok(Tile { storage, of: shape.of, dims: dense(&shape.extents), start: 0, moved: None })
    }

    /// A tile whose elements `make` gives; all of them have one type.
    pub(super) fn made_tile(
        &mut self,
        extents: &[u32],
        span: Span,
        mut make: impl FnMut(&mut Self, &mut Position) -> LoweringResult<Value>,
    ) -> LoweringResult<Tile> {
        let mut made = None;
        self.each(extents, |lower, position| {
            let value = make(lower, position)?;
            let shape = TileShape { of: lower.ty(value), extents: extents.to_vec() };
            let tile = lower.new_tile("tile", &shape, span)?;
            let place = lower.element(&tile, position);
            lower.b.store(place, value);
            made = Some(tile);
            Ok(())
        })?;
        Ok(made.unwrap_or_else(|| unreachable!("`each` calls its argument once")))
    }

    /// A loop over the elements of a tile of this shape, shared among the threads of the block.
    pub(super) fn each(
        &mut self,
        extents: &[u32],
        body: impl FnOnce(&mut Self, &mut Position) -> LoweringResult<()>,
    ) -> LoweringResult<()> {
        let count: u32 = extents.iter().product();
        self.repeat(count, |lower, flat| {
            let mut position = Position { flat, extents: extents.to_vec(), coordinates: None };
            body(lower, &mut position)
        })
    }

    /// A loop that every thread runs by itself.
    pub(super) fn repeat(
        &mut self,
        count: u32,
        body: impl FnOnce(&mut Self, Value) -> LoweringResult<()>,
    ) -> LoweringResult<()> {
        if count == 1 {
            let zero = self.b.i32(0);
            return body(self, zero);
        }
        let range = [0, count as i32, 1].map(|number| self.b.i32(number));
        let index = self.b.loop_index(Type::I32, "at");
        self.b.open_block();
        let outcome = body(self, index);
        let block = self.b.close_block();
        self.b.for_block(index, range, block);
        outcome
    }

    /// The coordinates of a position.
    pub(super) fn coordinates(&mut self, position: &mut Position) -> Vec<Value> {
        if let Some(known) = &position.coordinates {
            return known.clone();
        }
        let mut found = Vec::with_capacity(position.extents.len());
        let mut rest = position.flat;
        for (dim, &extent) in position.extents.iter().enumerate().rev() {
            let around: u32 = position.extents[..dim].iter().product();
            found.push(match (extent, around) {
                (1, _) => self.b.i32(0),
                (_, 1) => rest,
                _ => {
                    let by = self.b.i32(extent as i32);
                    let here = self.b.binary(gbxcule_ir::BinaryOp::Remainder, rest, by);
                    rest = self.b.div(rest, by);
                    here
                }
            });
        }
        found.reverse();
        position.coordinates = Some(found.clone());
        found
    }

    /// The place of an element of a tile whose shape is the loop's.
    pub(super) fn element(&mut self, tile: &Tile, position: &mut Position) -> PlaceId {
        if tile.is_dense() {
            return self.stored_at(tile, position.flat);
        }
        let coordinates = self.coordinates(position);
        self.element_at(tile, &coordinates)
    }

    /// The element of a tile whose shape is the loop's.
    pub(super) fn loaded(&mut self, tile: &Tile, position: &mut Position) -> Value {
        let place = self.element(tile, position);
        self.b.load(place)
    }

    /// The place of an element by its coordinates.
    pub(super) fn element_at(&mut self, tile: &Tile, coordinates: &[Value]) -> PlaceId {
        let mut index = None;
        for (dim, &coordinate) in tile.dims.iter().zip(coordinates) {
            if dim.extent == 1
                && self.literal_of(coordinate).and_then(gbxcule_ir::Literal::as_int) == Some(0)
            {
                continue;
            }
            let step = self.times(coordinate, dim.stride);
            index = self.plus(index, step);
        }
        let zero = self.b.i32(0);
        self.stored_at(tile, index.unwrap_or(zero))
    }

    /// The place so far behind the beginning of a tile in its storage.
    fn stored_at(&mut self, tile: &Tile, index: Value) -> PlaceId {
        let index = match tile.start {
            0 => index,
            start => {
                let start = self.b.i32(start);
                self.b.add(index, start)
            }
        };
        let index = self.plus(tile.moved, Some(index)).unwrap_or(index);
        self.b.at(tile.storage, index)
    }

    /// A value times a number; `None` is 0.
    fn times(&mut self, value: Value, by: i32) -> Option<Value> {
        match by {
            0 => None,
            1 => Some(value),
            by => {
                let by = self.b.i32(by);
                Some(self.b.mul(value, by))
            }
        }
    }

    fn plus(&mut self, left: Option<Value>, right: Option<Value>) -> Option<Value> {
        match (left, right) {
            (Some(left), Some(right)) => Some(self.b.add(left, right)),
            (one, other) => one.or(other),
        }
    }

    /// Copies a tile into one of its shape; one that shares its storage is read before.
    pub(super) fn copy_tile(&mut self, from: &Tile, to: &Tile, span: Span) -> LoweringResult<()> {
        let copied =
            if from.shares_storage(to) { Some(self.fresh_copy(from, span)?) } else { None };
        let from = copied.as_ref().unwrap_or(from);
        self.each(&to.extents(), |lower, position| {
            let value = lower.loaded(from, position);
            let place = lower.element(to, position);
            lower.b.store(place, value);
            Ok(())
        })
    }

    /// A tile of its own with the elements of another.
    pub(super) fn fresh_copy(&mut self, tile: &Tile, span: Span) -> LoweringResult<Tile> {
        self.made_tile(&tile.extents(), span, |lower, position| Ok(lower.loaded(tile, position)))
    }

    /// A tile passed to this function.
    pub(super) fn entered_tile(&mut self, param: &TileParam) -> Tile {
        Tile {
            storage: self.b.param_place(param.storage),
            of: param.of,
            dims: param.dims.clone(),
            start: param.start,
            moved: param.moved.map(|at| self.b.arg(at)),
        }
    }

    /// Key of the instance of a function that takes a tile, and the tile in it; its storage is
    /// parameter `storage`, and `moved` the one after.
    pub(super) fn tile_param(tile: &Tile, storage: u32) -> (KnownValue<'a>, TileParam) {
        let moved = tile.moved.map(|_| storage + 1);
        let strides = tile.dims.iter().flat_map(|dim| [i64::from(dim.extent), dim.stride.into()]);
        let parts = [i64::from(storage), tile.start.into(), i64::from(moved.is_some())];
        let key = parts.into_iter().chain(strides).map(|part| KnownValue::Int(part.into()));
        let (of, dims, start) = (tile.of, tile.dims.clone(), tile.start);
        (KnownValue::Sequence(key.collect()), TileParam { of, dims, start, storage, moved })
    }

    /// Number that is added to where a tile begins.
    pub(super) fn tile_moved(tile: &Tile) -> Option<Value> {
        tile.moved
    }

    /// The content of a tile as one value, for a result.
    pub(super) fn tile_content(&mut self, tile: &Tile, span: Span) -> LoweringResult<Value> {
        let ty = self.b.module.types.fixed(tile.of, tile.count());
        let whole = tile.is_dense() && tile.start == 0 && tile.moved.is_none();
        let storage = match whole && self.b.place_type(tile.storage) == ty {
            true => tile.storage,
            false => self.fresh_copy(tile, span)?.storage,
        };
        Ok(self.b.load(storage))
    }

    /// The content of a tile as the result of this function.
    pub(super) fn tile_result_value(&mut self, tile: &Tile, span: Span) -> LoweringResult<Value> {
        let (function, shape) = (self.b.function_id(), tile.shape());
        if self.session.tile_results.get(&function).is_some_and(|known| *known != shape) {
            return fault(Code::TypeMismatch, span, "all results of a function are of one type");
        }
        self.session.tile_results.insert(function, shape);
        self.tile_content(tile, span)
    }

    /// A tile's type, as messages say it.
    pub(super) fn shown_tile(&self, shape: &TileShape) -> String {
        let extents: Vec<String> = shape.extents.iter().map(u32::to_string).collect();
        format!("tile[{}, {}]", self.shown(shape.of), extents.join(", "))
    }

    /// `t.shape`, `t.dtype`, `t.size`
    pub(super) fn tile_attribute(
        &mut self,
        tile: &Tile,
        attr: &str,
        expr: &'a Expr,
    ) -> LoweringResult<Access<'a>> {
        let known = match attr {
            "shape" => {
                let extents = tile.dims.iter().map(|dim| KnownValue::Int(i128::from(dim.extent)));
                KnownValue::Sequence(extents.collect())
            }
            "size" => KnownValue::Int(i128::from(tile.count())),
            "ndim" => KnownValue::Int(tile.dims.len() as i128),
            "dtype" => {
                match crate::annotation::Annotation::of_type(tile.of, &self.b.module.types) {
                    Some(annotation) => KnownValue::Type(annotation),
                    None => {
                        let message = "a struct's type can't be taken from a tile";
                        return fault(Code::UnsupportedValue, self.span(expr), message);
                    }
                }
            }
            _ => {
                let found = self.shown_tile(&tile.shape());
                let message = format!("a `{found}` has no `{attr}`");
                return fault(Code::UnknownAttribute, self.span(expr), message);
            }
        };
        Ok(Access::Operand(Operand::KnownValue(known)))
    }
}
