//! Reverses loops: iterations from the last to the first, each from the state in which it began.
//!
//! A loop whose iterations need nothing of each other, or only counters, saves no state. Any other
//! loop is cut into segments, each with as many iterations as a *tape* has places. A segment is
//! first run forward, which records on the tape the state in which each of its iterations began,
//! then backwards. The starts of segments are computed again from checkpoints in a small fixed
//! number of slots (see [`super::checkpoint`]). A loop that is known to fit one segment has no
//! slots.

use super::checkpoint;
use super::counter;
use super::need::Need;
use super::reverse::Reverser;
use super::trip_count;
use gbxcule_ir::build::Builder;
use gbxcule_ir::builtin::Native;
use gbxcule_ir::constant::Literal;
use gbxcule_ir::function::{FunctionId, LocalId};
use gbxcule_ir::op::{Arg, BinaryOp, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::stmt::{BlockId, StmtKind};
use gbxcule_ir::ty::{Scalar, Type};
use std::rc::Rc;

/// Number of checkpoints of a loop with a small state.
const MAX_SLOTS: u64 = 16;
/// Number of checkpoints of a loop with a large state.
const MIN_SLOTS: u64 = 4;
/// Iterations of a segment if the state is small. A power of two, as `MIN_TAPE` is.
const MAX_TAPE: u64 = 256;
/// Iterations of a segment if the state is large.
const MIN_TAPE: u64 = 4;
/// Bytes that the slots and the tape of a loop may each take, unless their minimum is longer.
const MAX_STATE_BYTES: u64 = 1024;

/// A loop to be reversed.
#[derive(Clone, Debug)]
pub(super) struct ReversedLoop {
    body: BlockId,
    counters: Vec<Counter>,
    /// Index, and start, end and step, of a `For`.
    range: Option<(Value, [Value; 3])>,
}

impl ReversedLoop {
    pub(super) fn of_for(body: BlockId, index: Value, range: [Value; 3]) -> Self {
        Self { body, counters: Vec::new(), range: Some((index, range)) }
    }

    pub(super) fn of_while(body: BlockId) -> Self {
        Self { body, counters: Vec::new(), range: None }
    }
}

/// A variable to which each iteration adds a number.
#[derive(Clone, Copy, Debug)]
struct Counter {
    variable: PlaceId,
    /// Value of the variable before the loop.
    start: Value,
    step: Literal,
}

/// Variables, each with an array of the values that it had at several times.
type SavedState = Vec<(PlaceId, PlaceId)>;

/// States in which the iterations of a segment began.
struct Tape {
    state: SavedState,
    /// Number of iterations that the tape holds: a power of two.
    places: u64,
}

/// The checkpoints of a loop.
struct Checkpoints {
    state: SavedState,
    /// Iteration before which each checkpoint was taken.
    positions: PlaceId,
    /// Slot of the last checkpoint in use.
    top: PlaceId,
    count: u64,
}

/// Iterations of a segment: the first and the last.
#[derive(Clone, Copy)]
struct Segment {
    number: Value,
    first: Value,
    last: Value,
}

impl Reverser<'_, '_> {
    /// Reverses a loop that begins in the present state. `trips` is its number of iterations.
    pub(super) fn reverse_loop(
        &mut self,
        reversed: &ReversedLoop,
        stmt: &StmtKind,
        trips: Option<Value>,
    ) {
        let inside = Need::inside(self.finder, reversed.body);
        let reads = inside.block_reads(reversed.body);
        let mut state: Vec<LocalId> =
            inside.block_writes(reversed.body).intersection(reads).copied().collect();
        debug_assert!(state.iter().all(|&local| self.need.local(local)), "{state:?}");
        let counters = self.counters(reversed.body, stmt, &mut state);
        let reversed = &ReversedLoop { counters, ..reversed.clone() };
        let iterations =
            reversed.range.and_then(|(_, range)| trip_count::iterations(self.b.body(), range));
        // The first checkpoint is the present state: it is taken before anything runs.
        let saved = (!state.is_empty()).then(|| {
            let tape = self.tape(&state, iterations);
            let short = iterations.is_some_and(|iterations| iterations <= tape.places);
            let slots = (!short).then(|| self.slots(&state));
            (tape, slots)
        });
        if saved.is_none()
            && reversed.counters.is_empty()
            && trips.is_none()
            && let Some((index, range)) = reversed.range
            && let Some(back) = backward_range(&mut self.b, range)
        {
            let outside = std::mem::replace(&mut self.need, Rc::new(inside));
            self.index_backwards(reversed, index, back);
            self.need = outside;
            return;
        }
        let trips = match (trips, iterations, reversed.range) {
            (Some(trips), ..) => trips,
            (None, Some(iterations), _) => number(&mut self.b, iterations),
            (None, None, Some((_, range))) => trip_count::count(&mut self.b, range),
            (None, None, None) => {
                let counter = self.counter();
                self.advance_stmt(stmt, Some(counter));
                self.b.load(counter)
            }
        };
        let zero = number(&mut self.b, 0);
        let last = trip_count::wide(&mut self.b, trips, -1);
        let outside = std::mem::replace(&mut self.need, Rc::new(inside));
        match saved {
            None => self.backwards(reversed, None, [zero, last]),
            Some((tape, None)) => {
                self.run_to(reversed, &tape, [zero, last]);
                record_state(&mut self.b, &tape, last);
                self.backwards(reversed, Some(&tape), [zero, last]);
            }
            Some((tape, Some(slots))) => self.segments(reversed, &tape, &slots, last),
        }
        self.need = outside;
    }

    /// Takes the counters out of a loop's state.
    fn counters(
        &mut self,
        body: BlockId,
        stmt: &StmtKind,
        state: &mut Vec<LocalId>,
    ) -> Vec<Counter> {
        let flag = counter::flag(self.scan.body, stmt);
        let mut counters = Vec::new();
        state.retain(|&local| {
            let Some(step) = counter::step(self.scan.body, body, local, flag) else { return true };
            let new = self.copy.local(&mut self.b, local);
            let variable = self.b.local_place(new);
            let start = self.b.load(variable);
            counters.push(Counter { variable, start, step });
            false
        });
        counters
    }

    /// Sets the counters of a loop to their values at the beginning of an iteration.
    fn set_counters(&mut self, reversed: &ReversedLoop, iteration: Value) {
        let b = &mut self.b;
        for counter in &reversed.counters {
            let step = b.literal(counter.step);
            let value = trip_count::index(b, counter.start, step, iteration);
            b.store(counter.variable, value);
        }
    }

    /// Reverses all iterations of a loop that counts with its own index, backwards.
    fn index_backwards(&mut self, reversed: &ReversedLoop, index: Value, range: [Value; 3]) {
        let data = self.scan.body.values[index];
        let name = data.name.map_or("i", |name| self.b.module.text(name)).to_owned();
        let ty = self.b.body().type_of(range[0]);
        let is_same = ty == data.ty;
        let back = self.b.loop_index(ty, if is_same { &name } else { "back" });
        self.b.open_block();
        if self.need.value(index) {
            let scalar = data.ty.as_scalar().unwrap_or(Scalar::I32);
            let new = self.b.convert(back, scalar);
            if !is_same {
                self.b.rename(new, &name);
            }
            self.copy.set(index, new);
        }
        self.block(reversed.body);
        let block = self.b.close_block();
        self.b.for_block(back, range, block);
    }

    /// Reverses the iterations of a range, from the last to the first.
    fn backwards(
        &mut self,
        reversed: &ReversedLoop,
        tape: Option<&Tape>,
        [first, last]: [Value; 2],
    ) {
        let minus = self.b.number(Type::I64, -1.0);
        let before = trip_count::wide(&mut self.b, first, -1);
        let back = self.b.loop_index(Type::I64, "back");
        self.b.open_block();
        if let Some(tape) = tape {
            let place = tape_place(&mut self.b, tape, back);
            restore_state(&mut self.b, &tape.state, place);
        }
        self.set_counters(reversed, back);
        if reversed.range.is_some_and(|(index, _)| self.need.value(index)) {
            self.set_index(reversed, back);
        }
        self.block(reversed.body);
        let block = self.b.close_block();
        self.b.for_block(back, [last, before, minus], block);
    }

    /// Reverses all segments of a loop that ends with the iteration `last`.
    fn segments(&mut self, reversed: &ReversedLoop, tape: &Tape, slots: &Checkpoints, last: Value) {
        let b = &mut self.b;
        let (one, minus) = (number(b, 1), b.number(Type::I64, -1.0));
        let shift = number(b, u64::from(tape.places.trailing_zeros()));
        // A loop without iterations has -1 as its last one, and so no segment.
        let last_segment = b.binary(BinaryOp::ShiftRight, last, shift);
        let number_of = b.loop_index(Type::I64, "segment");
        b.open_block();
        let (length, most) = (number(b, tape.places), number(b, tape.places - 1));
        let first = b.mul(number_of, length);
        let end = b.add(first, most);
        let end = b.native(Native::Min, &[end, last]);
        b.rename(first, "first");
        b.rename(end, "last");
        let segment = Segment { number: number_of, first, last: end };
        self.rewind(reversed, tape, slots, segment);
        record_state(&mut self.b, tape, end);
        self.backwards(reversed, Some(tape), [first, end]);
        release(&mut self.b, slots, first, one);
        let block = self.b.close_block();
        self.b.for_block(number_of, [last_segment, minus, minus], block);
    }

    fn set_index(&mut self, reversed: &ReversedLoop, count: Value) {
        if let Some((index, [start, _, step])) = reversed.range {
            let new = trip_count::index(&mut self.b, start, step, count);
            self.copy.set(index, new);
        }
    }

    fn state_bytes(&self, state: &[LocalId]) -> u64 {
        let types = state.iter().map(|&local| self.scan.body.locals[local].ty);
        let bytes = types.map(|ty| self.b.module.types.layout(ty).map_or(0, |layout| layout.size));
        bytes.sum::<u64>().max(1)
    }

    /// Declares arrays for the values of variables at several times.
    fn reserve_state(&mut self, state: &[LocalId], name: &str, count: u64) -> SavedState {
        let mut saved = Vec::new();
        for &local in state {
            let data = &self.scan.body.locals[local];
            let array = array(&mut self.b, &format!("{}_{name}", data.name), data.ty, count);
            let new = self.copy.local(&mut self.b, local);
            saved.push((self.b.local_place(new), array));
        }
        saved
    }

    /// Makes a tape, no longer than the number of iterations if that is known.
    fn tape(&mut self, state: &[LocalId], iterations: Option<u64>) -> Tape {
        let most = (MAX_STATE_BYTES / self.state_bytes(state)).clamp(MIN_TAPE, MAX_TAPE);
        let most = 1 << most.ilog2();
        let places = iterations.map_or(most, |iterations| iterations.min(most).next_power_of_two());
        Tape { state: self.reserve_state(state, "tape", places), places }
    }

    /// Makes slots and takes the first checkpoint.
    fn slots(&mut self, state: &[LocalId]) -> Checkpoints {
        let count = (MAX_STATE_BYTES / self.state_bytes(state)).clamp(MIN_SLOTS, MAX_SLOTS);
        let positions = array(&mut self.b, "checkpoint_positions", Type::I64, count);
        let top = self.b.local("checkpoint_top", Type::I64);
        let top = self.b.local_place(top);
        let slots = Checkpoints {
            state: self.reserve_state(state, "checkpoints", count),
            positions,
            top,
            count,
        };
        let zero = number(&mut self.b, 0);
        save(&mut self.b, &slots, zero, zero);
        slots
    }

    /// Restores the state in which the last iteration of a segment began, records the states of the
    /// iterations before it, and takes further checkpoints on the way.
    fn rewind(
        &mut self,
        reversed: &ReversedLoop,
        tape: &Tape,
        slots: &Checkpoints,
        segment: Segment,
    ) {
        let [at, goal] = ["position", "goal"].map(|name| {
            let local = self.b.local(name, Type::I64);
            self.b.local_place(local)
        });
        let top = self.b.load(slots.top);
        let start = load_at(&mut self.b, slots.positions, top);
        restore_state(&mut self.b, &slots.state, top);
        self.set_counters(reversed, start);
        self.b.store(at, start);
        let distance =
            *self.shared.distance.get_or_insert_with(|| checkpoint::declare(self.b.module));
        self.b.open_block();
        let here = self.b.load(at);
        let before = self.b.lt(here, segment.last);
        let header = self.b.close_block();
        self.b.open_block();
        let here = self.b.load(at);
        self.b.store(goal, segment.last);
        let outside = self.b.lt(here, segment.first);
        self.b.if_then(outside, |b| {
            b.store(goal, segment.first);
            let (top, most) = (b.load(slots.top), number(b, slots.count - 1));
            let (zero, free) = (number(b, 0), b.sub(most, top));
            let room = b.lt(zero, free);
            b.if_then(room, |b| {
                let far = next_checkpoint(b, distance, tape.places, [here, segment.number, free]);
                b.store(goal, far);
            });
        });
        let end = self.b.load(goal);
        self.run_to(reversed, tape, [here, end]);
        self.b.store(at, end);
        // Where the segment begins no checkpoint is needed.
        let takes = self.b.lt(end, segment.first);
        self.b.if_then(takes, |b| {
            let (top, one) = (b.load(slots.top), number(b, 1));
            let next = b.add(top, one);
            save(b, slots, next, end);
        });
        let body = self.b.close_block();
        self.b.while_blocks(header, before, body);
    }

    /// Runs the iterations from `here` to `there` without the last, and records the state in which
    /// each began.
    fn run_to(&mut self, reversed: &ReversedLoop, tape: &Tape, [here, there]: [Value; 2]) {
        let one = number(&mut self.b, 1);
        let count = self.b.loop_index(Type::I64, "again");
        self.b.open_block();
        record_state(&mut self.b, tape, count);
        if reversed.range.is_some_and(|(index, _)| self.need.carried(index)) {
            self.set_index(reversed, count);
        }
        self.advance(reversed.body);
        let body = self.b.close_block();
        self.b.for_block(count, [here, there, one], body);
    }
}

/// Returns the iteration before which the next checkpoint is taken on the way from `here` to a
/// segment.
fn next_checkpoint(
    b: &mut Builder<'_>,
    distance: FunctionId,
    places: u64,
    [here, segment, free]: [Value; 3],
) -> Value {
    let (length, one) = (number(b, places), number(b, 1));
    let done = b.div(here, length);
    let past = b.add(segment, one);
    let steps = b.sub(past, done);
    let ahead = b.local("ahead", Type::I64);
    let ahead = b.local_place(ahead);
    b.store(ahead, one);
    // If there is a checkpoint for every segment that is left, each segment gets one.
    let (excess, two) = (b.sub(steps, free), number(b, 2));
    let scarce = b.lt(two, excess);
    b.if_then(scarce, |b| {
        let far = b.call(distance, &[steps, free].map(Arg::Value));
        b.store(ahead, far);
    });
    let ahead = b.load(ahead);
    let ahead = b.mul(ahead, length);
    b.add(here, ahead)
}

/// Returns the range of a loop from its last index to its first, if its step is 1 or -1, or start,
/// end and step are literals. The range has the index's own type if its bounds are known to fit,
/// else `i64`.
fn backward_range(b: &mut Builder<'_>, range: [Value; 3]) -> Option<[Value; 3]> {
    let [start, end, step] = range;
    let scalar = b.body().type_of(start).as_scalar()?;
    let by = b.body().integer(step).filter(|_| scalar.bits() <= 32)?;
    if let Some(trips) = trip_count::iterations(b.body(), range)
        && let Some(first) = b.body().integer(start)
    {
        let last = first + (i128::from(trips) - 1) * by;
        let bounds = [last, first - by, -by];
        let fits = |&number: &i128| Literal::int(scalar, number).as_int() == Some(number);
        let scalar = if bounds.iter().all(fits) { scalar } else { Scalar::I64 };
        return Some(bounds.map(|bound| b.literal(Literal::int(scalar, bound))));
    }
    if by.abs() != 1 {
        return None;
    }
    let (last, before) = (trip_count::wide(b, end, -by), trip_count::wide(b, start, -by));
    Some([last, before, b.literal(Literal::int(Scalar::I64, -by))])
}

fn number(b: &mut Builder<'_>, value: u64) -> Value {
    b.literal(Literal::int(Scalar::I64, i128::from(value)))
}

/// Declares an array variable whose elements are written before they are read.
fn array(b: &mut Builder<'_>, name: &str, ty: Type, count: u64) -> PlaceId {
    let fixed = b.module.types.fixed(ty, count as u32);
    let local = b.scratch(name, fixed);
    b.local_place(local)
}

fn load_at(b: &mut Builder<'_>, array: PlaceId, index: Value) -> Value {
    let place = b.at(array, index);
    b.load(place)
}

fn restore_state(b: &mut Builder<'_>, saved: &SavedState, index: Value) {
    for &(variable, array) in saved {
        let value = load_at(b, array, index);
        b.store(variable, value);
    }
}

fn save_state(b: &mut Builder<'_>, saved: &SavedState, index: Value) {
    for &(variable, array) in saved {
        let (value, place) = (b.load(variable), b.at(array, index));
        b.store(place, value);
    }
}

/// Returns the place on the tape that belongs to an iteration.
fn tape_place(b: &mut Builder<'_>, tape: &Tape, iteration: Value) -> Value {
    let mask = number(b, tape.places - 1);
    b.and(iteration, mask)
}

/// Records the present state as the one in which an iteration begins.
fn record_state(b: &mut Builder<'_>, tape: &Tape, iteration: Value) {
    let place = tape_place(b, tape, iteration);
    save_state(b, &tape.state, place);
}

/// Takes a checkpoint of the present state.
fn save(b: &mut Builder<'_>, slots: &Checkpoints, slot: Value, position: Value) {
    b.store(slots.top, slot);
    let place = b.at(slots.positions, slot);
    b.store(place, position);
    save_state(b, &slots.state, slot);
}

/// Gives up the last checkpoint once the segment that begins there is reversed.
fn release(b: &mut Builder<'_>, slots: &Checkpoints, first: Value, one: Value) {
    let top = b.load(slots.top);
    let position = load_at(b, slots.positions, top);
    let done = b.eq(position, first);
    b.if_then(done, |b| {
        let less = b.sub(top, one);
        b.store(slots.top, less);
    });
}
