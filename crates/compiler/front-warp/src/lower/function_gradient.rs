//! `wp.grad(f)(x)`: the derivatives of a function's result by each of its arguments.
//!
//! The function's reverse is made at the first request, and is called with adjoints of 1. The
//! reverse is a function like any other, so it can be differentiated once more.

use super::Expressions;
use super::call::CallArgument;
use super::operand::{LoweringError, LoweringResult, Operand, fault};
use super::writer::Writer;
use gbxcule_ir::build::Builder;
use gbxcule_ir::builtin::{self, Visibility};
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::{FunctionId, Param};
use gbxcule_ir::op::{Arg, Op, Value};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Shape, Type};
use gbxcule_passes::grad;
use gbxcule_python_names::syntax::ExprCall;
use gbxcule_warp_types::value::{KnownValue, WarpValue};

impl<'a> Expressions<'_, 'a> {
    /// `wp.grad(f)`
    pub(super) fn gradient_of(
        &mut self,
        call: &'a ExprCall,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        if let ([of], []) = (&call.arguments.args[..], &call.arguments.keywords[..])
            && let Operand::KnownValue(
                known @ (KnownValue::Dialect(WarpValue::Function(_)) | KnownValue::Member(_)),
            ) = self.expr(of)?
        {
            return Ok(Operand::KnownValue(WarpValue::Gradient(known.into()).into()));
        }
        let message = "`wp.grad` takes one function: a `@wp.func` or a builtin";
        fault(Code::WrongArguments, span, message)
    }

    /// Calls the derivative of a function.
    pub(super) fn call_gradient(
        &mut self,
        of: &KnownValue<'a>,
        given: Vec<CallArgument<'a>>,
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        want_gradients(&mut self.b)?;
        let (function, args) = match of {
            KnownValue::Dialect(WarpValue::Function(family)) => {
                let called = self.call_user(*family, &given, span)?;
                called_function(&self.b, &called)
            }
            KnownValue::Member(path) => self.builtin_function(path, given, span)?,
            _ => None,
        }
        .ok_or_else(|| {
            refused(span, "`wp.grad` takes a function of numbers, not of tiles or arrays")
        })?;
        let derivative = derivative(&mut self.b, function, span)?;
        let data = &self.b.module.functions[function];
        let (params, result) = (data.params.clone(), data.result);
        let mut all = args;
        let results = match &self.b.module.types[result] {
            Shape::Tuple(of) => of.to_vec(),
            _ => vec![result],
        };
        for ty in results {
            if self.b.module.types.has_float(ty) {
                all.push(Arg::Value(ones(&mut self.b, ty, span)?));
            }
        }
        self.b.set_span(span);
        let gradients = self.b.call(derivative, &all);
        let floats = |param: &&Param| self.b.module.types.has_float(param.ty);
        let count = params.iter().filter(floats).count();
        let mut position = 0;
        let mut parts = Vec::with_capacity(params.len());
        for param in &params {
            let is_float = self.b.module.types.has_float(param.ty);
            parts.push(match (is_float, count) {
                (false, _) => self.b.zero(param.ty),
                (true, 1) => gradients,
                (true, _) => self.b.extract(gradients, position),
            });
            position += u32::from(is_float);
        }
        Ok(Operand::Value(match parts[..] {
            [single] => single,
            _ => self.b.tuple(&parts),
        }))
    }

    /// Returns a function that calls a builtin, and its arguments; `None` if the table has no such
    /// row.
    fn builtin_function(
        &mut self,
        path: &str,
        given: Vec<CallArgument<'a>>,
        span: Span,
    ) -> LoweringResult<Option<(FunctionId, Vec<Arg>)>> {
        let name = path.strip_prefix("warp.").unwrap_or(path);
        let row = builtin::find(name);
        let Some(row) = row.filter(|&row| builtin::row(row).visibility == Visibility::Dialect)
        else {
            return Err(refused(span, &format!("`wp.grad` of `{name}` isn't supported")));
        };
        let mut args = Vec::with_capacity(given.len());
        for (keyword, operand, _) in given {
            if let Some(keyword) = keyword {
                let message = format!("`wp.grad(wp.{name})` takes arguments by position");
                return fault(Code::WrongArguments, span, format!("{message}, found `{keyword}=`"));
            }
            args.push(self.b.value(operand, span)?);
        }
        let typed = args.iter().map(|&arg| self.b.ty(arg)).enumerate();
        let params = typed.map(|(at, ty)| Param::value(format!("x{at}"), ty)).collect();
        let (_, _, module) = self.b.nested();
        let function = module.declare(name, params, Type::UNIT);
        module.functions[function].span = span;
        let mut b = Builder::new(module, function);
        let inner: Vec<Arg> = (0..args.len() as u32).map(|at| Arg::Value(b.arg(at))).collect();
        let Some(value) = b.builtin(row, &inner) else {
            let message = format!("`wp.{name}` doesn't take these arguments");
            return fault(Code::TypeMismatch, span, message);
        };
        let result = b.body().type_of(value);
        b.module.functions[function].result = result;
        b.ret(Some(value));
        b.finish();
        Ok(Some((function, args.into_iter().map(Arg::Value).collect())))
    }
}

/// Lowers gradients by hand from now on, and also the gradients of functions that were lowered
/// before.
fn want_gradients(b: &mut Writer<'_, '_>) -> LoweringResult<()> {
    let (unit, session, module) = b.nested();
    if !std::mem::replace(&mut session.gradients, true) {
        for (id, (def, home)) in session.instances.lowered() {
            session.hooks(unit, module, id, def, home)?;
        }
    }
    Ok(())
}

/// Returns the function whose result a value is, and the arguments of the call.
fn called_function(b: &Writer<'_, '_>, called: &Operand<'_>) -> Option<(FunctionId, Vec<Arg>)> {
    let Operand::Value(value) = called else { return None };
    match b.body().values[*value].op {
        Op::Call { function, args } => Some((function, b.body().arg_lists[args].to_vec())),
        _ => None,
    }
}

/// Returns the reverse of a function, which the first call makes.
fn derivative(
    b: &mut Writer<'_, '_>,
    function: FunctionId,
    span: Span,
) -> LoweringResult<FunctionId> {
    let (_, session, module) = b.nested();
    if let Some(&made) = session.derivatives.get(&function) {
        return Ok(made);
    }
    // Bodies that aren't finished yet are empty in the module.
    let source = check::module(module.clone()).map_err(|mut faults| faults.remove(0))?;
    match grad::function_reverse(&source, function) {
        Ok((changed, made)) => {
            *module = changed;
            session.derivatives.insert(function, made);
            Ok(made)
        }
        Err(faults) => {
            let name = &module.functions[function].name;
            let Some(first) = faults.into_iter().next() else {
                return Err(refused(
                    span,
                    &format!("`{name}` has no derivative: it takes no float or returns none"),
                ));
            };
            session.report.push(first.label(span, format!("`wp.grad` of `{name}`")));
            Err(LoweringError::Reported)
        }
    }
}

/// 1 in every component.
fn ones(b: &mut Writer<'_, '_>, ty: Type, span: Span) -> LoweringResult<Value> {
    let parts = match b.shape(ty) {
        Shape::Scalar(_) => None,
        Shape::Vector { .. } | Shape::Matrix { .. } => b.scalar_in(ty),
        _ => {
            let shown = b.shown(ty);
            let message = format!(
                "`wp.grad` takes a function that gives numbers, vectors or matrices, found `{shown}`"
            );
            return Err(refused(span, &message));
        }
    };
    Ok(match parts {
        None => b.number(ty, 1.0),
        Some(scalar) => {
            let number = b.number(Type::scalar(scalar), 1.0);
            b.splat(ty, number)
        }
    })
}

fn refused(span: Span, message: &str) -> LoweringError {
    Diagnostic::error(Code::UnsupportedGradientCall, span, message).into()
}
