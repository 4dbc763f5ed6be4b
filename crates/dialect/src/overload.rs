//! Which functions are kernels without a decorator, and which types generic kernels are compiled
//! for.

use super::annotation::Annotation;
use super::constant::{Static, Unit};
use super::decorator::Role;
use super::scope::{Owner, ScopeId};
use super::signature::Formal;
use super::syntax::{self, Expr, ExprCall, Stmt, StmtFunctionDef};

/// Argument types that the calls of a text say about its kernels.
pub(super) struct KernelCalls<'a> {
    calls: Vec<&'a ExprCall>,
}

impl<'a> KernelCalls<'a> {
    pub(super) fn read(body: &'a [Stmt]) -> Self {
        let calls = syntax::calls(body).into_iter().filter(|call| {
            let name = called(call);
            matches!(name, "Kernel" | "kernel" | "overload") || name.contains("getkernel")
        });
        Self { calls: calls.collect() }
    }

    /// Functions made kernels by a call: `wp.Kernel(func=f)`, `wp.kernel(f)`, `getkernel(f, ..)`.
    pub(super) fn kernels(&self, unit: &Unit<'a>) -> Vec<(&'a StmtFunctionDef, ScopeId)> {
        let mut found: Vec<(&'a StmtFunctionDef, ScopeId)> = Vec::new();
        for call in self.calls.iter().filter(|call| called(call) != "overload") {
            let keyword = call
                .arguments
                .keywords
                .iter()
                .find(|k| k.arg.as_ref().is_some_and(|arg| arg == "func"));
            let Some(Expr::Name(name)) = keyword.map(|k| &k.value).or(call.arguments.args.first())
            else {
                continue;
            };
            let at = syntax::start(*call);
            let visible = |scope: ScopeId| match unit.scopes.owner(scope) {
                Owner::Module => true,
                Owner::Function(def) => (syntax::start(def)..syntax::end(def)).contains(&at),
                Owner::Class(_) => false,
            };
            let named = unit.scopes.functions.iter().rev().find(|(def, scope)| {
                let own = unit.scopes.text(*scope) == 0;
                own && *def.name == *name.id && syntax::start(*def) < at && visible(*scope)
            });
            if let Some(&(def, scope)) = named
                && unit.role(def, scope) == Role::Python
                && !found.iter().any(|(other, _)| std::ptr::eq(*other, def))
            {
                found.push((def, scope));
            }
        }
        found
    }

    /// The annotations for a generic kernel's parameters by its first `wp.overload`, if they are
    /// known.
    pub(super) fn chosen(
        &self,
        unit: &Unit<'a>,
        def: &'a StmtFunctionDef,
        formals: &[Formal<'a>],
    ) -> Option<Vec<Annotation>> {
        self.calls.iter().filter(|call| called(call) == "overload").find_map(|call| {
            let named = matches!(call.arguments.args.first(), Some(Expr::Name(name)) if name.id == def.name.id);
            if !named {
                return None;
            }
            let types = match call.arguments.args.get(1)? {
                Expr::List(list) => list.elts.iter().map(|e| unit.annotation(e, 0).ok()).collect::<Option<Vec<_>>>()?,
                Expr::Dict(dict) => formals
                    .iter()
                    .map(|formal| {
                        let item = dict.items.iter().find(|item| match item.key.as_ref().map(|key| unit.known(key, 0)) {
                            Some(Ok(Static::Text(text))) => &*text == formal.name,
                            _ => false,
                        });
                        match item {
                            Some(item) => unit.annotation(&item.value, 0).ok(),
                            None => Some(formal.annotation.clone()),
                        }
                    })
                    .collect::<Option<Vec<_>>>()?,
                _ => return None,
            };
            (types.len() == formals.len() && !types.iter().any(Annotation::is_generic)).then_some(types)
        })
    }
}

/// The last name of what is called.
fn called(call: &ExprCall) -> &str {
    match &*call.func {
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => "",
    }
}
