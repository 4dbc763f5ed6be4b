//! The kernels of a swarm. Each is compiled, or read from disk if it was compiled before under the
//! same recipe.

use std::sync::{Arc, OnceLock};

use gbxcule_runtime::{Compiled, Error, Kernel, MadeModule};

use super::column::{Columns, MachineParts};
use super::machine_ir::machine_type;
use super::recipe::Recipe;
use super::step::{Order, StepKernel};
use super::swarm::DeviceConfig;
use super::{begin, copy_env, inspect, link, step};
use crate::{LinkMode, MachineSources, Rom, Stage, SwarmConfig};

pub(super) struct KernelSet {
    pub(super) step: Kernel,
    /// The kernel of the outputs; `None` if the step kernel computes them, or the stage has no
    /// outputs.
    pub(super) outputs: Option<Kernel>,
    /// The kernel that begins episodes; `None` if the programs have no work there.
    pub(super) begin: Option<Kernel>,
    pub(super) transfer: Kernel,
    pub(super) registers: Kernel,
    pub(super) frames: Kernel,
    /// Kernels that read and write memory for debugging, compiled at their first use.
    memory: OnceLock<[Kernel; 3]>,
    pub(super) facts: StepFacts,
    device: DeviceConfig,
    machine: MachineSources,
}

/// Facts about a step kernel that its swarm needs. They are stored on disk as the kernel's notes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StepFacts {
    pub(super) order: Order,
    /// Number of blocks of code made for the ROM.
    pub(super) blocks: usize,
    pub(super) machine: MachineParts,
}

impl KernelSet {
    pub(super) fn new(
        rom: &Rom,
        config: &SwarmConfig,
        device: DeviceConfig,
    ) -> Result<Self, Error> {
        let (programs, stage, machine) =
            (&config.programs, config.stage, MachineSources::from(rom));
        let is_linked = config.link == LinkMode::Pairs;
        let step = if is_linked { pairs(machine, device)? } else { step(rom, config, device)? };
        let outputs = || {
            let recipe = Recipe::new("outputs of pairs", machine).with_programs(programs, stage);
            let module = || link::outputs_kernel(programs, stage, machine);
            recipe.compile(device, module)?.kernel(step::KERNEL)
        };
        let outputs = (is_linked && stage != Stage::EmulateOnly).then(outputs).transpose()?;
        let begin = || {
            let recipe = Recipe::new(begin::KERNEL, machine).with_programs(programs, stage);
            let module = || begin::begin_module(programs, stage, machine);
            recipe.compile(device, module)?.kernel(begin::KERNEL)
        };
        let begin = programs.has_begin_work_in(stage).then(begin).transpose()?;
        let transfer = Recipe::new(copy_env::KERNEL, machine).compile(device, copy_env::module)?;
        let registers = Recipe::new(inspect::REGISTERS, machine)
            .compile(device, || inspect::registers_module(machine))?;
        Ok(Self {
            step: step.kernel(if is_linked { link::KERNEL } else { step::KERNEL })?,
            outputs,
            begin,
            transfer: transfer.kernel(copy_env::KERNEL)?,
            registers: registers.kernel(inspect::REGISTERS)?,
            frames: registers.kernel(inspect::FRAMES)?,
            memory: OnceLock::new(),
            facts: StepFacts::parse(step.notes())
                .unwrap_or_else(|| unreachable!("notes are kept as they were written")),
            device,
            machine,
        })
    }

    /// The kernels `peek`, `poke` and `gather`.
    pub(super) fn memory(&self) -> Result<&[Kernel; 3], Error> {
        if let Some(kernels) = self.memory.get() {
            return Ok(kernels);
        }
        let recipe = Recipe::new("memory", self.machine);
        let compiled = recipe.compile(self.device, || inspect::memory_module(self.machine))?;
        let kernel = |name| compiled.kernel(name);
        let kernels = [kernel(inspect::PEEK)?, kernel(inspect::POKE)?, kernel(inspect::GATHER)?];
        Ok(self.memory.get_or_init(|| kernels))
    }
}

fn step(rom: &Rom, config: &SwarmConfig, device: DeviceConfig) -> Result<Arc<Compiled>, Error> {
    let (programs, stage, machine) = (&config.programs, config.stage, MachineSources::from(rom));
    let mut recipe = Recipe::new(step::KERNEL, machine).with_programs(programs, stage);
    if step::may_have_blocks(rom, config, device.device) {
        recipe = recipe.with_blocks(rom.bytes(), config.recompile);
    }
    recipe.compile_with_notes(device, || {
        let hot = step::hot_code(rom, config, device.device);
        let hot = hot.as_ref().map(|hot| (hot, rom));
        made_module(step::step_kernel(programs, stage, machine, hot))
    })
}

fn pairs(machine: MachineSources, device: DeviceConfig) -> Result<Arc<Compiled>, Error> {
    let module = || made_module(StepKernel { module: link::pair_kernel(machine), blocks: 0 });
    Recipe::new(link::KERNEL, machine).compile_with_notes(device, module)
}

fn made_module(StepKernel { module, blocks }: StepKernel) -> MadeModule {
    let Columns { machine, .. } = Columns::new(&module.types, machine_type(&module));
    let notes = StepFacts { order: Order::of(&module), blocks, machine }.notes();
    MadeModule { module, notes }
}

impl StepFacts {
    /// The facts as text, one on each line.
    fn notes(&self) -> String {
        format!("{}\n{}\n{}", self.order.name(), self.blocks, self.machine.text())
    }

    fn parse(notes: &str) -> Option<Self> {
        let mut lines = notes.lines();
        let (order, blocks, machine) = (lines.next()?, lines.next()?, lines.next()?);
        Some(Self {
            order: [Order::EachItsOwn, Order::LowestFirst]
                .into_iter()
                .find(|it| it.name() == order)?,
            blocks: blocks.parse().ok()?,
            machine: MachineParts::parse(machine)?,
        })
    }
}
