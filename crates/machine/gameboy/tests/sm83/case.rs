//! One instruction on a separate machine. In the subset of Rust that is translated.

use crate::cpu::{Cpu, Mode};
use crate::machine::{Kind, Machine};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Case {
    pub cpu: Cpu,
    pub machine: Machine,
    /// F before, then after, as a program sees it.
    pub f: u8,
    /// M-cycles that were recorded.
    pub mcycles: u32,
}

impl Case {
    /// Executes one instruction; a CPU that it stopped idles on, as the cases record it.
    pub fn run(&mut self, rom: &[u8], ram: &mut [u8]) {
        self.cpu.set_f(self.f);
        let opcode = self.cpu.fetch(&mut self.machine, rom, ram);
        self.cpu.execute(&mut self.machine, rom, ram, opcode);
        while self.cpu.mode != Mode::Running && self.machine.access_count < self.mcycles {
            self.machine.record(Kind::None, 0, 0);
        }
        self.f = self.cpu.f();
    }
}
