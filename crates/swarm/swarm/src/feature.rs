//! The registers and memory that the built-in reward and observation read, so that a reference
//! emulator can be asked for the same values.

use crate::{AnyMachine, CpuState, Rom};

/// The WRAM that the built-in programs read: where the micro-ROMs leave their signatures.
pub const FEATURE_MEMORY: std::ops::Range<u16> = 0xC000..0xC010;

/// Registers and a little WRAM after a step.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Features {
    /// The registers.
    pub cpu: CpuState,
    /// The bytes at [`FEATURE_MEMORY`].
    pub memory: [u8; 16],
}

impl Features {
    /// Reads the registers and memory of a machine without changing it.
    #[must_use]
    pub fn of(machine: &AnyMachine, rom: &Rom, cart_ram: &[u8]) -> Self {
        let mut memory = [0; 16];
        for (byte, address) in memory.iter_mut().zip(FEATURE_MEMORY) {
            *byte = machine.peek(rom.bytes(), cart_ram, address);
        }
        Self { cpu: CpuState::of(machine), memory }
    }
}
