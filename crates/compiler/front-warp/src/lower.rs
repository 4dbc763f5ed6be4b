//! Lowers the syntax tree of one kernel, and of the functions it calls, to IR.
//!
//! A variable that is bound once, and read only where that binding is visible, becomes a value; any
//! other becomes a local. A name bound to a number written in the text stays known ("static") until
//! control flow makes it uncertain, as in NVIDIA Warp: that is what unrolls loops and folds
//! branches.

mod access;
mod assign;
mod atomic;
mod call;
mod component;
mod construct;
mod control;
mod expr;
mod geometry;
mod indexed_array;
mod library;
mod loops;
mod manual_gradient;
mod operator;
mod slice;
mod snippet;
mod special;
mod table;
mod tile;
mod usage;
mod user_function;
mod value;
mod view;

use super::annotation::{Annotation, StructKey};
use super::constant::{KnownValue, Unit};
use super::decorator::Role;
use super::frame::FrameId;
use super::scope::ScopeId;
use super::signature::Formal;
use super::syntax::{Expr, Stmt, StmtFunctionDef};
use gbxcule_ir::build::Builder;
use gbxcule_ir::check;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::{FunctionId, LocalId, Param, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::Value;
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Field, Shape, Type};
use manual_gradient::ManualGradient;
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;
use tile::{Tile, TileParam, TileShape};
use usage::Usage;

/// Why lowering of a statement ended.
pub(super) enum LoweringError {
    Fault(Box<Diagnostic>),
    /// The reason was reported elsewhere.
    Reported,
}

impl From<Box<Diagnostic>> for LoweringError {
    fn from(fault: Box<Diagnostic>) -> Self {
        Self::Fault(fault)
    }
}

pub(super) type LoweringResult<T> = Result<T, LoweringError>;

/// Structs may hold structs so deep: lowering and printing recurse over types.
const MAX_STRUCT_NESTING: usize = 64;

/// Refuses a type that no back end can hold.
fn fits_in_memory(module: &Module, ty: Type, span: Span) -> LoweringResult<Type> {
    match module.types.layout(ty) {
        Some(layout) if layout.size > check::MAX_TYPE_BYTES => {
            let message = format!("a type has less than 2 GiB, this one {} bytes", layout.size);
            fault(Code::TooComplex, span, message)
        }
        _ => Ok(ty),
    }
}

/// A fault at a place.
fn fault<T>(code: Code, span: Span, message: impl Into<String>) -> LoweringResult<T> {
    Err(LoweringError::Fault(Box::new(Diagnostic::error(code, span, message))))
}

/// Result of an expression.
#[derive(Clone, Debug)]
pub(super) enum Operand<'a> {
    Value(Value),
    KnownValue(KnownValue<'a>),
    Tuple(Rc<[Operand<'a>]>),
    /// `array.shape`
    Extents(Value),
    Tile(Rc<Tile>),
}

/// Binding of a name at a point of a function.
#[derive(Clone, Debug)]
pub(super) enum Binding<'a> {
    Value(Value),
    Local(LocalId),
    /// A parameter, by value or by reference.
    Param(u32),
    /// Known from the text; kept in a variable too if other bindings may join it.
    KnownValue(KnownValue<'a>, Option<LocalId>),
    Tuple(Rc<[Operand<'a>]>),
    /// A tuple as it comes into a function; then it is a `Tuple`.
    Parts(Rc<[Binding<'a>]>),
    Extents(Value),
    Tile(Rc<Tile>),
    /// A tile as it comes into a function; then it is a `Tile`.
    TileParam(TileParam),
    /// The binding was refused.
    Refused,
}

/// Functions made so far, and what was refused.
pub(super) struct Session<'u, 'a> {
    unit: &'u Unit<'a>,
    structs: FxHashMap<StructKey, Definition>,
    /// Number of structs that are being defined: each holds the next.
    open_structs: usize,
    functions: Vec<Instance<'a>>,
    /// Functions whose result is the content of a tile.
    tile_results: FxHashMap<FunctionId, TileShape>,
    pub(super) faults: Vec<Diagnostic>,
    /// True if nothing is lowered behind the first fault.
    is_brief: bool,
    /// True if a statement was refused.
    pub(super) refused: bool,
    /// Statements lowered so far: unrolled loops in loops must end.
    work: usize,
    /// True if some of them are rounds of a loop.
    has_unrolled: bool,
    /// True if gradients by hand are wanted too.
    gradients: bool,
    /// Set while the body of one is about to be lowered.
    manual_gradient: Option<ManualGradient<'a>>,
}

/// State of a struct's definition.
#[derive(Clone, Copy)]
enum Definition {
    Open,
    Known(Type),
    Refused,
}

impl Definition {
    fn known(self) -> Option<Type> {
        match self {
            Self::Known(ty) => Some(ty),
            Self::Open | Self::Refused => None,
        }
    }
}

/// A function lowered for some argument types.
struct Instance<'a> {
    /// The definition, and the call of a Python function that it is made in.
    key: (*const StmtFunctionDef, FrameId),
    types: Vec<Type>,
    /// Functions passed as arguments.
    statics: Vec<KnownValue<'a>>,
    /// `None` while it is being lowered; then the function, or that it was refused.
    outcome: Option<Result<FunctionId, ()>>,
}

/// Most statements of one kernel after unrolling.
const MAX_WORK: usize = 50_000;

impl<'u, 'a> Session<'u, 'a> {
    pub(super) fn new(unit: &'u Unit<'a>, gradients: bool) -> Self {
        Self {
            unit,
            structs: FxHashMap::default(),
            open_structs: 0,
            functions: Vec::new(),
            tile_results: FxHashMap::default(),
            faults: Vec::new(),
            is_brief: unit.trials.is_brief(),
            refused: false,
            work: 0,
            has_unrolled: false,
            gradients,
            manual_gradient: None,
        }
    }

    /// Lowers a kernel for parameters of given types. What is wrong lies in `faults` afterwards.
    pub(super) fn kernel(
        &mut self,
        module: &mut Module,
        def: &'a StmtFunctionDef,
        scope: ScopeId,
        formals: &[Formal<'a>],
        types: &[Type],
    ) {
        let params = formals
            .iter()
            .zip(types)
            .map(|(formal, &ty)| Param::value(formal.name, ty).at(formal.span));
        let id = module.declare_kernel(def.name.as_str(), params.collect());
        module.functions[id].span = self.unit_span(def);
        match self.unit.residency(def, scope) {
            Ok(residency) => module.functions[id].residency = residency,
            Err(fault) => self.faults.push(*fault),
        }
        let bindings = (0..formals.len()).map(|at| Binding::Param(at as u32)).collect();
        self.body(module, id, def, scope, formals, bindings, true);
    }

    fn unit_span(&self, def: &StmtFunctionDef) -> Span {
        self.unit.span(&def.name)
    }

    /// Fills a declared function; returns true if nothing was refused.
    #[allow(clippy::too_many_arguments, reason = "one definition has these parts")]
    pub(super) fn body(
        &mut self,
        module: &mut Module,
        id: FunctionId,
        def: &'a StmtFunctionDef,
        scope: ScopeId,
        formals: &[Formal<'a>],
        bindings: Vec<Binding<'a>>,
        is_kernel: bool,
    ) -> bool {
        if self.unit.role(def, scope) == Role::Native {
            return self.native_body(module, id, (def, scope), formals, &bindings);
        }
        let before = self.faults.len();
        let mut lower = self.lower(module, id, def, scope);
        lower.is_kernel = is_kernel;
        lower.parameters(formals, bindings);
        let returns =
            def.returns.as_deref().map(|returns| (lower.unit.annotation(returns, scope), returns));
        lower.suite(&def.body);
        lower.end(returns);
        lower.b.finish();
        self.faults.len() == before
    }

    /// State in which a declared function is lowered.
    fn lower<'s, 'm>(
        &'s mut self,
        module: &'m mut Module,
        id: FunctionId,
        def: &'a StmtFunctionDef,
        scope: ScopeId,
    ) -> FunctionLowering<'s, 'u, 'a, 'm> {
        let usage = Usage::of(def, Rc::clone(&self.unit.references));
        FunctionLowering {
            unit: self.unit,
            manual_gradient: self.manual_gradient.take(),
            session: self,
            b: Builder::new(module, id),
            names: FxHashMap::default(),
            usage,
            locals: FxHashMap::default(),
            tiles: tile::TileNames::default(),
            scope,
            result: None,
            is_kernel: false,
            iterators: FxHashSet::default(),
            copies: FxHashSet::default(),
            in_loop: 0,
        }
    }

    /// The type of a struct, defined in the module when it is first asked for.
    pub(super) fn structure(
        &mut self,
        module: &mut Module,
        key: StructKey,
    ) -> Result<Type, LoweringError> {
        match self.structs.get(&key) {
            Some(Definition::Known(ty)) => return Ok(*ty),
            Some(Definition::Refused) => return Err(LoweringError::Reported),
            Some(Definition::Open) => {
                let (name, span, _) = self.unit.fields(key)?;
                return fault(Code::Recursion, span, format!("`{name}` contains itself"));
            }
            None => {}
        }
        if self.open_structs == MAX_STRUCT_NESTING {
            let (_, span, _) = self.unit.fields(key)?;
            let message = format!("structs nest at most {MAX_STRUCT_NESTING} deep");
            self.structs.insert(key, Definition::Refused);
            return fault(Code::TooComplex, span, message);
        }
        self.structs.insert(key, Definition::Open);
        self.open_structs += 1;
        let defined = self.define(module, key);
        self.open_structs -= 1;
        let outcome = defined.as_ref().map_or(Definition::Refused, |&ty| Definition::Known(ty));
        self.structs.insert(key, outcome);
        defined
    }

    fn define(&mut self, module: &mut Module, key: StructKey) -> Result<Type, LoweringError> {
        let (name, span, specs) = self.unit.fields(key)?;
        let mut fields = Vec::with_capacity(specs.len());
        for spec in specs {
            let ty = self.concrete(module, &spec.annotation, spec.span)?;
            fields.push(Field { name: spec.name.to_owned(), ty, span: spec.span });
        }
        let ty = module.types.define_struct(super::annotation::structure(name, fields, span));
        fits_in_memory(module, ty, span)
    }

    /// The type of an annotation that isn't generic.
    pub(super) fn concrete(
        &mut self,
        module: &mut Module,
        annotation: &Annotation,
        span: Span,
    ) -> Result<Type, LoweringError> {
        if let Some((code, what)) = annotation.unsupported() {
            return fault(code, span, format!("{what} aren't supported"));
        }
        if *annotation == Annotation::Handle {
            let handle = self.unit.library.map_or("", |library| &library.handle);
            return fault(Code::UnknownType, span, format!("only functions take a `{handle}`"));
        }
        self.define_structs(module, annotation)?;
        let structs = &self.structs;
        let ty = annotation.intern(&mut module.types, &mut |class, _| {
            structs.get(&class).and_then(|found| found.known())
        });
        match ty {
            Some(ty)
                if module.types.layout(ty).is_some()
                    || matches!(module.types[ty], Shape::Tuple(_)) =>
            {
                fits_in_memory(module, ty, span)
            }
            _ => fault(
                Code::UnknownType,
                span,
                "a type that is known is needed here, not a generic one",
            ),
        }
    }

    /// Defines the structs an annotation names.
    pub(super) fn define_structs(
        &mut self,
        module: &mut Module,
        annotation: &Annotation,
    ) -> Result<(), LoweringError> {
        match annotation {
            Annotation::Struct(key) => self.structure(module, *key).map(|_| ()),
            Annotation::Array(of, _)
            | Annotation::Indexed(of, _)
            | Annotation::Reference(of)
            | Annotation::Fixed(of, _) => self.define_structs(module, of),
            Annotation::Tuple(Some(of)) => {
                of.iter().try_for_each(|of| self.define_structs(module, of))
            }
            _ => Ok(()),
        }
    }
}

/// Lowers one function.
struct FunctionLowering<'s, 'u, 'a, 'm> {
    unit: &'u Unit<'a>,
    /// Additions of a gradient by hand to what other functions have.
    manual_gradient: Option<ManualGradient<'a>>,
    session: &'s mut Session<'u, 'a>,
    b: Builder<'m>,
    names: FxHashMap<&'a str, Binding<'a>>,
    usage: Usage<'a>,
    locals: FxHashMap<&'a str, LocalId>,
    tiles: tile::TileNames<'a>,
    /// The scope the definition stands in.
    scope: ScopeId,
    result: Option<Type>,
    is_kernel: bool,
    /// Names that unrolled loops count by.
    iterators: FxHashSet<&'a str>,
    /// Names of what was copied or computed from constants: they may change in loops.
    copies: FxHashSet<&'a str>,
    /// Number of open loops of the IR.
    in_loop: usize,
}

impl<'a> FunctionLowering<'_, '_, 'a, '_> {
    fn span(&self, expr: &Expr) -> Span {
        self.unit.span(expr)
    }

    fn shown(&self, ty: Type) -> String {
        self.b.module.types.spelled(ty)
    }

    fn shape(&self, ty: Type) -> &Shape {
        &self.b.module.types[ty]
    }

    fn ty(&self, value: Value) -> Type {
        self.b.body().type_of(value)
    }

    /// Binds the parameters. Those that the body changes become variables.
    fn parameters(&mut self, formals: &[Formal<'a>], bindings: Vec<Binding<'a>>) {
        for (formal, binding) in formals.iter().zip(bindings) {
            let binding = match binding {
                Binding::Param(at) => {
                    let param = &self.b.function().params[at as usize];
                    let (ty, mode) = (param.ty, param.mode);
                    if mode == PassMode::Value
                        && self.usage.changes(
                            formal.name,
                            self.is_handle(ty),
                            self.is_changed(formal.name, ty),
                        )
                    {
                        let value = self.b.arg(at);
                        let local = self.local(formal.name, ty);
                        let place = self.b.local_place(local);
                        self.b.store(place, value);
                        Binding::Local(local)
                    } else {
                        Binding::Param(at)
                    }
                }
                Binding::Parts(parts) => Binding::Tuple(self.entered(&parts)),
                Binding::TileParam(param) => Binding::Tile(Rc::new(self.entered_tile(&param))),
                other => other,
            };
            self.names.insert(formal.name, binding);
        }
    }

    /// The parts of a tuple that came in, as operands.
    fn entered(&mut self, parts: &[Binding<'a>]) -> Rc<[Operand<'a>]> {
        let part = |part: &Binding<'a>| match part {
            Binding::Param(at) => Operand::Value(self.b.arg(*at)),
            Binding::KnownValue(known, _) => Operand::KnownValue(known.clone()),
            Binding::Parts(parts) => Operand::Tuple(self.entered(parts)),
            Binding::TileParam(param) => Operand::Tile(Rc::new(self.entered_tile(param))),
            _ => unreachable!("parts are passed as parameters or known"),
        };
        parts.iter().map(part).collect()
    }

    /// Returns true if writing through a name of this type leaves the name itself as it is.
    fn is_handle(&self, ty: Type) -> bool {
        matches!(self.shape(ty), Shape::Array { .. }) || self.indexed_element(ty).is_some()
    }

    /// Returns true if a call may change what it is given by this name: a builtin the state of its
    /// random numbers, a function its argument by reference.
    fn is_changed(&self, name: &str, ty: Type) -> bool {
        ty == Type::U32
            || self.is_query_result(ty)
            || (self.usage.is_passed_by_reference(name) && !self.is_handle(ty))
    }

    /// The variable of a name for values of a type.
    fn local(&mut self, name: &'a str, ty: Type) -> LocalId {
        if let Some(&local) = self.locals.get(name)
            && self.b.body().locals[local].ty == ty
        {
            return local;
        }
        let local = self.b.local(name, ty);
        self.locals.insert(name, local);
        local
    }

    /// A variable without a name in the text.
    fn temporary(&mut self, name: &str, ty: Type) -> PlaceId {
        let local = self.b.local(name, ty);
        self.b.local_place(local)
    }

    /// Lowers a body; what comes after belongs to the statement around it again.
    fn suite(&mut self, body: &'a [Stmt]) {
        let around = self.b.span();
        self.statements(body);
        self.b.set_span(around);
    }

    fn statements(&mut self, body: &'a [Stmt]) {
        for (position, stmt) in body.iter().enumerate() {
            if position == 0 && is_docstring(stmt) {
                continue;
            }
            if self.session.is_brief && !self.session.faults.is_empty() {
                return;
            }
            self.session.work += 1;
            if self.session.work > MAX_WORK {
                if self.session.work == MAX_WORK + 1 {
                    let span = self.unit.span(stmt);
                    let what = match self.session.has_unrolled {
                        true => {
                            "this kernel has more than {MAX_WORK} statements with its loops unrolled"
                        }
                        false => {
                            "this kernel has more than {MAX_WORK} statements, with functions for each type they take"
                        }
                    };
                    let message = what.replace("{MAX_WORK}", &MAX_WORK.to_string());
                    self.session.faults.push(Diagnostic::error(Code::TooComplex, span, message));
                }
                return;
            }
            let span = self.unit.span(stmt);
            self.b.set_span(span);
            let lowered = with_stack(|| self.stmt(stmt));
            if let Err(stop) = lowered {
                self.session.refused = true;
                if let LoweringError::Fault(fault) = stop
                    && !self.session.faults.contains(&fault)
                {
                    self.session.faults.push(*fault);
                }
                self.refuse_targets(stmt);
            }
        }
    }

    /// The end of the function: its result, if control gets there.
    fn end(&mut self, returns: Option<(Result<Annotation, Box<Diagnostic>>, &'a Expr)>) {
        if !self.b.diverged() && self.give_adjoints() {
            return;
        }
        let result = self.result.unwrap_or(Type::UNIT);
        if let Some((annotation, expr)) = returns {
            self.check_result(annotation, expr, result);
        }
        if result != Type::UNIT && !self.b.diverged() {
            let value = self.zero(result);
            self.b.ret(Some(value));
        }
    }

    fn check_result(
        &mut self,
        annotation: Result<Annotation, Box<Diagnostic>>,
        expr: &Expr,
        result: Type,
    ) {
        match annotation {
            Err(fault) => self.session.faults.push(*fault),
            Ok(annotation) => {
                if self.session.define_structs(self.b.module, &annotation).is_err() {
                    return;
                }
                let structs = &self.session.structs;
                let types = &self.b.module.types;
                let known = |class| structs.get(&class).and_then(|found| found.known());
                // An array made in the function is a `fixedarray`, and nothing else.
                let made = matches!(types[result], Shape::Fixed { .. });
                let fits = annotation.takes(result, types, &known)
                    && !(made && matches!(annotation, Annotation::Array(..)));
                if !fits && !self.session.faults.iter().any(|fault| fault.span().is_some()) {
                    let (span, found) = (self.span(expr), self.shown(result));
                    let name = self.b.function().name.clone();
                    let message = format!("`{name}` gives `{found}`, which is not what it says");
                    let mut fault = Diagnostic::error(Code::TypeMismatch, span, message);
                    if result.as_scalar().is_some() {
                        fault = fault.help("convert what it returns, or write that type here");
                    }
                    self.session.faults.push(fault);
                }
            }
        }
    }

    /// Zero of any type, tuples included.
    fn zero(&mut self, ty: Type) -> Value {
        match self.shape(ty).clone() {
            Shape::Tuple(parts) => {
                let parts: Vec<Value> = parts.iter().map(|&part| self.b.zero(part)).collect();
                self.b.construct(ty, &parts)
            }
            Shape::Scalar(scalar) => self.b.literal(Literal::from_bits(scalar, 0)),
            _ => self.b.zero(ty),
        }
    }
}

fn is_docstring(stmt: &Stmt) -> bool {
    matches!(stmt, Stmt::Expr(expr) if matches!(&*expr.value, Expr::StringLiteral(_)))
}

/// Runs with enough stack for one more level of the tree.
pub(super) fn with_stack<T>(run: impl FnOnce() -> T) -> T {
    stacker::maybe_grow(128 * 1024, 2 * 1024 * 1024, run)
}
