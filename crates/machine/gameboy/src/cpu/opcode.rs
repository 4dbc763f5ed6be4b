//! The opcode chart, with one row for each instruction, and the multi-cycle sequences that rows
//! share.

use crate::cpu::Cpu;
use crate::cpu::interrupt_dispatch::halt;
use crate::machine::Machine;

impl Cpu {
    /// Reads the byte at PC and increments PC.
    #[inline(always)]
    pub(crate) fn fetch(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8]) -> u8 {
        let value = self.read_code(m, rom, ram, self.pc);
        self.pc = self.pc.wrapping_add(1);
        value
    }

    #[inline(always)]
    pub(super) fn fetch_word(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8]) -> u16 {
        let low = self.fetch(m, rom, ram);
        let high = self.fetch(m, rom, ram);
        (high as u16) << 8 | low as u16
    }

    /// Increments or decrements a 16-bit register, whose value stands on the address bus.
    #[inline(always)]
    pub(super) fn step_word(&mut self, m: &mut Machine, value: u16, by: u16) -> u16 {
        self.idle_on_bus(m, value);
        value.wrapping_add(by)
    }

    /// Increments or decrements HL while it addresses memory; returns the address.
    #[inline(always)]
    pub(super) fn step_hl(&mut self, by: u16) -> u16 {
        let address = self.hl();
        self.set_hl(address.wrapping_add(by));
        address
    }

    #[inline(always)]
    pub(super) fn add_to_hl(&mut self, m: &mut Machine, value: u16) {
        self.add_hl(value);
        self.idle(m);
    }

    #[inline(always)]
    pub(super) fn jump_relative(
        &mut self,
        m: &mut Machine,
        rom: &[u8],
        ram: &mut [u8],
        taken: bool,
    ) {
        let offset = self.fetch(m, rom, ram);
        if taken {
            self.idle(m);
            self.pc = self.pc.wrapping_add(offset as i8 as u16);
        }
    }

    #[inline(always)]
    pub(super) fn jump(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8], taken: bool) {
        let target = self.fetch_word(m, rom, ram);
        if taken {
            self.idle(m);
            self.pc = target;
        }
    }

    #[inline(always)]
    pub(super) fn call(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8], taken: bool) {
        let target = self.fetch_word(m, rom, ram);
        if taken {
            self.push(m, rom, ram, self.pc);
            self.pc = target;
        }
    }

    #[inline(always)]
    fn restart(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8], target: u16) {
        self.push(m, rom, ram, self.pc);
        self.pc = target;
    }

    #[inline(always)]
    pub(super) fn return_from(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8]) {
        self.pc = self.pop(m, rom, ram);
        self.idle(m);
    }

    #[inline(always)]
    fn return_if(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8], taken: bool) {
        self.idle(m);
        if taken {
            self.return_from(m, rom, ram);
        }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8], value: u16) {
        self.idle_on_bus(m, self.sp);
        self.sp = self.sp.wrapping_sub(1);
        self.write(m, rom, ram, self.sp, (value >> 8) as u8);
        self.sp = self.sp.wrapping_sub(1);
        self.write(m, rom, ram, self.sp, value as u8);
    }

    #[inline(always)]
    pub(super) fn pop(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8]) -> u16 {
        let low = self.read(m, rom, ram, self.sp);
        self.sp = self.sp.wrapping_add(1);
        let high = self.read(m, rom, ram, self.sp);
        self.sp = self.sp.wrapping_add(1);
        (high as u16) << 8 | low as u16
    }

    #[inline(always)]
    pub(super) fn store_sp(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8]) {
        let address = self.fetch_word(m, rom, ram);
        self.write(m, rom, ram, address, self.sp as u8);
        self.write(m, rom, ram, address.wrapping_add(1), (self.sp >> 8) as u8);
    }

    #[inline(always)]
    pub(super) fn enable_interrupts(&mut self, m: &mut Machine) {
        if !self.ime {
            self.ime_delayed = true;
            m.deadline = self.now;
        }
    }

    /// `RETI`. A pending interrupt comes at once; all others come at the deadline or later.
    #[inline(always)]
    fn return_from_interrupt(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8]) {
        self.return_from(m, rom, ram);
        self.ime = true;
        if m.interrupts.pending() != 0 {
            m.deadline = self.now;
        }
    }

    /// Executes an instruction whose first byte has been fetched.
    #[inline(always)]
    #[rustfmt::skip]
    #[expect(clippy::too_many_lines, reason = "the table of opcodes")]
    pub(crate) fn execute(&mut self, m: &mut Machine, rom: &[u8], ram: &mut [u8], opcode: u8) {
        match opcode {
            0x00 => {} // NOP
            0x01 => { let value = self.fetch_word(m, rom, ram); self.set_bc(value); } // LD BC,nn
            0x02 => self.write(m, rom, ram, self.bc(), self.a), // LD (BC),A
            0x03 => { let value = self.step_word(m, self.bc(), 1); self.set_bc(value); } // INC BC
            0x04 => self.b = self.inc(self.b), // INC B
            0x05 => self.b = self.dec(self.b), // DEC B
            0x06 => self.b = self.fetch(m, rom, ram), // LD B,n
            0x07 => { let result = self.shifted(self.a.rotate_left(1), self.a >> 7); self.set_a_nonzero(result); } // RLCA   0 0 0 C
            0x08 => self.store_sp(m, rom, ram), // LD (nn),SP
            0x09 => self.add_to_hl(m, self.bc()), // ADD HL,BC
            0x0a => self.a = self.read(m, rom, ram, self.bc()), // LD A,(BC)
            0x0b => { let value = self.step_word(m, self.bc(), 0xffff); self.set_bc(value); } // DEC BC
            0x0c => self.c = self.inc(self.c), // INC C
            0x0d => self.c = self.dec(self.c), // DEC C
            0x0e => self.c = self.fetch(m, rom, ram), // LD C,n
            0x0f => { let result = self.shifted(self.a.rotate_right(1), self.a & 1); self.set_a_nonzero(result); } // RRCA   0 0 0 C
            0x10 => *self = m.stop(*self), // STOP
            0x11 => { let value = self.fetch_word(m, rom, ram); self.set_de(value); } // LD DE,nn
            0x12 => self.write(m, rom, ram, self.de(), self.a), // LD (DE),A
            0x13 => { let value = self.step_word(m, self.de(), 1); self.set_de(value); } // INC DE
            0x14 => self.d = self.inc(self.d), // INC D
            0x15 => self.d = self.dec(self.d), // DEC D
            0x16 => self.d = self.fetch(m, rom, ram), // LD D,n
            0x17 => { let result = self.shifted(self.a << 1 | self.carry() as u8, self.a >> 7); self.set_a_nonzero(result); } // RLA   0 0 0 C
            0x18 => self.jump_relative(m, rom, ram, true), // JR e
            0x19 => self.add_to_hl(m, self.de()), // ADD HL,DE
            0x1a => self.a = self.read(m, rom, ram, self.de()), // LD A,(DE)
            0x1b => { let value = self.step_word(m, self.de(), 0xffff); self.set_de(value); } // DEC DE
            0x1c => self.e = self.inc(self.e), // INC E
            0x1d => self.e = self.dec(self.e), // DEC E
            0x1e => self.e = self.fetch(m, rom, ram), // LD E,n
            0x1f => { let result = self.shifted(self.a >> 1 | (self.carry() as u8) << 7, self.a & 1); self.set_a_nonzero(result); } // RRA   0 0 0 C
            0x20 => self.jump_relative(m, rom, ram, !self.is_zero()), // JR NZ,e
            0x21 => { let value = self.fetch_word(m, rom, ram); self.set_hl(value); } // LD HL,nn
            0x22 => { let address = self.step_hl(1); self.write(m, rom, ram, address, self.a); } // LD (HL+),A
            0x23 => { let value = self.step_word(m, self.hl(), 1); self.set_hl(value); } // INC HL
            0x24 => self.h = self.inc(self.h), // INC H
            0x25 => self.h = self.dec(self.h), // DEC H
            0x26 => self.h = self.fetch(m, rom, ram), // LD H,n
            0x27 => self.daa(), // DAA
            0x28 => self.jump_relative(m, rom, ram, self.is_zero()), // JR Z,e
            0x29 => self.add_to_hl(m, self.hl()), // ADD HL,HL
            0x2a => { let address = self.step_hl(1); self.a = self.read(m, rom, ram, address); } // LD A,(HL+)
            0x2b => { let value = self.step_word(m, self.hl(), 0xffff); self.set_hl(value); } // DEC HL
            0x2c => self.l = self.inc(self.l), // INC L
            0x2d => self.l = self.dec(self.l), // DEC L
            0x2e => self.l = self.fetch(m, rom, ram), // LD L,n
            0x2f => self.cpl(), // CPL
            0x30 => self.jump_relative(m, rom, ram, !self.is_carry()), // JR NC,e
            0x31 => self.sp = self.fetch_word(m, rom, ram), // LD SP,nn
            0x32 => { let address = self.step_hl(0xffff); self.write(m, rom, ram, address, self.a); } // LD (HL-),A
            0x33 => self.sp = self.step_word(m, self.sp, 1), // INC SP
            0x34 => { let value = self.read(m, rom, ram, self.hl()); let result = self.inc(value); self.write(m, rom, ram, self.hl(), result); } // INC (HL)
            0x35 => { let value = self.read(m, rom, ram, self.hl()); let result = self.dec(value); self.write(m, rom, ram, self.hl(), result); } // DEC (HL)
            0x36 => { let value = self.fetch(m, rom, ram); self.write(m, rom, ram, self.hl(), value); } // LD (HL),n
            0x37 => self.scf(), // SCF
            0x38 => self.jump_relative(m, rom, ram, self.is_carry()), // JR C,e
            0x39 => self.add_to_hl(m, self.sp), // ADD HL,SP
            0x3a => { let address = self.step_hl(0xffff); self.a = self.read(m, rom, ram, address); } // LD A,(HL-)
            0x3b => self.sp = self.step_word(m, self.sp, 0xffff), // DEC SP
            0x3c => self.a = self.inc(self.a), // INC A
            0x3d => self.a = self.dec(self.a), // DEC A
            0x3e => self.a = self.fetch(m, rom, ram), // LD A,n
            0x3f => self.ccf(), // CCF
            0x40 => {} // LD B,B
            0x41 => self.b = self.c, // LD B,C
            0x42 => self.b = self.d, // LD B,D
            0x43 => self.b = self.e, // LD B,E
            0x44 => self.b = self.h, // LD B,H
            0x45 => self.b = self.l, // LD B,L
            0x46 => self.b = self.read(m, rom, ram, self.hl()), // LD B,(HL)
            0x47 => self.b = self.a, // LD B,A
            0x48 => self.c = self.b, // LD C,B
            0x49 => {} // LD C,C
            0x4a => self.c = self.d, // LD C,D
            0x4b => self.c = self.e, // LD C,E
            0x4c => self.c = self.h, // LD C,H
            0x4d => self.c = self.l, // LD C,L
            0x4e => self.c = self.read(m, rom, ram, self.hl()), // LD C,(HL)
            0x4f => self.c = self.a, // LD C,A
            0x50 => self.d = self.b, // LD D,B
            0x51 => self.d = self.c, // LD D,C
            0x52 => {} // LD D,D
            0x53 => self.d = self.e, // LD D,E
            0x54 => self.d = self.h, // LD D,H
            0x55 => self.d = self.l, // LD D,L
            0x56 => self.d = self.read(m, rom, ram, self.hl()), // LD D,(HL)
            0x57 => self.d = self.a, // LD D,A
            0x58 => self.e = self.b, // LD E,B
            0x59 => self.e = self.c, // LD E,C
            0x5a => self.e = self.d, // LD E,D
            0x5b => {} // LD E,E
            0x5c => self.e = self.h, // LD E,H
            0x5d => self.e = self.l, // LD E,L
            0x5e => self.e = self.read(m, rom, ram, self.hl()), // LD E,(HL)
            0x5f => self.e = self.a, // LD E,A
            0x60 => self.h = self.b, // LD H,B
            0x61 => self.h = self.c, // LD H,C
            0x62 => self.h = self.d, // LD H,D
            0x63 => self.h = self.e, // LD H,E
            0x64 => {} // LD H,H
            0x65 => self.h = self.l, // LD H,L
            0x66 => self.h = self.read(m, rom, ram, self.hl()), // LD H,(HL)
            0x67 => self.h = self.a, // LD H,A
            0x68 => self.l = self.b, // LD L,B
            0x69 => self.l = self.c, // LD L,C
            0x6a => self.l = self.d, // LD L,D
            0x6b => self.l = self.e, // LD L,E
            0x6c => self.l = self.h, // LD L,H
            0x6d => {} // LD L,L
            0x6e => self.l = self.read(m, rom, ram, self.hl()), // LD L,(HL)
            0x6f => self.l = self.a, // LD L,A
            0x70 => self.write(m, rom, ram, self.hl(), self.b), // LD (HL),B
            0x71 => self.write(m, rom, ram, self.hl(), self.c), // LD (HL),C
            0x72 => self.write(m, rom, ram, self.hl(), self.d), // LD (HL),D
            0x73 => self.write(m, rom, ram, self.hl(), self.e), // LD (HL),E
            0x74 => self.write(m, rom, ram, self.hl(), self.h), // LD (HL),H
            0x75 => self.write(m, rom, ram, self.hl(), self.l), // LD (HL),L
            0x76 => halt(self, m), // HALT
            0x77 => self.write(m, rom, ram, self.hl(), self.a), // LD (HL),A
            0x78 => self.a = self.b, // LD A,B
            0x79 => self.a = self.c, // LD A,C
            0x7a => self.a = self.d, // LD A,D
            0x7b => self.a = self.e, // LD A,E
            0x7c => self.a = self.h, // LD A,H
            0x7d => self.a = self.l, // LD A,L
            0x7e => self.a = self.read(m, rom, ram, self.hl()), // LD A,(HL)
            0x7f => {} // LD A,A
            0x80 => self.add(self.b), // ADD A,B
            0x81 => self.add(self.c), // ADD A,C
            0x82 => self.add(self.d), // ADD A,D
            0x83 => self.add(self.e), // ADD A,E
            0x84 => self.add(self.h), // ADD A,H
            0x85 => self.add(self.l), // ADD A,L
            0x86 => { let value = self.read(m, rom, ram, self.hl()); self.add(value); } // ADD A,(HL)
            0x87 => self.add(self.a), // ADD A,A
            0x88 => self.adc(self.b), // ADC A,B
            0x89 => self.adc(self.c), // ADC A,C
            0x8a => self.adc(self.d), // ADC A,D
            0x8b => self.adc(self.e), // ADC A,E
            0x8c => self.adc(self.h), // ADC A,H
            0x8d => self.adc(self.l), // ADC A,L
            0x8e => { let value = self.read(m, rom, ram, self.hl()); self.adc(value); } // ADC A,(HL)
            0x8f => self.adc(self.a), // ADC A,A
            0x90 => self.sub(self.b), // SUB B
            0x91 => self.sub(self.c), // SUB C
            0x92 => self.sub(self.d), // SUB D
            0x93 => self.sub(self.e), // SUB E
            0x94 => self.sub(self.h), // SUB H
            0x95 => self.sub(self.l), // SUB L
            0x96 => { let value = self.read(m, rom, ram, self.hl()); self.sub(value); } // SUB (HL)
            0x97 => self.sub(self.a), // SUB A
            0x98 => self.sbc(self.b), // SBC A,B
            0x99 => self.sbc(self.c), // SBC A,C
            0x9a => self.sbc(self.d), // SBC A,D
            0x9b => self.sbc(self.e), // SBC A,E
            0x9c => self.sbc(self.h), // SBC A,H
            0x9d => self.sbc(self.l), // SBC A,L
            0x9e => { let value = self.read(m, rom, ram, self.hl()); self.sbc(value); } // SBC A,(HL)
            0x9f => self.sbc(self.a), // SBC A,A
            0xa0 => self.and(self.b), // AND B
            0xa1 => self.and(self.c), // AND C
            0xa2 => self.and(self.d), // AND D
            0xa3 => self.and(self.e), // AND E
            0xa4 => self.and(self.h), // AND H
            0xa5 => self.and(self.l), // AND L
            0xa6 => { let value = self.read(m, rom, ram, self.hl()); self.and(value); } // AND (HL)
            0xa7 => self.and(self.a), // AND A
            0xa8 => self.xor(self.b), // XOR B
            0xa9 => self.xor(self.c), // XOR C
            0xaa => self.xor(self.d), // XOR D
            0xab => self.xor(self.e), // XOR E
            0xac => self.xor(self.h), // XOR H
            0xad => self.xor(self.l), // XOR L
            0xae => { let value = self.read(m, rom, ram, self.hl()); self.xor(value); } // XOR (HL)
            0xaf => self.xor(self.a), // XOR A
            0xb0 => self.or(self.b), // OR B
            0xb1 => self.or(self.c), // OR C
            0xb2 => self.or(self.d), // OR D
            0xb3 => self.or(self.e), // OR E
            0xb4 => self.or(self.h), // OR H
            0xb5 => self.or(self.l), // OR L
            0xb6 => { let value = self.read(m, rom, ram, self.hl()); self.or(value); } // OR (HL)
            0xb7 => self.or(self.a), // OR A
            0xb8 => self.cp(self.b), // CP B
            0xb9 => self.cp(self.c), // CP C
            0xba => self.cp(self.d), // CP D
            0xbb => self.cp(self.e), // CP E
            0xbc => self.cp(self.h), // CP H
            0xbd => self.cp(self.l), // CP L
            0xbe => { let value = self.read(m, rom, ram, self.hl()); self.cp(value); } // CP (HL)
            0xbf => self.cp(self.a), // CP A
            0xc0 => self.return_if(m, rom, ram, !self.is_zero()), // RET NZ
            0xc1 => { let value = self.pop(m, rom, ram); self.set_bc(value); } // POP BC
            0xc2 => self.jump(m, rom, ram, !self.is_zero()), // JP NZ,nn
            0xc3 => self.jump(m, rom, ram, true), // JP nn
            0xc4 => self.call(m, rom, ram, !self.is_zero()), // CALL NZ,nn
            0xc5 => self.push(m, rom, ram, self.bc()), // PUSH BC
            0xc6 => { let value = self.fetch(m, rom, ram); self.add(value); } // ADD A,n
            0xc7 => self.restart(m, rom, ram, 0x00), // RST 00
            0xc8 => self.return_if(m, rom, ram, self.is_zero()), // RET Z
            0xc9 => self.return_from(m, rom, ram), // RET
            0xca => self.jump(m, rom, ram, self.is_zero()), // JP Z,nn
            0xcb => self.execute_prefixed(m, rom, ram), // CB prefix
            0xcc => self.call(m, rom, ram, self.is_zero()), // CALL Z,nn
            0xcd => self.call(m, rom, ram, true), // CALL nn
            0xce => { let value = self.fetch(m, rom, ram); self.adc(value); } // ADC A,n
            0xcf => self.restart(m, rom, ram, 0x08), // RST 08
            0xd0 => self.return_if(m, rom, ram, !self.is_carry()), // RET NC
            0xd1 => { let value = self.pop(m, rom, ram); self.set_de(value); } // POP DE
            0xd2 => self.jump(m, rom, ram, !self.is_carry()), // JP NC,nn
            0xd4 => self.call(m, rom, ram, !self.is_carry()), // CALL NC,nn
            0xd5 => self.push(m, rom, ram, self.de()), // PUSH DE
            0xd6 => { let value = self.fetch(m, rom, ram); self.sub(value); } // SUB n
            0xd7 => self.restart(m, rom, ram, 0x10), // RST 10
            0xd8 => self.return_if(m, rom, ram, self.is_carry()), // RET C
            0xd9 => self.return_from_interrupt(m, rom, ram), // RETI
            0xda => self.jump(m, rom, ram, self.is_carry()), // JP C,nn
            0xdc => self.call(m, rom, ram, self.is_carry()), // CALL C,nn
            0xde => { let value = self.fetch(m, rom, ram); self.sbc(value); } // SBC A,n
            0xdf => self.restart(m, rom, ram, 0x18), // RST 18
            0xe0 => { let low = self.fetch(m, rom, ram); self.write(m, rom, ram, 0xff00 | low as u16, self.a); } // LDH (n),A
            0xe1 => { let value = self.pop(m, rom, ram); self.set_hl(value); } // POP HL
            0xe2 => self.write(m, rom, ram, 0xff00 | self.c as u16, self.a), // LDH (C),A
            0xe5 => self.push(m, rom, ram, self.hl()), // PUSH HL
            0xe6 => { let value = self.fetch(m, rom, ram); self.and(value); } // AND n
            0xe7 => self.restart(m, rom, ram, 0x20), // RST 20
            0xe8 => { let offset = self.fetch(m, rom, ram); self.sp = self.sp_plus(offset); self.idle(m); self.idle(m); } // ADD SP,e   0 0 H C
            0xe9 => self.pc = self.hl(), // JP HL
            0xea => { let address = self.fetch_word(m, rom, ram); self.write(m, rom, ram, address, self.a); } // LD (nn),A
            0xee => { let value = self.fetch(m, rom, ram); self.xor(value); } // XOR n
            0xef => self.restart(m, rom, ram, 0x28), // RST 28
            0xf0 => { let low = self.fetch(m, rom, ram); self.a = self.read(m, rom, ram, 0xff00 | low as u16); } // LDH A,(n)
            0xf1 => { let value = self.pop(m, rom, ram); self.set_af(value); } // POP AF
            0xf2 => self.a = self.read(m, rom, ram, 0xff00 | self.c as u16), // LDH A,(C)
            0xf3 => { self.ime = false; self.ime_delayed = false; } // DI
            0xf5 => self.push(m, rom, ram, self.af()), // PUSH AF
            0xf6 => { let value = self.fetch(m, rom, ram); self.or(value); } // OR n
            0xf7 => self.restart(m, rom, ram, 0x30), // RST 30
            0xf8 => { let offset = self.fetch(m, rom, ram); let value = self.sp_plus(offset); self.set_hl(value); self.idle(m); } // LD HL,SP+e   0 0 H C
            0xf9 => { self.sp = self.hl(); self.idle_on_bus(m, self.sp); } // LD SP,HL
            0xfa => { let address = self.fetch_word(m, rom, ram); self.a = self.read(m, rom, ram, address); } // LD A,(nn)
            0xfb => self.enable_interrupts(m), // EI
            0xfe => { let value = self.fetch(m, rom, ram); self.cp(value); } // CP n
            0xff => self.restart(m, rom, ram, 0x38), // RST 38
            0xd3 | 0xdb | 0xdd | 0xe3 | 0xe4 | 0xeb | 0xec | 0xed | 0xf4 | 0xfc | 0xfd => self.lock(m),
        }
    }
}
