//! Products of matrices.

use super::super::operand::{LoweringResult, Operand, fault};
use super::super::writer::Writer;
use super::call::TileCall;
use super::{Tile, TileShape, each, repeat};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{BinaryOp, Value};
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
    each(b, &[rows, cols], |b, position| {
        let coordinates = position.coordinates(b);
        let mut value = dot(b, [&left, &right], [coordinates[0], coordinates[1]], inner, of)?;
        if let Some(alpha) = alpha {
            value = b.mul(alpha, value);
        }
        let place = target.element(b, position);
        if !is_fresh {
            let mut old = b.load(place);
            if let Some(beta) = beta {
                // A factor of zero leaves out infinities, too: zero times those is no number.
                let (zero, scaled) = (b.zero(of), b.mul(beta, old));
                let is_zero = b.eq(beta, zero);
                old = b.select(is_zero, zero, scaled);
            }
            value = b.add(value, old);
        }
        b.store(place, value);
        Ok(())
    })?;
    Ok(if is_fresh { Operand::Tile(target) } else { Operand::nothing() })
}

/// The sum of products of a row of one tile and a column of another, in a float type.
fn dot<'a>(
    b: &mut Writer<'_, 'a>,
    [left, right]: [&Tile; 2],

    [row, col]: [Value; 2],
    inner: u32,
    of: Type,
) -> LoweringResult<Value> {
    let scalar = of.as_scalar().unwrap_or(Scalar::F32);
    let sum = b.temporary("sum", of);
    let zero = b.zero_of(of);
    b.store(sum, zero);
    repeat(b, inner, |b, at| {
        let left = left.element_at(b, &[row, at]);
        let right = right.element_at(b, &[at, col]);
        let [left, right] = [left, right].map(|place| {
            let value = b.load(place);
            b.convert(value, scalar)
        });
        let product = b.mul(left, right);
        let so_far = b.load(sum);
        let next = b.binary(BinaryOp::Add, so_far, product);
        b.store(sum, next);
        Ok(())
    })?;
    Ok(b.load(sum))
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
