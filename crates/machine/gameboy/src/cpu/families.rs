//! The opcode chart by families: opcodes that access memory in the same way share code. A property
//! test compares each opcode with `opcode`.
//!
//! GPUs execute this chart: a multiprocessor's instruction cache has some 16 KiB, and most of the
//! code of an opcode is for its accesses.

use crate::cpu::Cpu;
use crate::cpu::interrupt_dispatch::halt;
use crate::machine::Machine;

/// Executes an instruction whose first byte has been fetched, as `execute` does.
#[inline(always)]
#[rustfmt::skip]
#[expect(clippy::too_many_lines, reason = "the table of opcodes")]
pub fn execute_by_family(cpu: &mut Cpu, m: &mut Machine, rom: &[u8], ram: &mut [u8], opcode: u8) {
    match opcode {
        // Between registers.
        0x00 | 0x40 | 0x49 | 0x52 | 0x5b | 0x64 | 0x6d | 0x7f => {}
        0x41 => cpu.b = cpu.c,
        0x42 => cpu.b = cpu.d,
        0x43 => cpu.b = cpu.e,
        0x44 => cpu.b = cpu.h,
        0x45 => cpu.b = cpu.l,
        0x47 => cpu.b = cpu.a,
        0x48 => cpu.c = cpu.b,
        0x4a => cpu.c = cpu.d,
        0x4b => cpu.c = cpu.e,
        0x4c => cpu.c = cpu.h,
        0x4d => cpu.c = cpu.l,
        0x4f => cpu.c = cpu.a,
        0x50 => cpu.d = cpu.b,
        0x51 => cpu.d = cpu.c,
        0x53 => cpu.d = cpu.e,
        0x54 => cpu.d = cpu.h,
        0x55 => cpu.d = cpu.l,
        0x57 => cpu.d = cpu.a,
        0x58 => cpu.e = cpu.b,
        0x59 => cpu.e = cpu.c,
        0x5a => cpu.e = cpu.d,
        0x5c => cpu.e = cpu.h,
        0x5d => cpu.e = cpu.l,
        0x5f => cpu.e = cpu.a,
        0x60 => cpu.h = cpu.b,
        0x61 => cpu.h = cpu.c,
        0x62 => cpu.h = cpu.d,
        0x63 => cpu.h = cpu.e,
        0x65 => cpu.h = cpu.l,
        0x67 => cpu.h = cpu.a,
        0x68 => cpu.l = cpu.b,
        0x69 => cpu.l = cpu.c,
        0x6a => cpu.l = cpu.d,
        0x6b => cpu.l = cpu.e,
        0x6c => cpu.l = cpu.h,
        0x6f => cpu.l = cpu.a,
        0x78 => cpu.a = cpu.b,
        0x79 => cpu.a = cpu.c,
        0x7a => cpu.a = cpu.d,
        0x7b => cpu.a = cpu.e,
        0x7c => cpu.a = cpu.h,
        0x7d => cpu.a = cpu.l,
        0x04 => cpu.b = cpu.inc(cpu.b),
        0x05 => cpu.b = cpu.dec(cpu.b),
        0x0c => cpu.c = cpu.inc(cpu.c),
        0x0d => cpu.c = cpu.dec(cpu.c),
        0x14 => cpu.d = cpu.inc(cpu.d),
        0x15 => cpu.d = cpu.dec(cpu.d),
        0x1c => cpu.e = cpu.inc(cpu.e),
        0x1d => cpu.e = cpu.dec(cpu.e),
        0x24 => cpu.h = cpu.inc(cpu.h),
        0x25 => cpu.h = cpu.dec(cpu.h),
        0x2c => cpu.l = cpu.inc(cpu.l),
        0x2d => cpu.l = cpu.dec(cpu.l),
        0x3c => cpu.a = cpu.inc(cpu.a),
        0x3d => cpu.a = cpu.dec(cpu.a),
        0x80 | 0x81 | 0x82 | 0x83 | 0x84 | 0x85 | 0x87 => cpu.add(register(cpu, opcode)),
        0x88 | 0x89 | 0x8a | 0x8b | 0x8c | 0x8d | 0x8f => cpu.adc(register(cpu, opcode)),
        0x90 | 0x91 | 0x92 | 0x93 | 0x94 | 0x95 | 0x97 => cpu.sub(register(cpu, opcode)),
        0x98 | 0x99 | 0x9a | 0x9b | 0x9c | 0x9d | 0x9f => cpu.sbc(register(cpu, opcode)),
        0xa0 | 0xa1 | 0xa2 | 0xa3 | 0xa4 | 0xa5 | 0xa7 => cpu.and(register(cpu, opcode)),
        0xa8 | 0xa9 | 0xaa | 0xab | 0xac | 0xad | 0xaf => cpu.xor(register(cpu, opcode)),
        0xb0 | 0xb1 | 0xb2 | 0xb3 | 0xb4 | 0xb5 | 0xb7 => cpu.or(register(cpu, opcode)),
        0xb8 | 0xb9 | 0xba | 0xbb | 0xbc | 0xbd | 0xbf => cpu.cp(register(cpu, opcode)),
        0x07 | 0x0f | 0x17 | 0x1f => rotate_a(cpu, opcode),
        0x27 => cpu.daa(),
        0x2f => cpu.cpl(),
        0x37 => cpu.scf(),
        0x3f => cpu.ccf(),
        0x09 | 0x19 | 0x29 | 0x39 => cpu.add_to_hl(m, pair(cpu, opcode)),
        0xe9 => cpu.pc = cpu.hl(),
        0xf3 => { cpu.ime = false; cpu.ime_delayed = false; }
        0xfb => cpu.enable_interrupts(m),
        0x10 => *cpu = m.stop(*cpu),
        0x76 => halt(cpu, m),
        // Increments and decrements of a 16-bit register.
        0x03 | 0x0b | 0x13 | 0x1b | 0x23 | 0x2b | 0x33 | 0x3b => {
            let by = if opcode & 8 == 0 { 1 } else { 0xffff };
            let value = cpu.step_word(m, pair(cpu, opcode), by);
            set_pair(cpu, opcode, value);
        }
        // The byte behind the opcode.
        0x06 | 0x0e | 0x16 | 0x1e | 0x26 | 0x2e | 0x3e
        | 0xc6 | 0xce | 0xd6 | 0xde | 0xe6 | 0xee | 0xf6 | 0xfe | 0xe8 | 0xf8 => {
            let value = cpu.fetch(m, rom, ram);
            match opcode {
                0xc6 => cpu.add(value),
                0xce => cpu.adc(value),
                0xd6 => cpu.sub(value),
                0xde => cpu.sbc(value),
                0xe6 => cpu.and(value),
                0xee => cpu.xor(value),
                0xf6 => cpu.or(value),
                0xfe => cpu.cp(value),
                0xe8 => { cpu.sp = cpu.sp_plus(value); cpu.idle(m); cpu.idle(m); }
                0xf8 => { let sum = cpu.sp_plus(value); cpu.set_hl(sum); cpu.idle(m); }
                _ => set_register(cpu, opcode >> 3, value),
            }
        }
        // The word behind the opcode.
        0x01 | 0x11 | 0x21 | 0x31 => { let value = cpu.fetch_word(m, rom, ram); set_pair(cpu, opcode, value); }
        // Reads.
        0x0a | 0x1a | 0x2a | 0x3a | 0xf0 | 0xf2 | 0xfa | 0x46 | 0x4e | 0x56 | 0x5e | 0x66 | 0x6e | 0x7e
        | 0x86 | 0x8e | 0x96 | 0x9e | 0xa6 | 0xae | 0xb6 | 0xbe => {
            let address = operand_address(cpu, m, rom, ram, opcode);
            let value = cpu.read(m, rom, ram, address);
            match opcode {
                0x86 => cpu.add(value),
                0x8e => cpu.adc(value),
                0x96 => cpu.sub(value),
                0x9e => cpu.sbc(value),
                0xa6 => cpu.and(value),
                0xae => cpu.xor(value),
                0xb6 => cpu.or(value),
                0xbe => cpu.cp(value),
                0x46 => cpu.b = value,
                0x4e => cpu.c = value,
                0x56 => cpu.d = value,
                0x5e => cpu.e = value,
                0x66 => cpu.h = value,
                0x6e => cpu.l = value,
                _ => cpu.a = value,
            }
        }
        // Writes.
        0x02 | 0x12 | 0x22 | 0x32 | 0xe0 | 0xe2 | 0xea | 0x36
        | 0x70 | 0x71 | 0x72 | 0x73 | 0x74 | 0x75 | 0x77 => {
            let address = operand_address(cpu, m, rom, ram, opcode);
            let value = if opcode == 0x36 {
                cpu.fetch(m, rom, ram)
            } else if opcode & 0xf8 == 0x70 {
                register(cpu, opcode)
            } else {
                cpu.a
            };
            cpu.write(m, rom, ram, address, value);
        }
        // Reads and writes.
        0x34 | 0x35 => {
            let value = cpu.read(m, rom, ram, cpu.hl());
            let result = if opcode == 0x34 { cpu.inc(value) } else { cpu.dec(value) };
            cpu.write(m, rom, ram, cpu.hl(), result);
        }
        0xcb => cpu.execute_prefixed(m, rom, ram),
        // Jumps.
        0x18 => cpu.jump_relative(m, rom, ram, true),
        0x20 | 0x28 | 0x30 | 0x38 => cpu.jump_relative(m, rom, ram, holds(cpu, opcode)),
        0xc3 => cpu.jump(m, rom, ram, true),
        0xc2 | 0xca | 0xd2 | 0xda => cpu.jump(m, rom, ram, holds(cpu, opcode)),
        // The stack.
        0xc4 | 0xcc | 0xd4 | 0xdc => cpu.call(m, rom, ram, holds(cpu, opcode)),
        0xc5 | 0xd5 | 0xe5 | 0xf5 | 0xcd | 0xc7 | 0xcf | 0xd7 | 0xdf | 0xe7 | 0xef | 0xf7 | 0xff => {
            let target = if opcode == 0xcd { cpu.fetch_word(m, rom, ram) } else { (opcode & 0x38) as u16 };
            let pushed = match opcode {
                0xc5 => cpu.bc(),
                0xd5 => cpu.de(),
                0xe5 => cpu.hl(),
                0xf5 => cpu.af(),
                _ => cpu.pc,
            };
            cpu.push(m, rom, ram, pushed);
            if opcode & 0x0f != 0x05 {
                cpu.pc = target;
            }
        }
        0xc1 | 0xd1 | 0xe1 | 0xf1 => {
            let value = cpu.pop(m, rom, ram);
            if opcode == 0xf1 { cpu.set_af(value) } else { set_pair(cpu, opcode, value) }
        }
        0xc0 | 0xc8 | 0xd0 | 0xd8 | 0xc9 | 0xd9 => {
            if opcode & 1 == 0 {
                cpu.idle(m);
            }
            if opcode & 1 == 1 || holds(cpu, opcode) {
                cpu.return_from(m, rom, ram);
                if opcode == 0xd9 {
                    cpu.ime = true;
                    if m.interrupts.pending() != 0 {
                        m.deadline = cpu.now;
                    }
                }
            }
        }
        0xf9 => { cpu.sp = cpu.hl(); cpu.idle_on_bus(m, cpu.sp); }
        0x08 => cpu.store_sp(m, rom, ram),
        0xd3 | 0xdb | 0xdd | 0xe3 | 0xe4 | 0xeb | 0xec | 0xed | 0xf4 | 0xfc | 0xfd => cpu.lock(m),
    }
}

/// Register of an opcode's lower three bits. The value for 6, which means (HL), is not used.
#[inline(always)]
fn register(cpu: &Cpu, opcode: u8) -> u8 {
    let is_odd = opcode & 1 != 0;
    let is_second = opcode & 2 != 0;
    let bc = if is_odd { cpu.c } else { cpu.b };
    let de = if is_odd { cpu.e } else { cpu.d };
    let hl = if is_odd { cpu.l } else { cpu.h };
    let lower = if is_second { de } else { bc };
    let upper = if is_second { cpu.a } else { hl };
    if opcode & 4 == 0 { lower } else { upper }
}

/// Sets the register of a number's lower three bits.
#[inline(always)]
fn set_register(cpu: &mut Cpu, number: u8, value: u8) {
    match number & 7 {
        0 => cpu.b = value,
        1 => cpu.c = value,
        2 => cpu.d = value,
        3 => cpu.e = value,
        4 => cpu.h = value,
        5 => cpu.l = value,
        _ => cpu.a = value,
    }
}

/// 16-bit register of an opcode's bits 4 and 5.
#[inline(always)]
fn pair(cpu: &Cpu, opcode: u8) -> u16 {
    let is_odd = opcode & 0x10 != 0;
    let lower = if is_odd { cpu.de() } else { cpu.bc() };
    let upper = if is_odd { cpu.sp } else { cpu.hl() };
    if opcode & 0x20 == 0 { lower } else { upper }
}

/// Sets the 16-bit register of an opcode's bits 4 and 5.
#[inline(always)]
fn set_pair(cpu: &mut Cpu, opcode: u8, value: u16) {
    match opcode >> 4 & 3 {
        0 => cpu.set_bc(value),
        1 => cpu.set_de(value),
        2 => cpu.set_hl(value),
        _ => cpu.sp = value,
    }
}

/// Returns true if the condition of an opcode's bits 3 and 4 holds: NZ, Z, NC, C.
#[inline(always)]
fn holds(cpu: &Cpu, opcode: u8) -> bool {
    let flag = if opcode & 0x10 == 0 { cpu.is_zero() } else { cpu.is_carry() };
    flag == (opcode & 8 != 0)
}

/// Address that an opcode reads or writes: (BC), (DE), (HL+), (HL-), (FF00+n), (FF00+C), (nn),
/// else (HL).
#[inline(always)]
fn operand_address(cpu: &mut Cpu, m: &mut Machine, rom: &[u8], ram: &mut [u8], opcode: u8) -> u16 {
    match opcode {
        0x02 | 0x0a => cpu.bc(),
        0x12 | 0x1a => cpu.de(),
        0x22 | 0x2a => cpu.step_hl(1),
        0x32 | 0x3a => cpu.step_hl(0xffff),
        0xe0 | 0xf0 => 0xff00 | cpu.fetch(m, rom, ram) as u16,
        0xe2 | 0xf2 => 0xff00 | cpu.c as u16,
        0xea | 0xfa => cpu.fetch_word(m, rom, ram),
        _ => cpu.hl(),
    }
}

/// `RLCA`, `RRCA`, `RLA`, `RRA`.
#[inline(always)]
fn rotate_a(cpu: &mut Cpu, opcode: u8) {
    let is_right = opcode & 8 != 0;
    let out = if is_right { cpu.a & 1 } else { cpu.a >> 7 };
    let turned_in = if opcode & 0x10 == 0 { out } else { cpu.carry() as u8 };
    let result = if is_right { cpu.a >> 1 | turned_in << 7 } else { cpu.a << 1 | turned_in };
    let result = cpu.shifted(result, out);
    cpu.set_a_nonzero(result);
}
