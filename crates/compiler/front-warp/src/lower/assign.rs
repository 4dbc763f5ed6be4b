//! Assignments.

use super::access::Access;
use super::control::Statements;
use super::operand::{Binding, LoweringResult, Operand, fault};
use super::tile::{self, assign_tile};
use super::usage;
use super::writer::Writer;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::{AtomicOp, Value};
use gbxcule_ir::place::{PlaceId, Projection};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Type};
use gbxcule_python_names::syntax::{self, Expr, StmtAssign, StmtAugAssign};

impl<'a> Statements<'_, 'a> {
    pub(super) fn assign(&mut self, assign: &'a StmtAssign) -> LoweringResult<()> {
        let [target] = &assign.targets[..] else {
            let span = self.e.unit.span(assign);
            let message = "one value can't be assigned to several targets at once";
            return fault(Code::UnsupportedSyntax, span, message);
        };
        if let Expr::Tuple(targets) = target {
            return self.unpack(&targets.elts, &assign.value, self.e.span(target));
        }
        let mut operand = self.e.expr(&assign.value)?;
        if let (Expr::Name(_), Operand::Tile(tile)) = (&*assign.value, &operand) {
            // As in NVIDIA Warp, the assignment of a tile copies the tile.
            let copy = tile.fresh_copy(&mut self.e.b, self.e.unit.span(&*assign.value))?;
            operand = Operand::Tile(copy.into());
        }
        if let Expr::Name(name) = target {
            self.e.names.note_copy(name.id.as_str(), !is_constant(&assign.value));
        }
        self.store_to(target, operand, self.e.span(&assign.value))
    }

    fn store_to(
        &mut self,
        target: &'a Expr,
        operand: Operand<'a>,
        value_span: Span,
    ) -> LoweringResult<()> {
        match target {
            Expr::Name(name) => self.e.names.bind(
                &mut self.e.b,
                name.id.as_str(),
                operand,
                self.e.unit.span(target),
            ),
            Expr::Subscript(_) if matches!(operand, Operand::Tile(_)) => {
                let (Access::Operand(Operand::Tile(part)), Operand::Tile(tile)) =
                    (self.e.access(target)?, operand)
                else {
                    let message = "a tile is stored in a tile only";
                    return fault(Code::TypeMismatch, value_span, message);
                };
                assign_tile(&mut self.e.b, &part, &tile, self.e.unit.span(target))
            }
            Expr::Subscript(_) | Expr::Attribute(_) => {
                let value = self.e.b.value(operand, value_span)?;
                self.e.b.no_local_array(value, value_span)?;
                if self.is_slice(target) {
                    return self.store_slice(target, value);
                }
                let place = self.target_place(target)?;
                self.e.b.store_typed(place, value, self.e.span(target), "this place")
            }
            _ => fault(Code::UnsupportedSyntax, self.e.span(target), "this can't be assigned to"),
        }
    }

    fn unpack(&mut self, targets: &'a [Expr], value: &'a Expr, span: Span) -> LoweringResult<()> {
        let parts: Vec<Operand<'a>> = match value {
            Expr::Tuple(tuple) => {
                let parts: LoweringResult<Vec<_>> =
                    tuple.elts.iter().map(|part| self.e.expr(part)).collect();
                parts?
            }
            Expr::Call(call) if self.e.is_tid(call) => {
                self.e.launch_indices(targets.len(), span)?
            }
            _ => {
                let operand = self.e.expr(value)?;
                self.e.b.unpacked(operand, targets.len(), self.e.span(value))?
            }
        };
        if parts.len() != targets.len() {
            let (wanted, found) = (targets.len(), parts.len());
            return fault(Code::WrongArguments, span, format!("{found} values for {wanted} names"));
        }
        for (target, part) in targets.iter().zip(parts) {
            match target {
                Expr::Name(name) => self.e.names.bind(
                    &mut self.e.b,
                    name.id.as_str(),
                    part,
                    self.e.unit.span(target),
                )?,
                _ => {
                    let message = "several values can be assigned to names only";
                    return fault(Code::UnsupportedSyntax, self.e.span(target), message);
                }
            }
        }
        Ok(())
    }

    /// The place that a target names.
    fn target_place(&mut self, target: &'a Expr) -> LoweringResult<PlaceId> {
        match self.e.access(target)? {
            Access::Place(place) if self.e.b.is_writable(place) => Ok(place),
            _ => fault(
                Code::NotWritable,
                self.e.span(target),
                "this can't be written: it is neither a variable nor an element of an array",
            ),
        }
    }

    pub(super) fn augmented(&mut self, assign: &'a StmtAugAssign) -> LoweringResult<()> {
        let span = self.e.unit.span(assign);
        if let Expr::Name(name) = &*assign.target {
            let right = self.e.expr(&assign.value)?;
            let left = self.e.name_operand(name.id.as_str(), &assign.target)?;
            if let Operand::Tile(tile) = &left
                && atomic_op(assign.op).is_some()
            {
                return tile::augmented(&mut self.e, assign.op, tile, &right, span);
            }
            let result = self.e.binary(assign.op, left, right, span)?;
            self.e.names.note_copy(name.id.as_str(), true);
            return self.e.names.bind(&mut self.e.b, name.id.as_str(), result, span);
        }
        if let Some(Binding::Tile(_)) =
            usage::root(&assign.target).and_then(|root| self.e.names.get(root))
            && let Access::Operand(Operand::Tile(part)) = self.e.access(&assign.target)?
        {
            let right = self.e.expr(&assign.value)?;
            return tile::augmented(&mut self.e, assign.op, &part, &right, span);
        }
        // The indices are evaluated before the right-hand side, so they don't see its effects.
        let place = if self.is_slice(&assign.target) {
            None
        } else {
            Some(self.target_place(&assign.target)?)
        };
        let right = self.e.expr_value(&assign.value)?;
        let Some(place) = place else {
            let current = self.e.expr(&assign.target)?;
            let result = self.e.binary(assign.op, current, Operand::Value(right), span)?;
            let result = self.e.b.value(result, span)?;
            return self.store_slice(&assign.target, result);
        };
        match atomic_op(assign.op).filter(|_| has_atomics(&self.e.b, place)) {
            Some(op) if is_element(&self.e.b, place, &assign.target) => {
                fits_atomic(&self.e.b, op, place, right, span)?;
                self.e.b.atomic(op, place, right);
                Ok(())
            }
            Some(op) if is_atomic_part(&self.e.b, op, place, right) => {
                // A `@wp.func` with the operator's name replaces the operator.
                let [current, other] = [self.e.b.load(place), right].map(Operand::Value);
                let Some(result) = self.e.user_operator(assign.op, &current, &other, span)? else {
                    self.e.b.atomic(op, place, right);
                    return Ok(());
                };
                let result = self.e.b.value(result, span)?;
                self.e.b.store_typed(place, result, span, "this place")
            }
            _ => {
                let [current, right] = [self.e.b.load(place), right].map(Operand::Value);
                let result = self.e.binary(assign.op, current, right, span)?;
                let result = self.e.b.value(result, span)?;
                self.e.b.store_typed(place, result, span, "this place")
            }
        }
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

/// Returns true if NVIDIA Warp takes an expression for a constant itself, not for a copy of a
/// constant.
fn is_constant(value: &Expr) -> bool {
    match value {
        Expr::NumberLiteral(_) | Expr::BooleanLiteral(_) | Expr::Attribute(_) | Expr::Call(_) => {
            true
        }
        Expr::UnaryOp(unary) => is_constant(&unary.operand),
        _ => false,
    }
}

/// Returns true if a target is a whole element of an array.
fn is_element(b: &Writer<'_, '_>, place: PlaceId, target: &Expr) -> bool {
    matches!(b.body().path(place).last(), Some(Projection::Element(_)))
        && matches!(target, Expr::Subscript(_))
}

/// Returns true if a target is a part of an element that can take a value atomically.
fn is_atomic_part(b: &Writer<'_, '_>, op: AtomicOp, place: PlaceId, value: Value) -> bool {
    let ty = b.place_type(place);
    b.ty(value) == ty && (!is_bitwise(op) || has_integers(b, ty)) && b.is_behind_element(place)
}

/// Returns true if numbers of this width can be changed atomically.
fn has_atomics(b: &Writer<'_, '_>, place: PlaceId) -> bool {
    let components = b.module.types.components(b.place_type(place));
    components.is_some_and(|(scalar, _)| {
        !matches!(scalar, Scalar::I8 | Scalar::U8 | Scalar::I16 | Scalar::U16 | Scalar::Bool)
    })
}

fn has_integers(b: &Writer<'_, '_>, ty: Type) -> bool {
    b.module.types.components(ty).is_some_and(|(scalar, _)| scalar.is_int())
}

fn fits_atomic(
    b: &Writer<'_, '_>,
    op: AtomicOp,
    place: PlaceId,
    value: Value,
    span: Span,
) -> LoweringResult<()> {
    let (wanted, found) = (b.place_type(place), b.ty(value));
    let shown = b.shown(wanted);
    if wanted != found {
        let message = format!("the elements are `{shown}`, found `{}`", b.shown(found));
        let fault = Diagnostic::error(Code::TypeMismatch, span, message)
            .help(format!("convert it first: `{shown}(..)`"));
        return Err(fault.into());
    }
    if is_bitwise(op) && !has_integers(b, wanted) {
        let message = format!("this needs integers, found `{shown}`");
        return fault(Code::TypeMismatch, span, message);
    }
    Ok(())
}
