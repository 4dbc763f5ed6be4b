//! Calls of rows of the builtin table.

use super::Expressions;
use super::access::Access;
use super::call::CallArgument;
use super::operand::{LoweringResult, Operand, fault};
use super::writer::Writer;
use gbxcule_ir::builtin::{self, BuiltinId, Signature};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::Arg;
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Type;
use gbxcule_warp_types::value::KnownValue;

impl<'a> Expressions<'_, 'a> {
    /// Calls a builtin by its row.
    pub(super) fn call_row(
        &mut self,
        row: BuiltinId,
        given: Vec<CallArgument<'a>>,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let name = builtin::row(row).name;
        let mut given = given;
        if let Some(default) = default_argument(&mut self.b, name, &given) {
            given.push(default);
        }
        let signatures = builtin::row(row).signatures;
        let wants_place: Vec<bool> = (0..given.len())
            .map(|position| builtin::takes_place(row, given.len(), position))
            .collect();
        let Some(order) = match_arguments(signatures, &given) else {
            let message = format!("`wp.{name}` has no parameters of these names");
            return fault(Code::WrongArguments, span, message);
        };
        let mut args = Vec::with_capacity(given.len());
        for (position, &from) in order.iter().enumerate() {
            let (_, operand, expr) = given[from].clone();
            let here = expr.map_or(span, |expr| self.span(expr));
            if wants_place[position] {
                args.push(Arg::Place(self.state_place(operand, expr, here)?));
            } else {
                args.push(Arg::Value(self.b.value(operand, here)?));
            }
        }
        self.b.set_span(span);
        if let Some(value) = self.b.builtin(row, &args) {
            return Ok(Operand::Value(value));
        }
        let found: Vec<String> =
            args.iter().map(|&arg| format!("`{}`", self.b.shown(self.b.arg_type(arg)))).collect();
        let message = if found.is_empty() {
            format!("`wp.{name}` needs arguments")
        } else {
            format!("`wp.{name}` doesn't take {}", found.join(", "))
        };
        let takes: Vec<String> = signatures.iter().map(shown_signature).collect();
        let fault = Diagnostic::error(Code::TypeMismatch, span, message);
        Err(fault.help(format!("it takes {}", takes.join(" or "))).into())
    }

    /// The variable of a builtin's state; a value that isn't a variable is copied to a new one.
    fn state_place(
        &mut self,
        operand: Operand<'a>,
        expr: Option<&'a gbxcule_python_names::syntax::Expr>,
        span: Span,
    ) -> LoweringResult<PlaceId> {
        if let Some(expr) = expr
            && let Access::Place(place) = self.access(expr)?
        {
            // A state in an array is copied, and the array keeps the old one, as in NVIDIA Warp.
            let is_state = self.b.place_type(place) == Type::U32;
            if self.b.is_writable(place) && !(is_state && self.b.is_behind_element(place)) {
                return Ok(place);
            }
        }
        let value = self.b.value(operand, span)?;
        Ok(self.b.stored("state", value))
    }
}

/// The argument that NVIDIA Warp adds where a call lacks it.
fn default_argument<'a>(
    b: &mut Writer<'_, 'a>,
    name: &str,
    given: &[CallArgument<'a>],
) -> Option<CallArgument<'a>> {
    if name != "expect_near" || given.len() != 2 {
        return None;
    }
    let operand = given[0].1.clone();
    let ty = b.operand_type(&operand)?;
    let (scalar, _) = b.module.types.components(ty)?;
    Some((None, Operand::KnownValue(KnownValue::Typed(Literal::float(scalar, 1e-6))), None))
}

/// Finds the argument of each parameter, by position and keyword.
fn match_arguments(signatures: &[Signature], given: &[CallArgument<'_>]) -> Option<Vec<usize>> {
    if given.iter().all(|(keyword, ..)| keyword.is_none()) {
        return Some((0..given.len()).collect());
    }
    signatures.iter().filter(|s| s.params.len() == given.len()).find_map(|signature| {
        let mut order = Vec::with_capacity(given.len());
        for (position, name) in signature.names.iter().enumerate() {
            let by_position =
                given.get(position).filter(|(keyword, ..)| keyword.is_none()).map(|_| position);
            let by_keyword = given.iter().position(|(keyword, ..)| *keyword == Some(name));
            order.push(by_position.or(by_keyword)?);
        }
        Some(order)
    })
}

/// A signature as help shows it.
fn shown_signature(signature: &Signature) -> String {
    let params: Vec<String> = signature
        .names
        .iter()
        .zip(signature.params)
        .map(|(name, pattern)| format!("{name}: {pattern}"))
        .collect();
    format!("({})", params.join(", "))
}
