//! Triangular matrices: Cholesky's factors, and systems of equations.

use super::super::operand::{LoweringResult, Operand, fault};
use super::super::writer::Writer;
use super::call::TileCall;
use super::{Tile, between, each, repeat};
use gbxcule_ir::Native;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::ty::Scalar;
use gbxcule_warp_types::value::KnownValue;
use std::rc::Rc;

/// A square tile of `float32` or `float64`, and its side.
fn square<'a>(
    b: &mut Writer<'_, 'a>,
    call: &TileCall<'a>,
    name: &str,
) -> LoweringResult<(Rc<Tile>, u32)> {
    let tile = call.tile(name)?;
    match (&tile.extents()[..], tile.of.as_scalar()) {
        (&[rows, cols], Some(Scalar::F32 | Scalar::F64)) if rows == cols => Ok((tile, rows)),
        _ => {
            let found = tile.shape().shown(b);
            let message = format!("`{name}` is a square tile of floats, found `{found}`");
            fault(Code::TypeMismatch, call.span, message)
        }
    }
}

/// Returns true if `fill_mode` is `"upper"`.
fn is_upper<'a>(call: &TileCall<'a>) -> LoweringResult<bool> {
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

/// `wp.tile_cholesky(A)`: the triangle whose product with its transpose is A. An upper triangle is
/// computed as the lower one of transposed tiles.
pub(super) fn cholesky<'a>(
    b: &mut Writer<'_, 'a>,
    call: &TileCall<'a>,
    in_place: bool,
) -> LoweringResult<Rc<Tile>> {
    let span = call.span;
    let (tile, side) = square(b, call, "A")?;
    let factor = match in_place {
        true => tile.clone(),
        false => Rc::new(Tile::new(b, "factor", &tile.shape(), span)?),
    };
    let (mut from, mut to) = (tile, factor.clone());
    if is_upper(call)? {
        from = Rc::new(from.transposed(span)?);
        to = Rc::new(to.transposed(span)?);
    }
    let of = to.of;
    let (zero, one, end) = (b.i32(0), b.i32(1), b.i32(side as i32));
    each(b, &[1], |b, _| {
        repeat(b, side, |b, col| {
            let diagonal = sum_left(b, &from, &to, [col, col], [zero, col])?;
            let root = b.native(Native::Sqrt, &[diagonal]);
            let place = to.element_at(b, &[col, col]);
            b.store(place, root);
            let below = b.add(col, one);
            upwards(b, [below, end], |b, row| {
                let left = sum_left(b, &from, &to, [row, col], [zero, col])?;
                let value = b.div(left, root);
                let place = to.element_at(b, &[row, col]);
                b.store(place, value);
                let nothing = b.zero_of(of);
                let place = to.element_at(b, &[col, row]);
                b.store(place, nothing);
                Ok(())
            })
        })
    })?;
    Ok(factor)
}

/// Subtracts from `from[row, col]` the products of two rows of `factor` so far.
fn sum_left<'a>(
    b: &mut Writer<'_, 'a>,
    from: &Tile,
    factor: &Tile,
    [row, col]: [Value; 2],
    [start, end]: [Value; 2],
) -> LoweringResult<Value> {
    let first = from.element_at(b, &[row, col]);
    less_products(b, first, [start, end], |b, at| {
        [factor.element_at(b, &[row, at]), factor.element_at(b, &[col, at])]
    })
}

/// Subtracts products of pairs of elements from a number.
fn less_products<'a>(
    b: &mut Writer<'_, 'a>,
    first: PlaceId,
    [start, end]: [Value; 2],
    pair: impl Fn(&mut Writer<'_, 'a>, Value) -> [PlaceId; 2],
) -> LoweringResult<Value> {
    let of = b.place_type(first);
    let sum = b.temporary("rest", of);
    let value = b.load(first);
    b.store(sum, value);
    upwards(b, [start, end], |b, at| {
        let [left, right] = pair(b, at).map(|place| b.load(place));
        let product = b.mul(left, right);
        let so_far = b.load(sum);
        let next = b.sub(so_far, product);
        b.store(sum, next);
        Ok(())
    })?;
    Ok(b.load(sum))
}

/// A loop from one index to another.
fn upwards<'s, 'a>(
    b: &mut Writer<'s, 'a>,
    [start, end]: [Value; 2],
    body: impl FnOnce(&mut Writer<'s, 'a>, Value) -> LoweringResult<()>,
) -> LoweringResult<()> {
    let step = b.i32(1);
    between(b, [start, end, step], body)
}

/// `tile_lower_solve`, `tile_upper_solve`, `tile_cholesky_solve`, in place or not.
pub(super) fn solve<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Rc<Tile>> {
    let (matrix, right) = match call.name {
        "tile_upper_solve" | "tile_upper_solve_inplace" => ("U", "z"),
        _ => ("L", "y"),
    };
    let (triangle, side) = square(b, call, matrix)?;
    let given = call.tile(right)?;
    if given.of != triangle.of || given.dims.len() > 2 || given.dims[0].extent != side {
        let found = given.shape().shown(b);
        let message = format!("`{right}` has {side} rows of the same type, found `{found}`");
        return fault(Code::TypeMismatch, call.span, message);
    }
    let solution = match call.name.ends_with("_inplace") {
        true => given,
        false => Rc::new(given.fresh_copy(b, call.span)?),
    };
    let transposed = triangle.transposed(call.span)?;
    match call.name {
        "tile_lower_solve" | "tile_lower_solve_inplace" => {
            substitute(b, &triangle, &solution, true)?;
        }
        "tile_upper_solve" | "tile_upper_solve_inplace" => {
            substitute(b, &triangle, &solution, false)?;
        }
        _ => {
            let upper = is_upper(call)?;
            let [first, second] =
                if upper { [&transposed, &*triangle] } else { [&*triangle, &transposed] };
            substitute(b, first, &solution, true)?;
            substitute(b, second, &solution, false)?;
        }
    }
    Ok(solution)
}

/// Solves a triangular system in place, from the first row or from the last.
fn substitute<'a>(
    b: &mut Writer<'_, 'a>,
    triangle: &Tile,
    solution: &Tile,
    forward: bool,
) -> LoweringResult<()> {
    let side = solution.dims[0].extent;
    let columns = solution.dims.get(1).map_or(1, |dim| dim.extent);
    let (zero, one) = (b.i32(0), b.i32(1));
    let (last, end) = (b.i32(side as i32 - 1), b.i32(side as i32));
    let rank = solution.dims.len();
    each(b, &[columns], |b, position| {
        let column = position.flat;
        let cell =
            |b: &mut Writer<'_, 'a>, row: Value| solution.element_at(b, &[row, column][..rank]);
        repeat(b, side, |b, at| {
            let row = if forward { at } else { b.sub(last, at) };
            let range = match forward {
                true => [zero, row],
                false => [b.add(row, one), end],
            };
            let first = cell(b, row);
            let difference = less_products(b, first, range, |b, at| {
                [triangle.element_at(b, &[row, at]), cell(b, at)]
            })?;
            let diagonal = triangle.element_at(b, &[row, row]);
            let diagonal = b.load(diagonal);
            let value = b.div(difference, diagonal);
            let place = cell(b, row);
            b.store(place, value);
            Ok(())
        })
    })
}

/// `wp.tile_diag_add(a, d)`
pub(super) fn diag_add<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Tile> {
    let (tile, diagonal) = (call.tile("a")?, call.tile("d")?);
    let extents = tile.extents();
    let fits = tile.of == diagonal.of
        && b.module.types.components(tile.of).is_some()
        && matches!(extents[..], [rows, cols] if rows == cols && diagonal.extents() == [rows]);
    if !fits {
        let message = "a square tile and a tile of its diagonal are needed, of one type";
        return fault(Code::TypeMismatch, call.span, message);
    }
    let sum = tile.fresh_copy(b, call.span)?;
    each(b, &extents[..1], |b, position| {
        let at = position.flat;
        let more = diagonal.loaded(b, position);
        let place = sum.element_at(b, &[at, at]);
        let old = b.load(place);
        let value = b.add(old, more);
        b.store(place, value);
        Ok(())
    })?;
    Ok(sum)
}
