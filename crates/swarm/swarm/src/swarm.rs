//! The calls of every swarm. They check their arguments, and keep seeds, starts and episodes; the
//! swarm's engine runs machines and programs, on CPU threads or by kernels on a device.

mod outputs;

use std::ops::{Deref, DerefMut};

use gbxcule_console::banked_address;
use gbxcule_runtime::Device;

use crate::checkpoint::{SavedEnv, StepOutputs};
use crate::device::DeviceEngine;
use crate::engine::Engine;
use crate::env_states::memory_rows;
use crate::native::NativeEngine;
use crate::step_plan::StepPlan;
use crate::{DeviceConfig, EnvSnapshot, Episode, FrameRange, Rom, SwarmConfig, SwarmError, action};

/// Machines that are stepped together, and the engine that runs them.
///
/// ```
/// use gbxcule_runtime::Device;
/// use gbxcule_swarm::{Rom, Swarm, SwarmConfig};
///
/// let rom = gbxcule_assembler::by_name("ALU_LOOP").expect("a built-in ROM");
/// let rom = Rom::new(rom.bytes()).expect("a good header");
/// let mut swarm = Swarm::new(rom, SwarmConfig::new(2), Device::Cpu).expect("a swarm");
/// swarm.step(&[0, 1]).expect("an action for each env");
/// ```
///
/// # Errors
/// Every call fails if the device fails, and a call about an env that the swarm doesn't have. On a
/// device, a call that returns values may also return the error of an earlier step, whose work was
/// queued.
pub struct SwarmOf<E: Engine + ?Sized>(Box<E>);

/// A swarm on a device that is chosen when it is made.
pub type Swarm = SwarmOf<dyn Engine>;

/// Machines stepped together on CPU threads. Results do not depend on the number of threads.
///
/// ```
/// use gbxcule_swarm::{NativeSwarm, Rom, SwarmConfig};
///
/// let rom = gbxcule_assembler::by_name("ALU_LOOP").expect("a built-in ROM");
/// let rom = Rom::new(rom.bytes()).expect("a good header");
/// let mut swarm = NativeSwarm::new(rom, SwarmConfig::new(2)).expect("a swarm");
/// let begin = swarm.snapshot(0).expect("an env");
/// swarm.step(&[0, 0]).expect("an action for each env");
/// swarm.restore(1, &begin).expect("a state of this ROM");
/// assert_eq!(swarm.counters(0).expect("an env").frames, 24);
/// assert_eq!(swarm.counters(1).expect("an env").frames, 0);
/// ```
pub type NativeSwarm = SwarmOf<NativeEngine>;

/// Machines stepped together by compiled kernels. Their state lies in the device's memory. Results
/// are those of [`NativeSwarm`], bit by bit.
///
/// All work runs in one [`gbxcule_runtime::Stream`], in the order of the calls. A step and other
/// calls that change machines only queue their work; calls that return values wait for it.
///
/// ```
/// use gbxcule_swarm::{DeviceConfig, DeviceSwarm, NativeSwarm, Rom, SwarmConfig};
///
/// let rom = gbxcule_assembler::by_name("ALU_LOOP").expect("a built-in ROM");
/// let rom = Rom::new(rom.bytes()).expect("a good header");
/// let mut native = NativeSwarm::new(rom.clone(), SwarmConfig::new(2)).expect("a swarm");
/// // The default device is the CPU; a CUDA device takes the same calls.
/// let device = DeviceConfig::default();
/// let mut swarm = DeviceSwarm::new(rom, SwarmConfig::new(2), device).expect("a device");
/// native.step(&[0, 1]).expect("an action for each env");
/// swarm.step(&[0, 1]).expect("an action for each env");
/// assert_eq!(swarm.cpu_state(1).expect("an env"), native.cpu_state(1).expect("an env"));
/// ```
pub type DeviceSwarm = SwarmOf<DeviceEngine>;

/// Gives access to the calls that only one engine has.
impl<E: Engine + ?Sized> Deref for SwarmOf<E> {
    type Target = E;

    fn deref(&self) -> &E {
        &self.0
    }
}

impl<E: Engine + ?Sized> DerefMut for SwarmOf<E> {
    fn deref_mut(&mut self) -> &mut E {
        &mut self.0
    }
}

impl<E: Engine + 'static> From<SwarmOf<E>> for Swarm {
    fn from(swarm: SwarmOf<E>) -> Self {
        Self(swarm.0)
    }
}

impl NativeSwarm {
    /// Makes a swarm whose machines are switched on and have run no frame.
    ///
    /// # Errors
    /// The number of machines is 0 or exceeds the memory, a thread could not be started, or the
    /// configuration is refused: hooks, sound, cable, codec, chance.
    pub fn new(rom: Rom, config: SwarmConfig) -> Result<Self, SwarmError> {
        Ok(Self(Box::new(NativeEngine::new(rom, config)?)))
    }
}

impl DeviceSwarm {
    /// Makes a swarm whose machines are switched on and have run no frame.
    ///
    /// # Errors
    /// The number of machines is 0, the device is missing or has too little memory, or the
    /// configuration is refused: sound, hooks, cable, codec, chance.
    pub fn new(rom: Rom, config: SwarmConfig, device: DeviceConfig) -> Result<Self, SwarmError> {
        let mut swarm = Self(Box::new(DeviceEngine::new(rom, config, device)?));
        swarm.restart_from(&[], 0)?;
        Ok(swarm)
    }
}

impl Swarm {
    /// Makes a swarm whose machines are switched on and have run no frame.
    ///
    /// # Errors
    /// As [`NativeSwarm::new`] on the CPU and [`DeviceSwarm::new`] on other devices.
    pub fn new(rom: Rom, config: SwarmConfig, device: Device) -> Result<Self, SwarmError> {
        Ok(match device {
            Device::Cpu => NativeSwarm::new(rom, config)?.into(),
            Device::Cuda(_) => {
                let device = DeviceConfig { device, ..DeviceConfig::default() };
                DeviceSwarm::new(rom, config, device)?.into()
            }
        })
    }

    /// Restores the contents of a checkpoint into a new swarm; nothing runs.
    pub(crate) fn restore_checkpoint(
        &mut self,
        (weights, starts): (&[u32], Vec<EnvSnapshot>),
        envs: Vec<SavedEnv>,
        computed: &StepOutputs,
        seed: u64,
    ) -> Result<(), SwarmError> {
        for (env, SavedEnv { snapshot, episode, manual_buttons }) in envs.into_iter().enumerate() {
            self.hold_buttons(env, manual_buttons)?;
            self.set_episode(env, episode)?;
            self.0.load_env(env, &snapshot)?;
        }
        self.0.state_mut().seed = seed;
        self.0.put_starts(starts)?;
        self.0.restore_outputs(computed)?;
        self.0.state_mut().episodes.set_start_weights(weights, 1)
    }
}

/// Configuration, seeds and starts of episodes.
impl<E: Engine + ?Sized> SwarmOf<E> {
    /// The swarm's configuration.
    pub fn config(&self) -> &SwarmConfig {
        &self.0.state().config
    }

    /// The ROM that runs in every machine.
    pub fn rom(&self) -> &Rom {
        &self.0.state().rom
    }

    /// Returns the device on which the machines run.
    pub fn device(&self) -> Device {
        self.0.device()
    }

    /// Returns the CPU's engine, if this swarm has it.
    pub fn as_native(&self) -> Option<&NativeEngine> {
        self.0.as_native()
    }

    /// Returns the device's engine, if this swarm has it.
    pub fn as_device(&self) -> Option<&DeviceEngine> {
        self.0.as_device()
    }

    /// Returns the device's engine, if this swarm has it, to be changed.
    #[must_use]
    pub fn as_device_mut(&mut self) -> Option<&mut DeviceEngine> {
        self.0.as_device_mut()
    }

    /// Returns the number of blocks of code made for the ROM; `None` if machines run without
    /// blocks: the configuration or the model excludes them ([`SwarmConfig::recompile`]), they lost
    /// the last trial (CPU), or too little of the ROM's code is hot (CUDA).
    pub fn blocks(&self) -> Option<usize> {
        self.0.blocks()
    }

    /// Returns the seed of the last reset of all envs, which programs read as `gb.seed`.
    pub fn seed(&self) -> u64 {
        self.0.state().seed
    }

    /// Resets every env to a start, where a new episode begins: rewards are zero, no episode is
    /// over, observations are those before the first step. Each env's seed is mixed from this one
    /// and its number ([`crate::env_seed`]).
    ///
    /// # Errors
    /// A program stopped, or the device failed.
    pub fn reset(&mut self, seed: u64) -> Result<(), SwarmError> {
        let state = self.0.state_mut();
        state.seed = seed;
        state.episodes.seed_all(seed);
        self.0.clear_outputs()?;
        self.reset_masked(&vec![true; self.config().num_envs])
    }

    /// Resets the marked envs to the starts of their next episodes: chance is drawn, the
    /// programs' `begin` runs, and their observations are those before the first step. All other
    /// envs stay as they are, and so do the rewards and `dones` of all envs.
    ///
    /// # Errors
    /// The mask does not have one entry for each env, or marks one machine of a pair alone, a
    /// program stopped, or the device failed.
    pub fn reset_masked(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        self.config().check_length("mask entry", mask.len())?;
        self.config().check_pairs(mask)?;
        self.0.reset_masked(mask)
    }

    /// Begins episodes of the marked envs where their machines are, as after the loss of a life:
    /// the programs' scratch is zero and `begin` runs, and pictures begin with the last frame.
    ///
    /// # Errors
    /// The mask does not have one entry for each env, a program stopped, or the device failed.
    pub fn begin_again(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        self.config().check_length("mask entry", mask.len())?;
        self.0.begin_again(mask)
    }

    /// Seeds the envs that have an entry in `seeds`: chance in their next episodes depends on the
    /// new seed alone. If every env gets a seed, `gb.seed` becomes the first env's.
    ///
    /// # Errors
    /// `seeds` does not have one entry for each env.
    pub fn seed_envs(&mut self, seeds: &[Option<u64>]) -> Result<(), SwarmError> {
        let state = self.0.state_mut();
        state.config.check_length("seed", seeds.len())?;
        state.episodes.seed_some(seeds);
        // `gb.seed` must not change while other envs are in an episode.
        if !seeds.contains(&None) {
            state.seed = state.episodes.by_env[0].seed;
        }
        Ok(())
    }

    /// Returns the env's seed and its number of episodes.
    pub fn episode(&self, env: usize) -> Result<Episode, SwarmError> {
        self.config().check_env(env)?;
        Ok(self.0.state().episodes.by_env[env])
    }

    /// Returns the number of the start that the env's seed chooses for its episode by the present
    /// weights.
    pub fn start_of(&self, env: usize) -> Result<usize, SwarmError> {
        self.config().check_env(env)?;
        let config = self.config();
        let start = self.0.state().episodes.start(env, config.link);
        Ok(start / config.noop_max.max(1) as usize)
    }

    /// Sets the env's seed and its number of episodes.
    pub fn set_episode(&mut self, env: usize, episode: Episode) -> Result<(), SwarmError> {
        self.config().check_env(env)?;
        self.0.state_mut().episodes.by_env[env] = episode;
        Ok(())
    }

    /// Sets the starts of episodes: these states, or power-on for an empty list, each advanced by
    /// `steps` steps without buttons, in which no program runs. All envs are put to the first
    /// start. If `step` comes next, their episodes begin there. If `reset` comes next, the env's
    /// seed and the episode's number choose each env's start.
    ///
    /// # Errors
    /// The bytes are no states of a machine with this cartridge, or the device failed.
    pub fn restart_from(&mut self, states: &[&[u8]], steps: u32) -> Result<(), SwarmError> {
        self.restart_from_while(states, steps, &mut || true).map(drop)
    }

    /// Does the work of `restart_from` and calls `go_on` several times a second. If `go_on` returns
    /// false, the work stops, and the swarm is as before. Returns true if the work finished.
    ///
    /// # Errors
    /// As in [`Self::restart_from`].
    pub fn restart_from_while(
        &mut self,
        states: &[&[u8]],
        steps: u32,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, SwarmError> {
        let starts = EnvSnapshot::starts_of(states, steps, self.rom(), self.config(), go_on)?;
        let Some(starts) = starts else { return Ok(false) };
        self.put_starts(starts)?;
        self.0.load_first_start()?;
        self.0.state_mut().episodes.awaits_begin.fill(true);
        self.0.clear_outputs()?;
        Ok(true)
    }

    /// Sets the starts of later episodes: states of any format, all with the same weight. Envs go
    /// on as they are.
    ///
    /// # Errors
    /// The list is empty, the bytes are no states of a machine with this cartridge, or the device
    /// failed.
    pub fn set_starts(&mut self, states: &[&[u8]]) -> Result<(), SwarmError> {
        self.put_starts(EnvSnapshot::later_starts(states, self.rom(), self.config())?)
    }

    /// Makes an env's present state the only start of later episodes; programs begin there with a
    /// scratch of zeros.
    pub fn start_from_env(&mut self, env: usize) -> Result<(), SwarmError> {
        self.put_starts(vec![self.snapshot(env)?.into_start()])
    }

    fn put_starts(&mut self, starts: Vec<EnvSnapshot>) -> Result<(), SwarmError> {
        self.0.put_starts(EnvSnapshot::with_noops(starts, self.rom(), self.config()))
    }

    /// Sets the weight of each start: a start of weight 3 is chosen three times as often as one of
    /// weight 1. Affects later episodes only.
    ///
    /// # Errors
    /// The number of weights differs from the number of starts, or all weights are 0.
    pub fn set_start_weights(&mut self, weights: &[u32]) -> Result<(), SwarmError> {
        let state = self.0.state_mut();
        // `with_noops` has made `noop_max` starts of each.
        state.episodes.set_start_weights(weights, state.config.noop_max.max(1) as usize)
    }

    /// Changes the weights that the programs read from the next step on.
    ///
    /// # Errors
    /// The programs take another number of weights, or the device failed.
    pub fn set_weights(&mut self, weights: &[f32]) -> Result<(), SwarmError> {
        self.config().programs.check_weights(weights)?;
        self.0.state_mut().config.weights = weights.to_vec();
        self.0.take_weights()
    }
}

/// Steps, and changes of machines.
impl<E: Engine + ?Sized> SwarmOf<E> {
    /// Presses each env's action, runs the schedule's frames, computes the outputs of the
    /// configuration's stage; on a device this only queues the work.
    ///
    /// # Errors
    /// - The number of actions is wrong, or the codec lacks an action: no machine has moved.
    /// - A program stopped on CPU threads, for example at an index outside of its scratch. If
    ///   `begin` or the first `observe` stopped, no machine has moved; otherwise all machines have.
    /// - A program stopped in a kernel: some machines have moved.
    /// - The device failed.
    pub fn step(&mut self, actions: &[u8]) -> Result<(), SwarmError> {
        self.step_frames(actions, &FrameRange::whole(self.config()))
    }

    /// Runs a range of a step's frames. The caller passes the same actions for all ranges of a
    /// step.
    ///
    /// # Errors
    /// As in [`Self::step`], or the step has no such frames.
    pub fn step_frames(&mut self, actions: &[u8], range: &FrameRange) -> Result<(), SwarmError> {
        action::check(self.config(), actions)?;
        let plan = range.plan(self.config(), self.seed())?;
        self.0.run(actions, None, plan)
    }

    /// Runs a range of a step's frames of the marked envs. All other envs rest: their machines stay
    /// where they are, and no program runs but a pending `begin`. After the step their hooks'
    /// counts in the step are 0, their rewards are 0, and their episodes are not over. The caller
    /// passes the same actions and the same mask for all ranges of a step.
    ///
    /// # Errors
    /// As in [`Self::step_frames`], or the mask does not have one entry for each env, or marks one
    /// machine of a pair alone.
    pub fn step_frames_masked(
        &mut self,
        actions: &[u8],
        mask: &[bool],
        range: &FrameRange,
    ) -> Result<(), SwarmError> {
        let config = self.config();
        action::check(config, actions)?;
        config.check_length("mask entry", mask.len())?;
        config.check_pairs(mask)?;
        let plan = range.plan(config, self.seed())?;
        self.0.run(actions, Some(mask), plan)
    }

    /// Runs a range of a step's frames in which no button is pressed, not even manual buttons.
    /// Programs see the action NOOP, or action 0 if the codec has no NOOP.
    ///
    /// # Errors
    /// The step has no such frames, or as in [`Self::step`].
    pub fn step_frames_without_buttons(&mut self, range: &FrameRange) -> Result<(), SwarmError> {
        let config = self.config();
        let plan = StepPlan { is_idle: true, ..range.plan(config, self.seed())? };
        let actions = vec![config.codec.idle(); config.num_envs];
        self.0.run(&actions, None, plan)
    }

    /// Holds these buttons down in an env instead of its actions' buttons, through whole steps and
    /// resets; `None` returns to the actions' buttons.
    pub fn hold_buttons(&mut self, env: usize, buttons: Option<u8>) -> Result<(), SwarmError> {
        self.config().check_env(env)?;
        self.0.hold_buttons(env, buttons)
    }

    /// Waits until all queued work is done.
    pub fn sync(&mut self) -> Result<(), SwarmError> {
        self.0.sync()
    }

    /// Loads a copied state into an env, with the programs' scratch and observation. If the state
    /// has no scratch, the programs begin; if it has a scratch and no observation, only `observe`
    /// runs.
    ///
    /// # Errors
    /// There is no such env, the snapshot belongs to another cartridge, model or other programs, a
    /// program stopped, or the device failed.
    pub fn restore(&mut self, env: usize, snapshot: &EnvSnapshot) -> Result<(), SwarmError> {
        snapshot.check(self.rom(), self.config())?;
        self.config().check_env(env)?;
        self.0.load_env(env, snapshot)?;
        if let Some(observation) = snapshot.observation_in(self.config()) {
            return self.0.put_observation(env, observation);
        }
        self.0.begin_env(env, snapshot.scratch.is_none())?;
        if snapshot.scratch.is_some() { self.0.load_env(env, snapshot) } else { Ok(()) }
    }

    /// Copies one env's state to all marked envs.
    ///
    /// # Errors
    /// There is no such env, the mask does not have one entry for each env, or the device failed.
    pub fn copy_state(&mut self, source: usize, mask: &[bool]) -> Result<(), SwarmError> {
        self.config().check_length("mask entry", mask.len())?;
        self.config().check_env(source)?;
        self.0.copy_state(source, mask)
    }

    /// Changes memory for debugging, without the effects of a program's write. `low` is an address,
    /// or an address in a bank ([`crate::in_bank`]).
    ///
    /// # Errors
    /// There is no such env or bank, the bytes leave the address space or their bank, or the
    /// device failed.
    pub fn write_memory(&mut self, env: usize, low: u32, bytes: &[u8]) -> Result<(), SwarmError> {
        self.config().check_env(env)?;
        banked_address::check_write(low, bytes.len(), self.rom())?;
        self.0.write_rows(&[env], low, bytes)
    }

    /// Changes memory of the marked envs from `low` on, as [`Self::write_memory`] does: `rows`
    /// holds one row of bytes for each of them, all of one length, one after the other.
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
        banked_address::check_write(low, rows.len() / envs.len().max(1), self.rom())?;
        self.0.write_rows(&envs, low, rows)
    }
}
