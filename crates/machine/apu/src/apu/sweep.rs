//! Channel 1's sweep, which can switch the channel off by letting its frequency overflow.
//!
//! Called by `Apu`. A clock of the sequencer writes the next frequency back at once, loads the
//! adder's registers 3 ticks later, and starts a check, which shifts serially: one bit in each
//! M-cycle, counted from the power-on of sound, and no bit while NR10's step is 0. Times are in
//! ticks of 2 T-cycles. Sources: Pan Docs "Pulse channel with sweep (CH1)" and "Obscure Behavior";
//! for the times and the effects of writes SameSuite's `channel_1_sweep`, gambatte's
//! `ch1_init_reset_sweep_counter_timing` and DocBoy's `ch1_period_sweep` tests.

use super::{Apu, COLOR, PULSE_1};

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
    /// The adder's first operand, a frequency: 0 from a trigger to the end of its check.
    pub shadow: u16,
    /// The frequency, shifted by NR10's step, as of the last load.
    pub change: u16,
    /// The number that the last check added: `change`, with each bit inverted if NR10 subtracts.
    pub added: u16,
    /// Sweep clocks until the next iteration, modulo 8.
    pub pace_left: u8,
    /// Ticks until the adder's registers are loaded, or 0.
    pub reload_ticks: u8,
    /// Ticks until a clock may start a check again; a trigger sets them.
    pub trigger_ticks: u8,
    /// M-cycles that a trigger makes its check wait.
    pub check_wait: u8,
    /// M-cycles of `check_wait` that have passed.
    pub check_waited: u8,
    /// Remaining shifts of the check, which ends with the last one.
    pub check_shifts: u8,
    /// True if a check without shifts ends with the next tick.
    pub check_due: bool,
    /// True if the next check is the first one since a trigger.
    pub first_check: bool,
    /// True if the load writes the frequency once more, because NR13 and NR14 were not written in
    /// between.
    pub rewrites: bool,
    /// True if the last iteration wrote a frequency.
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

    /// Returns true if the sweep changes in the next ticks even without a clock; `nr10` holds the
    /// step.
    pub fn is_busy(&self, nr10: u8) -> bool {
        self.reload_ticks != 0
            || self.trigger_ticks != 0
            || self.check_due
            || self.check_waited < self.check_wait
            || self.check_shifts != 0 && sweep_step(nr10) != 0
    }

    /// Handles the 128 Hz clock, `early` ticks before the sequencer's regular tick; returns true if
    /// the pace is over. A clock in the M-cycle of a trigger does not count.
    pub(super) fn count_down(&mut self, early: u8) -> bool {
        if self.trigger_ticks + 1 == TRIGGER_TICKS + early {
            return false;
        }
        self.pace_left = self.pace_left.wrapping_sub(1) & 7;
        self.pace_left == 0
    }

    /// Returns the new value of NR13 or NR14, which holds `old`. In the tick of an iteration that
    /// writes a frequency, the write has no effect on the frequency.
    pub(super) fn value_beside(&self, index: u8, old: u8, value: u8) -> u8 {
        let iterates = self.reload_ticks == RELOAD_TICKS && self.has_written;
        if index == 3 && iterates {
            old
        } else if index == 4 && iterates {
            (value & !7) | (old & 7)
        } else {
            value
        }
    }

    /// NR13 or NR14 was written; `change` is the frequency of both, shifted.
    pub(super) fn end_rewrite(&mut self, is_trigger: bool, is_high: bool, change: u16) {
        self.rewrites = false;
        if is_high && !is_trigger && self.reload_ticks != 0 && self.has_written {
            self.change = change;
        }
    }

    /// NR14 triggers the channel.
    pub(super) fn trigger(&mut self, nr10: u8, frequency: u16) {
        let step = sweep_step(nr10);
        self.pace_left = pace(nr10);
        self.shadow = 0;
        self.change = 0;
        self.added = 0;
        self.first_check = true;
        if self.check_waited == self.check_wait {
            self.trigger_ticks = TRIGGER_TICKS;
        }
        if step == 0 {
            return;
        }
        self.change = frequency >> step;
        if !self.is_check_just_triggered() {
            let ends = self.check_shifts < 2;
            let begins = self.check_waited == CHECK_WAIT && self.check_shifts == step;
            self.check_wait = CHECK_WAIT + ends as u8 + begins as u8;
            self.check_waited = 0;
        }
        self.check_shifts = step;
    }

    /// Returns true in the first M-cycles of a triggered check's wait.
    fn is_check_just_triggered(&self) -> bool {
        self.check_wait != 0 && self.check_waited < CHECK_WAIT
    }

    /// The number that the adder adds: subtraction adds each bit inverted, and 1.
    fn summand(&self, nr10: u8) -> u16 {
        if subtracts(nr10) { self.change ^ HIGHEST_FREQUENCY } else { self.change }
    }
}

fn subtracts(nr10: u8) -> bool {
    nr10 & SUBTRACT != 0
}

fn sweep_step(nr10: u8) -> u8 {
    nr10 & 7
}

/// A pace of 0 lasts for 8 clocks.
fn pace(nr10: u8) -> u8 {
    (nr10 >> 4) & 7
}

impl Apu {
    /// Advances the sweep by some ticks, which begin `phase` ticks after the power-on of sound.
    pub(super) fn advance_sweep(&mut self, ticks: u32, phase: u32) {
        let mut passed = 0;
        while passed < ticks && self.sweep.is_busy(self.registers[0]) {
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
        } else if shifts && self.sweep.check_shifts != 0 && sweep_step(self.registers[0]) != 0 {
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

    /// Handles the last clock of a pace, `early` ticks before the sequencer's regular tick.
    pub(super) fn iterate_sweep(&mut self, early: u8) {
        if self.sweep.check_shifts != 0 {
            // The shift register is still in use.
            if self.sweep.trigger_ticks > RELOAD_TICKS + early {
                self.sweep.shadow = self.frequency(PULSE_1);
            }
            self.sweep.change = 0;
        }
        if pace(self.registers[0]) == 0 {
            return;
        }
        self.sweep.has_written = sweep_step(self.registers[0]) != 0;
        if self.sweep.has_written {
            self.write_swept_frequency();
        }
        self.sweep.rewrites = true;
        self.sweep.reload_ticks = RELOAD_TICKS + early;
    }

    fn write_swept_frequency(&mut self) {
        let nr10 = self.registers[0];
        let next = self.sweep.shadow + self.sweep.summand(nr10) + subtracts(nr10) as u16;
        self.registers[3] = next as u8;
        self.registers[4] = (self.registers[4] & !7) | (next >> 8) as u8 & 7;
    }

    /// Loads the adder's registers some ticks after an iteration: NR10 may have been written since.
    fn reload_sweep(&mut self) {
        let step = sweep_step(self.registers[0]);
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
        self.sweep.pace_left = pace(self.registers[0]);
    }

    /// Ends a check: a sum that overflows switches the channel off.
    fn end_sweep_check(&mut self) {
        self.sweep.shadow = self.frequency(PULSE_1);
        self.sweep.added = self.sweep.summand(self.registers[0]);
        if !subtracts(self.registers[0]) {
            let carry = !COLOR && !self.sweep.first_check;
            self.end_sweep_overflow(carry);
        }
        self.sweep.first_check = false;
    }

    fn end_sweep_overflow(&mut self, carry: bool) {
        if self.sweep.shadow + self.sweep.added + carry as u16 > HIGHEST_FREQUENCY {
            self.deactivate(PULSE_1);
        }
    }

    /// Handles a write to NR10, which held `old`, `phase` ticks after the power-on of sound: an
    /// adder that subtracted overflows, shifts continue or restart, and a complete count iterates.
    pub(super) fn rewrite_sweep(&mut self, old: u8, phase: u32) {
        if self.is_active(PULSE_1) && !subtracts(self.registers[0]) {
            self.end_sweep_overflow(!COLOR || old & SUBTRACT != 0);
        }
        if !self.is_active(PULSE_1) {
            return;
        }
        let step = sweep_step(self.registers[0]);
        if self.sweep.is_check_just_triggered() {
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
}
