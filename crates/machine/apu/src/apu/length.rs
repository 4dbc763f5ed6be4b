//! Length counters, which switch channels off after a time. Called by `Apu`.
//!
//! A counter counts and can be loaded even while its channel is off.

use super::{Apu, LENGTH_ENABLE, TRIGGER, WAVE};

impl Apu {
    /// NRx1.
    pub(super) fn load_length(&mut self, channel: u8, value: u8) {
        let maximum = maximum_length(channel);
        self.lengths[channel as usize & 3] = maximum - (value as u16 & (maximum - 1));
    }

    /// The 256 Hz clock.
    #[cfg(not(color))]
    #[inline(always)]
    pub(super) fn clock_lengths(&mut self) {
        self.count_lengths();
    }

    /// The 256 Hz clock.
    #[cfg(color)]
    pub(super) fn clock_lengths(&mut self) {
        if self.double_speed && self.voices.counts_late {
            self.voices.count_due = true;
        } else {
            self.count_lengths();
        }
    }

    pub(super) fn count_lengths(&mut self) {
        for channel in 0..4u8 {
            if self.is_length_counting(channel) {
                self.lengths[channel as usize & 3] -= 1;
                if self.lengths[channel as usize & 3] == 0 {
                    self.deactivate(channel);
                }
            }
        }
    }

    pub(super) fn is_length_counting(&self, channel: u8) -> bool {
        let control = self.registers[(channel * 5 + 4) as usize & 0x1f];
        control & LENGTH_ENABLE != 0 && self.lengths[channel as usize & 3] != 0
    }

    /// NRx4, its length part: enabling and unfreezing count one at once when the sequencer's next
    /// clock is not a length clock (Pan Docs "Obscure Behavior").
    pub(super) fn enable_length(&mut self, channel: u8, old: u8, value: u8) {
        let extra_clock = value & LENGTH_ENABLE != 0 && self.sequencer.clocks & 1 != 0;
        let mut length = self.lengths[channel as usize & 3];
        if extra_clock && old & LENGTH_ENABLE == 0 && length != 0 {
            length -= 1;
            if length == 0 {
                self.deactivate(channel);
            }
        }
        if value & TRIGGER != 0 && length == 0 {
            length = maximum_length(channel) - extra_clock as u16;
        }
        self.lengths[channel as usize & 3] = length;
    }
}

fn maximum_length(channel: u8) -> u16 {
    if channel == WAVE { 256 } else { 64 }
}
