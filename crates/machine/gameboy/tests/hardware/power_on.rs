//! State that the boot ROM leaves behind.

use gbxcule_gameboy::{Cartridge, Machine};

use crate::console::Console;

// Pan Docs "Power Up Sequence", column DMG. OBP0 and OBP1 are left as they were; FF is what most
// machines show.
const REGISTERS: [(u16, &[u8]); 7] = [
    (0xff00, &[0xcf, 0x00, 0x7e, 0xff, 0xab, 0x00, 0x00, 0xf8]),
    (0xff08, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xe1]),
    (
        0xff10,
        &[
            0x80, 0xbf, 0xf3, 0xff, 0xbf, 0xff, 0x3f, 0x00, 0xff, 0xbf, 0x7f, 0xff, 0x9f, 0xff,
            0xbf, 0xff,
        ],
    ),
    (0xff20, &[0xff, 0x00, 0x00, 0xbf, 0x77, 0xf3, 0xf1, 0xff]),
    (0xff40, &[0x91, 0x85, 0x00, 0x00, 0x00, 0x00, 0xff, 0xfc, 0xff, 0xff, 0x00, 0x00, 0xff, 0xff]),
    (0xff50, &[0xff]),
    (0xffff, &[0x00]),
];

#[test]
fn registers_are_as_the_boot_rom_leaves_them() {
    let console = Console::new();
    for (from, values) in REGISTERS {
        for (address, &value) in (from..=0xffff).zip(values) {
            assert_eq!(console.after(0, address), value, "{address:04x}");
            let peeked = console.machine.peek(&console.rom, &console.ram, address);
            assert_eq!(peeked, value, "{address:04x}");
        }
    }
}

#[test]
fn the_cpu_knows_whether_the_header_checksum_is_zero() {
    for (checksum, af) in [(0x00, 0x0180), (0x01, 0x01b0), (0xff, 0x01b0)] {
        let mut rom = Console::new().rom.to_vec();
        rom[0x14d] = checksum;
        let cpu = Machine::power_on(&Cartridge::from_rom(&rom).unwrap()).cpu;
        assert_eq!([cpu.af(), cpu.bc(), cpu.de(), cpu.hl()], [af, 0x0013, 0x00d8, 0x014d]);
        assert_eq!((cpu.sp, cpu.pc, cpu.ime), (0xfffe, 0x0100, false));
    }
}

// mooneye boot_div-dmgABCmgb: the counter behind DIV stands at ABCC.
#[test]
fn div_goes_on_from_abcc() {
    let console = Console::new();
    assert_eq!(console.timeline(13 + 64 + 1, 0xff04), [(0xab, 13), (0xac, 64), (0xad, 1)]);
}

// GBMicrotest poweron_*; LY has been 0 for most of line 153, of which 52 dots are left.
#[test]
fn line_0_begins_in_the_first_frame_13_mcycles_after_the_hand_over() {
    let console = Console::new();
    assert_eq!(console.timeline(13 + 116, 0xff44), [(0, 13 + 115), (1, 1)]);
    let stat = [(0x85, 14), (0x84, 1), (0x86, 20), (0x87, 43), (0x84, 50), (0x80, 1), (0x82, 1)];
    assert_eq!(console.timeline(130, 0xff41), stat);
    let oam = [(0x00, 14), (0xff, 64), (0x00, 50)];
    assert_eq!(console.timeline(128, 0xfe00), oam);
}

// Pan Docs "0104-0133 — Nintendo logo": each nibble is four pixels, doubled both ways on the
// screen; the upper 24 bytes are the upper four rows, two bytes for each column of four pixels.
#[test]
fn video_memory_holds_the_headers_logo_and_the_trademark() {
    let mut rom = Console::new().rom.to_vec();
    for (index, byte) in (0u8..48).enumerate() {
        rom[0x104 + index] = byte.wrapping_mul(0x6d).rotate_left(3) ^ 0x35;
    }
    let machine = Machine::power_on(&Cartridge::from_rom(&rom).unwrap());
    let colour = |x: usize, y: usize| {
        let tile = machine.vram[0x1800 + y / 8 * 32 + x / 8] as usize;
        let row = tile * 16 + y % 8 * 2;
        let bit = 7 - x % 8;
        (machine.vram[row] >> bit & 1) + 2 * (machine.vram[row + 1] >> bit & 1)
    };
    for y in 0..16 {
        for x in 0..96 {
            let (column, row) = (x / 2, y / 2);
            let byte = rom[0x104 + row / 4 * 24 + column / 4 * 2 + row / 2 % 2];
            let nibble = if row % 2 == 0 { byte >> 4 } else { byte & 15 };
            let expected = nibble >> (3 - column % 4) & 1;
            assert_eq!(colour(4 * 8 + x, 8 * 8 + y), expected, "pixel {x}, {y}");
        }
    }
    let trademark: Vec<String> = (64..72)
        .map(|y| (128..136).map(|x| if colour(x, y) == 0 { '.' } else { '#' }).collect())
        .collect();
    let drawn = [
        "..####..", ".#....#.", "#.###..#", "#.#..#.#", "#.###..#", "#.#..#.#", ".#....#.",
        "..####..",
    ];
    assert_eq!(trademark, drawn);
    let elsewhere = (0..0x400).filter(|at| machine.vram[0x1800 + at] != 0).count();
    assert_eq!(elsewhere, 25, "tiles on the screen");
    assert!(machine.vram[0x1a0..0x1800].iter().chain(&machine.vram[..0x10]).all(|&byte| byte == 0));
}
