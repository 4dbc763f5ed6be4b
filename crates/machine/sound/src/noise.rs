//! Channel 4: a shift register whose output is noise. (`apu/noise.rs` of `gameboy` has the levels
//! that a Color's programs can read, exact to the clock.)

use crate::fields::Fields;

/// Bit of NR43 with which the shift register has 7 bits instead of 15.
const IS_SHORT: u8 = 0x08;

/// Shift register of channel 4.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Noise {
    register: u16,
    /// M-cycles until the next shift.
    countdown: u32,
}

impl Noise {
    /// Makes the channel after power-on of sound.
    pub(crate) fn new() -> Self {
        Self { register: 0, countdown: 0 }
    }

    /// Writes the register's fields.
    pub(crate) fn write_to(&self, bytes: &mut Vec<u8>) {
        bytes.extend(self.register.to_le_bytes());
        bytes.extend(self.countdown.to_le_bytes());
    }

    /// Reads the fields that [`Noise::write_to`] wrote.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let register = u16::from_le_bytes(fields.array()?);
        let countdown = u32::from_le_bytes(fields.array()?);
        (register >> 15 == 0).then_some(Self { register, countdown })
    }

    /// Clears the register and begins a period.
    pub(crate) fn trigger(&mut self, setup: u8) {
        *self = Self { register: 0, countdown: period(setup) };
    }

    /// Returns the number of M-cycles up to and including the one of the next shift of a playing
    /// channel.
    pub(crate) fn mcycles_to_shift(&self) -> u32 {
        self.countdown.max(1)
    }

    /// Advances a playing channel by M-cycles, at most to its next shift.
    pub(crate) fn advance(&mut self, mcycles: u32, setup: u8) {
        self.countdown = self.countdown.saturating_sub(mcycles);
        if self.countdown != 0 {
            return;
        }
        self.countdown = period(setup);
        // Pan Docs "NR43": with a shift of 14 or 15 the channel gets no clocks.
        if setup >> 4 >= 14 {
            return;
        }
        let bit = !(self.register ^ self.register >> 1) & 1;
        self.register = self.register >> 1 | bit << 14;
        if setup & IS_SHORT != 0 {
            self.register = self.register & !0x40 | bit << 6;
        }
    }

    /// Returns true if the output is high.
    pub(crate) fn is_high(&self) -> bool {
        self.register & 1 != 0
    }
}

/// Returns the M-cycles of one shift: 2, 4, 8, ... 28 by NR43's divider, times two to the power of
/// its shift.
fn period(setup: u8) -> u32 {
    let divider = match setup & 7 {
        0 => 2,
        divider => u32::from(divider) * 4,
    };
    divider << (setup >> 4)
}
