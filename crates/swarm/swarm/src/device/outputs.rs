//! Reads from a swarm on a device: outputs, registers, counters, frames, memory. Only the values
//! that a caller wants are copied, and only these calls wait.

use std::ops::Range;

use gbxcule_ir::Scalar;
use gbxcule_runtime::{Argument, Array, Element};

use super::inspect;
use super::memory::Memory;
use super::state_arrays::{COUNTERS, FRAME, Layout, SCRATCH, WRAM};
use super::swarm::DeviceSwarm;
use crate::banked_address::{self, check_range};
use crate::env_states::memory_rows;
use crate::machine::memory_bytes;
use crate::{Counters, CpuState, Model, SwarmError};

/// Addresses that always are the beginning of work RAM, which is read in place: the Color has banks
/// behind the first one.
pub(super) fn work_ram(model: Model) -> Range<u32> {
    match model {
        Model::Original => 0xC000..0xE000,
        Model::Color => 0xC000..0xD000,
    }
}

impl DeviceSwarm {
    /// Returns each env's reward after its last whole step; zeros if the stage computes none.
    ///
    /// # Errors
    /// The device failed.
    pub fn rewards(&self) -> Result<Vec<f32>, SwarmError> {
        self.rewards_of(0..self.config().num_envs)
    }

    /// The rewards of a range of envs.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn rewards_of(&self, envs: Range<usize>) -> Result<Vec<f32>, SwarmError> {
        self.rows(self.reward_array(), envs)
    }

    /// Returns for each env whether its episode is over, after its last whole step; false if the
    /// stage computes no reward or the programs have no `done`.
    ///
    /// # Errors
    /// The device failed.
    pub fn dones(&self) -> Result<Vec<bool>, SwarmError> {
        self.dones_of(0..self.config().num_envs)
    }

    /// Returns for each env of a range whether its episode is over.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn dones_of(&self, envs: Range<usize>) -> Result<Vec<bool>, SwarmError> {
        let dones: Vec<u8> = self.rows(self.done_array(), envs)?;
        Ok(dones.into_iter().map(|done| done != 0).collect())
    }

    /// Returns [`crate::Programs::obs_dim`] numbers for each env: the observation after the last
    /// whole step or, after a reset, before the first one.
    ///
    /// # Errors
    /// The device failed.
    pub fn observations(&self) -> Result<Vec<f32>, SwarmError> {
        self.observations_of(0..self.config().num_envs)
    }

    /// The observations of a range of envs.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn observations_of(&self, envs: Range<usize>) -> Result<Vec<f32>, SwarmError> {
        self.rows(self.observation_array(), envs)
    }

    /// Returns some cells of each env's scratch, one env after the other.
    pub(crate) fn cells(&self, cells: Range<usize>) -> Result<Vec<f32>, SwarmError> {
        if cells.is_empty() {
            return Ok(Vec::new());
        }
        self.rows(&self.envs.arrays[SCRATCH].slice(1, cells, 1)?, 0..self.config().num_envs)
    }

    /// The device's array of rewards: one element for each env.
    #[must_use]
    pub fn reward_array(&self) -> &Array {
        &self.buffers.rewards
    }

    /// The device's array of ends of episodes: one byte for each env, 1 if the episode is over.
    #[must_use]
    pub fn done_array(&self) -> &Array {
        &self.buffers.dones
    }

    /// The device's array of last drawn frames, each as its [`crate::Frame`] says: row `i` belongs
    /// to env `i`.
    #[must_use]
    pub fn frame_array(&self) -> &Array {
        &self.envs.arrays[FRAME]
    }

    /// The device's array of observations: row `i` belongs to env `i`.
    #[must_use]
    pub fn observation_array(&self) -> &Array {
        &self.buffers.observations
    }

    /// An env's registers.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn cpu_state(&self, env: usize) -> Result<CpuState, SwarmError> {
        self.config.check_env(env)?;
        Ok(self.registers(env, 1)?[0])
    }

    /// The registers of all envs.
    ///
    /// # Errors
    /// The device failed.
    pub fn cpu_states(&self) -> Result<Vec<CpuState>, SwarmError> {
        self.registers(0, self.config().num_envs)
    }

    fn registers(&self, first: usize, count: usize) -> Result<Vec<CpuState>, SwarmError> {
        let out = self.memory.zeros(Scalar::U16, &[count, inspect::REGISTER_COUNT])?;
        let arguments = self.buffers.arguments_from(&self.envs, first).with("registers", &out);
        arguments.launch(&self.kernels.registers, &[count])?;
        let words: Vec<u16> = self.with_program_line(out.to_vec())?;
        Ok(words.chunks_exact(inspect::REGISTER_COUNT).map(CpuState::from_words).collect())
    }

    /// Returns an env's counters: frames and T-cycles since its reset.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn counters(&self, env: usize) -> Result<Counters, SwarmError> {
        self.config.check_env(env)?;
        Ok(self.counters_of(env..env + 1)?[0])
    }

    /// Returns every env's counters: frames and T-cycles since its reset.
    ///
    /// # Errors
    /// The device failed.
    pub fn all_counters(&self) -> Result<Vec<Counters>, SwarmError> {
        self.counters_of(0..self.config().num_envs)
    }

    fn counters_of(&self, envs: Range<usize>) -> Result<Vec<Counters>, SwarmError> {
        let numbers: Vec<u64> = self.rows(&self.envs.arrays[COUNTERS], envs)?;
        let pairs = numbers.chunks_exact(2);
        Ok(pairs.map(|pair| Counters { frames: pair[0], tcycles: pair[1] }).collect())
    }

    /// The last drawn frame of an env, as its [`crate::Frame`] says.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn frame(&self, env: usize) -> Result<Vec<u8>, SwarmError> {
        self.frames(&[env])
    }

    /// The last drawn frames of some envs, one after the other.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn frames(&self, envs: &[usize]) -> Result<Vec<u8>, SwarmError> {
        envs.iter().try_for_each(|&env| self.config.check_env(env))?;
        let Some(&first) = envs.first() else { return Ok(Vec::new()) };
        let are_neighbours = envs.iter().copied().eq(first..first + envs.len());
        if are_neighbours && self.device().layout == Layout::EnvMajor {
            return self.rows(self.frame_array(), first..first + envs.len());
        }
        let [.., frame_bytes] = memory_bytes(self.rom().model());
        let out = self.memory.zeros(Scalar::U8, &[envs.len(), frame_bytes])?;
        let arguments =
            self.buffers.arguments_of(&self.envs, &numbers(&self.memory, envs)?).with("data", &out);
        arguments.launch(&self.kernels.frames, &[envs.len(), frame_bytes])?;
        self.with_program_line(out.to_vec())
    }

    /// The bytes that a debugger would show at these addresses, or in a bank ([`crate::in_bank`]);
    /// reading changes nothing, and only these bytes are copied from the device.
    ///
    /// # Errors
    /// There is no such env or bank, the range leaves the address space, or the device failed.
    pub fn read_memory(&self, env: usize, range: Range<u32>) -> Result<Vec<u8>, SwarmError> {
        self.config.check_env(env)?;
        check_range(&range, self.rom())?;
        if range.is_empty() {
            return Ok(Vec::new());
        }
        let work_ram = work_ram(self.rom().model());
        if work_ram.contains(&range.start) && range.end <= work_ram.end {
            let offset = |address: u32| (address - work_ram.start) as usize;
            let bytes = offset(range.start)..offset(range.end);
            return self.rows(&self.envs.arrays[WRAM].slice(1, bytes, 1)?, env..env + 1);
        }
        let out = self.memory.zeros(Scalar::U8, &[1, range.len()])?;
        let [peek, ..] = self.kernels.memory()?;
        let low = Argument::Int(i128::from(range.start));
        let arguments =
            self.buffers.arguments_from(&self.envs, env).with("low", low).with("data", &out);
        arguments.launch(peek, &[1, range.len()])?;
        self.with_program_line(out.to_vec())
    }

    /// Changes memory from `low` on, which is an address, or an address in a bank
    /// ([`crate::in_bank`]): directly, without the machine's own writes, for debugging.
    ///
    /// # Errors
    /// There is no such env or bank, the bytes leave the address space or their bank, or the
    /// device failed.
    pub fn write_memory(&mut self, env: usize, low: u32, bytes: &[u8]) -> Result<(), SwarmError> {
        self.config.check_env(env)?;
        self.write_rows(&[env], low, bytes)
    }

    /// Changes memory of the marked envs from `low` on, as [`Self::write_memory`] does, in one
    /// launch: `rows` holds one row of bytes for each of them, all of one length, one after the
    /// other.
    ///
    /// # Errors
    /// The mask does not have one entry for each env, the rows have no common length, there is no
    /// such bank, the bytes leave the address space or their bank, or the device failed.
    pub fn write_memories(
        &mut self,
        mask: &[bool],
        low: u32,
        rows: &[u8],
    ) -> Result<(), SwarmError> {
        let envs = memory_rows(self.config(), mask, rows)?;
        self.write_rows(&envs, low, rows)
    }

    /// A row of bytes for each of some envs that there are, each of which is named once.
    pub(super) fn write_rows(
        &self,
        envs: &[usize],
        low: u32,
        rows: &[u8],
    ) -> Result<(), SwarmError> {
        let width = rows.len() / envs.len().max(1);
        banked_address::check_write(low, width, self.rom())?;
        if width == 0 {
            return Ok(());
        }
        let data = self.memory.zeros(Scalar::U8, &[envs.len(), width])?;
        data.write(rows)?;
        let [_, poke, _] = self.kernels.memory()?;
        let low = Argument::Int(i128::from(low));
        let arguments = self
            .buffers
            .arguments_of(&self.envs, &numbers(&self.memory, envs)?)
            .with("low", low)
            .with("data", &data);
        Ok(arguments.launch(poke, &[envs.len()])?)
    }

    /// The bytes at places of some envs, one env after the other; only these are copied from the
    /// device.
    pub(crate) fn gather(&self, envs: &[usize], places: &[u32]) -> Result<Vec<u8>, SwarmError> {
        if envs.is_empty() || places.is_empty() {
            return Ok(Vec::new());
        }
        let addresses = self.memory.copy_of(places)?;
        let out = self.memory.zeros(Scalar::U8, &[envs.len(), places.len()])?;
        let [.., gather] = self.kernels.memory()?;
        let arguments = self
            .buffers
            .arguments_of(&self.envs, &numbers(&self.memory, envs)?)
            .with("addresses", &addresses)
            .with("data", &out);
        arguments.launch(gather, &[envs.len()])?;
        self.with_program_line(out.to_vec())
    }

    /// The stacks of some envs' pictures, one after the other.
    pub(crate) fn pictures(&self, envs: &[usize]) -> Result<Vec<u8>, SwarmError> {
        let (Some(first), Some(last)) = (envs.first(), envs.last()) else { return Ok(Vec::new()) };
        let Some(pictures) = &self.pictures else { return Ok(Vec::new()) };
        let all: Vec<u8> = self.rows(&pictures.stacks, *first..last + 1)?;
        let bytes = pictures.form.bytes();
        Ok(envs.iter().flat_map(|env| &all[(env - first) * bytes..][..bytes]).copied().collect())
    }

    /// The device's array of the envs' stacks of pictures, a row of bytes for each env; `None` if
    /// the swarm keeps none.
    #[must_use]
    pub fn picture_array(&self) -> Option<&Array> {
        self.pictures.as_ref().map(|it| &it.stacks)
    }

    /// Copies the rows of a range of envs from an array.
    fn rows<T: Element>(&self, array: &Array, envs: Range<usize>) -> Result<Vec<T>, SwarmError> {
        if let Some(last) = envs.end.checked_sub(1) {
            self.config.check_env(last)?;
        }
        self.with_program_line(array.slice(0, envs, 1).and_then(|rows| rows.to_vec()))
    }
}

/// Returns the numbers of envs as an array.
fn numbers(memory: &Memory, envs: &[usize]) -> Result<Array, SwarmError> {
    let numbers: Vec<i32> = envs.iter().map(|&env| env as i32).collect();
    memory.copy_of(&numbers)
}
