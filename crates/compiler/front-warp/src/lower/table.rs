//! Calls of rows of the builtin table.

use super::access::Access;
use super::call::CallArgument;
use super::{FunctionLowering, LoweringError, LoweringResult, Operand, fault};
use crate::constant::KnownValue;
use gbxcule_ir::builtin::{self, BuiltinId, Signature};
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::Arg;
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Type;

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    /// Calls a builtin by its row.
    pub(super) fn call_row(
        &mut self,
        row: BuiltinId,
        given: Vec<CallArgument<'a>>,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let name = builtin::row(row).name;
        let mut given = given;
        if let Some(default) = self.default_argument(name, &given) {
            given.push(default);
        }
        let signatures = builtin::row(row).signatures;
        let references = |at: usize| {
            signatures.iter().any(|s| {
                s.params.len() >= given.len() && s.params.get(at).is_some_and(|p| p.is_reference())
            })
        };
        let wants_place: Vec<bool> = (0..given.len()).map(references).collect();
        let Some(order) = match_arguments(signatures, &given) else {
            return fault(
                Code::WrongArguments,
                span,
                format!("`wp.{name}` has no parameters of these names"),
            );
        };
        let mut args = Vec::with_capacity(given.len());
        for (at, &from) in order.iter().enumerate() {
            let (_, operand, expr) = given[from].clone();
            let here = expr.map_or(span, |expr| self.span(expr));
            if wants_place[at] {
                args.push(Arg::Place(self.state_place(operand, expr, here)?));
            } else {
                args.push(Arg::Value(self.value(operand, here)?));
            }
        }
        self.b.set_span(span);
        if let Some(value) = self.b.builtin(row, &args) {
            return Ok(Operand::Value(value));
        }
        let found: Vec<String> =
            args.iter().map(|&arg| format!("`{}`", self.shown(self.b.arg_type(arg)))).collect();
        let message = if found.is_empty() {
            format!("`wp.{name}` needs arguments")
        } else {
            format!("`wp.{name}` doesn't take {}", found.join(", "))
        };
        let takes: Vec<String> = signatures.iter().map(shown).collect();
        let fault = Diagnostic::error(Code::TypeMismatch, span, message);
        Err(LoweringError::Fault(Box::new(fault.help(format!("it takes {}", takes.join(" or "))))))
    }

    /// The argument NVIDIA Warp adds if it isn't given.
    fn default_argument(
        &mut self,
        name: &str,
        given: &[CallArgument<'a>],
    ) -> Option<CallArgument<'a>> {
        if name != "expect_near" || given.len() != 2 {
            return None;
        }
        let operand = given[0].1.clone();
        let ty = self.operand_type(&operand)?;
        let (scalar, _) = self.b.module.types.components(ty)?;
        Some((None, Operand::KnownValue(KnownValue::Typed(Literal::float(scalar, 1e-6))), None))
    }

    /// The variable of a builtin's state; a value that is none is copied to one.
    fn state_place(
        &mut self,
        operand: Operand<'a>,
        expr: Option<&'a crate::syntax::Expr>,
        span: Span,
    ) -> LoweringResult<PlaceId> {
        if let Some(expr) = expr
            && let Access::Place(place) = self.access(expr)?
        {
            let behind =
                self.b.body().path(place).iter().any(|step| matches!(step, Projection::Element(_)));
            let root = self.b.body().places[place].root;
            let writable = match root {
                Root::Param(at) => self.is_reference(at),
                Root::Local(_) => true,
                Root::Table(_) | Root::Array(_) => false,
            };
            // A state in an array is copied, and the array keeps the old one, as in NVIDIA Warp.
            let is_state = self.b.place_type(place) == Type::U32;
            if behind && !is_state || !behind && writable {
                return Ok(place);
            }
        }
        let value = self.value(operand, span)?;
        let ty = self.ty(value);
        let place = self.temporary("state", ty);
        self.b.store(place, value);
        Ok(place)
    }
}

/// Finds the argument of each parameter, by position and keyword.
fn match_arguments(signatures: &[Signature], given: &[CallArgument<'_>]) -> Option<Vec<usize>> {
    if given.iter().all(|(keyword, ..)| keyword.is_none()) {
        return Some((0..given.len()).collect());
    }
    signatures.iter().filter(|s| s.params.len() == given.len()).find_map(|signature| {
        let mut order = Vec::with_capacity(given.len());
        for (at, name) in signature.names.iter().enumerate() {
            let by_position = given.get(at).filter(|(keyword, ..)| keyword.is_none()).map(|_| at);
            let by_keyword = given.iter().position(|(keyword, ..)| *keyword == Some(name));
            order.push(by_position.or(by_keyword)?);
        }
        Some(order)
    })
}

/// A signature as help shows it.
fn shown(signature: &Signature) -> String {
    let params: Vec<String> = signature
        .names
        .iter()
        .zip(signature.params)
        .map(|(name, pattern)| format!("{name}: {pattern}"))
        .collect();
    format!("({})", params.join(", "))
}
