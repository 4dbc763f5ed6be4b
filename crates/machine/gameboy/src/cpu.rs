//! The SM83's registers and flags. `alu` computes on them, `opcode` is the opcode chart,
//! `families` the same chart for GPUs, `prefix` the chart after CB, and `interrupt_dispatch` leaves
//! the program for a handler.

mod alu;
pub mod families;
pub mod interrupt_dispatch;
mod opcode;
mod prefix;

/// Flag of F: the last result was zero. The lower four bits of F are always zero.
pub const Z: u8 = 0x80;
/// The last operation was a subtraction.
pub const N: u8 = 0x40;
/// Carry out of bit 3.
pub const H: u8 = 0x20;
/// Carry out of bit 7.
pub const C: u8 = 0x10;

/// Mode of the CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mode {
    /// Executing instructions.
    Running = 0,
    /// Waiting for an enabled interrupt line.
    Halted = 1,
    /// Waiting for a button, after STOP.
    Stopped = 2,
    /// Hung for good by an opcode that does not exist.
    Locked = 3,
}

/// Registers and the state that one instruction leaves for the next. While instructions execute,
/// this is a copy of the machine's `cpu`, so that it can live in the host's registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Cpu {
    /// The next M-cycle.
    pub now: u32,
    /// Accumulator.
    pub a: u8,
    /// The last result. Flag Z, which is set if the result is zero, is computed only when it is
    /// read.
    pub zero: u8,
    /// The carries into each bit of the last sum: bit 4 is flag H, bit 8 is flag C. Bit 9 is flag
    /// N.
    pub carries: u16,
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
    /// True if EI was the last instruction: `ime` becomes true after the next instruction.
    pub ime_delayed: bool,
    /// Running or waiting.
    pub mode: Mode,
    /// True until the first M-cycle of HALT has passed.
    pub just_halted: bool,
    /// True if the next fetch of an opcode does not increment PC.
    pub halt_bug: bool,
    /// True if STOP was a two-byte instruction, whose second byte is skipped on waking.
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

    /// F.
    #[inline(always)]
    pub fn f(&self) -> u8 {
        let z = (self.zero == 0) as u8;
        let n = (self.carries >> 9) as u8 & 1;
        let h = (self.carries >> 4) as u8 & 1;
        let c = (self.carries >> 8) as u8 & 1;
        z << 7 | n << 6 | h << 5 | c << 4
    }

    /// Sets F, of which only four bits exist.
    #[inline(always)]
    pub fn set_f(&mut self, value: u8) {
        self.zero = !value & Z;
        let value = value as u16;
        self.carries = (value & N as u16) << 3 | (value & H as u16) >> 1 | (value & C as u16) << 4;
    }

    /// AF.
    #[inline(always)]
    pub fn af(&self) -> u16 {
        (self.a as u16) << 8 | self.f() as u16
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

    /// Sets AF.
    #[inline(always)]
    pub fn set_af(&mut self, value: u16) {
        self.a = (value >> 8) as u8;
        self.set_f(value as u8);
    }
}
