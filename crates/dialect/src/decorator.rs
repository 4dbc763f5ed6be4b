//! Role of a function of the text, by its decorators.

use super::constant::{KnownValue, Unit};
use super::scope::{BindingSource, ScopeId};
use super::syntax::{self, Expr, Stmt, StmtFunctionDef};

/// How many functions a decorator may lead through.
const MAX_STEPS: usize = 4;

/// Role of a function of the text in the dialect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    Kernel,
    Func,
    /// `@wp.func_native`
    Native,
    /// `@wp.func_grad` and `@wp.func_replay`: hooks of another function.
    Hook,
    Python,
}

impl<'a> Unit<'a> {
    /// Role of a function, by its decorators.
    pub(super) fn role(&self, def: &'a StmtFunctionDef, scope: ScopeId) -> Role {
        for decorator in &def.decorator_list {
            let expr = match &decorator.expression {
                Expr::Call(call) => &*call.func,
                expr => expr,
            };
            let path = self.path(expr, scope);
            match path.as_deref() {
                Some("warp.kernel" | "warp.fem.cache.dynamic_kernel") => return Role::Kernel,
                Some("warp.func" | "warp.fem.cache.dynamic_func") => return Role::Func,
                Some("warp.func_native") => return Role::Native,
                Some("warp.func_grad" | "warp.func_replay") => return Role::Hook,
                Some(_) => {}
                None => {
                    if let Some(role) = self.role_by_function(&decorator.expression, scope) {
                        return role;
                    }
                }
            }
        }
        Role::Python
    }

    /// Role that a decorator of the text gives: a function whose result is `wp.func(f)` or
    /// `wp.kernel(..)(f)` of the function `f` that it is given, or one that returns such a
    /// function.
    fn role_by_function(&self, decorator: &'a Expr, scope: ScopeId) -> Option<Role> {
        let (func, is_made) = match decorator {
            Expr::Call(call) => (&*call.func, true),
            other => (other, false),
        };
        // The decorator itself may be what is decorated.
        if self.decorator_level.get() >= MAX_STEPS {
            return None;
        }
        self.decorator_level.set(self.decorator_level.get() + 1);
        let known = self.known(func, scope);
        self.decorator_level.set(self.decorator_level.get() - 1);
        let Ok(KnownValue::Python(mut def, _)) = known else { return None };
        let mut body = self.scopes.body(def)?;
        let mut result = only_result(def)?;
        if is_made {
            let Expr::Name(inner) = result else { return None };
            match self.scopes.bindings_in(body, inner.id.as_str())? {
                [one] if one.guard.is_none() => match one.source {
                    BindingSource::Function(inner) => def = inner,
                    _ => return None,
                },
                _ => return None,
            }
            body = self.scopes.body(def)?;
            result = only_result(def)?;
        }
        if !def.decorator_list.is_empty() {
            return None;
        }
        let Expr::Call(call) = result else { return None };
        let maker = match &*call.func {
            Expr::Call(made) => &*made.func,
            maker => maker,
        };
        let role = match self.path(maker, body).as_deref() {
            Some("warp.kernel") => Role::Kernel,
            Some("warp.func") => Role::Func,
            _ => return None,
        };
        let given = call.arguments.args.first()?;
        self.is_parameter(given, def, body, MAX_STEPS).then_some(role)
    }

    /// Returns true if an expression is the first parameter of a function, perhaps by way of
    /// functions that return what they are given.
    fn is_parameter(
        &self,
        expr: &'a Expr,
        def: &'a StmtFunctionDef,
        body: ScopeId,
        steps: usize,
    ) -> bool {
        match expr {
            Expr::Name(name) => {
                let bound = self.scopes.bindings_in(body, name.id.as_str()).unwrap_or_default();
                super::object::receiver(def) == Some(name.id.as_str()) && bound.len() == 1
            }
            Expr::Call(call) if steps > 0 => {
                let Some(given) = call.arguments.args.first() else { return false };
                let Ok(KnownValue::Python(inner, _)) = self.known(&call.func, body) else {
                    return false;
                };
                let (Some(inner_body), Some(result)) =
                    (self.scopes.body(inner), only_result(inner))
                else {
                    return false;
                };
                inner.decorator_list.is_empty()
                    && self.is_parameter(result, inner, inner_body, steps - 1)
                    && self.is_parameter(given, def, body, steps - 1)
            }
            _ => false,
        }
    }
}

/// Expression that a function returns at its end, if it returns nowhere else.
fn only_result(def: &StmtFunctionDef) -> Option<&Expr> {
    let (last, before) = def.body.split_last()?;
    let Stmt::Return(last) = last else { return None };
    let is_plain = !def.is_async && !syntax::yields_or_rebinds(def);
    (is_plain && !before.iter().any(syntax::returns)).then_some(last.value.as_deref()?)
}
