//! The SM83's registers and flags. `alu` computes on them, `opcode` is the opcode chart, `prefix` the
//! chart behind CB, and `interrupt` leaves the program for a handler.

mod alu;
mod interrupt;
mod opcode;
mod prefix;

/// Flag bits of F; the lower four bits of F are always zero.
pub const Z: u8 = 0x80;
/// The last operation was a subtraction.
pub const N: u8 = 0x40;
/// Carry out of bit 3.
pub const H: u8 = 0x20;
/// Carry out of bit 7.
pub const C: u8 = 0x10;

/// What the CPU is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Executing instructions.
    Running = 0,
    /// Waiting for an enabled interrupt line.
    Halted = 1,
    /// Waiting for a button, after STOP.
    Stopped = 2,
    /// Hung by an opcode that does not exist, for good.
    Locked = 3,
}

/// Registers and the state that instructions leave behind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cpu {
    /// Accumulator.
    pub a: u8,
    /// Flags.
    pub f: u8,
    /// Upper half of BC.
    pub b: u8,
    /// Lower half of BC.
    pub c: u8,
    /// Upper half of DE.
    pub d: u8,
    /// Lower half of DE.
    pub e: u8,
    /// Upper half of HL.
    pub h: u8,
    /// Lower half of HL.
    pub l: u8,
    /// Stack pointer.
    pub sp: u16,
    /// Program counter.
    pub pc: u16,
    /// Interrupt master enable.
    pub ime: bool,
    /// EI was the last instruction: `ime` rises after the next one.
    pub ime_delayed: bool,
    /// Running or waiting.
    pub mode: Mode,
    /// The first M-cycle of HALT has not passed yet.
    pub just_halted: bool,
    /// The next opcode is fetched without moving PC on.
    pub halt_bug: bool,
    /// STOP was a two-byte instruction: its second byte is skipped on waking.
    pub stop_skips: bool,
}

impl Cpu {
    /// BC.
    #[inline(always)]
    pub fn bc(&self) -> u16 {
        (self.b as u16) << 8 | self.c as u16
    }

    /// DE.
    #[inline(always)]
    pub fn de(&self) -> u16 {
        (self.d as u16) << 8 | self.e as u16
    }

    /// HL.
    #[inline(always)]
    pub fn hl(&self) -> u16 {
        (self.h as u16) << 8 | self.l as u16
    }

    /// AF.
    #[inline(always)]
    pub fn af(&self) -> u16 {
        (self.a as u16) << 8 | self.f as u16
    }

    /// Sets BC.
    #[inline(always)]
    pub fn set_bc(&mut self, value: u16) {
        self.b = (value >> 8) as u8;
        self.c = value as u8;
    }

    /// Sets DE.
    #[inline(always)]
    pub fn set_de(&mut self, value: u16) {
        self.d = (value >> 8) as u8;
        self.e = value as u8;
    }

    /// Sets HL.
    #[inline(always)]
    pub fn set_hl(&mut self, value: u16) {
        self.h = (value >> 8) as u8;
        self.l = value as u8;
    }

    /// Sets AF; the flags have four bits only.
    #[inline(always)]
    pub fn set_af(&mut self, value: u16) {
        self.a = (value >> 8) as u8;
        self.f = value as u8 & 0xf0;
    }
}
