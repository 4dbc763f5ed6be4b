//! Values of a function: their expressions, of which some wait for their only use.

use super::expr::{Expr, MoveBarriers};
use super::interval::Interval;
use gbxcule_ir::op::Value;

/// Expressions and intervals of values, by position.
pub(super) struct Values {
    exprs: Vec<Option<Expr>>,
    intervals: Vec<Option<Interval>>,
    /// Values that wait for their only use, in order.
    pending: Vec<Value>,
}

impl Values {
    pub(super) fn new(count: usize) -> Self {
        Self { exprs: vec![None; count], intervals: vec![None; count], pending: Vec::new() }
    }

    /// Returns the expression of an operand. An expression that waited for this use is removed.
    pub(super) fn take(&mut self, value: Value) -> Expr {
        if let Some(position) = self.pending.iter().rposition(|&waiting| waiting == value) {
            self.pending.remove(position);
            if let Some(expr) = self.exprs[value.index()].take() {
                return expr;
            }
        }
        match &self.exprs[value.index()] {
            Some(expr) => expr.clone(),
            None => unreachable!("check rule 3: values are defined before they are used"),
        }
    }

    /// Sets the expression by which all uses of a value name it.
    pub(super) fn set(&mut self, value: Value, expr: Expr) {
        self.exprs[value.index()] = Some(expr);
    }

    /// Lets an expression wait for its only use.
    pub(super) fn wait(&mut self, value: Value, expr: Expr) {
        self.set(value, expr);
        self.pending.push(value);
    }

    /// Removes the waiting values for which `must` holds, with their expressions.
    pub(super) fn remove_waiting(
        &mut self,
        must: impl Fn(Value, &MoveBarriers) -> bool,
    ) -> Vec<(Value, Expr)> {
        let exprs = &mut self.exprs;
        let removed = self.pending.extract_if(.., |&mut value| {
            exprs[value.index()].as_ref().is_some_and(|expr| must(value, &expr.needs))
        });
        let removed: Vec<Value> = removed.collect();
        let expr = |value: Value| Some((value, self.exprs[value.index()].take()?));
        removed.into_iter().filter_map(expr).collect()
    }

    pub(super) fn interval(&self, value: Value) -> Option<Interval> {
        self.intervals[value.index()]
    }

    pub(super) fn set_interval(&mut self, value: Value, interval: Option<Interval>) {
        self.intervals[value.index()] = interval;
    }
}
