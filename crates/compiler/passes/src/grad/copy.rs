//! Copies operations and places of one body into another by the builder, one at a time, for
//! inlining and the reverse pass of `grad`. (`pass::copy` copies whole bodies by their handles.)

use gbxcule_ir::arena::List;
use gbxcule_ir::build::Builder;
use gbxcule_ir::function::{Body, LocalId};
use gbxcule_ir::op::{Arg, Op, Selector, Value};
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::walk::map_operands;

/// Value or place that a parameter of the copied body stands for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Binding {
    /// The parameter at this position of the function being built.
    Own(u32),
    /// A variable of the function being built.
    Local(LocalId),
    /// A value: a scalar or an array handle.
    Value(Value),
    /// A place of the function being built.
    Place(PlaceId),
}

/// Maps the handles of one body to those of the function being built.
#[derive(Debug)]
pub(super) struct Copy<'a> {
    pub(super) body: &'a Body,
    values: Vec<Option<Value>>,
    locals: Vec<Option<LocalId>>,
    params: Vec<Binding>,
}

impl<'a> Copy<'a> {
    pub(super) fn new(body: &'a Body, params: Vec<Binding>) -> Self {
        let (values, locals) = (vec![None; body.values.len()], vec![None; body.locals.len()]);
        Self { body, values, locals, params }
    }

    /// Returns the copy of a value.
    pub(super) fn value(&self, old: Value) -> Value {
        let new = self.values[old.index()];
        new.unwrap_or_else(|| unreachable!("a value is copied before it is used"))
    }

    pub(super) fn set(&mut self, old: Value, new: Value) {
        self.values[old.index()] = Some(new);
    }

    /// Returns the variable of the function being built that stands for one of the copied body.
    pub(super) fn local(&mut self, b: &mut Builder<'_>, old: LocalId) -> LocalId {
        if let Some(new) = self.locals[old.index()] {
            return new;
        }
        let data = &self.body.locals[old];
        let new = b.local(data.name.clone(), data.ty);
        self.locals[old.index()] = Some(new);
        new
    }

    /// Returns the copy of a place; the values on its path must have been copied before.
    pub(super) fn place(&mut self, b: &mut Builder<'_>, old: PlaceId) -> PlaceId {
        let len = self.body.path(old).len();
        self.place_up_to(b, old, len)
    }

    /// Returns the copy of the first steps of a place.
    pub(super) fn place_up_to(
        &mut self,
        b: &mut Builder<'_>,
        old: PlaceId,
        steps: usize,
    ) -> PlaceId {
        let root = match self.body.places[old].root {
            Root::Local(local) => {
                let local = self.local(b, local);
                b.local_place(local)
            }
            Root::Param(position) => match self.params[position as usize] {
                Binding::Own(position) => b.param_place(position),
                Binding::Local(local) => b.local_place(local),
                Binding::Value(value) => b.array_place(value),
                Binding::Place(place) => place,
            },
            Root::Table(table) => b.table_place(table),
            Root::Array(value) => b.array_place(self.value(value)),
        };
        self.path(b, root, old, 0..steps)
    }

    /// Copies some steps of a copied place's path onto a place.
    pub(super) fn path(
        &self,
        b: &mut Builder<'_>,
        from: PlaceId,
        old: PlaceId,
        steps: std::ops::Range<usize>,
    ) -> PlaceId {
        self.body.path(old)[steps].iter().fold(from, |place, step| match *step {
            Projection::Field(field) => b.field(place, field),
            Projection::Component(component) => b.component(place, component),
            Projection::At(index) => b.at(place, self.value(index)),
            Projection::Element(indices) => {
                let indices: Vec<Value> =
                    self.body.value_lists[indices].iter().map(|&index| self.value(index)).collect();
                b.element(place, &indices)
            }
        })
    }

    /// Emits the operation of a value again.
    pub(super) fn operation(&mut self, b: &mut Builder<'_>, old: Value) -> Value {
        let data = self.body.values[old];
        let list = |copy: &Self, list| -> Vec<Value> {
            copy.body.value_lists[list].iter().map(|&value| copy.value(value)).collect()
        };
        let mut op = data.op;
        map_operands(&mut op, |value| *value = self.value(*value));
        let new = match op {
            // `store_forwarding` writes a conversion to a value's own type for "the same value".
            Op::Convert(value) if b.body().type_of(value) == data.ty => value,
            Op::Construct(parts) => b.construct(data.ty, &list(self, parts)),
            Op::Native { native, args } => b.native(native, &list(self, args)),
            Op::Load(place) => self.load(b, place),
            Op::AsArray(place) => {
                let place = self.place(b, place);
                b.emit(Op::AsArray(place), data.ty)
            }
            Op::Call { function, args } => {
                let args: Vec<Arg> =
                    self.body.arg_lists[args].iter().map(|&arg| self.arg(b, arg)).collect();
                b.call(function, &args)
            }
            Op::Atomic { op, place, value, expected } => {
                let place = self.place(b, place);
                b.emit(Op::Atomic { op, place, value, expected }, data.ty)
            }
            Op::View { array, selectors } => b.view(array, &self.selectors(selectors)),
            op => b.emit(op, data.ty),
        };
        if let Some(name) = data.name {
            let name = b.module.text(name).to_owned();
            b.rename(new, &name);
        }
        self.set(old, new);
        new
    }

    fn load(&mut self, b: &mut Builder<'_>, place: PlaceId) -> Value {
        if let Some(value) = self.bound(place) {
            return value;
        }
        let place = self.place(b, place);
        b.load(place)
    }

    fn selectors(&self, selectors: List<Selector>) -> Vec<Selector> {
        let selectors = self.body.selector_lists[selectors].iter();
        selectors.map(|selector| selector.map(|value| self.value(value))).collect()
    }

    /// Returns the copy of a call's argument.
    pub(super) fn arg(&mut self, b: &mut Builder<'_>, arg: Arg) -> Arg {
        match arg {
            Arg::Value(value) => Arg::Value(self.value(value)),
            Arg::Place(place) => Arg::Place(self.place(b, place)),
        }
    }

    /// Returns the value that a load of a whole parameter gives, if the parameter is bound to a
    /// value.
    fn bound(&self, place: PlaceId) -> Option<Value> {
        match self.body.places[place].root {
            Root::Param(position) if self.body.path(place).is_empty() => {
                match self.params[position as usize] {
                    Binding::Value(value) => Some(value),
                    _ => None,
                }
            }
            _ => None,
        }
    }
}
