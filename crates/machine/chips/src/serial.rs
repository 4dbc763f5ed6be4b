//! The serial port (FF01, FF02) without a cable: eight ones are shifted in. `link` adds the cable.
//!
//! The bit clock is the system counter's bit 7 divided by two, so a transfer starts in step with
//! DIV, not with the write to SC.

use crate::interrupts::{Interrupts, SERIAL};
use crate::timer::FAR_MCYCLES;

/// M-cycles between falling edges of the system counter's bit 7, as a power of two.
const EDGE_SHIFT: u32 = 6;
/// M-cycles between the edges of the Color's fast clock, as a power of two.
const FAST_EDGE_SHIFT: u32 = 1;

/// SB, SC and the transfer in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Serial {
    /// SB: shifted out at the top, ones shifted in at the bottom.
    pub sb: u8,
    /// SC: bit 7 transfer in progress, bit 0 internal clock, on the Color bit 1 fast clock.
    pub sc: u8,
    /// Bits shifted in this transfer.
    pub bits: u8,
    /// The bit clock's flip-flop: every second edge shifts.
    pub clock_high: bool,
    /// Edges are counted up to this time.
    pub synced_at: u32,
    /// Time at which the transfer ends.
    pub deadline: u32,
}

impl Serial {
    /// Makes a port without a transfer.
    pub const fn idle() -> Serial {
        Serial { sb: 0, sc: 0, bits: 0, clock_high: false, synced_at: 0, deadline: FAR_MCYCLES }
    }

    /// M-cycles between two edges of the clock.
    #[inline(always)]
    pub fn edge_mcycles(&self) -> u32 {
        1 << self.edge_shift()
    }

    /// M-cycles between two edges of the clock, as a power of two.
    #[inline(always)]
    fn edge_shift(&self) -> u32 {
        if self.sc & 2 != 0 { FAST_EDGE_SHIFT } else { EDGE_SHIFT }
    }

    #[inline]
    fn transferring(&self) -> bool {
        self.sc & 0x81 == 0x81
    }

    /// Brings SB, SC and the interrupt line up to `now`.
    #[inline]
    pub fn sync(&mut self, interrupts: &mut Interrupts, now: u32, div_base: u32) {
        let shift = self.edge_shift();
        let from = self.synced_at.wrapping_sub(div_base) >> shift;
        let mut edges = (now.wrapping_sub(div_base) >> shift).wrapping_sub(from);
        self.synced_at = now;
        while edges != 0 && self.transferring() {
            self.edge(interrupts);
            edges -= 1;
        }
        self.clock_high ^= edges & 1 != 0;
    }

    #[inline]
    fn edge(&mut self, interrupts: &mut Interrupts) {
        self.clock_high = !self.clock_high;
        if !self.clock_high && self.transferring() {
            self.shift(interrupts, 1);
        }
    }

    /// Shifts a bit in; the eighth ends the transfer.
    #[inline(always)]
    pub fn shift(&mut self, interrupts: &mut Interrupts, bit: u8) {
        self.sb = self.sb << 1 | bit;
        self.bits += 1;
        if self.bits == 8 {
            self.bits = 0;
            self.sc &= 0x7f;
            interrupts.request(SERIAL);
        }
    }

    /// Computes the end of the transfer.
    #[inline]
    pub fn schedule(&mut self, now: u32, div_base: u32) {
        self.deadline = if self.transferring() {
            let edges = (8 - self.bits as u32) * 2 - self.clock_high as u32;
            let shift = self.edge_shift();
            let passed = now.wrapping_sub(div_base) >> shift;
            div_base.wrapping_add((passed + edges) << shift)
        } else {
            now.wrapping_add(FAR_MCYCLES)
        };
    }

    /// A write to SC: starts a transfer, and sets the bit clock low. `value` has only bits that the
    /// model has.
    #[inline]
    pub fn write_control(&mut self, interrupts: &mut Interrupts, value: u8) {
        self.bits = 0;
        if self.clock_high {
            self.edge(interrupts);
        }
        self.bits = 0;
        self.sc = value;
    }

    /// Handles a reset of DIV: if bit 7 is high, the reset makes a falling edge.
    #[inline]
    pub fn div_reset(&mut self, interrupts: &mut Interrupts, now: u32, div_base: u32) {
        self.sync(interrupts, now, div_base);
        if now.wrapping_sub(div_base) & (self.edge_mcycles() / 2) != 0 {
            self.edge(interrupts);
        }
    }
}
