//! Sticky actions on a device: a kernel before each step decides each env's action, by the rule of
//! `sticky.rs`.

use gbxcule_ir::check::Valid;
use gbxcule_ir::{Module, Scalar};
use gbxcule_runtime::{Argument, Array, Kernel};

use super::dialect_kernel::trusted;
use super::kernel::Arguments;
use super::memory::Memory;
use super::recipe::Recipe;
use super::state_arrays::{COUNTERS, SCRATCH, StateArrays};
use super::swarm::DeviceConfig;
use crate::episode::Episode;
use crate::{Model, SwarmConfig, SwarmError, sticky};

const NAME: &str = "stick_actions";
const TEXT: &str = include_str!("sticky.py");
/// Functions that compute an episode's chance.
const CHANCE: &str = include_str!("rollout/begin_next.py");

/// The kernel, and the envs' seeds and episode numbers that the host counts.
pub(super) struct DeviceSticky {
    kernel: Kernel,
    threshold: u64,
    seeds: Array,
    counts: Array,
}

impl DeviceSticky {
    /// The kernel of a swarm whose actions are sticky.
    pub(super) fn new(
        config: &SwarmConfig,
        device: DeviceConfig,
        memory: &Memory,
    ) -> Result<Option<Self>, SwarmError> {
        if config.sticky <= 0.0 {
            return Ok(None);
        }
        // The kernel holds no part of the machine, so the recipe may name either model.
        let made = Recipe::new(NAME, Model::Original).compile(device, sticky_module)?;
        let numbers = || memory.zeros(Scalar::U64, &[config.num_envs]);
        Ok(Some(Self {
            kernel: made.kernel(NAME)?,
            threshold: sticky::threshold(config.sticky),
            seeds: numbers()?,
            counts: numbers()?,
        }))
    }

    /// Decides the actions of a step, with episode numbers from the host.
    pub(super) fn stick_by_host(
        &self,
        envs: &StateArrays,
        actions: &Array,
        manual_buttons: &Array,
        (episodes, begins): (&[Episode], bool),
    ) -> Result<(), SwarmError> {
        if begins {
            self.seeds.write(&episodes.iter().map(|it| it.seed).collect::<Vec<_>>())?;
            self.counts.write(&episodes.iter().map(|it| it.count).collect::<Vec<_>>())?;
        }
        self.stick(envs, actions, manual_buttons, [&self.seeds, &self.counts], begins)
    }

    /// Decides the actions of a step; later launches within the step repeat the decision of its
    /// beginning.
    pub(super) fn stick(
        &self,
        envs: &StateArrays,
        actions: &Array,
        manual_buttons: &Array,
        [seeds, counts]: [&Array; 2],
        begins: bool,
    ) -> Result<(), SwarmError> {
        let scratch = &envs.arrays[SCRATCH];
        let cell = scratch.shape()[1] - 1;
        let arguments = Arguments::default()
            .with("counters", &envs.arrays[COUNTERS])
            .with("scratch", scratch)
            .with("cell", Argument::Int(cell as i128))
            .with("manual_buttons", manual_buttons)
            .with("seeds", seeds)
            .with("counts", counts)
            .with("threshold", Argument::Int(self.threshold.into()))
            .with("begins", Argument::Int(begins.into()))
            .with("actions", actions);
        Ok(arguments.launch(&self.kernel, &[actions.len()])?)
    }
}

/// The kernel that decides actions.
pub fn sticky_module() -> Valid<Module> {
    trusted(NAME, format!("import warp as wp\n\n{CHANCE}\n\n{TEXT}"))
}
