//! Calls of `@wp.func`: overloads, generics, functions as arguments.

use super::access::Access;
use super::call::CallArgument;
use super::tile::Tile;
use super::{Binding, FunctionLowering, Instance, LoweringError, LoweringResult, Operand, fault};
use crate::annotation::Annotation;
use crate::constant::KnownValue;
use crate::scope::{OverloadSet, ScopeId};
use crate::signature::Formal;
use crate::syntax::StmtFunctionDef;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::{FunctionId, Param, PassMode};
use gbxcule_ir::op::{Arg, Value};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Shape, Type};

/// An overload whose parameters take the arguments.
struct MatchingOverload<'a> {
    def: &'a StmtFunctionDef,
    formals: Vec<Formal<'a>>,
    /// Argument of each formal parameter.
    passed: Vec<CallArgument<'a>>,
}

/// Arguments that a call passes, and the instance of the function that takes them.
#[derive(Default)]
pub(super) struct PassedArguments<'a> {
    pub(super) params: Vec<Param>,
    pub(super) args: Vec<Arg>,
    /// Arguments that are known when compiling and have no type.
    statics: Vec<KnownValue<'a>>,
    pub(super) bindings: Vec<Binding<'a>>,
}

impl PassedArguments<'_> {
    fn add(&mut self, param: Param, arg: Arg) {
        self.params.push(param);
        self.args.push(arg);
    }
}

/// Greatest depth of calls of functions by each other.
const MAX_CALL_DEPTH: usize = 64;

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    pub(super) fn call_user(
        &mut self,
        family: OverloadSet<'a>,
        given: &[CallArgument<'a>],
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let unit = self.unit;
        let found = unit.framed(family.frame, || self.overload(family, given, span))?;
        let mut passing = PassedArguments::default();
        for (formal, given) in found.formals.iter().zip(found.passed) {
            self.pass(&mut passing, formal, given, span)?;
        }
        let args = std::mem::take(&mut passing.args);
        let function = unit.framed(family.frame, || {
            self.instance(found.def, family.home, &found.formals, passing, span)
        })?;
        let args = self.with_tables(function, args);
        self.b.set_span(span);
        let value = self.b.call(function, &args);
        if let Some(shape) = self.session.tile_results.get(&function).cloned() {
            return self.tile_of_result(value, &shape, span);
        }
        Ok(Operand::Value(self.array_of(value)))
    }

    /// An array made in a function and given as its result, as one of this function.
    fn array_of(&mut self, value: Value) -> Value {
        let (ty, mut dims) = (self.ty(value), 0);
        let mut inner = ty;
        while let Shape::Fixed { of, .. } = *self.shape(inner) {
            (inner, dims) = (of, dims + 1);
        }
        if dims == 0 {
            return value;
        }
        let place = self.temporary("array", ty);
        self.b.store(place, value);
        self.b.as_array(place, dims)
    }

    fn pass(
        &mut self,
        passing: &mut PassedArguments<'a>,
        formal: &Formal<'a>,
        (_, operand, expr): CallArgument<'a>,
        call: Span,
    ) -> LoweringResult<()> {
        if let (Operand::KnownValue(KnownValue::Handle(from)), Some(library)) =
            (&operand, self.unit.library)
        {
            let at = passing.params.len() as u32;
            passing.bindings.push(Binding::KnownValue(KnownValue::Handle(at), None));
            for (param, arg) in self.handle_parts(library, *from) {
                passing.add(param, arg);
            }
            return Ok(());
        }
        if let Some(parts) = self.tuple_parts(&operand) {
            let here = expr.map_or(call, |expr| self.span(expr));
            return self.pass_tuple(passing, formal, parts, here);
        }
        if let Operand::Tile(tile) = &operand {
            self.pass_tile(passing, formal, tile);
            return Ok(());
        }
        if let Operand::KnownValue(known) = &operand
            && self.static_type(known).is_none()
        {
            passing.statics.push(known.clone());
            passing.bindings.push(Binding::KnownValue(known.clone(), None));
            return Ok(());
        }
        let here = expr.map_or(call, |expr| self.span(expr));
        let (mode, ty, arg) = if let Annotation::Reference(_) = formal.annotation {
            let access = match expr {
                Some(expr) => self.access(expr)?,
                None => Access::Operand(operand),
            };
            match access {
                Access::Place(place) if self.writable(place) => {
                    (PassMode::Mutable, self.b.place_type(place), Arg::Place(place))
                }
                _ => {
                    let message =
                        format!("`{}` is passed by reference: give it a variable", formal.name);
                    return fault(Code::NotWritable, here, message);
                }
            }
        } else {
            let value = self.passed_value(operand, formal, here)?;
            (PassMode::Value, self.ty(value), Arg::Value(value))
        };
        passing.bindings.push(Binding::Param(passing.params.len() as u32));
        passing.add(Param { mode, ..Param::value(formal.name, ty).at(formal.span) }, arg);
        Ok(())
    }

    fn pass_tuple(
        &mut self,
        passing: &mut PassedArguments<'a>,
        formal: &Formal<'a>,
        parts: Vec<Operand<'a>>,
        here: Span,
    ) -> LoweringResult<()> {
        let (start, count) = (passing.params.len() as i128, parts.len() as i128);
        // Tuples of other lengths at other places are other instances.
        passing.statics.push(KnownValue::Sequence([start, count].map(KnownValue::Int).into()));
        let outer = std::mem::take(&mut passing.bindings);
        for part in parts {
            let part = match part {
                Operand::KnownValue(known) if self.static_type(&known).is_some() => {
                    Operand::Value(self.materialize(&known, here)?)
                }
                part => part,
            };
            self.pass(passing, formal, (None, part, None), here)?;
        }
        let parts = std::mem::replace(&mut passing.bindings, outer);
        passing.bindings.push(Binding::Parts(parts.into()));
        Ok(())
    }

    fn pass_tile(&mut self, passing: &mut PassedArguments<'a>, formal: &Formal<'a>, tile: &Tile) {
        let (key, param) = Self::tile_param(tile, passing.params.len() as u32);
        passing.statics.push(key);
        passing.bindings.push(Binding::TileParam(param));
        let storage = Param::mutable(formal.name, self.b.place_type(tile.storage));
        passing.add(storage.at(formal.span), Arg::Place(tile.storage));
        if let Some(moved) = Self::tile_moved(tile) {
            let param = Param::value(format!("{}_start", formal.name), Type::I32);
            passing.add(param.at(formal.span), Arg::Value(moved));
        }
    }

    /// The parts of a tuple.
    fn tuple_parts(&mut self, operand: &Operand<'a>) -> Option<Vec<Operand<'a>>> {
        match operand {
            Operand::Tuple(parts) => Some(parts.to_vec()),
            Operand::KnownValue(KnownValue::Sequence(parts)) => {
                Some(parts.iter().cloned().map(Operand::KnownValue).collect())
            }
            Operand::Extents(array) => {
                Some(self.extents(*array).into_iter().map(Operand::Value).collect())
            }
            Operand::Value(value) => match self.shape(self.ty(*value)) {
                Shape::Tuple(of) => {
                    let count = of.len() as u32;
                    let part = |at| Operand::Value(self.b.extract(*value, at));
                    Some((0..count).map(part).collect())
                }
                _ => None,
            },
            Operand::KnownValue(_) | Operand::Tile(_) => None,
        }
    }

    fn passed_value(
        &mut self,
        operand: Operand<'a>,
        formal: &Formal<'a>,
        here: Span,
    ) -> LoweringResult<Value> {
        let mut value = self.value(operand, here)?;
        let ty = self.ty(value);
        if let (Annotation::Array(_, dims), Shape::Fixed { .. }) =
            (&formal.annotation, self.shape(ty))
        {
            let place = self.temporary("array", ty);
            self.b.store(place, value);
            value = self.b.as_array(place, *dims);
        }
        Ok(value)
    }

    /// The overload that takes the arguments: one with known types first, then generic ones.
    fn overload(
        &mut self,
        family: OverloadSet<'a>,
        given: &[CallArgument<'a>],
        span: Span,
    ) -> LoweringResult<MatchingOverload<'a>> {
        let OverloadSet { home, name, .. } = family;
        let defs = self.unit.overloads(family);
        let (mut known, mut generic) = (None, None);
        let mut taken: Vec<String> = Vec::new();
        for (def, conditional) in defs.into_iter().rev() {
            let formals = match self.unit.formals(def, home) {
                Ok(formals) => formals,
                Err(faults) => {
                    self.report(faults);
                    return Err(LoweringError::Reported);
                }
            };
            check_supported(&formals, name, span)?;
            let names: Vec<String> = formals.iter().map(|formal| self.written(formal)).collect();
            taken.push(format!("({})", names.join(", ")));
            let Some(passed) = self.match_arguments(&formals, given, home)? else { continue };
            if !self.fits(&formals, &passed)? {
                continue;
            }
            let found = MatchingOverload { def, formals, passed };
            let is_generic = found.formals.iter().any(|formal| formal.annotation.is_generic());
            let kind = if is_generic { &mut generic } else { &mut known };
            match kind {
                None => *kind = Some((found, conditional)),
                // The last one, if nothing else may be meant.
                Some((_, true)) => {
                    let what = format!(
                        "which definition of `{name}` counts is only known when Python runs"
                    );
                    return fault(Code::NeedsPythonEvaluation, span, what);
                }
                Some((_, false)) => {}
            }
        }
        if let Some((found, _)) = known.or(generic) {
            return Ok(found);
        }
        let found: Vec<String> =
            given.iter().map(|(_, operand, _)| self.shown_argument(operand)).collect();
        let message = if found.is_empty() {
            format!("`{name}` needs arguments")
        } else {
            format!("no `{name}` takes {}", found.join(", "))
        };
        let fault = Diagnostic::error(Code::TypeMismatch, span, message);
        Err(LoweringError::Fault(Box::new(fault.help(format!("it takes {}", taken.join(" or "))))))
    }

    /// An argument's type, as a message shows it.
    fn shown_argument(&mut self, operand: &Operand<'a>) -> String {
        if let Operand::Tile(tile) = operand {
            return format!("`{}`", self.shown_tile(&tile.shape()));
        }
        match self.operand_type(operand) {
            Some(ty) => format!("`{}`", self.shown(ty)),
            None => self
                .unit
                .library
                .filter(|_| matches!(operand, Operand::KnownValue(KnownValue::Handle(_))))
                .map_or_else(
                    || "a function, type or tuple".to_owned(),
                    |library| format!("`{}`", library.handle),
                ),
        }
    }

    /// A parameter as its text writes it.
    fn written(&self, formal: &Formal<'a>) -> String {
        match self.unit.quote(formal.span) {
            "" => formal.name.to_owned(),
            text => text.to_owned(),
        }
    }

    fn report(&mut self, faults: Vec<Diagnostic>) {
        for fault in faults {
            if !self.session.faults.contains(&fault) {
                self.session.faults.push(fault);
            }
        }
    }

    /// Argument of each formal parameter; `None` if the arguments don't fit in number or name.
    fn match_arguments(
        &mut self,
        formals: &[Formal<'a>],
        given: &[CallArgument<'a>],
        home: ScopeId,
    ) -> LoweringResult<Option<Vec<CallArgument<'a>>>> {
        let positional = given.iter().filter(|(keyword, ..)| keyword.is_none()).count();
        if given.len() > formals.len() {
            return Ok(None);
        }
        let mut passed = Vec::with_capacity(formals.len());
        let mut used = 0;
        for (at, formal) in formals.iter().enumerate() {
            let by_keyword = given.iter().find(|(keyword, ..)| *keyword == Some(formal.name));
            let one = if at < positional { given.get(at) } else { by_keyword };
            match (one, formal.default) {
                (Some(one), _) => {
                    used += 1;
                    passed.push(one.clone());
                }
                (None, Some(default)) => {
                    let known = self.unit.known(default, home)?;
                    let known = match (&formal.annotation, known.as_f64()) {
                        // Defaults become of the parameter's type.
                        (Annotation::Scalar(scalar), Some(_)) => {
                            known.literal(*scalar).map_or(known, KnownValue::Typed)
                        }
                        _ => known,
                    };
                    passed.push((None, Operand::KnownValue(known), None));
                }
                (None, None) => return Ok(None),
            }
        }
        Ok((used == given.len()).then_some(passed))
    }

    fn fits(
        &mut self,
        formals: &[Formal<'a>],
        passed: &[CallArgument<'a>],
    ) -> LoweringResult<bool> {
        for (formal, (_, operand, _)) in formals.iter().zip(passed) {
            self.session.define_structs(self.b.module, &formal.annotation)?;
            if !self.takes(&formal.annotation, operand) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn takes(&mut self, annotation: &Annotation, operand: &Operand<'a>) -> bool {
        if let Some(ty) = self.operand_type(operand) {
            let structs = &self.session.structs;
            let known = |class| structs.get(&class).and_then(|found| found.known());
            return *annotation != Annotation::Callable
                && annotation.takes(ty, &self.b.module.types, &known);
        }
        match operand {
            Operand::KnownValue(KnownValue::Function(..) | KnownValue::Member(_)) => {
                matches!(annotation, Annotation::Callable | Annotation::Any)
            }
            Operand::KnownValue(KnownValue::Type(_)) => *annotation == Annotation::Any,
            Operand::KnownValue(KnownValue::Handle(_)) => *annotation == Annotation::Handle,
            Operand::Tile(tile) => {
                let structs = &self.session.structs;
                let known = |class| structs.get(&class).and_then(|found| found.known());
                let shape = tile.shape();
                annotation.takes_tile(shape.of, &shape.extents, &self.b.module.types, &known)
            }
            operand => match (annotation, self.tuple_parts(operand)) {
                (Annotation::Any | Annotation::Tuple(None), Some(_)) => true,
                (Annotation::Tuple(Some(of)), Some(parts)) => {
                    of.len() == parts.len()
                        && of.iter().zip(&parts).all(|(of, part)| self.takes(of, part))
                }
                _ => false,
            },
        }
    }

    /// The function for these argument types, lowered when it is first asked for.
    pub(super) fn instance(
        &mut self,
        def: &'a StmtFunctionDef,
        home: ScopeId,
        formals: &[Formal<'a>],
        passing: PassedArguments<'a>,
        span: Span,
    ) -> LoweringResult<FunctionId> {
        let PassedArguments { params, statics, bindings, .. } = passing;
        let types: Vec<Type> = params.iter().map(|param| param.ty).collect();
        let key = (std::ptr::from_ref(def), self.unit.frame_of(home));
        let same =
            |one: &Instance<'a>| one.key == key && one.types == types && one.statics == statics;
        if let Some(made) = self.session.functions.iter().find(|one| same(one)) {
            return match made.outcome {
                Some(Ok(id)) => Ok(id),
                Some(Err(())) => Err(LoweringError::Reported),
                None => fault(
                    Code::Recursion,
                    span,
                    format!("`{}` calls itself, through others or not", def.name),
                ),
            };
        }
        let open = self.session.functions.iter().filter(|one| one.outcome.is_none()).count();
        if open >= MAX_CALL_DEPTH {
            return fault(
                Code::TooComplex,
                span,
                format!("functions call each other more than {MAX_CALL_DEPTH} deep"),
            );
        }
        let position = self.session.functions.len();
        self.session.functions.push(Instance { key, types, statics, outcome: None });
        let id = self.b.module.declare(def.name.as_str(), params, Type::UNIT);
        self.b.module.functions[id].span = self.unit.span(&def.name);
        let right = self.session.body(self.b.module, id, def, home, formals, bindings, false);
        self.session.functions[position].outcome = Some(if right { Ok(id) } else { Err(()) });
        if !right {
            return Err(LoweringError::Reported);
        }
        if self.session.gradients {
            self.session.hooks(self.b.module, id, def, home)?;
        }
        Ok(id)
    }
}

/// Refuses a definition with parameters that no call can pass.
fn check_supported(formals: &[Formal<'_>], name: &str, span: Span) -> LoweringResult<()> {
    if let Some((code, what)) = formals.iter().find_map(|formal| formal.annotation.unsupported()) {
        return fault(code, span, format!("{what} aren't supported: `{name}` takes some"));
    }
    if formals.iter().any(|formal| formal.variadic) {
        let message = format!("`{name}` takes any number of arguments");
        return fault(Code::UnsupportedVariadic, span, message);
    }
    Ok(())
}
