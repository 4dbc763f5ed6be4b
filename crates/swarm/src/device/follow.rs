//! The step kernel's frames, one at a time, where hooks stop machines or `settled` may end a step.
//! Kernels of other swarms have nothing of this. `shard/follow.rs` is the same on the CPU.

use gbxcule_gameboy::hook::NO_HOOK;
use gbxcule_ir::{
    Arg, BinaryOp, Builder, CompareOp, FunctionId, Module, Param, PlaceId, Scalar, Type, Value,
};

use gbxcule_runtime::{Argument, Array};

use super::memory::Memory;
use super::program_call::{TurnNumbers, Writes, call_writing, cells, seen, unsigned};
use super::state_arrays::{COUNTERS, SCRATCH};
use super::step::{DRAW_LAST, FIRST_FRAME, FOLLOWING, FRAMES, PressedValues, SEED};
use super::translation::{field, function};
use crate::frame_range::StepPlan;
use crate::hook::HookTable;
use crate::program::Fused;
use crate::{Programs, Rom, SwarmError};

const MARKS: u32 = FOLLOWING;
const PLACES: u32 = FOLLOWING + 1;
const ENDS_STEP: u32 = FOLLOWING + 2;
/// Frames of the step that have run, and whether it is over: an env each.
const STEP_FRAMES: u32 = FOLLOWING + 3;
const IS_OVER: u32 = FOLLOWING + 4;
const DRAW_EACH: u32 = FOLLOWING + 5;

/// Parameters behind those of every step kernel.
pub(super) fn parameters(module: &mut Module) -> [Param; 6] {
    let [bytes, words] = [Type::U8, Type::U32].map(|of| module.types.array(of, 1));
    [
        Param::value("marks", bytes),
        Param::value("places", words),
        Param::value("ends_step", bytes),
        Param::value("step_frames", words),
        Param::value("is_over", bytes),
        Param::value("draw_each", Type::BOOL),
    ]
}

/// The arrays among them.
pub(super) struct FollowArrays {
    hooks: [Array; 3],
    step_frames: Array,
    is_over: Array,
}

impl FollowArrays {
    pub(super) fn new(
        programs: &Programs,
        rom: &Rom,
        envs: usize,
        memory: &Memory,
    ) -> Result<Option<Self>, SwarmError> {
        // Wrong hooks are refused on every device, whether anything is followed or not.
        let HookTable { marks, places, ends_step } = HookTable::new(programs.hooks(), rom)?;
        if !programs.follow_frames() {
            return Ok(None);
        }
        let ends_step: Vec<u8> = ends_step.into_iter().map(u8::from).collect();
        let hooks = [memory.copied(&marks)?, memory.copied(&places)?, memory.copied(&ends_step)?];
        let step_frames = memory.zeros(Scalar::U32, &[envs])?;
        Ok(Some(Self { hooks, step_frames, is_over: memory.bytes(envs)? }))
    }

    pub(super) fn arguments(&self, plan: &StepPlan) -> impl Iterator<Item = Argument> + '_ {
        let arrays = self.hooks.iter().chain([&self.step_frames, &self.is_over]);
        arrays.map(Argument::from).chain([plan.draw_each.into()])
    }
}

/// The frames that a launch ran.
pub(super) struct Ran {
    pub(super) frames: Value,
    pub(super) mcycles: Value,
    /// Frames of the step, in this launch and before.
    pub(super) step_frames: Value,
}

/// Variables of the loop over frames.
struct Loop<'f> {
    programs: &'f Programs,
    fused: &'f Fused,
    pressed: &'f PressedValues,
    machine: PlaceId,
    turn_type: Type,
    turn: PlaceId,
    /// Frames that this launch has run.
    ran: PlaceId,
    is_over: PlaceId,
    hook: PlaceId,
    writes: Option<Writes>,
}

/// Runs frames until the step is over.
pub(super) fn frames(
    b: &mut Builder<'_>,
    programs: &Programs,
    fused: &Fused,
    pressed: &PressedValues,
    machine: PlaceId,
    turn_type: Type,
) -> Ran {
    let mut local = |name, ty| {
        let local = b.local(name, ty);
        b.local_place(local)
    };
    let state = Loop {
        programs,
        fused,
        pressed,
        machine,
        turn_type,
        turn: local("turn_now", turn_type),
        ran: local("ran", Type::U32),
        is_over: local("step_over", Type::U8),
        hook: local("hook", Type::U32),
        writes: Writes::new(b, programs, machine),
    };
    let env = b.launch_index(0);
    let (first, none) = (b.arg(FIRST_FRAME), unsigned(b, 0));
    let begins = b.eq(first, none);
    b.if_then(begins, |b| begin_step(b, programs, env));
    let begun = now(b, machine);
    let is_over = own(b, IS_OVER, env);
    let is_over = b.load(is_over);
    b.store(state.is_over, is_over);
    b.store(state.ran, none);
    b.while_loop(|b| state.goes_on(b), |b| state.frame(b));
    let (ended, ran) = (now(b, machine), b.load(state.ran));
    let step_frames = own(b, STEP_FRAMES, env);
    let before = b.load(step_frames);
    let after = b.add(before, ran);
    b.store(step_frames, after);
    let (place, is_over) = (own(b, IS_OVER, env), b.load(state.is_over));
    b.store(place, is_over);
    Ran { frames: ran, mcycles: b.sub(ended, begun), step_frames: after }
}

impl Loop<'_> {
    fn goes_on(&self, b: &mut Builder<'_>) -> Value {
        let (is_over, ran, frames) = (b.load(self.is_over), b.load(self.ran), b.arg(FRAMES));
        let zero = b.zero(Type::U8);
        let (runs, is_left) = (b.eq(is_over, zero), b.lt(ran, frames));
        b.and(runs, is_left)
    }

    /// Runs a frame to its end, from hook to hook, and asks whether the step is over.
    fn frame(&self, b: &mut Builder<'_>) {
        let (ran, none, one) = (b.load(self.ran), b.zero(Type::U8), unsigned(b, 1));
        let is_held = b.lt(ran, self.pressed.release_after);
        let buttons = b.select(is_held, self.pressed.buttons, none);
        let (after, frames) = (b.add(ran, one), b.arg(FRAMES));
        let (is_last, draw_last, draw_each) =
            (b.eq(after, frames), b.arg(DRAW_LAST), b.arg(DRAW_EACH));
        let draw = b.and(draw_last, is_last);
        let draw = b.or(draw, draw_each);
        let begin = function(b.module, "Machine::begin_frame_with");
        b.call(begin, &[Arg::Place(self.machine), Arg::Value(buttons), Arg::Value(draw)]);
        self.run_to_hook(b, false);
        b.while_loop(
            |b| {
                let (hook, none) = (b.load(self.hook), unsigned(b, NO_HOOK));
                b.compare(CompareOp::NotEqual, hook, none)
            },
            |b| {
                self.at_hook(b);
                self.run_to_hook(b, true);
            },
        );
        b.store(self.ran, after);
        if let Some(settled) = self.fused.settled {
            self.see(b);
            let see = seen(b, self.see_args(), self.writes.as_ref());
            let settled = b.call(settled, &see);
            self.end_step(b, settled);
        }
    }

    fn run_to_hook(&self, b: &mut Builder<'_>, resumes: bool) {
        let run = function(b.module, "Machine::run_to_hook");
        let (marks, places, resumes) = (b.arg(MARKS), b.arg(PLACES), b.bool(resumes));
        let rest = [marks, places, resumes].map(Arg::Value);
        let hook = b.call(run, &[Arg::Place(self.machine), rest[0], rest[1], rest[2]]);
        b.store(self.hook, hook);
    }

    /// Counts, and calls the function of a hook that has one.
    fn at_hook(&self, b: &mut Builder<'_>) {
        let (env, hook) = (b.launch_index(0), b.load(self.hook));
        let ends_step = own(b, ENDS_STEP, hook);
        let (ends_step, zero) = (b.load(ends_step), b.zero(Type::U8));
        let ends_step = b.compare(CompareOp::NotEqual, ends_step, zero);
        self.end_step(b, ends_step);
        let (first, two) = (b.i32(self.programs.hook_cells().start as i32), b.i32(2));
        let number = b.convert(hook, Scalar::I32);
        let cell = b.mul(number, two);
        let cell = b.add(first, cell);
        for offset in 0..2 {
            let (offset, scratch) = (b.i32(offset), b.param_place(SCRATCH as u32));
            let cell = b.add(cell, offset);
            let place = b.element(scratch, &[env, cell]);
            let (count, one) = (b.load(place), b.f32(1.0));
            let count = b.add(count, one);
            b.store(place, count);
        }
        if self.fused.calls.iter().any(Option::is_some) {
            self.see(b);
        }
        for (number, call) in self.fused.calls.iter().enumerate() {
            if let Some((function, text)) = *call {
                let number = unsigned(b, number as u32);
                let is_here = b.eq(hook, number);
                b.if_then(is_here, |b| self.call(b, function, text));
            }
        }
    }

    fn call(&self, b: &mut Builder<'_>, function: FunctionId, text: usize) {
        let env = b.launch_index(0);
        let scratch = cells(b, env, self.programs.scratch_of(text));
        call_writing(b, function, self.see_args(), scratch, self.writes.as_ref());
    }

    fn see_args(&self) -> [Arg; 2] {
        [Arg::Place(self.machine), Arg::Place(self.turn)]
    }

    fn end_step(&self, b: &mut Builder<'_>, ends: Value) {
        let (ends, before) = (b.convert(ends, Scalar::U8), b.load(self.is_over));
        let is_over = b.binary(BinaryOp::Or, before, ends);
        b.store(self.is_over, is_over);
    }

    /// Makes what programs see besides the machine what it is now.
    fn see(&self, b: &mut Builder<'_>) {
        let (env, index) = (b.launch_index(0), b.i32(0));
        let (counters, ran) = (b.param_place(COUNTERS as u32), b.load(self.ran));
        let frames = b.element(counters, &[env, index]);
        let frames = b.load(frames);
        let frames = b.convert(frames, Scalar::U32);
        let step_frames = own(b, STEP_FRAMES, env);
        let step_frames = b.load(step_frames);
        let numbers = TurnNumbers {
            frames: b.add(frames, ran),
            seed: b.arg(SEED),
            step_frames: b.add(step_frames, ran),
            action: self.pressed.action,
            buttons: self.pressed.buttons,
        };
        let turn = numbers.value(b, self.turn_type, env);
        b.store(self.turn, turn);
    }
}

/// Puts an env to the begin of a step: nothing has run, no hook was reached.
fn begin_step(b: &mut Builder<'_>, programs: &Programs, env: Value) {
    let (frames, none) = (own(b, STEP_FRAMES, env), unsigned(b, 0));
    b.store(frames, none);
    let (is_over, no) = (own(b, IS_OVER, env), b.zero(Type::U8));
    b.store(is_over, no);
    let of_hooks = programs.hook_cells();
    let (from, end, step) =
        (b.i32(of_hooks.start as i32 + 1), b.i32(of_hooks.end as i32), b.i32(2));
    b.for_range("cell", [from, end, step], |b, cell| {
        let (scratch, zero) = (b.param_place(SCRATCH as u32), b.zero(Type::F32));
        let place = b.element(scratch, &[env, cell]);
        b.store(place, zero);
    });
}

/// An element of an array among the parameters.
fn own(b: &mut Builder<'_>, array: u32, index: Value) -> PlaceId {
    let array = b.param_place(array);
    b.element(array, &[index])
}

fn now(b: &mut Builder<'_>, machine: PlaceId) -> Value {
    let field = field(&b.module.types, b.place_type(machine), "now");
    let place = b.field(machine, field);
    b.load(place)
}
