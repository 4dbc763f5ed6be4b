//! The three kinds of M-cycle over flat memory, each recorded. In the subset of Rust that is
//! translated: `runtime/tests/sm83` reads this file beside the CPU's.

use crate::cpu::Cpu;
use crate::machine::{Kind, Machine};

impl Cpu {
    pub fn read_code(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8], address: u16) -> u8 {
        self.read(m, rom, ram, address)
    }

    pub fn read(&mut self, m: &mut Machine, _rom: &[u8], _ram: &mut [u8], address: u16) -> u8 {
        let value = m.byte(address);
        m.record(Kind::Read, address, value);
        self.now = self.now.wrapping_add(1);
        value
    }

    pub fn write(
        &mut self,
        m: &mut Machine,
        _rom: &[u8],
        _ram: &mut [u8],
        address: u16,
        value: u8,
    ) {
        m.set_byte(address, value);
        m.record(Kind::Write, address, value);
        self.now = self.now.wrapping_add(1);
    }

    pub fn idle(&mut self, m: &mut Machine) {
        m.record(Kind::None, 0, 0);
        self.now = self.now.wrapping_add(1);
    }

    pub fn idle_on_bus(&mut self, m: &mut Machine, _address: u16) {
        self.idle(m);
    }
}
