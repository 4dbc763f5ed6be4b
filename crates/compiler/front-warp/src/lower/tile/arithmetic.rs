//! Operators on tiles, functions over their elements, sums and products.

use super::super::{FunctionLowering, LoweringResult, Operand, fault};
use super::call::TileCall;
use super::{Position, Tile};
use crate::constant::KnownValue;
use crate::syntax::Operator;
use gbxcule_ir::builtin::{self, Visibility};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::op::{BinaryOp, CompareOp, Value};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Type};
use std::rc::Rc;

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    /// `a + b`, `a * 2.0` of which one is a tile.
    pub(in super::super) fn tile_operator(
        &mut self,
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
        let extents = self.common_extents(&[left, right], span)?;
        let tile = self.made_tile(&extents, span, |lower, position| {
            let left = lower.element_operand(left, position);
            let right = lower.element_operand(right, position);
            let result = lower.binary(op, left, right, span)?;
            lower.value(result, span)
        })?;
        Ok(Operand::Tile(Rc::new(tile)))
    }

    /// `-t`
    pub(in super::super) fn tile_negated(
        &mut self,
        tile: &Tile,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let scalar = self.b.module.types.components(tile.of).map(|(scalar, _)| scalar);
        if scalar.is_none_or(|scalar| scalar == Scalar::Bool) {
            let found = self.shown_tile(&tile.shape());
            return fault(Code::TypeMismatch, span, format!("`-` isn't defined for `{found}`"));
        }
        let negated = self.made_tile(&tile.extents(), span, |lower, position| {
            let value = lower.loaded(tile, position);
            Ok(lower.b.neg(value))
        })?;
        Ok(Operand::Tile(Rc::new(negated)))
    }

    /// `t += u`, in place.
    pub(in super::super) fn tile_augmented(
        &mut self,
        op: Operator,
        tile: &Tile,
        right: &Operand<'a>,
        span: Span,
    ) -> LoweringResult<()> {
        let right = match right {
            // All of it is read before anything is written.
            Operand::Tile(other) if other.shares_storage(tile) => {
                Operand::Tile(Rc::new(self.fresh_copy(other, span)?))
            }
            right => right.clone(),
        };
        let own = Operand::Tile(Rc::new(tile.clone()));
        let extents = self.common_extents(&[&own, &right], span)?;
        self.each(&extents, |lower, position| {
            let left = lower.element_operand(&own, position);
            let right = lower.element_operand(&right, position);
            let result = lower.binary(op, left, right, span)?;
            let value = lower.value(result, span)?;
            if lower.ty(value) != tile.of {
                let (found, wanted) = (lower.shown(lower.ty(value)), lower.shown(tile.of));
                let message = format!("the tile has elements of `{wanted}`, found `{found}`");
                return fault(Code::TypeMismatch, span, message);
            }
            let place = lower.element(tile, position);
            lower.b.store(place, value);
            Ok(())
        })
    }

    /// An operand as it is at a position: an element if it is a tile.
    fn element_operand(&mut self, operand: &Operand<'a>, position: &mut Position) -> Operand<'a> {
        match operand {
            Operand::Tile(tile) => Operand::Value(self.loaded(tile, position)),
            operand => operand.clone(),
        }
    }

    /// The shape of all tiles among some operands.
    fn common_extents(&self, operands: &[&Operand<'a>], span: Span) -> LoweringResult<Vec<u32>> {
        let mut found: Option<Vec<u32>> = None;
        for operand in operands {
            let Operand::Tile(tile) = operand else { continue };
            let extents = tile.extents();
            match &found {
                Some(first) if *first != extents => {
                    let message =
                        format!("tiles of one shape are needed: {first:?} and {extents:?}");
                    return fault(Code::TypeMismatch, span, message);
                }
                _ => found = Some(extents),
            }
        }
        match found {
            Some(extents) => Ok(extents),
            None => fault(Code::TypeMismatch, span, "a tile is needed here"),
        }
    }

    /// Calls a function that is passed to `wp.tile_map` or `wp.tile_reduce`.
    fn apply(
        &mut self,
        f: &Operand<'a>,
        args: Vec<Operand<'a>>,
        span: Span,
    ) -> LoweringResult<Value> {
        let given = |args: Vec<Operand<'a>>| args.into_iter().map(|it| (None, it, None)).collect();
        let result = match f {
            Operand::KnownValue(KnownValue::Function(family)) => {
                let given: Vec<_> = given(args);
                self.call_user(*family, &given, span)?
            }
            Operand::KnownValue(KnownValue::Member(path)) => {
                let name = path.rsplit('.').next().unwrap_or(path);
                let row = builtin::find(name)
                    .filter(|&row| builtin::row(row).visibility == Visibility::Dialect);
                match (self.named_operator(name, &args, span), name, row) {
                    (Some(result), ..) => result?,
                    (None, "neg", _) if args.len() == 1 => {
                        let value = self.value(args[0].clone(), span)?;
                        Operand::Value(self.b.neg(value))
                    }
                    (None, _, Some(row)) => self.call_row(row, given(args), span)?,
                    _ => {
                        let message = format!("`{name}` can't be mapped over a tile");
                        return fault(Code::NotCallable, span, message);
                    }
                }
            }
            _ => return fault(Code::NotCallable, span, "a function is needed here"),
        };
        let value = self.value(result, span)?;
        if self.ty(value) == Type::UNIT {
            return fault(Code::NoValue, span, "this function gives no value");
        }
        Ok(value)
    }

    pub(super) fn tile_map(&mut self, call: &TileCall<'a>) -> LoweringResult<Tile> {
        let op = call.needed("op")?;
        let args: Vec<Operand<'a>> =
            call.rest.iter().map(|(_, operand, _)| operand.clone()).collect();
        let extents = self.common_extents(&args.iter().collect::<Vec<_>>(), call.span)?;
        self.made_tile(&extents, call.span, |lower, position| {
            let args = args.iter().map(|arg| lower.element_operand(arg, position)).collect();
            lower.apply(&op, args, call.span)
        })
    }

    /// `tile_sum`, `tile_min`, `tile_max`, `tile_reduce`, of all elements or along an axis: in the
    /// order of the elements.
    pub(super) fn tile_reduce(&mut self, call: &TileCall<'a>) -> LoweringResult<Tile> {
        let tile = call.tile("a")?;
        let op = match call.name {
            "tile_sum" => Operand::KnownValue(KnownValue::Member("warp.add".into())),
            "tile_min" => Operand::KnownValue(KnownValue::Member("warp.min".into())),
            "tile_max" => Operand::KnownValue(KnownValue::Member("warp.max".into())),
            _ => call.needed("op")?,
        };
        let Some(axis) = call.numbers("axis")? else {
            let inner: Vec<usize> = (0..tile.dims.len()).collect();
            return self.folded(&op, &tile, &inner, &[1], call.span);
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
        self.folded(&op, &tile, &[axis], &outer, call.span)
    }

    /// Folds the dimensions `inner`; the others are those of the result.
    fn folded(
        &mut self,
        op: &Operand<'a>,
        tile: &Rc<Tile>,
        inner: &[usize],
        outer: &[u32],
        span: Span,
    ) -> LoweringResult<Tile> {
        let inner_extents: Vec<u32> = inner.iter().map(|&dim| tile.dims[dim].extent).collect();
        let count: u32 = inner_extents.iter().product();
        self.made_tile(outer, span, |lower, position| {
            let around = lower.coordinates(position);
            let place = lower.temporary("folded", tile.of);
            let element = |lower: &mut Self, flat: Value| {
                let extents = inner_extents.clone();
                let mut within = Position { flat, extents, coordinates: None };
                let coordinates = if inner.len() == tile.dims.len() {
                    lower.coordinates(&mut within)
                } else {
                    let mut all = around.clone();
                    all.insert(inner[0], flat);
                    all
                };
                let place = if inner.len() == tile.dims.len() && tile.is_dense() {
                    lower.stored_at(tile, flat)
                } else {
                    lower.element_at(tile, &coordinates)
                };
                lower.b.load(place)
            };
            let zero = lower.b.i32(0);
            let first = element(lower, zero);
            lower.b.store(place, first);
            if count > 1 {
                let one = lower.b.i32(1);
                lower.repeat(count - 1, |lower, at| {
                    let at = lower.b.add(at, one);
                    let next = element(lower, at);
                    let so_far = lower.b.load(place);
                    let args = vec![Operand::Value(so_far), Operand::Value(next)];
                    let value = lower.apply(op, args, span)?;
                    if lower.ty(value) != tile.of {
                        let wanted = lower.shown(tile.of);
                        let message = format!("this function gives a `{wanted}`");
                        return fault(Code::TypeMismatch, span, message);
                    }
                    lower.b.store(place, value);
                    Ok(())
                })?;
            }
            Ok(lower.b.load(place))
        })
    }

    /// `tile_argmin`, `tile_argmax`: the first of the least or greatest elements.
    pub(super) fn tile_extremum(
        &mut self,
        call: &TileCall<'a>,
        greatest: bool,
    ) -> LoweringResult<Tile> {
        let tile = call.tile("a")?;
        if tile.of.as_scalar().is_none() {
            return fault(Code::TypeMismatch, call.span, "only numbers have an order");
        }
        let op = if greatest { CompareOp::Greater } else { CompareOp::Less };
        let extents = tile.extents();
        self.made_tile(&[1], call.span, |lower, _| {
            let best = lower.temporary("best", tile.of);
            let place = lower.temporary("place", Type::I32);
            let zero = lower.b.i32(0);
            lower.b.store(place, zero);
            lower.repeat(tile.count(), |lower, flat| {
                let mut position = Position { flat, extents: extents.clone(), coordinates: None };
                let value = lower.loaded(&tile, &mut position);
                let so_far = lower.b.load(best);
                let better = lower.b.compare(op, value, so_far);
                let zero = lower.b.i32(0);
                let first = lower.b.eq(flat, zero);
                let better = lower.b.or(first, better);
                lower.where_true(better, |lower| {
                    lower.b.store(best, value);
                    lower.b.store(place, flat);
                });
                Ok(())
            })?;
            Ok(lower.b.load(place))
        })
    }

    fn where_true(&mut self, condition: Value, body: impl FnOnce(&mut Self)) {
        self.b.open_block();
        body(self);
        let accept = self.b.close_block();
        let reject = self.b.empty_block();
        self.b.if_blocks(condition, accept, reject);
    }

    pub(super) fn tile_dot(&mut self, call: &TileCall<'a>) -> LoweringResult<Tile> {
        let (a, b) = (call.tile("a")?, call.tile("b")?);
        let product = match (a.of.as_scalar(), self.b.module.types.components(a.of)) {
            (Some(_), _) => "mul",
            (None, Some(_)) if matches!(self.shape(a.of), gbxcule_ir::Shape::Matrix { .. }) => {
                "ddot"
            }
            _ => "dot",
        };
        let product = Operand::KnownValue(KnownValue::Member(format!("warp.{product}").into()));
        let extents = self
            .common_extents(&[&Operand::Tile(a.clone()), &Operand::Tile(b.clone())], call.span)?;
        let sum = Operand::KnownValue(KnownValue::Member("warp.add".into()));
        let products = self.made_tile(&extents, call.span, |lower, position| {
            let args = [&a, &b].map(|tile| Operand::Value(lower.loaded(tile, position)));
            lower.apply(&product, args.to_vec(), call.span)
        })?;
        let inner: Vec<usize> = (0..extents.len()).collect();
        self.folded(&sum, &Rc::new(products), &inner, &[1], call.span)
    }

    /// `wp.tile_axpy(alpha, src, dest)`: `dest += alpha * src`.
    pub(super) fn tile_axpy(&mut self, call: &TileCall<'a>) -> LoweringResult<()> {
        let (from, to) = (call.tile("src")?, call.tile("dest")?);
        let alpha = call.needed("alpha")?;
        let span = call.span;
        let scaled = self.tile_operator(Operator::Mult, &alpha, &Operand::Tile(from), span)?;
        self.tile_augmented(Operator::Add, &to, &scaled, span)
    }

    /// `wp.tile_matmul(a, b)`, and `out = alpha * a @ b + beta * out`.
    pub(super) fn tile_matmul(&mut self, call: &TileCall<'a>) -> LoweringResult<Operand<'a>> {
        let span = call.span;
        let (a, b) = (call.tile("a")?, call.tile("b")?);
        let out = match call.get("out") {
            Some(Operand::Tile(out)) => Some(out.clone()),
            _ => None,
        };
        let ([rows, inner], [depth, cols]) = (&a.dims[..], &b.dims[..]) else {
            return fault(Code::WrongArguments, span, "tiles of two dimensions are multiplied");
        };
        let (rows, inner, depth, cols) = (rows.extent, inner.extent, depth.extent, cols.extent);
        let of = out.as_ref().map_or(a.of, |out| out.of);
        let fits = inner == depth
            && out.as_ref().is_none_or(|out| out.extents() == [rows, cols])
            && [a.of, b.of, of].iter().all(|ty| ty.as_scalar().is_some_and(Scalar::is_float));
        let Some(scalar) = of.as_scalar().filter(|_| fits) else {
            let shown = [&a, &b].map(|tile| self.shown_tile(&tile.shape()));
            let message = format!("a `{}` and a `{}` have no product here", shown[0], shown[1]);
            return fault(Code::TypeMismatch, span, message);
        };
        let alpha = self.factor(call, "alpha", scalar)?;
        let beta = match &out {
            Some(_) => self.factor(call, "beta", scalar)?,
            None => None,
        };
        let is_fresh = out.is_none();
        let target = match out {
            Some(out) => out,
            None => {
                let shape = super::TileShape { of, extents: vec![rows, cols] };
                Rc::new(self.new_tile("product", &shape, span)?)
            }
        };
        self.each(&[rows, cols], |lower, position| {
            let coordinates = lower.coordinates(position);
            let mut value = lower.dot(&a, &b, [coordinates[0], coordinates[1]], inner, of)?;
            if let Some(alpha) = alpha {
                value = lower.b.mul(alpha, value);
            }
            let place = lower.element(&target, position);
            if !is_fresh {
                let mut old = lower.b.load(place);
                if let Some(beta) = beta {
                    // A factor of zero leaves out infinities, too: zero times those is no number.
                    let (zero, scaled) = (lower.b.zero(of), lower.b.mul(beta, old));
                    let is_zero = lower.b.eq(beta, zero);
                    old = lower.b.select(is_zero, zero, scaled);
                }
                value = lower.b.add(value, old);
            }
            lower.b.store(place, value);
            Ok(())
        })?;
        Ok(if is_fresh { Operand::Tile(target) } else { self.no_value() })
    }

    /// The sum of products of a row of one tile and a column of another, in a float type.
    fn dot(
        &mut self,
        a: &Tile,
        b: &Tile,
        [row, col]: [Value; 2],
        inner: u32,
        of: Type,
    ) -> LoweringResult<Value> {
        let scalar = of.as_scalar().unwrap_or(Scalar::F32);
        let sum = self.temporary("sum", of);
        let zero = self.zero(of);
        self.b.store(sum, zero);
        self.repeat(inner, |lower, at| {
            let left = lower.element_at(a, &[row, at]);
            let right = lower.element_at(b, &[at, col]);
            let [left, right] = [left, right].map(|place| {
                let value = lower.b.load(place);
                lower.b.convert(value, scalar)
            });
            let product = lower.b.mul(left, right);
            let so_far = lower.b.load(sum);
            let next = lower.b.binary(BinaryOp::Add, so_far, product);
            lower.b.store(sum, next);
            Ok(())
        })?;
        Ok(self.b.load(sum))
    }

    /// A factor of a product; `None` is 1.
    fn factor(
        &mut self,
        call: &TileCall<'a>,
        name: &str,
        of: Scalar,
    ) -> LoweringResult<Option<Value>> {
        match call.get(name).cloned() {
            None => Ok(None),
            Some(Operand::KnownValue(known)) if known.as_f64() == Some(1.0) => Ok(None),
            Some(operand) => {
                let value = self.value(operand, call.span)?;
                if self.ty(value).as_scalar().is_none() {
                    return fault(Code::TypeMismatch, call.span, format!("`{name}` is a number"));
                }
                Ok(Some(self.b.convert(value, of)))
            }
        }
    }
}
