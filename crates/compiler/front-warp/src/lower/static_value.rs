//! `wp.static(expr)`: the value of an expression, as far as the text gives it.

use super::Expressions;
use super::operand::{LoweringError, LoweringResult, Operand, fault};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::Scalar;
use gbxcule_python_names::syntax::{Expr, ExprCall};
use gbxcule_python_values::{compared, iterated, part, python_number};
use gbxcule_warp_types::substitute;
use gbxcule_warp_types::value::KnownValue;

impl<'a> Expressions<'_, 'a> {
    /// `wp.static(expr)`: evaluates `expr` at compile time.
    pub(super) fn static_value(
        &mut self,
        call: &'a ExprCall,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let [arg] = &call.arguments.args[..] else {
            return fault(Code::WrongArguments, span, "`wp.static` needs one expression");
        };
        match self.static_expr(arg) {
            Err(LoweringError::Fault(fault)) => Ok(substitute::tried(self.unit, Err(fault))?),
            known => known.map(|known| self.unit.settled(known)),
        }
        .map(Operand::KnownValue)
    }

    /// Evaluates an expression, which may use names of this function whose values the text gives.
    fn static_expr(&mut self, expr: &'a Expr) -> LoweringResult<KnownValue<'a>> {
        match expr {
            Expr::Name(name) if self.names.contains(name.id.as_str()) => {
                match self.name_operand(name.id.as_str(), expr)? {
                    Operand::KnownValue(known) => Ok(known),
                    _ => fault(
                        Code::NeedsConstant,
                        self.span(expr),
                        format!("`{}` isn't known when compiled", name.id),
                    ),
                }
            }
            Expr::BinOp(binary) => {
                let left = self.static_expr(&binary.left)?;
                let right = self.static_expr(&binary.right)?;
                Ok(self.unit.operation(binary.op, &left, &right, expr)?)
            }
            Expr::Subscript(subscript) => {
                let base = self.static_expr(&subscript.value)?;
                let indices = match &*subscript.slice {
                    Expr::Slice(_) => None,
                    Expr::Tuple(tuple) => Some(&tuple.elts[..]),
                    index => Some(std::slice::from_ref(index)),
                };
                let at: Option<Vec<KnownValue<'a>>> = indices
                    .and_then(|all| all.iter().map(|it| self.static_expr(it).ok()).collect());
                match at.and_then(|at| element_at(&base, &at)) {
                    Some(element) => Ok(element),
                    None => Ok(self.unit.known(expr, self.scope)?),
                }
            }
            Expr::Compare(compare) if compare.ops.len() == 1 => {
                let left = self.static_expr(&compare.left)?;
                let right = self.static_expr(&compare.comparators[0])?;
                compared(compare.ops[0], &left, &right).map(KnownValue::Bool).ok_or_else(|| {
                    let what = "this comparison is only known when Python runs";
                    self.unit.needs_python(expr, what).into()
                })
            }
            Expr::Call(call) => self.static_call(expr, call),
            _ => Ok(self.unit.known(expr, self.scope)?),
        }
    }

    fn static_call(
        &mut self,
        expr: &'a Expr,
        call: &'a ExprCall,
    ) -> LoweringResult<KnownValue<'a>> {
        let name = match &*call.func {
            Expr::Name(name) => Some(name.id.as_str()),
            _ => None,
        };
        if let (Some("len"), [of]) = (name, &*call.arguments.args)
            && let Ok(of) = self.static_expr(of)
            && let Some(len) = gbxcule_python_values::len(&of)
        {
            return Ok(KnownValue::Int(len as i128));
        }
        match (name, &*call.arguments.args) {
            (Some("len"), _) => match self.expr(expr)? {
                Operand::KnownValue(known) => Ok(known),
                _ => fault(
                    Code::NeedsConstant,
                    self.span(expr),
                    "this length isn't known when compiled",
                ),
            },
            (Some("int" | "float"), [of]) => {
                let scalar = if name == Some("float") { Scalar::F32 } else { Scalar::I32 };
                match python_number(scalar, &self.static_expr(of)?) {
                    Some(number) => Ok(number),
                    None => fault(Code::NeedsConstant, self.span(expr), "a number is needed here"),
                }
            }
            (_, [of]) if matches!(self.unit.known(&call.func, self.scope), Ok(KnownValue::Member(path)) if &*path == "warp.static") => {
                self.static_expr(of)
            }
            _ => Ok(self.unit.known(expr, self.scope)?),
        }
    }
}

/// Element of a list, table or dictionary at indices that are known.
fn element_at<'a>(base: &KnownValue<'a>, at: &[KnownValue<'a>]) -> Option<KnownValue<'a>> {
    match (base, at) {
        (KnownValue::Dict(items), at) => {
            let is_key = |key: &KnownValue<'a>| match (key, at) {
                (KnownValue::Sequence(parts), [_, _, ..]) => **parts == *at,
                (key, [one]) => key == one,
                _ => false,
            };
            items.iter().rev().find(|(key, _)| is_key(key)).map(|(_, value)| value.clone())
        }
        (base, [at]) => part(&iterated(base)?, at.as_int()?),
        _ => None,
    }
}
