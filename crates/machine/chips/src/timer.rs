//! DIV, TIMA, TMA and TAC (FF04-FF07).
//!
//! DIV is the upper half of a counter that the clock drives; TIMA counts falling edges of one of
//! the counter's bits. `sync` computes TIMA only when it is needed: at a read or a write, at its
//! deadline, and at the end of a frame.

use crate::interrupts::{Interrupts, TIMER};

/// A deadline so far away that another chip's deadline always comes first.
pub const FAR_MCYCLES: u32 = 1 << 28;

/// The timer, synced up to `synced_at`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Timer {
    /// Time at which the 16-bit system counter was zero, in M-cycles.
    pub div_base: u32,
    /// TIMA at `synced_at`.
    pub tima: u8,
    /// TMA: the value that TIMA gets after an overflow.
    pub tma: u8,
    /// TAC: bit 2 enables, bits 0 and 1 select the counter bit.
    pub tac: u8,
    /// The time for which `tima` holds.
    pub synced_at: u32,
    /// TIMA overflowed at `overflow_at` and `TMA` arrives one M-cycle later.
    pub overflowed: bool,
    /// The M-cycle of the last overflow.
    pub overflow_at: u32,
    /// The M-cycle of the last reload of TIMA from TMA, in which writes to TIMA have no effect.
    pub reload_at: u32,
    /// Time of the next possible interrupt.
    pub deadline: u32,
}

/// M-cycles between two falling edges of the bit that TAC selects, as a power of two.
const EDGE_SHIFT: [u8; 4] = [8, 2, 4, 6];

impl Timer {
    /// Makes a stopped timer whose system counter was zero at `div_base`.
    pub const fn stopped(div_base: u32) -> Timer {
        Timer {
            div_base,
            tima: 0,
            tma: 0,
            tac: 0,
            synced_at: 0,
            overflowed: false,
            overflow_at: FAR_MCYCLES,
            reload_at: FAR_MCYCLES,
            deadline: FAR_MCYCLES,
        }
    }

    /// The 16-bit system counter, in T-cycles; DIV is its upper half.
    #[inline(always)]
    pub fn counter(&self, now: u32) -> u16 {
        (now.wrapping_sub(self.div_base) << 2) as u16
    }

    #[inline]
    fn edge_shift(&self) -> u32 {
        EDGE_SHIFT[(self.tac & 3) as usize] as u32
    }

    /// Returns true if the enabled counter bit is high: whenever it falls, for any reason, TIMA
    /// counts.
    #[inline]
    fn input_is_high(&self, now: u32) -> bool {
        let half = 1 << (self.edge_shift() - 1);
        self.tac & 4 != 0 && now.wrapping_sub(self.div_base) & half != 0
    }

    /// Brings TIMA and the interrupt line up to `now`.
    #[inline]
    pub fn sync(&mut self, interrupts: &mut Interrupts, now: u32) {
        if self.overflowed && now != self.overflow_at {
            self.reload(interrupts);
        }
        if self.tac & 4 != 0 {
            let shift = self.edge_shift();
            let mut from = self.synced_at.wrapping_sub(self.div_base) >> shift;
            let until = now.wrapping_sub(self.div_base) >> shift;
            while from != until {
                let room = 0x100 - self.tima as u32;
                if until.wrapping_sub(from) < room {
                    self.tima = self.tima.wrapping_add(until.wrapping_sub(from) as u8);
                    from = until;
                } else {
                    from = from.wrapping_add(room);
                    self.tima = 0;
                    self.overflowed = true;
                    self.overflow_at = self.div_base.wrapping_add(from << shift);
                    if self.overflow_at != now {
                        self.reload(interrupts);
                    }
                }
            }
        }
        self.synced_at = now;
    }

    // Pan Docs "Timer overflow behavior": for one M-cycle after the overflow TIMA reads 0; then TMA
    // arrives and the interrupt is requested.
    #[inline]
    fn reload(&mut self, interrupts: &mut Interrupts) {
        self.overflowed = false;
        self.reload_at = self.overflow_at.wrapping_add(1);
        self.tima = self.tma;
        interrupts.request(TIMER);
    }

    /// Counts an edge that a write to DIV or TAC causes.
    #[inline]
    fn count_edge(&mut self, now: u32) {
        self.tima = self.tima.wrapping_add(1);
        if self.tima == 0 {
            self.overflowed = true;
            self.overflow_at = now;
        }
    }

    /// Computes the next possible time of the interrupt.
    #[inline]
    pub fn schedule(&mut self, now: u32) {
        self.deadline = if self.overflowed {
            self.overflow_at.wrapping_add(1)
        } else if self.tac & 4 == 0 {
            now.wrapping_add(FAR_MCYCLES)
        } else {
            let shift = self.edge_shift();
            let edges = 0x100 - self.tima as u32;
            let passed = now.wrapping_sub(self.div_base) >> shift;
            self.div_base.wrapping_add(passed.wrapping_add(edges) << shift).wrapping_add(1)
        };
    }

    /// A read of FF04-FF07.
    #[inline]
    pub fn read(&mut self, interrupts: &mut Interrupts, now: u32, address: u16) -> u8 {
        self.sync(interrupts, now);
        match address & 3 {
            0 => (self.counter(now) >> 8) as u8,
            1 => self.tima,
            2 => self.tma,
            _ => self.tac | 0xf8,
        }
    }

    /// A write to FF05-FF07. Writes to DIV go to `reset_div`, because they affect other chips, too.
    #[inline]
    pub fn write(&mut self, interrupts: &mut Interrupts, now: u32, address: u16, value: u8) {
        self.sync(interrupts, now);
        match address & 3 {
            1 => {
                // In the M-cycle of the overflow the write wins and cancels the reload; in the one
                // after, TMA wins.
                if now != self.reload_at {
                    self.tima = value;
                    self.overflowed = false;
                }
            }
            2 => {
                self.tma = value;
                if now == self.reload_at {
                    self.tima = value;
                }
            }
            _ => {
                let was_high = self.input_is_high(now);
                self.tac = value & 7;
                if was_high && !self.input_is_high(now) {
                    self.count_edge(now);
                }
            }
        }
        self.schedule(now);
    }

    /// Zeroes the whole system counter, as any write to DIV does.
    #[inline]
    pub fn reset_div(&mut self, interrupts: &mut Interrupts, now: u32) {
        self.sync(interrupts, now);
        let was_high = self.input_is_high(now);
        self.div_base = now;
        if was_high {
            self.count_edge(now);
        }
        self.schedule(now);
    }
}
