//! A Super Game Boy: commands over P1, controllers, and what colours the picture.

use gbxcule_gameboy::machine::set_controller;
use gbxcule_gameboy::super_game_boy::memory::{
    attribute, border_color, frozen, mask_mode, palette_color,
};
use gbxcule_gameboy::{Cartridge, Machine, Revision};
use proptest::prelude::*;

use crate::console::{Console, LCDC};

const P1: u16 = 0xff00;

fn header() -> Vec<u8> {
    let mut rom = vec![0; 0x8000];
    (rom[0x146], rom[0x14b]) = (0x03, 0x33);
    rom
}

fn in_revision(rom: Vec<u8>, revision: Revision) -> Console {
    let cartridge = Cartridge::from_rom(&rom).expect("a good header").for_revision(revision);
    let ram = vec![0xff; cartridge.ram_bytes as usize];
    Console { machine: Machine::power_on(&cartridge), rom: rom.into(), ram }
}

fn super_game_boy() -> Console {
    in_revision(header(), Revision::Sgb)
}

fn pulse(console: &mut Console, lines: u8) {
    console.write(P1, lines);
    console.write(P1, 0x30);
}

/// Sends a command in as many packets as its first byte says.
fn send(console: &mut Console, command: &[u8]) {
    let mut bytes = command.to_vec();
    bytes.resize(16 * usize::from(command[0] & 7), 0);
    for packet in bytes.chunks(16) {
        pulse(console, 0x00);
        for byte in packet {
            (0..8).for_each(|bit| pulse(console, if byte >> bit & 1 != 0 { 0x10 } else { 0x20 }));
        }
        pulse(console, 0x20);
    }
}

fn controllers(console: &mut Console, mode: u8) {
    send(console, &[0x89, mode]);
}

/// The number that P1 shows after the next controllers were chosen so many times.
fn after(console: &mut Console, times: u32) -> u8 {
    (0..times).for_each(|_| pulse(console, 0x10));
    console.read(P1)
}

// SameSuite `sgb/command_mlt_req`.
#[test]
fn controllers_take_turns_as_mlt_req_asks() {
    let mut console = super_game_boy();
    let console = &mut console;
    let mut seen = Vec::new();
    let mut ask = |console: &mut Console, modes: &[u8], times: u32, last: Option<u8>| {
        modes.iter().for_each(|mode| controllers(console, *mode));
        let shown = after(console, times);
        if let Some(last) = last {
            controllers(console, last);
            seen.push(console.read(P1));
        } else {
            seen.push(shown);
        }
    };
    ask(console, &[1], 0, None);
    ask(console, &[], 1, None);
    ask(console, &[0, 1], 0, None);
    ask(console, &[0, 2], 0, None);
    ask(console, &[], 1, None);
    ask(console, &[0, 3], 0, None);
    (0..3).for_each(|_| ask(console, &[], 1, None));
    (0..4).for_each(|times| ask(console, &[0, 3], times, Some(1)));
    ask(console, &[0, 3], 0, None);
    ask(console, &[3], 0, None);
    ask(console, &[0, 3], 0, Some(2));
    let expected = [
        0xff, 0xfe, 0xff, 0xff, 0xff, 0xff, 0xfe, 0xfd, 0xfc, 0xfe, 0xff, 0xfe, 0xff, 0xff, 0xfd,
        0xfd,
    ];
    assert_eq!(seen, expected);
}

// SameSuite `sgb/command_mlt_req_1_incrementing`.
#[test]
fn a_second_fall_of_p15_before_both_lines_rise_keeps_the_controller() {
    let mut console = super_game_boy();
    controllers(&mut console, 1);
    let writes: [&[u8]; 8] = [
        &[0x10],
        &[0x20],
        &[0x10, 0x20],
        &[0x10, 0x20, 0x10],
        &[0x10, 0x10],
        &[0x00, 0x10],
        &[0x10, 0x00],
        &[0x00],
    ];
    let seen = writes.map(|lines| {
        lines.iter().for_each(|value| console.write(P1, *value));
        console.write(P1, 0x30);
        console.read(P1)
    });
    assert_eq!(seen, [0xfe, 0xfe, 0xff, 0xff, 0xfe, 0xff, 0xfe, 0xff]);
}

#[test]
fn each_controller_shows_its_own_buttons() {
    let mut console = super_game_boy();
    controllers(&mut console, 3);
    console.machine.set_buttons(0x01);
    for (number, pressed) in [(1, 0x82), (3, 0x44)] {
        set_controller(&mut console.machine, &mut console.ram, number, pressed);
    }
    let mut directions_and_buttons = || {
        let read = [0x20, 0x10].map(|row| {
            console.write(P1, row);
            console.read(P1) & 0x0f
        });
        console.write(P1, 0x30);
        read
    };
    let four = [[0x0e, 0x0f], [0x0d, 0x07], [0x0f, 0x0f], [0x0b, 0x0b]];
    assert_eq!(
        [(); 5].map(|()| directions_and_buttons()),
        [four[0], four[1], four[2], four[3], four[0]]
    );
    // A button of the controller that P1 shows pulls its line low at once, and requests the
    // interrupt.
    assert_eq!(console.machine.joypad.controller, 1);
    console.write(P1, 0x20);
    console.write(0xff0f, 0);
    set_controller(&mut console.machine, &mut console.ram, 1, 0x08);
    assert_eq!((console.read(P1) & 0x0f, console.read(0xff0f) & 0x10), (0x07, 0x10));
}

#[test]
fn only_the_first_controller_is_pressed() {
    let mut console = super_game_boy();
    controllers(&mut console, 1);
    console.machine.set_buttons(0x01);
    let mut directions = || {
        console.write(P1, 0x20);
        let read = console.read(P1);
        pulse(&mut console, 0x10);
        read & 0x0f
    };
    assert_eq!([directions(), directions(), directions()], [0x0e, 0x0f, 0x0e]);
    console.machine.set_buttons(0x02);
    assert_eq!(console.machine.joypad.pressed, 0x00);
    pulse(&mut console, 0x10);
    assert_eq!(console.machine.joypad.pressed, 0x02);
}

// Mooneye boot_regs-sgb, boot_regs-sgb2, boot_regs-mgb, boot_hwio-S, boot_div-S.
#[test]
fn revisions_leave_the_registers_that_mooneye_measured() {
    let registers = |revision| {
        let cpu = in_revision(header(), revision).machine.cpu;
        [cpu.a, cpu.f() & 0xf0, cpu.b, cpu.c, cpu.d, cpu.e, cpu.h, cpu.l]
    };
    assert_eq!(registers(Revision::Sgb), [0x01, 0, 0, 0x14, 0, 0, 0xc0, 0x60]);
    assert_eq!(registers(Revision::Sgb2), [0xff, 0, 0, 0x14, 0, 0, 0xc0, 0x60]);
    let mut pocket = header();
    pocket[0x14d] = 1;
    let cpu = in_revision(pocket, Revision::Mgb).machine.cpu;
    assert_eq!([cpu.a, cpu.f(), cpu.c, cpu.e], [0xff, 0xb0, 0x13, 0xd8]);
    let mut console = super_game_boy();
    assert_eq!([P1, 0xff26].map(|address| console.read(address)), [0xff, 0xf0]);
    let div = |mcycles| super_game_boy().after(mcycles, 0xff04);
    assert_eq!([div(39), div(40)], [0xd8, 0xd9]);
}

#[test]
fn other_consoles_and_programs_that_do_not_ask_for_it_send_nothing() {
    let mut locked = header();
    locked[0x146] = 0;
    for mut console in [in_revision(header(), Revision::Usual), in_revision(locked, Revision::Sgb)]
    {
        let before = console.ram.clone();
        controllers(&mut console, 1);
        assert_eq!(after(&mut console, 1), 0xff);
        assert_eq!(console.ram, before);
    }
}

#[test]
fn palettes_share_their_first_color() {
    let mut console = super_game_boy();
    let first = palette_color(&console.ram, 2, 3);
    assert_eq!(first, 0x2866);
    let colors: Vec<u8> = (0..7u16).flat_map(|color| (0x1111 * color).to_le_bytes()).collect();
    send(&mut console, &[&[0x01], &colors[..]].concat());
    let shown = |palette| [0, 1, 2, 3].map(|color| palette_color(&console.ram, palette, color));
    assert_eq!(shown(0), [0, 0x1111, 0x2222, 0x3333]);
    assert_eq!(shown(1), [0, 0x4444, 0x5555, 0x6666]);
    assert_eq!(shown(3), [0, 0x265b, 0x10b5, 0x2866]);
}

/// The palettes of the screen's cells, a line of digits each.
fn attributes(console: &Console) -> Vec<String> {
    let line = |line| {
        (0..20)
            .map(|column| char::from(b'0' + attribute(&console.ram, column, line) as u8))
            .collect()
    };
    (0..18).map(line).collect()
}

#[test]
fn cells_take_the_palettes_of_blocks_lines_halves_and_characters() {
    let mut console = super_game_boy();
    // First the inside gets 1, the edge 2, the outside 3; then a command sets only an inside, which
    // also sets its edge.
    send(&mut console, &[0x21, 2, 7, 0x39, 2, 1, 6, 4, 1, 0x02, 10, 2, 12, 4]);
    let seen = attributes(&console);
    assert_eq!(seen[0], "33333333333333333333");
    assert_eq!(seen[1], "33222223333333333333");
    assert_eq!(seen[2], "33211123332223333333");
    send(&mut console, &[0x29, 2, 0x80 | 0x20 | 1, 0x40 | 3]);
    assert_eq!(attributes(&console)[1], "11121111111111111111");
    assert_eq!(attributes(&console)[17], "33323333333333333333");
    send(&mut console, &[0x31, 0x40 | 0x21 | 0x0c, 9]);
    let seen = attributes(&console);
    assert_eq!([&seen[8], &seen[9], &seen[10]].map(|line| &line[..2]), ["33", "22", "11"]);
    send(&mut console, &[0x39, 18, 0, 6, 0, 0, 0b0001_1011, 0b0010_0000]);
    let seen = attributes(&console);
    assert_eq!(
        (&seen[0][17..], &seen[1][..5]),
        ("301", "23021"[..].replace("021", "023").as_str())
    );
}

// Pan Docs "VRAM Transfers".
#[test]
fn tiles_on_the_screen_bring_palettes_attributes_and_a_border() {
    let mut console = super_game_boy();
    console.write(LCDC, 0);
    for tile in 0..=0xff {
        console.machine.vram[0x1800 + tile / 20 * 32 + tile % 20] = tile as u8;
    }
    for at in 0..0x1000 {
        console.machine.vram[at] = (at * 7 + (at >> 8)) as u8;
    }
    console.machine.vram[2 * (3 * 32 + 2)..][..2].copy_from_slice(&[0x81, 0x54]);
    console.write(LCDC, 0x91);
    let bytes: Vec<u8> = console.machine.vram[..0x1000].to_vec();
    let word = |at: usize| u16::from_le_bytes([bytes[at], bytes[at + 1]]);
    send(&mut console, &[0x59]);
    send(&mut console, &[0x51, 0x11, 0x01, 2, 0, 3, 0, 4, 0]);
    assert_eq!(palette_color(&console.ram, 0, 3), word(8 * 0x111 + 6) & 0x7fff);
    assert_eq!(palette_color(&console.ram, 3, 1), word(8 * 4 + 2) & 0x7fff);
    send(&mut console, &[0xa9]);
    send(&mut console, &[0xb1, 7]);
    let file = &bytes[7 * 90..];
    assert_eq!(attribute(&console.ram, 5, 2), usize::from(file[2 * 5 + 1] >> 4 & 3));
    send(&mut console, &[0x99, 1]);
    send(&mut console, &[0xa1]);
    // The pixel lies in tile 81 of the border, mirrored, which has its second palette.
    let tile = &bytes[32..];
    let bits = [2, 3, 18, 19].map(|at| usize::from(tile[at] >> 1 & 1));
    let color = bits.iter().rev().fold(0, |color, bit| color << 1 | bit);
    assert_ne!(color, 0);
    let expected = word(0x800 + 32 + 2 * color) & 0x7fff;
    assert_eq!(border_color(&console.ram, 17, 25), expected);
}

#[test]
fn a_mask_freezes_the_last_picture_until_it_is_cancelled() {
    let mut console = super_game_boy();
    console.machine.frame[11] = 0x1b;
    send(&mut console, &[0xb9, 1]);
    console.machine.frame[11] = 0;
    assert_eq!((mask_mode(&console.ram), frozen(&console.ram, 11)), (1, 0x1b));
    send(&mut console, &[0xb1, 0x40]);
    assert_eq!(mask_mode(&console.ram), 0);
    // Commands that must be ignored from now on.
    send(&mut console, &[0x71, 4]);
    send(&mut console, &[0xb9, 2]);
    assert_eq!(mask_mode(&console.ram), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_command_and_no_pulse_leaves_the_memory(
        commands in prop::collection::vec(prop::collection::vec(any::<u8>(), 112), 1..12),
        pulses in prop::collection::vec(any::<u8>(), 0..600),
    ) {
        let mut console = super_game_boy();
        for command in commands {
            let mut command = command;
            command[0] |= 1;
            send(&mut console, &command[..16 * usize::from(command[0] & 7)]);
            pulses.iter().for_each(|value| console.write(P1, *value));
        }
        prop_assert!(console.machine.joypad.controller < 4);
        let cells = (0..360).map(|cell| attribute(&console.ram, cell % 20, cell / 20));
        prop_assert!(cells.max() < Some(4));
    }
}
