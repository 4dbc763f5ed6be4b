//! Triangular matrices: Cholesky's factors, and systems of equations.

use super::super::{FunctionLowering, LoweringResult, Operand, fault};
use super::Tile;
use super::call::TileCall;
use crate::constant::KnownValue;
use gbxcule_ir::Native;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::ty::{Scalar, Type};
use std::rc::Rc;

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    /// A square tile of `float32` or `float64`, and its side.
    fn square(&mut self, call: &TileCall<'a>, name: &str) -> LoweringResult<(Rc<Tile>, u32)> {
        let tile = call.tile(name)?;
        match (&tile.extents()[..], tile.of.as_scalar()) {
            (&[rows, cols], Some(Scalar::F32 | Scalar::F64)) if rows == cols => Ok((tile, rows)),
            _ => {
                let found = self.shown_tile(&tile.shape());
                let message = format!("`{name}` is a square tile of floats, found `{found}`");
                fault(Code::TypeMismatch, call.span, message)
            }
        }
    }

    /// Returns true if `fill_mode` is `"upper"`.
    fn is_upper(call: &TileCall<'a>) -> LoweringResult<bool> {
        match call.get("fill_mode") {
            None => Ok(false),
            Some(Operand::KnownValue(KnownValue::Text(text)))
                if matches!(&**text, "lower" | "upper") =>
            {
                Ok(&**text == "upper")
            }
            Some(_) => {
                fault(Code::NeedsConstant, call.span, "`fill_mode` is `\"lower\"` or `\"upper\"`")
            }
        }
    }

    /// `wp.tile_cholesky(A)`: the triangle whose product with its transpose is A. An upper one is
    /// the lower one of the transposed tiles.
    pub(super) fn tile_cholesky(
        &mut self,
        call: &TileCall<'a>,
        in_place: bool,
    ) -> LoweringResult<Rc<Tile>> {
        let span = call.span;
        let (tile, side) = self.square(call, "A")?;
        let factor = match in_place {
            true => tile.clone(),
            false => Rc::new(self.new_tile("factor", &tile.shape(), span)?),
        };
        let (mut from, mut to) = (tile, factor.clone());
        if Self::is_upper(call)? {
            from = Rc::new(self.tile_transpose(&from, span)?);
            to = Rc::new(self.tile_transpose(&to, span)?);
        }
        let of = to.of;
        let (zero, one, end) = (self.b.i32(0), self.b.i32(1), self.b.i32(side as i32));
        self.each(&[1], |lower, _| {
            lower.repeat(side, |lower, col| {
                let diagonal = lower.sum_left(&from, &to, [col, col], [zero, col])?;
                let root = lower.b.native(Native::Sqrt, &[diagonal]);
                let place = lower.element_at(&to, &[col, col]);
                lower.b.store(place, root);
                let below = lower.b.add(col, one);
                lower.between(below, end, |lower, row| {
                    let left = lower.sum_left(&from, &to, [row, col], [zero, col])?;
                    let value = lower.b.div(left, root);
                    let place = lower.element_at(&to, &[row, col]);
                    lower.b.store(place, value);
                    let nothing = lower.zero(of);
                    let place = lower.element_at(&to, &[col, row]);
                    lower.b.store(place, nothing);
                    Ok(())
                })
            })
        })?;
        Ok(factor)
    }

    /// `from[row, col]` less the products of two rows of `factor` so far.
    fn sum_left(
        &mut self,
        from: &Tile,
        factor: &Tile,
        [row, col]: [Value; 2],
        [start, end]: [Value; 2],
    ) -> LoweringResult<Value> {
        let first = self.element_at(from, &[row, col]);
        self.less_products(first, [start, end], |lower, at| {
            [lower.element_at(factor, &[row, at]), lower.element_at(factor, &[col, at])]
        })
    }

    /// A number less products of pairs of elements.
    fn less_products(
        &mut self,
        first: PlaceId,
        [start, end]: [Value; 2],
        pair: impl Fn(&mut Self, Value) -> [PlaceId; 2],
    ) -> LoweringResult<Value> {
        let of = self.b.place_type(first);
        let sum = self.temporary("rest", of);
        let value = self.b.load(first);
        self.b.store(sum, value);
        self.between(start, end, |lower, at| {
            let [left, right] = pair(lower, at).map(|place| lower.b.load(place));
            let product = lower.b.mul(left, right);
            let so_far = lower.b.load(sum);
            let next = lower.b.sub(so_far, product);
            lower.b.store(sum, next);
            Ok(())
        })?;
        Ok(self.b.load(sum))
    }

    /// A loop from one index to another.
    fn between(
        &mut self,
        start: Value,
        end: Value,
        body: impl FnOnce(&mut Self, Value) -> LoweringResult<()>,
    ) -> LoweringResult<()> {
        let step = self.b.i32(1);
        let index = self.b.loop_index(Type::I32, "at");
        self.b.open_block();
        let outcome = body(self, index);
        let block = self.b.close_block();
        self.b.for_block(index, [start, end, step], block);
        outcome
    }

    /// `tile_lower_solve`, `tile_upper_solve`, `tile_cholesky_solve`, in place or not.
    pub(super) fn tile_solve(&mut self, call: &TileCall<'a>) -> LoweringResult<Rc<Tile>> {
        let (matrix, right) = match call.name {
            "tile_upper_solve" | "tile_upper_solve_inplace" => ("U", "z"),
            _ => ("L", "y"),
        };
        let (triangle, side) = self.square(call, matrix)?;
        let given = call.tile(right)?;
        if given.of != triangle.of || given.dims.len() > 2 || given.dims[0].extent != side {
            let found = self.shown_tile(&given.shape());
            let message = format!("`{right}` has {side} rows of the same type, found `{found}`");
            return fault(Code::TypeMismatch, call.span, message);
        }
        let solution = match call.name.ends_with("_inplace") {
            true => given,
            false => Rc::new(self.fresh_copy(&given, call.span)?),
        };
        let transposed = self.tile_transpose(&triangle, call.span)?;
        match call.name {
            "tile_lower_solve" | "tile_lower_solve_inplace" => {
                self.substitute(&triangle, &solution, true)?;
            }
            "tile_upper_solve" | "tile_upper_solve_inplace" => {
                self.substitute(&triangle, &solution, false)?;
            }
            _ => {
                let upper = Self::is_upper(call)?;
                let [first, second] =
                    if upper { [&transposed, &*triangle] } else { [&*triangle, &transposed] };
                self.substitute(first, &solution, true)?;
                self.substitute(second, &solution, false)?;
            }
        }
        Ok(solution)
    }

    /// Solves a triangular system in place, from the first row or from the last.
    fn substitute(
        &mut self,
        triangle: &Tile,
        solution: &Tile,
        forward: bool,
    ) -> LoweringResult<()> {
        let side = solution.dims[0].extent;
        let columns = solution.dims.get(1).map_or(1, |dim| dim.extent);
        let (zero, one) = (self.b.i32(0), self.b.i32(1));
        let (last, end) = (self.b.i32(side as i32 - 1), self.b.i32(side as i32));
        let rank = solution.dims.len();
        self.each(&[columns], |lower, position| {
            let column = position.flat;
            let cell =
                |lower: &mut Self, row: Value| lower.element_at(solution, &[row, column][..rank]);
            lower.repeat(side, |lower, at| {
                let row = if forward { at } else { lower.b.sub(last, at) };
                let range = match forward {
                    true => [zero, row],
                    false => [lower.b.add(row, one), end],
                };
                let first = cell(lower, row);
                let rest = lower.less_products(first, range, |lower, at| {
                    [lower.element_at(triangle, &[row, at]), cell(lower, at)]
                })?;
                let diagonal = lower.element_at(triangle, &[row, row]);
                let diagonal = lower.b.load(diagonal);
                let value = lower.b.div(rest, diagonal);
                let place = cell(lower, row);
                lower.b.store(place, value);
                Ok(())
            })
        })
    }

    /// `wp.tile_diag_add(a, d)`
    pub(super) fn tile_diag_add(&mut self, call: &TileCall<'a>) -> LoweringResult<Tile> {
        let (tile, diagonal) = (call.tile("a")?, call.tile("d")?);
        let extents = tile.extents();
        let fits = tile.of == diagonal.of
            && self.b.module.types.components(tile.of).is_some()
            && matches!(extents[..], [rows, cols] if rows == cols && diagonal.extents() == [rows]);
        if !fits {
            let message = "a square tile and one of its side are needed, of one type";
            return fault(Code::TypeMismatch, call.span, message);
        }
        let sum = self.fresh_copy(&tile, call.span)?;
        self.each(&extents[..1], |lower, position| {
            let at = position.flat;
            let more = lower.loaded(&diagonal, position);
            let place = lower.element_at(&sum, &[at, at]);
            let old = lower.b.load(place);
            let value = lower.b.add(old, more);
            lower.b.store(place, value);
            Ok(())
        })?;
        Ok(sum)
    }
}
