//! Channel 3: its reads of wave RAM, and their conflicts with the CPU's accesses.
//!
//! Called by `Apu`. Times are in ticks of 2 T-cycles, the clock of this channel's period counter.
//! Sources: Pan Docs "FF30-FF3F", "Obscure Behavior"; the windows are those of blargg's dmg_sound.

use super::{Apu, COLOR, WAVE};

/// The first read after a trigger comes this much later than a period.
const TRIGGER_DELAY_TICKS: u32 = 3;

/// Channel 3's reader. While the channel is off it is `stopped`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Wave {
    /// Ticks until the next sample is read, at least 1 while playing.
    pub countdown_ticks: u32,
    /// Sample last read: 0-31, two to a byte.
    pub position: u8,
    /// True if the channel read wave RAM in this tick.
    pub just_read: bool,
}

impl Wave {
    pub(super) const fn stopped() -> Wave {
        Wave { countdown_ticks: 0, position: 0, just_read: false }
    }

    /// Advances by some ticks. A new period counts from the next read on.
    pub(super) fn advance(&mut self, ticks: u32, period_ticks: u32) {
        if ticks == 0 {
            return;
        }
        if ticks < self.countdown_ticks {
            self.countdown_ticks -= ticks;
            self.just_read = false;
            return;
        }
        let over = ticks - self.countdown_ticks;
        let reads = 1 + over / period_ticks;
        let since_read = over % period_ticks;
        self.position = (self.position + (reads & 31) as u8) & 31;
        self.countdown_ticks = period_ticks - since_read;
        self.just_read = since_read == 0;
    }
}

impl Apu {
    /// Returns the ticks of an M-cycle, as a power of two.
    #[inline(always)]
    pub(super) fn tick_shift(&self) -> u32 {
        let shift = 1;
        #[cfg(color)]
        let shift = shift - self.double_speed as u32;
        shift
    }

    pub(super) fn wave_period(&self) -> u32 {
        2048 - self.frequency(WAVE) as u32
    }

    pub(super) fn trigger_wave(&mut self, was_active: bool) {
        if !COLOR && was_active && self.wave.countdown_ticks == 1 {
            self.corrupt_wave_ram();
        }
        if self.is_active(WAVE) {
            self.wave = Wave {
                countdown_ticks: self.wave_period() + TRIGGER_DELAY_TICKS,
                position: 0,
                just_read: false,
            };
        }
    }

    /// Corrupts wave RAM: a channel that is retriggered in the tick before a read copies the bytes
    /// that it would read to the start.
    // UNVERIFIED: units differ; this is the DMG-B behaviour that blargg's test expects.
    #[cold]
    #[inline(never)]
    fn corrupt_wave_ram(&mut self) {
        let read = ((self.wave.position + 1) >> 1) as usize & 0x0f;
        if read < 4 {
            self.wave_ram[0] = self.wave_ram[read & 0x0f];
        } else {
            for i in 0..4usize {
                self.wave_ram[i & 0x0f] = self.wave_ram[(read & 0x0c) | (i & 3)];
            }
        }
    }

    /// Returns the byte that the CPU reads. While channel 3 plays, this is the byte that the
    /// channel reads; on the original, only in the tick of the channel's read.
    pub(super) fn read_wave_ram(&self, address: u16) -> u8 {
        if !self.is_active(WAVE) {
            self.wave_ram[address as usize & 0x0f]
        } else if COLOR || self.wave.just_read {
            self.wave_ram[(self.wave.position >> 1) as usize & 0x0f]
        } else {
            0xff
        }
    }

    pub(super) fn write_wave_ram(&mut self, address: u16, value: u8) {
        if !self.is_active(WAVE) {
            self.wave_ram[address as usize & 0x0f] = value;
        } else if COLOR || self.wave.just_read {
            self.wave_ram[(self.wave.position >> 1) as usize & 0x0f] = value;
        }
    }
}
