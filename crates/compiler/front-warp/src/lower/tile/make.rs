//! Tiles of numbers, and of the values of threads. A block has one thread, as NVIDIA Warp's blocks
//! on a CPU have.

use super::super::{FunctionLowering, LoweringResult, Operand, fault};
use super::call::TileCall;
use super::{Tile, TileShape, dense};
use crate::constant::KnownValue;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use std::rc::Rc;

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    /// The type that `dtype` says.
    pub(super) fn tile_dtype(
        &mut self,
        call: &TileCall<'a>,
        default: Option<Type>,
    ) -> LoweringResult<Type> {
        match (call.get("dtype").cloned(), call.expr("dtype"), default) {
            (None | Some(Operand::KnownValue(KnownValue::None)), _, Some(default)) => Ok(default),
            (Some(Operand::KnownValue(known)), Some(expr), _) => {
                let annotation = self.unit.as_type(&known, expr)?;
                self.session.concrete(self.b.module, &annotation, call.span)
            }
            _ => fault(Code::UnknownType, call.span, "`dtype` is a type"),
        }
    }

    /// A number in every component of a type.
    pub(super) fn tile_number(
        &mut self,
        ty: Type,
        number: f64,
        span: Span,
    ) -> LoweringResult<Value> {
        let Some((scalar, _)) = self.b.module.types.components(ty) else {
            let found = self.shown(ty);
            return fault(Code::TypeMismatch, span, format!("a `{found}` can't be a number"));
        };
        let part = self.b.number(Type::scalar(scalar), number);
        Ok(if ty.as_scalar().is_some() { part } else { self.b.splat(ty, part) })
    }

    /// A tile of one value.
    pub(super) fn tile_filled(
        &mut self,
        call: &TileCall<'a>,
        value: Value,
    ) -> LoweringResult<Tile> {
        let extents = call.extents("shape")?;
        self.made_tile(&extents, call.span, |_, _| Ok(value))
    }

    pub(super) fn tile_full(&mut self, call: &TileCall<'a>) -> LoweringResult<Tile> {
        let value = call.needed("value")?;
        let found = self.operand_type(&value).unwrap_or(Type::INVALID);
        let of = self.tile_dtype(call, Some(found))?;
        let value = match (&value, of.as_scalar()) {
            (Operand::KnownValue(known), Some(scalar)) if known.literal(scalar).is_some() => {
                let literal = known.literal(scalar).unwrap_or(Literal::from_bits(scalar, 0));
                self.b.literal(literal)
            }
            _ => self.value(value, call.span)?,
        };
        let value = match (self.ty(value).as_scalar(), of.as_scalar()) {
            (Some(from), Some(to)) if from != to => self.b.convert(value, to),
            _ => value,
        };
        if self.ty(value) != of {
            let (found, wanted) = (self.shown(self.ty(value)), self.shown(of));
            let message = format!("the tile has elements of `{wanted}`, found `{found}`");
            return fault(Code::TypeMismatch, call.span, message);
        }
        self.tile_filled(call, value)
    }

    /// `wp.tile_arange(start, stop, step, dtype=float)`
    pub(super) fn tile_arange(&mut self, call: &TileCall<'a>) -> LoweringResult<Tile> {
        let span = call.span;
        let of = self.tile_dtype(call, Some(Type::F32))?;
        let Some(scalar) = of.as_scalar().filter(|&scalar| scalar != Scalar::Bool) else {
            return fault(Code::TypeMismatch, span, "a range is of numbers");
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
                // The quotient as the type holds it, so that it is not a hair too large.
                let quotient = (stop.as_f64() - start.as_f64()) / step.as_f64();
                let quotient = Literal::float(scalar, quotient).as_f64();
                if quotient.is_finite() { quotient.ceil() as i128 } else { 0 }
            }
        };
        let Some(count) = u32::try_from(count).ok().filter(|&count| count > 0) else {
            return fault(Code::WrongArguments, span, "a range has at least one element");
        };
        self.made_tile(&[count], span, |lower, position| {
            let at = lower.b.convert(position.flat, scalar);
            let (start, step) = (lower.b.literal(start), lower.b.literal(step));
            let far = lower.b.mul(step, at);
            Ok(lower.b.add(start, far))
        })
    }

    /// `wp.tile(x)`: the values of the block's threads, the components of each in the leading
    /// dimensions.
    pub(super) fn tile_of_thread(&mut self, call: &TileCall<'a>) -> LoweringResult<Tile> {
        let value = self.value(call.needed("x")?, call.span)?;
        let ty = self.ty(value);
        let extents = match *self.shape(ty) {
            _ if call.flag("preserve_type", false)? => vec![1],
            Shape::Vector { len, .. } => vec![u32::from(len), 1],
            Shape::Quaternion(_) => vec![4, 1],
            Shape::Matrix { rows, cols, .. } => vec![u32::from(rows), u32::from(cols), 1],
            _ => vec![1],
        };
        let of = match self.b.module.types.components(ty) {
            Some((scalar, _)) if extents.len() > 1 => Type::scalar(scalar),
            _ => ty,
        };
        let parts = if extents.len() > 1 { self.b.parts(value) } else { vec![value] };
        let tile = self.new_tile("tile", &TileShape { of, extents: extents.clone() }, call.span)?;
        for (at, part) in parts.into_iter().enumerate() {
            let at = self.b.i32(at as i32);
            let place = self.b.at(tile.storage, at);
            self.b.store(place, part);
        }
        Ok(Tile { dims: dense(&extents), ..tile })
    }

    /// `wp.untile(t)`: the value of this thread.
    pub(super) fn untile(&mut self, call: &TileCall<'a>) -> LoweringResult<Operand<'a>> {
        let tile = call.tile("a")?;
        let extents = tile.extents();
        if extents.last() != Some(&1) {
            let message = "`wp.untile` takes a tile with one element for each thread of the block, \
                           and a block has one thread";
            return fault(Code::WrongArguments, call.span, message);
        }
        let mut parts = Vec::new();
        for at in 0..tile.count() {
            let at = self.b.i32(at as i32);
            let coordinates = match extents[..] {
                [_, cols, _] => {
                    let cols = self.b.i32(cols as i32);
                    let row = self.b.div(at, cols);
                    let col = self.b.binary(gbxcule_ir::BinaryOp::Remainder, at, cols);
                    vec![row, col]
                }
                _ => vec![at],
            };
            let place = self.element_at(&tile, &coordinates);
            parts.push(self.b.load(place));
        }
        let ty = match (tile.of.as_scalar(), &extents[..]) {
            (_, [_]) => return Ok(Operand::Value(parts[0])),
            (Some(of), &[len, _]) => self.b.module.types.vector(len as u16, of),
            (Some(of), &[rows, cols, _]) => {
                self.b.module.types.matrix(rows as u16, cols as u16, of)
            }
            _ => return fault(Code::TypeMismatch, call.span, "these elements make no value"),
        };
        Ok(Operand::Value(self.b.construct(ty, &parts)))
    }

    /// `wp.tile_extract(t, i, j)`
    pub(super) fn tile_extract(&mut self, call: &TileCall<'a>) -> LoweringResult<Operand<'a>> {
        let tile = call.tile("a")?;
        let mut indices = Vec::new();
        for (_, operand, _) in call.rest.clone() {
            indices.push(self.tile_coordinate(operand, call.span)?);
        }
        if indices.len() < tile.dims.len() {
            return fault(
                Code::WrongArguments,
                call.span,
                "one index for each dimension is needed",
            );
        }
        let inner = indices.split_off(tile.dims.len());
        let mut place = self.element_at(&tile, &indices);
        let ty = self.b.place_type(place);
        match (self.shape(ty).clone(), &inner[..]) {
            (_, []) => {}
            (Shape::Vector { .. } | Shape::Quaternion(_), &[at]) => place = self.b.at(place, at),
            (Shape::Matrix { .. }, &[row, col]) => {
                let row = self.b.at(place, row);
                place = self.b.at(row, col);
            }
            _ => return fault(Code::WrongArguments, call.span, "too many indices"),
        }
        Ok(Operand::Value(self.b.load(place)))
    }

    /// `wp.tile_astype(t, dtype)`
    pub(super) fn tile_astype(&mut self, call: &TileCall<'a>) -> LoweringResult<Tile> {
        let tile = call.tile("t")?;
        let to = self.tile_dtype(call, None)?;
        let (Some(scalar), Some(_)) = (to.as_scalar(), tile.of.as_scalar()) else {
            return fault(Code::TypeMismatch, call.span, "numbers become numbers here");
        };
        self.made_tile(&tile.extents(), call.span, |lower, position| {
            let value = lower.loaded(&tile, position);
            Ok(lower.b.convert(value, scalar))
        })
    }

    /// A tile that a function gave: its content is a value.
    pub(in super::super) fn tile_of_result(
        &mut self,
        value: Value,
        shape: &TileShape,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let tile = self.new_tile("tile", shape, span)?;
        self.b.store(tile.storage, value);
        Ok(Operand::Tile(Rc::new(tile)))
    }
}
