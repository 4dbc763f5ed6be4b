//! Calls: the function that is called, and its arguments.

use super::Expressions;
use super::access::is_builtin;
use super::operand::{LoweringError, LoweringResult, Operand, fault};
use super::special::{BuiltinCall, construct_struct};
use gbxcule_ir::builtin::{self, Visibility};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::ty::Shape;
use gbxcule_python_names::syntax::{Arguments, Expr, ExprCall, ExprSlice};
use gbxcule_warp_types::annotation::Annotation;
use gbxcule_warp_types::decorator::{self, Role};
use gbxcule_warp_types::value::{KnownValue, WarpValue};
use gbxcule_warp_types::warp;

/// An argument: its keyword, its operand, and its expression.
pub(super) type CallArgument<'a> = (Option<&'a str>, Operand<'a>, Option<&'a Expr>);

impl<'a> Expressions<'_, 'a> {
    pub(super) fn call(
        &mut self,
        call: &'a ExprCall,
        expr: &'a Expr,
    ) -> LoweringResult<Operand<'a>> {
        let span = self.span(expr);
        let callee = self.callee(&call.func).map_err(|stop| as_function(stop, &call.func))?;
        match callee {
            KnownValue::Dialect(WarpValue::Function(family)) => {
                let given = self.call_arguments(&call.arguments)?;
                self.call_user(family, &given, span)
            }
            KnownValue::Dialect(WarpValue::Gradient(of)) => {
                let given = self.call_arguments(&call.arguments)?;
                self.call_gradient(&of, given, span)
            }
            KnownValue::Dialect(WarpValue::Type(Annotation::Struct(class))) => {
                let given = self.call_arguments(&call.arguments)?;
                construct_struct(&mut self.b, class, given, span)
            }
            KnownValue::Dialect(WarpValue::Type(annotation)) => {
                let annotation = of_arguments(&call.func).unwrap_or(annotation);
                BuiltinCall::new(self, call, span).construct_type(&annotation)
            }
            KnownValue::Member(path) => self.call_member(&path, call, expr),
            KnownValue::Python(def, home, _) => {
                let name = &def.name;
                let (code, message) = match decorator::role(self.unit, def, home) {
                    Role::Kernel => (
                        Code::NotCallable,
                        format!("`{name}` is a kernel: kernels are launched, not called"),
                    ),
                    Role::Hook => {
                        (Code::NotCallable, format!("`{name}` is a gradient of another function"))
                    }
                    _ => (
                        Code::NotCallable,
                        format!(
                            "`{name}` is a Python function: kernels call functions decorated with `@wp.func`"
                        ),
                    ),
                };
                fault(code, span, message)
            }
            _ => fault(Code::NotCallable, self.span(&call.func), "this can't be called")
                .map_err(|stop| as_function(stop, &call.func)),
        }
    }

    /// Resolves the function that is called.
    fn callee(&mut self, func: &'a Expr) -> LoweringResult<KnownValue<'a>> {
        match (self.expr(func)?, func) {
            (Operand::KnownValue(known), _) => Ok(known),
            // A variable may have a builtin's name: `sign = sign(x)`.
            (_, Expr::Name(name)) if is_builtin(name.id.as_str()) => {
                Ok(KnownValue::Member(format!("warp.{}", name.id).into()))
            }
            _ => fault(Code::NotCallable, self.span(func), "a value can't be called"),
        }
    }

    /// All arguments, evaluated in order.
    pub(super) fn call_arguments(
        &mut self,
        arguments: &'a Arguments,
    ) -> LoweringResult<Vec<CallArgument<'a>>> {
        self.arguments_but(arguments, &[])
    }

    /// All arguments without those of some keywords, evaluated in order.
    pub(super) fn arguments_but(
        &mut self,
        arguments: &'a Arguments,
        keywords: &[&str],
    ) -> LoweringResult<Vec<CallArgument<'a>>> {
        let mut given = Vec::with_capacity(arguments.args.len());
        for arg in &arguments.args {
            match arg {
                Expr::Starred(starred) => {
                    for part in self.starred(&starred.value)? {
                        given.push((None, part, None));
                    }
                }
                arg => given.push((None, self.expr(arg)?, Some(arg))),
            }
        }
        for keyword in &arguments.keywords {
            let Some(name) = &keyword.arg else {
                let message = "`**` isn't part of the dialect";
                return fault(Code::UnsupportedSyntax, self.span(&keyword.value), message);
            };
            if !keywords.contains(&name.as_str()) {
                given.push((Some(name.as_str()), self.expr(&keyword.value)?, Some(&keyword.value)));
            }
        }
        Ok(given)
    }

    /// The parts of an expression after `*`. A slice of an array must have known bounds.
    pub(super) fn starred(&mut self, expr: &'a Expr) -> LoweringResult<Vec<Operand<'a>>> {
        if let Expr::Subscript(subscript) = expr
            && let Expr::Slice(slice) = &*subscript.slice
        {
            let access = self.access(&subscript.value)?;
            if let Some(ty) = access.ty(&mut self.b)
                && matches!(self.b.shape(ty), Shape::Array { dims: 1, .. })
            {
                let positions = self.known_slice(slice)?;
                let array = access.spill(&mut self.b, self.unit.span(&*subscript.value))?;
                let mut parts = Vec::with_capacity(positions.len());
                for at in positions {
                    let index = self.b.i32(at);
                    let element = self.b.element(array, &[index]);
                    parts.push(Operand::Value(self.b.load(element)));
                }
                return Ok(parts);
            }
        }
        let operand = self.expr(expr)?;
        self.b.spread(operand, self.span(expr))
    }

    /// The indices of a slice whose bounds are numbers written in the text.
    fn known_slice(&mut self, slice: &'a ExprSlice) -> LoweringResult<Vec<i32>> {
        let mut bounds = [0, -1, 1];
        for (bound, part) in bounds.iter_mut().zip([&slice.lower, &slice.upper, &slice.step]) {
            if let Some(part) = part {
                match self.expr(part)? {
                    Operand::KnownValue(KnownValue::Int(at)) if (0..1024).contains(&at) => {
                        *bound = at as i32;
                    }
                    _ => {
                        let message = "before `*` a slice of an array has bounds known when compiled, from 0 on";
                        return fault(Code::NeedsConstant, self.span(part), message);
                    }
                }
            }
        }
        let [start, stop, step] = bounds;
        if stop < 0 || step == 0 {
            let span = self.unit.span(slice);
            let message = "before `*` a slice of an array has an upper bound and a step above 0";
            return fault(Code::NeedsConstant, span, message);
        }
        Ok((start..stop).step_by(step as usize).collect())
    }

    fn call_member(
        &mut self,
        path: &str,
        call: &'a ExprCall,
        expr: &'a Expr,
    ) -> LoweringResult<Operand<'a>> {
        let span = self.span(expr);
        let name = path.rsplit('.').next().unwrap_or(path);
        if let Some(library) = self.unit.dialect.library
            && path.strip_prefix(library.name.as_str()).is_some_and(|rest| rest.starts_with('.'))
        {
            return self.call_library(library, name, call, span);
        }
        // `warp.fem.grad` is not `warp.grad`.
        if path.starts_with("warp.") && path.matches('.').count() > 1 {
            return Err(self.unit.files.unknown_module(path, span).into());
        }
        if let Some(result) = BuiltinCall::new(self, call, span).lower(name, path) {
            return result;
        }
        if let Some((code, what)) = warp::missing_feature(name)
            && (path.starts_with("warp") || path == name)
        {
            return fault(code, span, format!("{what} aren't supported: `{name}`"));
        }
        let row =
            builtin::find(name).filter(|&row| builtin::row(row).visibility == Visibility::Dialect);
        match row {
            Some(row) => {
                let given = self.call_arguments(&call.arguments)?;
                self.call_row(row, given, span)
            }
            None => {
                if !path.starts_with("warp.") || path.matches('.').count() > 1 {
                    if path.starts_with("builtins.") {
                        let message = format!("Python's `{name}` isn't part of the dialect");
                        return fault(Code::UnknownFunction, span, message);
                    }
                    return Err(self.unit.files.unknown_module(path, span).into());
                }
                let message = format!("`wp.{name}` isn't a builtin of this compiler");
                let fault = Diagnostic::error(Code::UnknownBuiltin, self.span(&call.func), message);
                let fault = match builtin::nearest(name) {
                    Some(near) => fault.help(format!("`wp.{near}` is")),
                    None => fault,
                };
                Err(fault.into())
            }
        }
    }
}

/// Adds advice to the fault of a call such as `v.length()`, if there is a builtin of this name.
fn as_function(stop: LoweringError, func: &Expr) -> LoweringError {
    let LoweringError::Fault(fault) = stop else { return stop };
    let name = if let Expr::Attribute(method) = func { method.attr.as_str() } else { "" };
    let is_method = matches!(fault.code, Code::UnknownAttribute | Code::NotCallable);
    match builtin::find(name) {
        Some(_) if is_method && fault.help.is_none() => {
            let help = format!("values have no methods: write `wp.{name}(..)`");
            LoweringError::Fault(Box::new(fault.help(help)))
        }
        _ => LoweringError::Fault(fault),
    }
}

/// Type of `wp.quaternion(..)` and `wp.transformation(..)`, whose scalar type is the scalar type
/// of the arguments; `wp.quat` and `wp.transform` are always of `float32`.
fn of_arguments(func: &Expr) -> Option<Annotation> {
    let Expr::Attribute(attribute) = func else { return None };
    match attribute.attr.as_str() {
        "quaternion" => Some(Annotation::Quaternion(Annotation::Any.into())),
        "transformation" => Some(Annotation::Transform(Annotation::Any.into())),
        _ => None,
    }
}
