//! The machine updates a chip only at its deadline. Updating all chips at every instruction
//! boundary must not change anything: no interrupt may come later because a chip was not updated.

use gbxcule_gameboy::ppu::sync_ppu;
use gbxcule_gameboy::{Cartridge, Machine};
use proptest::prelude::*;

/// An MBC3 whose program, at 0150, is `code` in an endless loop. Each interrupt counts B down or
/// up, which the code's loops notice.
fn rom(code: &[u8]) -> Vec<u8> {
    let mut rom = vec![0; 0x8000];
    for (number, handler) in (0x40..0x68).step_by(8).enumerate() {
        let count = if number % 2 == 0 { 0x04 } else { 0x0d };
        rom[handler..handler + 2].copy_from_slice(&[count, 0xd9]);
    }
    rom[0x100..0x104].copy_from_slice(&[0x00, 0xc3, 0x50, 0x01]);
    rom[0x147..0x14a].copy_from_slice(&[0x10, 0x00, 0x03]);
    rom[0x150..0x150 + code.len()].copy_from_slice(code);
    rom[0x150 + code.len()..][..3].copy_from_slice(&[0xc3, 0x50, 0x01]);
    rom
}

/// A few instructions that set interrupts up, wait for them, or write to the chips that request
/// them.
fn act() -> impl Strategy<Value = Vec<u8>> {
    let set = |register: u8, value: u8| vec![0x3e, value, 0xe0, register];
    prop_oneof![
        3 => any::<u8>().prop_map(move |value| set(0xff, value & 0x1f)),
        2 => any::<u8>().prop_map(move |value| set(0x41, value & 0x78)),
        2 => (0u8..156).prop_map(move |line| set(0x45, line)),
        2 => (4u8..8).prop_map(move |value| set(0x07, value)),
        2 => any::<u8>().prop_map(move |value| set(0x05, value)),
        1 => any::<u8>().prop_map(move |value| set(0x06, value)),
        1 => Just(set(0x04, 0)),
        1 => Just(set(0x02, 0x81)),
        1 => any::<u8>().prop_map(move |value| set(0x0f, value & 0x1f)),
        1 => any::<u8>().prop_map(move |value| set(0x43, value)),
        1 => any::<u8>().prop_map(move |value| set(0x40, value | 0x80)),
        1 => prop::sample::select(vec![0x00, 0x91]).prop_map(move |value| set(0x40, value)),
        1 => Just(set(0x46, 0xc1)),
        2 => (1u8..).prop_map(|count| vec![0x06, count, 0x05, 0x20, 0xfd]),
        2 => (1u8..).prop_map(|count| vec![0x0e, count, 0x0d, 0x20, 0xfd]),
        2 => Just(vec![0xfb]),
        1 => Just(vec![0xf3]),
        2 => Just(vec![0xfb, 0x76]),
        1 => Just(vec![0xf0, 0x0f, 0xea, 0x00, 0xc0]),
        1 => Just(vec![0xf0, 0x05, 0xea, 0x01, 0xc0]),
        1 => Just(vec![0xf0, 0x41, 0xea, 0x02, 0xc0]),
    ]
}

/// Runs a frame, and updates all chips before each instruction.
fn run_frame_observed(machine: &mut Machine, rom: &[u8], ram: &mut [u8], draw: bool) {
    machine.begin_frame(draw);
    loop {
        let now = machine.now;
        machine.deadline = now;
        machine.timer.deadline = now;
        machine.serial.deadline = now;
        machine.ppu.deadline = now;
        let services = machine.run_instruction(rom, ram);
        if services {
            return;
        }
        if machine.now.wrapping_sub(machine.deadline) as i32 >= 0 {
            continue;
        }
        machine.run_instruction(rom, ram);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn how_often_the_machine_looks_changes_nothing(code in prop::collection::vec(act(), 1..24), held: u8) {
        let rom = rom(&code.concat());
        let cartridge = Cartridge::from_rom(&rom).unwrap();
        let mut ram = [vec![0; 0x8000], vec![0; 0x8000]];
        let mut rare = Machine::power_on(&cartridge);
        let mut often = rare;
        for frame in 0..3 {
            rare.set_buttons(held >> frame);
            often.set_buttons(held >> frame);
            rare.run_frame(&rom, &mut ram[0], frame == 1);
            run_frame_observed(&mut often, &rom, &mut ram[1], frame == 1);
            // The chips' next deadlines may differ.
            often.deadline = rare.deadline;
            for machine in [&mut rare, &mut often] {
                sync_ppu(machine, machine.tcycles().wrapping_add(4));
            }
            often.ppu.deadline = rare.ppu.deadline;
            prop_assert_eq!(often.first_difference(&rare), None, "frame {}", frame);
        }
    }
}
