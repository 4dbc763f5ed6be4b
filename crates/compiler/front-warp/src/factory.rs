//! Python functions that define functions, types and kernels: what a call of one gives.
//! Comprehensions, and the loops around calls.

use super::arithmetic::MAX_RANGE;
use super::constant::{Evaluation, KnownValue, Unit};
use super::decorator::Role;
use super::frame::{FrameId, Values};
use super::memo::too_large;
use super::sequence::iterated;
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{
    Arguments, CallSite, Comprehension, Expr, Loop, StmtFunctionDef,
};

/// Argument of a parameter in a call.
pub(super) enum Argument<'a> {
    /// No argument is given.
    Absent,
    /// An argument whose value only Python knows.
    Unknown,
    Known(KnownValue<'a>),
}

/// Most rounds of the loops around a call that are evaluated.
const MAX_ROUNDS: usize = 64;

impl<'a> Unit<'a> {
    /// Result of a call of a Python function, as far as the text says it; `None` if only Python
    /// knows.
    pub(super) fn python_call(
        &self,
        (def, home, around): (&'a StmtFunctionDef, ScopeId, FrameId),
        args: &'a Arguments,
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Result<Option<KnownValue<'a>>, Box<Diagnostic>> {
        let Some(body) = self.scopes.body(def) else { return Ok(None) };
        if !self.is_called_plainly(def, home) || self.role(def, home) != Role::Python {
            return Ok(None);
        }
        let Some(values) = self.given(def, home, body, args, scope) else {
            return Ok(None);
        };
        let frame = self.frame(values, around, self.span(expr))?;
        self.function_result(def, body, frame, expr).map(Some)
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

    /// Values of the parameters in a call, as far as they are known; `None`
    /// if the call doesn't fit.
    pub(super) fn given(
        &self,
        def: &'a StmtFunctionDef,
        home: ScopeId,
        body: ScopeId,
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Option<Values<'a>> {
        if args.args.iter().any(Expr::is_starred_expr) {
            return None;
        }
        let parameters = &def.parameters;
        let named: Vec<_> = parameters.iter_non_variadic_params().collect();
        let positional = parameters.posonlyargs.len() + parameters.args.len();
        let mut values = Vec::new();
        for (position, parameter) in named.iter().enumerate() {
            let name = parameter.parameter.name.as_str();
            let place = if position < positional { position } else { usize::MAX };
            let known = match (self.argument(args, place, name, scope), &parameter.default) {
                (Argument::Known(given), _) => Some(given),
                (Argument::Unknown, _) => None,
                (Argument::Absent, Some(default)) => self.known(default, home).ok(),
                (Argument::Absent, None) => return None,
            };
            values.extend(known.map(|known| (body, name, known)));
        }
        let given = args.args.get(positional..).unwrap_or_default();
        match &parameters.vararg {
            None if !given.is_empty() => return None,
            Some(rest) => {
                let rest_values: Result<Vec<_>, _> =
                    given.iter().map(|arg| self.known(arg, scope)).collect();
                if let Ok(parts) = rest_values {
                    values.push((body, rest.name.as_str(), KnownValue::Sequence(parts.into())));
                }
            }
            None => {}
        }
        if let Some(rest) = &parameters.kwarg {
            let mut extra = args.keywords.iter().filter(|keyword| {
                let name = keyword.arg.as_deref();
                !named.iter().any(|it| Some(it.parameter.name.as_str()) == name)
            });
            if extra.next().is_none() {
                values.push((body, rest.name.as_str(), KnownValue::Dict(Vec::new().into())));
            }
        }
        Some(values)
    }

    /// Argument of a parameter, by its place or its name.
    pub(super) fn argument(
        &self,
        args: &'a Arguments,
        position: usize,
        name: &str,
        scope: ScopeId,
    ) -> Argument<'a> {
        let known = |value| self.known(value, scope).map_or(Argument::Unknown, Argument::Known);
        let keyword = args.keywords.iter().find(|it| it.arg.as_deref() == Some(name));
        if let Some(given) = args.args.get(position).or(keyword.map(|it| &it.value)) {
            return known(given);
        }
        for spread in args.keywords.iter().filter(|it| it.arg.is_none()) {
            let Ok(KnownValue::Dict(items)) = self.known(&spread.value, scope) else {
                return Argument::Unknown;
            };
            let is_named =
                |key: &KnownValue<'a>| matches!(key, KnownValue::Text(text) if **text == *name);
            if let Some((_, value)) = items.iter().rev().find(|(key, _)| is_named(key)) {
                return Argument::Known(value.clone());
            }
        }
        Argument::Absent
    }

    /// A frame for each round of the loops around a call.
    pub(super) fn rounds(
        &self,
        site: &CallSite<'a>,
        scope: ScopeId,
        outer: FrameId,
    ) -> Result<Vec<FrameId>, Box<Diagnostic>> {
        let mut rounds = vec![outer];
        for each in &site.loops {
            let mut next = Vec::new();
            for outer in rounds {
                for value in self.framed(outer, || self.loop_values(each, scope)) {
                    let values = targets(each.target, value, scope);
                    if next.len() < MAX_ROUNDS {
                        next.push(self.frame(values, outer, self.span(each.over))?);
                    }
                }
            }
            rounds = next;
        }
        Ok(rounds)
    }

    /// Parts that a comprehension gives, in order.
    pub(super) fn comprehension(
        &self,
        each: &'a Expr,
        generators: &'a [Comprehension],
        expr: &'a Expr,
        scope: ScopeId,
    ) -> Evaluation<'a> {
        let mut parts = Vec::new();
        self.comprehended((each, expr, scope), generators, &mut parts, &mut 0)?;
        let sequence = KnownValue::Sequence(parts.into());
        if sequence.is_small() { Ok(sequence) } else { Err(too_large(self.span(expr))) }
    }

    /// Adds what the rounds of the first loop of a comprehension give.
    fn comprehended(
        &self,
        (each, expr, scope): (&'a Expr, &'a Expr, ScopeId),
        generators: &'a [Comprehension],
        parts: &mut Vec<KnownValue<'a>>,
        rounds: &mut usize,
    ) -> Result<(), Box<Diagnostic>> {
        let unknown =
            || self.needs_python(expr, "this comprehension is only known when Python runs");
        let Some((first, rest)) = generators.split_first() else {
            parts.push(self.known(each, scope)?);
            return Ok(());
        };
        let over = iterated(&self.known(&first.iter, scope)?).ok_or_else(unknown)?;
        for value in over {
            let values = targets(&first.target, Some(value), scope);
            if values.is_empty() {
                return Err(unknown());
            }
            let frame = self.local_frame(expr, values, self.open_frame())?;
            self.framed(frame, || {
                let mut conditions = first.ifs.iter().map(|it| self.known(it, scope).ok()?.truth());
                let is_in = conditions.try_fold(true, |all, one| Some(all && one?));
                if is_in.ok_or_else(unknown)? {
                    self.comprehended((each, expr, scope), rest, parts, rounds)?;
                }
                Ok::<(), Box<Diagnostic>>(())
            })?;
            *rounds += 1;
            if *rounds > 4 * MAX_RANGE {
                return Err(too_large(self.span(expr)));
            }
        }
        Ok(())
    }

    /// Values that a loop goes over; one unknown value if they aren't known.
    fn loop_values(&self, each: &Loop<'a>, scope: ScopeId) -> Vec<Option<KnownValue<'a>>> {
        match self.known(each.over, scope).ok().and_then(|over| iterated(&over)) {
            Some(parts) => parts.into_iter().map(Some).collect(),
            None => vec![None],
        }
    }
}

/// The targets of a loop with their values.
fn targets<'a>(target: &'a Expr, value: Option<KnownValue<'a>>, scope: ScopeId) -> Values<'a> {
    match (target, value) {
        (Expr::Name(name), Some(value)) => vec![(scope, name.id.as_str(), value)],
        (Expr::Tuple(tuple), Some(KnownValue::Sequence(parts)))
            if tuple.elts.len() == parts.len() =>
        {
            let pairs = tuple.elts.iter().zip(parts.iter().cloned());
            pairs.flat_map(|(target, value)| targets(target, Some(value), scope)).collect()
        }
        _ => Vec::new(),
    }
}
