//! Lowers [`tree`](super::tree) to IR: one function of the sources, one function of the module.
//!
//! References are places, slices are arrays of one dimension passed by value, tuples are structs,
//! enums are the integers that hold them. Overflow wraps and amounts of shifts are masked, as in a
//! release build.

mod call;
mod control;
mod expression;
mod integer;
mod place;
mod statement;
mod table;

use self::integer::Integers;
use super::item::Items;
use super::tree::{Body, Expr, ExprKind, Var};
use super::ty::Ty;
use gbxcule_ir::TableId;
use gbxcule_ir::build::Builder;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::function::{FunctionId, Param, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::Value;
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::source::Span;
use gbxcule_ir::ty::{Field, Struct, Type};
use std::collections::HashMap;
use std::rc::Rc;

/// State of the lowering: the functions made so far, and the functions that remain.
pub(super) struct Lower<'p, 'a> {
    program: &'p Items<'a>,
    structs: HashMap<usize, Type>,
    tuples: HashMap<Box<[Type]>, Type>,
    tables: HashMap<usize, TableId>,
    functions: HashMap<usize, FunctionId>,
    queue: Vec<usize>,
}

impl<'p, 'a> Lower<'p, 'a> {
    /// Lowers functions and all functions that they call.
    pub(super) fn new(program: &'p Items<'a>) -> Self {
        Self {
            program,
            structs: HashMap::new(),
            tuples: HashMap::new(),
            tables: HashMap::new(),
            functions: HashMap::new(),
            queue: Vec::new(),
        }
    }

    pub(super) fn run(&mut self, entries: &[usize], module: &mut Module) {
        for &entry in entries {
            self.declared(entry, module);
        }
        while let Some(next) = self.queue.pop() {
            self.function(next, module);
        }
    }

    /// Returns the function of the module for a function of the sources. Its body may be lowered
    /// later.
    fn declared(&mut self, id: usize, module: &mut Module) -> FunctionId {
        if let Some(&function) = self.functions.get(&id) {
            return function;
        }
        let (item, signature) = (&self.program.functions[id], self.program.signature(id));
        let mut params = Vec::new();
        for param in &signature.params {
            let mode = match &param.ty {
                Ty::Ref { to, .. } if matches!(**to, Ty::Slice(_)) => PassMode::Value,
                Ty::Ref { mutable: true, .. } => PassMode::Mutable,
                Ty::Ref { mutable: false, .. } => PassMode::Shared,
                _ => PassMode::Value,
            };
            let (name, ty) = (param.name.clone(), self.ty(&param.ty, module));
            params.push(Param { name, ty, mode, span: param.span });
        }
        let result = self.ty(&signature.result, module);
        let function = module.declare(item.name.clone(), params, result);
        module.functions[function].inline = item.inline;
        module.functions[function].span = item.span;
        self.functions.insert(id, function);
        self.queue.push(id);
        function
    }

    /// Returns the module's type for a type of the sources; for a reference, the type that it
    /// refers to.
    fn ty(&mut self, ty: &Ty, module: &mut Module) -> Type {
        match ty {
            Ty::Int(int) => Type::scalar(int.scalar()),
            Ty::Bool => Type::BOOL,
            Ty::Enum(id) => Type::scalar(self.program.enums[*id].repr.scalar()),
            Ty::Unit | Ty::Never => Type::UNIT,
            Ty::Ref { to, .. } => self.ty(to, module),
            Ty::Slice(of) => {
                let of = self.ty(of, module);
                module.types.array(of, 1)
            }
            Ty::Array(of, len) => {
                let of = self.ty(of, module);
                module.types.fixed(of, *len)
            }
            Ty::Tuple(of) => {
                let parts: Box<[Type]> = of.iter().map(|ty| self.ty(ty, module)).collect();
                self.tuple(parts, module)
            }
            Ty::Struct(id) => self.structure(*id, module),
            Ty::Var(_) | Ty::Wrong => Type::INVALID,
        }
    }

    fn structure(&mut self, id: usize, module: &mut Module) -> Type {
        if let Some(&ty) = self.structs.get(&id) {
            return ty;
        }
        // A struct inside itself has no size; the checker then refuses its fields.
        self.structs.insert(id, Type::INVALID);
        let item = &self.program.structs[id];
        let mut fields = Vec::new();
        for field in self.program.fields(id) {
            let ty = self.ty(&field.ty, module);
            fields.push(Field { name: field.name.clone(), ty, span: field.span });
        }
        let definition = Struct { name: item.name.clone(), fields, span: item.span };
        let ty = module.types.define_struct(definition);
        self.structs.insert(id, ty);
        ty
    }

    fn tuple(&mut self, parts: Box<[Type]>, module: &mut Module) -> Type {
        if let Some(&ty) = self.tuples.get(&parts) {
            return ty;
        }
        let names: Vec<String> =
            parts.iter().map(|&ty| module.types.display(ty).to_string()).collect();
        let fields = parts.iter().enumerate().map(|(position, &ty)| Field {
            name: format!("item{position}"),
            ty,
            span: Span::NONE,
        });
        let fields = fields.collect();
        let name = format!("tuple_{}", names.join("_"));
        let ty = module.types.define_struct(Struct { name, fields, span: Span::NONE });
        self.tuples.insert(parts, ty);
        ty
    }

    fn function(&mut self, id: usize, module: &mut Module) {
        let (body, signature) = (self.program.body(id), self.program.signature(id));
        let function = self.functions[&id];
        let mut b = Builder::new(module, function);
        b.set_span(self.program.functions[id].span);
        let vars = body.vars.iter().map(|_| None).collect();
        let mut lowering = Lowering { all: self, b, body, vars, loops: Vec::new() };
        (0..signature.params.len()).for_each(|position| lowering.param(position));
        let body = Rc::clone(&lowering.body);
        if lowering.ty(&signature.result) == Type::UNIT {
            lowering.effect(&body.value);
        } else {
            let value = lowering.value(&body.value);
            lowering.b.set_span(result_span(&body.value));
            lowering.b.ret(Some(value));
        }
        lowering.b.finish();
    }
}

/// Returns the place of a body's value: its last expression.
fn result_span(value: &Expr) -> Span {
    match &value.kind {
        ExprKind::Block(block) => block.tail.as_ref().map_or(value.span, |tail| result_span(tail)),
        _ => value.span,
    }
}

/// One function being lowered.
struct Lowering<'l, 'm, 'p, 'a> {
    all: &'l mut Lower<'p, 'a>,
    b: Builder<'m>,
    body: Rc<Body>,
    vars: Vec<Option<Binding>>,
    /// Place to which a `break` writes the loop's value, for each loop around the current
    /// statement.
    loops: Vec<Option<PlaceId>>,
}

/// Value or place of a variable.
#[derive(Clone, Copy)]
enum Binding {
    /// A scalar that never changes.
    Value(Value),
    /// A place; for a reference, the place that it refers to.
    Place(PlaceId),
}

impl<'m> Lowering<'_, 'm, '_, '_> {
    fn integers(&mut self) -> Integers<'_, 'm> {
        Integers::new(&mut self.b)
    }

    fn ty(&mut self, ty: &Ty) -> Type {
        let ty = self.body.ty(ty);
        self.all.ty(&ty, self.b.module)
    }

    fn fault(&self, code: Code, at: Span, message: impl Into<String>) {
        self.all.program.fault(Diagnostic::error(code, at, message));
    }

    fn refuse_construct(&self, at: &Expr, what: &str) {
        let message = format!("{what} is outside the subset of Rust that is translated");
        self.fault(Code::RustSubset, at.span, message);
    }

    fn param(&mut self, position: usize) {
        let place = self.b.param_place(position as u32);
        let body = Rc::clone(&self.body);
        let place = if body.vars[position].fixed {
            place
        } else {
            let local = self.variable(&body.vars[position]);
            let value = self.b.load(place);
            self.b.store(local, value);
            local
        };
        self.vars[position] = Some(Binding::Place(place));
    }

    /// Declares the module's variable for a variable of the sources.
    fn variable(&mut self, var: &Var) -> PlaceId {
        let ty = self.ty(&var.ty);
        let local = self.b.local(var.name.clone(), ty);
        self.b.local_place(local)
    }
}
