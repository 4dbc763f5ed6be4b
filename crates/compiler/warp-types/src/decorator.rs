//! Roles of functions, by their decorators. A decorator is `wp.kernel` or `wp.func` under some
//! name, a call of either, or a function of the text that passes the decorated function to
//! either.

use crate::unit::Unit;
use crate::value::KnownValue;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{self, Expr, StmtFunctionDef};

/// Role of a function of the text in the dialect.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// `@wp.kernel`
    Kernel,
    /// `@wp.func`
    Func,
    /// `@wp.func_native`
    Native,
    /// `@wp.func_grad` and `@wp.func_replay`: hooks of another function.
    Hook,
    /// A function that Python runs.
    Python,
}

/// Role of a function, by its decorators.
pub fn role<'a>(unit: &Unit<'a>, def: &'a StmtFunctionDef, scope: ScopeId) -> Role {
    let mut decorators = def.decorator_list.iter();
    decorators
        .find_map(|decorator| role_given_by(unit, &decorator.expression, scope))
        .unwrap_or(Role::Python)
}

/// Role that a decorator gives to its function; `None` if it gives no role, or if only Python
/// knows the role.
pub(crate) fn role_given_by<'a>(unit: &Unit<'a>, maker: &'a Expr, scope: ScopeId) -> Option<Role> {
    let (named, is_called) = match maker {
        Expr::Call(call) => (&*call.func, true),
        named => (named, false),
    };
    match unit.known(named, scope).ok()? {
        KnownValue::Member(path) => role_named(&path),
        KnownValue::Python(def, ..) if !is_called => role_given_by_function(unit, def),
        _ => None,
    }
}

/// Role that a function of the text gives as a decorator: it calls `wp.kernel` or `wp.func` with
/// its first parameter.
fn role_given_by_function<'a>(unit: &Unit<'a>, def: &'a StmtFunctionDef) -> Option<Role> {
    if def.is_async || !def.decorator_list.is_empty() {
        return None;
    }
    let parameter = def.parameters.iter().next()?.as_parameter().name.as_str();
    let body = unit.scopes.body(def)?;
    if unit.scopes.bindings_in(body, parameter)?.len() != 1 {
        return None;
    }
    let sites = syntax::calls(&def.body);
    let made = sites.iter().take(MAX_SITES).filter(|site| {
        let given = syntax::argument(&site.call.arguments, "func", 0);
        matches!(given, Some(Expr::Name(name)) if name.id == parameter)
    });
    made.into_iter().find_map(|site| match &*site.call.func {
        Expr::Call(maker) => role_named(&unit.path(&maker.func, body)?),
        maker => role_named(&unit.path(maker, body)?),
    })
}

/// Greatest number of calls that are searched in the function of a decorator.
const MAX_SITES: usize = 100;

/// Role that a member of a module gives to the function that it decorates.
fn role_named(path: &str) -> Option<Role> {
    match path {
        "warp.kernel" | "warp.Kernel" | "warp.fem.cache.dynamic_kernel" => Some(Role::Kernel),
        "warp.func" | "warp.fem.cache.dynamic_func" => Some(Role::Func),
        "warp.func_native" => Some(Role::Native),
        "warp.func_grad" | "warp.func_replay" => Some(Role::Hook),
        _ => None,
    }
}
