//! Builtins for which C++ has an operator: a choice, and products and quotients by component.

use super::super::expr::Expr;
use super::super::op::Expressions;
use gbxcule_ir::arena::List;
use gbxcule_ir::function::{Body, FunctionId, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, BinaryOp, Op, Value};
use gbxcule_ir::place::Root;
use gbxcule_ir::stmt::StmtKind;

/// Operation of parameters, by their positions.
pub(in super::super) enum Operator {
    Select { condition: usize, accept: usize, reject: usize },
    Binary(BinaryOp, usize, usize),
}

/// Returns the operation that is all that a builtin's function does.
pub(in super::super) fn operator(module: &Module, function: FunctionId) -> Option<Operator> {
    let function = &module.functions[function];
    let body = &function.body;
    let (last, lets) = body.blocks[body.root].stmts.split_last()?;
    let &StmtKind::Return(Some(result)) = &last.kind else { return None };
    let are_lets = lets.iter().all(|stmt| matches!(stmt.kind, StmtKind::Let(_)));
    let are_values = function.params.iter().all(|param| param.mode == PassMode::Value);
    if function.instance.is_none() || !are_lets || !are_values {
        return None;
    }
    Some(match body.values[result].op {
        Op::Select { condition, accept, reject } => Operator::Select {
            condition: parameter(body, condition)?,
            accept: parameter(body, accept)?,
            reject: parameter(body, reject)?,
        },
        Op::Binary(op @ (BinaryOp::Multiply | BinaryOp::Divide), left, right)
            if module.types.components(body.type_of(result)).is_some() =>
        {
            Operator::Binary(op, parameter(body, left)?, parameter(body, right)?)
        }
        _ => return None,
    })
}

/// Returns the position of the parameter that a value is.
fn parameter(body: &Body, value: Value) -> Option<usize> {
    let Op::Load(place) = body.values[value].op else { return None };
    match body.places[place].root {
        Root::Param(position) if body.path(place).is_empty() => Some(position as usize),
        _ => None,
    }
}

impl Expressions<'_, '_> {
    /// Writes the call of a function that is one operation.
    pub(in super::super) fn plain_operator(
        &mut self,
        function: FunctionId,
        args: List<Arg>,
    ) -> Option<Expr> {
        let operator = operator(self.module, function)?;
        let result = self.module.functions[function].result;
        let body = self.body;
        let arg = |at: usize| match body.arg_lists[args][at] {
            Arg::Value(value) => Some(value),
            Arg::Place(_) => None,
        };
        Some(match operator {
            Operator::Select { condition, accept, reject } => {
                self.select(arg(condition)?, arg(accept)?, arg(reject)?)
            }
            Operator::Binary(op, left, right) => {
                self.composite(op, arg(left)?, arg(right)?, result)
            }
        })
    }
}
