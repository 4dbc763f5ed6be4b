//! Python functions that define functions, types and kernels: what a call of one gives, and with
//! which arguments a text calls the one around a kernel.

use super::constant::{Evaluation, Static, Unit};
use super::decorator::Role;
use super::frame::{FrameId, Values};
use super::memo::too_large;
use super::scope::{Owner, ScopeId};
use super::syntax::{self, Arguments, CallSite, Comprehension, Expr, Loop, Stmt, StmtFunctionDef};
use gbxcule_ir::diagnostic::Diagnostic;

/// Most rounds of the loops around a call that are evaluated.
const ROUNDS_MAX: usize = 64;

impl<'a> Unit<'a> {
    /// Result of a call of a Python function, if that is a function or type which it defines or is
    /// given: what else it does, and values that it works out, only Python knows.
    pub(super) fn python_call(
        &self,
        def: &'a StmtFunctionDef,
        home: ScopeId,
        args: &'a Arguments,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Result<Option<Static<'a>>, Box<Diagnostic>> {
        let (Some(body), Some(returned)) = (self.scopes.body(def), returned(def)) else {
            return Ok(None);
        };
        if !self.is_called_plainly(def, home) || self.role(def, home) != Role::Python {
            return Ok(None);
        }
        let Some(values) = self.argument_values(def, home, body, args, scope) else {
            return Ok(None);
        };
        let frame = self.frame(values, self.frame_of(home), self.span(expr))?;
        let result = self.framed(frame, || {
            self.memo().result(def, || {
                self.with_depth_limit(self.span(expr), || self.known(returned, body))
            })
        })?;
        Ok(is_made(&result).then_some(result))
    }

    /// Returns true if a call of a function gives what its body does: nothing else decorates it
    /// than what remembers results.
    fn is_called_plainly(&self, def: &'a StmtFunctionDef, home: ScopeId) -> bool {
        self.trials.is_on()
            || def.decorator_list.iter().all(|decorator| {
                let decorator = match &decorator.expression {
                    Expr::Call(call) => &*call.func,
                    other => other,
                };
                let path = self.path(decorator, home);
                matches!(path.as_deref(), Some("functools.cache" | "functools.lru_cache"))
            })
    }

    /// Values of the parameters in a call, as far as they are known; `None` if the call doesn't
    /// fit.
    fn argument_values(
        &self,
        def: &'a StmtFunctionDef,
        home: ScopeId,
        body: ScopeId,
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Option<Values<'a>> {
        let spread = args.args.iter().any(|arg| matches!(arg, Expr::Starred(_)));
        let spread = spread || args.keywords.iter().any(|keyword| keyword.arg.is_none());
        if spread || def.parameters.iter().any(|each| each.is_variadic()) {
            return None;
        }
        let mut values = Vec::new();
        for (position, parameter) in def.parameters.iter().enumerate() {
            let name = parameter.as_parameter().name.as_str();
            let keyword = args.keywords.iter().find(|it| it.arg.as_deref() == Some(name));
            let given = args.args.get(position).or(keyword.map(|it| &it.value));
            let known = match (given, parameter.default()) {
                (Some(given), _) => self.known(given, scope),
                (None, Some(default)) => self.known(default, home),
                (None, None) => return None,
            };
            if let Ok(known) = known {
                values.push((body, name, known));
            }
        }
        Some(values)
    }

    /// The frames of the calls of the Python function around a scope, each once: none if it isn't
    /// called with arguments that are known.
    pub(super) fn factory_frames(
        &self,
        scope: ScopeId,
        calls: &[CallSite<'a>],
    ) -> Result<Vec<FrameId>, Box<Diagnostic>> {
        let Owner::Function(def) = self.scopes.owner(scope) else { return Ok(Vec::new()) };
        let home = self.scopes.around(scope);
        let mut frames = Vec::new();
        for site in calls {
            let named = matches!(&*site.call.func, Expr::Name(name) if name.id == def.name.id);
            if !named {
                continue;
            }
            let at = self.scopes.at(syntax::start(site.call));
            let is_this = matches!(self.known(&site.call.func, at),
                Ok(Static::Python(found, _)) if std::ptr::eq(found, def));
            if !is_this {
                continue;
            }
            for round in self.rounds(site, at)? {
                let args = &site.call.arguments;
                let values =
                    self.framed(round, || self.argument_values(def, home, scope, args, at));
                let Some(values) = values.filter(|it| it.len() == def.parameters.len()) else {
                    continue;
                };
                let frame = self.frame(values, FrameId::NONE, self.span(site.call))?;
                if frame != FrameId::NONE && !frames.contains(&frame) {
                    frames.push(frame);
                }
            }
        }
        Ok(frames)
    }

    /// A frame for each round of the loops around a call.
    pub(super) fn rounds(
        &self,
        site: &CallSite<'a>,
        scope: ScopeId,
    ) -> Result<Vec<FrameId>, Box<Diagnostic>> {
        let mut rounds = vec![FrameId::NONE];
        for each in &site.loops {
            let mut next = Vec::new();
            for outer in rounds {
                for value in self.framed(outer, || self.loop_values(each, scope)) {
                    let values = targets(each.target, value, scope);
                    if next.len() < ROUNDS_MAX {
                        next.push(self.frame(values, outer, self.span(each.over))?);
                    }
                }
            }
            rounds = next;
        }
        Ok(rounds)
    }

    /// Value of a comprehension with one loop.
    pub(super) fn comprehension(
        &self,
        each: &'a Expr,
        generators: &'a [Comprehension],
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a> {
        let unknown =
            || self.needs_python(expr, "this comprehension is only known when Python runs");
        let [only] = generators else { return Err(unknown()) };
        let over = match self.known(&only.iter, scope)? {
            Static::Sequence(over) => over,
            Static::Dict(items) => items.iter().map(|(key, _)| key.clone()).collect(),
            _ => return Err(unknown()),
        };
        let mut parts = Vec::new();
        for value in over.iter() {
            let values = targets(&only.target, Some(value.clone()), scope);
            if values.is_empty() {
                return Err(unknown());
            }
            let frame = self.frame(values, self.open_frame(), self.span(expr))?;
            let (part, is_in) = self.framed(frame, || {
                let mut conditions = only.ifs.iter().map(|it| self.known(it, scope).ok()?.truth());
                let is_in = conditions.try_fold(true, |all, one| Some(all && one?));
                (self.known(each, scope), is_in)
            });
            if is_in.ok_or_else(unknown)? {
                parts.push(part?);
            }
        }
        let sequence = Static::Sequence(parts.into());
        if sequence.is_small() { Ok(sequence) } else { Err(too_large(self.span(expr))) }
    }

    /// Values that a loop goes over; one unknown value if they aren't known.
    fn loop_values(&self, each: &Loop<'a>, scope: ScopeId) -> Vec<Option<Static<'a>>> {
        match self.known(each.over, scope) {
            Ok(Static::Sequence(parts)) => parts.iter().cloned().map(Some).collect(),
            Ok(Static::Dict(items)) => items.iter().map(|(key, _)| Some(key.clone())).collect(),
            _ => vec![None],
        }
    }
}

/// The targets of a loop with their values.
fn targets<'a>(target: &'a Expr, value: Option<Static<'a>>, scope: ScopeId) -> Values<'a> {
    match (target, value) {
        (Expr::Name(name), Some(value)) => vec![(scope, name.id.as_str(), value)],
        (Expr::Tuple(tuple), Some(Static::Sequence(parts))) if tuple.elts.len() == parts.len() => {
            let pairs = tuple.elts.iter().zip(parts.iter().cloned());
            pairs.flat_map(|(target, value)| targets(target, Some(value), scope)).collect()
        }
        _ => Vec::new(),
    }
}

/// Expression that a function returns at its end, if it returns nowhere else.
fn returned(def: &StmtFunctionDef) -> Option<&Expr> {
    fn returns(stmt: &Stmt) -> bool {
        let any = |body: &[Stmt]| body.iter().any(returns);
        match stmt {
            Stmt::Return(_) | Stmt::Try(_) | Stmt::Global(_) | Stmt::Nonlocal(_) => true,
            Stmt::If(it) => {
                any(&it.body) || it.elif_else_clauses.iter().any(|clause| any(&clause.body))
            }
            Stmt::For(it) => any(&it.body) || any(&it.orelse),
            Stmt::While(it) => any(&it.body) || any(&it.orelse),
            Stmt::With(it) => any(&it.body),
            Stmt::Match(it) => it.cases.iter().any(|case| any(&case.body)),
            _ => false,
        }
    }
    match def.body.split_last() {
        Some((Stmt::Return(last), before)) if !def.is_async && !before.iter().any(returns) => {
            last.value.as_deref()
        }
        _ => None,
    }
}

/// Returns true for functions and types, and what consists of them.
fn is_made(value: &Static<'_>) -> bool {
    match value {
        Static::Function(_) | Static::Type(_) => true,
        Static::Sequence(parts) => !parts.is_empty() && parts.iter().all(is_made),
        _ => false,
    }
}
