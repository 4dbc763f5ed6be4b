//! The Color's boot ROM: the cartridge's header shows through it, and it chooses the model.

use gbxcule_assembler::Assembler;
use gbxcule_gameboy_color::{Cartridge, Machine, Model, boot_rom};

/// A boot ROM of two parts; the second writes KEY0 and OPRI, then a colour, and jumps back.
fn boot(key0: u8, opri: u8) -> Vec<u8> {
    let choice = format!(
        "ld a, {key0}\n ldh [$4c], a\n ld a, {opri}\n ldh [$6c], a\n ld a, $80\n ldh [$68], a\n \
         ld a, $1f\n ldh [$69], a\n jp $00fe\n"
    );
    let first = Assembler::new("boot.asm", "ld sp, $fffe\n jp $0200\n").code_at(0);
    let second = Assembler::new("choice.asm", &choice).code_at(0x200).expect("a program");
    let mut boot = first.expect("a program");
    boot.resize(0xfe, 0);
    boot.extend([0xe0, 0x50]); // ldh [$50], a
    boot.resize(0x200, 0xd3);
    boot.extend(second);
    boot.resize(boot_rom::length(Model::Color), 0xaa);
    boot
}

/// Runs a boot ROM before a program with a flag at 0143, up to 0100.
fn booted(flag: u8, key0: u8, opri: u8) -> (Machine, Vec<u8>) {
    let mut rom = vec![0x11; 0x8000];
    rom[0x100..0x150].fill(0);
    (rom[0x101], rom[0x143]) = (0x22, flag);
    let cartridge =
        Cartridge { has_boot_rom: true, ..Cartridge::from_rom(&rom).expect("a good header") };
    rom.extend_from_within(..boot_rom::BANK_BYTES);
    boot_rom::overlay(&mut rom[0x8000..], &boot(key0, opri));
    let mut machine = Machine::power_on(&cartridge);
    assert_eq!(machine.cpu.pc, 0);
    let seen = [0x000, 0x101, 0x8ff, 0x900, 0xff50].map(|at| machine.peek(&rom, &[], at));
    assert_eq!(seen, [0x31, 0x22, 0xaa, 0x11, 0xfe]);
    for _ in 0..100 {
        machine.run_instruction(&rom, &mut []);
        if machine.cpu.pc == 0x100 {
            return (machine, rom);
        }
    }
    panic!("PC is {:04x}", machine.cpu.pc);
}

#[test]
fn key0_gives_the_program_the_colors_registers_or_locks_them() {
    for (key0, svbk) in [(0x80, 0xfa), (0x04, 0xff), (0x08, 0xfa)] {
        let (mut machine, rom) = booted(0x80, key0, 0);
        assert_eq!(machine.ppu.compatible, key0 & 0x0c != 0);
        machine.poke(&rom, &mut [], 0xff70, 2);
        assert_eq!(machine.peek(&rom, &[], 0xff70), svbk, "KEY0 {key0:02x}");
        // The boot ROM's colour stays, KEY0's lock or not.
        assert_eq!(machine.ppu.palettes.background[0], 0x1f);
        machine.poke(&rom, &mut [], 0xff4c, 0x80);
        assert_eq!(machine.ppu.compatible, key0 & 0x0c != 0, "KEY0 is locked");
    }
}

#[test]
fn opri_orders_objects_only_while_the_boot_rom_runs() {
    for opri in [0, 1] {
        let (mut machine, rom) = booted(0x80, 0x80, opri);
        assert_eq!(machine.ppu.sorts_by_x, opri == 1);
        machine.poke(&rom, &mut [], 0xff6c, 1 - opri);
        assert_eq!(machine.ppu.sorts_by_x, opri == 1);
    }
}
