//! The opcode chart by families: opcodes that access memory in one way share its code. What each
//! opcode does is what `opcode` says; a property test holds both equal.
//!
//! A GPU executes this chart: its multiprocessors fetch instructions from caches of some 16 KiB,
//! and most of the code of an opcode is that of its accesses.

use crate::cpu::Cpu;
use crate::machine::Machine;

impl Cpu {
    /// Executes an instruction whose first byte has been fetched, as `execute` does.
    #[inline(always)]
    #[rustfmt::skip]
    #[expect(clippy::too_many_lines, reason = "the table of opcodes")]
    pub fn execute_by_family(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8], opcode: u8) {
        match opcode {
            // Between registers.
            0x00 | 0x40 | 0x49 | 0x52 | 0x5b | 0x64 | 0x6d | 0x7f => {}
            0x41 => self.b = self.c,
            0x42 => self.b = self.d,
            0x43 => self.b = self.e,
            0x44 => self.b = self.h,
            0x45 => self.b = self.l,
            0x47 => self.b = self.a,
            0x48 => self.c = self.b,
            0x4a => self.c = self.d,
            0x4b => self.c = self.e,
            0x4c => self.c = self.h,
            0x4d => self.c = self.l,
            0x4f => self.c = self.a,
            0x50 => self.d = self.b,
            0x51 => self.d = self.c,
            0x53 => self.d = self.e,
            0x54 => self.d = self.h,
            0x55 => self.d = self.l,
            0x57 => self.d = self.a,
            0x58 => self.e = self.b,
            0x59 => self.e = self.c,
            0x5a => self.e = self.d,
            0x5c => self.e = self.h,
            0x5d => self.e = self.l,
            0x5f => self.e = self.a,
            0x60 => self.h = self.b,
            0x61 => self.h = self.c,
            0x62 => self.h = self.d,
            0x63 => self.h = self.e,
            0x65 => self.h = self.l,
            0x67 => self.h = self.a,
            0x68 => self.l = self.b,
            0x69 => self.l = self.c,
            0x6a => self.l = self.d,
            0x6b => self.l = self.e,
            0x6c => self.l = self.h,
            0x6f => self.l = self.a,
            0x78 => self.a = self.b,
            0x79 => self.a = self.c,
            0x7a => self.a = self.d,
            0x7b => self.a = self.e,
            0x7c => self.a = self.h,
            0x7d => self.a = self.l,
            0x04 => self.b = self.inc(self.b),
            0x05 => self.b = self.dec(self.b),
            0x0c => self.c = self.inc(self.c),
            0x0d => self.c = self.dec(self.c),
            0x14 => self.d = self.inc(self.d),
            0x15 => self.d = self.dec(self.d),
            0x1c => self.e = self.inc(self.e),
            0x1d => self.e = self.dec(self.e),
            0x24 => self.h = self.inc(self.h),
            0x25 => self.h = self.dec(self.h),
            0x2c => self.l = self.inc(self.l),
            0x2d => self.l = self.dec(self.l),
            0x3c => self.a = self.inc(self.a),
            0x3d => self.a = self.dec(self.a),
            0x80 | 0x81 | 0x82 | 0x83 | 0x84 | 0x85 | 0x87 => self.add(self.register(opcode)),
            0x88 | 0x89 | 0x8a | 0x8b | 0x8c | 0x8d | 0x8f => self.adc(self.register(opcode)),
            0x90 | 0x91 | 0x92 | 0x93 | 0x94 | 0x95 | 0x97 => self.sub(self.register(opcode)),
            0x98 | 0x99 | 0x9a | 0x9b | 0x9c | 0x9d | 0x9f => self.sbc(self.register(opcode)),
            0xa0 | 0xa1 | 0xa2 | 0xa3 | 0xa4 | 0xa5 | 0xa7 => self.and(self.register(opcode)),
            0xa8 | 0xa9 | 0xaa | 0xab | 0xac | 0xad | 0xaf => self.xor(self.register(opcode)),
            0xb0 | 0xb1 | 0xb2 | 0xb3 | 0xb4 | 0xb5 | 0xb7 => self.or(self.register(opcode)),
            0xb8 | 0xb9 | 0xba | 0xbb | 0xbc | 0xbd | 0xbf => self.cp(self.register(opcode)),
            0x07 | 0x0f | 0x17 | 0x1f => self.rotate_a(opcode),
            0x27 => self.daa(),
            0x2f => self.cpl(),
            0x37 => self.scf(),
            0x3f => self.ccf(),
            0x09 | 0x19 | 0x29 | 0x39 => self.add_to_hl(m, self.pair(opcode)),
            0xe9 => self.pc = self.hl(),
            0xf3 => { self.ime = false; self.ime_delayed = false; }
            0xfb => self.enable_interrupts(m),
            0x10 => *self = m.stop(*self),
            0x76 => *self = m.halt(*self),
            // A 16-bit register counts.
            0x03 | 0x0b | 0x13 | 0x1b | 0x23 | 0x2b | 0x33 | 0x3b => {
                let by = if opcode & 8 == 0 { 1 } else { 0xffff };
                let value = self.step_word(m, self.pair(opcode), by);
                self.set_pair(opcode, value);
            }
            // The byte behind the opcode.
            0x06 | 0x0e | 0x16 | 0x1e | 0x26 | 0x2e | 0x3e
            | 0xc6 | 0xce | 0xd6 | 0xde | 0xe6 | 0xee | 0xf6 | 0xfe | 0xe8 | 0xf8 => {
                let value = self.fetch(m, rom, ram);
                match opcode {
                    0xc6 => self.add(value),
                    0xce => self.adc(value),
                    0xd6 => self.sub(value),
                    0xde => self.sbc(value),
                    0xe6 => self.and(value),
                    0xee => self.xor(value),
                    0xf6 => self.or(value),
                    0xfe => self.cp(value),
                    0xe8 => { self.sp = self.sp_plus(value); self.idle(m); self.idle(m); }
                    0xf8 => { let sum = self.sp_plus(value); self.set_hl(sum); self.idle(m); }
                    _ => self.set_register(opcode >> 3, value),
                }
            }
            // The word behind the opcode.
            0x01 | 0x11 | 0x21 | 0x31 => { let value = self.fetch_word(m, rom, ram); self.set_pair(opcode, value); }
            // Reads.
            0x0a | 0x1a | 0x2a | 0x3a | 0xf0 | 0xf2 | 0xfa | 0x46 | 0x4e | 0x56 | 0x5e | 0x66 | 0x6e | 0x7e
            | 0x86 | 0x8e | 0x96 | 0x9e | 0xa6 | 0xae | 0xb6 | 0xbe => {
                let address = self.operand_address(m, rom, ram, opcode);
                let value = self.read(m, rom, ram, address);
                match opcode {
                    0x86 => self.add(value),
                    0x8e => self.adc(value),
                    0x96 => self.sub(value),
                    0x9e => self.sbc(value),
                    0xa6 => self.and(value),
                    0xae => self.xor(value),
                    0xb6 => self.or(value),
                    0xbe => self.cp(value),
                    0x46 => self.b = value,
                    0x4e => self.c = value,
                    0x56 => self.d = value,
                    0x5e => self.e = value,
                    0x66 => self.h = value,
                    0x6e => self.l = value,
                    _ => self.a = value,
                }
            }
            // Writes.
            0x02 | 0x12 | 0x22 | 0x32 | 0xe0 | 0xe2 | 0xea | 0x36
            | 0x70 | 0x71 | 0x72 | 0x73 | 0x74 | 0x75 | 0x77 => {
                let address = self.operand_address(m, rom, ram, opcode);
                let value = if opcode == 0x36 {
                    self.fetch(m, rom, ram)
                } else if opcode & 0xf8 == 0x70 {
                    self.register(opcode)
                } else {
                    self.a
                };
                self.write(m, rom, ram, address, value);
            }
            // Reads and writes.
            0x34 | 0x35 => {
                let value = self.read(m, rom, ram, self.hl());
                let result = if opcode == 0x34 { self.inc(value) } else { self.dec(value) };
                self.write(m, rom, ram, self.hl(), result);
            }
            0xcb => self.execute_prefixed(m, rom, ram),
            // Jumps.
            0x18 => self.jump_relative(m, rom, ram, true),
            0x20 | 0x28 | 0x30 | 0x38 => self.jump_relative(m, rom, ram, self.holds(opcode)),
            0xc3 => self.jump(m, rom, ram, true),
            0xc2 | 0xca | 0xd2 | 0xda => self.jump(m, rom, ram, self.holds(opcode)),
            // The stack.
            0xc4 | 0xcc | 0xd4 | 0xdc => self.call(m, rom, ram, self.holds(opcode)),
            0xc5 | 0xd5 | 0xe5 | 0xf5 | 0xcd | 0xc7 | 0xcf | 0xd7 | 0xdf | 0xe7 | 0xef | 0xf7 | 0xff => {
                let target = if opcode == 0xcd { self.fetch_word(m, rom, ram) } else { (opcode & 0x38) as u16 };
                let pushed = match opcode {
                    0xc5 => self.bc(),
                    0xd5 => self.de(),
                    0xe5 => self.hl(),
                    0xf5 => self.af(),
                    _ => self.pc,
                };
                self.push(m, rom, ram, pushed);
                if opcode & 0x0f != 0x05 {
                    self.pc = target;
                }
            }
            0xc1 | 0xd1 | 0xe1 | 0xf1 => {
                let value = self.pop(m, rom, ram);
                if opcode == 0xf1 { self.set_af(value) } else { self.set_pair(opcode, value) }
            }
            0xc0 | 0xc8 | 0xd0 | 0xd8 | 0xc9 | 0xd9 => {
                if opcode & 1 == 0 {
                    self.idle(m);
                }
                if opcode & 1 == 1 || self.holds(opcode) {
                    self.return_from(m, rom, ram);
                    if opcode == 0xd9 {
                        self.ime = true;
                        if m.interrupts.pending() != 0 {
                            m.deadline = self.now;
                        }
                    }
                }
            }
            0xf9 => { self.sp = self.hl(); self.idle_on_bus(m, self.sp); }
            0x08 => self.store_sp(m, rom, ram),
            0xd3 | 0xdb | 0xdd | 0xe3 | 0xe4 | 0xeb | 0xec | 0xed | 0xf4 | 0xfc | 0xfd => self.lock(m),
        }
    }

    /// Register of an opcode's lower three bits, of which 6 is no register's number.
    #[inline(always)]
    fn register(&self, opcode: u8) -> u8 {
        let is_odd = opcode & 1 != 0;
        let is_second = opcode & 2 != 0;
        let bc = if is_odd { self.c } else { self.b };
        let de = if is_odd { self.e } else { self.d };
        let hl = if is_odd { self.l } else { self.h };
        let lower = if is_second { de } else { bc };
        let upper = if is_second { self.a } else { hl };
        if opcode & 4 == 0 { lower } else { upper }
    }

    /// Sets the register of a number's lower three bits.
    #[inline(always)]
    fn set_register(&mut self, number: u8, value: u8) {
        match number & 7 {
            0 => self.b = value,
            1 => self.c = value,
            2 => self.d = value,
            3 => self.e = value,
            4 => self.h = value,
            5 => self.l = value,
            _ => self.a = value,
        }
    }

    /// 16-bit register of an opcode's bits 4 and 5.
    #[inline(always)]
    fn pair(&self, opcode: u8) -> u16 {
        let is_odd = opcode & 0x10 != 0;
        let lower = if is_odd { self.de() } else { self.bc() };
        let upper = if is_odd { self.sp } else { self.hl() };
        if opcode & 0x20 == 0 { lower } else { upper }
    }

    /// Sets the 16-bit register of an opcode's bits 4 and 5.
    #[inline(always)]
    fn set_pair(&mut self, opcode: u8, value: u16) {
        match opcode >> 4 & 3 {
            0 => self.set_bc(value),
            1 => self.set_de(value),
            2 => self.set_hl(value),
            _ => self.sp = value,
        }
    }

    /// Returns true if the condition of an opcode's bits 3 and 4 holds: NZ, Z, NC, C.
    #[inline(always)]
    fn holds(&self, opcode: u8) -> bool {
        let flag = if opcode & 0x10 == 0 { self.is_zero() } else { self.is_carry() };
        flag == (opcode & 8 != 0)
    }

    /// Address that an opcode reads or writes: (BC), (DE), (HL+), (HL-), (FF00+n), (FF00+C), (nn),
    /// else (HL).
    #[inline(always)]
    fn operand_address(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8], opcode: u8) -> u16 {
        match opcode {
            0x02 | 0x0a => self.bc(),
            0x12 | 0x1a => self.de(),
            0x22 | 0x2a => self.step_hl(1),
            0x32 | 0x3a => self.step_hl(0xffff),
            0xe0 | 0xf0 => 0xff00 | self.fetch(m, rom, ram) as u16,
            0xe2 | 0xf2 => 0xff00 | self.c as u16,
            0xea | 0xfa => self.fetch_word(m, rom, ram),
            _ => self.hl(),
        }
    }

    /// `RLCA`, `RRCA`, `RLA`, `RRA`.
    #[inline(always)]
    fn rotate_a(&mut self, opcode: u8) {
        let is_right = opcode & 8 != 0;
        let out = if is_right { self.a & 1 } else { self.a >> 7 };
        let turned_in = if opcode & 0x10 == 0 { out } else { self.carry() as u8 };
        let result = if is_right { self.a >> 1 | turned_in << 7 } else { self.a << 1 | turned_in };
        let result = self.shifted(result, out);
        self.set_a_nonzero(result);
    }
}
