//! Reads from a swarm: outputs, registers, counters, frames, memory, views. On a device only the
//! wanted values are copied, and only these calls wait.

use std::ops::Range;

use gbxcule_console::banked_address::check_range;

use super::{Swarm, SwarmOf};
use crate::engine::Engine;
use crate::{
    Counters, CpuState, EnvSnapshot, Frame, HookCount, ScratchArray, ScratchCell, SwarmError, View,
};

impl Swarm {
    /// Returns each env's reward after its last whole step; zeros if the stage computes none.
    pub fn rewards(&self) -> Result<Vec<f32>, SwarmError> {
        self.rewards_of(self.state().envs())
    }

    /// Returns for each env whether its episode is over, after its last whole step; false if the
    /// stage computes no reward or the programs have no `done`.
    pub fn dones(&self) -> Result<Vec<bool>, SwarmError> {
        self.dones_of(self.state().envs())
    }

    /// Returns [`crate::Programs::obs_dim`] numbers for each env: the observation after the last
    /// whole step or, after a reset, before the first one.
    pub fn observations(&self) -> Result<Vec<f32>, SwarmError> {
        self.observations_of(self.state().envs())
    }
}

impl<E: Engine + ?Sized> SwarmOf<E> {
    /// Returns the rewards of a range of envs.
    pub fn rewards_of(&self, envs: Range<usize>) -> Result<Vec<f32>, SwarmError> {
        self.check_envs(&envs)?;
        self.0.rewards_of(envs)
    }

    /// Returns for each env of a range whether its episode is over.
    pub fn dones_of(&self, envs: Range<usize>) -> Result<Vec<bool>, SwarmError> {
        self.check_envs(&envs)?;
        self.0.dones_of(envs)
    }

    /// Returns the observations of a range of envs, one after the other.
    pub fn observations_of(&self, envs: Range<usize>) -> Result<Vec<f32>, SwarmError> {
        self.check_envs(&envs)?;
        self.0.observations_of(envs)
    }

    fn check_envs(&self, envs: &Range<usize>) -> Result<(), SwarmError> {
        envs.end.checked_sub(1).map_or(Ok(()), |last| self.config().check_env(last))
    }

    /// Returns how often each env came to each hook: all hooks of an env, then those of the next.
    pub fn hook_counts(&self) -> Result<Vec<HookCount>, SwarmError> {
        let cells = self.0.cells(ScratchArray::Numbers, self.config().programs.hook_cells())?;
        let (pairs, _) = cells.as_chunks();
        let count = |&[in_episode, in_step]: &[f64; 2]| HookCount {
            in_episode: in_episode as u32,
            in_step: in_step as u32,
        };
        Ok(pairs.iter().map(count).collect())
    }

    /// Returns for each env and each action whether `action_mask` allows it: all actions of an env,
    /// then those of the next.
    pub fn action_masks(&self) -> Result<Vec<bool>, SwarmError> {
        let cells = self.0.cells(ScratchArray::Numbers, self.config().programs.mask_cells())?;
        Ok(cells.into_iter().map(|cell| cell != 0.0).collect())
    }

    /// Returns the value of one scratch cell of every env; `f64` holds it exactly.
    ///
    /// # Errors
    /// The programs have no such cell, the device failed, or a program stopped in an earlier step.
    pub fn scratch_values(&self, cell: ScratchCell) -> Result<Vec<f64>, SwarmError> {
        self.0.cells(cell.array, cell.place(&self.config().programs)?)
    }

    /// Shows every env, or only the marked ones, in `out`: one row of [`View::bytes_per_env`] for
    /// each env. The rows of envs that are not marked stay as they are. From a device only frames
    /// or bytes are copied; [`View::ObsV0`] copies whole machines, and the step's own stages
    /// compute that observation without any copy.
    ///
    /// # Errors
    /// `out` or the mask has the wrong length, a range of addresses leaves the address space, or
    /// the device failed.
    pub fn fill_view(
        &self,
        view: &View,
        mask: Option<&[bool]>,
        out: &mut [u8],
    ) -> Result<(), SwarmError> {
        self.0.fill_rows(view, view.rows(self.config(), self.rom(), mask, out)?)
    }

    /// Fills a view as [`Self::fill_view`] does, with the picture of the next frame, for a swarm
    /// that draws nothing. Copies the machines one by one and changes none of them.
    ///
    /// # Errors
    /// As [`Self::fill_view`].
    pub fn fill_view_ahead(&self, view: &View, out: &mut [u8]) -> Result<(), SwarmError> {
        for (env, row) in view.rows(self.config(), self.rom(), None, out)? {
            let mut snapshot = self.snapshot(env)?;
            snapshot.draw_ahead(self.rom());
            view.show_machine(&snapshot.machine, self.rom(), &snapshot.cart_ram, row);
        }
        Ok(())
    }

    /// Returns an env's registers.
    pub fn cpu_state(&self, env: usize) -> Result<CpuState, SwarmError> {
        self.config().check_env(env)?;
        Ok(self.0.registers(env..env + 1)?[0])
    }

    /// Returns the registers of all envs.
    pub fn cpu_states(&self) -> Result<Vec<CpuState>, SwarmError> {
        self.0.registers(self.0.state().envs())
    }

    /// Returns an env's counters: frames and T-cycles since its reset.
    pub fn counters(&self, env: usize) -> Result<Counters, SwarmError> {
        self.config().check_env(env)?;
        Ok(self.0.counters(env..env + 1)?[0])
    }

    /// Returns every env's counters: frames and T-cycles since its reset.
    pub fn all_counters(&self) -> Result<Vec<Counters>, SwarmError> {
        self.0.counters(self.0.state().envs())
    }

    /// Calls `see` with the last drawn frame of each of these envs, one after the other.
    pub fn frames(&self, envs: &[usize], mut see: impl FnMut(Frame<'_>)) -> Result<(), SwarmError> {
        envs.iter().try_for_each(|&env| self.config().check_env(env))?;
        self.0.see_frames(envs, &mut see)
    }

    /// Returns the bytes that a debugger would show at these addresses, or in a bank
    /// ([`crate::in_bank`]); only these bytes are copied from a device.
    ///
    /// # Errors
    /// There is no such env or bank, the range leaves the address space, or the device failed.
    pub fn read_memory(&self, env: usize, range: Range<u32>) -> Result<Vec<u8>, SwarmError> {
        self.config().check_env(env)?;
        check_range(&range, self.rom())?;
        self.0.read_memory(env, range)
    }

    /// Copies an env's state.
    pub fn snapshot(&self, env: usize) -> Result<EnvSnapshot, SwarmError> {
        self.config().check_env(env)?;
        self.0.snapshot(env)
    }

    /// Samples of an env's last step, left and right. Empty if the swarm has no sound.
    ///
    /// # Errors
    /// There is no such env, or the swarm is on a device.
    pub fn samples(&self, env: usize) -> Result<&[[i16; 2]], SwarmError> {
        self.config().check_env(env)?;
        self.0.samples(env)
    }
}
