//! The step kernel: a thread runs the whole step of one env. `kernel_source/kernels.py` holds the
//! thread's work, and this file makes the kernel around it.
//!
//! Each combination of stage, observation size and programs has its own module, which computes only
//! the stage's outputs. All modules take the same arguments.

use gbxcule_ir::check::Valid;
use gbxcule_ir::{FunctionId, Module, Op, Residency};
use gbxcule_recompiler::{HotCode, Recompile};
use gbxcule_runtime::Device;

use super::column::Columns;
use super::kernel::{self, EnvSelection, KernelPart};
use super::machine_ir::{
    self, arrange, finished, machine_module, machine_type, single_frame_module,
};
use crate::kernel_source::{self, MachineAccess};
use crate::{MachineSources, Model, Programs, Rom, Stage, SwarmConfig};

/// The kernel's name.
pub(crate) const KERNEL: &str = "step";

/// Blocks of one warp, so that no warp waits for others at the end, 24 of them on a multiprocessor.
/// Fewer warps with more registers are slower (`docs/gpu-results.md`).
const RESIDENCY: Residency = Residency::Blocks { threads: 32, together: Some(24) };

/// Value of an env's manual buttons that means: the env's action decides its buttons.
pub(crate) const NO_MANUAL_BUTTONS: i16 = -1;

/// Value of an env's manual buttons that means: the env is not stepped.
pub(crate) const RESTS: i16 = -2;

/// Order in which the machines of a warp execute their next opcodes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Order {
    /// Each machine executes its next opcode, all machines at the same time.
    EachItsOwn,
    /// Machines with the lowest stack pointer execute first, among them those with the lowest
    /// program counter.
    LowestFirst,
}

impl Order {
    /// The order in which a step kernel runs machines.
    #[must_use]
    pub fn of(module: &Valid<Module>) -> Self {
        let mut todo: Vec<FunctionId> = module.kernels().map(|(id, _)| id).collect();
        let mut seen = vec![false; module.functions.len()];
        while let Some(id) = todo.pop() {
            if std::mem::replace(&mut seen[id.index()], true) {
                continue;
            }
            let mut values = module.functions[id].body.values.iter();
            if values.any(|(_, value)| matches!(value.op, Op::Lowest(_))) {
                return Self::LowestFirst;
            }
            todo.extend(module.facts(id).callees.iter().copied());
        }
        Self::EachItsOwn
    }

    /// Name of the order in artifacts.
    pub fn name(self) -> &'static str {
        match self {
            Self::EachItsOwn => "each its own next opcode",
            Self::LowestFirst => "lowest stack pointer and program counter first",
        }
    }
}

/// Returns true if a step kernel may have blocks: on CUDA, for the original model, if steps do not
/// run frame by frame.
pub(crate) fn may_have_blocks(rom: &Rom, config: &SwarmConfig, device: Device) -> bool {
    let is_asked = match config.recompile {
        Recompile::Off => false,
        Recompile::Always => true,
        Recompile::WhereItWins => device != Device::Cpu,
    };
    is_asked && rom.model() == Model::Original && !config.programs.needs_single_frames()
}

/// Finds the hot code for whose blocks a step kernel has cases.
pub(crate) fn hot_code(rom: &Rom, config: &SwarmConfig, device: Device) -> Option<HotCode> {
    if !may_have_blocks(rom, config, device) {
        return None;
    }
    let hot_code = HotCode::find(rom.bytes());
    (config.recompile == Recompile::Always || hot_code.is_worth_it()).then_some(hot_code)
}

/// A step kernel.
pub(crate) struct StepKernel {
    pub(crate) module: Valid<Module>,
    /// Number of blocks of code made for the ROM.
    pub(crate) blocks: usize,
}

/// Makes the kernel for a stage, its programs and a machine.
pub fn step_module(
    programs: &Programs,
    stage: Stage,
    machine: impl Into<MachineSources>,
) -> Valid<Module> {
    step_kernel(programs, stage, machine.into(), None).module
}

/// Makes the kernel for a stage, its programs and a machine, with code made for a ROM.
pub(crate) fn step_kernel(
    programs: &Programs,
    stage: Stage,
    machine: MachineSources,
    hot: Option<(&HotCode, &Rom)>,
) -> StepKernel {
    let by_single_frames = programs.needs_single_frames();
    let mut machine =
        if by_single_frames { single_frame_module(machine) } else { machine_module(machine) };
    let blocks = hot.map_or(0, |(hot, rom)| hot.add_to(&mut machine, rom.bytes()));
    let mut fused = programs.fuse(machine);
    let mut called = fused.functions();
    let calls = programs.calls(&fused, stage);
    let mut module = std::mem::take(&mut fused.module);
    module.name = format!("step_{stage}_{}", programs.obs_dim());
    let run = if by_single_frames { "run_frame_by_frame" } else { "run_whole_step" };
    let computes = stage != Stage::EmulateOnly;
    let names = [
        (run, true),
        ("compute_outputs", computes),
        ("pass_hooks", by_single_frames),
        ("earn_nothing", computes),
    ];
    let names: Vec<&str> =
        names.into_iter().filter_map(|(name, is_there)| is_there.then_some(name)).collect();
    let work = kernel_source::lower(&mut module, &names, MachineAccess::Change, &calls);
    called.extend(&work);
    let mut module = arrange(module, &called);
    let hot = hot.map(|(hot, _)| hot).filter(|_| blocks > 0);
    machine_ir::execute_lowest_first(&mut module, hot);
    let columns = Columns::new(&module.types, machine_type(&module));
    // The machine is put back before the programs run.
    let work: Vec<KernelPart> = work
        .into_iter()
        .zip(names)
        .map(|(function, name)| KernelPart { function, changes: name == run })
        .collect();
    let (work, resting) = work.split_at(1 + usize::from(computes));
    let envs = EnvSelection::Each { resting };
    let kernel = kernel::kernel(&mut module, &columns, KERNEL, envs, work);
    module.functions[kernel].residency = RESIDENCY;
    module.functions[kernel].diverges = true;
    StepKernel { module: finished(module), blocks }
}
