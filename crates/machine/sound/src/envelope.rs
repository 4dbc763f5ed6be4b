//! Volume envelopes of channels 1, 2 and 4. (`apu/envelope.rs` of `gameboy` has the volumes that a
//! Color's programs can read, exact to the clock.)

use crate::fields::Fields;

/// Bit of NRx2 with which the volume rises.
const RISES: u8 = 0x08;

/// Volume of a channel, and the number of clocks until it changes.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub(crate) struct Envelope {
    volume: u8,
    countdown: u8,
    /// True if the volume has reached the end of its range, where it stays.
    has_ended: bool,
}

impl Envelope {
    /// Starts with the volume in NRx2. A 64 Hz clock that comes next does not count (Pan Docs
    /// "Obscure Behavior").
    pub(crate) fn trigger(&mut self, setup: u8, is_clock_next: bool) {
        let countdown = reload(setup) + u8::from(is_clock_next);
        *self = Self { volume: setup >> 4, countdown, has_ended: false };
    }

    /// Handles the 64 Hz clock.
    pub(crate) fn clock(&mut self, setup: u8) {
        self.countdown = self.countdown.saturating_sub(1);
        if self.countdown != 0 {
            return;
        }
        self.countdown = reload(setup);
        if setup & 7 == 0 || self.has_ended {
            return;
        }
        match (setup & RISES != 0, self.volume) {
            (true, 0..=14) => self.volume += 1,
            (false, 1..=15) => self.volume -= 1,
            _ => self.has_ended = true,
        }
    }

    /// Handles a write to NRx2 while the channel plays, which changes the volume at once (Pan Docs
    /// "Obscure Behavior").
    // UNVERIFIED: consoles differ; this is the commonly described behaviour.
    pub(crate) fn rewrite(&mut self, old: u8, new: u8) {
        if old & 7 == 0 && !self.has_ended {
            self.volume = self.volume.wrapping_add(1);
        } else if old & RISES == 0 {
            self.volume = self.volume.wrapping_add(2);
        }
        if (old ^ new) & RISES != 0 {
            self.volume = 16_u8.wrapping_sub(self.volume);
        }
        self.volume &= 15;
    }

    /// Writes the envelope's fields.
    pub(crate) fn write_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend([self.volume, self.countdown, u8::from(self.has_ended)]);
    }

    /// Reads the fields that [`Envelope::write_to`] wrote.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let (volume, countdown) = (fields.below(16)?, fields.below(10)?);
        Some(Self { volume, countdown, has_ended: fields.flag()? })
    }

    /// Returns the volume, 0 to 15.
    pub(crate) fn volume(&self) -> u8 {
        self.volume
    }
}

/// Returns the number of clocks of a pace. A pace of 0 counts as 8.
fn reload(setup: u8) -> u8 {
    if setup & 7 == 0 { 8 } else { setup & 7 }
}
