//! The step kernel: a thread is an env and runs the whole step, frames and all.
//!
//! One module for each stage, observation size and programs, so what a stage does not own is not in
//! it; all take the same arguments.

use gbxcule_ir::check::Valid;
use gbxcule_ir::{Arg, Builder, Literal, Module, Param, PlaceId, Residency, Scalar, Type, Value};

use super::column::Columns;
use super::follow::{self, Ran};
use super::program_call::{Observing, TurnNumbers, Writes, cells, observed, seen};
use super::state_arrays::{self, COUNTERS, PARTS};
use super::translation::{
    arrange, checked, followed_machine_module, function, kernel, machine_module, machine_type,
};
use crate::program::Fused;
use crate::{Codec, Programs, Schedule, Stage};

/// The kernel's name.
pub(crate) const KERNEL: &str = "step";

/// Blocks of one warp, so that none waits for others at the end, and twelve of them at once on a
/// multiprocessor: as many as fit without local memory between opcodes. Sixteen would take some:
/// `docs/gpu-results.md`.
const RESIDENCY: Residency = Residency::Blocks { threads: 32, together: Some(12) };

/// Arguments after the parts of the state.
const ROM: u32 = PARTS as u32;
const ACTIONS: u32 = ROM + 1;
const CODEC: u32 = ROM + 2;
const FRAMES_HELD: u32 = ROM + 3;
const MANUAL_BUTTONS: u32 = ROM + 4;
pub(super) const FRAMES: u32 = ROM + 5;
pub(super) const FIRST_FRAME: u32 = ROM + 6;
pub(super) const DRAW_LAST: u32 = ROM + 7;
const COMPUTES: u32 = ROM + 8;
pub(super) const SEED: u32 = ROM + 9;
const REWARDS: u32 = ROM + 10;
const DONES: u32 = ROM + 11;
const OBSERVATIONS: u32 = ROM + 12;
/// Those of a kernel that runs one frame at a time, behind all others.
pub(super) const FOLLOWING: u32 = ROM + 13;

/// The manual buttons of an env that has none; any number below 0 means this.
pub(crate) const NO_MANUAL_BUTTONS: i16 = -1;

/// The buttons of each action number, and for how many frames they are held.
pub(crate) fn codec_tables(codec: &Codec, schedule: Schedule) -> ([u8; 256], [u32; 256]) {
    let (mut buttons, mut frames_held) = ([0; 256], [0; 256]);
    for (number, action) in codec.actions.iter().enumerate() {
        (buttons[number], frames_held[number]) = (action.buttons, action.frames_held(schedule));
    }
    (buttons, frames_held)
}

/// Makes the kernel of a stage with programs.
#[must_use]
pub fn step_module(programs: &Programs, stage: Stage) -> Valid<Module> {
    let follows = programs.follow_frames();
    let machine = if follows { followed_machine_module() } else { machine_module() };
    let mut fused = programs.fuse(machine);
    let called = fused.functions();
    let mut module = std::mem::take(&mut fused.module);
    module.name = format!("{KERNEL}_{stage}_{}", programs.obs_dim());
    let turn = module.functions[fused.reward].params[3].ty;
    let mut module = arrange(module, &called);
    let machine = machine_type(&module);
    let columns = Columns::new(&module.types, machine);
    let params = parameters(&mut module, follows);
    let kernel = kernel(&mut module, KERNEL, params);
    module.functions[kernel].residency = RESIDENCY;
    module.functions[kernel].diverges = true;
    let mut b = Builder::new(&mut module, kernel);
    let env = b.launch_index(0);
    let local = b.local("machine", machine);
    let machine = b.local_place(local);
    state_arrays::load(&mut b, &columns, env, machine);
    let rom = b.arg(ROM);
    state_arrays::attach(&mut b, machine, "rom", rom);
    let pressed = pressed(&mut b, env);
    let Ran { frames, mcycles, step_frames } = if follows {
        follow::frames(&mut b, programs, &fused, &pressed, machine, turn)
    } else {
        whole_step(&mut b, &pressed, machine)
    };
    state_arrays::store(&mut b, &columns, env, machine);
    let frames = count(&mut b, env, frames, mcycles);
    if stage != Stage::EmulateOnly {
        let local = b.local("turn", turn);
        let place = b.local_place(local);
        let PressedValues { action, buttons, .. } = pressed;
        let seed = b.arg(SEED);
        let numbers = TurnNumbers { frames, seed, step_frames, action, buttons };
        let turn = numbers.value(&mut b, turn, env);
        b.store(place, turn);
        let see = [Arg::Place(machine), Arg::Place(place)];
        let computes = b.arg(COMPUTES);
        let writes = Writes::new(&mut b, programs, machine);
        let see = seen(&mut b, see, writes.as_ref());
        b.if_then(computes, |b| run_programs(b, programs, stage, &fused, see));
    }
    b.finish();
    checked(module)
}

/// The kernel's parameters.
fn parameters(module: &mut Module, follows: bool) -> Vec<Param> {
    let [bytes, halves, words, floats, rows] =
        [(Type::U8, 1), (Type::I16, 1), (Type::U32, 1), (Type::F32, 1), (Type::F32, 2)]
            .map(|(of, dims)| module.types.array(of, dims));
    let mut params = state_arrays::parameters(module, "");
    params.extend([
        Param::value("rom", bytes),
        Param::value("actions", bytes),
        Param::value("codec", bytes),
        Param::value("frames_held", words),
        Param::value("manual_buttons", halves),
        Param::value("frames", Type::U32),
        Param::value("first_frame", Type::U32),
        Param::value("draw_last", Type::BOOL),
        Param::value("computes", Type::BOOL),
        Param::value("seed", Type::U32),
        Param::value("rewards", floats),
        Param::value("dones", bytes),
        Param::value("observations", rows),
    ]);
    if follows {
        params.extend(follow::parameters(module));
    }
    params
}

/// Runs all frames at once: where nothing happens in between.
fn whole_step(b: &mut Builder<'_>, pressed: &PressedValues, machine: PlaceId) -> Ran {
    let run = function(b.module, "Machine::run_step");
    let step = b.module.functions[run].params[2].ty;
    let (frames, draw_last) = (b.arg(FRAMES), b.arg(DRAW_LAST));
    let plan = b.construct(step, &[frames, pressed.release_after, draw_last]);
    let mcycles =
        b.call(run, &[Arg::Place(machine), Arg::Value(pressed.buttons), Arg::Value(plan)]);
    let first_frame = b.arg(FIRST_FRAME);
    Ran { frames, mcycles, step_frames: b.add(first_frame, frames) }
}

/// Computes what the stage owns.
fn run_programs(
    b: &mut Builder<'_>,
    programs: &Programs,
    stage: Stage,
    fused: &Fused,
    see: Vec<Arg>,
) {
    let env = b.launch_index(0);
    let call =
        |b: &mut Builder<'_>, function, scratch| b.call(function, &[&see[..], &[scratch]].concat());
    let put = |b: &mut Builder<'_>, array: u32, value: Value| {
        let array = b.param_place(array);
        let place = b.element(array, &[env]);
        b.store(place, value);
    };
    if stage.owns_reward() {
        let scratch = cells(b, env, programs.reward_scratch());
        let reward = call(b, fused.reward, scratch);
        put(b, REWARDS, reward);
        if let Some(done) = fused.done {
            let done = call(b, done, scratch);
            let done = b.convert(done, Scalar::U8);
            put(b, DONES, done);
        }
    }
    let Fused { observe, mask, .. } = *fused;
    observed(b, programs, stage, &Observing { observe, mask, see }, OBSERVATIONS);
}

/// The buttons of an env in a step.
pub(super) struct PressedValues {
    pub(super) action: Value,
    pub(super) buttons: Value,
    /// Frames of this range after which they are released.
    pub(super) release_after: Value,
}

/// Returns the buttons of an env's action, or its manual buttons if it has any; the schedule does
/// not release manual buttons.
fn pressed(b: &mut Builder<'_>, env: Value) -> PressedValues {
    let [actions, codec, frames_held, manual_buttons] =
        [ACTIONS, CODEC, FRAMES_HELD, MANUAL_BUTTONS].map(|position| b.param_place(position));
    let action = b.element(actions, &[env]);
    let action = b.load(action);
    let by_action = b.element(codec, &[action]);
    let frames_held = b.element(frames_held, &[action]);
    let manual_buttons = b.element(manual_buttons, &[env]);
    let (by_action, frames_held, manual_buttons) =
        (b.load(by_action), b.load(frames_held), b.load(manual_buttons));
    let (zero, never) = (b.zero(Type::I16), b.literal(Literal::int(Scalar::U32, u32::MAX.into())));
    let (is_free, held) = (b.lt(manual_buttons, zero), b.convert(manual_buttons, Scalar::U8));
    let (first_frame, now) = (b.arg(FIRST_FRAME), b.zero(Type::U32));
    let (is_held, rest) = (b.lt(first_frame, frames_held), b.sub(frames_held, first_frame));
    let release_after = b.select(is_held, rest, now);
    PressedValues {
        action,
        buttons: b.select(is_free, by_action, held),
        release_after: b.select(is_free, release_after, never),
    }
}

/// Adds frames and T-cycles to the env's counters; gives the lower half of the frames since the
/// reset.
fn count(b: &mut Builder<'_>, env: Value, frames: Value, mcycles: Value) -> Value {
    let frames = b.convert(frames, Scalar::U64);
    let mcycles = b.convert(mcycles, Scalar::U64);
    let four = b.literal(Literal::int(Scalar::U64, 4));
    let tcycles = b.mul(mcycles, four);
    let after = [frames, tcycles].into_iter().zip(0..).map(|(more, index)| {
        let (counters, index) = (b.param_place(COUNTERS as u32), b.i32(index));
        let place = b.element(counters, &[env, index]);
        let before = b.load(place);
        let after = b.add(before, more);
        b.store(place, after);
        after
    });
    let after: Vec<Value> = after.collect();
    b.convert(after[0], Scalar::U32)
}
