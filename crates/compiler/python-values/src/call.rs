//! Results of calls: of Python's own functions, and of Python functions of the text.

use crate::arithmetic::number_function;
use crate::dialect::{Call, Dialect, Evaluation, Known};
use crate::evaluator::Evaluator;
use crate::frame::{FrameId, Values};
use crate::value::KnownValue;
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{Arguments, Expr, StmtFunctionDef};

/// Argument of a parameter in a call.
enum Argument<'a, D: Dialect<'a>> {
    Absent,
    /// An argument whose value only Python knows.
    Unknown,
    Known(Known<'a, D>),
}

/// Python function with the scope around it, and with the call of the enclosing function that
/// defined it.
type PythonFunction<'a> = (&'a StmtFunctionDef, ScopeId, FrameId);

impl<'a, D: Dialect<'a>> Evaluator<'a, D> {
    /// Result of a call of a type, or of a function whose meaning is known.
    pub(crate) fn call(&self, call: &Call<'_, 'a, D>) -> Evaluation<'a, D> {
        if let Some(result) = D::call(self, call) {
            return result;
        }
        match call.callee {
            KnownValue::Member(path) => self.number_result(path, call),
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

    /// Result of a function of `math` or NumPy, by its path.
    fn number_result(&self, path: &str, call: &Call<'_, 'a, D>) -> Evaluation<'a, D> {
        let result = match (&*call.args.args, &*call.args.keywords) {
            ([arg], []) => self.settled(self.known(arg, call.scope)?).as_f64(),
            _ => None,
        };
        let result = result.and_then(|operand| number_function(path, operand));
        result.map(KnownValue::Float).ok_or_else(|| self.unknown_result(call.expr))
    }

    /// Result of a call of a Python function of the text; `None` if only Python knows the result.
    fn python_call(
        &self,
        (def, home, around): PythonFunction<'a>,
        call: &Call<'_, 'a, D>,
    ) -> Result<Option<Known<'a, D>>, Box<Diagnostic>> {
        let Some(body) = self.scopes.body(def) else { return Ok(None) };
        let is_plain = self.dialect.is_substituting() || def.decorator_list.is_empty();
        if !is_plain || !D::runs_in_python(self, def, home) {
            return Ok(None);
        }
        let Some(values) = self.parameter_values(def, home, body, call.args, call.scope) else {
            return Ok(None);
        };
        let frame = self.frames.within(around, values, self.span(call.expr))?;
        self.function_result(def, body, frame, call.expr).map(Some)
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
        let parameters = &def.parameters;
        let spreads = args.args.iter().any(Expr::is_starred_expr)
            || args.keywords.iter().any(|keyword| keyword.arg.is_none());
        let gathers = parameters.vararg.is_some() || parameters.kwarg.is_some();
        let positional = parameters.posonlyargs.len() + parameters.args.len();
        if spreads || gathers || args.args.len() > positional {
            return None;
        }
        let mut values = Vec::new();
        for (position, parameter) in parameters.iter_non_variadic_params().enumerate() {
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
        Argument::Absent
    }
}
