//! Storage of adjoints, and additions to them.
//!
//! The adjoint of a scalar that is used only in the block that defines it is itself a value. The
//! adjoints of all other values, and of variables, are variables of the same type. An adjoint
//! begins as zero, and is zero again once it has been taken.

use super::activity::Activity;
use super::scan::Scan;
use gbxcule_ir::build::Builder;
use gbxcule_ir::function::LocalId;
use gbxcule_ir::op::{AtomicOp, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::ty::{Shape, Type};
use gbxcule_ir::walk::stmt_values;
use rustc_hash::FxHashMap;

/// All adjoints of a function.
#[derive(Debug)]
pub(super) struct Adjoints {
    active: Vec<bool>,
    /// True for each value whose adjoint is a variable.
    stored: Vec<bool>,
    sums: FxHashMap<Value, Value>,
    variables: FxHashMap<(Value, u32), LocalId>,
    locals: FxHashMap<LocalId, LocalId>,
    params: FxHashMap<u32, LocalId>,
}

impl Adjoints {
    pub(super) fn new(scan: &Scan<'_>, activity: &Activity) -> Self {
        let handles = scan.body.values.iter();
        let mut stored: Vec<bool> =
            handles.map(|(_, data)| data.ty.as_scalar().is_none()).collect();
        for at in &scan.stmts {
            stmt_values(scan.body, &at.stmt.kind, |value| {
                stored[value.index()] |= scan.home(value) != Some(at.block);
            });
        }
        Self {
            active: scan.body.values.handles().map(|value| activity.value(value)).collect(),
            stored,
            sums: FxHashMap::default(),
            variables: FxHashMap::default(),
            locals: FxHashMap::default(),
            params: FxHashMap::default(),
        }
    }

    /// All variables of adjoints.
    pub(super) fn all(&self) -> impl Iterator<Item = LocalId> {
        let variables = self.variables.values().chain(self.locals.values());
        variables.chain(self.params.values()).copied()
    }

    pub(super) fn is_active(&self, value: Value) -> bool {
        self.active[value.index()]
    }

    /// Adds to the adjoint of a value.
    pub(super) fn add(
        &mut self,
        b: &mut Builder<'_>,
        value: Value,
        name: OptionalName<'_>,
        amount: Value,
    ) {
        if !self.is_active(value) {
            return;
        }
        if self.stored[value.index()] {
            let ty = b.body().type_of(amount);
            let place = self.variable(b, value, 0, ty, name);
            accumulate(b, place, amount);
            return;
        }
        let sum = match self.sums.get(&value) {
            Some(&sum) => b.add(sum, amount),
            None => amount,
        };
        self.sums.insert(value, sum);
    }

    /// Adds to the adjoint of a part of a composite value or tuple.
    pub(super) fn add_part(
        &mut self,
        b: &mut Builder<'_>,
        value: Value,
        (ty, part): (Type, u32),
        name: OptionalName<'_>,
        amount: Value,
    ) {
        if !self.is_active(value) {
            return;
        }
        let place = match b.module.types[ty].clone() {
            Shape::Tuple(of) => self.variable(b, value, part, of[part as usize], name),
            shape => {
                let adjoint = self.variable(b, value, 0, ty, name);
                part_place(b, &shape, adjoint, part)
            }
        };
        accumulate(b, place, amount);
    }

    /// Takes the adjoint of a value, or of a tuple's part, if anything was added to it. The adjoint
    /// is zero afterwards.
    pub(super) fn take(&mut self, b: &mut Builder<'_>, value: Value, part: u32) -> Option<Value> {
        if !self.stored[value.index()] {
            return self.sums.remove(&value);
        }
        let &local = self.variables.get(&(value, part))?;
        let place = b.local_place(local);
        Some(take(b, place))
    }

    fn variable(
        &mut self,
        b: &mut Builder<'_>,
        value: Value,
        part: u32,
        ty: Type,
        OptionalName(name): OptionalName<'_>,
    ) -> PlaceId {
        let local = *self
            .variables
            .entry((value, part))
            .or_insert_with(|| b.local(format!("adj_{}", name.unwrap_or("value")), ty));
        b.local_place(local)
    }

    /// Returns the variable that holds the adjoint of a variable.
    pub(super) fn local(
        &mut self,
        b: &mut Builder<'_>,
        old: LocalId,
        name: &str,
        ty: Type,
    ) -> PlaceId {
        let local = *self.locals.entry(old).or_insert_with(|| b.local(format!("adj_{name}"), ty));
        b.local_place(local)
    }

    /// Returns the variable that holds the adjoint of a parameter.
    pub(super) fn param(
        &mut self,
        b: &mut Builder<'_>,
        position: u32,
        name: &str,
        ty: Type,
    ) -> PlaceId {
        let local =
            *self.params.entry(position).or_insert_with(|| b.local(format!("adj_{name}"), ty));
        b.local_place(local)
    }
}

/// Name of a value, if the value has one.
#[derive(Clone, Copy, Debug)]
pub(super) struct OptionalName<'a>(pub(super) Option<&'a str>);

/// Returns the place of a component, field or element by its position.
fn part_place(b: &mut Builder<'_>, shape: &Shape, place: PlaceId, part: u32) -> PlaceId {
    match shape {
        Shape::Struct(_) => b.field(place, part),
        Shape::Fixed { .. } => {
            let index = b.i32(part as i32);
            b.at(place, index)
        }
        _ => b.component(place, part),
    }
}

/// Loads a place and leaves zero there.
pub(super) fn take(b: &mut Builder<'_>, place: PlaceId) -> Value {
    let value = b.load(place);
    clear(b, place);
    value
}

/// Stores zero in all floats of a place.
pub(super) fn clear(b: &mut Builder<'_>, place: PlaceId) {
    each(b, place, None, &mut |b, place, _| {
        let ty = b.place_type(place);
        let zero = b.zero(ty);
        b.store(place, zero);
    });
}

/// Adds to all floats of a place. A float that was just set to zero is overwritten by the amount.
pub(super) fn accumulate(b: &mut Builder<'_>, place: PlaceId, amount: Value) {
    each(b, place, Some(amount), &mut |b, place, amount| {
        let Some(amount) = amount else { return };
        if b.take_back_zero(place) {
            b.store(place, amount);
            return;
        }
        let old = b.load(place);
        let new = b.add(old, amount);
        b.store(place, new);
    });
}

/// Adds to all floats of a place that other threads may add to as well.
pub(super) fn accumulate_shared(b: &mut Builder<'_>, place: PlaceId, amount: Value) {
    each(b, place, Some(amount), &mut |b, place, amount| {
        if let Some(amount) = amount {
            b.atomic(AtomicOp::Add, place, amount);
        }
    });
}

/// Greatest number of elements of a fixed array for which the code is unrolled.
const MAX_UNROLLED: u32 = 8;

/// Calls `action` for each scalar, vector or matrix of floats in a place, together with the same
/// part of `value`.
fn each(
    b: &mut Builder<'_>,
    place: PlaceId,
    value: Option<Value>,
    action: &mut dyn FnMut(&mut Builder<'_>, PlaceId, Option<Value>),
) {
    let ty = b.place_type(place);
    if !b.module.types.has_float(ty) {
        return;
    }
    let shape = b.module.types[ty].clone();
    let parts = match shape {
        Shape::Struct(id) => b.module.types.structure(id).fields.len() as u32,
        Shape::Fixed { len, .. } if len > MAX_UNROLLED => {
            let source = value.map(|value| {
                let local = b.local("elements", ty);
                let from = b.local_place(local);
                b.store(from, value);
                from
            });
            let range = [0, len as i32, 1].map(|bound| b.i32(bound));
            b.for_range("element", range, |b, index| {
                let part = b.at(place, index);
                let value = source.map(|from| {
                    let from = b.at(from, index);
                    b.load(from)
                });
                each(b, part, value, action);
            });
            return;
        }
        Shape::Fixed { len, .. } => len,
        _ => return action(b, place, value),
    };
    for part in 0..parts {
        let inner = part_place(b, &shape, place, part);
        if b.module.types.has_float(b.place_type(inner)) {
            let value = value.map(|value| b.extract(value, part));
            each(b, inner, value, action);
        }
    }
}
