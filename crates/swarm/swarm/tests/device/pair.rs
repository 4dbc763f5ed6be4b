//! Both swarms side by side.

use gbxcule_assembler::BuiltIn;
use gbxcule_runtime::Device;
use gbxcule_swarm::{DeviceConfig, DeviceSwarm};
use gbxcule_swarm::{EnvSnapshot, Model, NativeSwarm, Recompile, Rom, Schedule, SwarmConfig};

/// The machines of a test body: their model and their device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    pub(crate) device: Device,
    pub(crate) model: Model,
}

impl Subject {
    pub(crate) fn rom(self, bytes: &[u8]) -> Rom {
        Rom::for_model(bytes, Some(self.model)).expect("a good header")
    }

    /// The ROMs that its machines run: the Color's own and the original's.
    pub(crate) fn roms(self) -> impl Iterator<Item = &'static BuiltIn> {
        let own = gbxcule_assembler::for_color().iter().filter(move |_| self.model == Model::Color);
        own.chain(gbxcule_assembler::all())
    }

    /// A game whose pictures show what its machines can draw.
    pub(crate) fn game(self) -> &'static [u8] {
        let name = match self.model {
            Model::Original => "PEARL_DRIFT",
            Model::Color => "AMBER_ROAD",
        };
        gbxcule_assembler::by_name(name).expect("a game").bytes()
    }

    /// Bytes of a picture.
    pub(crate) fn frame_bytes(self) -> usize {
        match self.model {
            Model::Original => gbxcule_swarm::FRAME_BYTES,
            Model::Color => 160 * 144 * 2,
        }
    }
}

/// A subject, and how its kernels are made.
#[derive(Clone, Copy)]
pub(crate) struct Setup {
    subject: Subject,
    device: DeviceConfig,
}

impl Setup {
    pub(crate) fn swarm(self, rom_bytes: &[u8], config: SwarmConfig) -> DeviceSwarm {
        self.swarm_of(self.subject.rom(rom_bytes), config)
    }

    pub(crate) fn swarm_of(self, rom: Rom, config: SwarmConfig) -> DeviceSwarm {
        DeviceSwarm::new(rom, config, self.device).expect("a swarm")
    }
}

pub(crate) fn config(num_envs: usize) -> SwarmConfig {
    let schedule = Schedule::new(3, 2).expect("a schedule");
    // With code made for the ROM each ROM has a kernel of its own, which `recompile` tests.
    SwarmConfig { schedule, recompile: Recompile::Off, ..SwarmConfig::new(num_envs) }
}

/// Both swarms with one ROM.
pub(crate) struct Pair {
    pub(crate) native: NativeSwarm,
    pub(crate) ours: DeviceSwarm,
}

impl Pair {
    pub(crate) fn new(rom_bytes: &[u8], config: SwarmConfig, setup: Setup) -> Self {
        let rom = setup.subject.rom(rom_bytes);
        Self {
            native: NativeSwarm::new(rom, config.clone()).expect("a swarm"),
            ours: setup.swarm(rom_bytes, config),
        }
    }

    pub(crate) fn step(&mut self, actions: &[u8]) {
        self.native.step(actions).expect("good actions");
        self.ours.step(actions).expect("good actions");
    }

    pub(crate) fn assert_equal(&self, when: &str) {
        let counters = self.ours.all_counters().expect("counters");
        let registers = self.ours.cpu_states().expect("registers");
        for env in 0..self.native.config().num_envs {
            let native = self.native.snapshot(env).expect("an env");
            let ours = self.ours.snapshot(env).expect("an env");
            assert_same(&native, &ours, &format!("{when}, env {env}"));
            assert_eq!(counters[env], native.counters(), "{when}, env {env}");
            assert_eq!(registers[env], self.native.cpu_state(env).expect("an env"));
        }
        let rewards = self.ours.rewards().expect("rewards");
        assert_eq!(bits(self.native.rewards()), bits(&rewards), "{when}");
        let observations = self.ours.observations().expect("observations");
        assert_eq!(bits(self.native.observations()), bits(&observations), "{when}");
    }
}

fn bits(numbers: &[f32]) -> Vec<u32> {
    numbers.iter().map(|number| number.to_bits()).collect()
}

fn assert_same(native: &EnvSnapshot, ours: &EnvSnapshot, when: &str) {
    if let Some(difference) = ours.machine().first_difference(native.machine()) {
        panic!("{when}: {difference}");
    }
    assert!(native.cart_ram() == ours.cart_ram(), "{when}: cartridge RAM");
    assert_eq!(native.counters(), ours.counters(), "{when}");
    assert_eq!(bits(native.scratch()), bits(ours.scratch()), "{when}");
}

/// Random actions for the envs of a step, the same in every run.
pub(crate) fn actions(num_envs: usize, step: usize) -> Vec<u8> {
    let hash = |env: usize| ((step / 2) as u32).wrapping_mul(0x9e37_79b9) ^ (env as u32) << 13;
    (0..num_envs).map(|env| ((hash(env).wrapping_mul(0x85eb_ca6b) >> 24) % 9) as u8).collect()
}

/// A subject whose kernels check the machine's indices too on the CPU; a GPU runs the same kernels
/// as in use.
pub(crate) fn on(subject: Subject) -> Setup {
    let device = subject.device;
    let device = DeviceConfig { device, checked: device == Device::Cpu };
    Setup { subject, device }
}

/// The default configuration for a subject.
pub(crate) fn plain(subject: Subject) -> Setup {
    let device = DeviceConfig { device: subject.device, ..DeviceConfig::default() };
    Setup { subject, device }
}
