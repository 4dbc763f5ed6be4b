//! The opcode chart, one row an instruction, and the multi-cycle shapes that rows share.

use crate::cpu::{C, Z};
use crate::machine::Machine;

impl Machine {
    /// Executes the instruction at PC.
    #[inline(always)]
    pub fn step(&mut self, rom: &[u8], cart_ram: &mut [u8]) {
        let opcode = self.fetch(rom, cart_ram);
        self.execute(rom, cart_ram, opcode);
    }

    /// Executes the instruction at PC, leaving PC on its first byte (the halt bug).
    #[inline(never)]
    pub fn step_without_increment(&mut self, rom: &[u8], cart_ram: &mut [u8]) {
        let opcode = self.read(rom, cart_ram, self.cpu.pc);
        self.execute(rom, cart_ram, opcode);
    }

    /// Reads the byte at PC and moves PC on.
    #[inline(always)]
    pub fn fetch(&mut self, rom: &[u8], cart_ram: &mut [u8]) -> u8 {
        let value = self.read(rom, cart_ram, self.cpu.pc);
        self.cpu.pc = self.cpu.pc.wrapping_add(1);
        value
    }

    #[inline(always)]
    fn fetch_word(&mut self, rom: &[u8], cart_ram: &mut [u8]) -> u16 {
        let low = self.fetch(rom, cart_ram);
        let high = self.fetch(rom, cart_ram);
        (high as u16) << 8 | low as u16
    }

    /// A 16-bit register counted up or down on the address bus.
    #[inline(always)]
    fn step_word(&mut self, value: u16, by: u16) -> u16 {
        self.idle_on_bus(value);
        value.wrapping_add(by)
    }

    /// HL counted up or down while it addresses memory; gives the address.
    #[inline(always)]
    fn step_hl(&mut self, by: u16) -> u16 {
        let address = self.cpu.hl();
        self.cpu.set_hl(address.wrapping_add(by));
        address
    }

    #[inline(always)]
    fn add_to_hl(&mut self, value: u16) {
        self.cpu.add_hl(value);
        self.idle();
    }

    #[inline(always)]
    fn jump_relative(&mut self, rom: &[u8], cart_ram: &mut [u8], taken: bool) {
        let offset = self.fetch(rom, cart_ram);
        if taken {
            self.idle_on_bus(self.cpu.pc);
            self.cpu.pc = self.cpu.pc.wrapping_add(offset as i8 as u16);
        }
    }

    fn jump(&mut self, rom: &[u8], cart_ram: &mut [u8], taken: bool) {
        let target = self.fetch_word(rom, cart_ram);
        if taken {
            self.idle();
            self.cpu.pc = target;
        }
    }

    fn call(&mut self, rom: &[u8], cart_ram: &mut [u8], taken: bool) {
        let target = self.fetch_word(rom, cart_ram);
        if taken {
            self.push(rom, cart_ram, self.cpu.pc);
            self.cpu.pc = target;
        }
    }

    fn restart(&mut self, rom: &[u8], cart_ram: &mut [u8], target: u16) {
        self.push(rom, cart_ram, self.cpu.pc);
        self.cpu.pc = target;
    }

    fn return_from(&mut self, rom: &[u8], cart_ram: &mut [u8]) {
        self.cpu.pc = self.pop(rom, cart_ram);
        self.idle();
    }

    fn return_if(&mut self, rom: &[u8], cart_ram: &mut [u8], taken: bool) {
        self.idle();
        if taken {
            self.return_from(rom, cart_ram);
        }
    }

    fn push(&mut self, rom: &[u8], cart_ram: &mut [u8], value: u16) {
        self.idle_on_bus(self.cpu.sp);
        self.cpu.sp = self.cpu.sp.wrapping_sub(1);
        self.write(rom, cart_ram, self.cpu.sp, (value >> 8) as u8);
        self.cpu.sp = self.cpu.sp.wrapping_sub(1);
        self.write(rom, cart_ram, self.cpu.sp, value as u8);
    }

    fn pop(&mut self, rom: &[u8], cart_ram: &mut [u8]) -> u16 {
        let low = self.read(rom, cart_ram, self.cpu.sp);
        self.cpu.sp = self.cpu.sp.wrapping_add(1);
        let high = self.read(rom, cart_ram, self.cpu.sp);
        self.cpu.sp = self.cpu.sp.wrapping_add(1);
        (high as u16) << 8 | low as u16
    }

    fn store_sp(&mut self, rom: &[u8], cart_ram: &mut [u8]) {
        let address = self.fetch_word(rom, cart_ram);
        self.write(rom, cart_ram, address, self.cpu.sp as u8);
        self.write(rom, cart_ram, address.wrapping_add(1), (self.cpu.sp >> 8) as u8);
    }

    fn enable_interrupts(&mut self) {
        if !self.cpu.ime {
            self.cpu.ime_delayed = true;
            self.deadline = self.now;
        }
    }

    #[inline(always)]
    #[rustfmt::skip]
    fn execute(&mut self, rom: &[u8], cart_ram: &mut [u8], opcode: u8) {
        match opcode {
            0x00 => {} // NOP
            0x01 => { let value = self.fetch_word(rom, cart_ram); self.cpu.set_bc(value); } // LD BC,nn
            0x02 => self.write(rom, cart_ram, self.cpu.bc(), self.cpu.a), // LD (BC),A
            0x03 => { let value = self.step_word(self.cpu.bc(), 1); self.cpu.set_bc(value); } // INC BC
            0x04 => self.cpu.b = self.cpu.inc(self.cpu.b), // INC B
            0x05 => self.cpu.b = self.cpu.dec(self.cpu.b), // DEC B
            0x06 => self.cpu.b = self.fetch(rom, cart_ram), // LD B,n
            0x07 => { self.cpu.a = self.cpu.rlc(self.cpu.a); self.cpu.f &= C; } // RLCA   0 0 0 C
            0x08 => self.store_sp(rom, cart_ram), // LD (nn),SP
            0x09 => self.add_to_hl(self.cpu.bc()), // ADD HL,BC
            0x0a => self.cpu.a = self.read(rom, cart_ram, self.cpu.bc()), // LD A,(BC)
            0x0b => { let value = self.step_word(self.cpu.bc(), 0xffff); self.cpu.set_bc(value); } // DEC BC
            0x0c => self.cpu.c = self.cpu.inc(self.cpu.c), // INC C
            0x0d => self.cpu.c = self.cpu.dec(self.cpu.c), // DEC C
            0x0e => self.cpu.c = self.fetch(rom, cart_ram), // LD C,n
            0x0f => { self.cpu.a = self.cpu.rrc(self.cpu.a); self.cpu.f &= C; } // RRCA   0 0 0 C
            0x10 => self.stop(), // STOP
            0x11 => { let value = self.fetch_word(rom, cart_ram); self.cpu.set_de(value); } // LD DE,nn
            0x12 => self.write(rom, cart_ram, self.cpu.de(), self.cpu.a), // LD (DE),A
            0x13 => { let value = self.step_word(self.cpu.de(), 1); self.cpu.set_de(value); } // INC DE
            0x14 => self.cpu.d = self.cpu.inc(self.cpu.d), // INC D
            0x15 => self.cpu.d = self.cpu.dec(self.cpu.d), // DEC D
            0x16 => self.cpu.d = self.fetch(rom, cart_ram), // LD D,n
            0x17 => { self.cpu.a = self.cpu.rl(self.cpu.a); self.cpu.f &= C; } // RLA   0 0 0 C
            0x18 => self.jump_relative(rom, cart_ram, true), // JR e
            0x19 => self.add_to_hl(self.cpu.de()), // ADD HL,DE
            0x1a => self.cpu.a = self.read(rom, cart_ram, self.cpu.de()), // LD A,(DE)
            0x1b => { let value = self.step_word(self.cpu.de(), 0xffff); self.cpu.set_de(value); } // DEC DE
            0x1c => self.cpu.e = self.cpu.inc(self.cpu.e), // INC E
            0x1d => self.cpu.e = self.cpu.dec(self.cpu.e), // DEC E
            0x1e => self.cpu.e = self.fetch(rom, cart_ram), // LD E,n
            0x1f => { self.cpu.a = self.cpu.rr(self.cpu.a); self.cpu.f &= C; } // RRA   0 0 0 C
            0x20 => self.jump_relative(rom, cart_ram, self.cpu.f & Z == 0), // JR NZ,e
            0x21 => { let value = self.fetch_word(rom, cart_ram); self.cpu.set_hl(value); } // LD HL,nn
            0x22 => { let address = self.step_hl(1); self.write(rom, cart_ram, address, self.cpu.a); } // LD (HL+),A
            0x23 => { let value = self.step_word(self.cpu.hl(), 1); self.cpu.set_hl(value); } // INC HL
            0x24 => self.cpu.h = self.cpu.inc(self.cpu.h), // INC H
            0x25 => self.cpu.h = self.cpu.dec(self.cpu.h), // DEC H
            0x26 => self.cpu.h = self.fetch(rom, cart_ram), // LD H,n
            0x27 => self.cpu.daa(), // DAA
            0x28 => self.jump_relative(rom, cart_ram, self.cpu.f & Z != 0), // JR Z,e
            0x29 => self.add_to_hl(self.cpu.hl()), // ADD HL,HL
            0x2a => { let address = self.step_hl(1); self.cpu.a = self.read(rom, cart_ram, address); } // LD A,(HL+)
            0x2b => { let value = self.step_word(self.cpu.hl(), 0xffff); self.cpu.set_hl(value); } // DEC HL
            0x2c => self.cpu.l = self.cpu.inc(self.cpu.l), // INC L
            0x2d => self.cpu.l = self.cpu.dec(self.cpu.l), // DEC L
            0x2e => self.cpu.l = self.fetch(rom, cart_ram), // LD L,n
            0x2f => self.cpu.cpl(), // CPL
            0x30 => self.jump_relative(rom, cart_ram, self.cpu.f & C == 0), // JR NC,e
            0x31 => self.cpu.sp = self.fetch_word(rom, cart_ram), // LD SP,nn
            0x32 => { let address = self.step_hl(0xffff); self.write(rom, cart_ram, address, self.cpu.a); } // LD (HL-),A
            0x33 => self.cpu.sp = self.step_word(self.cpu.sp, 1), // INC SP
            0x34 => { let value = self.read(rom, cart_ram, self.cpu.hl()); let result = self.cpu.inc(value); self.write(rom, cart_ram, self.cpu.hl(), result); } // INC (HL)
            0x35 => { let value = self.read(rom, cart_ram, self.cpu.hl()); let result = self.cpu.dec(value); self.write(rom, cart_ram, self.cpu.hl(), result); } // DEC (HL)
            0x36 => { let value = self.fetch(rom, cart_ram); self.write(rom, cart_ram, self.cpu.hl(), value); } // LD (HL),n
            0x37 => self.cpu.scf(), // SCF
            0x38 => self.jump_relative(rom, cart_ram, self.cpu.f & C != 0), // JR C,e
            0x39 => self.add_to_hl(self.cpu.sp), // ADD HL,SP
            0x3a => { let address = self.step_hl(0xffff); self.cpu.a = self.read(rom, cart_ram, address); } // LD A,(HL-)
            0x3b => self.cpu.sp = self.step_word(self.cpu.sp, 0xffff), // DEC SP
            0x3c => self.cpu.a = self.cpu.inc(self.cpu.a), // INC A
            0x3d => self.cpu.a = self.cpu.dec(self.cpu.a), // DEC A
            0x3e => self.cpu.a = self.fetch(rom, cart_ram), // LD A,n
            0x3f => self.cpu.ccf(), // CCF
            0x40 => {} // LD B,B
            0x41 => self.cpu.b = self.cpu.c, // LD B,C
            0x42 => self.cpu.b = self.cpu.d, // LD B,D
            0x43 => self.cpu.b = self.cpu.e, // LD B,E
            0x44 => self.cpu.b = self.cpu.h, // LD B,H
            0x45 => self.cpu.b = self.cpu.l, // LD B,L
            0x46 => self.cpu.b = self.read(rom, cart_ram, self.cpu.hl()), // LD B,(HL)
            0x47 => self.cpu.b = self.cpu.a, // LD B,A
            0x48 => self.cpu.c = self.cpu.b, // LD C,B
            0x49 => {} // LD C,C
            0x4a => self.cpu.c = self.cpu.d, // LD C,D
            0x4b => self.cpu.c = self.cpu.e, // LD C,E
            0x4c => self.cpu.c = self.cpu.h, // LD C,H
            0x4d => self.cpu.c = self.cpu.l, // LD C,L
            0x4e => self.cpu.c = self.read(rom, cart_ram, self.cpu.hl()), // LD C,(HL)
            0x4f => self.cpu.c = self.cpu.a, // LD C,A
            0x50 => self.cpu.d = self.cpu.b, // LD D,B
            0x51 => self.cpu.d = self.cpu.c, // LD D,C
            0x52 => {} // LD D,D
            0x53 => self.cpu.d = self.cpu.e, // LD D,E
            0x54 => self.cpu.d = self.cpu.h, // LD D,H
            0x55 => self.cpu.d = self.cpu.l, // LD D,L
            0x56 => self.cpu.d = self.read(rom, cart_ram, self.cpu.hl()), // LD D,(HL)
            0x57 => self.cpu.d = self.cpu.a, // LD D,A
            0x58 => self.cpu.e = self.cpu.b, // LD E,B
            0x59 => self.cpu.e = self.cpu.c, // LD E,C
            0x5a => self.cpu.e = self.cpu.d, // LD E,D
            0x5b => {} // LD E,E
            0x5c => self.cpu.e = self.cpu.h, // LD E,H
            0x5d => self.cpu.e = self.cpu.l, // LD E,L
            0x5e => self.cpu.e = self.read(rom, cart_ram, self.cpu.hl()), // LD E,(HL)
            0x5f => self.cpu.e = self.cpu.a, // LD E,A
            0x60 => self.cpu.h = self.cpu.b, // LD H,B
            0x61 => self.cpu.h = self.cpu.c, // LD H,C
            0x62 => self.cpu.h = self.cpu.d, // LD H,D
            0x63 => self.cpu.h = self.cpu.e, // LD H,E
            0x64 => {} // LD H,H
            0x65 => self.cpu.h = self.cpu.l, // LD H,L
            0x66 => self.cpu.h = self.read(rom, cart_ram, self.cpu.hl()), // LD H,(HL)
            0x67 => self.cpu.h = self.cpu.a, // LD H,A
            0x68 => self.cpu.l = self.cpu.b, // LD L,B
            0x69 => self.cpu.l = self.cpu.c, // LD L,C
            0x6a => self.cpu.l = self.cpu.d, // LD L,D
            0x6b => self.cpu.l = self.cpu.e, // LD L,E
            0x6c => self.cpu.l = self.cpu.h, // LD L,H
            0x6d => {} // LD L,L
            0x6e => self.cpu.l = self.read(rom, cart_ram, self.cpu.hl()), // LD L,(HL)
            0x6f => self.cpu.l = self.cpu.a, // LD L,A
            0x70 => self.write(rom, cart_ram, self.cpu.hl(), self.cpu.b), // LD (HL),B
            0x71 => self.write(rom, cart_ram, self.cpu.hl(), self.cpu.c), // LD (HL),C
            0x72 => self.write(rom, cart_ram, self.cpu.hl(), self.cpu.d), // LD (HL),D
            0x73 => self.write(rom, cart_ram, self.cpu.hl(), self.cpu.e), // LD (HL),E
            0x74 => self.write(rom, cart_ram, self.cpu.hl(), self.cpu.h), // LD (HL),H
            0x75 => self.write(rom, cart_ram, self.cpu.hl(), self.cpu.l), // LD (HL),L
            0x76 => self.halt(), // HALT
            0x77 => self.write(rom, cart_ram, self.cpu.hl(), self.cpu.a), // LD (HL),A
            0x78 => self.cpu.a = self.cpu.b, // LD A,B
            0x79 => self.cpu.a = self.cpu.c, // LD A,C
            0x7a => self.cpu.a = self.cpu.d, // LD A,D
            0x7b => self.cpu.a = self.cpu.e, // LD A,E
            0x7c => self.cpu.a = self.cpu.h, // LD A,H
            0x7d => self.cpu.a = self.cpu.l, // LD A,L
            0x7e => self.cpu.a = self.read(rom, cart_ram, self.cpu.hl()), // LD A,(HL)
            0x7f => {} // LD A,A
            0x80 => self.cpu.add(self.cpu.b), // ADD A,B
            0x81 => self.cpu.add(self.cpu.c), // ADD A,C
            0x82 => self.cpu.add(self.cpu.d), // ADD A,D
            0x83 => self.cpu.add(self.cpu.e), // ADD A,E
            0x84 => self.cpu.add(self.cpu.h), // ADD A,H
            0x85 => self.cpu.add(self.cpu.l), // ADD A,L
            0x86 => { let value = self.read(rom, cart_ram, self.cpu.hl()); self.cpu.add(value); } // ADD A,(HL)
            0x87 => self.cpu.add(self.cpu.a), // ADD A,A
            0x88 => self.cpu.adc(self.cpu.b), // ADC A,B
            0x89 => self.cpu.adc(self.cpu.c), // ADC A,C
            0x8a => self.cpu.adc(self.cpu.d), // ADC A,D
            0x8b => self.cpu.adc(self.cpu.e), // ADC A,E
            0x8c => self.cpu.adc(self.cpu.h), // ADC A,H
            0x8d => self.cpu.adc(self.cpu.l), // ADC A,L
            0x8e => { let value = self.read(rom, cart_ram, self.cpu.hl()); self.cpu.adc(value); } // ADC A,(HL)
            0x8f => self.cpu.adc(self.cpu.a), // ADC A,A
            0x90 => self.cpu.sub(self.cpu.b), // SUB B
            0x91 => self.cpu.sub(self.cpu.c), // SUB C
            0x92 => self.cpu.sub(self.cpu.d), // SUB D
            0x93 => self.cpu.sub(self.cpu.e), // SUB E
            0x94 => self.cpu.sub(self.cpu.h), // SUB H
            0x95 => self.cpu.sub(self.cpu.l), // SUB L
            0x96 => { let value = self.read(rom, cart_ram, self.cpu.hl()); self.cpu.sub(value); } // SUB (HL)
            0x97 => self.cpu.sub(self.cpu.a), // SUB A
            0x98 => self.cpu.sbc(self.cpu.b), // SBC A,B
            0x99 => self.cpu.sbc(self.cpu.c), // SBC A,C
            0x9a => self.cpu.sbc(self.cpu.d), // SBC A,D
            0x9b => self.cpu.sbc(self.cpu.e), // SBC A,E
            0x9c => self.cpu.sbc(self.cpu.h), // SBC A,H
            0x9d => self.cpu.sbc(self.cpu.l), // SBC A,L
            0x9e => { let value = self.read(rom, cart_ram, self.cpu.hl()); self.cpu.sbc(value); } // SBC A,(HL)
            0x9f => self.cpu.sbc(self.cpu.a), // SBC A,A
            0xa0 => self.cpu.and(self.cpu.b), // AND B
            0xa1 => self.cpu.and(self.cpu.c), // AND C
            0xa2 => self.cpu.and(self.cpu.d), // AND D
            0xa3 => self.cpu.and(self.cpu.e), // AND E
            0xa4 => self.cpu.and(self.cpu.h), // AND H
            0xa5 => self.cpu.and(self.cpu.l), // AND L
            0xa6 => { let value = self.read(rom, cart_ram, self.cpu.hl()); self.cpu.and(value); } // AND (HL)
            0xa7 => self.cpu.and(self.cpu.a), // AND A
            0xa8 => self.cpu.xor(self.cpu.b), // XOR B
            0xa9 => self.cpu.xor(self.cpu.c), // XOR C
            0xaa => self.cpu.xor(self.cpu.d), // XOR D
            0xab => self.cpu.xor(self.cpu.e), // XOR E
            0xac => self.cpu.xor(self.cpu.h), // XOR H
            0xad => self.cpu.xor(self.cpu.l), // XOR L
            0xae => { let value = self.read(rom, cart_ram, self.cpu.hl()); self.cpu.xor(value); } // XOR (HL)
            0xaf => self.cpu.xor(self.cpu.a), // XOR A
            0xb0 => self.cpu.or(self.cpu.b), // OR B
            0xb1 => self.cpu.or(self.cpu.c), // OR C
            0xb2 => self.cpu.or(self.cpu.d), // OR D
            0xb3 => self.cpu.or(self.cpu.e), // OR E
            0xb4 => self.cpu.or(self.cpu.h), // OR H
            0xb5 => self.cpu.or(self.cpu.l), // OR L
            0xb6 => { let value = self.read(rom, cart_ram, self.cpu.hl()); self.cpu.or(value); } // OR (HL)
            0xb7 => self.cpu.or(self.cpu.a), // OR A
            0xb8 => self.cpu.cp(self.cpu.b), // CP B
            0xb9 => self.cpu.cp(self.cpu.c), // CP C
            0xba => self.cpu.cp(self.cpu.d), // CP D
            0xbb => self.cpu.cp(self.cpu.e), // CP E
            0xbc => self.cpu.cp(self.cpu.h), // CP H
            0xbd => self.cpu.cp(self.cpu.l), // CP L
            0xbe => { let value = self.read(rom, cart_ram, self.cpu.hl()); self.cpu.cp(value); } // CP (HL)
            0xbf => self.cpu.cp(self.cpu.a), // CP A
            0xc0 => self.return_if(rom, cart_ram, self.cpu.f & Z == 0), // RET NZ
            0xc1 => { let value = self.pop(rom, cart_ram); self.cpu.set_bc(value); } // POP BC
            0xc2 => self.jump(rom, cart_ram, self.cpu.f & Z == 0), // JP NZ,nn
            0xc3 => self.jump(rom, cart_ram, true), // JP nn
            0xc4 => self.call(rom, cart_ram, self.cpu.f & Z == 0), // CALL NZ,nn
            0xc5 => self.push(rom, cart_ram, self.cpu.bc()), // PUSH BC
            0xc6 => { let value = self.fetch(rom, cart_ram); self.cpu.add(value); } // ADD A,n
            0xc7 => self.restart(rom, cart_ram, 0x00), // RST 00
            0xc8 => self.return_if(rom, cart_ram, self.cpu.f & Z != 0), // RET Z
            0xc9 => self.return_from(rom, cart_ram), // RET
            0xca => self.jump(rom, cart_ram, self.cpu.f & Z != 0), // JP Z,nn
            0xcb => self.execute_prefixed(rom, cart_ram), // CB prefix
            0xcc => self.call(rom, cart_ram, self.cpu.f & Z != 0), // CALL Z,nn
            0xcd => self.call(rom, cart_ram, true), // CALL nn
            0xce => { let value = self.fetch(rom, cart_ram); self.cpu.adc(value); } // ADC A,n
            0xcf => self.restart(rom, cart_ram, 0x08), // RST 08
            0xd0 => self.return_if(rom, cart_ram, self.cpu.f & C == 0), // RET NC
            0xd1 => { let value = self.pop(rom, cart_ram); self.cpu.set_de(value); } // POP DE
            0xd2 => self.jump(rom, cart_ram, self.cpu.f & C == 0), // JP NC,nn
            0xd4 => self.call(rom, cart_ram, self.cpu.f & C == 0), // CALL NC,nn
            0xd5 => self.push(rom, cart_ram, self.cpu.de()), // PUSH DE
            0xd6 => { let value = self.fetch(rom, cart_ram); self.cpu.sub(value); } // SUB n
            0xd7 => self.restart(rom, cart_ram, 0x10), // RST 10
            0xd8 => self.return_if(rom, cart_ram, self.cpu.f & C != 0), // RET C
            0xd9 => { self.return_from(rom, cart_ram); self.cpu.ime = true; self.deadline = self.now; } // RETI
            0xda => self.jump(rom, cart_ram, self.cpu.f & C != 0), // JP C,nn
            0xdc => self.call(rom, cart_ram, self.cpu.f & C != 0), // CALL C,nn
            0xde => { let value = self.fetch(rom, cart_ram); self.cpu.sbc(value); } // SBC A,n
            0xdf => self.restart(rom, cart_ram, 0x18), // RST 18
            0xe0 => { let low = self.fetch(rom, cart_ram); self.write(rom, cart_ram, 0xff00 | low as u16, self.cpu.a); } // LDH (n),A
            0xe1 => { let value = self.pop(rom, cart_ram); self.cpu.set_hl(value); } // POP HL
            0xe2 => self.write(rom, cart_ram, 0xff00 | self.cpu.c as u16, self.cpu.a), // LDH (C),A
            0xe5 => self.push(rom, cart_ram, self.cpu.hl()), // PUSH HL
            0xe6 => { let value = self.fetch(rom, cart_ram); self.cpu.and(value); } // AND n
            0xe7 => self.restart(rom, cart_ram, 0x20), // RST 20
            0xe8 => { let offset = self.fetch(rom, cart_ram); self.cpu.sp = self.cpu.sp_plus(offset); self.idle(); self.idle(); } // ADD SP,e   0 0 H C
            0xe9 => self.cpu.pc = self.cpu.hl(), // JP HL
            0xea => { let address = self.fetch_word(rom, cart_ram); self.write(rom, cart_ram, address, self.cpu.a); } // LD (nn),A
            0xee => { let value = self.fetch(rom, cart_ram); self.cpu.xor(value); } // XOR n
            0xef => self.restart(rom, cart_ram, 0x28), // RST 28
            0xf0 => { let low = self.fetch(rom, cart_ram); self.cpu.a = self.read(rom, cart_ram, 0xff00 | low as u16); } // LDH A,(n)
            0xf1 => { let value = self.pop(rom, cart_ram); self.cpu.set_af(value); } // POP AF
            0xf2 => self.cpu.a = self.read(rom, cart_ram, 0xff00 | self.cpu.c as u16), // LDH A,(C)
            0xf3 => { self.cpu.ime = false; self.cpu.ime_delayed = false; } // DI
            0xf5 => self.push(rom, cart_ram, self.cpu.af()), // PUSH AF
            0xf6 => { let value = self.fetch(rom, cart_ram); self.cpu.or(value); } // OR n
            0xf7 => self.restart(rom, cart_ram, 0x30), // RST 30
            0xf8 => { let offset = self.fetch(rom, cart_ram); let value = self.cpu.sp_plus(offset); self.cpu.set_hl(value); self.idle(); } // LD HL,SP+e   0 0 H C
            0xf9 => { self.cpu.sp = self.cpu.hl(); self.idle_on_bus(self.cpu.sp); } // LD SP,HL
            0xfa => { let address = self.fetch_word(rom, cart_ram); self.cpu.a = self.read(rom, cart_ram, address); } // LD A,(nn)
            0xfb => self.enable_interrupts(), // EI
            0xfe => { let value = self.fetch(rom, cart_ram); self.cpu.cp(value); } // CP n
            0xff => self.restart(rom, cart_ram, 0x38), // RST 38
            _ => self.lock(), // D3 DB DD E3 E4 EB EC ED F4 FC FD
        }
    }
}
