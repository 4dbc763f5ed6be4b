//! Names of a function that is lowered, and the meaning of each at this point.
//!
//! A variable that is bound once, and read only where that binding is visible, is a value; any
//! other is a local. A name bound to a number written in the text stays known until control flow
//! makes it uncertain, as in NVIDIA Warp.

mod flow;
mod tile;

use super::operand::{Binding, LoweringResult, Operand, fault};
use super::tile::Tile;
use super::usage::Usage;
use super::writer::Writer;
pub(super) use flow::Bindings;
use gbxcule_ir::diagnostic::Code;
use gbxcule_ir::function::{LocalId, PassMode};
use gbxcule_ir::op::Value;
use gbxcule_ir::source::Span;
use gbxcule_ir::stmt::BlockId;
use gbxcule_ir::ty::{Shape, Type};
use gbxcule_warp_types::geometry;
use gbxcule_warp_types::signature::Formal;
use gbxcule_warp_types::value::{KnownValue, WarpValue};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// Names, and their variables.
pub(super) struct Names<'a> {
    bindings: Bindings<'a>,
    usage: Usage<'a>,
    locals: FxHashMap<&'a str, LocalId>,
    /// Targets of unrolled loops.
    iterators: FxHashSet<&'a str>,
    /// Names of values copied or computed from constants: they may change in loops.
    copies: FxHashSet<&'a str>,
    /// Tiles of names that are bound several times.
    tiles: FxHashMap<&'a str, Rc<Tile>>,
    /// The block that binds a name first.
    homes: FxHashMap<&'a str, BlockId>,
    /// Names whose type changed in a block, which control may have left before the change.
    changed: FxHashMap<&'a str, BlockId>,
}

impl<'a> Names<'a> {
    pub(super) fn new(usage: Usage<'a>) -> Self {
        Self {
            bindings: FxHashMap::default(),
            usage,
            locals: FxHashMap::default(),
            iterators: FxHashSet::default(),
            copies: FxHashSet::default(),
            tiles: FxHashMap::default(),
            homes: FxHashMap::default(),
            changed: FxHashMap::default(),
        }
    }

    /// Binds the parameters. Those that the body changes become variables.
    pub(super) fn enter(
        &mut self,
        b: &mut Writer<'_, 'a>,
        formals: &[Formal<'a>],
        bindings: Vec<Binding<'a>>,
    ) {
        for (formal, binding) in formals.iter().zip(bindings) {
            let binding = match binding {
                Binding::Param(position) => {
                    let param = &b.function().params[position as usize];
                    let (ty, mode) = (param.ty, param.mode);
                    let changes = mode == PassMode::Value && {
                        let is_changed = self.is_changed(b, formal.name, ty);
                        self.usage.changes(formal.name, b.is_handle(ty), is_changed)
                    };
                    match changes {
                        true => {
                            let value = b.arg(position);
                            Binding::Local(self.store_local(b, formal.name, value))
                        }
                        false => Binding::Param(position),
                    }
                }
                Binding::Parts(parts) => Binding::Tuple(entered(b, &parts)),
                Binding::TileParam(param) => Binding::Tile(Rc::new(Tile::entered(b, &param))),
                other => other,
            };
            self.bindings.insert(formal.name, binding);
        }
    }

    /// Returns true if a call may change an argument with this name: a builtin changes the state
    /// of its random numbers, a function changes an argument by reference.
    fn is_changed(&self, b: &Writer<'_, 'a>, name: &str, ty: Type) -> bool {
        let is_query = match *b.shape(ty) {
            Shape::Struct(id) => geometry::is_query(&b.module.types.structure(id).name),
            _ => false,
        };
        ty == Type::U32 || is_query || (self.usage.is_passed_by_reference(name) && !b.is_handle(ty))
    }

    pub(super) fn get(&self, name: &str) -> Option<&Binding<'a>> {
        self.bindings.get(name)
    }

    pub(super) fn contains(&self, name: &str) -> bool {
        self.bindings.contains_key(name)
    }

    /// Returns true if a name is bound somewhere in the function.
    pub(super) fn is_bound_somewhere(&self, name: &str) -> bool {
        self.usage.is_bound(name)
    }

    /// Returns true if a name is read from its variable, even if its value is known here.
    pub(super) fn is_read_from_variable(&self, name: &str) -> bool {
        let is_number = matches!(self.get(name), Some(Binding::KnownValue(known, _)) if known.as_f64().is_some());
        self.usage.is_rebound(name) && !is_number
    }

    /// Refuses a name quietly from here on.
    pub(super) fn refuse(&mut self, name: &'a str) {
        self.bindings.insert(name, Binding::Refused);
    }

    /// The variable of a name for values of a type.
    fn local(&mut self, b: &mut Writer<'_, 'a>, name: &'a str, ty: Type) -> LocalId {
        if let Some(&local) = self.locals.get(name)
            && b.body().locals[local].ty == ty
        {
            return local;
        }
        let local = b.local(name, ty);
        self.locals.insert(name, local);
        local
    }

    /// Stores a value in the variable of a name.
    fn store_local(&mut self, b: &mut Writer<'_, 'a>, name: &'a str, value: Value) -> LocalId {
        let local = self.local(b, name, b.ty(value));
        let place = b.local_place(local);
        b.store(place, value);
        local
    }

    /// Records whether a name that is bound now is a copy.
    pub(super) fn note_copy(&mut self, name: &'a str, is_copy: bool) {
        if is_copy {
            self.copies.insert(name);
        } else {
            self.copies.remove(name);
        }
    }

    /// Binds a name, and keeps its value in a variable if other bindings may meet it.
    pub(super) fn bind(
        &mut self,
        b: &mut Writer<'_, 'a>,
        name: &'a str,
        operand: Operand<'a>,
        span: Span,
    ) -> LoweringResult<()> {
        let operand = settled(b, operand, span)?;
        if let Some(&Binding::Param(at)) = self.bindings.get(name)
            && b.is_reference(at)
        {
            let value = b.value(operand, span)?;
            let place = b.param_place(at);
            return b.store_typed(place, value, span, &format!("`{name}`"));
        }
        self.check_tile(b, name, &operand, span)?;
        if let Operand::Tile(tile) = operand {
            return self.bind_tile(b, name, tile, span);
        }
        let found = b.operand_type(&operand);
        if let (Some(found), Some(bound)) = (found, self.bound_type(b, name))
            && found != bound
            && !(b.is_handle(found) && b.is_handle(bound))
        {
            let (found, bound) = (b.shown(found), b.shown(bound));
            let message = format!("`{name}` is a `{bound}` and can't become a `{found}`");
            return fault(Code::TypeMismatch, span, message);
        }
        let binding = match operand {
            Operand::KnownValue(known) if found.is_none() => {
                if let Some(Binding::KnownValue(
                    old @ KnownValue::Dialect(WarpValue::Function(..)),
                    _,
                )) = self.get(name)
                    && *old != known
                {
                    let message = format!("`{name}` stands for one function only");
                    return fault(Code::FunctionRebound, span, message);
                }
                Binding::KnownValue(known, None)
            }
            Operand::KnownValue(known) => self.known_binding(b, name, known, span)?,
            Operand::Value(value) => self.value_binding(b, name, value, span)?,
            Operand::Tuple(parts) => Binding::Tuple(parts),
            Operand::Extents(array) => Binding::Extents(array),
            Operand::Tile(tile) => Binding::Tile(tile),
        };
        self.bindings.insert(name, binding);
        Ok(())
    }

    fn known_binding(
        &mut self,
        b: &mut Writer<'_, 'a>,
        name: &'a str,
        known: KnownValue<'a>,
        span: Span,
    ) -> LoweringResult<Binding<'a>> {
        // A parameter that is bound anew has a variable, too.
        if !self.usage.is_rebound(name) && !self.locals.contains_key(name) {
            return Ok(Binding::KnownValue(known, None));
        }
        let value = b.materialize(&known, span)?;
        let local = self.store_local(b, name, value);
        Ok(match known {
            KnownValue::Dialect(WarpValue::Composite(..)) => Binding::Local(local),
            known => Binding::KnownValue(known, Some(local)),
        })
    }

    fn value_binding(
        &mut self,
        b: &mut Writer<'_, 'a>,
        name: &'a str,
        value: Value,
        span: Span,
    ) -> LoweringResult<Binding<'a>> {
        let ty = b.ty(value);
        if ty == Type::UNIT {
            return fault(Code::NoValue, span, "this call gives no value");
        }
        let is_changed = self.is_changed(b, name, ty);
        if self.usage.needs_variable(name, b.is_handle(ty), is_changed) {
            b.no_local_array(value, span)?;
            if b.module.types.layout(ty).is_some() {
                return Ok(Binding::Local(self.store_local(b, name, value)));
            }
            if let Shape::Tuple(of) = b.shape(ty).clone() {
                let parts =
                    (0..of.len()).map(|position| Operand::Value(b.extract(value, position as u32)));
                let parts: Vec<Operand<'a>> = parts.collect();
                return Ok(Binding::Tuple(parts.into()));
            }
        }
        b.rename(value, name);
        Ok(Binding::Value(value))
    }

    /// The type of the value that a name stands for now.
    fn bound_type(&self, b: &mut Writer<'_, 'a>, name: &str) -> Option<Type> {
        match self.bindings.get(name)? {
            Binding::Value(value) => Some(b.ty(*value)),
            Binding::Local(local) => Some(b.body().locals[*local].ty),
            Binding::Param(position) => Some(b.function().params[*position as usize].ty),
            Binding::KnownValue(known, _) => b.static_type(known),
            Binding::Tuple(_)
            | Binding::Parts(_)
            | Binding::Extents(_)
            | Binding::Tile(_)
            | Binding::TileParam(_)
            | Binding::Refused => None,
        }
    }
}

/// The parts of a parameter that is a tuple, as operands.
fn entered<'a>(b: &mut Writer<'_, 'a>, parts: &[Binding<'a>]) -> Rc<[Operand<'a>]> {
    let part = |part: &Binding<'a>| match part {
        Binding::Param(position) => Operand::Value(b.arg(*position)),
        Binding::KnownValue(known, _) => Operand::KnownValue(known.clone()),
        Binding::Parts(parts) => Operand::Tuple(entered(b, parts)),
        Binding::TileParam(param) => Tile::entered(b, param).into(),
        _ => unreachable!("parts are passed as parameters or known"),
    };
    parts.iter().map(part).collect()
}

/// Replaces a member of a module without a file by a number, before a name is bound to it.
fn settled<'a>(
    b: &Writer<'_, 'a>,
    operand: Operand<'a>,
    span: Span,
) -> LoweringResult<Operand<'a>> {
    let Operand::KnownValue(known @ KnownValue::Member(_)) = operand else {
        return Ok(operand);
    };
    match b.unit().settled(known) {
        KnownValue::Member(path) if b.unit().files.looked_for(&path).is_some() => {
            Err(b.unit().files.unknown_module(&path, span).into())
        }
        settled => Ok(Operand::KnownValue(settled)),
    }
}
