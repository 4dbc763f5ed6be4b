//! The engine that steps a swarm on CPU threads.

mod outputs;
mod shard;

use std::ops::Range;

use gbxcule_console::{MachineSound, Shown, SuperPicture};
use gbxcule_recompiler::Recompile;
use gbxcule_runtime::{Device, in_pool, worker_count};
use gbxcule_sound::SAMPLES_PER_FRAME;
use rayon::prelude::*;
use shard::{SHARDS_PER_THREAD, ShardPlan};
pub(crate) use shard::{Shard, joined};

use crate::checkpoint::StepOutputs;
use crate::engine::{Engine, SwarmState};
use crate::hook::HookTable;
use crate::interruptible_step::FrameTime;
use crate::step_plan::StepPlan;
use crate::worker_pool::WorkerPool;
use crate::{
    AnyMachine, Counters, CpuState, EnvSnapshot, Frame, LinkMode, Rom, ScratchArray, Stage,
    SwarmConfig, SwarmError, View, capacity, sticky,
};

/// Runs machines on CPU threads.
pub struct NativeEngine {
    state: SwarmState,
    workers: WorkerPool,
    shards: Vec<Option<Shard>>,
    envs_per_shard: usize,
    rewards: Vec<f32>,
    dones: Vec<bool>,
    observations: Vec<f32>,
}

impl NativeEngine {
    /// Makes an engine whose machines are switched on and have run no frame.
    pub(crate) fn new(rom: Rom, config: SwarmConfig) -> Result<Self, SwarmError> {
        config.check()?;
        config.chance.map_or(Ok(()), |chance| chance.check(&rom))?;
        capacity::check(
            Device::Cpu,
            capacity::free_on_host(),
            env_bytes(&rom, &config),
            config.num_envs,
        )?;
        let threads = worker_count(config.threads);
        let state = SwarmState::new(rom, config, Some(FrameTime::default()));
        let SwarmState { config, rom, starts, .. } = &state;
        let programs = &config.programs;
        let hooks = &HookTable::new(programs.hooks(), rom)?;
        if config.sound && programs.needs_single_frames() {
            return Err(SwarmError::SoundBesideHooks);
        }
        let (start, sound, link) = (&starts[0], config.sound, config.link);
        let runs_frames = config.recompile != Recompile::Off
            && rom.revision().is_usual_after_boot()
            && !sound
            && hooks.places.is_empty()
            && link == LinkMode::Open;
        let recompile = runs_frames.then_some(config.recompile);
        let plan = ShardPlan { rom, config, start, hooks, recompile };
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
            shards,
            envs_per_shard,
            rewards: vec![0.0; config.num_envs],
            dones: vec![false; config.num_envs],
            observations: vec![0.0; config.num_envs * programs.obs_dim()],
            state,
        })
    }

    /// Number of threads that step and show machines.
    pub(crate) fn threads(&self) -> usize {
        self.workers.threads()
    }

    /// Runs the programs' `begin` and first `observe` for the marked envs; their scratch must be
    /// zero.
    fn begin(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        marked(mask).for_each(|env| self.begin_unchecked(env, true));
        self.take_fault()
    }

    /// Does for one env what [`Self::begin`] does for the marked ones, but leaves a fault in the
    /// env's shard. Without `begins` only `observe` runs.
    fn begin_unchecked(&mut self, env: usize, begins: bool) {
        self.state.episodes.awaits_begin[env] = false;
        let row = self.row(env);
        let (shard, slot) = (env / self.envs_per_shard, env % self.envs_per_shard);
        let shard = shard_mut(&mut self.shards, shard);
        if begins {
            shard.begin(slot, self.state.seed);
        }
        shard.observe_first(slot, self.state.seed);
        if self.state.config.stage.owns_observation() {
            self.observations[row].copy_from_slice(shard.observation(slot));
        }
    }

    /// Returns the range of an env's observation in the array of all observations.
    fn row(&self, env: usize) -> Range<usize> {
        let obs_dim = self.state.config.programs.obs_dim();
        env * obs_dim..(env + 1) * obs_dim
    }

    /// Returns the fault of the first env that has one as an error, and drops all other faults,
    /// which a later call would return.
    fn take_fault(&mut self) -> Result<(), SwarmError> {
        let faults = self.shards.iter_mut().flatten().map(|shard| shard.fault.take());
        match faults.fold(None, Option::or) {
            Some((env, error)) => Err(SwarmError::ProgramStopped { env, error: Box::new(error) }),
            None => Ok(()),
        }
    }

    /// Repeats the last action of each stepping env for which chance (`sticky`) decides so.
    fn stick_actions(&mut self, begins: bool) {
        let SwarmConfig { codec, schedule, sticky, .. } = &self.state.config;
        let draw = (begins, sticky::threshold(*sticky));
        let mut episodes = self.state.episodes.by_env.iter();
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
            let chunk = self.envs_per_shard * self.state.config.programs.obs_dim();
            for (shard, out) in shards.zip(self.observations.chunks_mut(chunk)) {
                out.copy_from_slice(&shard.observations);
            }
        }
    }

    /// An env's machine and cartridge RAM; the env must exist.
    pub(crate) fn machine_and_cart_ram(&self, env: usize) -> (&AnyMachine, &[u8]) {
        let slot = env % self.envs_per_shard;
        let shard = self.shards[env / self.envs_per_shard].as_ref();
        let shard = shard.unwrap_or_else(|| unreachable!("shards are home between steps"));
        (shard.machine(slot), shard.cart_ram(slot))
    }

    /// The stack of an env's pictures in two parts, the older one first; the env must exist.
    pub(crate) fn pictures(&self, env: usize) -> [&[u8]; 2] {
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
            _ => Err(SwarmError::NoSuchEnv { env, last: self.state.config.num_envs - 1 }),
        }
    }
}

impl Engine for NativeEngine {
    fn state(&self) -> &SwarmState {
        &self.state
    }

    fn state_mut(&mut self) -> &mut SwarmState {
        &mut self.state
    }

    fn as_native(&self) -> Option<&NativeEngine> {
        Some(self)
    }

    fn blocks(&self) -> Option<usize> {
        self.shards.iter().flatten().find_map(Shard::runner)?.blocks()
    }

    fn sync(&mut self) -> Result<(), SwarmError> {
        Ok(())
    }

    fn clear_outputs(&mut self) -> Result<(), SwarmError> {
        self.shards.iter_mut().flatten().for_each(Shard::clear_outputs);
        self.rewards.fill(0.0);
        self.dones.fill(false);
        self.observations.fill(0.0);
        Ok(())
    }

    fn put_starts(&mut self, starts: Vec<EnvSnapshot>) -> Result<(), SwarmError> {
        self.state.episodes.set_start_weights_unchecked(vec![1; starts.len()]);
        self.state.starts = starts;
        Ok(())
    }

    fn load_first_start(&mut self) -> Result<(), SwarmError> {
        for shard in self.shards.iter_mut().flatten() {
            (0..shard.len()).for_each(|slot| shard.restore(slot, &self.state.starts[0]));
        }
        Ok(())
    }

    fn run(
        &mut self,
        actions: &[u8],
        mask: Option<&[bool]>,
        plan: StepPlan,
    ) -> Result<(), SwarmError> {
        if let Some(pending) = self.state.episodes.take_awaiting_begin() {
            self.begin(&pending)?;
        }
        let mut steps = mask.map(|mask| mask.iter().copied());
        for rests in self.shards.iter_mut().flatten().flat_map(|shard| &mut shard.rests) {
            *rests = steps.as_mut().is_some_and(|steps| steps.next() == Some(false));
        }
        let SwarmConfig { codec, schedule, .. } = &self.state.config;
        for (shard, actions) in
            self.shards.iter_mut().flatten().zip(actions.chunks(self.envs_per_shard))
        {
            shard.actions.copy_from_slice(actions);
            let pressed = shard.buttons.iter_mut().zip(&mut shard.frames_held);
            for ((buttons, frames_held), action) in pressed.zip(actions) {
                (*buttons, *frames_held) = codec.pressed(*action, *schedule);
            }
        }
        if self.state.config.sticky > 0.0 && !plan.is_idle {
            self.stick_actions(plan.first_frame == 0);
        }
        self.workers.step(&mut self.shards, plan)?;
        self.collect_outputs(self.state.config.stage);
        self.take_fault()
    }

    fn reset_masked(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        for env in marked(mask) {
            let drawn = self.state.episodes.by_env[env].draw();
            let start = &self.state.starts[self.state.episodes.start(env, self.state.config.link)];
            let (shard, slot) = (env / self.envs_per_shard, env % self.envs_per_shard);
            let shard = shard_mut(&mut self.shards, shard);
            shard.restore(slot, start);
            if let Some(chance) = self.state.config.chance {
                shard.write_memory(slot, chance.low, &chance.bytes(drawn));
            }
        }
        self.begin(mask)
    }

    fn begin_again(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        for env in marked(mask) {
            let slot = env % self.envs_per_shard;
            shard_mut(&mut self.shards, env / self.envs_per_shard).forget(slot);
        }
        self.begin(mask)
    }

    fn begin_env(&mut self, env: usize, begins: bool) -> Result<(), SwarmError> {
        self.begin_unchecked(env, begins);
        self.take_fault()
    }

    fn take_weights(&mut self) -> Result<(), SwarmError> {
        let weights = &self.state.config.weights;
        self.shards.iter_mut().flatten().for_each(|shard| shard.set_weights(weights));
        Ok(())
    }

    fn hold_buttons(&mut self, env: usize, buttons: Option<u8>) -> Result<(), SwarmError> {
        let slot = env % self.envs_per_shard;
        shard_mut(&mut self.shards, env / self.envs_per_shard).manual_buttons[slot] = buttons;
        Ok(())
    }

    fn manual_buttons(&self) -> Vec<Option<u8>> {
        self.shards
            .iter()
            .flatten()
            .flat_map(|shard| shard.manual_buttons.iter().copied())
            .collect()
    }

    fn snapshot(&self, env: usize) -> Result<EnvSnapshot, SwarmError> {
        let (shard, slot) = self.locate(env)?;
        let mut snapshot = shard.snapshot(slot);
        if self.state.episodes.awaits_begin[env] {
            snapshot.scratch = None;
        } else if self.state.config.stage.owns_observation() {
            snapshot.observation = Some(self.observations[self.row(env)].to_vec());
        }
        Ok(snapshot)
    }

    fn load_env(&mut self, env: usize, snapshot: &EnvSnapshot) -> Result<(), SwarmError> {
        let slot = env % self.envs_per_shard;
        shard_mut(&mut self.shards, env / self.envs_per_shard).restore(slot, snapshot);
        self.state.episodes.awaits_begin[env] = snapshot.scratch.is_none();
        Ok(())
    }

    fn put_observation(&mut self, env: usize, observation: &[f32]) -> Result<(), SwarmError> {
        let slot = env % self.envs_per_shard;
        let shard = shard_mut(&mut self.shards, env / self.envs_per_shard);
        shard.put_observation(slot, observation);
        let row = self.row(env);
        self.observations[row].copy_from_slice(observation);
        Ok(())
    }

    fn restore_outputs(&mut self, computed: &StepOutputs) -> Result<(), SwarmError> {
        self.rewards.copy_from_slice(&computed.rewards);
        self.dones.copy_from_slice(&computed.dones);
        self.observations.copy_from_slice(&computed.observations);
        let row = self.state.config.programs.obs_dim();
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

    fn copy_state(&mut self, source: usize, mask: &[bool]) -> Result<(), SwarmError> {
        let snapshot = self.snapshot(source)?;
        let observation = self.observations[self.row(source)].to_vec();
        marked(mask).try_for_each(|env| {
            self.load_env(env, &snapshot)?;
            self.put_observation(env, &observation)
        })
    }

    fn rewards_of(&self, envs: Range<usize>) -> Result<Vec<f32>, SwarmError> {
        Ok(self.rewards[envs].to_vec())
    }

    fn dones_of(&self, envs: Range<usize>) -> Result<Vec<bool>, SwarmError> {
        Ok(self.dones[envs].to_vec())
    }

    fn observations_of(&self, envs: Range<usize>) -> Result<Vec<f32>, SwarmError> {
        Ok(self.observations[self.row(envs.start).start..self.row(envs.end).start].to_vec())
    }

    fn cells(&self, array: ScratchArray, cells: Range<usize>) -> Result<Vec<f64>, SwarmError> {
        let shards = self.shards.iter().flatten();
        let slots = shards.flat_map(|shard| (0..shard.len()).map(move |slot| (shard, slot)));
        Ok(slots.flat_map(|(shard, slot)| shard.cells(slot, array, cells.clone())).collect())
    }

    fn registers(&self, envs: Range<usize>) -> Result<Vec<CpuState>, SwarmError> {
        envs.map(|env| Ok(CpuState::of(self.machine(env)?))).collect()
    }

    fn counters(&self, envs: Range<usize>) -> Result<Vec<Counters>, SwarmError> {
        envs.map(|env| self.locate(env).map(|(shard, slot)| shard.counters(slot))).collect()
    }

    fn see_frames(&self, envs: &[usize], see: &mut dyn FnMut(Frame<'_>)) -> Result<(), SwarmError> {
        let mut picture = SuperPicture::default();
        envs.iter().try_for_each(|&env| {
            self.locate(env)?;
            let (machine, cart_ram) = self.machine_and_cart_ram(env);
            see(picture.of(machine, &self.state.rom, cart_ram));
            Ok(())
        })
    }

    fn samples(&self, env: usize) -> Result<&[[i16; 2]], SwarmError> {
        self.locate(env).map(|(shard, slot)| shard.samples(slot))
    }

    fn read_memory(&self, env: usize, range: Range<u32>) -> Result<Vec<u8>, SwarmError> {
        let (shard, slot) = self.locate(env)?;
        Ok(range.map(|place| shard.peek(slot, place)).collect())
    }

    fn write_rows(&mut self, envs: &[usize], low: u32, rows: &[u8]) -> Result<(), SwarmError> {
        let width = rows.len() / envs.len().max(1);
        for (number, env) in envs.iter().enumerate() {
            let slot = env % self.envs_per_shard;
            let row = &rows[number * width..][..width];
            shard_mut(&mut self.shards, env / self.envs_per_shard).write_memory(slot, low, row);
        }
        Ok(())
    }

    fn fill_rows(&self, view: &View, mut rows: Vec<(usize, &mut [u8])>) -> Result<(), SwarmError> {
        let rows_per_thread = rows.len().div_ceil(self.threads()).max(1);
        let fill = |(env, row): &mut (usize, &mut [u8])| {
            if let View::Stack(_) = view {
                let [older, newer] = self.pictures(*env);
                let (first, last) = row.split_at_mut(older.len());
                first.copy_from_slice(older);
                return last.copy_from_slice(newer);
            }
            let (machine, cart_ram) = self.machine_and_cart_ram(*env);
            view.show_machine(machine, &self.state.rom, cart_ram, row);
        };
        if self.threads() == 1 {
            rows.iter_mut().for_each(fill);
        } else {
            in_pool(|| rows.par_chunks_mut(rows_per_thread).flatten_iter().for_each(fill));
        }
        Ok(())
    }
}

/// The envs that a mask marks.
fn marked(mask: &[bool]) -> impl Iterator<Item = usize> + '_ {
    mask.iter().enumerate().filter_map(|(env, marked)| marked.then_some(env))
}

/// Bytes of memory for an env: its machine, its part of the shard, and two copies of its outputs.
fn env_bytes(rom: &Rom, config: &SwarmConfig) -> u64 {
    let programs = &config.programs;
    let state = AnyMachine::bytes(rom.model()) + size_of::<Counters>() + rom.cart_ram_bytes();
    let buttons = 2 + size_of::<u32>() + size_of::<Option<u8>>();
    let outputs = size_of::<f32>() * (1 + programs.obs_dim()) + 1;
    let samples =
        config.schedule.frames_per_step() as usize * SAMPLES_PER_FRAME * size_of::<[i16; 2]>();
    let sound = if config.sound { MachineSound::bytes(rom.model()) + samples } else { 0 };
    let pictures =
        config.pictures.map_or(0, |it| it.bytes() + it.picture.bytes() + Shown::bytes(&it));
    let cells = size_of::<f32>() * config.cells();
    (state + cells + buttons + 2 * outputs + sound + pictures) as u64
}

fn shard_mut(shards: &mut [Option<Shard>], index: usize) -> &mut Shard {
    shards[index].as_mut().unwrap_or_else(|| unreachable!("shards are home between steps"))
}
