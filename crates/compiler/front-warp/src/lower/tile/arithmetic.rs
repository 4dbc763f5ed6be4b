//! Operators on tiles, functions over their elements, sums and products.

use super::super::Expressions;
use super::super::operand::{LoweringResult, Operand, fault};
use super::super::operator::named_operator;
use super::super::writer::Writer;
use super::call::TileCall;
use super::{Position, Tile, check_element, each, made_tile, repeat};
use gbxcule_ir::builtin::{self, Visibility};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{CompareOp, Value};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Type};
use gbxcule_python_names::syntax::Operator;
use gbxcule_warp_types::value::{KnownValue, WarpValue};
use std::rc::Rc;

/// `a + b`, `a * 2.0`, where one operand is a tile.
pub(in crate::lower) fn operator<'a>(
    cx: &mut Expressions<'_, 'a>,
    op: Operator,
    left: &Operand<'a>,
    right: &Operand<'a>,
    span: Span,
) -> LoweringResult<Operand<'a>> {
    let one_alone = !matches!((left, right), (Operand::Tile(_), Operand::Tile(_)));
    if one_alone && !matches!(op, Operator::Mult | Operator::Div) {
        let message = format!("`{}` takes two tiles of one shape", op.as_str());
        return fault(Code::TypeMismatch, span, message);
    }
    let extents = common_extents(&[left, right], span)?;
    let tile = made_tile(cx, &extents, span, |cx, position| {
        let left = element_operand(&mut cx.b, left, position);
        let right = element_operand(&mut cx.b, right, position);
        let result = cx.binary(op, left, right, span)?;
        cx.b.value(result, span)
    })?;
    Ok(tile.into())
}

/// `-t`
pub(in crate::lower) fn negated<'a>(
    b: &mut Writer<'_, 'a>,
    tile: &Tile,
    span: Span,
) -> LoweringResult<Operand<'a>> {
    let scalar = b.scalar_in(tile.of);
    if scalar.is_none_or(|scalar| scalar == Scalar::Bool) {
        let found = tile.shape().shown(b);
        return fault(Code::TypeMismatch, span, format!("`-` isn't defined for `{found}`"));
    }
    let negated = made_tile(b, &tile.extents(), span, |b, position| {
        let value = tile.loaded(b, position);
        Ok(b.neg(value))
    })?;
    Ok(negated.into())
}

/// `t += u`, in place.
pub(in crate::lower) fn augmented<'a>(
    cx: &mut Expressions<'_, 'a>,
    op: Operator,
    tile: &Tile,
    right: &Operand<'a>,
    span: Span,
) -> LoweringResult<()> {
    let right = match right {
        // If both share storage, all elements are read before the first one is written.
        Operand::Tile(other) if other.shares_storage(tile) => {
            Operand::Tile(Rc::new(other.fresh_copy(&mut cx.b, span)?))
        }
        right => right.clone(),
    };
    let target = Operand::Tile(Rc::new(tile.clone()));
    let extents = common_extents(&[&target, &right], span)?;
    each(cx, &extents, |cx, position| {
        let left = element_operand(&mut cx.b, &target, position);
        let right = element_operand(&mut cx.b, &right, position);
        let result = cx.binary(op, left, right, span)?;
        let value = cx.b.value(result, span)?;
        check_element(&cx.b, cx.b.ty(value), tile.of, span)?;
        let place = tile.element(&mut cx.b, position);
        cx.b.store(place, value);
        Ok(())
    })
}

/// Returns an operand at a position: an element if it is a tile.
fn element_operand<'a>(
    b: &mut Writer<'_, 'a>,
    operand: &Operand<'a>,
    position: &mut Position,
) -> Operand<'a> {
    match operand {
        Operand::Tile(tile) => Operand::Value(tile.loaded(b, position)),
        operand => operand.clone(),
    }
}

/// The shape of all tiles among some operands.
fn common_extents(operands: &[&Operand<'_>], span: Span) -> LoweringResult<Vec<u32>> {
    let mut common: Option<Vec<u32>> = None;
    for operand in operands {
        let Operand::Tile(tile) = operand else { continue };
        let extents = tile.extents();
        match &common {
            Some(first) if *first != extents => {
                let message = format!("tiles of one shape are needed: {first:?} and {extents:?}");
                return fault(Code::TypeMismatch, span, message);
            }
            _ => common = Some(extents),
        }
    }
    match common {
        Some(extents) => Ok(extents),
        None => fault(Code::TypeMismatch, span, "a tile is needed here"),
    }
}

/// Calls a function that is passed to `wp.tile_map` or `wp.tile_reduce`.
fn apply<'a>(
    cx: &mut Expressions<'_, 'a>,
    f: &Operand<'a>,
    args: Vec<Operand<'a>>,
    span: Span,
) -> LoweringResult<Value> {
    let given = |args: Vec<Operand<'a>>| args.into_iter().map(|it| (None, it, None)).collect();
    let result = match f {
        Operand::KnownValue(KnownValue::Dialect(WarpValue::Function(family))) => {
            let given: Vec<_> = given(args);
            cx.call_user(*family, &given, span)?
        }
        Operand::KnownValue(KnownValue::Member(path)) => {
            let name = path.rsplit('.').next().unwrap_or(path);
            let row = builtin::find(name)
                .filter(|&row| builtin::row(row).visibility == Visibility::Dialect);
            match (named_operator(&mut cx.b, name, &args, span), name, row) {
                (Some(result), ..) => result?,
                (None, "neg", _) if args.len() == 1 => {
                    let value = cx.b.value(args[0].clone(), span)?;
                    Operand::Value(cx.b.neg(value))
                }
                (None, _, Some(row)) => cx.call_row(row, given(args), span)?,
                _ => {
                    let message = format!("`{name}` can't be mapped over a tile");
                    return fault(Code::NotCallable, span, message);
                }
            }
        }
        _ => return fault(Code::NotCallable, span, "a function is needed here"),
    };
    let value = cx.b.value(result, span)?;
    if cx.b.ty(value) == Type::UNIT {
        return fault(Code::NoValue, span, "this function gives no value");
    }
    Ok(value)
}

pub(super) fn map<'a>(cx: &mut Expressions<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Tile> {
    let op = call.needed("op")?;
    let args: Vec<Operand<'a>> = call.rest.iter().map(|(_, operand, _)| operand.clone()).collect();
    let extents = common_extents(&args.iter().collect::<Vec<_>>(), call.span)?;
    made_tile(cx, &extents, call.span, |cx, position| {
        let args = args.iter().map(|arg| element_operand(&mut cx.b, arg, position)).collect();
        apply(cx, &op, args, call.span)
    })
}

/// `tile_sum`, `tile_min`, `tile_max`, `tile_reduce`, of all elements or along an axis, in the
/// order of the elements.
pub(super) fn reduce<'a>(
    cx: &mut Expressions<'_, 'a>,
    call: &TileCall<'a>,
) -> LoweringResult<Tile> {
    let tile = call.tile("a")?;
    let op = match call.name {
        "tile_sum" => Operand::KnownValue(KnownValue::Member("warp.add".into())),
        "tile_min" => Operand::KnownValue(KnownValue::Member("warp.min".into())),
        "tile_max" => Operand::KnownValue(KnownValue::Member("warp.max".into())),
        _ => call.needed("op")?,
    };
    let Some(axis) = call.numbers("axis")? else {
        let inner: Vec<usize> = (0..tile.dims.len()).collect();
        return folded(cx, &op, &tile, &inner, &[1], call.span);
    };
    let Some(axis) = axis.first().and_then(|&axis| usize::try_from(axis).ok()) else {
        return fault(Code::WrongArguments, call.span, "an axis is a number from 0 on");
    };
    if axis >= tile.dims.len() {
        let message = format!("axis {axis} of a tile of {} dimensions", tile.dims.len());
        return fault(Code::IndexOutOfRange, call.span, message);
    }
    let mut outer = tile.extents();
    outer.remove(axis);
    let outer = if outer.is_empty() { vec![1] } else { outer };
    folded(cx, &op, &tile, &[axis], &outer, call.span)
}

/// Folds the dimensions `inner`; the others remain in the result.
fn folded<'a>(
    cx: &mut Expressions<'_, 'a>,
    op: &Operand<'a>,
    tile: &Rc<Tile>,
    inner: &[usize],
    outer: &[u32],
    span: Span,
) -> LoweringResult<Tile> {
    let inner_extents: Vec<u32> = inner.iter().map(|&dim| tile.dims[dim].extent).collect();
    let count: u32 = inner_extents.iter().product();
    made_tile(cx, outer, span, |cx, position| {
        let around = position.coordinates(&mut cx.b);
        let place = cx.b.temporary("folded", tile.of);
        let element = |cx: &mut Expressions<'_, 'a>, flat: Value| {
            let extents = inner_extents.clone();
            let mut within = Position { flat, extents, coordinates: None };
            let coordinates = if inner.len() == tile.dims.len() {
                within.coordinates(&mut cx.b)
            } else {
                let mut all = around.clone();
                all.insert(inner[0], flat);
                all
            };
            let place = if inner.len() == tile.dims.len() && tile.is_dense() {
                tile.stored_at(&mut cx.b, flat)
            } else {
                tile.element_at(&mut cx.b, &coordinates)
            };
            cx.b.load(place)
        };
        let zero = cx.b.i32(0);
        let first = element(cx, zero);
        cx.b.store(place, first);
        if count > 1 {
            let one = cx.b.i32(1);
            repeat(cx, count - 1, |cx, at| {
                let at = cx.b.add(at, one);
                let next = element(cx, at);
                let so_far = cx.b.load(place);
                let args = vec![Operand::Value(so_far), Operand::Value(next)];
                let value = apply(cx, op, args, span)?;
                if cx.b.ty(value) != tile.of {
                    let wanted = cx.b.shown(tile.of);
                    let message = format!("this function gives a `{wanted}`");
                    return fault(Code::TypeMismatch, span, message);
                }
                cx.b.store(place, value);
                Ok(())
            })?;
        }
        Ok(cx.b.load(place))
    })
}

/// `tile_argmin`, `tile_argmax`: of equal elements the first one wins.
pub(super) fn extremum<'a>(
    b: &mut Writer<'_, 'a>,
    call: &TileCall<'a>,
    greatest: bool,
) -> LoweringResult<Tile> {
    let tile = call.tile("a")?;
    if tile.of.as_scalar().is_none() {
        return fault(Code::TypeMismatch, call.span, "only numbers have an order");
    }
    let op = if greatest { CompareOp::Greater } else { CompareOp::Less };
    let extents = tile.extents();
    made_tile(b, &[1], call.span, |b, _| {
        let best = b.temporary("best", tile.of);
        let place = b.temporary("place", Type::I32);
        let zero = b.i32(0);
        b.store(place, zero);
        repeat(b, tile.count(), |b, flat| {
            let mut position = Position::new(flat, &extents);
            let value = tile.loaded(b, &mut position);
            let so_far = b.load(best);
            let better = b.compare(op, value, so_far);
            let zero = b.i32(0);
            let first = b.eq(flat, zero);
            let better = b.or(first, better);
            b.if_then(better, |b| {
                b.store(best, value);
                b.store(place, flat);
            });
            Ok(())
        })?;
        Ok(b.load(place))
    })
}

pub(super) fn dot<'a>(cx: &mut Expressions<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Tile> {
    let (a, b) = (call.tile("a")?, call.tile("b")?);
    let product = match (a.of.as_scalar(), cx.b.module.types.components(a.of)) {
        (Some(_), _) => "mul",
        (None, Some(_)) if matches!(cx.b.shape(a.of), gbxcule_ir::Shape::Matrix { .. }) => "ddot",
        _ => "dot",
    };
    let product = Operand::KnownValue(KnownValue::Member(format!("warp.{product}").into()));
    let extents =
        common_extents(&[&Operand::Tile(a.clone()), &Operand::Tile(b.clone())], call.span)?;
    let sum = Operand::KnownValue(KnownValue::Member("warp.add".into()));
    let products = made_tile(cx, &extents, call.span, |cx, position| {
        let args = [&a, &b].map(|tile| Operand::Value(tile.loaded(&mut cx.b, position)));
        apply(cx, &product, args.to_vec(), call.span)
    })?;
    let inner: Vec<usize> = (0..extents.len()).collect();
    folded(cx, &sum, &Rc::new(products), &inner, &[1], call.span)
}

/// `wp.tile_axpy(alpha, src, dest)`: `dest += alpha * src`.
pub(super) fn axpy<'a>(cx: &mut Expressions<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<()> {
    let (from, to) = (call.tile("src")?, call.tile("dest")?);
    let alpha = call.needed("alpha")?;
    let span = call.span;
    let scaled = operator(cx, Operator::Mult, &alpha, &Operand::Tile(from), span)?;
    augmented(cx, Operator::Add, &to, &scaled, span)
}
