//! Role of a function of the text, by its decorators.
//!
//! A decorator is followed to what it is made of: names, `functools.partial`, lambdas, branches,
//! and functions and methods of the text that call `wp.kernel` or `wp.func`.

use super::constant::{KnownValue, Unit};
use super::file::Content;
use super::scope::{BindingSource, Definition, ScopeId};
use super::syntax::{self, CallSite, Expr, ExprCall, StmtFunctionDef};

/// How many expressions and functions a decorator may lead through.
const MAX_STEPS: usize = 6;

/// How many ways each of them may go.
const MAX_WAYS: usize = 4;

/// How many expressions are looked at for one decorator.
const MAX_WORK: usize = 1000;

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

/// Where a decorator has the function that it decorates.
#[derive(Clone, Copy)]
enum Decorated<'a> {
    /// A parameter of a function, with the scope of its body.
    Parameter(&'a str, ScopeId),
    /// The parameter of a lambda in a scope.
    OfLambda(&'a str, ScopeId),
}

impl Decorated<'_> {
    fn scope(&self) -> ScopeId {
        match self {
            Self::Parameter(_, scope) | Self::OfLambda(_, scope) => *scope,
        }
    }
}

impl<'a> Unit<'a> {
    /// Role of a function, by its decorators.
    pub(super) fn role(&self, def: &'a StmtFunctionDef, scope: ScopeId) -> Role {
        let mut decorators = def.decorator_list.iter();
        decorators
            .find_map(|decorator| self.role_given_by(&decorator.expression, scope))
            .unwrap_or(Role::Python)
    }

    /// Role that an expression gives to the function that it is called with; `None` if it gives
    /// none, or if only Python knows.
    pub(super) fn role_given_by(&self, maker: &'a Expr, scope: ScopeId) -> Option<Role> {
        let level = self.decorator_level.get();
        let work = if level == 0 { 0 } else { self.decorator_work.get() };
        // The decorator itself may be what is decorated.
        if level >= MAX_STEPS || work >= MAX_WORK {
            return None;
        }
        self.decorator_level.set(level + 1);
        self.decorator_work.set(work + 1);
        let role = match maker {
            Expr::If(choice) => {
                let ways = [&*choice.body, &*choice.orelse];
                agreed(ways.map(|way| self.role_given_by(way, scope)))
            }
            Expr::Lambda(lambda) => {
                let first = lambda.parameters.as_deref().and_then(|all| all.iter().next());
                let name = first.map(|it| it.as_parameter().name.as_str());
                name.and_then(|name| {
                    self.role_made(&lambda.body, Decorated::OfLambda(name, scope), MAX_STEPS)
                })
            }
            Expr::Call(call) => self.role_given_by_result(call, scope),
            _ => self.role_given_by_named(maker, scope),
        };
        self.decorator_level.set(level);
        role
    }

    /// Role that the result of a call gives: `wp.kernel(..)`, `partial(..)`, a decorator that a
    /// function returns.
    fn role_given_by_result(&self, call: &'a ExprCall, scope: ScopeId) -> Option<Role> {
        let path = self.path(&call.func, scope);
        if let Some(role) = path.as_deref().and_then(role_named) {
            return Some(role);
        }
        if path.as_deref() == Some("functools.partial") {
            return self.role_given_by(call.arguments.args.first()?, scope);
        }
        let Some((def, _)) = self.called_function(&call.func, scope) else {
            return self.role_given_by(&call.func, scope);
        };
        let body = self.scopes.body(def)?;
        let results = syntax::results(def);
        let roles = results.into_iter().take(MAX_WAYS).map(|it| self.role_given_by(it, body));
        agreed(roles.filter(Option::is_some))
    }

    fn role_given_by_named(&self, maker: &'a Expr, scope: ScopeId) -> Option<Role> {
        if let Some((def, position)) = self.called_function(maker, scope) {
            return self.role_given_by_function(def, position);
        }
        if let Some(path) = self.path(maker, scope) {
            return role_named(&path);
        }
        match maker {
            Expr::Name(name) => {
                let (definitions, home) = self.scopes.lookup(scope, name.id.as_str())?;
                self.role_given_by_bindings(definitions, home, syntax::start(maker))
            }
            Expr::Attribute(attribute) => match self.whole(&attribute.value, scope).ok()? {
                KnownValue::ImportedModule(module) => {
                    self.role_given_by_member(module, attribute.attr.as_str())
                }
                KnownValue::Class(class) => {
                    let definitions = self.scopes.bindings_in(class, attribute.attr.as_str())?;
                    self.role_given_by_bindings(definitions, class, u32::MAX)
                }
                _ => None,
            },
            _ => None,
        }
    }

    /// Role that all bindings of a name give which may count at a place.
    fn role_given_by_bindings(
        &self,
        definitions: &[Definition<'a>],
        home: ScopeId,
        at: u32,
    ) -> Option<Role> {
        let conditions = definitions.iter().filter(|it| it.since <= at);
        let mut ways: Vec<_> = conditions.map(|it| (it, self.condition(it.guard, home))).collect();
        ways.retain(|(_, holds)| *holds != Some(false));
        let first = ways.iter().rposition(|(_, holds)| *holds == Some(true)).unwrap_or(0);
        let ways = ways.get(first..).filter(|ways| ways.len() <= MAX_WAYS)?;
        agreed(ways.iter().map(|(definition, _)| match definition.source {
            BindingSource::Value(value) => self.role_given_by(value, home),
            BindingSource::Function(def) => self.role_given_by_function(def, 0),
            BindingSource::ImportFrom(level, module, member) => {
                match self.files.target(self.scopes.text(home), level, module) {
                    Some(Ok(module)) => self.role_given_by_member(*module, member),
                    _ => None,
                }
            }
            _ => None,
        }))
    }

    fn role_given_by_member(&self, module: usize, member: &str) -> Option<Role> {
        let Content::Text(text) = self.files.imported_modules[module].content else { return None };
        let root = self.scopes.root(text);
        self.role_given_by_bindings(self.scopes.bindings_in(root, member)?, root, u32::MAX)
    }

    /// Function or method of the text that an expression names, and the position of the first
    /// parameter that a call gives.
    fn called_function(
        &self,
        func: &'a Expr,
        scope: ScopeId,
    ) -> Option<(&'a StmtFunctionDef, usize)> {
        if let Ok(known) = self.known(func, scope) {
            return match known {
                KnownValue::Python(def, ..) => Some((def, 0)),
                KnownValue::Class(class) => Some((self.method(class, "__init__")?, 1)),
                _ => None,
            };
        }
        let Expr::Attribute(attribute) = func else { return None };
        let KnownValue::Object(object) = self.whole(&attribute.value, scope).ok()? else {
            return None;
        };
        let order = self.resolution_order(self.class_of(object)?)?;
        let def = order.iter().find_map(|&class| self.method(class, attribute.attr.as_str()))?;
        def.decorator_list.is_empty().then_some((def, 1))
    }

    /// Role that a function of the text gives to what it is called with: by what it returns; a
    /// kernel that it makes of it and keeps is one too.
    fn role_given_by_function(&self, def: &'a StmtFunctionDef, position: usize) -> Option<Role> {
        let is_static = |it: &Expr| matches!(it, Expr::Name(name) if name.id == "staticmethod");
        if def.is_async || !def.decorator_list.iter().all(|it| is_static(&it.expression)) {
            return None;
        }
        let parameter = def.parameters.iter().nth(position)?.as_parameter();
        let body = self.scopes.body(def)?;
        let decorated = Decorated::Parameter(parameter.name.as_str(), body);
        let results = syntax::results(def);
        let results = results.into_iter().take(MAX_WAYS);
        let of_results = results.map(|it| self.role_made(it, decorated, MAX_STEPS));
        agreed(of_results.filter(Option::is_some)).or_else(|| {
            let sites = syntax::calls(&def.body);
            let mut made = sites
                .iter()
                .take(MAX_SITES)
                .map(|CallSite { call, .. }| self.role_of_call(call, decorated, MAX_STEPS));
            made.any(|role| role == Some(Role::Kernel)).then_some(Role::Kernel)
        })
    }

    /// Role that a value shows, if a function that is decorated was made into it.
    fn role_made(&self, value: &'a Expr, of: Decorated<'a>, steps: usize) -> Option<Role> {
        match value {
            Expr::Call(call) => self.role_of_call(call, of, steps),
            Expr::Name(name) if steps > 0 => {
                match self.scopes.bindings_in(of.scope(), name.id.as_str())? {
                    [Definition { source: BindingSource::Value(value), .. }] => {
                        self.role_made(value, of, steps - 1)
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// `wp.kernel(f)`, `wp.kernel(..)(f)`, `wp.Kernel(func=f)` of the function that is decorated.
    fn role_of_call(&self, call: &'a ExprCall, of: Decorated<'a>, steps: usize) -> Option<Role> {
        let given = syntax::argument(&call.arguments, "func", 0)?;
        let is_given = self.is_decorated(given, of, steps);
        is_given.then(|| self.role_given_by(&call.func, of.scope()))?
    }

    /// Returns true if an expression is the function that is decorated, perhaps by way of functions
    /// that return what they are given.
    fn is_decorated(&self, expr: &'a Expr, of: Decorated<'a>, steps: usize) -> bool {
        match (expr, of) {
            (Expr::Name(name), Decorated::OfLambda(parameter, _)) => name.id == parameter,
            (Expr::Name(name), Decorated::Parameter(parameter, scope)) => {
                let bound = self.scopes.bindings_in(scope, parameter).unwrap_or_default();
                name.id == parameter && bound.len() == 1
            }
            (Expr::Call(call), of) if steps > 0 => {
                let Some(given) = call.arguments.args.first() else { return false };
                let Ok(KnownValue::Python(inner, ..)) = self.known(&call.func, of.scope()) else {
                    return false;
                };
                let (Some(body), [result], Some(parameter)) = (
                    self.scopes.body(inner),
                    &syntax::results(inner)[..],
                    super::object::receiver(inner),
                ) else {
                    return false;
                };
                let inner_parameter = Decorated::Parameter(parameter, body);
                inner.decorator_list.is_empty()
                    && self.is_decorated(result, inner_parameter, steps - 1)
                    && self.is_decorated(given, of, steps - 1)
            }
            _ => false,
        }
    }
}

/// How many calls of a decorator's function are looked at.
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

/// The role that all ways give.
fn agreed(ways: impl IntoIterator<Item = Option<Role>>) -> Option<Role> {
    let mut ways = ways.into_iter();
    let first = ways.next()??;
    ways.all(|way| way == Some(first)).then_some(first)
}
