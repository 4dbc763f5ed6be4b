//! Outputs and machines of a swarm on the CPU, in place.

use super::NativeEngine;
use crate::{AnyMachine, Frame, SwarmError};

impl NativeEngine {
    /// Returns each env's reward after its last whole step; zeros if the stage computes none.
    pub fn rewards(&self) -> &[f32] {
        &self.rewards
    }

    /// Returns for each env whether its episode is over, after its last whole step; false if the
    /// stage computes no reward or the programs have no `done`.
    pub fn dones(&self) -> &[bool] {
        &self.dones
    }

    /// Returns [`crate::Programs::obs_dim`] numbers for each env: the observation after the last
    /// whole step or, after a reset, before the first one.
    pub fn observations(&self) -> &[f32] {
        &self.observations
    }

    /// An env's machine, read-only.
    pub fn machine(&self, env: usize) -> Result<&AnyMachine, SwarmError> {
        self.locate(env).map(|(shard, slot)| shard.machine(slot))
    }

    /// The last drawn frame of an env, packed as [`crate::FRAME_BYTES`] says; a Color's has two
    /// bytes a pixel, as [`Frame::Colors`] says.
    pub fn frame(&self, env: usize) -> Result<&[u8], SwarmError> {
        Ok(match self.machine(env)?.frame() {
            Frame::Shades(bytes) => bytes,
            Frame::Colors(bytes) => bytes,
        })
    }
}
