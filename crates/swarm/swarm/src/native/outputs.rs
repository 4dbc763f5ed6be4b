//! Reads from a swarm on the CPU: outputs, registers, counters, frames, memory. Reading changes
//! nothing.

use std::ops::Range;

use super::NativeSwarm;
use crate::banked_address::check_range;
use crate::{AnyMachine, Counters, CpuState, Frame, SwarmError};

impl NativeSwarm {
    /// Returns each env's reward after its last whole step; zeros if the stage computes none.
    #[must_use]
    pub fn rewards(&self) -> &[f32] {
        &self.rewards
    }

    /// Returns for each env whether its episode is over, after its last whole step; false if the
    /// stage computes no reward or the programs have no `done`.
    #[must_use]
    pub fn dones(&self) -> &[bool] {
        &self.dones
    }

    /// Returns [`crate::Programs::obs_dim`] numbers for each env: the observation after the last
    /// whole step or, after a reset, before the first one.
    #[must_use]
    pub fn observations(&self) -> &[f32] {
        &self.observations
    }

    /// Samples of an env's last step, left and right; none unless the configuration asks for them.
    ///
    /// # Errors
    /// There is no such env.
    pub fn samples(&self, env: usize) -> Result<&[[i16; 2]], SwarmError> {
        self.locate(env).map(|(shard, slot)| shard.samples(slot))
    }

    /// An env's registers.
    ///
    /// # Errors
    /// There is no such env.
    pub fn cpu_state(&self, env: usize) -> Result<CpuState, SwarmError> {
        Ok(CpuState::of(self.machine(env)?))
    }

    /// An env's machine, read-only.
    ///
    /// # Errors
    /// There is no such env.
    pub fn machine(&self, env: usize) -> Result<&AnyMachine, SwarmError> {
        self.locate(env).map(|(shard, slot)| shard.machine(slot))
    }

    /// Returns an env's counters: frames and T-cycles since its reset.
    ///
    /// # Errors
    /// There is no such env.
    pub fn counters(&self, env: usize) -> Result<Counters, SwarmError> {
        self.locate(env).map(|(shard, slot)| shard.counters(slot))
    }

    /// The last drawn frame of an env, packed as [`crate::FRAME_BYTES`] says; a Color's has two
    /// bytes a pixel, as [`Frame::Colors`] says.
    ///
    /// # Errors
    /// There is no such env.
    pub fn frame(&self, env: usize) -> Result<&[u8], SwarmError> {
        Ok(match self.machine(env)?.frame() {
            Frame::Shades(bytes) => bytes,
            Frame::Colors(bytes) => bytes,
        })
    }

    /// The bytes that a debugger would show at these addresses, or in a bank ([`crate::in_bank`]);
    /// reading changes nothing.
    ///
    /// # Errors
    /// There is no such env or bank, or the range leaves the address space.
    pub fn read_memory(&self, env: usize, range: Range<u32>) -> Result<Vec<u8>, SwarmError> {
        let (shard, slot) = self.locate(env)?;
        check_range(&range, self.rom())?;
        Ok(range.map(|place| shard.peek(slot, place)).collect())
    }

    /// Returns some cells of each env's scratch, one env after the other.
    pub(crate) fn cells(&self, cells: Range<usize>) -> Vec<f32> {
        let shards = self.shards.iter().flatten();
        let slots = shards.flat_map(|shard| (0..shard.len()).map(move |slot| (shard, slot)));
        slots.flat_map(|(shard, slot)| &shard.numbers(slot)[cells.clone()]).copied().collect()
    }
}
