//! A transfer with nothing plugged in.

use crate::console::Console;

const SB: u16 = 0xff01;
const SC: u16 = 0xff02;
const SERIAL: u8 = 0x08;

/// Resets DIV, then waits this many M-cycles before the M-cycle in which SC is written.
fn sending(wait: u32, control: u8) -> Console {
    let mut console = Console::dark();
    console.write(SB, 0x00);
    // The clock's bit has two edges, so the write to SC sets the flip-flop low, whatever its state.
    console.write(0xff04, 0);
    console.write(SC, 0x00);
    console.wait(wait - 2).write(SC, control);
    console
}

// Pan Docs "Serial Data Transfer": 8,192 bits a second, 128 M-cycles each, the upper bit first;
// ones come in.
#[test]
fn a_transfer_shifts_ones_in_and_ends_with_an_interrupt() {
    let mut console = sending(2, 0x81);
    // The write came in the third M-cycle after DIV was reset.
    let first = 128 - 3;
    let expected: Vec<(u8, u32)> = (0..9)
        .map(|bits| ((1u16 << bits) as u8).wrapping_sub(1))
        .zip([first, 128, 128, 128, 128, 128, 128, 128, 1])
        .collect();
    assert_eq!(console.timeline(first + 7 * 128 + 1, SB), expected);
    assert_eq!(console.timeline(first + 7 * 128 + 1, SC), [(0xff, first + 7 * 128), (0x7f, 1)]);
    assert_eq!(console.requests(3000, SERIAL), [first + 7 * 128]);
    console.wait(5000);
    assert_eq!((console.read(SB), console.read(SC)), (0xff, 0x7f));
}

// mooneye boot_sclk_align: the bit clock is the divider's, not the write's.
#[test]
fn the_bit_clock_runs_on_from_the_divider() {
    for wait in 2..300 {
        let console = sending(wait, 0x81);
        // The write comes `wait` M-cycles after the reset; every second edge after it shifts.
        let edges_before = wait / 64;
        let last = (edges_before + 16) * 64 - wait - 1;
        assert_eq!(console.requests(last + 10, SERIAL), [last], "{wait}");
        assert_eq!(console.machine.serial.deadline, console.machine.now + last);
    }
}

#[test]
fn a_transfer_by_the_other_sides_clock_waits_for_ever() {
    for control in [0x00, 0x01, 0x80] {
        let mut console = sending(2, control);
        assert!(console.requests(3000, SERIAL).is_empty());
        console.wait(100_000);
        assert_eq!((console.read(SB), console.read(SC)), (0x00, 0x7e | control));
    }
}

#[test]
fn a_transfer_started_again_begins_with_its_first_bit() {
    let mut console = sending(2, 0x81);
    console.wait(128 * 5).write(SC, 0x81);
    assert_eq!(console.read(SB), 0x1f);
    let ends = console.requests(3000, SERIAL);
    // The first transfer stopped after five bits; the new transfer sends all eight.
    assert_eq!(ends, [128 * 8 - 3 - 2]);
}

#[test]
fn a_reset_of_div_is_an_edge_while_its_bit_is_high() {
    for (wait, shifted) in [(30, false), (40, true)] {
        let mut console = sending(2, 0x81);
        console.wait(64 + wait - 3).write(0xff04, 0);
        // One edge had come; the reset of DIV is the second if the bit was high.
        assert_eq!(console.read(SB), u8::from(shifted), "{wait}");
        let left = if shifted { 14 } else { 15 };
        assert_eq!(console.requests(3000, SERIAL), [left * 64 - 2]);
    }
}
