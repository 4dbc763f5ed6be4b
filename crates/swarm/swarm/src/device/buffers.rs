//! Arrays of a swarm on a device other than its machines' state, and the kernels' arguments made of
//! them.

use gbxcule_ir::Scalar;
use gbxcule_runtime::{Argument, Array};

use super::kernel::Arguments;
use super::memory::Memory;
use super::single_frames::SingleFrameArrays;
use super::state_arrays::StateArrays;
use crate::{Rom, SwarmConfig, SwarmError};

/// All arrays but the machines' state.
pub(super) struct Buffers {
    pub(super) rom: Array,
    pub(super) actions: Array,
    pub(super) codec: Array,
    /// Number of frames that each action is held.
    pub(super) frames_held: Array,
    pub(super) rewards: Array,
    pub(super) dones: Array,
    pub(super) observations: Array,
    pub(super) mask: Array,
    /// A mask of length one whose only env is marked.
    pub(super) mask_of_one: Array,
    /// Arrays for steps that run one frame at a time.
    pub(super) single_frames: Option<SingleFrameArrays>,
}

impl Buffers {
    pub(super) fn new(
        rom: &Rom,
        config: &SwarmConfig,
        memory: &Memory,
    ) -> Result<Self, SwarmError> {
        let (codec, frames_held) = config.codec.tables(config.schedule);
        let envs = config.num_envs;
        Ok(Self {
            rom: memory.copy_of(rom.bytes())?,
            actions: memory.bytes(envs)?,
            codec: memory.copy_of(&codec)?,
            frames_held: memory.copy_of(&frames_held)?,
            rewards: memory.zeros(Scalar::F32, &[envs])?,
            dones: memory.bytes(envs)?,
            observations: memory.zeros(Scalar::F32, &[envs, config.programs.obs_dim()])?,
            mask: memory.bytes(envs)?,
            mask_of_one: memory.copy_of(&[1_u8])?,
            single_frames: SingleFrameArrays::new(&config.programs, rom, envs, memory)?,
        })
    }

    /// Returns the row of an env's observation.
    pub(super) fn observation_of(&self, env: usize) -> Result<Array, SwarmError> {
        Ok(self.observations.slice(0, env..env + 1, 1)?)
    }

    /// Returns the arguments of a kernel for the envs from `first` on.
    pub(super) fn arguments_from(&self, envs: &StateArrays, first: usize) -> Arguments {
        let first = Argument::Int(first as i128);
        Arguments::new(envs).with("rom", &self.rom).with("first", first)
    }

    /// Returns the arguments of a kernel for the envs whose numbers an array holds.
    pub(super) fn arguments_of(&self, envs: &StateArrays, numbers: &Array) -> Arguments {
        Arguments::new(envs).with("rom", &self.rom).with("envs", numbers)
    }
}
