//! Functions of the elements in their order: prefixes, and sorting.

use super::super::{FunctionLowering, LoweringResult, Operand, fault};
use super::call::TileCall;
use super::{Position, Tile};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{CompareOp, Value};
use gbxcule_ir::ty::{Scalar, Type};

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    /// `tile_scan_inclusive`, `tile_scan_exclusive`, `tile_scan_min_inclusive` and the like.
    pub(super) fn tile_scan(&mut self, call: &TileCall<'a>) -> LoweringResult<Tile> {
        let tile = call.tile("a")?;
        if !matches!(tile.of.as_scalar(), Some(Scalar::F32 | Scalar::I32 | Scalar::U32)) {
            let found = self.shown_tile(&tile.shape());
            let message = format!("prefixes are of 32-bit numbers, found `{found}`");
            return fault(Code::TypeMismatch, call.span, message);
        }
        let scanned = self.new_tile("scanned", &tile.shape(), call.span)?;
        let extents = tile.extents();
        self.each(&[1], |lower, _| {
            let so_far = lower.temporary("so_far", tile.of);
            let zero = lower.zero(tile.of);
            lower.b.store(so_far, zero);
            lower.repeat(tile.count(), |lower, flat| {
                let mut position = Position { flat, extents: extents.clone(), coordinates: None };
                let value = lower.loaded(&tile, &mut position);
                let place = lower.element(&scanned, &mut position);
                let before = lower.b.load(so_far);
                let next = match call.name {
                    "tile_scan_inclusive" | "tile_scan_exclusive" => lower.b.add(before, value),
                    name => {
                        let name = if name.contains("max") { "max" } else { "min" };
                        let best = lower.b.named(name, &[before, value]);
                        let zero = lower.b.i32(0);
                        let first = lower.b.eq(flat, zero);
                        lower.b.select(first, value, best)
                    }
                };
                lower.b.store(so_far, next);
                let kept = if call.name == "tile_scan_exclusive" { before } else { next };
                lower.b.store(place, kept);
                Ok(())
            })
        })?;
        Ok(scanned)
    }

    /// `wp.tile_sort(keys, values)`: each element goes to its rank, equal keys in their order.
    pub(super) fn tile_sort(&mut self, call: &TileCall<'a>) -> LoweringResult<()> {
        let (keys, values) = (call.tile("keys")?, call.tile("values")?);
        let sortable = matches!(
            keys.of.as_scalar(),
            Some(Scalar::F32 | Scalar::I32 | Scalar::U32 | Scalar::I64 | Scalar::U64)
        );
        if !sortable || keys.extents() != values.extents() {
            let message = "keys of 32 or 64 bits and values of the same shape are sorted";
            return fault(Code::TypeMismatch, call.span, message);
        }
        let old_keys = self.fresh_copy(&keys, call.span)?;
        let old_values = self.fresh_copy(&values, call.span)?;
        let extents = keys.extents();
        self.each(&extents, |lower, position| {
            let key = lower.loaded(&old_keys, position);
            let value = lower.loaded(&old_values, position);
            let mine = lower.sort_key(key);
            let rank = lower.temporary("rank", Type::I32);
            let zero = lower.b.i32(0);
            lower.b.store(rank, zero);
            lower.repeat(keys.count(), |lower, flat| {
                let mut other = Position { flat, extents: extents.clone(), coordinates: None };
                let other = lower.loaded(&old_keys, &mut other);
                let other = lower.sort_key(other);
                let less = lower.b.lt(other, mine);
                let equal = lower.b.compare(CompareOp::Equal, other, mine);
                let earlier = lower.b.lt(flat, position.flat);
                let before = lower.b.and(equal, earlier);
                let before = lower.b.or(less, before);
                let more = lower.b.convert(before, Scalar::I32);
                let so_far = lower.b.load(rank);
                let sum = lower.b.add(so_far, more);
                lower.b.store(rank, sum);
                Ok(())
            })?;
            let flat = lower.b.load(rank);
            let mut to = Position { flat, extents: extents.clone(), coordinates: None };
            let place = lower.element(&keys, &mut to);
            lower.b.store(place, key);
            let place = lower.element(&values, &mut to);
            lower.b.store(place, value);
            Ok(())
        })
    }

    /// A float as an integer of the same order, in which -0 is below 0 and every NaN has a place.
    fn sort_key(&mut self, key: Value) -> Value {
        if self.ty(key) != Type::F32 {
            return key;
        }
        let bits = self.b.bitcast(key, Scalar::I32);
        let most = self.b.i32(i32::MAX);
        let turned = self.b.binary(gbxcule_ir::BinaryOp::Xor, bits, most);
        let zero = self.b.i32(0);
        let negative = self.b.lt(bits, zero);
        self.b.select(negative, turned, bits)
    }

    /// `t[indices, :]`: a copy of some of the rows.
    pub(super) fn tile_gather(
        &mut self,
        tile: &Tile,
        axis: usize,
        indices: &Tile,
        span: gbxcule_ir::source::Span,
    ) -> LoweringResult<Operand<'a>> {
        let ([count], Some(true)) =
            (&indices.extents()[..], indices.of.as_scalar().map(Scalar::is_int))
        else {
            return fault(
                Code::TypeMismatch,
                span,
                "indices are a tile of integers of one dimension",
            );
        };
        let mut extents = tile.extents();
        let extent = self.b.i32(extents[axis] as i32);
        extents[axis] = *count;
        let gathered = self.made_tile(&extents, span, |lower, position| {
            let mut coordinates = lower.coordinates(position);
            let index = lower.element_at(indices, &[coordinates[axis]]);
            let index = lower.b.load(index);
            let index = lower.b.convert(index, Scalar::I32);
            let zero = lower.b.i32(0);
            let negative = lower.b.lt(index, zero);
            let wrapped = lower.b.add(index, extent);
            coordinates[axis] = lower.b.select(negative, wrapped, index);
            let place = lower.element_at(tile, &coordinates);
            Ok(lower.b.load(place))
        })?;
        Ok(Operand::Tile(std::rc::Rc::new(gathered)))
    }
}
