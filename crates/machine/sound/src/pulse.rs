//! Channels 1 and 2: a square wave in eight steps.

use crate::fields::Fields;

/// High steps of each duty, by NRx1's upper two bits, with step 0 in bit 0 (Pan Docs "Pulse
/// channel").
const DUTIES: [u8; 4] = [0b1000_0000, 0b1000_0001, 0b1110_0001, 0b0111_1110];

/// M-cycles between a trigger and the beginning of its first period.
const TRIGGER_DELAY_MCYCLES: u16 = 2;

/// Step counter of a pulse channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pulse {
    /// Step of the wave, 0 to 7.
    step: u8,
    /// M-cycles until the next step.
    countdown: u16,
    /// Output of the step, looked up when the step begins, so that a new duty takes effect with the
    /// next step.
    is_high: bool,
}

impl Pulse {
    /// Makes the channel after power-on of sound: low until the first step.
    pub(crate) fn new() -> Self {
        Self { step: 0, countdown: 0, is_high: false }
    }

    /// Makes a channel in the middle of a wave.
    pub(crate) fn playing(duty_and_length: u8, step: u8, countdown: u16) -> Self {
        Self { step, countdown, is_high: is_high(duty_and_length, step) }
    }

    /// Writes the counter's fields.
    pub(crate) fn write_to(&self, bytes: &mut Vec<u8>) {
        bytes.push(self.step);
        bytes.extend(self.countdown.to_le_bytes());
        bytes.push(u8::from(self.is_high));
    }

    /// Reads the fields that [`Pulse::write_to`] wrote.
    pub(crate) fn read(fields: &mut Fields<'_>) -> Option<Self> {
        let (step, countdown) = (fields.below(8)?, u16::from_le_bytes(fields.array()?));
        Some(Self { step, countdown, is_high: fields.flag()? })
    }

    /// Restarts the period, but not the wave.
    pub(crate) fn trigger(&mut self, frequency: u16) {
        self.countdown = period(frequency) + TRIGGER_DELAY_MCYCLES;
    }

    /// Returns the number of M-cycles up to and including the one of the next step of a playing
    /// channel.
    pub(crate) fn mcycles_to_step(&self) -> u32 {
        u32::from(self.countdown.max(1))
    }

    /// Advances a playing channel by M-cycles, at most to its next step.
    pub(crate) fn advance(&mut self, mcycles: u32, frequency: u16, duty_and_length: u8) {
        self.countdown = self.countdown.saturating_sub(mcycles as u16);
        if self.countdown == 0 {
            self.countdown = period(frequency);
            self.step = (self.step + 1) & 7;
            self.is_high = is_high(duty_and_length, self.step);
        }
    }

    /// Returns true if the wave is high.
    pub(crate) fn is_high(&self) -> bool {
        self.is_high
    }
}

/// Returns true if a step is high, for this NRx1.
fn is_high(duty_and_length: u8, step: u8) -> bool {
    DUTIES[usize::from(duty_and_length >> 6)] >> step & 1 != 0
}

/// Returns the M-cycles of one step.
fn period(frequency: u16) -> u16 {
    2048 - frequency
}
