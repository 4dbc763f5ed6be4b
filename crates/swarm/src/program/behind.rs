//! Programs behind the native machine: one small kernel, compiled for this process, that looks at a machine
//! right where it lies when its frames are over. `kernel/tests/machine/layout` holds that it lies there as the
//! kernel takes it to.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use gbxcule_gameboy::Machine;
use gbxcule_gameboy::view::Turn;
use gbxcule_kernel::check;
use gbxcule_kernel::ir::{Arg, Builder, Param, PlaceId, Selector, Type, Value};
use gbxcule_runtime::{Build, Compiled, Device, DirectKernel, Error, Lent, compile};

use super::fuse::{machine_params, view_module};
use super::{Fused, Programs};
use crate::{Stage, SwarmError};

/// The kernel's name and its arguments after the machine's.
const KERNEL: &str = "behind_step";
const SCRATCH: u32 = 4;
const REWARD: u32 = 5;
const DONE: u32 = 6;
const OBS: u32 = 7;

/// The programs of a stage, ready to be run by one thread.
pub(crate) struct Behind {
    programs: Programs,
    kernel: DirectKernel,
}

/// Where an env's outputs go, each one of its kind.
pub(crate) struct Outputs<'o> {
    pub(crate) scratch: &'o mut [f32],
    pub(crate) reward: &'o mut f32,
    pub(crate) done: &'o mut u8,
    pub(crate) obs: &'o mut [f32],
}

impl Behind {
    /// Nothing for the stage that computes nothing.
    pub(crate) fn new(programs: &Programs, stage: Stage) -> Result<Option<Self>, SwarmError> {
        if stage == Stage::EmulateOnly {
            return Ok(None);
        }
        let kernel = DirectKernel::new(compiled(programs, stage)?.kernel(KERNEL)?)?;
        Ok(Some(Self { programs: programs.clone(), kernel }))
    }

    /// Computes what the stage owns.
    pub(crate) fn run(
        &mut self,
        machine: &Machine,
        rom: &[u8],
        cart_ram: &[u8],
        turn: Turn,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), SwarmError> {
        let ran = self.kernel.run(&mut [
            Lent::read(std::slice::from_ref(machine)),
            Lent::read(rom),
            Lent::read(cart_ram),
            Lent::read(&[turn]),
            Lent::write(outputs.scratch),
            Lent::write(std::slice::from_mut(outputs.reward)),
            Lent::write(std::slice::from_mut(outputs.done)),
            Lent::write(outputs.obs),
        ]);
        ran.map_err(|error| match error {
            Error::Fault(fault) => self.programs.describe(&fault.diagnostic()),
            error => SwarmError::Device(error),
        })
    }
}

/// Machine code, made once while anybody uses it: stage and texts say everything, the size of the
/// observation too.
fn compiled(programs: &Programs, stage: Stage) -> Result<Arc<Compiled>, SwarmError> {
    type Key = (Stage, String, String);
    static KNOWN: OnceLock<Mutex<HashMap<Key, Weak<Compiled>>>> = OnceLock::new();
    let hash = |text: &super::ProgramText| text.sha256().to_owned();
    let key = (stage, hash(programs.reward()), hash(programs.obs()));
    // Held while compiling, so that what many swarms ask for at once is made once.
    let mut known =
        KNOWN.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
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

/// The kernel that runs what a stage owns; all stages take the same arguments.
fn module(programs: &Programs, stage: Stage) -> gbxcule_kernel::ir::Module {
    let Fused { mut module, reward, done, observe } = programs.fuse(view_module());
    module.name = format!("{KERNEL}_{stage}_{}", programs.obs_dim());
    let behind = machine_params(&module);
    let [machines, turns] = [0, 3].map(|part: usize| module.types.array(behind[part].ty, 1));
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
    let kernel = module.declare_kernel(KERNEL, params);
    let mut b = Builder::new(&mut module, kernel);
    let (machine, turn) = (first(&mut b, 0), first(&mut b, 3));
    let (rom, cart_ram) = (b.arg(1), b.arg(2));
    let of_machine = [Arg::Place(machine), Arg::Value(rom), Arg::Value(cart_ram), Arg::Place(turn)];
    let args = |more: &[Value]| -> Vec<Arg> {
        of_machine.iter().copied().chain(more.iter().map(|&value| Arg::Value(value))).collect()
    };
    if stage.owns_reward() {
        let scratch = part(&mut b, programs.reward_scratch());
        let value = b.call(reward, &args(&[scratch]));
        let place = first(&mut b, REWARD);
        b.store(place, value);
        if let Some(done) = done {
            let value = b.call(done, &args(&[scratch]));
            let value = b.convert(value, gbxcule_kernel::ir::Scalar::U8);
            let place = first(&mut b, DONE);
            b.store(place, value);
        }
    }
    if stage.owns_observation() {
        let scratch = part(&mut b, programs.obs_scratch());
        let obs = b.arg(OBS);
        b.call(observe, &args(&[scratch, obs]));
    }
    b.finish();
    module
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
