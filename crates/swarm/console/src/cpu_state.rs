//! One machine's registers, as every backend reports them.

use crate::{AnyMachine, of_either};

/// The SM83's programmer-visible registers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[allow(missing_docs)]
pub struct CpuState {
    pub a: u8,
    pub f: u8,
    pub b: u8,
    pub c: u8,
    pub d: u8,
    pub e: u8,
    pub h: u8,
    pub l: u8,
    pub sp: u16,
    pub pc: u16,
}

impl CpuState {
    /// The registers of a machine.
    #[must_use]
    pub fn of(machine: &AnyMachine) -> Self {
        of_either!(machine, machine => {
            let cpu = &machine.cpu;
            Self {
                a: cpu.a,
                f: cpu.f(),
                b: cpu.b,
                c: cpu.c,
                d: cpu.d,
                e: cpu.e,
                h: cpu.h,
                l: cpu.l,
                sp: cpu.sp,
                pc: cpu.pc,
            }
        })
    }

    /// Reads A F B C D E H L SP PC, in the order in which `read_registers` of `kernels.py` writes
    /// them and PyBoy's server sends them.
    pub fn from_words(words: &[u16]) -> Self {
        let byte = |position: usize| words[position] as u8;
        Self {
            a: byte(0),
            f: byte(1),
            b: byte(2),
            c: byte(3),
            d: byte(4),
            e: byte(5),
            h: byte(6),
            l: byte(7),
            sp: words[8],
            pc: words[9],
        }
    }

    /// The flags Z, N, H, C.
    pub fn flags(&self) -> [bool; 4] {
        [7, 6, 5, 4].map(|bit| self.f >> bit & 1 == 1)
    }
}
