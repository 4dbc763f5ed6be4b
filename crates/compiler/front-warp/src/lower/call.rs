//! Calls: the function that is called, and its arguments.

use super::access::is_builtin;
use super::{FunctionLowering, LoweringError, LoweringResult, Operand, fault};
use crate::annotation::Annotation;
use crate::constant::KnownValue;
use crate::decorator::Role;
use crate::syntax::{Arguments, Expr, ExprCall, ExprSlice};
use crate::warp;
use gbxcule_ir::builtin::{self, Visibility};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Scalar, Shape};

/// An argument: its keyword, what it is, and where it stands.
pub(super) type CallArgument<'a> = (Option<&'a str>, Operand<'a>, Option<&'a Expr>);

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    pub(super) fn call(
        &mut self,
        call: &'a ExprCall,
        expr: &'a Expr,
    ) -> LoweringResult<Operand<'a>> {
        let span = self.span(expr);
        let callee = self.callee(&call.func).map_err(|stop| as_function(stop, &call.func))?;
        match callee {
            KnownValue::Function(family) => {
                let given = self.call_arguments(&call.arguments)?;
                self.call_user(family, &given, span)
            }
            KnownValue::Type(Annotation::Struct(class)) => {
                let given = self.call_arguments(&call.arguments)?;
                self.construct_struct(class, given, span)
            }
            KnownValue::Type(annotation) => {
                let annotation = of_arguments(&call.func).unwrap_or(annotation);
                self.construct_type(&annotation, call, span)
            }
            KnownValue::Member(path) => self.call_member(&path, call, expr),
            KnownValue::Python(def, home, _) => {
                let name = &def.name;
                let (code, message) = match self.unit.role(def, home) {
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
                return fault(
                    Code::UnsupportedSyntax,
                    self.span(&keyword.value),
                    "`**` is no part of the dialect",
                );
            };
            given.push((Some(name.as_str()), self.expr(&keyword.value)?, Some(&keyword.value)));
        }
        Ok(given)
    }

    /// The parts of what `*` stands before: of arrays, elements by a slice between known bounds.
    pub(super) fn starred(&mut self, expr: &'a Expr) -> LoweringResult<Vec<Operand<'a>>> {
        if let Expr::Subscript(subscript) = expr
            && let Expr::Slice(slice) = &*subscript.slice
        {
            let access = self.access(&subscript.value)?;
            if let Some(ty) = self.access_type(&access)
                && matches!(self.shape(ty), Shape::Array { dims: 1, .. })
            {
                let positions = self.known_slice(slice)?;
                let array = self.spill(access, self.span(&subscript.value))?;
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
        self.spread(operand, self.span(expr))
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
                        return fault(
                            Code::NeedsConstant,
                            self.span(part),
                            "before `*` a slice of an array has bounds known when compiled, from 0 on",
                        );
                    }
                }
            }
        }
        let [start, stop, step] = bounds;
        if stop < 0 || step == 0 {
            let span = self.unit.span(slice);
            return fault(
                Code::NeedsConstant,
                span,
                "before `*` a slice of an array has an upper bound and a step above 0",
            );
        }
        Ok((start..stop).step_by(step as usize).collect())
    }

    /// The parts of what is unpacked.
    pub(super) fn spread(
        &mut self,
        operand: Operand<'a>,
        span: Span,
    ) -> LoweringResult<Vec<Operand<'a>>> {
        Ok(match operand {
            Operand::Tuple(parts) => parts.to_vec(),
            Operand::KnownValue(KnownValue::Sequence(parts)) => {
                parts.iter().cloned().map(Operand::KnownValue).collect()
            }
            Operand::Extents(array) => {
                self.extents(array).into_iter().map(Operand::Value).collect()
            }
            operand => {
                let value = self.value(operand, span)?;
                let ty = self.ty(value);
                let count = match *self.shape(ty) {
                    Shape::Tuple(ref of) => of.len() as u32,
                    Shape::Matrix { rows, cols, .. } => {
                        return Ok(self.rows(value, u32::from(rows), u32::from(cols)));
                    }
                    Shape::Vector { .. } | Shape::Quaternion(_) | Shape::Transform(_) => {
                        self.b.module.types.components(ty).map_or(0, |(_, count)| count)
                    }
                    _ => {
                        let found = self.shown(ty);
                        return fault(
                            Code::TypeMismatch,
                            span,
                            format!("a `{found}` can't be unpacked"),
                        );
                    }
                };
                (0..count).map(|at| Operand::Value(self.b.extract(value, at))).collect()
            }
        })
    }

    fn rows(&mut self, matrix: Value, rows: u32, cols: u32) -> Vec<Operand<'a>> {
        let scalar = self.b.module.types.components(self.ty(matrix)).map_or(Scalar::F32, |it| it.0);
        let ty = self.b.module.types.vector(cols as u16, scalar);
        let row = |row: u32| {
            let parts = row * cols..(row + 1) * cols;
            let parts: Vec<Value> = parts.map(|at| self.b.extract(matrix, at)).collect();
            Operand::Value(self.b.construct(ty, &parts))
        };
        (0..rows).map(row).collect()
    }

    fn call_member(
        &mut self,
        path: &str,
        call: &'a ExprCall,
        expr: &'a Expr,
    ) -> LoweringResult<Operand<'a>> {
        let span = self.span(expr);
        let name = path.rsplit('.').next().unwrap_or(path);
        if let Some(library) = self.unit.library
            && path.strip_prefix(library.name.as_str()).is_some_and(|rest| rest.starts_with('.'))
        {
            return self.call_library(library, name, call, span);
        }
        // `warp.fem.grad` is no `warp.grad`.
        if path.starts_with("warp.") && path.matches('.').count() > 1 {
            return Err(self.unit.unknown_module(path, span).into());
        }
        if let Some(result) = self.special(name, path, call, span) {
            return result;
        }
        if let Some((code, what)) = warp::missing_feature(name)
            && (path.starts_with("warp") || path == name)
        {
            return fault(code, span, format!("{what} aren't supported: `{name}`"));
        }
        let known =
            builtin::find(name).filter(|&row| builtin::row(row).visibility == Visibility::Dialect);
        match known {
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
                    return Err(self.unit.unknown_module(path, span).into());
                }
                let message = format!("`wp.{name}` is no builtin of this compiler");
                let fault = Diagnostic::error(Code::UnknownBuiltin, self.span(&call.func), message);
                let fault = match builtin::nearest(name) {
                    Some(near) => fault.help(format!("`wp.{near}` is")),
                    None => fault,
                };
                Err(super::LoweringError::Fault(Box::new(fault)))
            }
        }
    }
}

/// A fault of `v.length()`, with the function that is meant.
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

/// Type of `wp.quaternion(..)` and `wp.transformation(..)`, whose scalar is that of the arguments;
/// `wp.quat` and `wp.transform` are of `float32`.
fn of_arguments(func: &Expr) -> Option<Annotation> {
    let Expr::Attribute(attribute) = func else { return None };
    match attribute.attr.as_str() {
        "quaternion" => Some(Annotation::Quaternion(Annotation::Any.into())),
        "transformation" => Some(Annotation::Transform(Annotation::Any.into())),
        _ => None,
    }
}
