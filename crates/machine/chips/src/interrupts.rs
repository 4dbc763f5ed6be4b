//! The interrupt controller: IF and IE. Chips request interrupts here; `machine` checks the
//! requests on instruction boundaries, and `cpu/interrupt_dispatch.rs` dispatches them.

/// Bits of IF and IE, in order of priority.
pub const VBLANK: u8 = 1;
/// The PPU's STAT line.
pub const STAT: u8 = 2;
/// TIMA overflow.
pub const TIMER: u8 = 4;
/// End of a serial transfer.
pub const SERIAL: u8 = 8;
/// A joypad line fell.
pub const JOYPAD: u8 = 16;

/// IF (FF0F) and IE (FFFF).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Interrupts {
    /// IF: five lines, the upper bits are always zero here and read as ones.
    pub requested: u8,
    /// IE: all eight bits can be written and read back.
    pub enabled: u8,
}

impl Interrupts {
    /// Raises a line of IF.
    #[inline(always)]
    pub fn request(&mut self, line: u8) {
        self.requested |= line;
    }

    /// Lines that are both requested and enabled.
    #[inline(always)]
    pub fn pending(&self) -> u8 {
        self.requested & self.enabled & 0x1f
    }
}
