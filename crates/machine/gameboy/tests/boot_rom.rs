//! A boot ROM: the machine begins in it, and a write to FF50 unmaps it until power-off.

use gbxcule_assembler::Assembler;
use gbxcule_gameboy::{Cartridge, Machine, Model, boot_rom};

/// Writes to the cartridge's banks and to memory, then starts the cartridge's program: the last
/// instruction ends at 0100.
const BOOT: &str = "
    ld sp, $fffe
    ld hl, $c000
    ld [hl], $5a
    ldh a, [$50]
    ld c, a
    ld a, 2
    ld [$2000], a
    ld b, 200
Wait:
    dec b
    jr nz, Wait
    ld a, [$0104]
    ld d, a
    ld a, [$4000]
    ld e, a
    jp End
    org $00fc
End:
    ld a, $11
    ldh [$50], a
";

#[derive(Clone)]
struct Console {
    cartridge: Cartridge,
    rom: Vec<u8>,
    machine: Machine,
}

impl Console {
    /// A cartridge of four banks, each filled with its number plus one, in a machine with a boot
    /// ROM.
    fn new() -> Console {
        let mut rom: Vec<u8> = (0..0x1_0000_u32).map(|at| (at >> 14) as u8 + 1).collect();
        rom[0x104..0x150].fill(0);
        (rom[0x104], rom[0x147], rom[0x148]) = (0x77, 0x01, 1);
        let cartridge =
            Cartridge { has_boot_rom: true, ..Cartridge::from_rom(&rom).expect("a good header") };
        let boot = Assembler::new("boot.asm", BOOT).code_at(0).expect("a program");
        assert_eq!(boot.len(), boot_rom::length(Model::Original));
        rom.extend_from_within(..boot_rom::BANK_BYTES);
        boot_rom::overlay(&mut rom[0x1_0000..], &boot);
        Console { machine: Machine::power_on(&cartridge), cartridge, rom }
    }

    fn step(&mut self) {
        self.machine.run_instruction(&self.rom, &mut []);
    }

    fn peek(&self, address: u16) -> u8 {
        self.machine.peek(&self.rom, &[], address)
    }

    fn run_to(&mut self, pc: u16) {
        let mut steps = 0;
        while self.machine.cpu.pc != pc {
            self.step();
            steps += 1;
            assert!(steps < 1000, "PC is {:04x}", self.machine.cpu.pc);
        }
    }
}

#[test]
fn the_machine_begins_in_the_boot_rom_with_everything_off() {
    let console = Console::new();
    let cpu = console.machine.cpu;
    assert_eq!([cpu.pc, cpu.sp, cpu.af(), cpu.bc(), cpu.de(), cpu.hl()], [0; 6]);
    for (address, value) in
        [(0xff40, 0), (0xff41, 0x84), (0xff44, 0), (0xff26, 0x70), (0xff0f, 0xe0)]
    {
        assert_eq!(console.peek(address), value, "{address:04x}");
    }
    assert!(console.machine.vram.iter().all(|&byte| byte == 0));
}

#[test]
fn the_boot_rom_covers_the_cartridge_until_ff50_is_written() {
    let mut console = Console::new();
    assert_eq!([0x00, 0xff, 0x100].map(|at| console.peek(at)), [0x31, 0x50, 1]);
    console.run_to(0xfc);
    assert_eq!(console.peek(0xff50), 0xfe);
    console.run_to(0x100);
    let cpu = console.machine.cpu;
    // The boot ROM read FF50, the header, and the bank that it had selected.
    assert_eq!([cpu.c, cpu.d, cpu.e], [0xfe, 0x77, 3]);
    assert_eq!([0x00, 0xff, 0x100].map(|at| console.peek(at)), [1; 3]);
    assert_eq!(console.peek(0xff50), 0xff);
    console.machine.poke(&console.rom, &mut [], 0xff50, 0);
    assert_eq!(console.peek(0), 1);
}

#[test]
fn only_bit_0_of_ff50_takes_it_away() {
    let mut console = Console::new();
    console.machine.poke(&console.rom, &mut [], 0xff50, 0xfe);
    assert_eq!(console.peek(0), 0x31);
    console.machine.poke(&console.rom, &mut [], 0xff50, 0x01);
    assert_eq!(console.peek(0), 1);
}

#[test]
fn a_machine_without_a_boot_rom_takes_no_notice_of_ff50() {
    let mut console = Console::new();
    console.cartridge.has_boot_rom = false;
    let mut machine = Machine::power_on(&console.cartridge);
    let before = machine;
    machine.poke(&console.rom, &mut [], 0xff50, 1);
    assert_eq!(machine.rom_base, before.rom_base);
    assert_eq!(machine.cpu.pc, 0x100);
}

#[test]
fn a_state_from_within_goes_on_and_needs_the_boot_rom() {
    let mut console = Console::new();
    for _ in 0..40 {
        console.step();
    }
    let mut state = vec![0; console.machine.state_len(&console.cartridge)];
    console.machine.save_state(&console.cartridge, &[], &mut state).expect("room");
    let mut loaded = console.clone();
    loaded.machine =
        Machine::load_state(&console.cartridge, &state, &mut []).expect("its own state");
    for _ in 0..500 {
        console.step();
        loaded.step();
        assert_eq!(loaded.machine.first_difference(&console.machine), None);
    }
    let without = Cartridge { has_boot_rom: false, ..console.cartridge };
    let refused = Machine::load_state(&without, &state, &mut []).expect_err("no boot ROM");
    assert!(refused.to_string().contains("cart.boot_rom needs"), "{refused}");
}
