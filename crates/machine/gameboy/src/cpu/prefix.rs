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
            0 => self.shifted(value.rotate_left(1), value >> 7), // RLC
            1 => self.shifted(value.rotate_right(1), value & 1), // RRC
            2 => self.shifted(value << 1 | self.carry() as u8, value >> 7), // RL
            3 => self.shifted(value >> 1 | (self.carry() as u8) << 7, value & 1), // RR
            4 => self.shifted(value << 1, value >> 7),           // SLA
            5 => self.shifted(value >> 1 | value & 0x80, value & 1), // SRA
            6 => self.shifted(value.rotate_left(4), 0),          // SWAP
            7 => self.shifted(value >> 1, value & 1),            // SRL
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
