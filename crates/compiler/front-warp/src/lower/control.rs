//! Statements and control flow. Loops are in `loops`.

use super::{Binding, FunctionLowering, LoweringResult, Operand, fault};
use crate::syntax::{ElifElseClause, Expr, Stmt, StmtIf};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::function::PassMode;
use gbxcule_ir::op::Value;
use gbxcule_ir::ty::{Scalar, Shape, Type};
use rustc_hash::FxHashMap;

/// Greatest depth of nested blocks: less than [`gbxcule_ir::check::MAX_NESTING`], so that passes
/// have room for their own.
const MAX_BLOCKS: usize = 160;

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    pub(super) fn stmt(&mut self, stmt: &'a Stmt) -> LoweringResult<()> {
        match stmt {
            Stmt::Assign(assign) => self.assign(assign),
            Stmt::AugAssign(assign) => self.augmented(assign),
            Stmt::If(branch) => self.branch(branch),
            Stmt::For(each) => self.for_each(each),
            Stmt::While(each) => self.while_loop(each),
            Stmt::Return(give) => self.give(give.value.as_deref(), self.unit.span(give)),
            Stmt::Expr(expr) => self.expression_statement(&expr.value),
            Stmt::Assert(assert) => {
                let condition = self.condition(&assert.test)?;
                let condition = self.truth(condition, self.span(&assert.test))?;
                let text = match assert.msg.as_deref() {
                    Some(Expr::StringLiteral(text)) => text.value.to_str().to_owned(),
                    _ => "assertion failed".to_owned(),
                };
                self.b.assert(condition, &text);
                Ok(())
            }
            Stmt::Pass(_) => Ok(()),
            Stmt::Break(_) | Stmt::Continue(_) => {
                if self.in_loop == 0 {
                    let span = self.unit.span(stmt);
                    return fault(
                        Code::OutsideLoop,
                        span,
                        "`break` and `continue` need a loop around them",
                    );
                }
                if matches!(stmt, Stmt::Break(_)) {
                    self.b.break_loop();
                } else {
                    self.b.continue_loop();
                }
                Ok(())
            }
            _ => {
                let what = statement_name(stmt);
                let span = self.unit.span(stmt);
                fault(Code::UnsupportedSyntax, span, format!("{what} is no part of the dialect"))
            }
        }
    }

    fn expression_statement(&mut self, expr: &'a Expr) -> LoweringResult<()> {
        match expr {
            Expr::StringLiteral(_) | Expr::EllipsisLiteral(_) | Expr::NumberLiteral(_) => Ok(()),
            _ => self.expr(expr).map(|_| ()),
        }
    }

    fn branch(&mut self, branch: &'a StmtIf) -> LoweringResult<()> {
        self.arms(&branch.test, &branch.body, &branch.elif_else_clauses)
    }

    /// Refuses code that would nest deeper than back ends and passes can take.
    pub(super) fn check_nesting(&self, span: gbxcule_ir::source::Span) -> LoweringResult<()> {
        if self.b.nesting() < MAX_BLOCKS {
            return Ok(());
        }
        let message =
            format!("blocks nest at most {MAX_BLOCKS} deep, and each `elif` counts as one");
        fault(Code::TooComplex, span, message)
    }

    fn arms(
        &mut self,
        test: &'a Expr,
        body: &'a [Stmt],
        rest: &'a [ElifElseClause],
    ) -> LoweringResult<()> {
        self.check_nesting(self.span(test))?;
        let condition = self.condition(test)?;
        if let Operand::KnownValue(known) = &condition
            && let Some(truth) = known.truth()
        {
            if truth {
                self.suite(body);
                return Ok(());
            }
            return self.else_branches(rest);
        }
        let condition = self.truth(condition, self.span(test))?;
        let before = self.names.clone();
        self.b.open_block();
        self.suite(body);
        let accept_diverges = self.b.diverged();
        let accept = self.b.close_block();
        let after_accept = std::mem::replace(&mut self.names, before.clone());
        self.b.open_block();
        let outcome = self.else_branches(rest);
        let reject_diverges = self.b.diverged();
        let reject = self.b.close_block();
        let after_reject = std::mem::take(&mut self.names);
        self.b.if_blocks(condition, accept, reject);
        self.names = match (accept_diverges, reject_diverges) {
            // What a branch that leaves bound is bound nowhere else.
            (true, false) => self.after_leaving_arm(kept(&before, after_reject), after_accept),
            (false, true) => self.after_leaving_arm(kept(&before, after_accept), after_reject),
            _ => self.merged(&before, after_accept, after_reject),
        };
        [accept, reject].into_iter().for_each(|block| self.leave_block(block));
        outcome
    }

    fn else_branches(&mut self, rest: &'a [ElifElseClause]) -> LoweringResult<()> {
        let Some((clause, after)) = rest.split_first() else { return Ok(()) };
        match &clause.test {
            Some(test) => {
                let around = self.b.span();
                self.b.set_span(self.unit.span(clause));
                let outcome = super::with_stack(|| self.arms(test, &clause.body, after));
                self.b.set_span(around);
                outcome
            }
            None => {
                self.suite(&clause.body);
                Ok(())
            }
        }
    }

    /// Bindings of names after a branch of which one arm left: in a loop, variables that this one
    /// bound first may be read after the loop.
    fn after_leaving_arm(
        &self,
        mut names: FxHashMap<&'a str, Binding<'a>>,
        gone: FxHashMap<&'a str, Binding<'a>>,
    ) -> FxHashMap<&'a str, Binding<'a>> {
        if self.in_loop > 0 {
            for (name, binding) in gone {
                if let Binding::Local(local) | Binding::KnownValue(_, Some(local)) = binding {
                    names.entry(name).or_insert(Binding::Local(local));
                }
            }
        }
        names
    }

    /// Bindings of names where two branches meet.
    fn merged(
        &mut self,
        before: &FxHashMap<&'a str, Binding<'a>>,
        accept: FxHashMap<&'a str, Binding<'a>>,
        mut reject: FxHashMap<&'a str, Binding<'a>>,
    ) -> FxHashMap<&'a str, Binding<'a>> {
        let mut merged =
            FxHashMap::with_capacity_and_hasher(accept.len(), rustc_hash::FxBuildHasher);
        for (name, left) in accept {
            let Some(right) = reject.remove(name) else {
                if visible_after(before, name, &left) {
                    merged.insert(name, left);
                }
                continue;
            };
            if let Some(binding) = joined(&left, &right)
                && visible_after(before, name, &binding)
            {
                merged.insert(name, binding);
            }
        }
        for (name, binding) in reject {
            if visible_after(before, name, &binding) {
                merged.insert(name, binding);
            }
        }
        merged
    }

    /// The condition of a branch or loop, as it is.
    pub(super) fn condition(&mut self, test: &'a Expr) -> LoweringResult<Operand<'a>> {
        self.expr(test)
    }

    fn give(
        &mut self,
        value: Option<&'a Expr>,
        span: gbxcule_ir::source::Span,
    ) -> LoweringResult<()> {
        let Some(expr) = value else {
            if self.give_adjoints() {
                return Ok(());
            }
            if self.result.is_some_and(|result| result != Type::UNIT) {
                return fault(
                    Code::TypeMismatch,
                    span,
                    "this `return` gives nothing, another one gives a value",
                );
            }
            self.result.get_or_insert(Type::UNIT);
            self.b.ret(None);
            return Ok(());
        };
        if matches!(expr, Expr::NoneLiteral(_)) {
            return self.give(None, span);
        }
        if self.manual_gradient.is_some() {
            let message = "a gradient by hand gives no result: it adds to `wp.adjoint[..]`";
            return fault(Code::UnsupportedAdjoint, span, message);
        }
        if self.is_kernel {
            return fault(
                Code::KernelResult,
                span,
                "a kernel gives no result: write to an array instead",
            );
        }
        let operand = self.expr(expr)?;
        let value = match &operand {
            Operand::Tile(tile) => self.tile_result_value(tile, self.span(expr))?,
            _ => self.value(operand, self.span(expr))?,
        };
        let value = self.contents(value);
        self.no_local_array(value, self.span(expr))?;
        let ty = self.ty(value);
        if ty == Type::UNIT {
            self.result.get_or_insert(Type::UNIT);
            self.b.ret(None);
            return Ok(());
        }
        self.set_result(ty, span)?;
        self.b.ret(Some(value));
        Ok(())
    }

    /// Sets the type of the function's result, or checks that it is the one that was set.
    fn set_result(&mut self, ty: Type, span: gbxcule_ir::source::Span) -> LoweringResult<()> {
        match self.result {
            Some(result) if result != ty => {
                let (found, wanted) = (self.shown(ty), self.shown(result));
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
                let id = self.b.function_id();
                self.b.module.functions[id].result = ty;
            }
        }
        Ok(())
    }

    /// Condition that an operand holds, as C++ takes it.
    pub(super) fn truth(
        &mut self,
        operand: Operand<'a>,
        span: gbxcule_ir::source::Span,
    ) -> LoweringResult<Value> {
        let value = self.value(operand, span)?;
        let ty = self.ty(value);
        match *self.shape(ty) {
            Shape::Scalar(Scalar::Bool) => Ok(value),
            Shape::Scalar(_) => Ok(self.b.convert(value, Scalar::Bool)),
            Shape::Array { .. } => Ok(self.b.present(value)),
            _ => {
                let found = self.shown(ty);
                fault(
                    Code::TypeMismatch,
                    span,
                    format!("a condition is a number, a `bool` or an array, found `{found}`"),
                )
            }
        }
    }

    /// Names that a refused statement would have bound are refused quietly from here on.
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
                    self.names.insert(name.id.as_str(), Binding::Refused);
                }
            }
        }
    }

    /// Returns true if a parameter is the caller's place, to write.
    pub(super) fn is_reference(&self, position: u32) -> bool {
        self.b
            .function()
            .params
            .get(position as usize)
            .is_some_and(|param| param.mode == PassMode::Mutable)
    }
}

/// Binding of a name that may have one or the other; `None` if that can't be said.
pub(super) fn joined<'a>(left: &Binding<'a>, right: &Binding<'a>) -> Option<Binding<'a>> {
    match (left, right) {
        (Binding::Refused, _) | (_, Binding::Refused) => Some(Binding::Refused),
        (Binding::KnownValue(one, local), Binding::KnownValue(other, second)) if one == other => {
            Some(Binding::KnownValue(one.clone(), local.or(*second)))
        }
        (
            Binding::KnownValue(_, Some(one)) | Binding::Local(one),
            Binding::KnownValue(_, Some(other)) | Binding::Local(other),
        ) if one == other => Some(Binding::Local(*one)),
        (Binding::Value(one), Binding::Value(other)) if one == other => Some(left.clone()),
        (Binding::Param(one), Binding::Param(other)) if one == other => Some(left.clone()),
        (Binding::Extents(one), Binding::Extents(other)) if one == other => Some(left.clone()),
        (Binding::Tile(one), Binding::Tile(other)) if one == other => Some(left.clone()),
        (Binding::Tuple(one), Binding::Tuple(other)) if std::rc::Rc::ptr_eq(one, other) => {
            Some(left.clone())
        }
        _ => None,
    }
}

/// Returns true if a binding made in a block means something after it.
pub(super) fn visible_after(
    before: &FxHashMap<&str, Binding<'_>>,
    name: &str,
    binding: &Binding<'_>,
) -> bool {
    match binding {
        Binding::Value(_) | Binding::Tuple(_) | Binding::Parts(_) | Binding::Extents(_) => {
            matches!(before.get(name), Some(old) if joined(old, binding).is_some())
        }
        _ => true,
    }
}

fn kept<'a>(
    before: &FxHashMap<&'a str, Binding<'a>>,
    after: FxHashMap<&'a str, Binding<'a>>,
) -> FxHashMap<&'a str, Binding<'a>> {
    after.into_iter().filter(|(name, binding)| visible_after(before, name, binding)).collect()
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
