//! Products of matrices.

use super::super::operand::{LoweringResult, Operand, fault};
use super::super::writer::Writer;
use super::call::TileCall;
use super::{Tile, TileShape, repeat};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{BinaryOp, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::ty::{Scalar, Type};
use std::rc::Rc;

/// `wp.tile_matmul(a, b)`, and `out = alpha * a @ b + beta * out`.
pub(super) fn matmul<'a>(
    b: &mut Writer<'_, 'a>,
    call: &TileCall<'a>,
) -> LoweringResult<Operand<'a>> {
    let span = call.span;
    let (left, right) = (call.tile("a")?, call.tile("b")?);
    let out = match call.get("out") {
        Some(Operand::Tile(out)) => Some(out.clone()),
        _ => None,
    };
    let ([rows, inner], [depth, cols]) = (&left.dims[..], &right.dims[..]) else {
        return fault(Code::WrongArguments, span, "tiles of two dimensions are multiplied");
    };
    let (rows, inner, depth, cols) = (rows.extent, inner.extent, depth.extent, cols.extent);
    let of = out.as_ref().map_or(left.of, |out| out.of);
    let fits = inner == depth
        && out.as_ref().is_none_or(|out| out.extents() == [rows, cols])
        && [left.of, right.of, of].iter().all(|ty| ty.as_scalar().is_some_and(Scalar::is_float));
    let Some(scalar) = of.as_scalar().filter(|_| fits) else {
        let shown = [&left, &right].map(|tile| tile.shape().shown(b));
        let message = format!("a `{}` and a `{}` have no product here", shown[0], shown[1]);
        return fault(Code::TypeMismatch, span, message);
    };
    let alpha = factor(b, call, "alpha", scalar)?;
    let beta = match &out {
        Some(_) => factor(b, call, "beta", scalar)?,
        None => None,
    };
    let is_fresh = out.is_none();
    let target = match out {
        Some(out) => out,
        None => {
            let shape = TileShape { of, extents: vec![rows, cols] };
            Rc::new(Tile::new(b, "product", &shape, span)?)
        }
    };
    let product = Product { left: &left, right: &right, target: &target, of };
    // A block's elements are written after all of its sums, so a shared tile has blocks of one.
    let is_shared = [&left, &right].iter().any(|tile| tile.shares_storage(&target));
    let block = if is_shared { [1, 1] } else { [divisor(rows, 2), divisor(cols, 4)] };
    repeat(b, rows / block[0], |b, row| {
        repeat(b, cols / block[1], |b, col| {
            let at = [counted(b, row, block[0]), counted(b, col, block[1])];
            let sums = product.sums(b, &at, inner)?;
            for ([row, col], sum) in pairs(&at).zip(sums) {
                let sum = b.load(sum);
                let mut value = alpha.map_or(sum, |alpha| b.mul(alpha, sum));
                let place = product.target.element_at(b, &[row, col]);
                if !is_fresh {
                    let old = b.load(place);
                    let old = beta.map_or(old, |beta| scaled(b, beta, old, of));
                    value = b.add(value, old);
                }
                b.store(place, value);
            }
            Ok(())
        })
    })?;
    Ok(if is_fresh { Operand::Tile(target) } else { Operand::nothing() })
}

/// A number times a factor. A factor of zero leaves out infinities, too: zero times those is no
/// number.
fn scaled(b: &mut Writer<'_, '_>, factor: Value, value: Value, of: Type) -> Value {
    let (zero, product) = (b.zero(of), b.mul(factor, value));
    let is_zero = b.eq(factor, zero);
    b.select(is_zero, zero, product)
}

/// Tiles of a product, in a float type.
struct Product<'t> {
    left: &'t Tile,
    right: &'t Tile,
    target: &'t Tile,
    of: Type,
}

impl Product<'_> {
    /// Variables with the sums of products of rows of one tile and columns of the other. A block of
    /// them at once has sums that don't wait for each other, and loads each number once.
    fn sums(
        &self,
        b: &mut Writer<'_, '_>,
        at: &[Vec<Value>; 2],
        inner: u32,
    ) -> LoweringResult<Vec<PlaceId>> {
        let scalar = self.of.as_scalar().unwrap_or(Scalar::F32);
        let sums: Vec<PlaceId> = pairs(at).map(|_| b.temporary("sum", self.of)).collect();
        let zero = b.zero_of(self.of);
        sums.iter().for_each(|&sum| b.store(sum, zero));
        repeat(b, inner, |b, step| {
            let loaded = |b: &mut Writer<'_, '_>, place: PlaceId| {
                let value = b.load(place);
                b.convert(value, scalar)
            };
            let mut numbers = [Vec::new(), Vec::new()];
            for &row in &at[0] {
                let place = self.left.element_at(b, &[row, step]);
                numbers[0].push(loaded(b, place));
            }
            for &col in &at[1] {
                let place = self.right.element_at(b, &[step, col]);
                numbers[1].push(loaded(b, place));
            }
            for ([left, right], &sum) in pairs(&numbers).zip(&sums) {
                let product = b.mul(left, right);
                let so_far = b.load(sum);
                let next = b.binary(BinaryOp::Add, so_far, product);
                b.store(sum, next);
            }
            Ok(())
        })?;
        Ok(sums)
    }
}

/// The greatest divisor of an extent that is a power of two, up to a limit.
fn divisor(extent: u32, limit: u32) -> u32 {
    (1 << extent.trailing_zeros()).min(limit)
}

/// The coordinates in a block, by the block's number.
fn counted(b: &mut Writer<'_, '_>, block: Value, count: u32) -> Vec<Value> {
    let size = b.i32(count as i32);
    let first = b.mul(block, size);
    let later = (1..count).map(|at| {
        let at = b.i32(at as i32);
        b.add(first, at)
    });
    let later: Vec<Value> = later.collect();
    [vec![first], later].concat()
}

/// Pairs of which the second one changes first.
fn pairs([rows, cols]: &[Vec<Value>; 2]) -> impl Iterator<Item = [Value; 2]> + '_ {
    rows.iter().flat_map(|&row| cols.iter().map(move |&col| [row, col]))
}

/// A factor of a product; `None` is 1.
fn factor<'a>(
    b: &mut Writer<'_, 'a>,
    call: &TileCall<'a>,
    name: &str,
    of: Scalar,
) -> LoweringResult<Option<Value>> {
    match call.get(name).cloned() {
        None => Ok(None),
        Some(Operand::KnownValue(known)) if known.as_f64() == Some(1.0) => Ok(None),
        Some(operand) => {
            let value = b.value(operand, call.span)?;
            if b.ty(value).as_scalar().is_none() {
                return fault(Code::TypeMismatch, call.span, format!("`{name}` is a number"));
            }
            Ok(Some(b.convert(value, of)))
        }
    }
}
