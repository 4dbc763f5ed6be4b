//! Results of Python functions, as far as the text says them: the branches that are taken, and
//! the values that they return. The reading ends at a loop, or at a condition that only Python
//! knows, if a `return` depends on it.

use crate::dialect::{Dialect, Evaluation};
use crate::evaluator::Evaluator;
use crate::frame::FrameId;
use crate::value::KnownValue;
use gbxcule_python_names::syntax::{self, Expr, Stmt, StmtFunctionDef};
use gbxcule_python_names::{BindingSource, ScopeId};

impl<'a, D: Dialect<'a>> Evaluator<'a, D> {
    /// Result of a function in a frame that has its arguments.
    pub(crate) fn function_result(
        &self,
        def: &'a StmtFunctionDef,
        scope: ScopeId,
        frame: FrameId,
        expr: &Expr,
    ) -> Evaluation<'a, D> {
        let evaluate = || {
            let unknown = || {
                let message = format!("what `{}` returns is only known when Python runs", def.name);
                self.needs_python(expr, message)
            };
            if def.is_async || syntax::yields_or_rebinds(def) {
                return Err(unknown());
            }
            match (Body { values: self, scope }).end(&def.body) {
                Some(End::Returned(Some(value))) => {
                    let result = self.known(value, scope)?;
                    Ok(result.defined_before(syntax::start(value), scope))
                }
                Some(End::Returned(None) | End::Reached) => Ok(KnownValue::None),
                None => Err(unknown()),
            }
        };
        self.frames.run(frame, || {
            let memo = self.frames.memo();
            memo.result(def, || self.with_depth_limit(self.span(expr), evaluate))
        })
    }
}

/// Way in which some statements end.
enum End<'a> {
    /// The statements behind them are reached.
    Reached,
    Returned(Option<&'a Expr>),
}

/// Body of a function.
struct Body<'e, 'a, D: Dialect<'a>> {
    values: &'e Evaluator<'a, D>,
    scope: ScopeId,
}

impl<'a, D: Dialect<'a>> Body<'_, 'a, D> {
    /// End of some statements; `None` if only Python knows it.
    fn end(&self, body: &'a [Stmt]) -> Option<End<'a>> {
        for stmt in body {
            match self.end_of(stmt)? {
                End::Reached => {}
                returned => return Some(returned),
            }
        }
        Some(End::Reached)
    }

    fn end_of(&self, stmt: &'a Stmt) -> Option<End<'a>> {
        match stmt {
            Stmt::Return(it) => Some(End::Returned(it.value.as_deref())),
            Stmt::Raise(_) => None,
            Stmt::If(it) => {
                let clauses = it.elif_else_clauses.iter();
                let clauses = clauses.map(|clause| (clause.test.as_ref(), &clause.body));
                for (test, body) in [(Some(&*it.test), &it.body)].into_iter().chain(clauses) {
                    let answer = test.map_or(Some(true), |test| {
                        self.values.known(test, self.scope).ok().and_then(|it| it.truth())
                    });
                    match answer {
                        Some(true) => return self.end(body),
                        Some(false) => {}
                        None => return reached_without_return(stmt),
                    }
                }
                Some(End::Reached)
            }
            Stmt::Expr(it) if self.may_change_a_local(&it.value) => None,
            _ => reached_without_return(stmt),
        }
    }

    /// Returns true for a call that has a list or dictionary of the function as an argument,
    /// because the call may change it.
    fn may_change_a_local(&self, expr: &'a Expr) -> bool {
        let Expr::Call(call) = expr else { return false };
        call.arguments.args.iter().any(|arg| {
            let Expr::Name(name) = arg else { return false };
            let scopes = &self.values.scopes;
            let bound = scopes.bindings_in(self.scope, name.id.as_str()).unwrap_or_default();
            bound.iter().any(|it| match it.source {
                BindingSource::Value(Expr::List(_) | Expr::Dict(_) | Expr::ListComp(_)) => true,
                BindingSource::Value(Expr::Call(_)) => matches!(
                    self.values.known(arg, self.scope),
                    Ok(KnownValue::Sequence(_) | KnownValue::Dict(_))
                ),
                _ => false,
            })
        })
    }
}

/// Returns the end of a statement whose course only Python knows: if it has no `return`, the
/// statements behind it are reached.
fn reached_without_return<'a>(stmt: &Stmt) -> Option<End<'a>> {
    (!syntax::returns(stmt)).then_some(End::Reached)
}
