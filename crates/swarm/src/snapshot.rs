//! One machine, set aside.

use gbxcule_gameboy::Machine;

use crate::{Programs, Rom, SwarmError};

/// How far an env has come since its reset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Counters {
    /// Frames run.
    pub frames: u64,
    /// T-cycles run.
    pub tcycles: u64,
}

/// Everything that makes one env what it is: the machine, its cartridge RAM, its counters and what its programs
/// keep.
#[derive(Clone)]
pub struct EnvSnapshot {
    pub(crate) machine: Box<Machine>,
    pub(crate) cart_ram: Vec<u8>,
    pub(crate) counters: Counters,
    /// Empty stands for zeros, as many as there must be.
    pub(crate) scratch: Vec<f32>,
}

impl EnvSnapshot {
    /// A machine switched on.
    pub(crate) fn power_on(rom: &Rom) -> Self {
        let cart_ram = vec![0xFF; rom.cart_ram_bytes()];
        Self::start(Machine::power_on(rom.cartridge()), cart_ram)
    }

    /// A machine from which an env starts: nothing is counted, programs keep nothing.
    pub(crate) fn start(machine: Machine, cart_ram: Vec<u8>) -> Self {
        let (counters, scratch) = (Counters::default(), Vec::new());
        Self { machine: Box::new(machine), cart_ram, counters, scratch }
    }

    /// The same as the start of something.
    pub(crate) fn into_start(self) -> Self {
        Self::start(*self.machine, self.cart_ram)
    }

    /// Whether an env with this cartridge and these programs can be in this state.
    pub(crate) fn check(&self, rom: &Rom, programs: &Programs) -> Result<(), SwarmError> {
        let (found, expected) = (self.cart_ram.len(), rom.cart_ram_bytes());
        if found != expected {
            return Err(SwarmError::OtherCartridge { found, expected });
        }
        let (found, expected) = (self.scratch.len(), programs.scratch_len());
        if found != expected && found != 0 {
            return Err(SwarmError::OtherPrograms { found, expected });
        }
        Ok(())
    }

    /// The machine and its cartridge RAM as versioned bytes.
    pub(crate) fn to_bytes(&self, rom: &Rom) -> Result<Vec<u8>, SwarmError> {
        let mut bytes = vec![0; self.machine.state_len(rom.cartridge())];
        self.machine.save_state(rom.cartridge(), &self.cart_ram, &mut bytes)?;
        Ok(bytes)
    }

    /// What such bytes hold.
    pub(crate) fn from_bytes(rom: &Rom, bytes: &[u8]) -> Result<Self, SwarmError> {
        let mut cart_ram = vec![0; rom.cart_ram_bytes()];
        let machine = Machine::load_state(rom.cartridge(), bytes, &mut cart_ram)?;
        Ok(Self::start(machine, cart_ram))
    }

    /// The machine.
    #[must_use]
    pub fn machine(&self) -> &Machine {
        &self.machine
    }

    /// Its cartridge RAM.
    #[must_use]
    pub fn cart_ram(&self) -> &[u8] {
        &self.cart_ram
    }

    /// The cells that its programs keep from step to step.
    #[must_use]
    pub fn scratch(&self) -> &[f32] {
        &self.scratch
    }

    /// How far it had come since its reset.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.counters
    }
}
