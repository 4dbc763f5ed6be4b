//! `@wp.func_grad(f)` and `@wp.func_replay(f)`: functions that replace the derivative of `f`, and
//! the second run of `f` in a reverse.
//!
//! A gradient by hand becomes a function with the signature of a derived reverse
//! (`grad::signature`). Its adjoints, `wp.adjoint[x]`, are variables that begin as zero; together
//! they are the function's result.

use super::access::Access;
use super::operand::{Binding, LoweringError, LoweringResult, fault};
use super::session::{Definition, Kind};
use super::writer::Writer;
use super::{Expressions, Session};
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::function::{FunctionId, Local, LocalId, Param, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Shape, Type};
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::{Expr, StmtFunctionDef};
use gbxcule_warp_types::annotation::Annotation;
use gbxcule_warp_types::signature::{self, Formal};
use gbxcule_warp_types::unit::Unit;

/// The variables of `wp.adjoint[..]`, by parameter, and the function's results.
pub(crate) struct ManualGradient<'a> {
    adjoints: Vec<(&'a str, LocalId)>,
    given: Vec<LocalId>,
}

impl<'a> Session<'a> {
    /// Lowers the hooks of a function that was lowered before, if there are any for its types.
    pub(super) fn hooks(
        &mut self,
        unit: &Unit<'a>,
        module: &mut Module,
        id: FunctionId,
        def: &'a StmtFunctionDef,
        home: ScopeId,
    ) -> LoweringResult<()> {
        let results = match &module.types[module.functions[id].result] {
            Shape::Tuple(of) => of.to_vec(),
            _ if module.functions[id].result == Type::UNIT => Vec::new(),
            _ => vec![module.functions[id].result],
        };
        let params: Vec<Type> = module.functions[id].params.iter().map(|param| param.ty).collect();
        let with_results = [&params[..], &results[..]].concat();
        if let Some((hook, scope, formals)) =
            self.hook(unit, module, "warp.func_replay", def, home, &params)?
        {
            self.replay(unit, module, id, (hook, scope), &formals)?;
        }
        if let Some((hook, scope, formals)) =
            self.hook(unit, module, "warp.func_grad", def, home, &with_results)?
        {
            self.gradient(unit, module, id, (hook, scope), &formals, &results)?;
        }
        Ok(())
    }

    /// The last hook of this kind for a function whose parameters take these types.
    fn hook(
        &mut self,
        unit: &Unit<'a>,
        module: &mut Module,
        kind: &str,
        def: &'a StmtFunctionDef,
        home: ScopeId,
        types: &[Type],
    ) -> LoweringResult<Option<(&'a StmtFunctionDef, ScopeId, Vec<Formal<'a>>)>> {
        let hooks = |&&(hook, scope): &&(&'a StmtFunctionDef, ScopeId)| {
            hook.decorator_list.iter().any(|decorator| {
                let Expr::Call(call) = &decorator.expression else { return false };
                let named = matches!(call.arguments.args.first(),
                    Some(Expr::Name(name)) if name.id == def.name.id);
                let same = unit.scopes.lookup(scope, &def.name).is_some_and(|(_, at)| at == home);
                named && same && unit.path(&call.func, scope).as_deref() == Some(kind)
            })
        };
        for &(hook, scope) in unit.scopes.functions().iter().rev().filter(hooks) {
            let formals = match signature::formals(unit, hook, scope) {
                Ok(formals) => formals,
                Err(faults) => {
                    faults.into_iter().for_each(|fault| self.report.push(fault));
                    return Err(LoweringError::Reported);
                }
            };
            if let Some(tuple) =
                formals.iter().find(|it| matches!(it.annotation, Annotation::Tuple(_)))
            {
                let message = "a gradient by hand can't be that of a function with tuples";
                return fault(Code::UnsupportedAdjoint, tuple.span, message);
            }
            for formal in &formals {
                self.structs.define_structs(unit, module, &formal.annotation)?;
            }
            let known = |class| self.structs.known(class);
            let takes = |(formal, &ty): (&Formal<'a>, &Type)| {
                formal.annotation.takes(ty, &module.types, &known)
            };
            if formals.len() == types.len() && formals.iter().zip(types).all(takes) {
                return Ok(Some((hook, scope, formals)));
            }
        }
        Ok(None)
    }

    fn replay(
        &mut self,
        unit: &Unit<'a>,
        module: &mut Module,
        id: FunctionId,
        (hook, scope): (&'a StmtFunctionDef, ScopeId),
        formals: &[Formal<'a>],
    ) -> LoweringResult<()> {
        let (params, result) = (module.functions[id].params.clone(), module.functions[id].result);
        let bindings = (0..params.len()).map(|position| Binding::Param(position as u32)).collect();
        let span = unit.span(&hook.name);
        let replay = module.declare(hook.name.as_str(), params, Type::UNIT);
        module.functions[replay].span = span;
        let definition = Definition { def: hook, scope, formals, bindings, kind: Kind::Function };
        if !self.body(unit, module, replay, definition) {
            return Err(LoweringError::Reported);
        }
        if module.functions[replay].result != result {
            let name = &module.functions[id].name;
            let message = format!("a replay must return the same type as `{name}`");
            return fault(Code::TypeMismatch, span, message);
        }
        module.functions[id].replay = Some(replay);
        Ok(())
    }

    fn gradient(
        &mut self,
        unit: &Unit<'a>,
        module: &mut Module,
        id: FunctionId,
        (hook, scope): (&'a StmtFunctionDef, ScopeId),
        formals: &[Formal<'a>],
        results: &[Type],
    ) -> LoweringResult<()> {
        let span = unit.span(&hook.name);
        let mut params = numbers_of(module, id, span)?;
        let count = params.len();
        params
            .iter_mut()
            .zip(formals)
            .for_each(|(param, formal)| formal.name.clone_into(&mut param.name));
        let mut bindings: Vec<Binding<'a>> =
            (0..count).map(|at| Binding::Param(at as u32)).collect();
        // A result without floats has no adjoint; zero takes its place.
        let mut zeros = Vec::new();
        for (formal, &ty) in formals[count..].iter().zip(results) {
            if module.types.has_float(ty) {
                bindings.push(Binding::Param(params.len() as u32));
                params.push(Param::value(formal.name, ty).at(formal.span));
            } else {
                zeros.push((bindings.len(), formal.name, ty));
                bindings.push(Binding::Refused);
            }
        }
        let result = gradients_of(module, &params[..count]);
        let adjoint = module.declare(hook.name.as_str(), params.clone(), result);
        module.functions[adjoint].span = span;
        let locals = &mut module.functions[adjoint].body.locals;
        let mut local = |name: String, ty| locals.push(Local { name, ty, scratch: false, span });
        for (at, name, ty) in zeros {
            bindings[at] = Binding::Local(local(name.into(), ty));
        }
        let mut manual_gradient = ManualGradient { adjoints: Vec::new(), given: Vec::new() };
        for param in &params[..count] {
            let formal = formals.iter().find(|formal| formal.name == param.name);
            let local = local(format!("adj_{}", param.name), param.ty);
            manual_gradient.adjoints.extend(formal.map(|formal| (formal.name, local)));
            if module.types.has_float(param.ty) {
                manual_gradient.given.push(local);
            }
        }
        let kind = Kind::Gradient(manual_gradient);
        let definition = Definition { def: hook, scope, formals, bindings, kind };
        if !self.body(unit, module, adjoint, definition) {
            return Err(LoweringError::Reported);
        }
        module.functions[id].adjoint = Some(adjoint);
        Ok(())
    }
}

impl<'a> Expressions<'_, 'a> {
    /// `wp.adjoint[x]` or `wp.adjoint[x.field]`.
    pub(super) fn adjoint(&mut self, of: &'a [Expr], expr: &'a Expr) -> LoweringResult<Access<'a>> {
        let span = self.span(expr);
        let [of] = of else {
            return fault(Code::UnsupportedAdjoint, span, "`wp.adjoint` takes one parameter");
        };
        match of {
            Expr::Name(name) => {
                let Some(ManualGradient { adjoints, .. }) = self.manual_gradient() else {
                    let message =
                        "`wp.adjoint` can be used in functions marked `@wp.func_grad` only";
                    return fault(Code::UnsupportedAdjoint, span, message);
                };
                match adjoints.iter().find(|(param, _)| *param == name.id.as_str()) {
                    Some(&(_, local)) => Ok(Access::Place(self.b.local_place(local))),
                    None => fault(
                        Code::UnsupportedAdjoint,
                        span,
                        format!("`{}` isn't a parameter of the function", name.id),
                    ),
                }
            }
            Expr::Attribute(attribute) => {
                let base = self.adjoint(std::slice::from_ref(&attribute.value), expr)?;
                base.attribute(&mut self.b, attribute.attr.as_str(), of)
            }
            _ => fault(
                Code::UnsupportedAdjoint,
                span,
                "`wp.adjoint` takes a parameter of the function or a field of one",
            ),
        }
    }
}

impl ManualGradient<'_> {
    /// The function's result: the adjoints of parameters with floats.
    pub(super) fn result(&self, b: &mut Writer<'_, '_>) -> Value {
        let mut parts: Vec<Value> = Vec::new();
        for &local in &self.given {
            let place = b.local_place(local);
            parts.push(b.load(place));
        }
        match parts[..] {
            [single] => single,
            _ => b.tuple(&parts),
        }
    }
}

/// The parameters of a function that takes numbers alone, by value.
fn numbers_of(module: &Module, id: FunctionId, span: Span) -> LoweringResult<Vec<Param>> {
    let params = module.functions[id].params.clone();
    let by_value = params.iter().all(|param| param.mode == PassMode::Value);
    if by_value && !params.iter().any(|param| module.types.holds_array(param.ty)) {
        return Ok(params);
    }
    let name = &module.functions[id].name;
    let message =
        format!("`{name}` takes arrays or references: its gradient can't be written by hand");
    fault(Code::UnsupportedAdjoint, span, message)
}

/// The type of the gradients of all parameters with floats.
fn gradients_of(module: &mut Module, params: &[Param]) -> Type {
    let types = params.iter().map(|param| param.ty);
    let floats: Vec<Type> = types.filter(|&ty| module.types.has_float(ty)).collect();
    match floats[..] {
        [single] => single,
        _ => module.types.tuple(&floats),
    }
}
