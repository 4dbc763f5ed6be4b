//! Bits of each register that exist, and mirrors of memory.

use crate::console::Console;

/// Address, bits that always read as 1, bits that keep the value written; all others read as 0.
/// Pan Docs, each register's own section; "Audio Registers" for which are write-only. With the LCD
/// off and no button held.
const REGISTERS: [(u16, u8, u8); 45] = [
    (0xff00, 0xcf, 0x30),
    (0xff01, 0x00, 0xff),
    (0xff02, 0x7e, 0x81),
    (0xff03, 0xff, 0x00),
    (0xff04, 0x00, 0x00),
    (0xff05, 0x00, 0xff),
    (0xff06, 0x00, 0xff),
    (0xff07, 0xf8, 0x07),
    (0xff08, 0xff, 0x00),
    (0xff0e, 0xff, 0x00),
    (0xff0f, 0xe0, 0x1f),
    (0xff10, 0x80, 0x7f),
    (0xff11, 0x3f, 0xc0),
    (0xff12, 0x00, 0xff),
    (0xff13, 0xff, 0x00),
    (0xff15, 0xff, 0x00),
    (0xff16, 0x3f, 0xc0),
    (0xff17, 0x00, 0xff),
    (0xff18, 0xff, 0x00),
    (0xff1a, 0x7f, 0x80),
    (0xff1b, 0xff, 0x00),
    (0xff1c, 0x9f, 0x60),
    (0xff1d, 0xff, 0x00),
    (0xff1f, 0xff, 0x00),
    (0xff20, 0xff, 0x00),
    (0xff21, 0x00, 0xff),
    (0xff22, 0x00, 0xff),
    (0xff24, 0x00, 0xff),
    (0xff25, 0x00, 0xff),
    (0xff27, 0xff, 0x00),
    (0xff2f, 0xff, 0x00),
    (0xff30, 0x00, 0xff),
    (0xff3f, 0x00, 0xff),
    (0xff42, 0x00, 0xff),
    (0xff43, 0x00, 0xff),
    (0xff44, 0x00, 0x00),
    (0xff45, 0x00, 0xff),
    (0xff47, 0x00, 0xff),
    (0xff48, 0x00, 0xff),
    (0xff49, 0x00, 0xff),
    (0xff4a, 0x00, 0xff),
    (0xff4b, 0x00, 0xff),
    (0xff4c, 0xff, 0x00),
    (0xff7f, 0xff, 0x00),
    (0xffff, 0x00, 0xff),
];

#[test]
fn registers_keep_the_bits_that_exist_and_no_others() {
    for (address, ones, kept) in REGISTERS {
        for value in 0..=0xff {
            let mut console = Console::dark();
            console.write(address, value);
            let expected = ones | value & kept;
            assert_eq!(console.after(0, address), expected, "{address:04x} = {value:02x}");
            let peeked = console.machine.peek(&console.rom, &console.ram, address);
            assert_eq!(peeked, expected, "{address:04x} = {value:02x}, seen by a debugger");
        }
    }
}

// Pan Docs "NRx4": only the length enable reads back. "FF41": bits 3 to 6, with the LCD off the
// lower ones as they stood.
#[test]
fn control_registers_read_back_without_what_they_start() {
    for value in 0..=0xffu8 {
        for address in [0xff14, 0xff19, 0xff1e, 0xff23] {
            let mut console = Console::dark();
            console.write(address, value);
            assert_eq!(console.read(address), 0xbf | value & 0x40, "{address:04x}");
        }
        let mut console = Console::dark();
        console.write(0xff41, value);
        assert_eq!(console.read(0xff41), 0x84 | value & 0x78);
        console.write(0xff26, value);
        assert_eq!(console.read(0xff26) & 0xf0, 0x70 | value & 0x80);
    }
}

#[test]
fn a_write_of_any_value_resets_div() {
    let mut console = Console::dark();
    for value in [0x00, 0x01, 0xff] {
        console.wait(1000).write(0xff04, value);
        assert_eq!(console.timeline(64 + 63, 0xff04), [(0, 63), (1, 64)]);
    }
}

// Pan Docs "Memory Map": echo RAM; FEA0-FEFF reads 00 on a DMG outside of the OAM scan.
#[test]
fn each_memory_answers_at_its_addresses_and_their_mirrors() {
    let mut console = Console::dark();
    let memories =
        [(0x8000, 0x9fff), (0xa000, 0xbfff), (0xc000, 0xdfff), (0xfe00, 0xfe9f), (0xff80, 0xfffe)];
    let content = |at: u32| (at.wrapping_mul(0x9e37) >> 7) as u8;
    for (first, last) in memories {
        (first..=last).for_each(|at| console.write(at as u16, content(at)));
    }
    for (first, last) in memories {
        for at in first..=last {
            assert_eq!(console.read(at as u16), content(at), "{at:04x}");
        }
    }
    for at in 0xe000..0xfe00 {
        assert_eq!(console.read(at as u16), content(at - 0x2000), "{at:04x}");
    }
    for at in 0xfea0..0xff00 {
        console.write(at, 0x77);
        assert_eq!(console.read(at), 0, "{at:04x}");
    }
    console.write(0xe123, 0x45);
    console.write(0xfdff, 0x46);
    assert_eq!([console.read(0xc123), console.read(0xddff)], [0x45, 0x46]);
    for at in [0x0000, 0x0150, 0x3fff, 0x4000, 0x7fff] {
        console.write(at, 0x99);
        assert_eq!(console.read(at), console.rom[at as usize], "{at:04x}");
    }
}

// A program reads the values that a debugger has written, and no time passes.
#[test]
fn a_debugger_can_change_every_memory_but_rom() {
    let mut console = Console::new();
    let before = console.machine.now;
    for (number, at) in (1..).zip([
        0x8000u16, 0x9fff, 0xa001, 0xbfff, 0xc000, 0xfdff, 0xfe00, 0xfe9f, 0xff80, 0xff42, 0xffff,
    ]) {
        console.machine.poke(&console.rom, &mut console.ram, at, number);
        assert_eq!(console.machine.peek(&console.rom, &console.ram, at), number, "{at:04x}");
    }
    console.machine.poke(&console.rom, &mut console.ram, 0xfea0, 0x55);
    assert_eq!(console.machine.peek(&console.rom, &console.ram, 0xfea0), 0);
    console.machine.poke(&console.rom, &mut console.ram, 0x1234, 0x55);
    assert_eq!(console.machine.peek(&console.rom, &console.ram, 0x1234), console.rom[0x1234]);
    assert_eq!(console.machine.now, before);
}
