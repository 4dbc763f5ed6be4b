//! The rest of a machine: only the parts that the CPU's sources name. In the subset of Rust that is
//! translated.

use crate::interrupts::Interrupts;
use crate::joypad::Joypad;

/// Larger than the number of bytes that one instruction accesses, and than its M-cycles. A larger
/// number is an index error.
pub const MOST: usize = 8;

/// Kind of bus access in an M-cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    None = 0,
    Read = 1,
    Write = 2,
}

/// Bus access of one M-cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Access {
    pub kind: Kind,
    pub value: u8,
    pub address: u16,
}

/// A byte of memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Cell {
    pub address: u16,
    pub value: u8,
}

/// Memory is 64 KiB of zeros but for the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Machine {
    pub deadline: u32,
    pub interrupts: Interrupts,
    pub joypad: Joypad,
    pub cells: [Cell; MOST],
    pub cell_count: u32,
    pub accesses: [Access; MOST],
    pub access_count: u32,
}

impl Machine {
    /// The cell of an address, or the next free one.
    fn cell(&self, address: u16) -> usize {
        let mut at = 0;
        while at < self.cell_count as usize && self.cells[at].address != address {
            at += 1;
        }
        at
    }

    pub fn byte(&self, address: u16) -> u8 {
        let at = self.cell(address);
        if at < self.cell_count as usize { self.cells[at].value } else { 0 }
    }

    pub fn set_byte(&mut self, address: u16, value: u8) {
        let at = self.cell(address);
        self.cells[at] = Cell { address, value };
        if at == self.cell_count as usize {
            self.cell_count += 1;
        }
    }

    pub fn record(&mut self, kind: Kind, address: u16, value: u8) {
        self.accesses[self.access_count as usize] = Access { kind, value, address };
        self.access_count += 1;
    }

    pub fn requested_at(&mut self, _now: u32) -> u8 {
        self.interrupts.requested
    }

    pub fn acknowledge(&mut self, number: u16) {
        self.interrupts.requested &= !(1 << number);
    }

    pub fn begin_stop(&mut self) {}
}
