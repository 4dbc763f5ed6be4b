//! Calls of programs in the kernels of a device.

use std::ops::Range;

use gbxcule_ir::{
    Arg, BinaryOp, Builder, CompareOp, FunctionId, Literal, PlaceId, Scalar, Selector, Type, Value,
};

use super::state_arrays::{self, SCRATCH};
use super::translation::function;
use crate::program::{MOST_WRITES, TOO_MANY_WRITES};
use crate::{Programs, Stage};

/// The functions that say something of an env, and what both are given first.
pub(super) struct Observing {
    pub(super) observe: FunctionId,
    pub(super) mask: Option<FunctionId>,
    /// The machine, the turn, and room for writes if programs write.
    pub(super) see: Vec<Arg>,
}

/// Some cells of an env's scratch.
pub(super) fn cells(b: &mut Builder<'_>, env: Value, cells: Range<usize>) -> Arg {
    let scratch = state_arrays::view(b, SCRATCH, env);
    let (start, len, step) = (b.i32(cells.start as i32), b.i32(cells.len() as i32), b.i32(1));
    Arg::Value(b.view(scratch, &[Selector::Range { start, len, step }]))
}

/// Calls `observe` if the stage owns the observation, whose array is the parameter `rows`, and
/// `action_mask` if it runs.
pub(super) fn observed(
    b: &mut Builder<'_>,
    programs: &Programs,
    stage: Stage,
    functions: &Observing,
    rows: u32,
) {
    let env = b.launch_index(0);
    let call = |b: &mut Builder<'_>, function: FunctionId, more: [Arg; 2]| {
        b.call(function, &[&functions.see[..], &more].concat());
    };
    if stage.owns_observation() {
        let (rows, scratch) = (b.arg(rows), cells(b, env, programs.obs_scratch()));
        let row = b.view(rows, &[Selector::At(env)]);
        call(b, functions.observe, [scratch, Arg::Value(row)]);
    }
    let (Some(mask), Some(own)) = (functions.mask, programs.mask_in(stage)) else { return };
    let all = programs.mask_cells();
    let (from, end, step) = (b.i32(all.start as i32), b.i32(all.end as i32), b.i32(1));
    b.for_range("action", [from, end, step], |b, cell| {
        let (scratch, one) = (b.param_place(SCRATCH as u32), b.f32(1.0));
        let cell = b.element(scratch, &[env, cell]);
        b.store(cell, one);
    });
    let (own, all) = (cells(b, env, own), cells(b, env, all));
    call(b, mask, [own, all]);
}

/// The room for writes that functions of programs ask for: a variable of the kernel.
pub(super) struct Writes {
    room: PlaceId,
    machine: PlaceId,
    /// `Machine::poke`.
    poke: FunctionId,
}

impl Writes {
    /// Room for programs that write.
    pub(super) fn new(b: &mut Builder<'_>, programs: &Programs, machine: PlaceId) -> Option<Self> {
        programs.write().then(|| {
            let ty = b.module.types.fixed(Type::U32, 1 + MOST_WRITES);
            let local = b.local("writes", ty);
            let poke = function(b.module, "Machine::poke");
            Self { room: b.local_place(local), machine, poke }
        })
    }

    /// The room as an argument.
    fn argument(&self, b: &mut Builder<'_>) -> Arg {
        Arg::Value(b.as_array(self.room, 1))
    }

    fn count(&self, b: &mut Builder<'_>) -> PlaceId {
        let zero = b.i32(0);
        b.at(self.room, zero)
    }

    /// Writes what a function asked for.
    fn apply(&self, b: &mut Builder<'_>) {
        let place = self.count(b);
        let (count, most) = (b.load(place), unsigned(b, MOST_WRITES));
        let fits = b.compare(CompareOp::LessEqual, count, most);
        b.assert(fits, TOO_MANY_WRITES);
        let (from, one) = (unsigned(b, 1), unsigned(b, 1));
        let end = b.add(count, one);
        b.for_range("written", [from, end, one], |b, index| {
            let index = b.convert(index, Scalar::I32);
            let (asked, eight) = (b.at(self.room, index), unsigned(b, 8));
            let asked = b.load(asked);
            let address = b.binary(BinaryOp::ShiftRight, asked, eight);
            let (address, value) = (b.convert(address, Scalar::U16), b.convert(asked, Scalar::U8));
            b.call(self.poke, &[Arg::Place(self.machine), Arg::Value(address), Arg::Value(value)]);
        });
    }
}

/// Calls a function that may write, with the machine, the turn and its cells, and writes.
pub(super) fn call_writing(
    b: &mut Builder<'_>,
    function: FunctionId,
    see: [Arg; 2],
    own: Arg,
    writes: Option<&Writes>,
) {
    let Some(writes) = writes else {
        b.call(function, &[see[0], see[1], own]);
        return;
    };
    let (count, none) = (writes.count(b), unsigned(b, 0));
    b.store(count, none);
    let room = writes.argument(b);
    b.call(function, &[see[0], see[1], room, own]);
    writes.apply(b);
}

/// The machine, the turn and the room for writes, if programs write: for functions that don't.
pub(super) fn seen(b: &mut Builder<'_>, see: [Arg; 2], writes: Option<&Writes>) -> Vec<Arg> {
    let room = writes.map(|writes| writes.argument(b));
    see.into_iter().chain(room).collect()
}

/// The numbers of a step that programs see beside the machine.
pub(super) struct TurnNumbers {
    pub(super) frames: Value,
    pub(super) seed: Value,
    pub(super) step_frames: Value,
    pub(super) action: Value,
    pub(super) buttons: Value,
}

impl TurnNumbers {
    /// As a value of the struct that programs are given.
    pub(super) fn value(&self, b: &mut Builder<'_>, turn: Type, env: Value) -> Value {
        let env = b.convert(env, Scalar::U32);
        let Self { frames, seed, step_frames, action, buttons } = *self;
        b.construct(turn, &[frames, seed, env, step_frames, action, buttons])
    }
}

/// An unsigned number.
pub(super) fn unsigned(b: &mut Builder<'_>, number: u32) -> Value {
    b.literal(Literal::int(Scalar::U32, number.into()))
}
