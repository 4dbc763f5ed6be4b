//! Volume envelopes of channels 1, 2 and 4. Called by `voice`.
//!
//! A counter is loaded with NRx2's pace and counts at 64 Hz. At 0 the counter arms the clock, half
//! a period of the 512 Hz sequencer later; the sequencer's next clock changes the volume. (For
//! samples, which no program can read, the crate `sound` has a simpler envelope.)
#![cfg(color)]

/// NRx2: the volume rises.
const RISES: u8 = 0x08;
/// NRx2: the 64 Hz clocks between two changes.
const PACE: u8 = 0x07;

/// A volume and its counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Envelope {
    /// 0 to 15.
    pub volume: u8,
    /// Remaining 64 Hz clocks, modulo 8.
    pub countdown: u8,
    /// True if the next clock of the sequencer changes the volume.
    pub armed: bool,
    /// True if the volume is at an end of its range at that clock, so that it changes no more.
    pub ends: bool,
    /// True if the volume no longer changes.
    pub ended: bool,
}

impl Envelope {
    pub(crate) const fn idle() -> Envelope {
        Envelope { volume: 0, countdown: 0, armed: false, ends: false, ended: false }
    }

    pub(super) fn trigger(&mut self, setup: u8) {
        self.volume = setup >> 4;
        self.countdown = setup & PACE;
        self.armed = false;
        self.ended = false;
    }

    /// Handles the 64 Hz clock, which an armed counter ignores.
    pub(super) fn count_down(&mut self) {
        if !self.armed {
            self.countdown = self.countdown.wrapping_sub(1) & 7;
        }
    }

    /// Handles the half period after a clock of the sequencer, while the channel plays.
    pub(super) fn arm(&mut self, setup: u8) {
        if self.countdown != 0 {
            return;
        }
        self.countdown = setup & PACE;
        if setup & PACE == 0 {
            self.disarm();
        } else if !self.armed {
            self.armed = true;
            self.ends = self.volume == if setup & RISES != 0 { 15 } else { 0 };
        }
    }

    fn disarm(&mut self) {
        if self.armed {
            self.armed = false;
            self.ended = self.ended || self.ends;
        }
    }

    /// Handles the sequencer's clock; returns true if the volume changes.
    pub(super) fn clock(&mut self, setup: u8) -> bool {
        if !self.armed {
            return false;
        }
        self.disarm();
        let changes = !self.ended && setup & PACE != 0;
        if changes {
            self.step(setup & RISES != 0);
        }
        changes
    }

    fn step(&mut self, rises: bool) {
        self.volume = self.volume.wrapping_add(if rises { 1 } else { 15 }) & 15;
    }

    /// Handles a write to NRx2 while the channel plays, which changes the inputs of the volume's
    /// counter.
    pub(super) fn rewrite(&mut self, old: u8, new: u8) {
        if self.armed {
            self.countdown = new & PACE;
        }
        let rises = new & RISES != 0;
        let starts =
            new & PACE != 0 && old & PACE == 0 || old & new & 0x0f == 8 && (old | new) & 7 == 0;
        if (old ^ new) & RISES == 0 {
            if starts && !self.ended {
                self.step(rises);
                return;
            }
        } else if !rises {
            // The volume becomes its two's complement, and counts down if a count is to begin.
            self.volume = 16u8.wrapping_sub(self.volume) & 15;
            if starts && !self.ended {
                self.step(false);
                return;
            }
        } else if old & PACE == 0 && !self.ended {
            self.volume ^= 15;
        } else {
            self.volume = 14u8.wrapping_sub(self.volume) & 15;
        }
        if new & PACE == 0 && self.armed {
            self.disarm();
        }
    }
}
