//! Programs of the native swarm: small kernels, compiled in this process, that read a machine in
//! place at the end of a step, at the start of an episode, at a hook, and between frames.
//! `front-rust/tests/machine/layout.rs` tests that a machine has the layout that the kernels
//! expect.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use gbxcule_gameboy::Machine;
use gbxcule_gameboy::view::StepNumbers;
use gbxcule_gameboy_color as color;
use gbxcule_ir::check;
use gbxcule_ir::{Arg, Builder, FunctionId, Module, Param, Type};
use gbxcule_runtime::{
    Build, Compiled, Device, DirectKernel, Error, PerProcess, SliceArgument, compile,
};

use super::compile::MAX_WRITES;
use super::compile::{machine_params, view_module_of};
use super::{Programs, ScratchSize, TextRole};
use crate::kernel_source::{self, MachineAccess};
use crate::{AnyMachine, MachineSources, Stage, SwarmError};

/// The kernels' names.
const STEP: &str = "after_step";
const BEGIN: &str = "at_begin";
const HOOK: &str = "at_hook";
const SETTLED: &str = "between_frames";

/// The number that selects the observation at the beginning of an episode; smaller numbers select a
/// text.
const OBSERVE_FIRST: u32 = 2;

/// The programs of a stage, ready to be run by one thread.
pub(crate) struct NativePrograms {
    programs: Programs,
    step: DirectKernel,
    /// The kernel of `begin`; `None` if nothing is computed where an episode begins.
    begin: Option<DirectKernel>,
    /// The kernel of hooks; `None` if no hook calls a function.
    hook: Option<DirectKernel>,
    settled: Option<DirectKernel>,
    /// Pending writes of the last function: their count, then the writes; empty if programs don't
    /// write.
    writes: Vec<u32>,
}

/// The state that an env's programs read.
#[derive(Clone, Copy)]
pub(crate) struct ProgramInputs<'s> {
    pub(crate) machine: &'s AnyMachine,
    pub(crate) rom: &'s [u8],
    pub(crate) cart_ram: &'s [u8],
    pub(crate) step_numbers: StepNumbers,
}

/// Outputs of an env.
pub(crate) struct Outputs<'o> {
    /// The env's scratch cells: integers and bytes, then floats.
    pub(crate) scratch: &'o mut [f32],
    pub(crate) reward: &'o mut f32,
    pub(crate) done: &'o mut u8,
    pub(crate) obs: &'o mut [f32],
}

impl NativePrograms {
    /// Compiles the programs; `None` for a stage that computes nothing.
    pub(crate) fn new(
        programs: &Programs,
        stage: Stage,
        machine: MachineSources,
    ) -> Result<Option<Self>, SwarmError> {
        if !programs.has_work_in(stage) {
            return Ok(None);
        }
        let compiled = compiled(programs, stage, machine)?;
        let kernel = |name| Ok::<_, SwarmError>(DirectKernel::new(compiled.kernel(name)?)?);
        let only_if = |is_there: bool, name| is_there.then(|| kernel(name)).transpose();
        let calls = programs.hooks().iter().any(|hook| hook.calls.is_some());
        Ok(Some(Self {
            step: kernel(STEP)?,
            begin: only_if(programs.has_begin_work_in(stage), BEGIN)?,
            hook: only_if(calls, HOOK)?,
            settled: only_if(programs.has_settled(), SETTLED)?,
            writes: vec![0; if programs.writes_memory() { 1 + MAX_WRITES as usize } else { 0 }],
            programs: programs.clone(),
        }))
    }

    /// Computes the outputs of the stage after a step.
    pub(crate) fn step(
        &mut self,
        inputs: ProgramInputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), SwarmError> {
        run(&mut self.step, &self.programs, inputs, outputs, [&mut [0], &mut self.writes])
    }

    /// Calls the function of a hook, if it has one.
    pub(crate) fn at_hook(
        &mut self,
        hook: u32,
        inputs: ProgramInputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), SwarmError> {
        let Some(kernel) = &mut self.hook else { return Ok(()) };
        run(kernel, &self.programs, inputs, outputs, [&mut [hook], &mut self.writes])
    }

    /// Asks `settled` whether the step is over; returns false if no text has one.
    pub(crate) fn settled(
        &mut self,
        inputs: ProgramInputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<bool, SwarmError> {
        let Some(kernel) = &mut self.settled else { return Ok(false) };
        let mut answer = [0];
        run(kernel, &self.programs, inputs, outputs, [&mut answer, &mut self.writes])?;
        Ok(answer != [0])
    }

    /// Runs `begin` of a text over a scratch of zeros. Reward and `done` stay as they are.
    pub(crate) fn begin(
        &mut self,
        text: TextRole,
        inputs: ProgramInputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), SwarmError> {
        self.run_begin(text.index() as u32, inputs, outputs)
    }

    /// Computes the observation before the first step of an episode.
    pub(crate) fn observe_first(
        &mut self,
        inputs: ProgramInputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), SwarmError> {
        if self.begin.is_none() {
            return Ok(());
        }
        self.run_begin(OBSERVE_FIRST, inputs, outputs)
    }

    fn run_begin(
        &mut self,
        part: u32,
        inputs: ProgramInputs<'_>,
        outputs: &mut Outputs<'_>,
    ) -> Result<(), SwarmError> {
        let Some(kernel) = &mut self.begin else { return Ok(()) };
        run(kernel, &self.programs, inputs, outputs, [&mut [part], &mut self.writes])
    }

    /// Takes the pending writes of the last function: places and values, in order.
    pub(crate) fn take_writes(&mut self) -> impl Iterator<Item = (u32, u8)> + use<> {
        let count = self.writes.first_mut().map_or(0, std::mem::take) as usize;
        let packed = self.writes.get(1..=count).unwrap_or_default().to_vec();
        packed.into_iter().map(|write| (write >> 8, write as u8))
    }
}

fn run(
    kernel: &mut DirectKernel,
    programs: &Programs,
    inputs: ProgramInputs<'_>,
    outputs: &mut Outputs<'_>,
    [answer, writes]: [&mut [u32]; 2],
) -> Result<(), SwarmError> {
    let ScratchSize { ints, bytes, .. } = programs.scratch_size();
    let (ints, bytes_and_numbers) = outputs.scratch.split_at_mut(ints);
    let (octets, numbers) = bytes_and_numbers.split_at_mut(bytes.div_ceil(4));
    let ran = kernel.run(&mut [
        match inputs.machine {
            AnyMachine::Original(machine) => {
                SliceArgument::read_beginning(&**machine, Machine::TRANSLATED_BYTES)
            }
            AnyMachine::Color(machine) => {
                SliceArgument::read_beginning(&**machine, color::Machine::TRANSLATED_BYTES)
            }
        },
        SliceArgument::read(inputs.rom),
        SliceArgument::read(inputs.cart_ram),
        SliceArgument::read(&[inputs.step_numbers]),
        SliceArgument::write(numbers),
        SliceArgument::write(bytemuck::cast_slice_mut::<f32, i32>(ints)),
        SliceArgument::write(bytemuck::cast_slice_mut::<f32, u8>(octets)),
        SliceArgument::write(std::slice::from_mut(outputs.reward)),
        SliceArgument::write(std::slice::from_mut(outputs.done)),
        SliceArgument::write(outputs.obs),
        SliceArgument::write(answer),
        SliceArgument::write(writes),
    ]);
    ran.map_err(|error| match error {
        Error::Fault(fault) => programs.describe(&fault.diagnostic()),
        error => SwarmError::Device(error),
    })
}

/// Returns machine code, which is compiled once and shared while a swarm uses it. Stage, texts and
/// the functions that hooks call determine the code.
fn compiled(
    programs: &Programs,
    stage: Stage,
    machine: MachineSources,
) -> Result<Arc<Compiled>, SwarmError> {
    type Key = (Stage, MachineSources, String, String, Vec<Option<String>>);
    static KNOWN: PerProcess<Mutex<HashMap<Key, Weak<Compiled>>>> = PerProcess::new();
    let hash = |text: &super::ProgramText| text.sha256().to_owned();
    let calls = programs.hooks().iter().map(|hook| hook.calls.clone()).collect();
    let key =
        (stage, machine, hash(programs.reward_text()), hash(programs.observation_text()), calls);
    // The lock is held during the compilation, so that simultaneous requests share one compilation.
    let mut compiled_programs = KNOWN.get().lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(compiled) = compiled_programs.get(&key).and_then(Weak::upgrade) {
        return Ok(compiled);
    }
    let module = check::module(module(programs, stage, machine))
        .unwrap_or_else(|faults| unreachable!("kernels are right: {faults:#?}"));
    let compiled = compile(&module, Device::Cpu, Build::default())?;
    compiled_programs.retain(|_, compiled| compiled.strong_count() > 0);
    compiled_programs.insert(key, Arc::downgrade(&compiled));
    Ok(compiled)
}

/// The kernels of a stage; all take the same arguments.
fn module(programs: &Programs, stage: Stage, machine: MachineSources) -> Module {
    let mut fused = programs.fuse(view_module_of(machine));
    let calls = programs.calls_without_writing(&fused, stage);
    let mut module = std::mem::take(&mut fused.module);
    module.name = format!("{STEP}_{stage}_{}", programs.obs_dim());
    let kernels =
        [(STEP, "compute"), (BEGIN, "begin_part"), (HOOK, "call_hook"), (SETTLED, "ask_settled")];
    let functions = kernel_source::lower(
        &mut module,
        &kernels.map(|(_, function)| function),
        MachineAccess::Read,
        &calls,
    );
    for ((name, _), function) in kernels.into_iter().zip(functions) {
        kernel(&mut module, name, function);
    }
    module
}

/// Makes a kernel that calls a function for one env, whose data are its arguments.
fn kernel(module: &mut Module, name: &str, function: FunctionId) {
    let machine = machine_params(module, false);
    let [machines, step_numbers] =
        [0, 3].map(|part: usize| module.types.array(machine[part].ty, 1));
    let [bytes, numbers, words, ints] =
        [Type::U8, Type::F32, Type::U32, Type::I32].map(|of| module.types.array(of, 1));
    let params = [
        ("machine", machines),
        ("rom", bytes),
        ("cart_ram", bytes),
        ("step_numbers", step_numbers),
        ("cells", numbers),
        ("ints", ints),
        ("octets", bytes),
        ("rewards", numbers),
        ("dones", bytes),
        ("observation", numbers),
        ("asked", words),
        ("writes", words),
    ];
    let wanted = module.functions[function].params.clone();
    let of_kernel = params.iter().map(|&(name, ty)| Param::value(name, ty)).collect();
    let kernel = module.declare_kernel(name, of_kernel);
    let mut b = Builder::new(module, kernel);
    let args: Vec<Arg> = wanted
        .iter()
        .map(|param| {
            let name = param.name.as_str();
            let position = params.iter().position(|(own, _)| *own == name);
            match (name, position) {
                ("env", _) => Arg::Value(b.i32(0)),
                ("machine" | "step_numbers", Some(position)) => {
                    let (array, first) = (b.param_place(position as u32), b.i32(0));
                    Arg::Place(b.element(array, &[first]))
                }
                (_, Some(position)) => Arg::Value(b.arg(position as u32)),
                (name, None) => unreachable!("nothing gives `{name}` to `{STEP}`"),
            }
        })
        .collect();
    b.call(function, &args);
    b.finish();
}
