//! Results of Python functions, as far as the text says them: which of their branches are taken,
//! and what is returned there. Nothing is run; a loop, or a question whose answer only Python
//! knows, ends the reading if a `return` depends on it.

use super::constant::{Evaluation, KnownValue, Unit};
use super::frame::FrameId;
use crate::overload_set::OverloadSet;
use gbxcule_python_names::syntax::{self, Expr, Stmt, StmtFunctionDef};
use gbxcule_python_names::{BindingSource, ScopeId};

/// How some statements end.
enum End<'a> {
    /// Statements behind them are reached.
    Reached,
    Returned(Option<&'a Expr>),
}

impl<'a> Unit<'a> {
    /// Result of a function in a frame that has its arguments; `None` if only Python knows it.
    pub(super) fn function_result(
        &self,
        def: &'a StmtFunctionDef,
        body: ScopeId,
        frame: FrameId,
        expr: &Expr,
    ) -> Evaluation<'a> {
        self.framed(frame, || {
            self.memo().result(def, || {
                self.with_depth_limit(self.span(expr), || {
                    let unknown = || {
                        let message =
                            format!("what `{}` returns is only known when Python runs", def.name);
                        self.needs_python(expr, message)
                    };
                    if def.is_async || syntax::yields_or_rebinds(def) {
                        return Err(unknown());
                    }
                    match self.end(&def.body, body) {
                        Some(End::Returned(Some(value))) => {
                            let known = self.known(value, body)?;
                            Ok(known.defined_before(syntax::start(value), body))
                        }
                        Some(End::Returned(None) | End::Reached) => Ok(KnownValue::None),
                        None => Err(unknown()),
                    }
                })
            })
        })
    }

    /// How statements end; `None` if only Python knows.
    fn end(&self, body: &'a [Stmt], scope: ScopeId) -> Option<End<'a>> {
        for stmt in body {
            match self.end_of(stmt, scope)? {
                End::Reached => {}
                returned => return Some(returned),
            }
        }
        Some(End::Reached)
    }

    fn end_of(&self, stmt: &'a Stmt, scope: ScopeId) -> Option<End<'a>> {
        match stmt {
            Stmt::Return(it) => Some(End::Returned(it.value.as_deref())),
            Stmt::Raise(_) => None,
            Stmt::If(it) => {
                let clauses = it.elif_else_clauses.iter();
                let clauses = clauses.map(|clause| (clause.test.as_ref(), &clause.body));
                for (test, body) in [(Some(&*it.test), &it.body)].into_iter().chain(clauses) {
                    let answer = test.map_or(Some(true), |test| {
                        self.known(test, scope).ok().and_then(|it| it.truth())
                    });
                    match answer {
                        Some(true) => return self.end(body, scope),
                        Some(false) => {}
                        None => return reached_without_return(stmt),
                    }
                }
                Some(End::Reached)
            }
            Stmt::Expr(it) if self.may_change_a_local(&it.value, scope) => None,
            _ => reached_without_return(stmt),
        }
    }

    /// Returns true for a call that is given a list or another thing of the function that it may
    /// change.
    fn may_change_a_local(&self, expr: &'a Expr, scope: ScopeId) -> bool {
        let Expr::Call(call) = expr else { return false };
        call.arguments.args.iter().any(|arg| {
            let Expr::Name(name) = arg else { return false };
            let bound = self.scopes.bindings_in(scope, name.id.as_str()).unwrap_or_default();
            bound.iter().any(|it| match it.source {
                BindingSource::Value(Expr::List(_) | Expr::Dict(_) | Expr::ListComp(_)) => true,
                BindingSource::Value(Expr::Call(_)) => matches!(
                    self.known(arg, scope),
                    Ok(KnownValue::Sequence(_) | KnownValue::Dict(_))
                ),
                _ => false,
            })
        })
    }
}

impl<'a> KnownValue<'a> {
    /// Functions as they are at a place of the scope that they are defined in: what the text
    /// defines behind a `return` isn't reached.
    fn defined_before(self, place: u32, scope: ScopeId) -> Self {
        match self {
            KnownValue::Function(family) if family.home == scope && family.before.is_none() => {
                KnownValue::Function(OverloadSet { before: Some(place), ..family })
            }
            KnownValue::Sequence(parts) => KnownValue::Sequence(
                parts.iter().map(|it| it.clone().defined_before(place, scope)).collect(),
            ),
            KnownValue::Dict(items) => {
                let item = |(key, value): &(Self, Self)| {
                    (key.clone(), value.clone().defined_before(place, scope))
                };
                KnownValue::Dict(items.iter().map(item).collect())
            }
            other => other,
        }
    }
}

/// End of a statement that may take any of its ways: known if none returns.
fn reached_without_return<'a>(stmt: &Stmt) -> Option<End<'a>> {
    (!syntax::returns(stmt)).then_some(End::Reached)
}
