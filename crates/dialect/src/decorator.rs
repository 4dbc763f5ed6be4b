//! Role of a function of the text, by its decorators.

use super::constant::Unit;
use super::scope::ScopeId;
use super::syntax::{Expr, StmtFunctionDef};

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
                Some("warp.kernel") => return Role::Kernel,
                Some("warp.func") => return Role::Func,
                Some("warp.func_native") => return Role::Native,
                Some("warp.func_grad" | "warp.func_replay") => return Role::Hook,
                _ => {}
            }
        }
        Role::Python
    }
}
