//! Calls that the native and the device swarm share, written once: configuration, seeds, starts of
//! episodes, and steps. A macro makes them functions of both types, so callers need no trait.

use crate::episode::Episode;
use crate::step_plan::StepPlan;
use crate::{
    DeviceSwarm, EnvSnapshot, FrameRange, NativeSwarm, Rom, SwarmConfig, SwarmError, action,
};

/// Functions that a swarm has of its own, on which the shared calls rest.
pub(crate) trait SwarmParts {
    /// Sets rewards and observations to zero and marks no episode as over.
    fn clear_outputs(&mut self) -> Result<(), SwarmError>;

    /// Replaces the starts of episodes, all with the same weight. Envs go on as they are.
    fn put_starts(&mut self, starts: Vec<EnvSnapshot>) -> Result<(), SwarmError>;

    /// Puts all machines into the first start. Runs no program.
    fn load_first_start(&mut self) -> Result<(), SwarmError>;

    /// Runs the programs' `begin` where it is awaited, then the frames of the plan, then the
    /// programs if the plan says so. Actions are checked, and so is the mask, without which no env
    /// rests.
    fn run(
        &mut self,
        actions: &[u8],
        mask: Option<&[bool]>,
        plan: StepPlan,
    ) -> Result<(), SwarmError>;
}

/// Writes the shared calls for each of these types, which have the fields `config`, `rom`, `seed`
/// and `episodes`.
macro_rules! shared_calls {
    ($($swarm:ty),*) => { $(
        impl $swarm {
            /// The swarm's configuration.
            #[must_use]
            pub fn config(&self) -> &SwarmConfig {
                &self.config
            }

            /// The ROM that runs in every machine.
            #[must_use]
            pub fn rom(&self) -> &Rom {
                &self.rom
            }

            /// Returns the seed of the last reset of all envs, which programs read as `gb.seed`.
            #[must_use]
            pub fn seed(&self) -> u64 {
                self.seed
            }

            /// Resets every env to a start, where a new episode begins: rewards are zero, no
            /// episode is over, observations are those before the first step. Each env's
            /// seed is mixed from this one and its number ([`crate::env_seed`]).
            ///
            /// # Errors
            /// A program stopped, or the device failed.
            pub fn reset(&mut self, seed: u64) -> Result<(), SwarmError> {
                self.seed = seed;
                self.episodes.seed_all(seed);
                self.clear_outputs()?;
                self.reset_masked(&vec![true; self.config.num_envs])
            }

            /// Seeds those envs for which there is a seed: chance in their next episodes depends
            /// on it alone. If every env gets a seed, `gb.seed` becomes the first env's.
            ///
            /// # Errors
            /// There is not one entry for each env.
            pub fn seed_envs(&mut self, seeds: &[Option<u64>]) -> Result<(), SwarmError> {
                self.config.check_length("seed", seeds.len())?;
                self.episodes.seed_some(seeds);
                // `gb.seed` must not change while other envs are in an episode.
                if !seeds.contains(&None) {
                    self.seed = self.episodes.by_env[0].seed;
                }
                Ok(())
            }

            /// Returns the env's seed and its number of episodes.
            ///
            /// # Errors
            /// There is no such env.
            pub fn episode(&self, env: usize) -> Result<Episode, SwarmError> {
                self.config.check_env(env)?;
                Ok(self.episodes.by_env[env])
            }

            /// Sets the env's seed and its number of episodes.
            ///
            /// # Errors
            /// There is no such env.
            pub fn set_episode(&mut self, env: usize, episode: Episode) -> Result<(), SwarmError> {
                self.config.check_env(env)?;
                self.episodes.by_env[env] = episode;
                Ok(())
            }

            /// Sets the starts of episodes: these states, or power-on for an empty list, each
            /// advanced by `steps` steps without buttons, in which no program runs. All envs are
            /// put to the first start. If `step` comes next, their episodes begin there. If `reset`
            /// comes next, the env's seed and the episode's number choose each env's start.
            ///
            /// # Errors
            /// The bytes are no states of a machine with this cartridge, or the device failed.
            pub fn restart_from(&mut self, states: &[&[u8]], steps: u32) -> Result<(), SwarmError> {
                self.restart_from_while(states, steps, &mut || true).map(drop)
            }

            /// Does what `restart_from` does and calls `go_on` several times a second; if `go_on`
            /// returns false it stops, and the swarm is as before. Returns true if it finished.
            ///
            /// # Errors
            /// As in [`Self::restart_from`].
            pub fn restart_from_while(
                &mut self,
                states: &[&[u8]],
                steps: u32,
                go_on: &mut dyn FnMut() -> bool,
            ) -> Result<bool, SwarmError> {
                let starts = EnvSnapshot::starts_of(states, steps, &self.rom, &self.config, go_on)?;
                let Some(starts) = starts else { return Ok(false) };
                self.put_starts(EnvSnapshot::with_noops(starts, &self.rom, &self.config))?;
                self.load_first_start()?;
                self.episodes.awaits_begin.fill(true);
                self.clear_outputs()?;
                Ok(true)
            }

            /// Sets the starts of later episodes: states of any format, all with the same weight.
            /// Envs go on as they are.
            ///
            /// # Errors
            /// There are none, the bytes are no states of a machine with this cartridge, or the
            /// device failed.
            pub fn set_starts(&mut self, states: &[&[u8]]) -> Result<(), SwarmError> {
                let starts = EnvSnapshot::later_starts(states, &self.rom, &self.config)?;
                self.put_starts(EnvSnapshot::with_noops(starts, &self.rom, &self.config))
            }

            /// Sets the weight of each start: a start of weight 3 is chosen three times as often
            /// as one of weight 1. Affects later episodes only.
            ///
            /// # Errors
            /// There is not one weight for each start, or all are 0.
            pub fn set_start_weights(&mut self, weights: &[u32]) -> Result<(), SwarmError> {
                // Each start has one more for each number of frames without buttons.
                let each = self.config.noop_max.max(1) as usize;
                self.episodes.set_start_weights(weights, each)
            }

            /// Sets the weights that a checkpoint has.
            pub(crate) fn set_weights_of_all_starts(
                &mut self,
                weights: &[u32],
            ) -> Result<(), SwarmError> {
                self.episodes.set_start_weights(weights, 1)
            }

            /// Makes an env's present state the only start of later episodes; programs begin there
            /// with a scratch of zeros.
            ///
            /// # Errors
            /// There is no such env, or the device failed.
            pub fn start_from_env(&mut self, env: usize) -> Result<(), SwarmError> {
                let start = self.snapshot(env)?.into_start();
                self.put_starts(EnvSnapshot::with_noops(vec![start], &self.rom, &self.config))
            }

            /// Presses each env's action, runs the schedule's frames, computes the outputs of the
            /// configuration's stage.
            ///
            /// # Errors
            /// - Not one action for each env, or an action that the codec does not have: no machine
            ///   has moved.
            /// - A program stopped on CPU threads, such as at an index outside its scratch. If that
            ///   was `begin` or the first `observe`, no machine has moved; otherwise all have.
            /// - A program stopped in a kernel: some machines have moved.
            /// - The device failed.
            pub fn step(&mut self, actions: &[u8]) -> Result<(), SwarmError> {
                self.step_frames(actions, &FrameRange::whole(&self.config))
            }

            /// Runs a range of a step's frames. The caller passes the same actions for all ranges
            /// of a step.
            ///
            /// # Errors
            /// As in [`Self::step`], or the step has no such frames.
            pub fn step_frames(
                &mut self,
                actions: &[u8],
                range: &FrameRange,
            ) -> Result<(), SwarmError> {
                action::check(&self.config, actions)?;
                let plan = range.plan(&self.config, self.seed)?;
                self.run(actions, None, plan)
            }

            /// Runs a range of a step's frames of the marked envs. All others rest: their machines
            /// stay where they are, no program runs for them but a `begin` that is awaited, they
            /// have come to no hook, and after the step their rewards are 0 and their episodes are
            /// not over. The caller passes the same actions and the same mask for all ranges of a
            /// step.
            ///
            /// # Errors
            /// As in [`Self::step_frames`], or the mask does not have one entry for each env, or
            /// marks one machine of a pair alone.
            pub fn step_frames_masked(
                &mut self,
                actions: &[u8],
                mask: &[bool],
                range: &FrameRange,
            ) -> Result<(), SwarmError> {
                action::check(&self.config, actions)?;
                self.config.check_length("mask entry", mask.len())?;
                self.config.check_pairs(mask)?;
                let plan = range.plan(&self.config, self.seed)?;
                self.run(actions, Some(mask), plan)
            }

            /// Runs a range of a step's frames in which no button is pressed, not even a manual
            /// one. Programs see the action NOOP, or action 0 if the codec has no NOOP.
            ///
            /// # Errors
            /// The step has no such frames, or as in [`Self::step`].
            pub fn step_frames_without_buttons(
                &mut self,
                range: &FrameRange,
            ) -> Result<(), SwarmError> {
                let plan = StepPlan { is_idle: true, ..range.plan(&self.config, self.seed)? };
                self.run(&vec![self.config.codec.idle(); self.config.num_envs], None, plan)
            }

            /// The weight of each start.
            pub(crate) fn weights(&self) -> &[u32] {
                self.episodes.weights()
            }
        }
    )* };
}

shared_calls!(NativeSwarm, DeviceSwarm);
