//! Functions of the elements in their order: prefixes, and sorting.

use super::super::operand::{LoweringResult, Operand, fault};
use super::super::writer::Writer;
use super::call::TileCall;
use super::{Position, Tile, each, made_tile, repeat};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{CompareOp, Value};
use gbxcule_ir::ty::{Scalar, Type};

/// `tile_scan_inclusive`, `tile_scan_exclusive`, `tile_scan_min_inclusive` and the like.
pub(super) fn scan<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Tile> {
    let tile = call.tile("a")?;
    if !matches!(tile.of.as_scalar(), Some(Scalar::F32 | Scalar::I32 | Scalar::U32)) {
        let found = tile.shape().shown(b);
        let message = format!("prefixes are computed of 32-bit numbers, found `{found}`");
        return fault(Code::TypeMismatch, call.span, message);
    }
    let scanned = Tile::new(b, "scanned", &tile.shape(), call.span)?;
    let extents = tile.extents();
    each(b, &[1], |b, _| {
        let so_far = b.temporary("so_far", tile.of);
        let zero = b.zero_of(tile.of);
        b.store(so_far, zero);
        repeat(b, tile.count(), |b, flat| {
            let mut position = Position::new(flat, &extents);
            let value = tile.loaded(b, &mut position);
            let place = scanned.element(b, &mut position);
            let before = b.load(so_far);
            let next = match call.name {
                "tile_scan_inclusive" | "tile_scan_exclusive" => b.add(before, value),
                name => {
                    let name = if name.contains("max") { "max" } else { "min" };
                    let best = b.named(name, &[before, value]);
                    let zero = b.i32(0);
                    let first = b.eq(flat, zero);
                    b.select(first, value, best)
                }
            };
            b.store(so_far, next);
            let scanned_value = if call.name == "tile_scan_exclusive" { before } else { next };
            b.store(place, scanned_value);
            Ok(())
        })
    })?;
    Ok(scanned)
}

/// `wp.tile_sort(keys, values)`: each element goes to its rank, equal keys in their order.
pub(super) fn sort<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<()> {
    let (keys, values) = (call.tile("keys")?, call.tile("values")?);
    let sortable = matches!(
        keys.of.as_scalar(),
        Some(Scalar::F32 | Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64)
    );
    if !sortable || keys.extents() != values.extents() {
        let message = "keys of 32 or 64 bits and values of the same shape are sorted";
        return fault(Code::TypeMismatch, call.span, message);
    }
    let old_keys = keys.fresh_copy(b, call.span)?;
    let old_values = values.fresh_copy(b, call.span)?;
    let extents = keys.extents();
    each(b, &extents, |b, position| {
        let key = old_keys.loaded(b, position);
        let value = old_values.loaded(b, position);
        let mine = sort_key(b, key);
        let rank = b.temporary("rank", Type::I32);
        let zero = b.i32(0);
        b.store(rank, zero);
        repeat(b, keys.count(), |b, flat| {
            let mut other = Position::new(flat, &extents);
            let other = old_keys.loaded(b, &mut other);
            let other = sort_key(b, other);
            let less = b.lt(other, mine);
            let equal = b.compare(CompareOp::Equal, other, mine);
            let earlier = b.lt(flat, position.flat);
            let before = b.and(equal, earlier);
            let before = b.or(less, before);
            let more = b.convert(before, Scalar::I32);
            let so_far = b.load(rank);
            let sum = b.add(so_far, more);
            b.store(rank, sum);
            Ok(())
        })?;
        let flat = b.load(rank);
        let mut to = Position::new(flat, &extents);
        let place = keys.element(b, &mut to);
        b.store(place, key);
        let place = values.element(b, &mut to);
        b.store(place, value);
        Ok(())
    })
}

/// Returns an integer that orders floats: -0 comes before 0, and every NaN has a place.
fn sort_key<'a>(b: &mut Writer<'_, 'a>, key: Value) -> Value {
    if b.ty(key) != Type::F32 {
        return key;
    }
    let bits = b.bitcast(key, Scalar::I32);
    let most = b.i32(i32::MAX);
    let turned = b.binary(gbxcule_ir::BinaryOp::Xor, bits, most);
    let zero = b.i32(0);
    let negative = b.lt(bits, zero);
    b.select(negative, turned, bits)
}

/// `t[indices, :]`: a copy of some of the rows.
pub(super) fn gather<'a>(
    b: &mut Writer<'_, 'a>,
    tile: &Tile,
    axis: usize,
    indices: &Tile,
    span: gbxcule_ir::source::Span,
) -> LoweringResult<Operand<'a>> {
    let ([count], Some(true)) =
        (&indices.extents()[..], indices.of.as_scalar().map(Scalar::is_int))
    else {
        return fault(Code::TypeMismatch, span, "indices are a tile of integers of one dimension");
    };
    let mut extents = tile.extents();
    let extent = b.i32(extents[axis] as i32);
    extents[axis] = *count;
    let gathered = made_tile(b, &extents, span, |b, position| {
        let mut coordinates = position.coordinates(b);
        let index = indices.element_at(b, &[coordinates[axis]]);
        let index = b.load(index);
        let index = b.convert(index, Scalar::I32);
        let zero = b.i32(0);
        let negative = b.lt(index, zero);
        let wrapped = b.add(index, extent);
        coordinates[axis] = b.select(negative, wrapped, index);
        let place = tile.element_at(b, &coordinates);
        Ok(b.load(place))
    })?;
    Ok(gathered.into())
}
