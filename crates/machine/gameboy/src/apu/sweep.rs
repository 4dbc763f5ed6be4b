//! Channel 1's sweep, which can switch the channel off by letting its frequency overflow.
//!
//! Called by `Apu`. Source: Pan Docs "Pulse channel with sweep (CH1)" and "Obscure Behavior"; that
//! an iteration comes an M-cycle after its clock is what gambatte's
//! `ch1_init_reset_sweep_counter_timing` tests show.
// UNVERIFIED: on hardware the overflow check ends a few M-cycles after it began; here at once.

use super::{Apu, PULSE_1};

/// Frequencies have 11 bits.
const HIGHEST_FREQUENCY: u16 = 0x7ff;
/// NR10 bit 3.
const SUBTRACT: u8 = 0x08;

/// The sweep unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Sweep {
    /// The frequency it works on.
    pub shadow: u16,
    /// Sweep clocks until the next iteration; at 0 it comes with the next M-cycle.
    pub timer: u8,
    /// The sweep was triggered with a pace or a step.
    pub enabled: bool,
    /// The sweep has calculated in subtraction mode since the trigger.
    pub subtracted: bool,
}

impl Sweep {
    pub(super) fn idle() -> Sweep {
        Sweep { shadow: 0, timer: 8, enabled: false, subtracted: false }
    }
}

impl Apu {
    /// NR14. A clock that comes with the next M-cycle does not count.
    pub(super) fn trigger_sweep(&mut self, is_clock_next: bool) {
        self.sweep.shadow = self.frequency(PULSE_1);
        self.sweep.timer = self.sweep_reload() + is_clock_next as u8;
        self.sweep.enabled = self.registers[0] & 0x77 != 0;
        self.sweep.subtracted = false;
        if self.sweep_step() != 0 {
            self.check_sweep_overflow();
        }
    }

    /// The 128 Hz clock.
    pub(super) fn clock_sweep(&mut self) {
        self.sweep.timer = self.sweep.timer.wrapping_sub(1);
    }

    /// The M-cycle after a sweep clock, or a later one.
    pub(super) fn iterate_sweep_if_due(&mut self) {
        if self.sweep.timer != 0 {
            return;
        }
        self.sweep.timer = self.sweep_reload();
        if self.sweep_pace() == 0 {
            return;
        }
        let next = self.check_sweep_overflow();
        if next <= HIGHEST_FREQUENCY && self.sweep_step() != 0 {
            self.sweep.shadow = next;
            self.registers[3] = next as u8;
            self.registers[4] = (self.registers[4] & !7) | (next >> 8) as u8;
            self.check_sweep_overflow();
        }
    }

    /// A write to NR10 that leaves subtraction after it was used switches the channel off.
    pub(super) fn end_subtraction(&mut self) {
        if self.sweep.subtracted && self.registers[0] & SUBTRACT == 0 {
            self.deactivate(PULSE_1);
        }
    }

    /// The next frequency; one that overflows switches the channel off.
    fn check_sweep_overflow(&mut self) -> u16 {
        let change = self.sweep.shadow >> self.sweep_step();
        if self.registers[0] & SUBTRACT != 0 {
            self.sweep.subtracted = true;
            return self.sweep.shadow - change;
        }
        let next = self.sweep.shadow + change;
        if next > HIGHEST_FREQUENCY {
            self.deactivate(PULSE_1);
        }
        next
    }

    fn sweep_step(&self) -> u8 {
        self.registers[0] & 7
    }

    fn sweep_pace(&self) -> u8 {
        (self.registers[0] >> 4) & 7
    }

    /// A pace of 0 counts as 8.
    fn sweep_reload(&self) -> u8 {
        if self.sweep_pace() == 0 { 8 } else { self.sweep_pace() }
    }
}
