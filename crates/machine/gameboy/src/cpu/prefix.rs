//! The opcode chart after CB: 8 shifts, BIT, RES and SET, each on one of 8 operands.

use crate::cpu::Cpu;
use crate::machine::Machine;

impl Cpu {
    /// Executes the instruction whose CB byte has been read.
    #[inline(always)]
    pub(crate) fn execute_prefixed(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8]) {
        let opcode = self.fetch(m, rom, ram);
        let operand = opcode & 7;
        let value = match operand {
            0 => self.b,
            1 => self.c,
            2 => self.d,
            3 => self.e,
            4 => self.h,
            5 => self.l,
            6 => self.read(m, rom, ram, self.hl()),
            _ => self.a,
        };
        let number = opcode >> 3 & 7;
        let result = match opcode >> 3 {
            0 => self.rlc(value),
            1 => self.rrc(value),
            2 => self.rl(value),
            3 => self.rr(value),
            4 => self.sla(value),
            5 => self.sra(value),
            6 => self.swap(value),
            7 => self.srl(value),
            8..=15 => {
                self.bit(number, value);
                return;
            }
            16..=23 => value & !(1 << number),
            _ => value | 1 << number,
        };
        match operand {
            0 => self.b = result,
            1 => self.c = result,
            2 => self.d = result,
            3 => self.e = result,
            4 => self.h = result,
            5 => self.l = result,
            6 => self.write(m, rom, ram, self.hl(), result),
            _ => self.a = result,
        }
    }
}
