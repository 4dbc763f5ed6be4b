//! A run of neighbouring envs: the piece of the swarm that one thread steps at a time.

use gbxcule_gameboy::{Machine, Step};

use crate::{Counters, EnvSnapshot, Features, OBS_V0_DIM, Rom, Schedule, Stage, obs_v0, reward_v0};

/// What one step does, the same for every env.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepPlan {
    pub(crate) schedule: Schedule,
    pub(crate) stage: Stage,
    pub(crate) draw_last: bool,
}

impl StepPlan {
    fn machine_step(self) -> Step {
        Step {
            frames: self.schedule.frames_per_step(),
            release_after: self.schedule.release_after_frames(),
            draw_last: self.draw_last,
        }
    }
}

/// Owns its envs, so that a thread which holds the shard needs no lock while it works.
pub(crate) struct Shard {
    pub(crate) index: usize,
    rom: Rom,
    machines: Vec<Machine>,
    cart_ram: Vec<u8>,
    counters: Vec<Counters>,
    pub(crate) buttons: Vec<u8>,
    pub(crate) rewards: Vec<f32>,
    pub(crate) observations: Vec<[f32; OBS_V0_DIM]>,
}

impl Shard {
    pub(crate) fn new(index: usize, envs: usize, rom: &Rom, start: &EnvSnapshot) -> Self {
        let mut shard = Self {
            index,
            rom: rom.clone(),
            machines: vec![*start.machine; envs],
            cart_ram: vec![0; envs * rom.cart_ram_bytes()],
            counters: vec![Counters::default(); envs],
            buttons: vec![0; envs],
            rewards: vec![0.0; envs],
            observations: vec![[0.0; OBS_V0_DIM]; envs],
        };
        for slot in 0..envs {
            shard.restore(slot, start);
        }
        shard
    }

    pub(crate) fn step(&mut self, plan: StepPlan) {
        for slot in 0..self.machines.len() {
            self.run_frames(slot, plan);
            self.compute_outputs(slot, plan.stage);
        }
    }

    fn run_frames(&mut self, slot: usize, plan: StepPlan) {
        let ram_bytes = self.rom.cart_ram_bytes();
        let cart_ram = &mut self.cart_ram[slot * ram_bytes..][..ram_bytes];
        let machine = &mut self.machines[slot];
        let step = plan.machine_step();
        let mcycles = machine.run_step(self.rom.bytes(), cart_ram, self.buttons[slot], step);
        let counters = &mut self.counters[slot];
        counters.frames += u64::from(step.frames);
        counters.tcycles += 4 * u64::from(mcycles);
    }

    fn compute_outputs(&mut self, slot: usize, stage: Stage) {
        if stage == Stage::EmulateOnly {
            return;
        }
        let features = Features::of(&self.machines[slot], &self.rom, self.cart_ram(slot));
        if stage.owns_reward() {
            self.rewards[slot] = reward_v0(&features);
        }
        if stage.owns_observation() {
            obs_v0(&features, &mut self.observations[slot]);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.machines.len()
    }

    pub(crate) fn machine(&self, slot: usize) -> &Machine {
        &self.machines[slot]
    }

    pub(crate) fn counters(&self, slot: usize) -> Counters {
        self.counters[slot]
    }

    pub(crate) fn cart_ram(&self, slot: usize) -> &[u8] {
        let ram_bytes = self.rom.cart_ram_bytes();
        &self.cart_ram[slot * ram_bytes..][..ram_bytes]
    }

    pub(crate) fn peek(&self, slot: usize, address: u16) -> u8 {
        self.machines[slot].peek(self.rom.bytes(), self.cart_ram(slot), address)
    }

    pub(crate) fn poke(&mut self, slot: usize, address: u16, value: u8) {
        let ram_bytes = self.rom.cart_ram_bytes();
        let cart_ram = &mut self.cart_ram[slot * ram_bytes..][..ram_bytes];
        self.machines[slot].poke(self.rom.bytes(), cart_ram, address, value);
    }

    pub(crate) fn snapshot(&self, slot: usize) -> EnvSnapshot {
        EnvSnapshot {
            machine: Box::new(self.machines[slot]),
            cart_ram: self.cart_ram(slot).to_vec(),
            counters: self.counters[slot],
        }
    }

    /// Put an env back; the snapshot's cartridge RAM has this ROM's size, which the swarm has checked.
    pub(crate) fn restore(&mut self, slot: usize, snapshot: &EnvSnapshot) {
        let ram_bytes = self.rom.cart_ram_bytes();
        self.machines[slot] = *snapshot.machine;
        self.cart_ram[slot * ram_bytes..][..ram_bytes].copy_from_slice(&snapshot.cart_ram);
        self.counters[slot] = snapshot.counters;
    }
}
