//! Results of calls: of Python's own functions, and of Python functions of the text.

use crate::arithmetic::python_function;
use crate::dialect::{Call, Dialect, Evaluation, Known};
use crate::evaluator::Evaluator;
use crate::frame::{FrameId, Values};
use crate::value::KnownValue;
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{Arguments, Expr, Keyword, StmtFunctionDef};

/// Argument of a parameter in a call.
enum Argument<'a, D: Dialect<'a>> {
    Absent,
    /// An argument whose value only Python knows.
    Unknown,
    Known(Known<'a, D>),
}

/// Function of Python with the scope around it, and the call of the function around it that defined
/// it.
type PythonFunction<'a> = (&'a StmtFunctionDef, ScopeId, FrameId);

impl<'a, D: Dialect<'a>> Evaluator<'a, D> {
    /// Result of a call of a type, or of a function whose meaning is known.
    pub(crate) fn call(&self, call: &Call<'_, 'a, D>) -> Evaluation<'a, D> {
        if let Some(result) = D::call(self, call) {
            return result;
        }
        match call.callee {
            KnownValue::Member(path) => self.python_result(path, call),
            KnownValue::Python(def, home, around) => self
                .python_call((def, *home, *around), call)?
                .ok_or_else(|| self.unknown_result(call.expr)),
            _ => Err(self.unknown_result(call.expr)),
        }
    }

    /// Diagnostic for a call whose result only Python knows.
    pub fn unknown_result(&self, expr: &Expr) -> Box<Diagnostic> {
        self.needs_python(expr, "the result of this call is only known when Python runs")
    }

    /// Values of the arguments that a call of Python's own function gives, all by position.
    pub fn python_args(
        &self,
        call: &Call<'_, 'a, D>,
    ) -> Result<Vec<Known<'a, D>>, Box<Diagnostic>> {
        // `strict` only checks lengths.
        let has_meaning = |it: &Keyword| it.arg.as_deref() != Some("strict");
        if call.args.keywords.iter().any(has_meaning) {
            return Err(self.unknown_result(call.expr));
        }
        let value = |arg| self.known(arg, call.scope).map(|value| self.settled(value));
        call.args.args.iter().map(value).collect()
    }

    /// Result of a function of Python, `math` or NumPy, by its path.
    pub fn python_result(&self, path: &str, call: &Call<'_, 'a, D>) -> Evaluation<'a, D> {
        let args = self.python_args(call)?;
        let result = python_function(path, &args).ok_or_else(|| self.unknown_result(call.expr))?;
        result.checked(self.span(call.expr))
    }

    /// Result of a call of a Python function of the text; `None` if only Python knows it.
    fn python_call(
        &self,
        (def, home, around): PythonFunction<'a>,
        call: &Call<'_, 'a, D>,
    ) -> Result<Option<Known<'a, D>>, Box<Diagnostic>> {
        let Some(body) = self.scopes.body(def) else { return Ok(None) };
        if !self.is_called_plainly(def, home) || !D::runs_in_python(self, def, home) {
            return Ok(None);
        }
        let Some(values) = self.parameter_values(def, home, body, call.args, call.scope) else {
            return Ok(None);
        };
        let frame = self.frames.within(around, values, None, self.span(call.expr))?;
        self.function_result(def, body, frame, call.expr).map(Some)
    }

    /// Returns true if a call of a function gives the result of the function's body: only
    /// decorators that remember results stand over it.
    fn is_called_plainly(&self, def: &'a StmtFunctionDef, home: ScopeId) -> bool {
        self.dialect.is_substituting()
            || def.decorator_list.iter().all(|decorator| {
                let decorator = match &decorator.expression {
                    Expr::Call(call) => &*call.func,
                    other => other,
                };
                let path = self.path(decorator, home);
                matches!(path.as_deref(), Some("functools.cache" | "functools.lru_cache"))
            })
    }

    /// Values of a function's parameters in a call, as far as they are known; `None` if the call
    /// doesn't fit. `body` is the scope of the function's body.
    pub(crate) fn parameter_values(
        &self,
        def: &'a StmtFunctionDef,
        home: ScopeId,
        body: ScopeId,
        args: &'a Arguments,
        scope: ScopeId,
    ) -> Option<Values<'a, D::Value>> {
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
            let value = match (self.argument(args, place, name, scope), &parameter.default) {
                (Argument::Known(value), _) => Some(value),
                (Argument::Unknown, _) => None,
                (Argument::Absent, Some(default)) => self.known(default, home).ok(),
                (Argument::Absent, None) => return None,
            };
            values.extend(value.map(|value| (body, name, value)));
        }
        let surplus = args.args.get(positional..).unwrap_or_default();
        match &parameters.vararg {
            None if !surplus.is_empty() => return None,
            Some(vararg) => {
                let parts: Result<Vec<_>, _> =
                    surplus.iter().map(|arg| self.known(arg, scope)).collect();
                if let Ok(parts) = parts {
                    values.push((body, vararg.name.as_str(), KnownValue::Sequence(parts.into())));
                }
            }
            None => {}
        }
        if let Some(kwarg) = &parameters.kwarg {
            let mut surplus = args.keywords.iter().filter(|keyword| {
                let name = keyword.arg.as_deref();
                !named.iter().any(|it| Some(it.parameter.name.as_str()) == name)
            });
            if surplus.next().is_none() {
                values.push((body, kwarg.name.as_str(), KnownValue::Dict(Vec::new().into())));
            }
        }
        Some(values)
    }

    /// Argument of a parameter, by its position or its name.
    fn argument(
        &self,
        args: &'a Arguments,
        position: usize,
        name: &str,
        scope: ScopeId,
    ) -> Argument<'a, D> {
        let keyword = args.keywords.iter().find(|it| it.arg.as_deref() == Some(name));
        if let Some(arg) = args.args.get(position).or(keyword.map(|it| &it.value)) {
            return self.known(arg, scope).map_or(Argument::Unknown, Argument::Known);
        }
        for spread in args.keywords.iter().filter(|it| it.arg.is_none()) {
            let Ok(KnownValue::Dict(items)) = self.known(&spread.value, scope) else {
                return Argument::Unknown;
            };
            let is_named =
                |key: &Known<'a, D>| matches!(key, KnownValue::Text(text) if **text == *name);
            if let Some((_, value)) = items.iter().rev().find(|(key, _)| is_named(key)) {
                return Argument::Known(value.clone());
            }
        }
        Argument::Absent
    }
}
