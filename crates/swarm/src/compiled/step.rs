//! The step kernel: a thread is an env and runs the whole step, frames and all.
//!
//! One module for each stage, observation size and programs, so what a stage does not own is not in it; all take
//! the same arguments.

use gbxcule_kernel::check::Valid;
use gbxcule_kernel::ir::{Arg, Builder, Literal, Module, Param, Scalar, Selector, Type, Value};

use super::column::Columns;
use super::part::{self, COUNTERS, PARTS};
use super::program::Programs;
use super::translation::{arrange, checked, function, machine_type};
use crate::Stage;

/// The kernel's name.
pub(crate) const KERNEL: &str = "step";

/// Arguments after the parts of the state.
const ROM: u32 = PARTS as u32;
const ACTIONS: u32 = ROM + 1;
const CODEC: u32 = ROM + 2;
const FRAMES: u32 = ROM + 3;
const RELEASE_AFTER: u32 = ROM + 4;
const DRAW_LAST: u32 = ROM + 5;
const REWARDS: u32 = ROM + 6;
const OBSERVATIONS: u32 = ROM + 7;

/// Makes the kernel of a stage from a module that holds the machine and the programs.
#[must_use]
pub fn step_module(mut module: Module, programs: Programs, stage: Stage) -> Valid<Module> {
    module.name = format!("{KERNEL}_{stage}_{}", programs.obs_dim);
    let mut module = arrange(module, &[programs.reward, programs.observe]);
    let machine = machine_type(&module);
    let columns = Columns::new(&module.types, machine);
    let [bytes, floats, rows] = [(Type::U8, 1), (Type::F32, 1), (Type::F32, 2)]
        .map(|(of, dims)| module.types.array(of, dims));
    let mut params = part::parameters(&mut module, "");
    params.extend([
        Param::value("rom", bytes),
        Param::value("actions", bytes),
        Param::value("codec", bytes),
        Param::value("frames", Type::U32),
        Param::value("release_after", Type::U32),
        Param::value("draw_last", Type::BOOL),
        Param::value("rewards", floats),
        Param::value("observations", rows),
    ]);
    let run = function(&module, "Machine::run_step");
    let step = module.functions[run].params[2].ty;
    let kernel = module.declare_kernel(KERNEL, params);
    let mut b = Builder::new(&mut module, kernel);
    let env = b.launch_index(0);
    let local = b.local("machine", machine);
    let machine = b.local_place(local);
    part::load(&mut b, &columns, env, machine);
    let rom = b.arg(ROM);
    part::attach(&mut b, machine, "rom", rom);
    let buttons = buttons(&mut b, env);
    let plan = [FRAMES, RELEASE_AFTER, DRAW_LAST].map(|position| b.arg(position));
    let frames = plan[0];
    let plan = b.construct(step, &plan);
    let machine_arg = Arg::Place(machine);
    let mcycles = b.call(run, &[machine_arg, Arg::Value(buttons), Arg::Value(plan)]);
    if stage.owns_reward() {
        let reward = b.call(programs.reward, &[machine_arg]);
        let rewards = b.param_place(REWARDS);
        let place = b.element(rewards, &[env]);
        b.store(place, reward);
    }
    if stage.owns_observation() {
        let rows = b.arg(OBSERVATIONS);
        let row = b.view(rows, &[Selector::At(env)]);
        b.call(programs.observe, &[machine_arg, Arg::Value(row)]);
    }
    part::store(&mut b, &columns, env, machine);
    count(&mut b, env, frames, mcycles);
    b.finish();
    checked(module)
}

/// What the env's action presses.
fn buttons(b: &mut Builder<'_>, env: Value) -> Value {
    let (actions, codec) = (b.param_place(ACTIONS), b.param_place(CODEC));
    let action = b.element(actions, &[env]);
    let action = b.load(action);
    let buttons = b.element(codec, &[action]);
    b.load(buttons)
}

/// Adds frames and T-cycles to the env's counters.
fn count(b: &mut Builder<'_>, env: Value, frames: Value, mcycles: Value) {
    let frames = b.convert(frames, Scalar::U64);
    let mcycles = b.convert(mcycles, Scalar::U64);
    let four = b.literal(Literal::int(Scalar::U64, 4));
    let tcycles = b.mul(mcycles, four);
    for (index, more) in [frames, tcycles].into_iter().enumerate() {
        let (counters, index) = (b.param_place(COUNTERS as u32), b.i32(index as i32));
        let place = b.element(counters, &[env, index]);
        let before = b.load(place);
        let after = b.add(before, more);
        b.store(place, after);
    }
}
