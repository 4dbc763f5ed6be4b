//! Calls of `@wp.func`: overloads, generics, functions as arguments.

use super::Expressions;
use super::access::Access;
use super::call::CallArgument;
use super::geometry::with_tables;
use super::library::handle_parts;
use super::operand::{Binding, LoweringError, LoweringResult, Operand, fault};
use super::overload::matching;
use super::session::{Definition, Kind};
use super::tile::{Tile, TileShape};
use super::writer::Writer;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::function::{FunctionId, Param, PassMode};
use gbxcule_ir::op::{Arg, Value};
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Shape, Type};
use gbxcule_python_names::ScopeId;
use gbxcule_python_names::syntax::StmtFunctionDef;
use gbxcule_python_values::FrameId;
use gbxcule_warp_types::annotation::Annotation;
use gbxcule_warp_types::signature::Formal;
use gbxcule_warp_types::value::{KnownValue, OverloadSet, WarpValue};
use rustc_hash::FxHashMap;

/// Arguments that a call passes, and the instance of the function that takes them.
#[derive(Default)]
pub(super) struct PassedArguments<'a> {
    pub(super) params: Vec<Param>,
    pub(super) args: Vec<Arg>,
    /// Arguments without a type, which are known at compile time.
    statics: Vec<KnownValue<'a>>,
    pub(super) bindings: Vec<Binding<'a>>,
}

impl<'a> PassedArguments<'a> {
    fn add(&mut self, param: Param, arg: Arg) {
        self.params.push(param);
        self.args.push(arg);
    }

    fn pass(
        &mut self,
        e: &mut Expressions<'_, 'a>,
        formal: &Formal<'a>,
        (_, operand, expr): CallArgument<'a>,
        call: Span,
    ) -> LoweringResult<()> {
        if let (Operand::KnownValue(KnownValue::Dialect(WarpValue::Handle(from))), Some(library)) =
            (&operand, e.unit.dialect.library)
        {
            let position = self.params.len() as u32;
            self.bindings
                .push(Binding::KnownValue(KnownValue::Dialect(WarpValue::Handle(position)), None));
            for (param, arg) in handle_parts(&mut e.b, library, *from) {
                self.add(param, arg);
            }
            return Ok(());
        }
        if let Some(parts) = e.b.tuple_parts(&operand) {
            let here = expr.map_or(call, |expr| e.unit.span(expr));
            return self.pass_tuple(e, formal, parts, here);
        }
        if let Operand::Tile(tile) = &operand {
            pass_tile(&mut e.b, self, formal, tile);
            return Ok(());
        }
        if let Operand::KnownValue(known) = &operand
            && e.b.static_type(known).is_none()
        {
            self.statics.push(known.clone());
            self.bindings.push(Binding::KnownValue(known.clone(), None));
            return Ok(());
        }
        let here = expr.map_or(call, |expr| e.unit.span(expr));
        let (mode, ty, arg) = if let Annotation::Reference(_) = formal.annotation {
            let access = match expr {
                Some(expr) => e.access(expr)?,
                None => Access::Operand(operand),
            };
            match access {
                Access::Place(place) if e.b.is_writable(place) => {
                    (PassMode::Mutable, e.b.place_type(place), Arg::Place(place))
                }
                _ => {
                    let message =
                        format!("`{}` is passed by reference: give it a variable", formal.name);
                    return fault(Code::NotWritable, here, message);
                }
            }
        } else {
            let value = passed_value(&mut e.b, operand, formal, here)?;
            (PassMode::Value, e.b.ty(value), Arg::Value(value))
        };
        self.bindings.push(Binding::Param(self.params.len() as u32));
        self.add(Param { mode, ..Param::value(formal.name, ty).at(formal.span) }, arg);
        Ok(())
    }

    fn pass_tuple(
        &mut self,
        e: &mut Expressions<'_, 'a>,
        formal: &Formal<'a>,
        parts: Vec<Operand<'a>>,
        here: Span,
    ) -> LoweringResult<()> {
        let (start, count) = (self.params.len() as i128, parts.len() as i128);
        // Tuples of other lengths, or at other positions, need other instances.
        self.statics.push(KnownValue::Sequence([start, count].map(KnownValue::Int).into()));
        let outer = std::mem::take(&mut self.bindings);
        for part in parts {
            let part = match part {
                Operand::KnownValue(known) if e.b.static_type(&known).is_some() => {
                    Operand::Value(e.b.materialize(&known, here)?)
                }
                part => part,
            };
            self.pass(e, formal, (None, part, None), here)?;
        }
        let parts = std::mem::replace(&mut self.bindings, outer);
        self.bindings.push(Binding::Parts(parts.into()));
        Ok(())
    }
}

/// Functions lowered so far.
#[derive(Clone, Default)]
pub(super) struct Instances<'a> {
    made: Vec<Instance<'a>>,
    /// Functions whose result is the content of a tile.
    tile_results: FxHashMap<FunctionId, TileShape>,
    /// Functions whose result is a tuple with tuples in it, which is one flat tuple in the IR: for
    /// each part in the order of the text, its number of parts, or 0 if the part is no tuple.
    nested_results: FxHashMap<FunctionId, Vec<usize>>,
}

/// A function lowered for some argument types.
#[derive(Clone)]
struct Instance<'a> {
    /// The definition, and the call of the Python function that makes it.
    key: (*const StmtFunctionDef, FrameId),
    definition: (&'a StmtFunctionDef, ScopeId),
    types: Vec<Type>,
    /// Functions passed as arguments.
    statics: Vec<KnownValue<'a>>,
    /// `None` while it is being lowered.
    outcome: Option<Outcome>,
}

/// The function, or an error if it was refused.
type Outcome = Result<FunctionId, ()>;

impl<'a> Instances<'a> {
    /// The outcome of an instance with the same definition and types, if there is one.
    fn find(&self, wanted: &Instance<'a>) -> Option<Option<Outcome>> {
        let same = |one: &&Instance<'a>| {
            one.key == wanted.key && one.types == wanted.types && one.statics == wanted.statics
        };
        self.made.iter().find(same).map(|one| one.outcome)
    }

    /// The functions that were lowered, with their definitions.
    pub(super) fn lowered(&self) -> Vec<(FunctionId, (&'a StmtFunctionDef, ScopeId))> {
        let done = |one: &Instance<'a>| Some((one.outcome?.ok()?, one.definition));
        self.made.iter().filter_map(done).collect()
    }

    /// Number of functions that are being lowered.
    fn open(&self) -> usize {
        self.made.iter().filter(|one| one.outcome.is_none()).count()
    }

    /// The content of a tile as the result of the function that is written.
    pub(super) fn tile_result(
        b: &mut Writer<'_, 'a>,
        tile: &Tile,
        span: Span,
    ) -> LoweringResult<Value> {
        let (function, shape) = (b.function_id(), tile.shape());
        let results = &mut b.session().instances.tile_results;
        if results.get(&function).is_some_and(|known| *known != shape) {
            return fault(Code::TypeMismatch, span, "all results of a function are of one type");
        }
        results.insert(function, shape);
        tile.content(b, span)
    }

    /// The result of the function that is written, if it isn't a tile.
    pub(super) fn result(
        b: &mut Writer<'_, 'a>,
        operand: Operand<'a>,
        span: Span,
    ) -> LoweringResult<Value> {
        let (mut values, mut counts) = (Vec::new(), Vec::new());
        if !matches!(operand, Operand::Value(_)) {
            flatten(b, operand.clone(), &mut values, &mut counts);
        }
        let nested = counts.iter().filter(|count| **count > 0).count() > 1;
        let function = b.function_id();
        let is_first = b.function().result == Type::UNIT;
        let results = &mut b.session().instances.nested_results;
        if nested && is_first {
            results.insert(function, counts);
        } else if results.get(&function) != Some(&counts).filter(|_| nested) {
            return fault(Code::TypeMismatch, span, "all results of a function are of one type");
        }
        let operand = if nested { Operand::Tuple(values.into()) } else { operand };
        b.value(operand, span)
    }
}

/// Adds the values in a tuple of tuples, and the numbers of parts.
fn flatten<'a>(
    b: &mut Writer<'_, 'a>,
    operand: Operand<'a>,
    values: &mut Vec<Operand<'a>>,
    counts: &mut Vec<usize>,
) {
    let parts = b.tuple_parts(&operand).filter(|parts| !parts.is_empty());
    counts.push(parts.as_ref().map_or(0, Vec::len));
    match parts {
        Some(parts) => parts.into_iter().for_each(|part| flatten(b, part, values, counts)),
        None => values.push(operand),
    }
}

/// Makes a tuple of tuples of the values in it.
fn nested<'a>(
    values: &mut impl Iterator<Item = Operand<'a>>,
    counts: &mut impl Iterator<Item = usize>,
) -> Option<Operand<'a>> {
    match counts.next()? {
        0 => values.next(),
        count => {
            let parts: Option<Vec<_>> = (0..count).map(|_| nested(values, counts)).collect();
            Some(Operand::Tuple(parts?.into()))
        }
    }
}

/// Greatest depth of calls of functions by each other.
const MAX_CALL_DEPTH: usize = 64;

impl<'a> Expressions<'_, 'a> {
    pub(super) fn call_user(
        &mut self,
        family: OverloadSet<'a>,
        given: &[CallArgument<'a>],
        span: Span,
    ) -> LoweringResult<Operand<'a>> {
        let unit = self.unit;
        let overload =
            unit.frames.run(family.frame, || matching(&mut self.b, family, given, span))?;
        let mut passing = PassedArguments::default();
        for (formal, given) in overload.formals.iter().zip(overload.passed) {
            passing.pass(self, formal, given, span)?;
        }
        let args = std::mem::take(&mut passing.args);
        let function = unit.frames.run(family.frame, || {
            instance(&mut self.b, (overload.def, family.home), &overload.formals, passing, span)
        })?;
        let args = with_tables(&mut self.b, function, args);
        self.b.set_span(span);
        let value = self.b.call(function, &args);
        if let Some(shape) = self.b.session().instances.tile_results.get(&function).cloned() {
            return Ok(Tile::of_result(&mut self.b, value, &shape, span)?.into());
        }
        if let Some(counts) = self.b.session().instances.nested_results.get(&function).cloned() {
            let parts = self.b.spread(Operand::Value(value), span)?;
            let whole = nested(&mut parts.into_iter(), &mut counts.into_iter());
            return Ok(whole.unwrap_or(Operand::Value(value)));
        }
        Ok(Operand::Value(array_of(&mut self.b, value)))
    }
}

/// Makes an array in this function from an array that a called function returned.
fn array_of<'a>(b: &mut Writer<'_, 'a>, value: Value) -> Value {
    let (ty, mut dims) = (b.ty(value), 0);
    let mut inner = ty;
    while let Shape::Fixed { of, .. } = *b.shape(inner) {
        (inner, dims) = (of, dims + 1);
    }
    if dims == 0 {
        return value;
    }
    let place = b.stored("array", value);
    b.as_array(place, dims)
}

fn pass_tile<'a>(
    b: &mut Writer<'_, 'a>,
    passing: &mut PassedArguments<'a>,
    formal: &Formal<'a>,
    tile: &Tile,
) {
    let (key, param) = tile.passed(passing.params.len() as u32);
    passing.statics.push(key);
    passing.bindings.push(Binding::TileParam(param));
    let storage = Param::mutable(formal.name, b.place_type(tile.storage()));
    passing.add(storage.at(formal.span), Arg::Place(tile.storage()));
    if let Some(moved) = tile.moved() {
        let param = Param::value(format!("{}_start", formal.name), Type::I32);
        passing.add(param.at(formal.span), Arg::Value(moved));
    }
}

fn passed_value<'a>(
    b: &mut Writer<'_, 'a>,
    operand: Operand<'a>,
    formal: &Formal<'a>,
    here: Span,
) -> LoweringResult<Value> {
    let mut value = b.value(operand, here)?;
    let ty = b.ty(value);
    if let (Annotation::Array(_, dims), Shape::Fixed { .. }) = (&formal.annotation, b.shape(ty)) {
        let place = b.stored("array", value);
        value = b.as_array(place, *dims);
    }
    Ok(value)
}

/// Returns the function for these argument types, which is lowered at the first request.
pub(super) fn instance<'a>(
    b: &mut Writer<'_, 'a>,
    (def, home): (&'a StmtFunctionDef, ScopeId),
    formals: &[Formal<'a>],
    passing: PassedArguments<'a>,
    span: Span,
) -> LoweringResult<FunctionId> {
    let PassedArguments { params, statics, bindings, .. } = passing;
    let types = params.iter().map(|param| param.ty).collect();
    let (unit, session, module) = b.nested();
    let key = (std::ptr::from_ref(def), unit.frame_of(home));
    let instance = Instance { key, definition: (def, home), types, statics, outcome: None };
    if let Some(made) = session.instances.find(&instance) {
        return match made {
            Some(Ok(id)) => Ok(id),
            Some(Err(())) => Err(LoweringError::Reported),
            None => {
                let message = format!("`{}` calls itself, directly or through others", def.name);
                fault(Code::Recursion, span, message)
            }
        };
    }
    if session.instances.open() >= MAX_CALL_DEPTH {
        let message = format!("functions call each other more than {MAX_CALL_DEPTH} deep");
        return fault(Code::TooComplex, span, message);
    }
    let position = session.instances.made.len();
    session.instances.made.push(instance);
    let id = module.declare(def.name.as_str(), params, Type::UNIT);
    module.functions[id].span = unit.span(&def.name);
    let definition = Definition { def, scope: home, formals, bindings, kind: Kind::Function };
    let right = session.body(unit, module, id, definition);
    session.instances.made[position].outcome = Some(if right { Ok(id) } else { Err(()) });
    if !right {
        return Err(LoweringError::Reported);
    }
    if session.gradients {
        session.hooks(unit, module, id, def, home)?;
    }
    Ok(id)
}
