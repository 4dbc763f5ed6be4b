//! Assignments.

use super::access::Access;
use super::{Binding, FunctionLowering, LoweringResult, Operand, fault, usage};
use crate::constant::KnownValue;
use crate::syntax::{self, Expr, StmtAssign, StmtAugAssign};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::{AtomicOp, Op, Value};
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape, Type};

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    pub(super) fn assign(&mut self, assign: &'a StmtAssign) -> LoweringResult<()> {
        let [target] = &assign.targets[..] else {
            let span = self.unit.span(assign);
            return fault(
                Code::UnsupportedSyntax,
                span,
                "one value can't be assigned to several targets at once",
            );
        };
        if let Expr::Tuple(targets) = target {
            return self.unpack(&targets.elts, &assign.value, self.span(target));
        }
        let mut operand = self.expr(&assign.value)?;
        if let (Expr::Name(_), Operand::Tile(tile)) = (&*assign.value, &operand) {
            // As in NVIDIA Warp, another name for a tile is another tile.
            let copy = self.fresh_copy(tile, self.span(&assign.value))?;
            operand = Operand::Tile(copy.into());
        }
        if let Expr::Name(name) = target {
            self.note_copy(name.id.as_str(), !is_constant(&assign.value));
        }
        self.store_to(target, operand, self.span(&assign.value))
    }

    /// Notes whether a name that is bound now is a copy.
    fn note_copy(&mut self, name: &'a str, is_copy: bool) {
        if is_copy {
            self.copies.insert(name);
        } else {
            self.copies.remove(name);
        }
    }

    fn store_to(
        &mut self,
        target: &'a Expr,
        operand: Operand<'a>,
        value_span: Span,
    ) -> LoweringResult<()> {
        match target {
            Expr::Name(name) => self.bind(name.id.as_str(), operand, self.span(target)),
            Expr::Subscript(_) if matches!(operand, Operand::Tile(_)) => {
                let (Access::Operand(Operand::Tile(part)), Operand::Tile(tile)) =
                    (self.access(target)?, operand)
                else {
                    return fault(
                        Code::TypeMismatch,
                        value_span,
                        "a tile is stored in a tile only",
                    );
                };
                self.assign_tile(&part, &tile, self.span(target))
            }
            Expr::Subscript(_) | Expr::Attribute(_) => {
                let value = self.value(operand, value_span)?;
                self.no_local_array(value, value_span)?;
                if self.is_slice(target) {
                    return self.store_slice(target, value);
                }
                let place = self.target_place(target)?;
                self.store_value(place, value, target)
            }
            _ => fault(Code::UnsupportedSyntax, self.span(target), "this can't be assigned to"),
        }
    }

    fn unpack(&mut self, targets: &'a [Expr], value: &'a Expr, span: Span) -> LoweringResult<()> {
        let parts: Vec<Operand<'a>> = match value {
            Expr::Tuple(tuple) => {
                let parts: LoweringResult<Vec<_>> =
                    tuple.elts.iter().map(|part| self.expr(part)).collect();
                parts?
            }
            Expr::Call(call) if self.is_tid(call) => self.launch_indices(targets.len(), span)?,
            _ => {
                let operand = self.expr(value)?;
                self.parts(operand, targets.len(), self.span(value))?
            }
        };
        if parts.len() != targets.len() {
            let (wanted, found) = (targets.len(), parts.len());
            return fault(Code::WrongArguments, span, format!("{found} values for {wanted} names"));
        }
        for (target, part) in targets.iter().zip(parts) {
            match target {
                Expr::Name(name) => self.bind(name.id.as_str(), part, self.span(target))?,
                _ => {
                    return fault(
                        Code::UnsupportedSyntax,
                        self.span(target),
                        "several values are assigned to names only",
                    );
                }
            }
        }
        Ok(())
    }

    /// The parts of something that is unpacked.
    fn parts(
        &mut self,
        operand: Operand<'a>,
        wanted: usize,
        span: Span,
    ) -> LoweringResult<Vec<Operand<'a>>> {
        let found = match operand {
            Operand::Tuple(_)
            | Operand::Extents(_)
            | Operand::KnownValue(KnownValue::Sequence(_)) => {
                return self.spread(operand, span);
            }
            Operand::Value(value) => match self.shape(self.ty(value)) {
                Shape::Tuple(_) | Shape::Vector { .. } | Shape::Quaternion(_) => {
                    return self.spread(operand, span);
                }
                _ => format!("a `{}`", self.shown(self.ty(value))),
            },
            Operand::KnownValue(_) => "this".to_owned(),
            Operand::Tile(tile) => format!("a `{}`", self.shown_tile(&tile.shape())),
        };
        fault(Code::TypeMismatch, span, format!("{found} isn't {wanted} values"))
    }

    /// Binds a name, and keeps its value in a variable if other bindings may meet it.
    pub(super) fn bind(
        &mut self,
        name: &'a str,
        operand: Operand<'a>,
        span: Span,
    ) -> LoweringResult<()> {
        let operand = self.settled_operand(operand, span)?;
        if let Some(&Binding::Param(at)) = self.names.get(name)
            && self.is_reference(at)
        {
            let value = self.value(operand, span)?;
            let place = self.b.param_place(at);
            return self.store_typed(place, value, span, &format!("`{name}`"));
        }
        self.check_tile_name(name, &operand, span)?;
        if let Operand::Tile(tile) = operand {
            return self.bind_tile(name, tile, span);
        }
        let found = self.operand_type(&operand);
        if let (Some(found), Some(bound)) = (found, self.bound_type(name))
            && found != bound
            && !(self.is_handle(found) && self.is_handle(bound))
        {
            let (found, bound) = (self.shown(found), self.shown(bound));
            return fault(
                Code::TypeMismatch,
                span,
                format!("`{name}` is a `{bound}` and can't become a `{found}`"),
            );
        }
        let binding = match operand {
            Operand::KnownValue(known) if found.is_none() => {
                if let Some(Binding::KnownValue(old, _)) = self.names.get(name)
                    && *old != known
                    && found.is_none()
                    && matches!(old, KnownValue::Function(..))
                {
                    return fault(
                        Code::FunctionRebound,
                        span,
                        format!("`{name}` stands for one function only"),
                    );
                }
                Binding::KnownValue(known, None)
            }
            Operand::KnownValue(known) => self.known_binding(name, known, span)?,
            Operand::Value(value) => self.value_binding(name, value, span)?,
            Operand::Tuple(parts) => Binding::Tuple(parts),
            Operand::Extents(array) => Binding::Extents(array),
            Operand::Tile(tile) => Binding::Tile(tile),
        };
        self.names.insert(name, binding);
        Ok(())
    }

    /// The number of a module that isn't there must be known before a name is bound to it.
    fn settled_operand(&self, operand: Operand<'a>, span: Span) -> LoweringResult<Operand<'a>> {
        let Operand::KnownValue(known @ KnownValue::Member(_)) = operand else {
            return Ok(operand);
        };
        match self.unit.settled(known) {
            KnownValue::Member(path) if self.unit.files.looked_for(&path).is_some() => {
                Err(self.unit.unknown_module(&path, span).into())
            }
            settled => Ok(Operand::KnownValue(settled)),
        }
    }

    fn known_binding(
        &mut self,
        name: &'a str,
        known: KnownValue<'a>,
        span: Span,
    ) -> LoweringResult<Binding<'a>> {
        // A parameter that is bound anew has a variable, too.
        if !self.usage.is_rebound(name) && !self.locals.contains_key(name) {
            return Ok(Binding::KnownValue(known, None));
        }
        let value = self.materialize(&known, span)?;
        let local = self.keep(name, value);
        Ok(match known {
            KnownValue::Composite(..) => Binding::Local(local),
            known => Binding::KnownValue(known, Some(local)),
        })
    }

    fn value_binding(
        &mut self,
        name: &'a str,
        value: Value,
        span: Span,
    ) -> LoweringResult<Binding<'a>> {
        let ty = self.ty(value);
        if ty == Type::UNIT {
            return fault(Code::NoValue, span, "this call gives no value");
        }
        let needs = self.usage.needs_variable(name, self.is_handle(ty), self.is_changed(name, ty));
        if needs {
            self.no_local_array(value, span)?;
            if self.b.module.types.layout(ty).is_some() {
                return Ok(Binding::Local(self.keep(name, value)));
            }
            if let Shape::Tuple(of) = self.shape(ty).clone() {
                let parts =
                    (0..of.len()).map(|at| Operand::Value(self.b.extract(value, at as u32)));
                let parts: Vec<Operand<'a>> = parts.collect();
                return Ok(Binding::Tuple(parts.into()));
            }
        }
        self.b.rename(value, name);
        Ok(Binding::Value(value))
    }

    fn keep(&mut self, name: &'a str, value: Value) -> gbxcule_ir::function::LocalId {
        let ty = self.ty(value);
        let local = self.local(name, ty);
        let place = self.b.local_place(local);
        self.b.store(place, value);
        local
    }

    /// The type of what a name stands for now.
    pub(super) fn bound_type(&mut self, name: &str) -> Option<Type> {
        match self.names.get(name)?.clone() {
            Binding::Value(value) => Some(self.ty(value)),
            Binding::Local(local) => Some(self.b.body().locals[local].ty),
            Binding::Param(at) => Some(self.b.function().params[at as usize].ty),
            Binding::KnownValue(known, _) => self.static_type(&known),
            Binding::Tuple(_)
            | Binding::Parts(_)
            | Binding::Extents(_)
            | Binding::Tile(_)
            | Binding::TileParam(_)
            | Binding::Refused => None,
        }
    }

    /// The place a target names.
    fn target_place(&mut self, target: &'a Expr) -> LoweringResult<PlaceId> {
        match self.access(target)? {
            Access::Place(place) if self.writable(place) => Ok(place),
            _ => fault(
                Code::NotWritable,
                self.span(target),
                "this can't be written: it is no variable and no element of an array",
            ),
        }
    }

    pub(super) fn writable(&self, place: PlaceId) -> bool {
        self.is_behind_element(place)
            || match self.b.body().places[place].root {
                Root::Local(_) => true,
                Root::Param(at) => self.is_reference(at),
                Root::Table(_) | Root::Array(_) => false,
            }
    }

    fn store_value(
        &mut self,
        place: PlaceId,
        value: Value,
        target: &'a Expr,
    ) -> LoweringResult<()> {
        self.store_typed(place, value, self.span(target), "this place")
    }

    fn store_typed(
        &mut self,
        place: PlaceId,
        value: Value,
        span: Span,
        what: &str,
    ) -> LoweringResult<()> {
        let (wanted, found) = (self.b.place_type(place), self.ty(value));
        let value = if wanted == found {
            Some(value)
        } else {
            self.adapted(value, wanted, !self.is_behind_element(place))
        };
        let Some(value) = value else {
            let scalars = wanted.as_scalar().is_some() && found.as_scalar().is_some();
            let (wanted, found) = (self.shown(wanted), self.shown(found));
            let message = format!("{what} holds a `{wanted}`, found `{found}`");
            let fault = Diagnostic::error(Code::TypeMismatch, span, message);
            let fault = if scalars {
                fault.help(format!("convert it first: `{wanted}(..)`"))
            } else {
                fault
            };
            return Err(super::LoweringError::Fault(Box::new(fault)));
        };
        self.b.store(place, value);
        Ok(())
    }

    /// Contents of an array of this function, if all of one is meant: that can be given to the
    /// caller.
    pub(super) fn contents(&mut self, value: Value) -> Value {
        match self.b.body().values[value].op {
            Op::AsArray(place) => self.b.load(place),
            _ => value,
        }
    }

    /// Refuses to keep an array of this function: it lives no longer than the variable it is in.
    pub(super) fn no_local_array(&self, value: Value, span: Span) -> LoweringResult<()> {
        let mut next = value;
        loop {
            next = match self.b.body().values[next].op {
                Op::AsArray(_) => {
                    return fault(
                        Code::UnsupportedFixedArray,
                        span,
                        "an array made in a function can't be kept or returned",
                    );
                }
                Op::View { array, .. } | Op::Gradient(array) => array,
                _ => return Ok(()),
            };
        }
    }

    /// A value as another type where NVIDIA Warp converts by itself: numbers written in the text
    /// into components, `bool` and integers of C++.
    pub(super) fn adapted(&mut self, value: Value, wanted: Type, component: bool) -> Option<Value> {
        let (from, to) = (self.ty(value).as_scalar()?, wanted.as_scalar()?);
        let literal = self.literal_of(value);
        match literal {
            Some(literal) if component && (to.is_float() || !from.is_float()) => {
                let converted = match literal.as_int() {
                    Some(value) => gbxcule_ir::constant::Literal::int(to, value),
                    None => gbxcule_ir::constant::Literal::float(to, literal.as_f64()),
                };
                Some(self.b.literal(converted))
            }
            _ => None,
        }
    }

    /// Returns true if a place is memory of an array.
    pub(super) fn is_behind_element(&self, place: PlaceId) -> bool {
        let path = self.b.body().path(place);
        path.iter().any(|step| matches!(step, Projection::Element(_)))
    }

    pub(super) fn augmented(&mut self, assign: &'a StmtAugAssign) -> LoweringResult<()> {
        let span = self.unit.span(assign);
        if let Expr::Name(name) = &*assign.target {
            let right = self.expr(&assign.value)?;
            let left = self.name_operand(name.id.as_str(), &assign.target)?;
            if let Operand::Tile(tile) = &left
                && atomic_op(assign.op).is_some()
            {
                return self.tile_augmented(assign.op, tile, &right, span);
            }
            let result = self.binary(assign.op, left, right, span)?;
            self.note_copy(name.id.as_str(), true);
            return self.bind(name.id.as_str(), result, span);
        }
        if let Some(Binding::Tile(_)) =
            usage::root(&assign.target).and_then(|root| self.names.get(root))
            && let Access::Operand(Operand::Tile(part)) = self.access(&assign.target)?
        {
            let right = self.expr(&assign.value)?;
            return self.tile_augmented(assign.op, &part, &right, span);
        }
        // The indices come before the right-hand side, whose effects they must not see.
        let place = if self.is_slice(&assign.target) {
            None
        } else {
            Some(self.target_place(&assign.target)?)
        };
        let right = self.expr(&assign.value)?;
        let right = self.value(right, self.span(&assign.value))?;
        let Some(place) = place else {
            let current = self.expr(&assign.target)?;
            let result = self.binary(assign.op, current, Operand::Value(right), span)?;
            let result = self.value(result, span)?;
            return self.store_slice(&assign.target, result);
        };
        match atomic_op(assign.op).filter(|_| self.has_atomics(place)) {
            Some(op) if self.is_element(place, &assign.target) => {
                self.fits_atomic(op, place, right, span)?;
                self.b.atomic(op, place, right);
                Ok(())
            }
            Some(op) if self.is_atomic_part(op, place, right) => {
                // An operator of the text's own comes first.
                let [current, other] = [self.b.load(place), right].map(Operand::Value);
                let Some(result) = self.user_operator(assign.op, &current, &other, span)? else {
                    self.b.atomic(op, place, right);
                    return Ok(());
                };
                let result = self.value(result, span)?;
                self.store_typed(place, result, span, "this place")
            }
            _ => {
                let [current, right] = [self.b.load(place), right].map(Operand::Value);
                let result = self.binary(assign.op, current, right, span)?;
                let result = self.value(result, span)?;
                self.store_typed(place, result, span, "this place")
            }
        }
    }

    /// Returns true if a target is a whole element of an array.
    fn is_element(&self, place: PlaceId, target: &Expr) -> bool {
        matches!(self.b.body().path(place).last(), Some(Projection::Element(_)))
            && matches!(target, Expr::Subscript(_))
    }

    /// Returns true if a target is a part of an element that can take a value atomically.
    fn is_atomic_part(&self, op: AtomicOp, place: PlaceId, value: Value) -> bool {
        let ty = self.b.place_type(place);
        self.ty(value) == ty
            && (!is_bitwise(op) || self.has_integers(ty))
            && self.is_behind_element(place)
    }

    /// Returns true if numbers of this width can be changed atomically.
    fn has_atomics(&self, place: PlaceId) -> bool {
        let components = self.b.module.types.components(self.b.place_type(place));
        components.is_some_and(|(scalar, _)| {
            !matches!(scalar, Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 | Scalar::Bool)
        })
    }

    fn has_integers(&self, ty: Type) -> bool {
        self.b.module.types.components(ty).is_some_and(|(scalar, _)| scalar.is_int())
    }

    fn fits_atomic(
        &self,
        op: AtomicOp,
        place: PlaceId,
        value: Value,
        span: Span,
    ) -> LoweringResult<()> {
        let (wanted, found) = (self.b.place_type(place), self.ty(value));
        let shown = self.shown(wanted);
        if wanted != found {
            let message = format!("the elements are `{shown}`, found `{}`", self.shown(found));
            let fault = Diagnostic::error(Code::TypeMismatch, span, message)
                .help(format!("convert it first: `{shown}(..)`"));
            return Err(super::LoweringError::Fault(Box::new(fault)));
        }
        if is_bitwise(op) && !self.has_integers(wanted) {
            let message = format!("this needs integers, found `{shown}`");
            return fault(Code::TypeMismatch, span, message);
        }
        Ok(())
    }
}

fn atomic_op(op: syntax::Operator) -> Option<AtomicOp> {
    Some(match op {
        syntax::Operator::Add => AtomicOp::Add,
        syntax::Operator::Sub => AtomicOp::Subtract,
        syntax::Operator::BitAnd => AtomicOp::And,
        syntax::Operator::BitOr => AtomicOp::Or,
        syntax::Operator::BitXor => AtomicOp::Xor,
        _ => return None,
    })
}

fn is_bitwise(op: AtomicOp) -> bool {
    !matches!(op, AtomicOp::Add | AtomicOp::Subtract)
}

/// Returns true for what NVIDIA Warp takes as a constant itself, not as a copy of one.
fn is_constant(value: &Expr) -> bool {
    match value {
        Expr::NumberLiteral(_) | Expr::BooleanLiteral(_) | Expr::Attribute(_) | Expr::Call(_) => {
            true
        }
        Expr::UnaryOp(unary) => is_constant(&unary.operand),
        _ => false,
    }
}
