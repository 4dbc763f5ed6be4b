//! Values that programs read from a machine (`view`) equal those that a debugger would see
//! (`peek`), at the end of any frame.

use gbxcule_gameboy::view::{self, StepNumbers};
use gbxcule_gameboy::{Cartridge, Machine};

/// Runs a ROM for some frames with changing buttons, and calls `look` after each.
fn run(rom: &[u8], frames: u32, mut look: impl FnMut(&Machine, &[u8], &[u8])) {
    let cartridge = Cartridge::from_rom(rom).expect("a ROM that runs");
    let mut rom = rom.to_vec();
    rom.resize(cartridge.padded_len(), 0xff);
    let mut ram = vec![0x5a; cartridge.ram_bytes as usize];
    let mut machine = Machine::power_on(&cartridge);
    for frame in 0..frames {
        machine.set_buttons((frame / 3).wrapping_mul(0x9d) as u8);
        machine.run_frame(&rom, &mut ram, frame % 4 == 3);
        look(&machine, &rom, &ram);
    }
}

#[test]
fn a_read_is_what_a_debugger_sees_at_every_address_after_every_frame() {
    for rom in gbxcule_assembler::all() {
        run(rom.bytes(), 60, |machine, rom_bytes, ram| {
            for address in 0..=u16::MAX {
                let (seen, expected) = (
                    view::read(machine, rom_bytes, ram, address),
                    machine.peek(rom_bytes, ram, address),
                );
                assert_eq!(seen, expected, "{} at {address:04x}", rom.name);
            }
        });
    }
}

#[test]
fn words_bits_and_decimals_are_made_of_bytes() {
    let rom = gbxcule_assembler::by_name("MEM_RWB").expect("a ROM");
    run(rom.bytes(), 20, |machine, rom, ram| {
        for address in [0x0000, 0x0147, 0xc000, 0xc0ff, 0xff0f, 0xffff] {
            let byte = view::read(machine, rom, ram, address);
            let next = view::read(machine, rom, ram, address.wrapping_add(1));
            assert_eq!(view::read16(machine, rom, ram, address).to_le_bytes(), [byte, next]);
            let bits = (0..8).map(|number| u8::from(view::bit(machine, rom, ram, address, number)));
            assert_eq!(bits.rev().fold(0, |byte, bit| byte << 1 | bit), byte);
            let tens = 10 * i32::from(byte >> 4);
            assert_eq!(view::bcd(machine, rom, ram, address), tens + i32::from(byte & 15));
        }
    });
}

#[test]
fn pixels_are_those_of_the_frame_and_there_are_none_outside() {
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    let mut shades = [0; 4];
    run(rom.bytes(), 40, |machine, _, _| {
        for (y, row) in machine.frame.chunks(40).enumerate() {
            for x in 0..160 {
                let pixel = row[x / 4] >> (6 - 2 * (x % 4)) & 3;
                assert_eq!(view::pixel(machine, x as i32, y as i32), pixel);
                shades[usize::from(pixel)] += 1;
            }
        }
        for (x, y) in [(-1, 0), (0, -1), (160, 0), (0, 144), (i32::MIN, i32::MAX)] {
            assert_eq!(view::pixel(machine, x, y), 0);
        }
    });
    assert!(shades.iter().all(|&count| count > 0), "a dull picture: {shades:?}");
}

#[test]
fn registers_are_the_cpus() {
    let rom = gbxcule_assembler::by_name("MBC5_SWITCH").expect("a ROM");
    run(rom.bytes(), 1, |machine, _, _| {
        let mut machine = *machine;
        let cpu = &mut machine.cpu;
        cpu.set_af(0x12b0);
        cpu.set_bc(0x3456);
        cpu.set_de(0x789a);
        cpu.set_hl(0xbcde);
        (cpu.sp, cpu.pc) = (0xfedc, 0x4321);
        let bytes = [view::a, view::f, view::b, view::c, view::d, view::e, view::h, view::l];
        let seen = bytes.map(|register| register(&machine));
        assert_eq!(seen, [0x12, 0xb0, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde]);
        let words = [view::bc, view::de, view::hl, view::sp, view::pc];
        let seen = words.map(|register| register(&machine));
        assert_eq!(seen, [0x3456, 0x789a, 0xbcde, 0xfedc, 0x4321]);
        for bank in [0, 1, 5, 0x1f] {
            machine.cart.write_control(machine.now, 0x2000, bank);
            assert_eq!(view::rom_bank(&machine), u16::from(bank));
        }
    });
}

#[test]
fn cartridge_ram_is_read_by_its_place_in_the_chip() {
    let ram = [1, 2, 3, 4];
    assert_eq!([0, 3, 4, u32::MAX].map(|at| view::cart_ram(&ram, at)), [1, 4, 0xff, 0xff]);
}

#[test]
fn step_numbers_are_those_of_the_step() {
    let turn =
        StepNumbers { frames: 24, seed: 7, env: 3, step_frames: 5, action: 2, buttons: 0x10 };
    assert_eq!((view::frames(&turn), view::seed(&turn), view::env(&turn)), (24, 7, 3));
    assert_eq!((view::step_frames(&turn), view::action(&turn)), (5, 2));
    assert_eq!(view::buttons(&turn), 0x10);
}
