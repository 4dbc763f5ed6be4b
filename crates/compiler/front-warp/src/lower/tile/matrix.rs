//! Products of matrices.

use super::super::operand::{LoweringResult, Operand, fault};
use super::super::writer::Writer;
use super::call::TileCall;
use super::{MAX_BYTES, Tile, TileShape, repeat};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{BinaryOp, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Type};
use std::borrow::Cow;
use std::rc::Rc;

/// Numbers of a row in one element of a packed tile.
const WIDTH: u32 = 4;

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
    let scalar = result_scalar(b, call, [&left, &right], out.as_deref())?;
    let (rows, inner, of) = (left.dims[0].extent, left.dims[1].extent, Type::scalar(scalar));
    let alpha = factor(b, call, "alpha", scalar)?;
    let beta = match &out {
        Some(_) => factor(b, call, "beta", scalar)?,
        None => None,
    };
    let is_fresh = out.is_none();
    let target = match out {
        Some(out) => out,
        None => {
            let shape = TileShape { of, extents: vec![rows, right.dims[1].extent] };
            Rc::new(Tile::new(b, "product", &shape, span)?)
        }
    };
    // A block's elements are written after all its sums, so a tile that shares storage has blocks
    // of one element.
    let is_shared = [&left, &right].iter().any(|tile| tile.shares_storage(&target));
    let product = Product::new(b, [&left, &right], scalar, !is_shared, span)?;
    let limits = match product.width {
        _ if is_shared => [1, 1],
        1 => [2, 4],
        _ => [4, 2],
    };
    let block = [divisor(rows, limits[0]), divisor(product.columns(), limits[1])];
    repeat(b, rows / block[0], |b, row| {
        repeat(b, product.columns() / block[1], |b, col| {
            let at = [counted(b, row, block[0]), counted(b, col, block[1])];
            let sums = product.sums(b, &at, inner)?;
            for ([row, col], sum) in pairs(&at).zip(sums) {
                let sum = b.load(sum);
                let cols = counted(b, col, product.width);
                for (part, col) in cols.into_iter().enumerate() {
                    let sum = if product.width == 1 { sum } else { b.extract(sum, part as u32) };
                    let mut value = alpha.map_or(sum, |alpha| b.mul(alpha, sum));
                    let place = target.element_at(b, &[row, col]);
                    if !is_fresh {
                        let old = b.load(place);
                        let old = beta.map_or(old, |beta| scaled(b, beta, old, of));
                        value = b.add(value, old);
                    }
                    b.store(place, value);
                }
            }
            Ok(())
        })
    })?;
    Ok(if is_fresh { Operand::Tile(target) } else { Operand::nothing() })
}

/// The type of the sums, if the tiles have a product.
fn result_scalar(
    b: &mut Writer<'_, '_>,
    call: &TileCall<'_>,
    [left, right]: [&Tile; 2],
    out: Option<&Tile>,
) -> LoweringResult<Scalar> {
    let ([rows, inner], [depth, cols]) = (&left.dims[..], &right.dims[..]) else {
        return fault(
            Code::WrongArguments,
            call.span,
            "only tiles of two dimensions can be multiplied",
        );
    };
    let of = out.map_or(left.of, |out| out.of);
    let fits = inner.extent == depth.extent
        && out.is_none_or(|out| out.extents() == [rows.extent, cols.extent])
        && [left.of, right.of, of].iter().all(|ty| ty.as_scalar().is_some_and(Scalar::is_float));
    match of.as_scalar().filter(|_| fits) {
        Some(scalar) => Ok(scalar),
        None => {
            let shown = [left, right].map(|tile| tile.shape().shown(b));
            let message = format!("a `{}` and a `{}` have no product here", shown[0], shown[1]);
            fault(Code::TypeMismatch, call.span, message)
        }
    }
}

/// Multiplies a number by a factor. A factor of zero gives zero even for an infinity, although
/// their product would be NaN.
fn scaled(b: &mut Writer<'_, '_>, factor: Value, value: Value, of: Type) -> Value {
    let (zero, product) = (b.zero(of), b.mul(factor, value));
    let is_zero = b.eq(factor, zero);
    b.select(is_zero, zero, product)
}

/// Tiles that are multiplied, in a float type.
struct Product<'t> {
    left: &'t Tile,
    /// The numbers of the right tile, or a copy of it whose elements are `width` numbers of a row.
    right: Cow<'t, Tile>,
    of: Scalar,
    width: u32,
}

impl<'t> Product<'t> {
    /// Packs four numbers of a row into one element, if `packs` is true, the length of a row is a
    /// multiple of four, and the other tile has so many rows that the copy pays.
    fn new(
        b: &mut Writer<'_, '_>,
        [left, right]: [&'t Tile; 2],
        of: Scalar,
        packs: bool,
        span: Span,
    ) -> LoweringResult<Self> {
        let [rows, depth, cols] =
            [left.dims[0], right.dims[0], right.dims[1]].map(|dim| dim.extent);
        let fits = rows >= WIDTH
            && cols.is_multiple_of(WIDTH)
            && u64::from(depth) * u64::from(cols * of.bytes()) <= MAX_BYTES;
        if !packs || of != Scalar::F32 || !fits {
            return Ok(Self { left, right: Cow::Borrowed(right), of, width: 1 });
        }
        let element = b.module.types.vector(WIDTH as u16, of);
        let shape = TileShape { of: element, extents: vec![cols / WIDTH, depth] };
        let packed = Tile::new(b, "packed", &shape, span)?.transposed(span)?;
        repeat(b, depth, |b, row| {
            repeat(b, cols / WIDTH, |b, col| {
                let numbers = counted(b, col, WIDTH).into_iter().map(|col| {
                    let place = right.element_at(b, &[row, col]);
                    let number = b.load(place);
                    b.convert(number, of)
                });
                let numbers: Vec<Value> = numbers.collect();
                let four = b.construct(element, &numbers);
                let place = packed.element_at(b, &[row, col]);
                b.store(place, four);
                Ok(())
            })
        })?;
        Ok(Self { left, right: Cow::Owned(packed), of, width: WIDTH })
    }

    /// Number of elements in a row of the right tile.
    fn columns(&self) -> u32 {
        self.right.extents()[1]
    }

    /// Makes variables with the sums of products of rows of one tile and columns of the other. The
    /// sums of a block don't wait for each other, and each number is loaded once.
    fn sums(
        &self,
        b: &mut Writer<'_, '_>,
        at: &[Vec<Value>; 2],
        inner: u32,
    ) -> LoweringResult<Vec<PlaceId>> {
        let ty = if self.width == 1 { Type::scalar(self.of) } else { self.right.of };
        let sums: Vec<PlaceId> = pairs(at).map(|_| b.temporary("sum", ty)).collect();
        let zero = b.zero_of(ty);
        sums.iter().for_each(|&sum| b.store(sum, zero));
        repeat(b, inner, |b, step| {
            let mut numbers = [Vec::new(), Vec::new()];
            for &row in &at[0] {
                let place = self.left.element_at(b, &[row, step]);
                let number = b.load(place);
                let number = b.convert(number, self.of);
                numbers[0].push(if self.width == 1 { number } else { b.splat(ty, number) });
            }
            for &col in &at[1] {
                let place = self.right.element_at(b, &[step, col]);
                let number = b.load(place);
                numbers[1].push(if self.width == 1 { b.convert(number, self.of) } else { number });
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

/// The coordinates of a block's elements, by the block's number.
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

/// Pairs of rows and columns, where columns change fastest.
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
