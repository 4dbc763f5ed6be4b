//! Tiles of numbers, and of the values of threads. A block has one thread, as NVIDIA Warp's blocks
//! on a CPU have.

use super::super::operand::{LoweringResult, Operand, fault};
use super::super::writer::Writer;
use super::call::TileCall;
use super::view::coordinate;
use super::{Tile, TileShape, check_element, dense, made_tile};
use gbxcule_ir::builtin;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{Arg, Value};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use gbxcule_warp_types::type_expr;
use gbxcule_warp_types::value::KnownValue;

/// The type that the argument `dtype` names.
pub(super) fn dtype<'a>(
    b: &mut Writer<'_, 'a>,
    call: &TileCall<'a>,
    default: Option<Type>,
) -> LoweringResult<Type> {
    match (call.get("dtype").cloned(), call.expr("dtype"), default) {
        (None | Some(Operand::KnownValue(KnownValue::None)), _, Some(default)) => Ok(default),
        (Some(Operand::KnownValue(known)), Some(expr), _) => {
            let annotation = type_expr::as_type(b.unit(), &known, expr)?;
            b.concrete(&annotation, call.span)
        }
        _ => fault(Code::UnknownType, call.span, "`dtype` is a type"),
    }
}

/// A number in every component of a type.
pub(super) fn number<'a>(
    b: &mut Writer<'_, 'a>,
    ty: Type,
    number: f64,
    span: Span,
) -> LoweringResult<Value> {
    let Some((scalar, _)) = b.module.types.components(ty) else {
        let found = b.shown(ty);
        return fault(Code::TypeMismatch, span, format!("a `{found}` can't be a number"));
    };
    let part = b.number(Type::scalar(scalar), number);
    Ok(if ty.as_scalar().is_some() { part } else { b.splat(ty, part) })
}

/// A tile of one value.
pub(super) fn filled<'a>(
    b: &mut Writer<'_, 'a>,
    call: &TileCall<'a>,
    value: Value,
) -> LoweringResult<Tile> {
    let extents = call.extents("shape")?;
    made_tile(b, &extents, call.span, |_, _| Ok(value))
}

pub(super) fn full<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Tile> {
    let value = call.needed("value")?;
    let found = b.operand_type(&value).unwrap_or(Type::INVALID);
    let of = dtype(b, call, Some(found))?;
    let value = match (&value, of.as_scalar()) {
        (Operand::KnownValue(known), Some(scalar)) if known.literal(scalar).is_some() => {
            let literal = known.literal(scalar).unwrap_or(Literal::from_bits(scalar, 0));
            b.literal(literal)
        }
        _ => b.value(value, call.span)?,
    };
    let value = match (b.ty(value).as_scalar(), of.as_scalar()) {
        (Some(from), Some(to)) if from != to => b.convert(value, to),
        _ => value,
    };
    check_element(b, b.ty(value), of, call.span)?;
    filled(b, call, value)
}

/// `wp.tile_randi(shape, rng, min, max)` and `wp.tile_randf(..)`: numbers that are drawn one after
/// the other, from a state that the first thread of a block makes of `rng`.
pub(super) fn random<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Tile> {
    let (name, of) = match call.name {
        "tile_randi" => ("randi", Scalar::I32),
        _ => ("randf", Scalar::F32),
    };
    let extents = call.extents("shape")?;
    let rng = b.value(call.needed("rng")?, call.span)?;
    if b.ty(rng) != Type::U32 {
        let found = b.shown(b.ty(rng));
        let message = format!("`rng` is a state by `wp.rand_init`, found `{found}`");
        return fault(Code::TypeMismatch, call.span, message);
    }
    let (init, drawn) = (builtin::find("rand_init"), builtin::find(name));
    let seed = b.convert(rng, Scalar::I32);
    let state = init.and_then(|init| b.builtin(init, &[Arg::Value(seed)]));
    let (Some(state), Some(drawn)) = (state, drawn) else {
        unreachable!("the table has rows of random numbers")
    };
    let mut args = vec![Arg::Place(b.stored("state", state))];
    args.extend(range(call, of)?.into_iter().flatten().map(|bound| Arg::Value(b.literal(bound))));
    made_tile(b, &extents, call.span, |b, _| {
        let number = b.builtin(drawn, &args);
        Ok(number.unwrap_or_else(|| unreachable!("`wp.{name}` takes a state and two bounds")))
    })
}

/// The bounds `min` and `max` of random numbers, if they are given.
fn range(call: &TileCall<'_>, of: Scalar) -> LoweringResult<Option<[Literal; 2]>> {
    let given = ["min", "max"].map(|name| call.get(name));
    if given.iter().all(Option::is_none) {
        return Ok(None);
    }
    let [min, max] = given.map(|bound| match bound {
        Some(Operand::KnownValue(known)) => known.literal(of),
        _ => None,
    });
    match min.zip(max) {
        Some((min, max)) if min.as_f64() < max.as_f64() => Ok(Some([min, max])),
        _ => {
            let message = format!(
                "`min` and `max` are numbers of `{}`, known when compiled, `min` below `max`",
                of.name()
            );
            fault(Code::NeedsConstant, call.span, message)
        }
    }
}

/// `wp.tile_arange(start, stop, step, dtype=float)`
pub(super) fn arange<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Tile> {
    let span = call.span;
    let of = dtype(b, call, Some(Type::F32))?;
    let Some(scalar) = of.as_scalar().filter(|&scalar| scalar != Scalar::Bool) else {
        return fault(Code::TypeMismatch, span, "a range consists of numbers");
    };
    let mut bounds = Vec::new();
    for (_, operand, _) in &call.rest {
        let literal = match operand {
            Operand::KnownValue(known) => known.literal(scalar),
            _ => None,
        };
        match literal {
            Some(literal) => bounds.push(literal),
            None => {
                let found = scalar.name();
                let message = format!("a range has bounds of `{found}`, known when compiled");
                return fault(Code::NeedsConstant, span, message);
            }
        }
    }
    let (zero, one) = (Literal::int(scalar, 0), Literal::int(scalar, 1));
    let [start, stop, step] = match bounds[..] {
        [stop] => [zero, stop, one],
        [start, stop] => [start, stop, one],
        [start, stop, step] => [start, stop, step],
        _ => return fault(Code::WrongArguments, span, "`wp.tile_arange` takes 1 to 3 bounds"),
    };
    let count = match (start.as_int(), stop.as_int(), step.as_int()) {
        (Some(start), Some(stop), Some(step)) if step != 0 => {
            (stop - start + step - step.signum()) / step
        }
        _ => {
            // The quotient is rounded to the type, so that an error of `f64` doesn't make it
            // greater than the true quotient.
            let quotient = (stop.as_f64() - start.as_f64()) / step.as_f64();
            let quotient = Literal::float(scalar, quotient).as_f64();
            if quotient.is_finite() { quotient.ceil() as i128 } else { 0 }
        }
    };
    let Some(count) = u32::try_from(count).ok().filter(|&count| count > 0) else {
        return fault(Code::WrongArguments, span, "a range has at least one element");
    };
    made_tile(b, &[count], span, |b, position| {
        let at = b.convert(position.flat, scalar);
        let (start, step) = (b.literal(start), b.literal(step));
        let far = b.mul(step, at);
        Ok(b.add(start, far))
    })
}

/// `wp.tile(x)`: the values of the block's threads. The components of each value lie in the
/// leading dimensions.
pub(super) fn of_thread<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Tile> {
    let value = b.value(call.needed("x")?, call.span)?;
    let ty = b.ty(value);
    let extents = match *b.shape(ty) {
        _ if call.flag("preserve_type", false)? => vec![1],
        Shape::Vector { len, .. } => vec![u32::from(len), 1],
        Shape::Quaternion(_) => vec![4, 1],
        Shape::Matrix { rows, cols, .. } => vec![u32::from(rows), u32::from(cols), 1],
        _ => vec![1],
    };
    let of = match b.module.types.components(ty) {
        Some((scalar, _)) if extents.len() > 1 => Type::scalar(scalar),
        _ => ty,
    };
    let parts = if extents.len() > 1 { b.parts(value) } else { vec![value] };
    let tile = Tile::new(b, "tile", &TileShape { of, extents: extents.clone() }, call.span)?;
    for (at, part) in parts.into_iter().enumerate() {
        let at = b.i32(at as i32);
        let place = b.at(tile.storage, at);
        b.store(place, part);
    }
    Ok(Tile { dims: dense(&extents), ..tile })
}

/// `wp.untile(t)`: the value of this thread.
pub(super) fn untile<'a>(
    b: &mut Writer<'_, 'a>,
    call: &TileCall<'a>,
) -> LoweringResult<Operand<'a>> {
    let tile = call.tile("a")?;
    let extents = tile.extents();
    if extents.last() != Some(&1) {
        let message = "`wp.untile` takes a tile with one element for each thread of the block, \
                       and a block has one thread";
        return fault(Code::WrongArguments, call.span, message);
    }
    let mut parts = Vec::new();
    for at in 0..tile.count() {
        let at = b.i32(at as i32);
        let coordinates = match extents[..] {
            [_, cols, _] => {
                let cols = b.i32(cols as i32);
                let row = b.div(at, cols);
                let col = b.binary(gbxcule_ir::BinaryOp::Remainder, at, cols);
                vec![row, col]
            }
            _ => vec![at],
        };
        let place = tile.element_at(b, &coordinates);
        parts.push(b.load(place));
    }
    let ty = match (tile.of.as_scalar(), &extents[..]) {
        (_, [_]) => return Ok(Operand::Value(parts[0])),
        (Some(of), &[len, _]) => b.module.types.vector(len as u16, of),
        (Some(of), &[rows, cols, _]) => b.module.types.matrix(rows as u16, cols as u16, of),
        _ => return fault(Code::TypeMismatch, call.span, "these elements can't form a value"),
    };
    Ok(Operand::Value(b.construct(ty, &parts)))
}

/// `wp.tile_extract(t, i, j)`
pub(super) fn extract<'a>(
    b: &mut Writer<'_, 'a>,
    call: &TileCall<'a>,
) -> LoweringResult<Operand<'a>> {
    let tile = call.tile("a")?;
    let mut indices = Vec::new();
    for (_, operand, _) in call.rest.clone() {
        indices.push(coordinate(b, operand, call.span)?);
    }
    if indices.len() < tile.dims.len() {
        return fault(Code::WrongArguments, call.span, "one index for each dimension is needed");
    }
    let inner = indices.split_off(tile.dims.len());
    let mut place = tile.element_at(b, &indices);
    let ty = b.place_type(place);
    match (b.shape(ty).clone(), &inner[..]) {
        (_, []) => {}
        (Shape::Vector { .. } | Shape::Quaternion(_), &[at]) => place = b.at(place, at),
        (Shape::Matrix { .. }, &[row, col]) => {
            let row = b.at(place, row);
            place = b.at(row, col);
        }
        _ => return fault(Code::WrongArguments, call.span, "too many indices"),
    }
    Ok(Operand::Value(b.load(place)))
}

/// `wp.tile_astype(t, dtype)`
pub(super) fn astype<'a>(b: &mut Writer<'_, 'a>, call: &TileCall<'a>) -> LoweringResult<Tile> {
    let tile = call.tile("t")?;
    let to = dtype(b, call, None)?;
    let (Some(scalar), Some(_)) = (to.as_scalar(), tile.of.as_scalar()) else {
        return fault(Code::TypeMismatch, call.span, "only numbers can be converted to numbers");
    };
    made_tile(b, &tile.extents(), call.span, |b, position| {
        let value = tile.loaded(b, position);
        Ok(b.convert(value, scalar))
    })
}
