//! The reverse of loops: iterations from the last to the first, each from the state in which it began.
//!
//! States are brought back from checkpoints in a small fixed number of slots (see
//! [`super::checkpoint`]); a loop whose iterations need nothing of each other keeps none.

use super::checkpoint;
use super::reverse::Reverser;
use super::trip;
use crate::ir::build::Builder;
use crate::ir::function::LocalId;
use crate::ir::op::{Arg, Value};
use crate::ir::place::PlaceId;
use crate::ir::stmt::{BlockId, StmtKind};
use crate::ir::ty::Type;

/// Slots of a loop, if its state is small.
const SLOTS_MAX: u64 = 16;
/// Slots of a loop, however large its state.
const SLOTS_MIN: u64 = 4;
/// Bytes that the slots of a loop may take as long as there are more than `SLOTS_MIN`.
const SLOT_BYTES: u64 = 1024;

/// A loop to be reversed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cycle {
    body: BlockId,
    /// Of a `For`: its index, and start, end and step.
    range: Option<(Value, [Value; 3])>,
}

impl Cycle {
    pub(super) fn of_for(body: BlockId, index: Value, range: [Value; 3]) -> Self {
        Self { body, range: Some((index, range)) }
    }

    pub(super) fn of_while(body: BlockId) -> Self {
        Self { body, range: None }
    }
}

/// The checkpoints of a loop.
struct Slots {
    /// Variables, and an array of what they held at each checkpoint.
    state: Vec<(PlaceId, PlaceId)>,
    /// At which iteration each was taken.
    positions: PlaceId,
    /// The last one in use.
    top: PlaceId,
    count: u64,
}

impl Reverser<'_, '_> {
    /// The reverse of a loop that begins in the present state. `trips` says how often it ran.
    pub(super) fn cycle(&mut self, cycle: &Cycle, stmt: &StmtKind, trips: Option<Value>) {
        let body = self.scan.body;
        let reads = self.need.block_reads(cycle.body);
        let state: Vec<LocalId> =
            self.need.block_writes(cycle.body).intersection(reads).copied().collect();
        debug_assert!(state.iter().all(|&local| self.need.local(local)), "{:?}", body.root);
        let slots = (!state.is_empty()).then(|| self.slots(&state));
        let trips = match (trips, cycle.range) {
            (Some(trips), _) => trips,
            (None, Some((_, range))) => trip::count(&mut self.b, range),
            (None, None) => {
                let counter = self.counter();
                self.advance_stmt(stmt, Some(counter));
                self.b.load(counter)
            }
        };
        let (one, minus) = (self.b.number(Type::I64, 1.0), self.b.number(Type::I64, -1.0));
        let last = self.b.sub(trips, one);
        let back = self.b.loop_index(Type::I64, "back");
        self.b.open_block();
        if let Some(slots) = &slots {
            self.rewind(cycle, slots, back);
        }
        if cycle.range.is_some_and(|(index, _)| self.need.value(index)) {
            self.set_index(cycle, back);
        }
        self.block(cycle.body);
        if let Some(slots) = &slots {
            release(&mut self.b, slots, back);
        }
        let block = self.b.close_block();
        self.b.for_block(back, [last, minus, minus], block);
    }

    fn set_index(&mut self, cycle: &Cycle, count: Value) {
        if let Some((index, [start, _, step])) = cycle.range {
            let new = trip::index(&mut self.b, start, step, count);
            self.copy.set(index, new);
        }
    }

    /// Makes slots and takes the first checkpoint.
    fn slots(&mut self, state: &[LocalId]) -> Slots {
        let b = &mut self.b;
        let types = state.iter().map(|&local| self.scan.body.locals[local].ty);
        let bytes: u64 =
            types.map(|ty| b.module.types.layout(ty).map_or(0, |layout| layout.size)).sum();
        let count = (SLOT_BYTES / bytes.max(1)).clamp(SLOTS_MIN, SLOTS_MAX);
        let array = |b: &mut Builder<'_>, name: &str, ty: Type| {
            let fixed = b.module.types.fixed(ty, count as u32);
            let local = b.local(name, fixed);
            b.local_place(local)
        };
        let positions = array(b, "checkpoint_positions", Type::I64);
        let top = b.local("checkpoint_top", Type::I64);
        let top = b.local_place(top);
        let mut pairs = Vec::new();
        for &local in state {
            let data = &self.scan.body.locals[local];
            let kept = array(b, &format!("{}_checkpoints", data.name), data.ty);
            let new = self.copy.local(b, local);
            pairs.push((b.local_place(new), kept));
        }
        let slots = Slots { state: pairs, positions, top, count };
        let zero = b.number(Type::I64, 0.0);
        save(b, &slots, zero, zero);
        slots
    }

    /// Brings back the state in which an iteration began, taking further checkpoints on the way.
    fn rewind(&mut self, cycle: &Cycle, slots: &Slots, back: Value) {
        let at = self.b.local("position", Type::I64);
        let at = self.b.local_place(at);
        let goal = self.b.local("goal", Type::I64);
        let goal = self.b.local_place(goal);
        let top = self.b.load(slots.top);
        let start = load_at(&mut self.b, slots.positions, top);
        for &(variable, kept) in &slots.state {
            let value = load_at(&mut self.b, kept, top);
            self.b.store(variable, value);
        }
        self.b.store(at, start);
        let distance =
            *self.shared.distance.get_or_insert_with(|| checkpoint::declare(self.b.module));
        self.b.open_block();
        let here = self.b.load(at);
        let before = self.b.lt(here, back);
        let header = self.b.close_block();
        self.b.open_block();
        let top = self.b.load(slots.top);
        let most = self.b.number(Type::I64, slots.count as f64 - 1.0);
        let (zero, one) = (self.b.number(Type::I64, 0.0), self.b.number(Type::I64, 1.0));
        let free = self.b.sub(most, top);
        let room = self.b.lt(zero, free);
        self.b.store(goal, back);
        self.b.if_then(room, |b| {
            let (past, here) = (b.add(back, one), b.load(at));
            let steps = b.sub(past, here);
            // With a checkpoint for every step that is left, each gets one.
            let rest = b.sub(steps, free);
            let three = b.number(Type::I64, 3.0);
            let enough = b.lt(rest, three);
            b.if_else(
                enough,
                |b| {
                    let there = b.add(here, one);
                    b.store(goal, there);
                },
                |b| {
                    let distance = b.call(distance, &[steps, free].map(Arg::Value));
                    let there = b.add(here, distance);
                    b.store(goal, there);
                },
            );
        });
        self.run_to(cycle, at, goal);
        self.b.if_then(room, |b| {
            let (next, here) = (b.add(top, one), b.load(at));
            save(b, slots, next, here);
        });
        let body = self.b.close_block();
        self.b.while_blocks(header, before, body);
    }

    /// Runs iterations up to one.
    fn run_to(&mut self, cycle: &Cycle, at: PlaceId, goal: PlaceId) {
        let (here, there) = (self.b.load(at), self.b.load(goal));
        let one = self.b.number(Type::I64, 1.0);
        let count = self.b.loop_index(Type::I64, "again");
        self.b.open_block();
        if cycle.range.is_some_and(|(index, _)| self.need.carried(index)) {
            self.set_index(cycle, count);
        }
        self.advance(cycle.body);
        let body = self.b.close_block();
        self.b.for_block(count, [here, there, one], body);
        self.b.store(at, there);
    }
}

fn load_at(b: &mut Builder<'_>, array: PlaceId, index: Value) -> Value {
    let place = b.at(array, index);
    b.load(place)
}

/// Takes a checkpoint of the present state.
fn save(b: &mut Builder<'_>, slots: &Slots, slot: Value, position: Value) {
    b.store(slots.top, slot);
    let place = b.at(slots.positions, slot);
    b.store(place, position);
    for &(variable, kept) in &slots.state {
        let (value, place) = (b.load(variable), b.at(kept, slot));
        b.store(place, value);
    }
}

/// Gives the last checkpoint up once its iteration is reversed.
fn release(b: &mut Builder<'_>, slots: &Slots, back: Value) {
    let top = b.load(slots.top);
    let position = load_at(b, slots.positions, top);
    let done = b.eq(position, back);
    b.if_then(done, |b| {
        let one = b.number(Type::I64, 1.0);
        let less = b.sub(top, one);
        b.store(slots.top, less);
    });
}
