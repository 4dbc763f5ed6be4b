//! Channel 4: a divider, a counter of 14 bits, and a shift register that one of those bits clocks.
//! Called by `voice`.
//!
//! The register is shifted only at a read; until then its clocks are counted. (For samples, which
//! no program can read, the crate `sound` has a simpler channel 4.)
#![cfg(color)]

/// NR43: a register of 7 bits instead of 15.
const IS_SHORT: u8 = 0x08;
/// Shifts after which the 15-bit register repeats; `SHORT_PERIOD` is for the 7-bit register.
const LONG_PERIOD: u32 = 32767;
const SHORT_PERIOD: u32 = 127;
/// Shifts after which a register that was switched to 7 bits holds no bit from its time with 15.
const SETTLING: u32 = 16;

/// The noise generator.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Noise {
    /// Clocks of the register that are not executed yet.
    pub due: u32,
    /// The shift register, its output in bit 0.
    pub register: u16,
    /// Clocks of the divider; its bits clock the register.
    pub counter: u16,
    /// Ticks until the divider's next clock; 0 if it has never run.
    pub left: u8,
    /// True if the divider runs, from the first trigger on.
    pub runs: bool,
    /// True if the divider was clocked in this tick.
    pub just_counted: bool,
    /// True if the divider was clocked since the trigger.
    pub has_counted: bool,
}

/// Ticks of the divider, by NR43's lower bits.
fn divider(setup: u8) -> u32 {
    if setup & 7 == 0 { 2 } else { (setup as u32 & 7) * 4 }
}

/// The counter's bit that clocks the register; the two highest settings select none.
fn clock_bit(counter: u16, setup: u8) -> bool {
    counter >> (setup >> 4) & 1 != 0
}

/// Ticks from a trigger to the first clock of a divider by 2.
fn first_left_undivided(meets_clock: bool, is_odd: bool, ran: bool) -> u8 {
    if meets_clock {
        34
    } else if !is_odd {
        6
    } else if ran {
        5
    } else {
        7
    }
}

/// Ticks from a trigger to the first clock of a divider by 4.
fn first_left_by_four(phase: u8, was_active: bool, ran: bool, is_fastest: bool) -> u8 {
    if phase == 2 {
        8
    } else if phase == 0 {
        let is_early = if was_active { is_fastest } else { ran };
        if is_early { 6 } else { 10 }
    } else {
        let ticks = if phase == 1 { 9 } else { 11 };
        if was_active { ticks - 4 } else { ticks }
    }
}

impl Noise {
    pub(super) const fn idle() -> Noise {
        Noise {
            due: 0,
            register: 0,
            counter: 0,
            left: 0,
            runs: false,
            just_counted: false,
            has_counted: false,
        }
    }

    pub(super) fn advance(&mut self, ticks: u32, setup: u8, is_active: bool) {
        if !self.runs {
            return;
        }
        let period = divider(setup);
        if self.left == 0 {
            self.left = period as u8;
        }
        if ticks < self.left as u32 {
            self.left -= ticks as u8;
            self.just_counted = false;
            return;
        }
        let over = ticks - self.left as u32;
        let since = over % period;
        self.left = (period - since) as u8;
        self.just_counted = since == 0;
        self.has_counted = true;
        self.count(1 + over / period, setup, is_active);
    }

    /// The divider's clocks: as the selected bit rises, the register is clocked.
    fn count(&mut self, clocks: u32, setup: u8, is_active: bool) {
        let shift = (setup >> 4) as u32;
        let from = self.counter as u32;
        self.counter = (from.wrapping_add(clocks) & 0x3fff) as u16;
        if shift < 14 && is_active {
            let half = 1 << shift;
            let rises = (from.wrapping_add(clocks).wrapping_add(half) >> (shift + 1))
                .wrapping_sub(from.wrapping_add(half) >> (shift + 1));
            self.due = self.due.wrapping_add(rises);
            // The count of due shifts must not wrap.
            if self.due > 1 << 28 {
                self.shift_due(setup);
            }
        }
    }

    /// Executes the due clocks of the register.
    fn shift_due(&mut self, setup: u8) {
        let is_short = setup & IS_SHORT != 0;
        let mut due = self.due;
        if is_short && due > SETTLING + SHORT_PERIOD {
            due = SETTLING + (due - SETTLING) % SHORT_PERIOD;
        } else if !is_short && due > LONG_PERIOD {
            due %= LONG_PERIOD;
        }
        self.due = 0;
        while due > 0 {
            let bit = !(self.register ^ self.register >> 1) & 1;
            self.register = self.register >> 1 | bit << 14;
            if is_short {
                self.register = self.register & !0x40 | bit << 6;
            }
            due -= 1;
        }
    }

    /// Returns true if the output is high.
    pub(super) fn is_high(&mut self, setup: u8) -> bool {
        self.shift_due(setup);
        self.register & 1 != 0
    }

    /// A trigger clears the register and starts the divider, whose delay depends on its alignment
    /// with the 512 kHz clock (SameSuite's `channel_4_align`, `channel_4_delay`,
    /// `channel_4_frequency_alignment`).
    pub(super) fn trigger(&mut self, setup: u8, phase: u8, was_active: bool, has_dac: bool) {
        let divisor = setup & 7;
        let shift = setup >> 4;
        let ran = self.runs;
        let is_odd = phase & 1 != 0;
        let meets_clock = self.left == 2 && phase & 3 == 0 && was_active;
        let mut clocks_now = false;
        let mut skips = false;
        self.due = 0;
        self.register = 0;
        if divisor > 1 && self.left == 1 {
            self.counter = self.counter.wrapping_add(1) & 0x3fff;
        } else if meets_clock && divisor == 1 {
            let was_high = clock_bit(self.counter, setup);
            self.counter = self.counter.wrapping_add(1) & 0x3fff;
            clocks_now = !was_high && clock_bit(self.counter, setup);
            skips = !self.has_counted;
        }
        self.left = if divisor == 0 {
            first_left_undivided(meets_clock, is_odd, ran)
        } else if divisor == 1 {
            first_left_by_four(phase & 3, was_active, ran, shift == 0)
        } else {
            // Aligned with the 512 kHz clock.
            let waits = !has_dac && phase == 0;
            divisor * 4 + [2, 5, 4, 3][phase as usize & 3] + if waits { 4 } else { 0 }
        };
        if skips {
            self.left -= 4;
        }
        if divisor == 0 && was_active && phase & 3 == 3 {
            self.register = 0x55;
        }
        if clocks_now {
            self.due = 1;
        }
        self.runs = true;
        self.has_counted = phase & 3 == 2;
    }

    /// A write to NR43: another bit of the counter clocks the register. If that bit is set and the
    /// old one was not, the register is clocked at once. For a moment the counter sees the upper
    /// bit of the new value with the lower bits of the old one.
    pub(super) fn rewrite(&mut self, old: u8, new: u8, phase: u8, is_active: bool) {
        self.shift_due(old);
        if self.just_counted {
            let period = divider(new) as u8;
            self.left = period + if period == 2 { 0 } else { [2, 1, 0, 3][phase as usize & 3] };
        }
        let was_high = clock_bit(self.counter, old);
        let between = clock_bit(self.counter, old & 0x7f | new & 0x80);
        let is_high = clock_bit(self.counter, new);
        let falls_between = was_high && is_high && !between && new & 0x80 == 0;
        if (old ^ new) & 0xf0 != 0 && (!was_high && (is_high || between) || falls_between) {
            self.due = is_active as u32;
            self.shift_due(new);
        }
    }
}
