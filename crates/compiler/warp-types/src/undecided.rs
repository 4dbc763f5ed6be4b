//! Functions that look like kernels but aren't known to be kernels, because their decorator is
//! unknown or missing.

use crate::annotation::Annotation;
use crate::decorator::{self, Role};
use crate::type_expr;
use crate::unit::Unit;
use crate::value::KnownValue;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{self, CallSite, Expr, StmtFunctionDef};

/// Warning about a function that takes arrays of Warp or asks for `wp.tid()`, and whose role only
/// Python knows; `None` for any other function.
pub fn undecided<'a>(
    unit: &Unit<'a>,
    def: &'a StmtFunctionDef,
    scope: ScopeId,
) -> Option<Diagnostic> {
    let mut decorators = def.decorator_list.iter().map(|it| &it.expression);
    let unread = decorators.find(|it| !gbxcule_python_names::is_plain(it));
    if decorator::role(unit, def, scope) != Role::Python || !looks_like_a_kernel(unit, def, scope) {
        return None;
    }
    let name = &def.name;
    let Some(decorator) = unread else {
        // A function of Python may also take arrays, but only a kernel asks which thread it is.
        let is_bare = def.decorator_list.is_empty() && asks_for_thread(unit, def);
        return is_bare.then(|| {
            let message = format!("`{name}` calls `wp.tid()`, but isn't a kernel");
            Diagnostic::warning(Code::NoKernel, unit.span(name), message)
                .help("write `@wp.kernel` over it")
        });
    };
    let span = unit.span(decorator);
    let told = match unit.known(decorator, scope) {
        Err(fault) if fault.code == Code::UndefinedName => format!(": {}", fault.message),
        _ => String::new(),
    };
    let message =
        format!("`{name}` isn't a kernel here: only Python knows what this decorator makes{told}");
    let help = format!(
        "write `@wp.kernel` over it, or a call such as `made = wp.kernel({name})` behind it"
    );
    Some(Diagnostic::warning(Code::NoKernel, span, message).help(help))
}

fn looks_like_a_kernel<'a>(unit: &Unit<'a>, def: &'a StmtFunctionDef, scope: ScopeId) -> bool {
    let mut annotations = def.parameters.iter().filter_map(|it| it.annotation());
    let is_array = |it: &'a Expr| {
        matches!(
            type_expr::annotation(unit, it, scope),
            Ok(Annotation::Array(..) | Annotation::Indexed(..))
        )
    };
    annotations.any(is_array) || asks_for_thread(unit, def)
}

/// Returns true if `wp.tid()` is called in a function.
fn asks_for_thread<'a>(unit: &Unit<'a>, def: &'a StmtFunctionDef) -> bool {
    let Some(body) = unit.scopes.body(def) else { return false };
    let inner = syntax::functions(&def.body);
    let is_own = |call: &CallSite<'a>| {
        let at = syntax::start(call.call);
        !inner.iter().any(|it| (syntax::start(*it)..syntax::end(*it)).contains(&at))
    };
    let calls = syntax::calls(&def.body);
    calls.iter().filter(|it| is_own(it)).any(|CallSite { call, .. }| {
        let is_named = match &*call.func {
            Expr::Attribute(attribute) => attribute.attr.as_str() == "tid",
            Expr::Name(name) => name.id == "tid",
            _ => false,
        };
        is_named
            && matches!(unit.known(&call.func, body),
                Ok(KnownValue::Member(path)) if &*path == "warp.tid")
    })
}
