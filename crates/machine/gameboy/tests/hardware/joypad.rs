//! P1 and its interrupt.

use crate::console::Console;

const P1: u16 = 0xff00;
const JOYPAD: u8 = 0x10;

/// P1 by Pan Docs "Joypad Input": the two select bits choose rows, a held button of a chosen row
/// pulls its line low.
fn p1(select: u8, held: u8) -> u8 {
    let directions = if select & 0x10 == 0 { held & 15 } else { 0 };
    let buttons = if select & 0x20 == 0 { held >> 4 } else { 0 };
    0xc0 | select & 0x30 | 15 & !(directions | buttons)
}

#[test]
fn p1_shows_the_held_buttons_of_the_chosen_rows() {
    for select in [0x00, 0x10, 0x20, 0x30, 0xff] {
        for held in 0..=0xff {
            let mut console = Console::new();
            console.machine.set_buttons(held);
            console.write(P1, select);
            assert_eq!(console.read(P1), p1(select, held), "select {select:02x}, held {held:02x}");
        }
    }
}

// Pan Docs "INT $60 — Joypad interrupt": a line that falls requests it, by a button or by the
// choice of a row.
#[test]
fn a_line_that_falls_requests_the_interrupt_and_one_that_rises_does_not() {
    for select in [0x00, 0x10, 0x20, 0x30] {
        for (before, after) in
            [(0, 1), (0, 0x80), (1, 0), (1, 3), (1, 2), (0x11, 0x01), (0x12, 0x21), (0xff, 0)]
        {
            let mut console = Console::new();
            console.write(P1, select);
            console.machine.set_buttons(before);
            console.machine.interrupts.requested = 0;
            console.machine.set_buttons(after);
            let falls = p1(select, before) & !p1(select, after) & 15 != 0;
            assert_eq!(console.machine.interrupts.requested, if falls { JOYPAD } else { 0 });
        }
    }
    for (before, after, falls) in
        [(0x30, 0x10, true), (0x30, 0x20, false), (0x10, 0x30, false), (0x10, 0x10, false)]
    {
        let mut console = Console::new();
        console.machine.set_buttons(0x40);
        console.write(P1, before);
        console.machine.interrupts.requested = 0;
        console.write(P1, after);
        assert_eq!(console.machine.interrupts.requested, if falls { JOYPAD } else { 0 });
    }
}
