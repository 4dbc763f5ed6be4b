//! Steps a swarm on CPU threads.

mod outputs;
mod shard;

use std::num::NonZeroUsize;
use std::ops::Range;

use gbxcule_recompiler::Recompile;
use gbxcule_runtime::Device;
use gbxcule_sound::SAMPLES_PER_FRAME;
use shard::{SHARDS_PER_THREAD, ShardPlan};
pub(crate) use shard::{Shard, joined};

use crate::checkpoint::StepOutputs;
use crate::env_states::memory_rows;
use crate::episode::Episodes;
use crate::hook::HookTable;
use crate::interruptible_step::FrameTime;
use crate::machine::MachineSound;
use crate::shared_calls::SwarmParts;
use crate::step_plan::StepPlan;
use crate::worker_pool::WorkerPool;
use crate::{
    AnyMachine, Counters, EnvSnapshot, LinkMode, Rom, Stage, SwarmConfig, SwarmError,
    banked_address, capacity, sticky,
};

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
pub struct NativeSwarm {
    pub(crate) config: SwarmConfig,
    pub(crate) rom: Rom,
    workers: WorkerPool,
    shards: Vec<Option<Shard>>,
    envs_per_shard: usize,
    /// Starts of episodes: at least one state.
    starts: Vec<EnvSnapshot>,
    pub(crate) episodes: Episodes,
    pub(crate) seed: u64,
    pub(crate) frame_time: FrameTime,
    rewards: Vec<f32>,
    dones: Vec<bool>,
    observations: Vec<f32>,
}

impl NativeSwarm {
    /// Makes a swarm whose machines are switched on and have run no frame.
    ///
    /// # Errors
    /// No machines asked for or more than there is memory for, a thread could not be started, or
    /// the configuration does not fit: hooks, sound, cable, codec, chance.
    pub fn new(rom: Rom, config: SwarmConfig) -> Result<Self, SwarmError> {
        config.check()?;
        config.chance.map_or(Ok(()), |chance| chance.check(&rom))?;
        capacity::check(
            Device::Cpu,
            capacity::free_on_host(),
            env_bytes(&rom, &config),
            config.num_envs,
        )?;
        let threads = config
            .threads
            .or_else(|| std::thread::available_parallelism().ok())
            .map_or(1, NonZeroUsize::get);
        let starts = EnvSnapshot::power_on(&rom, config.power_on);
        let programs = &config.programs;
        let hooks = &HookTable::new(programs.hooks(), &rom)?;
        if config.sound && programs.needs_single_frames() {
            return Err(SwarmError::SoundBesideHooks);
        }
        let (start, sound, link) = (&starts[0], config.sound, config.link);
        let runs_frames = config.recompile != Recompile::Off
            && !sound
            && hooks.places.is_empty()
            && link == LinkMode::Open;
        let recompile = runs_frames.then_some(config.recompile);
        let plan = ShardPlan { rom: &rom, config: &config, start, hooks, recompile };
        let mut envs_per_shard =
            config.num_envs.div_ceil(threads.saturating_mul(SHARDS_PER_THREAD));
        if link == LinkMode::Pairs {
            envs_per_shard = envs_per_shard.next_multiple_of(2);
        }
        let mut shards = Vec::new();
        for first in (0..config.num_envs).step_by(envs_per_shard) {
            let envs = first..config.num_envs.min(first + envs_per_shard);
            shards.push(Some(Shard::new(shards.len(), envs, &plan)?));
        }
        Ok(Self {
            workers: WorkerPool::new(threads, shards.len())?,
            rom,
            shards,
            envs_per_shard,
            episodes: Episodes::new(config.num_envs, starts.len()),
            starts,
            seed: 0,
            frame_time: FrameTime::default(),
            rewards: vec![0.0; config.num_envs],
            dones: vec![false; config.num_envs],
            observations: vec![0.0; config.num_envs * config.programs.obs_dim()],
            config,
        })
    }

    /// Returns the number of blocks of code made for the ROM; `None` if machines run without them:
    /// the configuration leaves them out ([`SwarmConfig::recompile`]), or the last trial is not
    /// won.
    #[must_use]
    pub fn blocks(&self) -> Option<usize> {
        self.shards.iter().flatten().find_map(Shard::runner)?.blocks()
    }

    /// Threads that step and show the machines.
    pub(crate) fn threads(&self) -> usize {
        self.workers.threads()
    }

    /// Resets the marked envs to the starts of their next episodes: chance is drawn, the
    /// programs' `begin` runs, and their observations are those before the first step. All other
    /// envs stay as they are, and so do the rewards and `dones` of all envs.
    ///
    /// # Errors
    /// The mask does not have one entry for each env, or marks one machine of a pair alone, or a
    /// program stopped.
    pub fn reset_masked(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        self.config.check_length("mask entry", mask.len())?;
        self.config.check_pairs(mask)?;
        for env in marked(mask) {
            let drawn = self.episodes.by_env[env].draw();
            let start = &self.starts[self.episodes.start(env, self.config.link)];
            let (shard, slot) = (env / self.envs_per_shard, env % self.envs_per_shard);
            let shard = shard_mut(&mut self.shards, shard);
            shard.restore(slot, start);
            if let Some(chance) = self.config.chance {
                shard.write_memory(slot, chance.low, &chance.bytes(drawn));
            }
        }
        self.begin(mask)
    }

    /// Changes the weights that the programs read from the next step on.
    ///
    /// # Errors
    /// The programs take another number of weights.
    pub fn set_weights(&mut self, weights: &[f32]) -> Result<(), SwarmError> {
        self.config.programs.check_weights(weights)?;
        self.config.weights = weights.to_vec();
        self.shards.iter_mut().flatten().for_each(|shard| shard.set_weights(weights));
        Ok(())
    }

    /// Begins episodes of the marked envs where their machines are, as after the loss of a life:
    /// the programs' scratch is zero and `begin` runs, and pictures begin with the last frame.
    ///
    /// # Errors
    /// The mask does not have one entry for each env, or a program stopped.
    pub fn begin_again(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        self.config.check_length("mask entry", mask.len())?;
        for env in marked(mask) {
            let slot = env % self.envs_per_shard;
            shard_mut(&mut self.shards, env / self.envs_per_shard).forget(slot);
        }
        self.begin(mask)
    }

    /// Runs the programs' `begin` and first `observe` for the marked envs; their scratch must be
    /// zero.
    fn begin(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        marked(mask).for_each(|env| self.begin_env(env, true));
        self.take_fault()
    }

    /// Runs the programs' `begin` if the env begins an episode, and `observe` in any case.
    fn begin_env(&mut self, env: usize, begins: bool) {
        self.episodes.awaits_begin[env] = false;
        let row = self.row(env);
        let (shard, slot) = (env / self.envs_per_shard, env % self.envs_per_shard);
        let shard = shard_mut(&mut self.shards, shard);
        if begins {
            shard.begin(slot, self.seed);
        }
        shard.observe_first(slot, self.seed);
        if self.config.stage.owns_observation() {
            self.observations[row].copy_from_slice(shard.observation(slot));
        }
    }

    /// Returns the place of an env's observation among all.
    fn row(&self, env: usize) -> Range<usize> {
        let obs_dim = self.config.programs.obs_dim();
        env * obs_dim..(env + 1) * obs_dim
    }

    /// Replaces the observation of an env.
    fn put_observation(&mut self, env: usize, observation: &[f32]) {
        let slot = env % self.envs_per_shard;
        let shard = shard_mut(&mut self.shards, env / self.envs_per_shard);
        shard.put_observation(slot, observation);
        let row = self.row(env);
        self.observations[row].copy_from_slice(observation);
    }

    /// Returns the first env's fault as an error, and forgets those of all other envs: a fault that
    /// stayed would be the error of a later call.
    fn take_fault(&mut self) -> Result<(), SwarmError> {
        let faults = self.shards.iter_mut().flatten().map(|shard| shard.fault.take());
        match faults.fold(None, Option::or) {
            Some((env, error)) => Err(SwarmError::ProgramStopped { env, error: Box::new(error) }),
            None => Ok(()),
        }
    }

    /// Holds these buttons down in an env instead of its actions' buttons, through whole steps and
    /// resets; `None` returns to the actions' buttons.
    ///
    /// # Errors
    /// There is no such env.
    pub fn hold_buttons(&mut self, env: usize, buttons: Option<u8>) -> Result<(), SwarmError> {
        self.locate(env)?;
        let slot = env % self.envs_per_shard;
        shard_mut(&mut self.shards, env / self.envs_per_shard).manual_buttons[slot] = buttons;
        Ok(())
    }

    /// Has envs that step repeat their last action where chance says so.
    fn stick_actions(&mut self, begins: bool) {
        let SwarmConfig { codec, schedule, sticky, .. } = &self.config;
        let draw = (begins, sticky::threshold(*sticky));
        let mut episodes = self.episodes.by_env.iter();
        for shard in self.shards.iter_mut().flatten() {
            for (slot, &episode) in (0..shard.len()).zip(&mut episodes) {
                if shard.rests[slot] {
                    continue;
                }
                let action = shard.stick(slot, shard.actions[slot], episode, draw);
                shard.actions[slot] = action;
                (shard.buttons[slot], shard.frames_held[slot]) = codec.pressed(action, *schedule);
            }
        }
    }

    fn collect_outputs(&mut self, stage: Stage) {
        let shards = self.shards.iter().flatten();
        if stage.owns_reward() {
            for (shard, out) in shards.clone().zip(self.rewards.chunks_mut(self.envs_per_shard)) {
                out.copy_from_slice(&shard.rewards);
            }
            let dones = shards.clone().flat_map(|shard| &shard.dones);
            self.dones.iter_mut().zip(dones).for_each(|(out, done)| *out = *done != 0);
        }
        if stage.owns_observation() {
            let chunk = self.envs_per_shard * self.config.programs.obs_dim();
            for (shard, out) in shards.zip(self.observations.chunks_mut(chunk)) {
                out.copy_from_slice(&shard.observations);
            }
        }
    }

    /// Changes memory from `low` on, which is an address, or an address in a bank
    /// ([`crate::in_bank`]): directly, without the machine's own writes, for debugging.
    ///
    /// # Errors
    /// There is no such env or bank, or the bytes leave the address space or their bank.
    pub fn write_memory(&mut self, env: usize, low: u32, bytes: &[u8]) -> Result<(), SwarmError> {
        self.locate(env)?;
        banked_address::check_write(low, bytes.len(), &self.rom)?;
        let slot = env % self.envs_per_shard;
        shard_mut(&mut self.shards, env / self.envs_per_shard).write_memory(slot, low, bytes);
        Ok(())
    }

    /// Changes memory of the marked envs from `low` on, as [`Self::write_memory`] does: `rows`
    /// holds one row of bytes for each of them, all of one length, one after the other.
    ///
    /// # Errors
    /// The mask does not have one entry for each env, the rows have no common length, there is no
    /// such bank, or the bytes leave the address space or their bank.
    pub fn write_memories(
        &mut self,
        mask: &[bool],
        low: u32,
        rows: &[u8],
    ) -> Result<(), SwarmError> {
        let envs = memory_rows(&self.config, mask, rows)?;
        let width = rows.len() / envs.len().max(1);
        banked_address::check_write(low, width, &self.rom)?;
        for (at, env) in envs.into_iter().enumerate() {
            self.write_memory(env, low, &rows[at * width..][..width])?;
        }
        Ok(())
    }

    /// Copies an env's state.
    ///
    /// # Errors
    /// There is no such env.
    pub fn snapshot(&self, env: usize) -> Result<EnvSnapshot, SwarmError> {
        let (shard, slot) = self.locate(env)?;
        let mut snapshot = shard.snapshot(slot);
        if self.episodes.awaits_begin[env] {
            snapshot.scratch = None;
        } else if self.config.stage.owns_observation() {
            snapshot.observation = Some(self.observations[self.row(env)].to_vec());
        }
        Ok(snapshot)
    }

    /// Loads a copied state into an env, with the programs' scratch and observation. If it has no
    /// scratch, the programs begin; if it has a scratch and no observation, they observe anew, and
    /// the scratch stays as it was copied.
    ///
    /// # Errors
    /// There is no such env, the snapshot belongs to another cartridge, model or other programs, or
    /// a program stopped.
    pub fn restore(&mut self, env: usize, snapshot: &EnvSnapshot) -> Result<(), SwarmError> {
        snapshot.check(&self.rom, &self.config)?;
        self.load_env(env, snapshot)?;
        if let Some(observation) = snapshot.observation_in(&self.config) {
            self.put_observation(env, observation);
            return Ok(());
        }
        self.begin_env(env, snapshot.scratch.is_none());
        self.take_fault()?;
        if snapshot.scratch.is_some() { self.load_env(env, snapshot) } else { Ok(()) }
    }

    /// Loads a checked state into an env. Runs no program.
    pub(crate) fn load_env(
        &mut self,
        env: usize,
        snapshot: &EnvSnapshot,
    ) -> Result<(), SwarmError> {
        self.locate(env)?;
        let slot = env % self.envs_per_shard;
        shard_mut(&mut self.shards, env / self.envs_per_shard).restore(slot, snapshot);
        self.episodes.awaits_begin[env] = snapshot.scratch.is_none();
        Ok(())
    }

    pub(crate) fn starts(&self) -> &[EnvSnapshot] {
        &self.starts
    }

    pub(crate) fn manual_buttons(&self) -> Vec<Option<u8>> {
        self.shards
            .iter()
            .flatten()
            .flat_map(|shard| shard.manual_buttons.iter().copied())
            .collect()
    }

    /// Restores the starts, the seed and the outputs of a swarm of this size.
    pub(crate) fn restore_outputs(
        &mut self,
        starts: Vec<EnvSnapshot>,
        computed: &StepOutputs,
        seed: u64,
    ) -> Result<(), SwarmError> {
        self.put_starts(starts)?;
        self.seed = seed;
        self.rewards.copy_from_slice(&computed.rewards);
        self.dones.copy_from_slice(&computed.dones);
        self.observations.copy_from_slice(&computed.observations);
        let row = self.config.programs.obs_dim();
        let mut first = 0;
        for shard in self.shards.iter_mut().flatten() {
            let envs = first..first + shard.len();
            shard.rewards.copy_from_slice(&self.rewards[envs.clone()]);
            for (own, done) in shard.dones.iter_mut().zip(&self.dones[envs.clone()]) {
                *own = u8::from(*done);
            }
            let numbers = &self.observations[row * envs.start..row * envs.end];
            shard.observations.copy_from_slice(numbers);
            first = envs.end;
        }
        Ok(())
    }

    /// Copies one env's state to all marked envs.
    ///
    /// # Errors
    /// There is no such env, or the mask does not have one entry for each env.
    pub fn copy_state(&mut self, source: usize, mask: &[bool]) -> Result<(), SwarmError> {
        self.config.check_length("mask entry", mask.len())?;
        let snapshot = self.snapshot(source)?;
        let observation = self.observations[self.row(source)].to_vec();
        marked(mask).try_for_each(|env| {
            self.load_env(env, &snapshot)?;
            self.put_observation(env, &observation);
            Ok(())
        })
    }

    /// An env's machine and cartridge RAM; the env must exist.
    pub(crate) fn machine_and_cart_ram(&self, env: usize) -> (&AnyMachine, &[u8]) {
        let slot = env % self.envs_per_shard;
        let shard = self.shards[env / self.envs_per_shard].as_ref();
        let shard = shard.unwrap_or_else(|| unreachable!("shards are home between steps"));
        (shard.machine(slot), shard.cart_ram(slot))
    }

    /// The stack of an env's pictures; the env must exist.
    pub(crate) fn pictures(&self, env: usize) -> &[u8] {
        let shard = self.shards[env / self.envs_per_shard].as_ref();
        let shard = shard.unwrap_or_else(|| unreachable!("shards are home between steps"));
        shard.pictures(env % self.envs_per_shard)
    }

    fn locate(&self, env: usize) -> Result<(&Shard, usize), SwarmError> {
        let shard = self.shards.get(env / self.envs_per_shard).and_then(Option::as_ref);
        match shard {
            Some(shard) if env % self.envs_per_shard < shard.len() => {
                Ok((shard, env % self.envs_per_shard))
            }
            _ => Err(SwarmError::NoSuchEnv { env, last: self.config.num_envs - 1 }),
        }
    }
}

impl SwarmParts for NativeSwarm {
    fn clear_outputs(&mut self) -> Result<(), SwarmError> {
        self.shards.iter_mut().flatten().for_each(Shard::clear_outputs);
        self.rewards.fill(0.0);
        self.dones.fill(false);
        self.observations.fill(0.0);
        Ok(())
    }

    fn put_starts(&mut self, starts: Vec<EnvSnapshot>) -> Result<(), SwarmError> {
        self.episodes.set_start_weights_unchecked(vec![1; starts.len()]);
        self.starts = starts;
        Ok(())
    }

    fn load_first_start(&mut self) -> Result<(), SwarmError> {
        for shard in self.shards.iter_mut().flatten() {
            (0..shard.len()).for_each(|slot| shard.restore(slot, &self.starts[0]));
        }
        Ok(())
    }

    fn run(
        &mut self,
        actions: &[u8],
        mask: Option<&[bool]>,
        plan: StepPlan,
    ) -> Result<(), SwarmError> {
        if let Some(pending) = self.episodes.take_awaiting_begin() {
            self.begin(&pending)?;
        }
        let mut steps = mask.map(|mask| mask.iter().copied());
        for rests in self.shards.iter_mut().flatten().flat_map(|shard| &mut shard.rests) {
            *rests = steps.as_mut().is_some_and(|steps| steps.next() == Some(false));
        }
        let SwarmConfig { codec, schedule, .. } = &self.config;
        for (shard, actions) in
            self.shards.iter_mut().flatten().zip(actions.chunks(self.envs_per_shard))
        {
            shard.actions.copy_from_slice(actions);
            let pressed = shard.buttons.iter_mut().zip(&mut shard.frames_held);
            for ((buttons, frames_held), action) in pressed.zip(actions) {
                (*buttons, *frames_held) = codec.pressed(*action, *schedule);
            }
        }
        if self.config.sticky > 0.0 && !plan.is_idle {
            self.stick_actions(plan.first_frame == 0);
        }
        self.workers.step(&mut self.shards, plan)?;
        self.collect_outputs(self.config.stage);
        self.take_fault()
    }
}

/// The envs that a mask marks.
fn marked(mask: &[bool]) -> impl Iterator<Item = usize> + '_ {
    mask.iter().enumerate().filter_map(|(env, marked)| marked.then_some(env))
}

/// Bytes of memory for an env: its machine, what its shard keeps beside it, its outputs, twice.
fn env_bytes(rom: &Rom, config: &SwarmConfig) -> u64 {
    let programs = &config.programs;
    let state = AnyMachine::bytes(rom.model()) + size_of::<Counters>() + rom.cart_ram_bytes();
    let buttons = 2 + size_of::<u32>() + size_of::<Option<u8>>();
    let outputs = size_of::<f32>() * (1 + programs.obs_dim()) + 1;
    let samples =
        config.schedule.frames_per_step() as usize * SAMPLES_PER_FRAME * size_of::<[i16; 2]>();
    let sound = if config.sound { MachineSound::bytes(rom.model()) + samples } else { 0 };
    let pictures = config.pictures.map_or(0, |it| it.bytes() + it.picture.bytes());
    let cells = size_of::<f32>() * config.cells();
    (state + cells + buttons + 2 * outputs + sound + pictures) as u64
}

fn shard_mut(shards: &mut [Option<Shard>], index: usize) -> &mut Shard {
    shards[index].as_mut().unwrap_or_else(|| unreachable!("shards are home between steps"))
}
