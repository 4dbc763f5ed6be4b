//! MBC3's clock. It counts emulated time (M-cycles), so that runs are deterministic.
//!
//! Called by `Cart`. The program writes the running registers and reads the latched ones. Registers
//! keep only the bits that exist, and carry only when they reach their limit exactly: after 62
//! seconds come 63, then 0 without a carry to the minutes (checked by the public rtc3test ROM).

/// One emulated second: the system clock is 2^20 M-cycles a second.
const SECOND_MCYCLES: u32 = 1 << 20;
/// DH bit 6.
const HALT: u8 = 0x40;
/// DH bit 7.
const DAY_CARRY: u8 = 0x80;

/// Registers 08-0C.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct ClockRegisters {
    /// S, 6 bits.
    pub seconds: u8,
    /// M, 6 bits.
    pub minutes: u8,
    /// H, 5 bits.
    pub hours: u8,
    /// DL: days, lower 8 bits.
    pub days_low: u8,
    /// DH: bit 0 = day bit 8, bit 6 = halt, bit 7 = day carry.
    pub days_high: u8,
}

/// The clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Rtc {
    /// The M-cycle up to which time was counted.
    pub synced_at: u32,
    /// M-cycles since the last second.
    pub subsecond_mcycles: u32,
    /// Registers that count.
    pub running: ClockRegisters,
    /// Registers that the program reads.
    pub latched: ClockRegisters,
    /// True if bit 0 of the last write to 6000-7FFF was 0.
    pub latch_armed: bool,
}

impl Rtc {
    /// All registers zero, the clock running.
    pub const fn power_on() -> Rtc {
        let zero = ClockRegisters { seconds: 0, minutes: 0, hours: 0, days_low: 0, days_high: 0 };
        Rtc { synced_at: 0, subsecond_mcycles: 0, running: zero, latched: zero, latch_armed: false }
    }

    /// Counts the time up to `now`.
    #[inline(never)]
    pub fn sync(&mut self, now: u32) {
        let elapsed = now.wrapping_sub(self.synced_at);
        self.synced_at = now;
        if self.running.days_high & HALT != 0 {
            return;
        }
        let mut seconds = elapsed / SECOND_MCYCLES;
        self.subsecond_mcycles += elapsed % SECOND_MCYCLES;
        if self.subsecond_mcycles >= SECOND_MCYCLES {
            self.subsecond_mcycles -= SECOND_MCYCLES;
            seconds += 1;
        }
        while seconds > 0 {
            self.running.tick();
            seconds -= 1;
        }
    }

    /// Reads the latched register `select` (08-0C).
    pub fn read(&self, select: u8) -> u8 {
        match select {
            0x08 => self.latched.seconds,
            0x09 => self.latched.minutes,
            0x0a => self.latched.hours,
            0x0b => self.latched.days_low,
            0x0c => self.latched.days_high,
            _ => 0xff,
        }
    }

    /// Writes the running register `select` (08-0C).
    pub fn write(&mut self, now: u32, select: u8, value: u8) {
        self.sync(now);
        match select {
            // Writing S restarts the second; no other register does (rtc3test "sub-second writes").
            0x08 => {
                self.running.seconds = value & 0x3f;
                self.subsecond_mcycles = 0;
            }
            0x09 => self.running.minutes = value & 0x3f,
            0x0a => self.running.hours = value & 0x1f,
            0x0b => self.running.days_low = value,
            0x0c => self.running.days_high = value & (DAY_CARRY | HALT | 1),
            _ => {}
        }
    }

    /// A write that raises bit 0 copies the running registers to the latched registers, as in an
    /// MBC3B: 0 then 3 latches; 1 then 1, and 0 then 2, don't (docboy `mbc3_rtc_latch_*`). In an
    /// MBC3A every write latches (cpp's latch-rtc-test, gbdev/pandocs 637).
    pub(crate) fn write_latch(&mut self, now: u32, value: u8) {
        let is_high = value & 1 != 0;
        if self.latch_armed && is_high {
            self.sync(now);
            self.latched = self.running;
        }
        self.latch_armed = !is_high;
    }
}

impl ClockRegisters {
    fn tick(&mut self) {
        self.seconds = (self.seconds + 1) & 0x3f;
        if self.seconds != 60 {
            return;
        }
        self.seconds = 0;
        self.minutes = (self.minutes + 1) & 0x3f;
        if self.minutes != 60 {
            return;
        }
        self.minutes = 0;
        self.hours = (self.hours + 1) & 0x1f;
        if self.hours != 24 {
            return;
        }
        self.hours = 0;
        self.tick_day();
    }

    fn tick_day(&mut self) {
        self.days_low = self.days_low.wrapping_add(1);
        if self.days_low != 0 {
            return;
        }
        // The carry stays until the program clears it.
        if self.days_high & 1 != 0 {
            self.days_high |= DAY_CARRY;
        }
        self.days_high ^= 1;
    }
}
