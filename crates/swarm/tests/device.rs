//! The swarm of compiled kernels is the native swarm, byte by byte.

use gbxcule_swarm::compiled::{DeviceConfig, DeviceSwarm};
use gbxcule_swarm::{EnvSnapshot, Layout, NativeSwarm, Rom, Schedule, Stage, SwarmConfig};

fn rom(bytes: &[u8]) -> Rom {
    Rom::new(bytes).expect("a good header")
}

fn config(num_envs: usize) -> SwarmConfig {
    let schedule = Schedule::new(3, 2).expect("a schedule");
    SwarmConfig { schedule, ..SwarmConfig::new(num_envs) }
}

/// Both swarms with one ROM.
struct Pair {
    native: NativeSwarm,
    ours: DeviceSwarm,
}

impl Pair {
    fn new(rom_bytes: &[u8], config: SwarmConfig, device: DeviceConfig) -> Self {
        Self {
            native: NativeSwarm::new(rom(rom_bytes), config).expect("a swarm"),
            ours: DeviceSwarm::new(rom(rom_bytes), config, device).expect("a swarm"),
        }
    }

    fn step(&mut self, actions: &[u8]) {
        self.native.step(actions).expect("good actions");
        self.ours.step(actions).expect("good actions");
    }

    fn assert_equal(&self, when: &str) {
        let counters = self.ours.counters().expect("counters");
        let registers = self.ours.cpu_states().expect("registers");
        for env in 0..self.native.config().num_envs {
            let native = self.native.snapshot(env).expect("an env");
            let ours = self.ours.snapshot(env).expect("an env");
            assert_same(&native, &ours, &format!("{when}, env {env}"));
            assert_eq!(counters[env], native.counters(), "{when}, env {env}");
            assert_eq!(registers[env], self.native.cpu_state(env).expect("an env"));
        }
        let bits = |numbers: &[f32]| numbers.iter().map(|it| it.to_bits()).collect::<Vec<_>>();
        let rewards = self.ours.rewards().expect("rewards");
        assert_eq!(bits(self.native.rewards()), bits(&rewards), "{when}");
        let observations = self.ours.observations().expect("observations");
        assert_eq!(bits(self.native.observations()), bits(&observations), "{when}");
    }
}

fn assert_same(native: &EnvSnapshot, ours: &EnvSnapshot, when: &str) {
    if let Some(difference) = ours.machine().first_difference(native.machine()) {
        panic!("{when}: {difference}");
    }
    assert!(native.cart_ram() == ours.cart_ram(), "{when}: cartridge RAM");
    assert_eq!(native.counters(), ours.counters(), "{when}");
}

/// What each env does in a step: chance, but always the same.
fn actions(num_envs: usize, step: usize) -> Vec<u8> {
    let hash = |env: usize| ((step / 2) as u32).wrapping_mul(0x9e37_79b9) ^ (env as u32) << 13;
    (0..num_envs).map(|env| ((hash(env).wrapping_mul(0x85eb_ca6b) >> 24) % 9) as u8).collect()
}

#[test]
fn every_rom_runs_alike() {
    // Compiled code is kept as long as somebody has it.
    let mut kept = None;
    for (number, rom) in gbxcule_roms::all().into_iter().enumerate() {
        let layout = [Layout::EnvMajor, Layout::Interleaved][number % 2];
        let config = SwarmConfig { draw_last: number % 3 != 0, ..config(3) };
        let device = DeviceConfig { layout, checked: true, ..DeviceConfig::default() };
        let mut pair = Pair::new(rom.bytes(), config, device);
        for step in 0..12 {
            pair.step(&actions(3, step));
            if step % 4 == 3 {
                pair.assert_equal(&format!("{} after step {step}", rom.name));
            }
        }
        kept = Some(pair);
    }
    assert!(kept.is_some(), "there are ROMs");
}

#[test]
fn every_stage_computes_what_it_owns_and_leaves_the_rest() {
    let rom = gbxcule_roms::by_name("JOY_DIVERGE_PERSIST").expect("a ROM");
    for stage in Stage::ALL {
        let config = SwarmConfig { stage, ..config(5) };
        let mut pair = Pair::new(rom.bytes(), config, DeviceConfig::default());
        for step in 0..6 {
            pair.step(&actions(5, step));
        }
        pair.assert_equal(stage.name());
    }
}
