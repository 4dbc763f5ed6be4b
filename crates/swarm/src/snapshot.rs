//! One machine, set aside.

use gbxcule_gameboy::Machine;

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
