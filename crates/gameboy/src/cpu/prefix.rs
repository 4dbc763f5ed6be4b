//! The opcode chart behind CB: 8 shifts, BIT, RES and SET, each on one of 8 operands.

use crate::machine::Machine;

impl Machine {
    /// Executes the instruction whose CB byte has been read.
    #[inline(never)]
    pub fn execute_prefixed(&mut self, rom: &[u8], cart_ram: &mut [u8]) {
        let opcode = self.fetch(rom, cart_ram);
        let operand = opcode & 7;
        let value = match operand {
            0 => self.cpu.b,
            1 => self.cpu.c,
            2 => self.cpu.d,
            3 => self.cpu.e,
            4 => self.cpu.h,
            5 => self.cpu.l,
            6 => self.read(rom, cart_ram, self.cpu.hl()),
            _ => self.cpu.a,
        };
        let number = opcode >> 3 & 7;
        let result = match opcode >> 3 {
            0 => self.cpu.rlc(value),
            1 => self.cpu.rrc(value),
            2 => self.cpu.rl(value),
            3 => self.cpu.rr(value),
            4 => self.cpu.sla(value),
            5 => self.cpu.sra(value),
            6 => self.cpu.swap(value),
            7 => self.cpu.srl(value),
            8..=15 => {
                self.cpu.bit(number, value);
                return;
            }
            16..=23 => value & !(1 << number),
            _ => value | 1 << number,
        };
        match operand {
            0 => self.cpu.b = result,
            1 => self.cpu.c = result,
            2 => self.cpu.d = result,
            3 => self.cpu.e = result,
            4 => self.cpu.h = result,
            5 => self.cpu.l = result,
            6 => self.write(rom, cart_ram, self.cpu.hl(), result),
            _ => self.cpu.a = result,
        }
    }
}
