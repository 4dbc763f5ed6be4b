//! Channel 1's sweep, which can switch the channel off by letting its frequency overflow.
//!
//! Called by `Apu`. A clock of the sequencer writes the next frequency back at once, loads the
//! adder's registers 3 ticks later, and starts a check, which shifts serially: one bit in an
//! M-cycle, counted from the moment at which sound was switched on, and none while NR10's step
//! is 0. Times are in ticks of 2 T-cycles. Sources: Pan Docs "Pulse channel with sweep (CH1)" and
//! "Obscure Behavior"; the times and what writes disturb are what SameSuite's `channel_1_sweep`,
//! gambatte's `ch1_init_reset_sweep_counter_timing` and DocBoy's `ch1_period_sweep` tests show.

use super::{Apu, PULSE_1, TRIGGER};
use crate::machine::COLOR;

/// Frequencies have 11 bits.
const HIGHEST_FREQUENCY: u16 = 0x7ff;
/// NR10 bit 3.
const SUBTRACT: u8 = 0x08;

/// Ticks from the sequencer's clock to the load of the adder's registers.
const RELOAD_TICKS: u8 = 2;
/// Ticks after a trigger in which a clock starts no check.
const TRIGGER_TICKS: u8 = 5;
/// M-cycles that a check waits after a trigger, at least.
const CHECK_WAIT: u8 = 2;

/// The sweep unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Sweep {
    /// The frequency that the adder adds to: 0 from a trigger to the end of its check.
    pub shadow: u16,
    /// The frequency, shifted by NR10's step, as of the last load.
    pub change: u16,
    /// What the last check added: `change`, each bit inverted where NR10 subtracts.
    pub added: u16,
    /// Sweep clocks until the next iteration, modulo 8.
    pub pace_left: u8,
    /// Ticks until the adder's registers are loaded, or 0.
    pub reload_ticks: u8,
    /// Ticks left of those after a trigger in which a clock starts no check.
    pub trigger_ticks: u8,
    /// M-cycles that a trigger makes its check wait.
    pub check_wait: u8,
    /// Those of them that have passed.
    pub check_waited: u8,
    /// Shifts that the check has left; with the last one it ends.
    pub check_shifts: u8,
    /// A check without shifts ends with the next tick.
    pub check_due: bool,
    /// The next check is the first one since a trigger.
    pub first_check: bool,
    /// The load writes the frequency once more: no write to NR13 or NR14 came in between.
    pub rewrites: bool,
    /// The last iteration wrote a frequency.
    pub has_written: bool,
}

impl Sweep {
    pub(super) const fn idle() -> Sweep {
        Sweep {
            shadow: 0,
            change: 0,
            added: 0,
            pace_left: 0,
            reload_ticks: 0,
            trigger_ticks: 0,
            check_wait: 0,
            check_waited: 0,
            check_shifts: 0,
            check_due: false,
            first_check: false,
            rewrites: false,
            has_written: false,
        }
    }

    /// The boot ROM's chime was triggered without pace and step.
    pub(super) const fn post_boot() -> Sweep {
        let mut sweep = Sweep::idle();
        sweep.pace_left = 5;
        sweep.first_check = true;
        sweep
    }
}

impl Apu {
    /// Returns true if the sweep changes with the next ticks, whether a clock comes or not.
    pub fn is_sweep_busy(&self) -> bool {
        let sweep = &self.sweep;
        sweep.reload_ticks != 0
            || sweep.trigger_ticks != 0
            || sweep.check_due
            || sweep.check_waited < sweep.check_wait
            || sweep.check_shifts != 0 && self.sweep_step() != 0
    }

    /// Lets time pass, `phase` ticks after sound was switched on.
    pub(super) fn advance_sweep(&mut self, ticks: u32, phase: u32) {
        let mut passed = 0;
        while passed < ticks && self.is_sweep_busy() {
            self.advance_sweep_once((phase + passed) & 1 == 0);
            passed += 1;
        }
    }

    fn advance_sweep_once(&mut self, shifts: bool) {
        if self.sweep.check_due {
            self.sweep.check_due = false;
            self.end_sweep_check();
        } else if shifts && self.sweep.check_waited < self.sweep.check_wait {
            self.sweep.check_waited += 1;
        } else if shifts && self.sweep.check_shifts != 0 && self.sweep_step() != 0 {
            self.shift_sweep();
        }
        if self.sweep.trigger_ticks != 0 {
            self.sweep.trigger_ticks -= 1;
        }
        if self.sweep.reload_ticks != 0 {
            self.sweep.reload_ticks -= 1;
            if self.sweep.reload_ticks == 0 {
                self.reload_sweep();
            }
        }
    }

    fn shift_sweep(&mut self) {
        self.sweep.check_shifts -= 1;
        if self.sweep.check_shifts == 0 {
            self.end_sweep_check();
        }
    }

    /// The 128 Hz clock, `early` ticks before the sequencer's own.
    pub(super) fn clock_sweep(&mut self, early: u8) {
        if self.sweep.trigger_ticks + 1 == TRIGGER_TICKS + early {
            return;
        }
        self.sweep.pace_left = self.sweep.pace_left.wrapping_sub(1) & 7;
        if self.sweep.pace_left == 0 {
            self.iterate_sweep(early);
        }
    }

    fn iterate_sweep(&mut self, early: u8) {
        if self.sweep.check_shifts != 0 {
            // The shift register is still in use.
            if self.sweep.trigger_ticks > RELOAD_TICKS + early {
                self.sweep.shadow = self.frequency(PULSE_1);
            }
            self.sweep.change = 0;
        }
        if self.sweep_pace() == 0 {
            return;
        }
        self.sweep.has_written = self.sweep_step() != 0;
        if self.sweep.has_written {
            self.write_swept_frequency();
        }
        self.sweep.rewrites = true;
        self.sweep.reload_ticks = RELOAD_TICKS + early;
    }

    fn write_swept_frequency(&mut self) {
        let next = self.sweep_sum(self.sweep_change(), self.subtracts());
        self.registers[3] = next as u8;
        self.registers[4] = (self.registers[4] & !7) | (next >> 8) as u8 & 7;
    }

    /// Some ticks after an iteration: NR10 may have been written since.
    fn reload_sweep(&mut self) {
        let step = self.sweep_step();
        if step != 0 && self.sweep.rewrites {
            self.write_swept_frequency();
        }
        if self.sweep.trigger_ticks == 0 {
            if step != 0 {
                self.sweep.check_shifts = step;
            } else {
                self.sweep.check_due = true;
            }
        }
        self.sweep.change = self.frequency(PULSE_1) >> step;
        self.sweep.pace_left = self.sweep_pace();
    }

    /// The sum is complete; one that overflows switches the channel off.
    fn end_sweep_check(&mut self) {
        self.sweep.shadow = self.frequency(PULSE_1);
        self.sweep.added = self.sweep_change();
        if !self.subtracts() {
            let carry = !COLOR && !self.sweep.first_check;
            self.end_sweep_overflow(carry);
        }
        self.sweep.first_check = false;
    }

    fn end_sweep_overflow(&mut self, carry: bool) {
        if self.sweep_sum(self.sweep.added, carry) > HIGHEST_FREQUENCY {
            self.deactivate(PULSE_1);
        }
    }

    /// NR10 was written, `old` before, `phase` ticks after sound was switched on: an adder that
    /// subtracted before now overflows, shifts go on or begin anew, a full count iterates.
    pub(super) fn rewrite_sweep(&mut self, old: u8, phase: u32) {
        if self.is_active(PULSE_1) && !self.subtracts() {
            self.end_sweep_overflow(!COLOR || old & SUBTRACT != 0);
        }
        if !self.is_active(PULSE_1) {
            return;
        }
        let step = self.sweep_step();
        if self.is_check_just_triggered() {
            self.sweep.check_shifts = step;
            if step == 0 {
                self.sweep.check_waited = 0;
                self.sweep.check_wait = 0;
            }
        } else if self.sweep.check_shifts != 0 {
            let resumes = old & 7 == 0 && step != 0;
            let shifts_now = if COLOR {
                phase & 1 != 0 && (resumes || self.sweep.check_shifts == 1)
            } else {
                resumes
            };
            if shifts_now {
                self.shift_sweep();
            }
        }
        if self.sweep.pace_left == 0 {
            self.iterate_sweep(0);
        }
    }

    /// The value that NR13 or NR14 takes: in the tick of an iteration that writes a frequency, the
    /// frequency stays.
    pub(super) fn value_beside_sweep(&mut self, index: u8, value: u8) -> u8 {
        if (index != 3 && index != 4) || !self.is_iterating() {
            return value;
        }
        if index == 3 {
            return self.registers[3];
        }
        (value & !7) | (self.registers[4] & 7)
    }

    fn is_iterating(&self) -> bool {
        self.sweep.reload_ticks == RELOAD_TICKS && self.sweep.has_written
    }

    /// NR13 or NR14 was written.
    pub(super) fn end_sweep_rewrite(&mut self, register: u8, value: u8) {
        self.sweep.rewrites = false;
        let loads = self.sweep.reload_ticks != 0 && self.sweep.has_written;
        if register == 4 && value & TRIGGER == 0 && loads {
            self.sweep.change = self.frequency(PULSE_1) >> self.sweep_step();
        }
    }

    /// NR14 triggers the channel.
    pub(super) fn trigger_sweep(&mut self) {
        let step = self.sweep_step();
        self.sweep.pace_left = self.sweep_pace();
        self.sweep.shadow = 0;
        self.sweep.change = 0;
        self.sweep.added = 0;
        self.sweep.first_check = true;
        if self.sweep.check_waited == self.sweep.check_wait {
            self.sweep.trigger_ticks = TRIGGER_TICKS;
        }
        if step == 0 {
            return;
        }
        self.sweep.change = self.frequency(PULSE_1) >> step;
        if !self.is_check_just_triggered() {
            let ends = self.sweep.check_shifts < 2;
            let begins = self.sweep.check_waited == CHECK_WAIT && self.sweep.check_shifts == step;
            self.sweep.check_wait = CHECK_WAIT + ends as u8 + begins as u8;
            self.sweep.check_waited = 0;
        }
        self.sweep.check_shifts = step;
    }

    /// Returns true in the first M-cycles of a triggered check's wait.
    fn is_check_just_triggered(&self) -> bool {
        self.sweep.check_wait != 0 && self.sweep.check_waited < CHECK_WAIT
    }

    /// Subtraction adds each bit inverted, and 1.
    fn sweep_change(&self) -> u16 {
        if self.subtracts() { self.sweep.change ^ HIGHEST_FREQUENCY } else { self.sweep.change }
    }

    fn sweep_sum(&self, added: u16, carry: bool) -> u16 {
        self.sweep.shadow + added + carry as u16
    }

    fn subtracts(&self) -> bool {
        self.registers[0] & SUBTRACT != 0
    }

    fn sweep_step(&self) -> u8 {
        self.registers[0] & 7
    }

    /// A pace of 0 lasts for 8 clocks.
    fn sweep_pace(&self) -> u8 {
        (self.registers[0] >> 4) & 7
    }
}
