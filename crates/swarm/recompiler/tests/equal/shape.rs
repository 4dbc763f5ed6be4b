//! Blocks cover the paths that they should: otherwise they would be right, but slow.

use crate::program::Subject;
use gbxcule_gameboy::cpu::Mode;
use gbxcule_ir::Module;
use gbxcule_ir::op::Op;
use gbxcule_recompiler::{Block, BlockCode, MachineIr, Memories, MemoryMap};

/// A machine at 0150, where a program is, and the block there.
fn block(program: &[u8]) -> (Subject, Block) {
    let mut rom = vec![0; 0x8000];
    rom[0x150..0x150 + program.len()].copy_from_slice(program);
    let mut subject = Subject::new(&rom).expect("a ROM that runs");
    subject.machine.cpu.pc = 0x150;
    let map = MemoryMap::of(&subject.machine).expect("no OAM DMA after power-on");
    let block = Block::new(MachineIr::get(), &subject.rom, map, 0x150).expect("a block");
    (subject, block)
}

/// Calls of the machine's functions in a program's block.
fn calls(program: &[u8]) -> usize {
    let machine_ir = MachineIr::get();
    let mut module = Module::clone(&machine_ir.module);
    let block = block(program).1.add_to(machine_ir, &mut module);
    let values = module.functions[block].body.values.iter();
    values.filter(|(_, value)| matches!(value.op, Op::Call { .. })).count()
}

/// Runs a program's block once; gives the machine after it and the M-cycles it took.
fn run_once(program: &[u8]) -> (Subject, u32) {
    let (mut subject, block) = block(program);
    let machine = &mut subject.machine;
    machine.cpu.b = 200;
    machine.deadline = machine.now.wrapping_add(4_000);
    let codes = BlockCode::new(vec![block], subject.rom.len()).expect("code for this machine");
    let before = machine.cpu.now;
    codes[0].run(machine, &Memories::new(&subject.rom, &mut subject.cart_ram));
    let took = machine.cpu.now.wrapping_sub(before);
    (subject, took)
}

#[test]
fn a_loop_that_ends_by_a_condition_is_one_run_of_its_block() {
    // DEC B; JR NZ,-3; STOP
    let (subject, took) = run_once(&[0x05, 0x20, 0xfd, 0x10]);
    assert_eq!((subject.machine.cpu.b, subject.machine.cpu.pc, took), (0, 0x153, 200 * 4 - 1));
}

#[test]
fn buttons_are_read_without_leaving_the_block() {
    // LD A,$20; LDH (P1),A; LDH A,(P1); INC A; STOP
    let program = [0x3e, 0x20, 0xe0, 0x00, 0xf0, 0x00, 0x3c, 0x10];
    let (subject, took) = run_once(&program);
    let cpu = subject.machine.cpu;
    assert_eq!((cpu.a, cpu.pc, took), (0xf0, 0x157, 2 + 3 + 3 + 1));
    assert_eq!(calls(&program), 0);
    // SB instead of P1 is left to a host call.
    assert_eq!(calls(&[0xe0, 0x01, 0xf0, 0x01, 0x10]), 2);
}

#[test]
fn a_block_ends_behind_halt() {
    // INC B; HALT; INC B
    let (subject, took) = run_once(&[0x04, 0x76, 0x04]);
    let machine = &subject.machine;
    let cpu = machine.cpu;
    assert_eq!((cpu.b, cpu.pc, cpu.mode, took), (201, 0x152, Mode::Halted, 2));
    assert_eq!(machine.deadline, cpu.now);
}

/// Data in ROM is read without a call, wherever HL points.
#[test]
fn a_read_calls_the_machine_only_for_chips_and_cartridge_ram() {
    // LD A,(HL+); STOP: `read_slow`
    assert_eq!(calls(&[0x2a, 0x10]), 1);
}

/// Places that a block has read are known: the second read loads nothing.
#[test]
fn a_place_is_loaded_once() {
    let loads = |program: &[u8]| {
        let machine_ir = MachineIr::get();
        let mut module = Module::clone(&machine_ir.module);
        let block = block(program).1.add_to(machine_ir, &mut module);
        let values = module.functions[block].body.values.iter();
        values.filter(|(_, value)| matches!(value.op, Op::Load(_))).count()
    };
    // LD A,($C000); LD B,A; LD A,($C000); STOP
    let twice = [0xfa, 0x00, 0xc0, 0x47, 0xfa, 0x00, 0xc0, 0x10];
    assert_eq!(loads(&twice), loads(&[0xfa, 0x00, 0xc0, 0x10]));
}

#[test]
fn a_block_ends_behind_a_write_that_a_pointer_leads_to_a_chip() {
    // LD (HL),A; INC B; STOP: HL is in ROM, then in work RAM
    let program = [0x77, 0x04, 0x10];
    let (subject, took) = run_once(&program);
    assert_eq!((subject.machine.cpu.pc, subject.machine.cpu.b, took), (0x151, 200, 2));
    // LD HL,$C000 comes before.
    let (subject, took) = run_once(&[&[0x21, 0x00, 0xc0], &program[..]].concat());
    assert_eq!((subject.machine.cpu.pc, subject.machine.cpu.b, took), (0x155, 201, 6));
}

/// Programs wait in high RAM for the end of OAM DMA.
#[test]
fn a_wait_in_high_ram_is_a_block_of_the_bytes_that_are_there() {
    let (mut subject, _) = block(&[0x00]);
    let machine = &mut subject.machine;
    // DEC A; JR NZ,-3; RET
    machine.hram[6..10].copy_from_slice(&[0x3d, 0x20, 0xfd, 0xc9]);
    machine.poke(&subject.rom, &mut [], 0xff46, 0xc1);
    (machine.cpu.pc, machine.cpu.a, machine.cpu.sp) = (0xff86, 35, 0xfff0);
    machine.deadline = machine.dma.deadline;
    let map = MemoryMap::of(machine).expect("PC is in high RAM");
    let block = Block::new(MachineIr::get(), &subject.rom, map, 0xff86).expect("a block");
    let codes = BlockCode::new(vec![block], subject.rom.len()).expect("code for this machine");
    let mut other = *machine;
    let memories = Memories::new(&subject.rom, &mut subject.cart_ram);
    codes[0].run(machine, &memories);
    assert_eq!(machine.cpu.a, 0);
    other.hram[7] = 0x28;
    let before = other;
    codes[0].run(&mut other, &memories);
    assert!(other == before, "other code is not run");
}
