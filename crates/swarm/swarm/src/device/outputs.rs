//! Outputs and arrays of a swarm on a device. A call copies only the values that it returns, and
//! only calls that copy wait.

use std::ops::Range;

use gbxcule_console::memory_bytes;
use gbxcule_ir::Scalar;
use gbxcule_runtime::{Array, Element};

use super::memory::Memory;
use super::state_arrays::FRAME;
use super::swarm::DeviceEngine;
use crate::engine::Engine;
use crate::{Model, SwarmError};

/// Addresses of the work RAM that is always mapped, which kernels read in place; the Color has
/// banks after it.
pub(super) fn work_ram(model: Model) -> Range<u32> {
    match model {
        Model::Original => 0xC000..0xE000,
        Model::Color => 0xC000..0xD000,
    }
}

impl DeviceEngine {
    /// Returns each env's reward after its last whole step; zeros if the stage computes none.
    pub fn rewards(&self) -> Result<Vec<f32>, SwarmError> {
        self.rows(self.reward_array(), self.state.envs())
    }

    /// Returns for each env whether its episode is over, after its last whole step; false if the
    /// stage computes no reward or the programs have no `done`.
    pub fn dones(&self) -> Result<Vec<bool>, SwarmError> {
        self.dones_of(self.state.envs())
    }

    /// Returns [`crate::Programs::obs_dim`] numbers for each env: the observation after the last
    /// whole step or, after a reset, before the first one.
    pub fn observations(&self) -> Result<Vec<f32>, SwarmError> {
        self.observations_of(self.state.envs())
    }

    /// The device's array of rewards: one element for each env.
    pub fn reward_array(&self) -> &Array {
        &self.buffers.rewards
    }

    /// The device's array of ends of episodes: one byte for each env, 1 if the episode is over.
    pub fn done_array(&self) -> &Array {
        &self.buffers.dones
    }

    /// The device's array of last drawn frames, each as its [`crate::Frame`] says: row `i` belongs
    /// to env `i`.
    pub fn frame_array(&self) -> &Array {
        &self.envs.arrays[FRAME]
    }

    /// The device's array of observations: row `i` belongs to env `i`.
    pub fn observation_array(&self) -> &Array {
        &self.buffers.observations
    }

    /// The last drawn frame of an env, as its [`crate::Frame`] says.
    pub fn frame(&self, env: usize) -> Result<Vec<u8>, SwarmError> {
        self.state.config.check_env(env)?;
        self.frames(&[env])
    }

    /// The last drawn frames of some envs, one after the other.
    pub(super) fn frames(&self, envs: &[usize]) -> Result<Vec<u8>, SwarmError> {
        let Some(&first) = envs.first() else { return Ok(Vec::new()) };
        let are_neighbours = envs.iter().copied().eq(first..first + envs.len());
        if are_neighbours {
            return self.rows(self.frame_array(), first..first + envs.len());
        }
        let [.., frame_bytes] = memory_bytes(self.state.rom.model());
        let out = self.memory.zeros(Scalar::U8, &[envs.len(), frame_bytes])?;
        let arguments = self
            .buffers
            .arguments_of(&self.envs, &env_numbers(&self.memory, envs)?)
            .with("data", &out);
        arguments.launch(&self.kernels.frames, &[envs.len(), frame_bytes])?;
        self.with_program_line(out.to_vec())
    }

    /// The bytes at places of some envs, one env after the other; only these are copied from the
    /// device.
    pub(super) fn gather(&self, envs: &[usize], places: &[u32]) -> Result<Vec<u8>, SwarmError> {
        if envs.is_empty() || places.is_empty() {
            return Ok(Vec::new());
        }
        let addresses = self.memory.copy_of(places)?;
        let out = self.memory.zeros(Scalar::U8, &[envs.len(), places.len()])?;
        let [.., gather] = self.kernels.memory()?;
        let arguments = self
            .buffers
            .arguments_of(&self.envs, &env_numbers(&self.memory, envs)?)
            .with("addresses", &addresses)
            .with("data", &out);
        arguments.launch(gather, &[envs.len()])?;
        self.with_program_line(out.to_vec())
    }

    /// The stacks of some envs' pictures, one after the other.
    pub(super) fn pictures(&self, envs: &[usize]) -> Result<Vec<u8>, SwarmError> {
        let (Some(first), Some(last)) = (envs.first(), envs.last()) else { return Ok(Vec::new()) };
        let Some(pictures) = &self.pictures else { return Ok(Vec::new()) };
        let all: Vec<u8> = self.rows(&pictures.stacks, *first..last + 1)?;
        let bytes = pictures.form.bytes();
        Ok(envs.iter().flat_map(|env| &all[(env - first) * bytes..][..bytes]).copied().collect())
    }

    /// The device's array of the envs' stacks of pictures, a row of bytes for each env; `None` if
    /// the swarm keeps none.
    pub fn picture_array(&self) -> Option<&Array> {
        self.pictures.as_ref().map(|it| &it.stacks)
    }

    /// Copies the rows of a range of envs from an array.
    pub(super) fn rows<T: Element>(
        &self,
        array: &Array,
        envs: Range<usize>,
    ) -> Result<Vec<T>, SwarmError> {
        if let Some(last) = envs.end.checked_sub(1) {
            self.state.config.check_env(last)?;
        }
        self.with_program_line(array.slice(0, envs, 1).and_then(|rows| rows.to_vec()))
    }
}

/// Returns the numbers of envs as an array.
pub(super) fn env_numbers(memory: &Memory, envs: &[usize]) -> Result<Array, SwarmError> {
    let numbers: Vec<i32> = envs.iter().map(|&env| env as i32).collect();
    memory.copy_of(&numbers)
}
