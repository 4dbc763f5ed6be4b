//! The three kinds of M-cycle over flat memory, each recorded.

use crate::cpu::Cpu;
use crate::machine::{Access, Machine};

impl Cpu {
    pub fn read_code(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8], address: u16) -> u8 {
        self.read(m, rom, ram, address)
    }

    pub fn read(&mut self, m: &mut Machine, _: &[u8], _: &mut [u8], address: u16) -> u8 {
        let value = m.ram[address as usize];
        m.accesses.push(Access::Read(address, value));
        self.now += 1;
        value
    }

    pub fn write(&mut self, m: &mut Machine, _: &[u8], _: &mut [u8], address: u16, value: u8) {
        m.ram[address as usize] = value;
        m.accesses.push(Access::Write(address, value));
        self.now += 1;
    }

    pub fn idle(&mut self, m: &mut Machine) {
        m.accesses.push(Access::None);
        self.now += 1;
    }

    pub fn idle_on_bus(&mut self, m: &mut Machine, _: u16) {
        self.idle(m);
    }
}
