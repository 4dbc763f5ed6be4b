//! The 512 Hz sequencer, clocked when DIV's bit 4 falls. Called by `Apu`.
//!
//! Of its eight steps only the length (256 Hz) and sweep (128 Hz) clocks have effects that programs
//! can read. Source: Pan Docs "DIV-APU".

use super::{Apu, PULSE_1};

/// DIV's bit 4 falls every 2^11 M-cycles.
const EDGE_MCYCLES_LOG2: u32 = 11;

/// Effect of switching sound on while DIV's bit 4 is set: the first edge is lost, and the second
/// clocks without counting (documented by SameBoy, tested by blargg's "len sweep period sync").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum PowerOnGlitch {
    /// Nothing.
    None = 0,
    /// The next edge is lost.
    LoseEdge = 1,
    /// The next edge clocks without counting.
    RepeatClock = 2,
}

/// The sequencer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Sequencer {
    /// Clocks so far, modulo 8: an odd one is a length clock, 3 and 7 are sweep clocks.
    pub clocks: u8,
    /// Effect of power-on on the next edge.
    pub glitch: PowerOnGlitch,
}

impl Sequencer {
    /// Makes the sequencer at the moment at which sound is switched on; `div_bit` is DIV's bit 4.
    pub(super) fn power_on(div_bit: bool) -> Sequencer {
        if div_bit {
            Sequencer { clocks: 1, glitch: PowerOnGlitch::LoseEdge }
        } else {
            Sequencer { clocks: 0, glitch: PowerOnGlitch::None }
        }
    }
}

impl Apu {
    /// Counts the falling edges of the bit since the last sync, up to and including `now`. Edge
    /// numbers have 21 bits, or 20.
    pub(super) fn sequencer_edges(&self, now: u32, div_base: u32) -> u32 {
        let before = self.synced_at.wrapping_sub(div_base) >> self.edge_shift();
        let after = now.wrapping_sub(div_base) >> self.edge_shift();
        after.wrapping_sub(before) & (0xffff_ffff >> self.edge_shift())
    }

    /// M-cycles since the bit last fell.
    pub(super) fn mcycles_since_edge(&self, now: u32, div_base: u32) -> u32 {
        now.wrapping_sub(div_base) & ((1 << self.edge_shift()) - 1)
    }

    /// DIV's bit 4; at double speed bit 5.
    pub(super) fn sequencer_bit(&self, now: u32, div_base: u32) -> bool {
        now.wrapping_sub(div_base) >> (self.edge_shift() - 1) & 1 != 0
    }

    #[cfg(not(color))]
    #[inline(always)]
    pub(super) fn edge_shift(&self) -> u32 {
        EDGE_MCYCLES_LOG2
    }

    #[cfg(color)]
    pub(super) fn edge_shift(&self) -> u32 {
        EDGE_MCYCLES_LOG2 + self.double_speed as u32
    }

    #[inline(never)]
    pub(super) fn clock_sequencer(&mut self, edges: u32, phase: u32) {
        let mut left = edges;
        while left > 0 && self.is_sequencer_seen() {
            self.clock_sequencer_once(0);
            left -= 1;
            if left > 0 {
                self.advance_sweep(1 << (self.edge_shift() + self.tick_shift()), phase);
            }
        }
        if left > 1 {
            self.advance_sweep(1 << (self.edge_shift() + self.tick_shift()), phase);
        }
        self.sequencer.clocks = (self.sequencer.clocks + (left & 7) as u8) & 7;
    }

    /// Returns true if clocks have an effect besides their count.
    fn is_sequencer_seen(&self) -> bool {
        match self.sequencer.glitch {
            PowerOnGlitch::None => {
                self.is_active(PULSE_1)
                    || self.is_length_counting(0)
                    || self.is_length_counting(1)
                    || self.is_length_counting(2)
                    || self.is_length_counting(3)
            }
            _ => true,
        }
    }

    /// Handles a clock, `early` ticks before the sequencer's regular tick: a write that clears DIV
    /// acts one tick earlier than a counted edge.
    pub(super) fn clock_sequencer_once(&mut self, early: u8) {
        match self.sequencer.glitch {
            PowerOnGlitch::None => self.sequencer.clocks = (self.sequencer.clocks + 1) & 7,
            PowerOnGlitch::LoseEdge => {
                self.sequencer.glitch = PowerOnGlitch::RepeatClock;
                return;
            }
            PowerOnGlitch::RepeatClock => self.sequencer.glitch = PowerOnGlitch::None,
        }
        if self.sequencer.clocks & 1 == 1 {
            self.clock_lengths();
        }
        if self.sequencer.clocks & 3 == 3 && self.is_active(PULSE_1) && self.sweep.count_down(early)
        {
            self.iterate_sweep(early);
        }
    }
}
