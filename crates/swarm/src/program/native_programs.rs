//! Programs behind the native machine: two small kernels, compiled for this process, that look at a
//! machine right where it lies, one when the frames of a step are over, one where an episode
//! begins. `subset/tests/machine/layout` holds that it lies there as the kernel takes it to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use gbxcule_gameboy::Machine;
use gbxcule_gameboy::view::Turn;
use gbxcule_ir::check;
use gbxcule_ir::{Arg, Builder, FunctionId, Module, Param, PlaceId, Selector, Type, Value};
use gbxcule_runtime::{
    Build, Compiled, Device, DirectKernel, Error, PerProcess, SliceArgument, compile,
};

use super::fuse::{machine_params, view_module};
use super::{Fused, Programs};
use crate::{Stage, SwarmError};

/// The kernels' names, and their arguments after the machine's.
const STEP: &str = "behind_step";
const BEGIN: &str = "behind_begin";
const SCRATCH: u32 = 4;
const REWARD: u32 = 5;
const DONE: u32 = 6;
const OBS: u32 = 7;

/// The programs of a stage, ready to be run by one thread.
pub(crate) struct NativePrograms {
    programs: Programs,
    step: DirectKernel,
    /// Nothing where there is nothing to begin.
    begin: Option<DirectKernel>,
}

/// The things that an env's programs look at.
#[derive(Clone, Copy)]
pub(crate) struct Scene<'s> {
    pub(crate) machine: &'s Machine,
    pub(crate) rom: &'s [u8],
    pub(crate) cart_ram: &'s [u8],
    pub(crate) turn: Turn,
}

/// Where an env's outputs go, each one of its kind.
pub(crate) struct Outputs<'o> {
    pub(crate) scratch: &'o mut [f32],
    pub(crate) reward: &'o mut f32,
    pub(crate) done: &'o mut u8,
    pub(crate) obs: &'o mut [f32],
}

impl NativePrograms {
    /// Nothing for the stage that computes nothing.
    pub(crate) fn new(programs: &Programs, stage: Stage) -> Result<Option<Self>, SwarmError> {
        if stage == Stage::EmulateOnly {
            return Ok(None);
        }
        let compiled = compiled(programs, stage)?;
        let kernel = |name| Ok::<_, SwarmError>(DirectKernel::new(compiled.kernel(name)?)?);
        let begin = programs.begin_in(stage).then(|| kernel(BEGIN)).transpose()?;
        Ok(Some(Self { programs: programs.clone(), step: kernel(STEP)?, begin }))
    }

    /// Computes what the stage owns, behind a step.
    pub(crate) fn step(
        &mut self,
        scene: Scene<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), SwarmError> {
        run(&mut self.step, &self.programs, scene, outputs)
    }

    /// Begins an episode: `begin` over a scratch of zeros, then the observation before the first
    /// step. The reward and the end stay as they are.
    pub(crate) fn begin(
        &mut self,
        scene: Scene<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), SwarmError> {
        let Some(kernel) = &mut self.begin else { return Ok(()) };
        outputs.obs.fill(0.0);
        run(kernel, &self.programs, scene, outputs)
    }
}

fn run(
    kernel: &mut DirectKernel,
    programs: &Programs,
    scene: Scene<'_>,
    outputs: &mut Outputs<'_>,
) -> Result<(), SwarmError> {
    let ran = kernel.run(&mut [
        SliceArgument::read(std::slice::from_ref(scene.machine)),
        SliceArgument::read(scene.rom),
        SliceArgument::read(scene.cart_ram),
        SliceArgument::read(&[scene.turn]),
        SliceArgument::write(outputs.scratch),
        SliceArgument::write(std::slice::from_mut(outputs.reward)),
        SliceArgument::write(std::slice::from_mut(outputs.done)),
        SliceArgument::write(outputs.obs),
    ]);
    ran.map_err(|error| match error {
        Error::Fault(fault) => programs.describe(&fault.diagnostic()),
        error => SwarmError::Device(error),
    })
}

/// Machine code, compiled once and shared while any swarm uses it. Stage and texts determine it,
/// the size of the observation too.
fn compiled(programs: &Programs, stage: Stage) -> Result<Arc<Compiled>, SwarmError> {
    type Key = (Stage, String, String);
    static KNOWN: PerProcess<Mutex<HashMap<Key, Weak<Compiled>>>> = PerProcess::new();
    let hash = |text: &super::ProgramText| text.sha256().to_owned();
    let key = (stage, hash(programs.reward()), hash(programs.obs()));
    // Held while compiling, so that what many swarms ask for at once is made once.
    let mut known = KNOWN.get().lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(compiled) = known.get(&key).and_then(Weak::upgrade) {
        return Ok(compiled);
    }
    let module = check::module(module(programs, stage))
        .unwrap_or_else(|faults| unreachable!("kernels are right: {faults:#?}"));
    let compiled = compile(&module, Device::Cpu, Build::default())?;
    known.retain(|_, compiled| compiled.strong_count() > 0);
    known.insert(key, Arc::downgrade(&compiled));
    Ok(compiled)
}

/// The kernels of a stage; all take the same arguments.
fn module(programs: &Programs, stage: Stage) -> Module {
    let Fused { mut module, reward, done, observe, begin } = programs.fuse(view_module());
    module.name = format!("{STEP}_{stage}_{}", programs.obs_dim());
    let mut b = kernel(&mut module, STEP);
    if stage.owns_reward() {
        let scratch = part(&mut b, programs.reward_scratch());
        let value = called(&mut b, reward, &[scratch]);
        let place = first(&mut b, REWARD);
        b.store(place, value);
        if let Some(done) = done {
            let value = called(&mut b, done, &[scratch]);
            let value = b.convert(value, gbxcule_ir::Scalar::U8);
            let place = first(&mut b, DONE);
            b.store(place, value);
        }
    }
    observed(&mut b, programs, stage, observe);
    b.finish();
    if programs.begin_in(stage) {
        let mut b = kernel(&mut module, BEGIN);
        for (begin, cells) in programs.beginnings(begin, stage) {
            let scratch = part(&mut b, cells);
            called(&mut b, begin, &[scratch]);
        }
        observed(&mut b, programs, stage, observe);
        b.finish();
    }
    module
}

/// A kernel over one env.
fn kernel<'m>(module: &'m mut Module, name: &str) -> Builder<'m> {
    let machine = machine_params(module);
    let [machines, turns] = [0, 3].map(|part: usize| module.types.array(machine[part].ty, 1));
    let [bytes, numbers] = [Type::U8, Type::F32].map(|of| module.types.array(of, 1));
    let params = vec![
        Param::value("machine", machines),
        Param::value("rom", bytes),
        Param::value("cart_ram", bytes),
        Param::value("turn", turns),
        Param::value("scratch", numbers),
        Param::value("reward", numbers),
        Param::value("done", bytes),
        Param::value("obs", numbers),
    ];
    let kernel = module.declare_kernel(name, params);
    Builder::new(module, kernel)
}

/// Calls a program's function for the env.
fn called(b: &mut Builder<'_>, function: FunctionId, more: &[Value]) -> Value {
    let (machine, turn) = (first(b, 0), first(b, 3));
    let (rom, cart_ram) = (b.arg(1), b.arg(2));
    let of_machine = [Arg::Place(machine), Arg::Value(rom), Arg::Value(cart_ram), Arg::Place(turn)];
    let args: Vec<Arg> =
        of_machine.into_iter().chain(more.iter().map(|&value| Arg::Value(value))).collect();
    b.call(function, &args)
}

/// Calls `observe` if the stage owns the observation.
fn observed(b: &mut Builder<'_>, programs: &Programs, stage: Stage, observe: FunctionId) {
    if stage.owns_observation() {
        let (scratch, obs) = (part(b, programs.obs_scratch()), b.arg(OBS));
        called(b, observe, &[scratch, obs]);
    }
}

fn first(b: &mut Builder<'_>, param: u32) -> PlaceId {
    let (array, zero) = (b.param_place(param), b.i32(0));
    b.element(array, &[zero])
}

/// Some cells of the scratch.
fn part(b: &mut Builder<'_>, cells: std::ops::Range<usize>) -> Value {
    let scratch = b.arg(SCRATCH);
    let (start, len, step) = (b.i32(cells.start as i32), b.i32(cells.len() as i32), b.i32(1));
    b.view(scratch, &[Selector::Range { start, len, step }])
}
