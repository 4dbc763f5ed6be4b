//! The swarm on the CPU: `warp_vec_cpu`.

use std::num::NonZeroUsize;
use std::ops::Range;

use gbxcule_gameboy::Machine;
use gbxcule_runtime::Device;

use crate::action;
use crate::crew::Crew;
use crate::shard::{Shard, ShardPlan};
use crate::{
    Codec, Counters, CpuState, EnvSnapshot, Piece, Programs, Rom, Schedule, Stage, SwarmError, room,
};

/// Shards per thread: enough that a slow one does not leave the other threads idle at the end of a step.
const SHARDS_PER_THREAD: usize = 16;

/// What a swarm is made of.
#[derive(Debug, Clone)]
pub struct SwarmConfig {
    /// Machines.
    pub num_envs: usize,
    /// What an action means.
    pub codec: Codec,
    /// How long a step lasts.
    pub schedule: Schedule,
    /// What a step computes.
    pub stage: Stage,
    /// The reward and the observation.
    pub programs: Programs,
    /// Draw the last frame of every step, also if no program looks at it.
    pub draw_last: bool,
    /// Threads to use; all cores when absent.
    pub threads: Option<NonZeroUsize>,
}

impl SwarmConfig {
    /// `num_envs` machines, everything else by default.
    #[must_use]
    pub fn new(num_envs: usize) -> Self {
        Self {
            num_envs,
            codec: Codec::FULL_V1,
            schedule: Schedule::default(),
            stage: Stage::default(),
            programs: Programs::default(),
            draw_last: false,
            threads: None,
        }
    }
}

/// Machines stepped together on all cores. Results do not depend on the number of threads.
pub struct NativeSwarm {
    config: SwarmConfig,
    rom: Rom,
    crew: Crew,
    shards: Vec<Option<Shard>>,
    envs_per_shard: usize,
    reset_point: EnvSnapshot,
    seed: u64,
    rewards: Vec<f32>,
    dones: Vec<bool>,
    observations: Vec<f32>,
}

impl NativeSwarm {
    /// All machines switched on, none stepped.
    ///
    /// # Errors
    /// No machines asked for or more than there is memory for, no thread to be had, or a program that cannot be run here.
    pub fn new(rom: Rom, config: SwarmConfig) -> Result<Self, SwarmError> {
        if config.num_envs == 0 {
            return Err(SwarmError::NoEnvs);
        }
        room::check(Device::Cpu, room::free_on_host(), env_bytes(&rom, &config), config.num_envs)?;
        let threads = config
            .threads
            .or_else(|| std::thread::available_parallelism().ok())
            .map_or(1, NonZeroUsize::get);
        let reset_point = EnvSnapshot::power_on(&rom);
        let SwarmConfig { ref programs, stage, .. } = config;
        let plan = ShardPlan { rom: &rom, programs, stage, start: &reset_point };
        let envs_per_shard = config.num_envs.div_ceil(threads * SHARDS_PER_THREAD);
        let mut shards = Vec::new();
        for first in (0..config.num_envs).step_by(envs_per_shard) {
            let envs = first..config.num_envs.min(first + envs_per_shard);
            shards.push(Some(Shard::new(shards.len(), envs, &plan)?));
        }
        Ok(Self {
            crew: Crew::new(threads, shards.len())?,
            rom,
            shards,
            envs_per_shard,
            reset_point,
            seed: 0,
            rewards: vec![0.0; config.num_envs],
            dones: vec![false; config.num_envs],
            observations: vec![0.0; config.num_envs * config.programs.obs_dim()],
            config,
        })
    }

    /// What this swarm is made of.
    #[must_use]
    pub fn config(&self) -> &SwarmConfig {
        &self.config
    }

    /// What the machines play.
    #[must_use]
    pub fn rom(&self) -> &Rom {
        &self.rom
    }

    /// Threads that step and show the machines.
    pub(crate) fn threads(&self) -> usize {
        self.crew.threads()
    }

    /// The seed of the last reset. The machines themselves hold no chance; it is for the programs behind the step.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Every env back to the reset point, outputs to zero.
    pub fn reset(&mut self, seed: u64) {
        self.seed = seed;
        for shard in self.shards.iter_mut().flatten() {
            for slot in 0..shard.len() {
                shard.restore(slot, &self.reset_point);
            }
            shard.clear_outputs();
        }
        self.rewards.fill(0.0);
        self.dones.fill(false);
        self.observations.fill(0.0);
    }

    /// The marked envs back to the reset point; the others and all outputs stay as they are.
    ///
    /// # Errors
    /// The mask has not one entry for each env.
    pub fn reset_masked(&mut self, mask: &[bool]) -> Result<(), SwarmError> {
        self.check_length("mask entry", mask.len())?;
        for (env, _) in mask.iter().enumerate().filter(|(_, marked)| **marked) {
            let (shard, slot) = (env / self.envs_per_shard, env % self.envs_per_shard);
            shard_mut(&mut self.shards, shard).restore(slot, &self.reset_point);
        }
        Ok(())
    }

    /// Make an env's present state the one that resets go back to; what programs keep starts from zero all the same.
    ///
    /// # Errors
    /// There is no such env.
    pub fn set_reset_point(&mut self, env: usize) -> Result<(), SwarmError> {
        self.reset_point = self.snapshot(env)?.into_start();
        Ok(())
    }

    /// Press each env's action, run the schedule's frames, compute what the stage owns.
    ///
    /// # Errors
    /// Not one action for each env, or an action that the codec does not have; no machine has moved then. Or a
    /// program stopped, such as at an index outside its scratch; all machines have moved then.
    pub fn step(&mut self, actions: &[u8]) -> Result<(), SwarmError> {
        self.step_piece(actions, &Piece::whole(&self.config))
    }

    /// Run a piece of a step, which has the same actions in all of its pieces.
    ///
    /// # Errors
    /// As in [`NativeSwarm::step`], or the step has no such frames.
    pub fn step_piece(&mut self, actions: &[u8], piece: &Piece) -> Result<(), SwarmError> {
        action::check(&self.config, actions)?;
        let plan = piece.plan(&self.config, self.seed)?;
        let codec = self.config.codec;
        for (shard, actions) in
            self.shards.iter_mut().flatten().zip(actions.chunks(self.envs_per_shard))
        {
            shard.actions.copy_from_slice(actions);
            for (buttons, action) in shard.buttons.iter_mut().zip(actions) {
                *buttons = codec.actions[usize::from(*action)].1;
            }
        }
        self.crew.step(&mut self.shards, plan);
        self.collect_outputs(self.config.stage);
        match self.shards.iter_mut().flatten().find_map(|shard| shard.fault.take()) {
            Some((env, error)) => Err(SwarmError::ProgramStopped { env, error: Box::new(error) }),
            None => Ok(()),
        }
    }

    /// Put hands on an env's buttons, or take them off. They hold what they hold instead of the env's actions, through
    /// whole steps and resets.
    ///
    /// # Errors
    /// There is no such env.
    pub fn hold(&mut self, env: usize, buttons: Option<u8>) -> Result<(), SwarmError> {
        self.locate(env)?;
        let slot = env % self.envs_per_shard;
        shard_mut(&mut self.shards, env / self.envs_per_shard).hands[slot] = buttons;
        Ok(())
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

    /// One reward for each env, as of the last step whose stage owned it.
    #[must_use]
    pub fn rewards(&self) -> &[f32] {
        &self.rewards
    }

    /// Whether each env's episode is over, as of the last step whose stage owned the reward; never, if the
    /// programs do not say.
    #[must_use]
    pub fn dones(&self) -> &[bool] {
        &self.dones
    }

    /// [`Programs::obs_dim`] numbers for each env, as of the last step whose stage owned them.
    #[must_use]
    pub fn observations(&self) -> &[f32] {
        &self.observations
    }

    /// An env's registers.
    ///
    /// # Errors
    /// There is no such env.
    pub fn cpu_state(&self, env: usize) -> Result<CpuState, SwarmError> {
        Ok(CpuState::of(self.machine(env)?))
    }

    /// An env's machine, to look at.
    ///
    /// # Errors
    /// There is no such env.
    pub fn machine(&self, env: usize) -> Result<&Machine, SwarmError> {
        self.locate(env).map(|(shard, slot)| shard.machine(slot))
    }

    /// How far an env has come since its reset.
    ///
    /// # Errors
    /// There is no such env.
    pub fn counters(&self, env: usize) -> Result<Counters, SwarmError> {
        self.locate(env).map(|(shard, slot)| shard.counters(slot))
    }

    /// The last drawn frame of an env, packed as [`crate::FRAME_BYTES`] says.
    ///
    /// # Errors
    /// There is no such env.
    pub fn frame(&self, env: usize) -> Result<&[u8], SwarmError> {
        Ok(&self.machine(env)?.frame[..])
    }

    /// What a debugger would see at these addresses; reading disturbs nothing.
    ///
    /// # Errors
    /// There is no such env, or the range leaves the address space.
    pub fn read_memory(&self, env: usize, range: Range<u32>) -> Result<Vec<u8>, SwarmError> {
        let (shard, slot) = self.locate(env)?;
        if range.start > range.end || range.end > 0x1_0000 {
            return Err(SwarmError::BadRange { low: range.start, high: range.end });
        }
        // The range was checked above: every address fits 16 bits.
        Ok(range.map(|address| shard.peek(slot, address as u16)).collect())
    }

    /// Change memory behind the machine's back, for debugging.
    ///
    /// # Errors
    /// There is no such env, or the bytes leave the address space.
    pub fn write_memory(&mut self, env: usize, low: u16, bytes: &[u8]) -> Result<(), SwarmError> {
        self.locate(env)?;
        let high = u32::from(low).saturating_add(u32::try_from(bytes.len()).unwrap_or(u32::MAX));
        if high > 0x1_0000 {
            return Err(SwarmError::BadRange { low: u32::from(low), high });
        }
        let slot = env % self.envs_per_shard;
        let shard = shard_mut(&mut self.shards, env / self.envs_per_shard);
        for (address, byte) in (low..=u16::MAX).zip(bytes) {
            shard.poke(slot, address, *byte);
        }
        Ok(())
    }

    /// Set an env's state aside.
    ///
    /// # Errors
    /// There is no such env.
    pub fn snapshot(&self, env: usize) -> Result<EnvSnapshot, SwarmError> {
        self.locate(env).map(|(shard, slot)| shard.snapshot(slot))
    }

    /// Put a state that was set aside into an env.
    ///
    /// # Errors
    /// There is no such env, or the snapshot belongs to another cartridge.
    pub fn restore(&mut self, env: usize, snapshot: &EnvSnapshot) -> Result<(), SwarmError> {
        self.locate(env)?;
        snapshot.check(&self.rom, &self.config.programs)?;
        let slot = env % self.envs_per_shard;
        shard_mut(&mut self.shards, env / self.envs_per_shard).restore(slot, snapshot);
        Ok(())
    }

    /// One env's state into all marked ones.
    ///
    /// # Errors
    /// There is no such env, or the mask has not one entry for each env.
    pub fn copy_state(&mut self, source: usize, mask: &[bool]) -> Result<(), SwarmError> {
        self.check_length("mask entry", mask.len())?;
        let snapshot = self.snapshot(source)?;
        for (env, _) in mask.iter().enumerate().filter(|(_, marked)| **marked) {
            self.restore(env, &snapshot)?;
        }
        Ok(())
    }

    /// An env's machine and cartridge RAM, for whoever knows that it exists.
    pub(crate) fn parts(&self, env: usize) -> (&Machine, &[u8]) {
        let slot = env % self.envs_per_shard;
        let shard = self.shards[env / self.envs_per_shard].as_ref();
        let shard = shard.unwrap_or_else(|| unreachable!("shards are home between steps"));
        (shard.machine(slot), shard.cart_ram(slot))
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

    fn check_length(&self, what: &'static str, found: usize) -> Result<(), SwarmError> {
        let num_envs = self.config.num_envs;
        if found == num_envs {
            Ok(())
        } else {
            Err(SwarmError::WrongLength { what, num_envs, found })
        }
    }
}

/// What an env takes: its machine, what its shard keeps beside it, and its outputs there and here.
fn env_bytes(rom: &Rom, config: &SwarmConfig) -> u64 {
    let programs = &config.programs;
    let state = size_of::<Machine>() + size_of::<Counters>() + rom.cart_ram_bytes();
    let buttons = 2 + size_of::<Option<u8>>();
    let outputs = size_of::<f32>() * (1 + programs.obs_dim()) + 1;
    (state + size_of::<f32>() * programs.scratch_len() + buttons + 2 * outputs) as u64
}

fn shard_mut(shards: &mut [Option<Shard>], index: usize) -> &mut Shard {
    shards[index].as_mut().unwrap_or_else(|| unreachable!("shards are home between steps"))
}
