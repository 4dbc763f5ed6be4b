//! Statements: `let`, assignments, and expressions for their effect.

use super::{Binding, Lowering};
use crate::tree::{Expr, ExprKind, Pattern, Stmt, VarId};
use crate::ty::Ty;
use gbxcule_ir::op::{BinaryOp, Value};
use gbxcule_ir::place::PlaceId;
use std::rc::Rc;

impl Lowering<'_, '_, '_, '_> {
    pub(super) fn stmts(&mut self, stmts: &[Stmt]) {
        for stmt in stmts {
            match stmt {
                Stmt::Expr(expr) => self.effect(expr),
                Stmt::Let(pattern, None) => self.bind_nothing(pattern),
                Stmt::Let(pattern, Some(init)) => {
                    let outer = self.b.span();
                    self.b.set_span(init.span);
                    self.bind(pattern, init);
                    self.b.set_span(outer);
                }
            }
        }
    }

    fn bind_nothing(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Var(var) => _ = self.own_place(*var),
            Pattern::Tuple(parts) => parts.iter().for_each(|part| self.bind_nothing(part)),
            Pattern::Ignore => {}
        }
    }

    fn bind(&mut self, pattern: &Pattern, init: &Expr) {
        match pattern {
            Pattern::Var(var) => self.bind_var(*var, init),
            Pattern::Ignore => self.effect(init),
            Pattern::Tuple(_) => {
                let value = self.value(init);
                self.bind_value(pattern, value);
            }
        }
    }

    fn bind_var(&mut self, var: VarId, init: &Expr) {
        if let Ty::Ref { .. } = self.body.type_of(init) {
            let place = self.reference(init);
            self.vars[var] = Some(Binding::Place(place));
        } else if self.branches(init) {
            let place = self.own_place(var);
            self.store_into(place, init);
        } else {
            let value = self.value(init);
            self.bind_value(&Pattern::Var(var), value);
        }
    }

    fn bind_value(&mut self, pattern: &Pattern, value: Value) {
        match pattern {
            Pattern::Var(var) => {
                let ty = self.b.body().type_of(value);
                let body = Rc::clone(&self.body);
                if body.vars[*var].fixed && ty.as_scalar().is_some() {
                    self.b.rename(value, &body.vars[*var].name);
                    self.vars[*var] = Some(Binding::Value(value));
                } else {
                    let place = self.own_place(*var);
                    self.b.store(place, value);
                }
            }
            Pattern::Tuple(parts) => {
                for (position, part) in parts.iter().enumerate() {
                    let value = self.b.extract(value, position as u32);
                    self.bind_value(part, value);
                }
            }
            Pattern::Ignore => {}
        }
    }

    fn own_place(&mut self, var: VarId) -> PlaceId {
        let body = Rc::clone(&self.body);
        let place = self.variable(&body.vars[var]);
        self.vars[var] = Some(Binding::Place(place));
        place
    }

    /// Lowers `place = expr` for a place that is determined already: branches store by themselves.
    pub(super) fn store_into(&mut self, place: PlaceId, expr: &Expr) {
        let outer = self.b.span();
        self.b.set_span(expr.span);
        self.store_here(place, expr);
        self.b.set_span(outer);
    }

    fn store_here(&mut self, place: PlaceId, expr: &Expr) {
        if self.body.type_of(expr) == Ty::Never {
            return self.effect(expr);
        }
        match &expr.kind {
            ExprKind::Block(block) => {
                self.stmts(&block.stmts);
                if let Some(tail) = &block.tail {
                    self.store_into(place, tail);
                }
            }
            ExprKind::If(condition, accept, Some(reject)) if self.branches(expr) => {
                let condition = self.value(condition);
                let accept = self.sub_block(|it| it.store_into(place, accept));
                let reject = self.sub_block(|it| it.store_into(place, reject));
                self.b.if_blocks(condition, accept, reject);
            }
            ExprKind::Match(value, arms) => {
                self.switch(expr.span, value, arms, |it, body| it.store_into(place, body));
            }
            _ => {
                let value = self.value(expr);
                self.b.store(place, value);
            }
        }
    }

    /// Lowers an expression and drops its value, if it has one.
    pub(super) fn effect(&mut self, expr: &Expr) {
        let outer = self.b.span();
        self.b.set_span(expr.span);
        self.effect_here(expr);
        self.b.set_span(outer);
    }

    fn effect_here(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Unit | ExprKind::Wrong | ExprKind::Var(_) | ExprKind::Const(_) => {}
            ExprKind::Field(base, _) | ExprKind::Deref(base) => self.effect(base),
            ExprKind::Block(block) => {
                self.stmts(&block.stmts);
                if let Some(tail) = &block.tail {
                    self.effect(tail);
                }
            }
            ExprKind::If(condition, accept, reject) => {
                let condition = self.value(condition);
                let accept = self.sub_block(|it| it.effect(accept));
                let reject = self.sub_block(|it| {
                    if let Some(reject) = reject {
                        it.effect(reject);
                    }
                });
                self.b.if_blocks(condition, accept, reject);
            }
            ExprKind::Match(value, arms) => self.switch(expr.span, value, arms, Self::effect),
            ExprKind::While(condition, body) => self.while_loop(condition, body),
            ExprKind::Loop(body) => self.infinite_loop(body, None),
            ExprKind::For { var, start, end, inclusive, body } => {
                self.for_loop(*var, [start, end], *inclusive, body);
            }
            ExprKind::Break(value) => {
                match (value, self.loops.last().copied().flatten()) {
                    (Some(value), Some(place)) => self.store_into(place, value),
                    (Some(value), None) => self.effect(value),
                    (None, _) => {}
                }
                self.b.break_loop();
            }
            ExprKind::Continue => self.b.continue_loop(),
            ExprKind::Return(None) => self.b.ret(None),
            ExprKind::Return(Some(value)) => {
                if self.body.type_of(value) == Ty::Unit {
                    self.effect(value);
                    self.b.ret(None);
                } else {
                    let value = self.value(value);
                    self.b.ret(Some(value));
                }
            }
            ExprKind::Call(id, args) => _ = self.call(*id, args),
            ExprKind::Assign(place, value) => self.assign(place, value),
            ExprKind::Update(op, place, value) => self.update(*op, place, value),
            _ if self.body.type_of(expr) == Ty::Unit => {
                self.refuse_construct(expr, "a `()` in an array");
            }
            _ => _ = self.value(expr),
        }
    }

    /// Lowers an assignment: first the value, then the place, as in Rust.
    fn assign(&mut self, place: &Expr, value: &Expr) {
        if self.branches(value) && !has_index(place) {
            let place = self.place(place);
            return self.store_into(place, value);
        }
        let value = self.value(value);
        let place = self.place(place);
        self.b.store(place, value);
    }

    fn update(&mut self, op: BinaryOp, place: &Expr, operand: &Expr) {
        let operand = self.value(operand);
        let place = self.place(place);
        let old = self.b.load(place);
        let new = self.integers().binary(op, old, operand);
        self.b.store(place, new);
    }
}

/// Returns true if a place has an index to compute.
fn has_index(place: &Expr) -> bool {
    match &place.kind {
        ExprKind::Var(_) => false,
        ExprKind::Field(inner, _) | ExprKind::Deref(inner) | ExprKind::Ref(inner) => {
            has_index(inner)
        }
        _ => true,
    }
}
