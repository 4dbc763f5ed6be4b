//! A shard: neighbouring envs that one thread steps at a time.

mod link;
mod pictures;
mod single_frames;

pub(crate) use link::joined;
use std::ops::Range;

use gbxcule_console::{AnyRunner, MachineSound};
use gbxcule_gameboy::view::StepNumbers;
use gbxcule_recompiler::Recompile;
use pictures::Pictures;
use single_frames::SingleFrames;

use crate::hook::HookTable;
use crate::program::{NativePrograms, Outputs, ProgramInputs, ScratchSize, TextRole, widened};
use crate::step_plan::StepPlan;
use crate::{
    AnyMachine, Counters, EnvSnapshot, Episode, LinkMode, Rom, ScratchArray, SwarmConfig,
    SwarmError, sticky,
};

/// Shards per thread: enough that a slow one does not leave the other threads idle at the end of a
/// step.
pub(crate) const SHARDS_PER_THREAD: usize = 16;

/// The parameters that all shards of a swarm share.
pub(crate) struct ShardPlan<'p> {
    pub(crate) rom: &'p Rom,
    pub(crate) config: &'p SwarmConfig,
    pub(crate) start: &'p EnvSnapshot,
    pub(crate) hooks: &'p HookTable,
    /// Use of code made for the ROM; `None` if frames are interpreted.
    pub(crate) recompile: Option<Recompile>,
}

/// Envs that a thread owns while it steps them, so that it needs no lock.
pub(crate) struct Shard {
    pub(crate) index: usize,
    first_env: usize,
    rom: Rom,
    programs: Option<NativePrograms>,
    machines: Vec<AnyMachine>,
    cart_ram: Vec<u8>,
    counters: Vec<Counters>,
    pub(crate) actions: Vec<u8>,
    /// The buttons of each env's action.
    pub(crate) buttons: Vec<u8>,
    /// Frames of the step for which these buttons are held.
    pub(crate) frames_held: Vec<u32>,
    /// Buttons that an env holds instead of its action's buttons.
    pub(crate) manual_buttons: Vec<Option<u8>>,
    /// True for envs that this step leaves out.
    pub(crate) rests: Vec<bool>,
    /// The scratch cells of each env: the bits of its programs' integers, then the bits of their
    /// bytes, then the floats.
    scratch: Vec<f32>,
    scratch_len: usize,
    scratch_size: ScratchSize,
    /// The cells of the weights, and the weights.
    weights: (Range<usize>, Vec<f32>),
    pub(crate) rewards: Vec<f32>,
    pub(crate) dones: Vec<u8>,
    pub(crate) observations: Vec<f32>,
    obs_dim: usize,
    /// Hooks and progress, if steps run one frame at a time.
    single_frames: Option<SingleFrames>,
    /// The pictures that are kept of each env, if the configuration asks for them.
    pictures: Option<Pictures>,
    /// The sound of each machine, if it is asked for.
    sounds: Vec<MachineSound>,
    /// Runs frames by code made for the ROM.
    runner: Option<AnyRunner>,
    link: LinkMode,
    /// The first env whose program stopped since the swarm last took the fault, and why.
    pub(crate) fault: Option<(usize, SwarmError)>,
}

impl Shard {
    pub(crate) fn new(
        index: usize,
        envs: std::ops::Range<usize>,
        plan: &ShardPlan<'_>,
    ) -> Result<Self, SwarmError> {
        let ShardPlan { rom, config, start, hooks, recompile } = *plan;
        let SwarmConfig { ref programs, stage, sound, link, .. } = *config;
        let (scratch_len, obs_dim, count) = (config.cells(), programs.obs_dim(), envs.len());
        let mut shard = Self {
            index,
            first_env: envs.start,
            rom: rom.clone(),
            programs: NativePrograms::new(programs, stage, rom.into())?,
            machines: vec![start.machine.clone(); count],
            cart_ram: vec![0; count * rom.cart_ram_bytes()],
            counters: vec![Counters::default(); count],
            actions: vec![0; count],
            buttons: vec![0; count],
            frames_held: vec![0; count],
            manual_buttons: vec![None; count],
            rests: vec![false; count],
            scratch: vec![0.0; count * scratch_len],
            scratch_len,
            scratch_size: programs.scratch_size(),
            weights: (config.weight_cells(), config.weights.clone()),
            rewards: vec![0.0; count],
            dones: vec![0; count],
            observations: vec![0.0; count * obs_dim],
            obs_dim,
            single_frames: programs
                .needs_single_frames()
                .then(|| SingleFrames::new(programs, hooks, count)),
            pictures: config.pictures.map(|form| Pictures::new(form, count)),
            sounds: match sound {
                true => vec![MachineSound::new(&start.machine); count],
                false => Vec::new(),
            },
            runner: recompile.map(|recompile| AnyRunner::new(rom, recompile)),
            link,
            fault: None,
        };
        for slot in 0..count {
            shard.restore(slot, start);
        }
        Ok(shard)
    }

    pub(crate) fn step(&mut self, plan: StepPlan) {
        for slot in 0..self.machines.len() {
            let rests = self.rests[slot];
            let computes = plan.computes && !rests;
            // An env that rests runs a step of 0 frames.
            let plan = StepPlan { frames: if rests { 0 } else { plan.frames }, ..plan };
            if self.pools_pictures() {
                self.run_with_last_two(slot, plan);
            } else {
                self.run(slot, plan);
            }
            if computes {
                self.run_programs(slot, plan);
                self.push_picture(slot);
            } else if plan.computes {
                (self.rewards[slot], self.dones[slot]) = (0.0, 0);
            }
        }
    }

    /// Runs the frames of a plan.
    fn run(&mut self, slot: usize, plan: StepPlan) {
        if self.link == LinkMode::Pairs {
            // The programs of a pair run after the frames of both machines.
            if slot.is_multiple_of(2) {
                self.run_pair(slot, plan);
            }
        } else if self.single_frames.is_some() {
            self.run_single_frames(slot, plan);
        } else {
            self.run_frames(slot, plan);
        }
    }

    /// Returns the action of an env in a step: the given action or, with sticky actions, its last
    /// action. `begins` is true if the step begins now.
    pub(crate) fn stick(
        &mut self,
        slot: usize,
        action: u8,
        episode: Episode,
        (begins, threshold): (bool, u64),
    ) -> u8 {
        let cell = &mut self.scratch[slot * self.scratch_len..][self.scratch_len - 1];
        let last = sticky::action_of(*cell);
        let frames = self.counters[slot].frames;
        let repeats = !begins || sticky::repeats(episode, frames, threshold);
        let done = last.filter(|_| repeats).unwrap_or(action);
        *cell = sticky::cell_of(done);
        done
    }

    /// Returns the buttons of an env in a step, and for how many frames they are held.
    fn pressed(&self, slot: usize, plan: StepPlan) -> (u8, u32) {
        // The schedule does not release manual buttons.
        match self.manual_buttons[slot] {
            _ if plan.is_idle => (0, u32::MAX),
            Some(held) => (held, u32::MAX),
            None => (self.buttons[slot], self.frames_held[slot]),
        }
    }

    fn run_frames(&mut self, slot: usize, plan: StepPlan) {
        if let Some(sound) = self.sounds.get_mut(slot).filter(|_| plan.first_frame == 0) {
            sound.clear();
        }
        if plan.frames == 0 {
            // A step of 0 frames must not press a button.
            return;
        }
        let (buttons, frames_held) = self.pressed(slot, plan);
        let ram_bytes = self.rom.cart_ram_bytes();
        let cart_ram = &mut self.cart_ram[slot * ram_bytes..][..ram_bytes];
        let machine = &mut self.machines[slot];
        let step = plan.step(frames_held);
        let rom = self.rom.bytes();
        let mcycles = match (self.sounds.get_mut(slot), &mut self.runner) {
            (None, Some(runner)) => runner.run_step(machine, cart_ram, buttons, step),
            (None, None) => machine.run_step(rom, cart_ram, buttons, step),
            (Some(sound), _) => sound.run_step(machine, rom, cart_ram, buttons, step),
        };
        let counters = &mut self.counters[slot];
        counters.frames += u64::from(step.frames);
        counters.tcycles += 4 * u64::from(mcycles);
    }

    fn run_programs(&mut self, slot: usize, plan: StepPlan) {
        let step_numbers = self.step_numbers(slot, plan);
        self.run_program(slot, step_numbers, NativePrograms::step);
    }

    /// Runs the programs' `begin` for an env; its scratch must be zero. No button has been pressed
    /// yet.
    pub(crate) fn begin(&mut self, slot: usize, seed: u64) {
        for text in TextRole::ALL {
            self.run_program(slot, self.now(slot, seed), |programs, inputs, outputs| {
                programs.begin(text, inputs, outputs)
            });
            self.apply_writes(slot);
        }
    }

    /// Computes an env's observation outside of a step.
    pub(crate) fn observe_first(&mut self, slot: usize, seed: u64) {
        self.run_program(slot, self.now(slot, seed), NativePrograms::observe_first);
    }

    /// Returns the numbers that programs read in a step.
    fn step_numbers(&self, slot: usize, plan: StepPlan) -> StepNumbers {
        let all = plan.first_frame + plan.frames;
        let step_frames = self.single_frames.as_ref().map_or(all, |it| it.step_frames(slot));
        let (action, (buttons, _)) = (self.actions[slot], self.pressed(slot, plan));
        StepNumbers { step_frames, action, buttons, ..self.now(slot, plan.seed) }
    }

    /// Returns the numbers that programs read of an env outside of a step.
    fn now(&self, slot: usize, seed: u64) -> StepNumbers {
        // Programs see the lower halves, which wrap to 0.
        let (frames, seed) = (self.counters[slot].frames as u32, seed as u32);
        let env = (self.first_env + slot) as u32;
        StepNumbers { frames, seed, env, step_frames: 0, action: 0, buttons: 0 }
    }

    /// Calls a program on an env. `None` without programs, or if the program stopped.
    fn run_program<T>(
        &mut self,
        slot: usize,
        step_numbers: StepNumbers,
        run: impl FnOnce(
            &mut NativePrograms,
            ProgramInputs<'_>,
            &mut Outputs<'_>,
        ) -> Result<T, SwarmError>,
    ) -> Option<T> {
        let programs = self.programs.as_mut()?;
        let ram_bytes = self.rom.cart_ram_bytes();
        let cart_ram = &self.cart_ram[slot * ram_bytes..][..ram_bytes];
        let mut outputs = Outputs {
            scratch: &mut self.scratch[slot * self.scratch_len..][..self.scratch_len],
            reward: &mut self.rewards[slot],
            done: &mut self.dones[slot],
            obs: &mut self.observations[slot * self.obs_dim..][..self.obs_dim],
        };
        let (machine, rom) = (&self.machines[slot], self.rom.bytes());
        match run(programs, ProgramInputs { machine, rom, cart_ram, step_numbers }, &mut outputs) {
            Ok(result) => Some(result),
            Err(error) => {
                let env = self.first_env + slot;
                self.fault.get_or_insert((env, error));
                None
            }
        }
    }

    /// Executes the writes that a program's last function asked for.
    fn apply_writes(&mut self, slot: usize) {
        let Some(programs) = &mut self.programs else { return };
        for (place, value) in programs.take_writes() {
            self.write_memory(slot, place, &[value]);
        }
    }

    /// The observation of an env.
    pub(crate) fn observation(&self, slot: usize) -> &[f32] {
        &self.observations[slot * self.obs_dim..][..self.obs_dim]
    }

    /// Replaces the observation of an env.
    pub(crate) fn put_observation(&mut self, slot: usize, observation: &[f32]) {
        self.observations[slot * self.obs_dim..][..self.obs_dim].copy_from_slice(observation);
    }

    /// Samples of an env's last step.
    pub(crate) fn samples(&self, slot: usize) -> &[[i16; 2]] {
        self.sounds.get(slot).map_or(&[], MachineSound::samples)
    }

    /// Sets the outputs to zero.
    pub(crate) fn clear_outputs(&mut self) {
        self.rewards.fill(0.0);
        self.dones.fill(0);
        self.observations.fill(0.0);
    }

    /// Returns the runner of code made for the ROM; `None` if frames are interpreted.
    pub(crate) fn runner(&self) -> Option<&AnyRunner> {
        self.runner.as_ref()
    }

    pub(crate) fn len(&self) -> usize {
        self.machines.len()
    }

    pub(crate) fn machine(&self, slot: usize) -> &AnyMachine {
        &self.machines[slot]
    }

    pub(crate) fn counters(&self, slot: usize) -> Counters {
        self.counters[slot]
    }

    pub(crate) fn cart_ram(&self, slot: usize) -> &[u8] {
        let ram_bytes = self.rom.cart_ram_bytes();
        &self.cart_ram[slot * ram_bytes..][..ram_bytes]
    }

    /// The cells of an env's programs.
    fn scratch(&self, slot: usize) -> &[f32] {
        &self.scratch[slot * self.scratch_len..][..self.scratch_len]
    }

    /// The floats of an env's scratch.
    pub(crate) fn numbers(&self, slot: usize) -> &[f32] {
        &self.scratch(slot)[self.scratch_size.words()..]
    }

    /// Some cells of one of an env's scratch arrays.
    pub(crate) fn cells(&self, slot: usize, array: ScratchArray, cells: Range<usize>) -> Vec<f64> {
        let (ints, bytes_and_numbers) = self.scratch(slot).split_at(self.scratch_size.ints);
        match array {
            ScratchArray::Numbers => widened(&self.numbers(slot)[cells]),
            ScratchArray::Ints => widened(&bytemuck::cast_slice::<_, i32>(ints)[cells]),
            ScratchArray::Bytes => {
                widened(&bytemuck::cast_slice::<_, u8>(bytes_and_numbers)[cells])
            }
        }
    }

    fn numbers_mut(&mut self, slot: usize) -> &mut [f32] {
        let cells = self.scratch_size.words()..self.scratch_len;
        &mut self.scratch[slot * self.scratch_len..][cells]
    }

    pub(crate) fn peek(&self, slot: usize, place: u32) -> u8 {
        self.machines[slot].peek_place(self.rom.bytes(), self.cart_ram(slot), place)
    }

    /// Changes bytes from `low` on, an address or an address in a bank.
    pub(crate) fn write_memory(&mut self, slot: usize, low: u32, bytes: &[u8]) {
        let ram_bytes = self.rom.cart_ram_bytes();
        let cart_ram = &mut self.cart_ram[slot * ram_bytes..][..ram_bytes];
        for (place, byte) in (low..).zip(bytes) {
            self.machines[slot].poke_place(self.rom.bytes(), cart_ram, place, *byte);
        }
    }

    /// Clears an env's scratch and pictures.
    pub(crate) fn forget(&mut self, slot: usize) {
        let scratch = &mut self.scratch[slot * self.scratch_len..][..self.scratch_len];
        scratch.fill(0.0);
        scratch[self.weights.0.clone()].copy_from_slice(&self.weights.1);
        self.begin_pictures(slot);
    }

    /// Changes the weights of all envs.
    pub(crate) fn set_weights(&mut self, weights: &[f32]) {
        self.weights.1.copy_from_slice(weights);
        for cells in self.scratch.chunks_exact_mut(self.scratch_len.max(1)) {
            cells[self.weights.0.clone()].copy_from_slice(weights);
        }
    }

    pub(crate) fn snapshot(&self, slot: usize) -> EnvSnapshot {
        EnvSnapshot {
            machine: self.machines[slot].clone(),
            cart_ram: self.cart_ram(slot).to_vec(),
            counters: self.counters[slot],
            scratch: Some(self.scratch(slot).to_vec()),
            observation: None,
            pictures: self.kept_pictures(slot),
            sound: self.sounds.get(slot).map(|it| it.without_samples(&self.machines[slot])),
        }
    }

    /// Restores an env. The swarm has checked that the snapshot's cartridge RAM has this ROM's
    /// size, and that its scratch, if present, has the size of these programs'.
    pub(crate) fn restore(&mut self, slot: usize, snapshot: &EnvSnapshot) {
        let ram_bytes = self.rom.cart_ram_bytes();
        self.machines[slot].clone_from(&snapshot.machine);
        self.cart_ram[slot * ram_bytes..][..ram_bytes].copy_from_slice(&snapshot.cart_ram);
        self.counters[slot] = snapshot.counters;
        if self.link == LinkMode::Pairs {
            self.counters[slot] = joined(snapshot.counters);
        }
        if let Some(sound) = self.sounds.get_mut(slot) {
            match &snapshot.sound {
                Some(saved) => sound.clone_from(saved),
                None => sound.restart(&self.machines[slot]),
            }
        }
        let scratch = &mut self.scratch[slot * self.scratch_len..][..self.scratch_len];
        match &snapshot.scratch {
            Some(saved) => scratch.copy_from_slice(saved),
            None => scratch.fill(0.0),
        }
        scratch[self.weights.0.clone()].copy_from_slice(&self.weights.1);
        self.restore_pictures(slot, snapshot);
    }
}
