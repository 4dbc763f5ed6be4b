//! Starts of episodes, kept on the device and on the host.

use super::super::host_copy;
use super::super::state_arrays::{Layout, StateArrays, lengths};
use super::{DeviceSwarm, Starts};
use crate::{EnvSnapshot, SwarmError};

impl DeviceSwarm {
    /// Makes an env's present state the only start of later episodes; programs begin there with a
    /// scratch of zeros.
    ///
    /// # Errors
    /// There is no such env, or the device failed.
    pub fn start_from_env(&mut self, env: usize) -> Result<(), SwarmError> {
        let start = self.snapshot(env)?.into_start();
        self.put_starts(vec![start])
    }

    /// Sets the starts of episodes: these states, or power-on if there are none, each run on for so
    /// many steps without buttons. The env's seed and the episode's number choose one of them. All
    /// envs are put to the first one. No program runs during these steps. The next episode begins
    /// at the next reset or, without one, at the next step.
    ///
    /// # Errors
    /// The bytes are no states of a machine with this cartridge, or the device failed.
    pub fn restart_from(&mut self, states: &[&[u8]], steps: u32) -> Result<(), SwarmError> {
        self.restart_from_while(states, steps, &mut || true).map(drop)
    }

    /// Does what `restart_from` does, calls `go_on` several times a second, and stops when it
    /// returns false; then nothing has changed. Returns true if it finished.
    ///
    /// # Errors
    /// As in [`DeviceSwarm::restart_from`].
    pub fn restart_from_while(
        &mut self,
        states: &[&[u8]],
        steps: u32,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, SwarmError> {
        let starts = EnvSnapshot::starts_of(states, steps, &self.rom, &self.config, go_on)?;
        let Some(starts) = starts else { return Ok(false) };
        self.put_starts(starts)?;
        let all = self.mask(&vec![true; self.config.num_envs])?;
        self.transfer(&self.envs, &self.starts.on_device, 0, &all)?;
        self.episodes.awaits_begin.fill(true);
        self.clear_outputs()?;
        Ok(true)
    }

    /// Sets the starts of later episodes: states of any format, all with the same weight. Envs go
    /// on as they are.
    ///
    /// # Errors
    /// There are none, the bytes are no states of a machine with this cartridge, or the device
    /// failed.
    pub fn set_starts(&mut self, states: &[&[u8]]) -> Result<(), SwarmError> {
        let starts = EnvSnapshot::later_starts(states, &self.rom, &self.config)?;
        self.put_starts(starts)
    }

    /// Weighs the starts: one of the weight 3 is chosen three times as often as one of the weight
    /// 1. Changes later episodes alone.
    ///
    /// # Errors
    /// There is not one weight for each start, or all are 0.
    pub fn set_start_weights(&mut self, weights: &[u32]) -> Result<(), SwarmError> {
        self.episodes.set_start_weights(weights)
    }

    pub(super) fn put_starts(&mut self, starts: Vec<EnvSnapshot>) -> Result<(), SwarmError> {
        let lengths = lengths(&self.columns, &self.rom, self.config.programs.scratch_len());
        let count = starts.len();
        let on_device = StateArrays::new(lengths, count, Layout::EnvMajor, &self.memory)?;
        for (at, start) in starts.iter().enumerate() {
            host_copy::upload(&self.columns, &self.rom, start, &self.staging_env)?;
            let mut mask = vec![0_u8; count];
            mask[at] = 1;
            self.transfer(&on_device, &self.staging_env, 0, &self.memory.copy_of(&mask)?)?;
        }
        self.episodes.set_start_weights_unchecked(vec![1; count]);
        self.starts = Starts { on_device, on_host: starts };
        Ok(())
    }
}
