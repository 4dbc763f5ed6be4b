//! Tiles: arrays of a fixed size on which the threads of a block work together.
//!
//! A tile is not a value of the IR. It is a fixed array in a variable, with the extents and strides
//! by which its elements are found: views share the variable. An operation on tiles becomes one
//! loop over the elements of its result ([`each`]), so back ends need nothing for most of them.

mod arithmetic;
mod call;
mod fourier;
mod make;
mod matrix;
mod order;
mod solve;
mod stack;
mod transfer;
mod view;

pub(super) use arithmetic::{augmented, negated, operator};
pub(super) use call::tile_call;
pub(super) use transfer::assign as assign_tile;
pub(super) use view::tile_index;

use super::operand::{LoweringResult, fault};
use super::writer::Writer;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{BinaryOp, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Type;
use gbxcule_warp_types::annotation::Annotation;
use gbxcule_warp_types::value::{KnownValue, WarpValue};

/// Greatest size of a tile in bytes.
const MAX_BYTES: u64 = 1 << 20;

/// Greatest number of elements of a tile, or of a view of one.
pub(super) const MAX_ELEMENTS: u64 = MAX_BYTES;

/// A dimension of a tile.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Dim {
    pub(super) extent: u32,
    /// Distance from one index to the next, in elements of the storage.
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
    /// Number that is added to `start` at run time.
    moved: Option<Value>,
}

/// Tiles of one element type and shape, for the types of functions.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct TileShape {
    pub(super) of: Type,
    pub(super) extents: Vec<u32>,
}

/// A tile that is a parameter of a function.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct TileParam {
    of: Type,
    dims: Vec<Dim>,
    start: i32,
    /// The parameter that is its storage.
    storage: u32,
    /// The parameter that is added to the start.
    moved: Option<u32>,
}

/// An element of the tile that a loop makes.
#[derive(Clone)]
pub(super) struct Position {
    /// Number in row-major order.
    pub(super) flat: Value,
    extents: Vec<u32>,
    coordinates: Option<Vec<Value>>,
}

impl Tile {
    /// Makes a variable for a tile; its elements are undefined.
    pub(super) fn new(
        b: &mut Writer<'_, '_>,
        name: &str,
        shape: &TileShape,
        span: Span,
    ) -> LoweringResult<Self> {
        let count = shape.extents.iter().map(|&extent| u64::from(extent)).product::<u64>();
        let Some(layout) = b.module.types.layout(shape.of) else {
            let found = b.shown(shape.of);
            return fault(Code::TypeMismatch, span, format!("a tile has no elements of `{found}`"));
        };
        let bytes = count.saturating_mul(layout.size);
        if bytes > MAX_BYTES {
            let message = format!("a tile has at most {MAX_BYTES} bytes, this one {bytes}");
            return fault(Code::TooComplex, span, message);
        }
        let ty = b.module.types.fixed(shape.of, count as u32);
        let local = b.scratch(name, ty);
        let storage = b.local_place(local);
        Ok(Self { storage, of: shape.of, dims: dense(&shape.extents), start: 0, moved: None })
    }

    /// Makes a tile of a function's result, a value with the tile's content.
    pub(super) fn of_result(
        b: &mut Writer<'_, '_>,
        value: Value,
        shape: &TileShape,
        span: Span,
    ) -> LoweringResult<Self> {
        let tile = Self::new(b, "tile", shape, span)?;
        b.store(tile.storage, value);
        Ok(tile)
    }

    /// Returns the tile that the caller passed for a parameter.
    pub(super) fn entered(b: &mut Writer<'_, '_>, param: &TileParam) -> Self {
        Self {
            storage: b.param_place(param.storage),
            of: param.of,
            dims: param.dims.clone(),
            start: param.start,
            moved: param.moved.map(|at| b.arg(at)),
        }
    }

    pub(super) fn extents(&self) -> Vec<u32> {
        self.dims.iter().map(|dim| dim.extent).collect()
    }

    pub(super) fn count(&self) -> u32 {
        self.dims.iter().map(|dim| dim.extent).product()
    }

    pub(super) fn shape(&self) -> TileShape {
        TileShape { of: self.of, extents: self.extents() }
    }

    /// Returns true if adjacent elements of the tile are adjacent in the storage.
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

    /// The variable that holds the elements.
    pub(super) fn storage(&self) -> PlaceId {
        self.storage
    }

    /// Number that is added to the start of a tile at run time.
    pub(super) fn moved(&self) -> Option<Value> {
        self.moved
    }

    /// Length of the first dimension.
    pub(super) fn len(&self) -> u32 {
        self.dims[0].extent
    }

    /// Returns the place of an element of a tile that has the loop's shape.
    fn element(&self, b: &mut Writer<'_, '_>, position: &mut Position) -> PlaceId {
        if self.is_dense() {
            return self.stored_at(b, position.flat);
        }
        let coordinates = position.coordinates(b);
        self.element_at(b, &coordinates)
    }

    /// Returns an element of a tile that has the loop's shape.
    fn loaded(&self, b: &mut Writer<'_, '_>, position: &mut Position) -> Value {
        let place = self.element(b, position);
        b.load(place)
    }

    /// The place of an element by its coordinates.
    fn element_at(&self, b: &mut Writer<'_, '_>, coordinates: &[Value]) -> PlaceId {
        let mut index = None;
        for (dim, &coordinate) in self.dims.iter().zip(coordinates) {
            if dim.extent == 1 && b.body().integer(coordinate) == Some(0) {
                continue;
            }
            let step = times(b, coordinate, dim.stride);
            index = plus(b, index, step);
        }
        let zero = b.i32(0);
        self.stored_at(b, index.unwrap_or(zero))
    }

    /// Returns the place at a distance from the tile's first element in its storage.
    fn stored_at(&self, b: &mut Writer<'_, '_>, index: Value) -> PlaceId {
        let index = match self.start {
            0 => index,
            start => {
                let start = b.i32(start);
                b.add(index, start)
            }
        };
        let index = plus(b, self.moved, Some(index)).unwrap_or(index);
        b.at(self.storage, index)
    }

    /// Copies a tile into one of its shape; a tile that shares the target's storage is read first.
    pub(super) fn copy_to(
        &self,
        to: &Self,
        b: &mut Writer<'_, '_>,
        span: Span,
    ) -> LoweringResult<()> {
        let copied = if self.shares_storage(to) { Some(self.fresh_copy(b, span)?) } else { None };
        let from = copied.as_ref().unwrap_or(self);
        each(b, &to.extents(), |b, position| {
            let value = from.loaded(b, position);
            let place = to.element(b, position);
            b.store(place, value);
            Ok(())
        })
    }

    /// Copies a tile into a new one.
    pub(super) fn fresh_copy(&self, b: &mut Writer<'_, '_>, span: Span) -> LoweringResult<Self> {
        made_tile(b, &self.extents(), span, |b, position| Ok(self.loaded(b, position)))
    }

    /// Returns the key of the instance of a function that takes a tile, and the tile as a
    /// parameter of this instance. The parameter `storage` is the tile's storage, and the next
    /// parameter is `moved`.
    pub(super) fn passed<'a>(&self, storage: u32) -> (KnownValue<'a>, TileParam) {
        let moved = self.moved.map(|_| storage + 1);
        let strides = self.dims.iter().flat_map(|dim| [i64::from(dim.extent), dim.stride.into()]);
        let parts = [i64::from(storage), self.start.into(), i64::from(moved.is_some())];
        let key = parts.into_iter().chain(strides).map(|part| KnownValue::Int(part.into()));
        let (of, dims, start) = (self.of, self.dims.clone(), self.start);
        (KnownValue::Sequence(key.collect()), TileParam { of, dims, start, storage, moved })
    }

    /// Returns the content of a tile as one value, for a function's result.
    pub(super) fn content(&self, b: &mut Writer<'_, '_>, span: Span) -> LoweringResult<Value> {
        let ty = b.module.types.fixed(self.of, self.count());
        let fills_storage = self.is_dense() && self.start == 0 && self.moved.is_none();
        let storage = match fills_storage && b.place_type(self.storage) == ty {
            true => self.storage,
            false => self.fresh_copy(b, span)?.storage,
        };
        Ok(b.load(storage))
    }

    /// `t.shape`, `t.dtype`, `t.size`
    pub(super) fn attribute<'a>(
        &self,
        b: &Writer<'_, 'a>,
        attr: &str,
        span: Span,
    ) -> LoweringResult<KnownValue<'a>> {
        Ok(match attr {
            "shape" => {
                let extents = self.dims.iter().map(|dim| KnownValue::Int(i128::from(dim.extent)));
                KnownValue::Sequence(extents.collect())
            }
            "size" => KnownValue::Int(i128::from(self.count())),
            "ndim" => KnownValue::Int(self.dims.len() as i128),
            "dtype" => match Annotation::of_type(self.of, &b.module.types) {
                Some(annotation) => KnownValue::Dialect(WarpValue::Type(annotation)),
                None => {
                    let message = "a struct's type can't be taken from a tile";
                    return fault(Code::UnsupportedValue, span, message);
                }
            },
            _ => {
                let message = format!("a `{}` has no `{attr}`", self.shape().shown(b));
                return fault(Code::UnknownAttribute, span, message);
            }
        })
    }
}

impl TileShape {
    /// A tile's type in the form that messages show.
    pub(super) fn shown(&self, b: &Writer<'_, '_>) -> String {
        let extents: Vec<String> = self.extents.iter().map(u32::to_string).collect();
        format!("tile[{}, {}]", b.shown(self.of), extents.join(", "))
    }
}

impl Position {
    fn new(flat: Value, extents: &[u32]) -> Self {
        Self { flat, extents: extents.to_vec(), coordinates: None }
    }

    /// The coordinates of a position.
    fn coordinates(&mut self, b: &mut Writer<'_, '_>) -> Vec<Value> {
        if let Some(coordinates) = &self.coordinates {
            return coordinates.clone();
        }
        let mut coordinates = Vec::with_capacity(self.extents.len());
        let mut remaining = self.flat;
        for (dim, &extent) in self.extents.iter().enumerate().rev() {
            let around: u32 = self.extents[..dim].iter().product();
            coordinates.push(match (extent, around) {
                (1, _) => b.i32(0),
                (_, 1) => remaining,
                _ => {
                    let by = b.i32(extent as i32);
                    let here = b.binary(BinaryOp::Remainder, remaining, by);
                    remaining = b.div(remaining, by);
                    here
                }
            });
        }
        coordinates.reverse();
        self.coordinates = Some(coordinates.clone());
        coordinates
    }
}

/// A writer of a body, or a type that holds one.
pub(super) trait Writes<'s, 'a> {
    fn writer(&mut self) -> &mut Writer<'s, 'a>;
}

impl<'s, 'a> Writes<'s, 'a> for Writer<'s, 'a> {
    fn writer(&mut self) -> &mut Self {
        self
    }
}

/// Makes a tile whose elements `make` gives; all elements have one type.
fn made_tile<'s, 'a: 's, C: Writes<'s, 'a>>(
    cx: &mut C,
    extents: &[u32],
    span: Span,
    mut make: impl FnMut(&mut C, &mut Position) -> LoweringResult<Value>,
) -> LoweringResult<Tile> {
    let mut made = None;
    each(cx, extents, |cx, position| {
        let value = make(cx, position)?;
        let b = cx.writer();
        let shape = TileShape { of: b.ty(value), extents: extents.to_vec() };
        let tile = Tile::new(b, "tile", &shape, span)?;
        let place = tile.element(b, position);
        b.store(place, value);
        made = Some(tile);
        Ok(())
    })?;
    Ok(made.unwrap_or_else(|| unreachable!("`each` calls its argument once")))
}

/// Loops over the elements of a tile of this shape; the threads of the block share the work.
fn each<'s, 'a: 's, C: Writes<'s, 'a>>(
    cx: &mut C,
    extents: &[u32],
    body: impl FnOnce(&mut C, &mut Position) -> LoweringResult<()>,
) -> LoweringResult<()> {
    let count: u32 = extents.iter().product();
    repeat(cx, count, |cx, flat| body(cx, &mut Position::new(flat, extents)))
}

/// A loop that every thread runs by itself.
fn repeat<'s, 'a: 's, C: Writes<'s, 'a>>(
    cx: &mut C,
    count: u32,
    body: impl FnOnce(&mut C, Value) -> LoweringResult<()>,
) -> LoweringResult<()> {
    let b = cx.writer();
    let zero = b.i32(0);
    if count == 1 {
        return body(cx, zero);
    }
    let [end, step] = [count as i32, 1].map(|number| b.i32(number));
    between(cx, [zero, end, step], body)
}

/// A loop over a range of indices.
fn between<'s, 'a: 's, C: Writes<'s, 'a>>(
    cx: &mut C,
    range: [Value; 3],
    body: impl FnOnce(&mut C, Value) -> LoweringResult<()>,
) -> LoweringResult<()> {
    let index = cx.writer().loop_index(Type::I32, "at");
    cx.writer().open_block();
    let outcome = body(cx, index);
    let block = cx.writer().close_block();
    cx.writer().for_block(index, range, block);
    outcome
}

/// Returns a value times a number; `None` stands for 0.
fn times(b: &mut Writer<'_, '_>, value: Value, by: i32) -> Option<Value> {
    match by {
        0 => None,
        1 => Some(value),
        by => {
            let by = b.i32(by);
            Some(b.mul(value, by))
        }
    }
}

fn plus(b: &mut Writer<'_, '_>, left: Option<Value>, right: Option<Value>) -> Option<Value> {
    match (left, right) {
        (Some(left), Some(right)) => Some(b.add(left, right)),
        (one, other) => one.or(other),
    }
}

/// Refuses elements of another type than a tile has.
fn check_element(b: &Writer<'_, '_>, found: Type, wanted: Type, span: Span) -> LoweringResult<()> {
    if found == wanted {
        return Ok(());
    }
    let (found, wanted) = (b.shown(found), b.shown(wanted));
    let message = format!("the tile has elements of `{wanted}`, found `{found}`");
    fault(Code::TypeMismatch, span, message)
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
