//! Statements and control flow. Loops are in `loops`.

use super::expr::Expressions;
use super::names::Names;
use super::operand::{LoweringResult, Operand, fault};
use super::session::Definition;
use super::usage::Usage;
use super::user_function::Instances;
use super::writer::Writer;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::BlockId;
use gbxcule_ir::ty::{Shape, Type};
use gbxcule_python_names::syntax::{ElifElseClause, Expr, Stmt};
use gbxcule_python_values::with_stack;
use gbxcule_warp_types::annotation::Annotation;
use gbxcule_warp_types::type_expr;
use std::rc::Rc;

/// Lowers the statements of one function.
pub(super) struct Statements<'s, 'a> {
    pub(super) e: Expressions<'s, 'a>,
    /// The type of the function's result, once it is known.
    result: Option<Type>,
    /// Number of open loops of the IR.
    in_loop: usize,
}

impl<'s, 'a> Statements<'s, 'a> {
    /// Fills a function.
    pub(super) fn lower(b: Writer<'s, 'a>, definition: Definition<'_, 'a>) {
        let Definition { def, scope, formals, bindings, kind } = definition;
        let unit = b.unit();
        let usage = Usage::of(def, Rc::clone(&unit.dialect.references));
        let e = Expressions::new(b, Names::new(usage), scope, kind);
        let mut lower = Self { e, result: None, in_loop: 0 };
        lower.e.names.enter(&mut lower.e.b, formals, bindings);
        let returns = def.returns.as_deref().map(|it| (type_expr::annotation(unit, it, scope), it));
        lower.suite(&def.body);
        lower.end(returns);
        lower.e.b.finish();
    }

    pub(super) fn stmt(&mut self, stmt: &'a Stmt) -> LoweringResult<()> {
        match stmt {
            Stmt::Assign(assign) => self.assign(assign),
            Stmt::AugAssign(assign) => self.augmented(assign),
            Stmt::If(it) => self.arms(&it.test, &it.body, &it.elif_else_clauses),
            Stmt::For(each) => self.for_each(each),
            Stmt::While(each) => self.while_loop(each),
            Stmt::Return(give) => self.give(give.value.as_deref(), self.e.unit.span(give)),
            Stmt::Expr(expr) => match &*expr.value {
                Expr::StringLiteral(_) | Expr::EllipsisLiteral(_) | Expr::NumberLiteral(_) => {
                    Ok(())
                }
                value => self.e.expr(value).map(drop),
            },
            Stmt::Assert(assert) => {
                let condition = self.e.expr_truth(&assert.test)?;
                let text = match assert.msg.as_deref() {
                    Some(Expr::StringLiteral(text)) => text.value.to_str().to_owned(),
                    _ => "assertion failed".to_owned(),
                };
                self.e.b.assert(condition, &text);
                Ok(())
            }
            Stmt::Pass(_) => Ok(()),
            Stmt::Break(_) | Stmt::Continue(_) => {
                if self.in_loop == 0 {
                    let span = self.e.unit.span(stmt);
                    let message = "`break` and `continue` need a loop around them";
                    return fault(Code::OutsideLoop, span, message);
                }
                if matches!(stmt, Stmt::Break(_)) {
                    self.e.b.break_loop();
                } else {
                    self.e.b.continue_loop();
                }
                Ok(())
            }
            _ => {
                let what = statement_name(stmt);
                let span = self.e.unit.span(stmt);
                fault(Code::UnsupportedSyntax, span, format!("{what} isn't part of the dialect"))
            }
        }
    }

    fn else_branches(&mut self, clauses: &'a [ElifElseClause]) -> LoweringResult<()> {
        let Some((clause, after)) = clauses.split_first() else { return Ok(()) };
        match &clause.test {
            Some(test) => {
                let around = self.e.b.span();
                self.e.b.set_span(self.e.unit.span(clause));
                let outcome = with_stack(|| self.arms(test, &clause.body, after));
                self.e.b.set_span(around);
                outcome
            }
            None => {
                self.suite(&clause.body);
                Ok(())
            }
        }
    }

    fn give(&mut self, value: Option<&'a Expr>, span: Span) -> LoweringResult<()> {
        let Some(expr) = value else {
            if self.give_adjoints() {
                return Ok(());
            }
            if self.result.is_some_and(|result| result != Type::UNIT) {
                let message = "this `return` gives nothing, another one gives a value";
                return fault(Code::TypeMismatch, span, message);
            }
            self.result.get_or_insert(Type::UNIT);
            self.e.b.ret(None);
            return Ok(());
        };
        if matches!(expr, Expr::NoneLiteral(_)) {
            return self.give(None, span);
        }
        if self.e.manual_gradient().is_some() {
            let message = "a gradient by hand gives no result: it adds to `wp.adjoint[..]`";
            return fault(Code::UnsupportedAdjoint, span, message);
        }
        if self.e.is_kernel() {
            let message = "a kernel gives no result: write to an array instead";
            return fault(Code::KernelResult, span, message);
        }
        let operand = self.e.expr(expr)?;
        let value = match operand {
            Operand::Tile(tile) => {
                Instances::tile_result(&mut self.e.b, &tile, self.e.unit.span(expr))?
            }
            _ => Instances::result(&mut self.e.b, operand, self.e.unit.span(expr))?,
        };
        let value = self.e.b.contents(value);
        self.e.b.no_local_array(value, self.e.span(expr))?;
        let ty = self.e.b.ty(value);
        if ty == Type::UNIT {
            self.result.get_or_insert(Type::UNIT);
            self.e.b.ret(None);
            return Ok(());
        }
        self.set_result(ty, span)?;
        self.e.b.ret(Some(value));
        Ok(())
    }

    /// Sets the type of the function's result, or checks that the type is the one that was set
    /// before.
    fn set_result(&mut self, ty: Type, span: Span) -> LoweringResult<()> {
        match self.result {
            Some(result) if result != ty => {
                let (found, wanted) = (self.e.b.shown(ty), self.e.b.shown(result));
                return fault(
                    Code::TypeMismatch,
                    span,
                    format!(
                        "all results of a function are of one type: this is a `{found}`, another one a `{wanted}`"
                    ),
                );
            }
            Some(_) => {}
            None => {
                self.result = Some(ty);
                let id = self.e.b.function_id();
                self.e.b.module.functions[id].result = ty;
            }
        }
        Ok(())
    }

    /// Refuses the names that a refused statement would have bound, without further messages.
    pub(super) fn refuse_targets(&mut self, stmt: &'a Stmt) {
        let targets: Vec<&'a Expr> = match stmt {
            Stmt::Assign(assign) => assign.targets.iter().collect(),
            Stmt::AugAssign(assign) => vec![&assign.target],
            Stmt::AnnAssign(assign) => vec![&assign.target],
            Stmt::For(each) => vec![&each.target],
            _ => return,
        };
        for target in targets {
            let names: &'a [Expr] = match target {
                Expr::Tuple(tuple) => &tuple.elts,
                one => std::slice::from_ref(one),
            };
            for name in names {
                if let Expr::Name(name) = name {
                    self.e.names.refuse(name.id.as_str());
                }
            }
        }
    }

    /// Lowers a body. Faults after it belong to the enclosing statement again.
    pub(super) fn suite(&mut self, body: &'a [Stmt]) {
        let around = self.e.b.span();
        self.statements(body);
        self.e.b.set_span(around);
    }

    fn arms(
        &mut self,
        test: &'a Expr,
        body: &'a [Stmt],
        clauses: &'a [ElifElseClause],
    ) -> LoweringResult<()> {
        self.e.b.check_nesting(self.e.span(test))?;
        let condition = self.e.expr(test)?;
        if let Operand::KnownValue(known) = &condition
            && let Some(truth) = known.truth()
        {
            if truth {
                self.suite(body);
                return Ok(());
            }
            return self.else_branches(clauses);
        }
        let condition = self.e.b.truth(condition, self.e.span(test))?;
        let before = self.e.names.here();
        self.e.b.open_block();
        self.suite(body);
        let accept_leaves = self.e.b.diverged();
        let accept = self.e.b.close_block();
        let after_accept = self.e.names.go_on_from(before.clone());
        self.e.b.open_block();
        let outcome = self.else_branches(clauses);
        let reject_leaves = self.e.b.diverged();
        let reject = self.e.b.close_block();
        self.e.b.if_blocks(condition, accept, reject);
        let accepted = (after_accept, accept_leaves);
        self.e.names.join(&before, accepted, reject_leaves, self.in_loop > 0);
        [accept, reject].into_iter().for_each(|block| self.e.names.leave_block(block));
        outcome
    }

    /// The body of a loop of the IR.
    pub(super) fn loop_body(&mut self, body: &'a [Stmt]) -> BlockId {
        self.in_loop += 1;
        self.suite(body);
        self.in_loop -= 1;
        self.e.b.close_block()
    }

    /// Ends a gradient by hand; returns false for another function.
    fn give_adjoints(&mut self) -> bool {
        let Some(gradient) = self.e.take_adjoints() else { return false };
        self.e.b.ret(Some(gradient));
        true
    }

    fn statements(&mut self, body: &'a [Stmt]) {
        for (position, stmt) in body.iter().enumerate() {
            if position == 0 && is_docstring(stmt) {
                continue;
            }
            let span = self.e.unit.span(stmt);
            if !self.e.b.session().report.spend(span) {
                return;
            }
            self.e.b.set_span(span);
            if let Err(stop) = with_stack(|| self.stmt(stmt)) {
                self.e.b.session().report.refuse(stop);
                self.refuse_targets(stmt);
            }
        }
    }

    /// Ends the function: checks that control returns a result, if the function has one.
    fn end(&mut self, returns: Option<(Result<Annotation, Box<Diagnostic>>, &'a Expr)>) {
        if !self.e.b.diverged() && self.give_adjoints() {
            return;
        }
        let result = self.result.unwrap_or(Type::UNIT);
        match returns {
            Some((Err(fault), _)) => self.e.b.session().report.push(*fault),
            Some((Ok(annotation), expr)) => self.check_result(&annotation, expr, result),
            None => {}
        }
        if result != Type::UNIT && !self.e.b.diverged() {
            let value = self.e.b.zero_of(result);
            self.e.b.ret(Some(value));
        }
    }

    fn check_result(&mut self, annotation: &Annotation, expr: &Expr, result: Type) {
        let (b, span) = (&mut self.e.b, self.e.unit.span(expr));
        if b.define_structs(annotation).is_err() {
            return;
        }
        // An array made in the function is always a `fixedarray`.
        let made = matches!(b.shape(result), Shape::Fixed { .. });
        let fits =
            b.takes(annotation, result) && !(made && matches!(annotation, Annotation::Array(..)));
        if fits || b.session().report.faults().iter().any(|fault| fault.span().is_some()) {
            return;
        }
        let (name, found) = (&b.function().name, b.shown(result));
        let message = format!("`{name}` gives `{found}`, not the type of its annotation");
        let mut fault = Diagnostic::error(Code::TypeMismatch, span, message);
        if result.as_scalar().is_some() {
            fault = fault.help("convert what it returns, or write that type here");
        }
        b.session().report.push(fault);
    }
}

fn is_docstring(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Expr(expr) if matches!(&*expr.value, Expr::StringLiteral(_)))
}

fn statement_name(stmt: &Stmt) -> &'static str {
    match stmt {
        Stmt::FunctionDef(_) => "a function inside a kernel",
        Stmt::ClassDef(_) => "a class inside a kernel",
        Stmt::Delete(_) => "`del`",
        Stmt::AnnAssign(_) => "an annotated assignment",
        Stmt::With(_) => "`with`",
        Stmt::Match(_) => "`match`",
        Stmt::Raise(_) => "`raise`",
        Stmt::Try(_) => "`try`",
        Stmt::Import(_) | Stmt::ImportFrom(_) => "an import inside a kernel",
        Stmt::Global(_) => "`global`",
        Stmt::Nonlocal(_) => "`nonlocal`",
        _ => "this statement",
    }
}
