//! Calls of programs in the kernels of a device.

use std::ops::Range;

use gbxcule_ir::{Arg, Builder, FunctionId, Literal, Scalar, Selector, Type, Value};

use super::state_arrays::{self, SCRATCH};
use crate::{Programs, Stage};

/// The functions that say something of an env, and what both are given first.
pub(super) struct Observing {
    pub(super) observe: FunctionId,
    pub(super) mask: Option<FunctionId>,
    /// The machine and the turn.
    pub(super) see: [Arg; 2],
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
    let [machine, turn] = functions.see;
    if stage.owns_observation() {
        let (rows, scratch) = (b.arg(rows), cells(b, env, programs.obs_scratch()));
        let row = b.view(rows, &[Selector::At(env)]);
        b.call(functions.observe, &[machine, turn, scratch, Arg::Value(row)]);
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
    b.call(mask, &[machine, turn, own, all]);
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
