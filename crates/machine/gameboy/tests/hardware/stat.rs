//! Times at which the PPU requests its interrupts.

use std::ops::Range;

use gbxcule_gameboy::FRAME_MCYCLES;
use gbxcule_gameboy::interrupts;

use crate::console::{Console, IF, LCDC, LINE, LYC, STAT};

const HBLANK: u8 = 0x08;
const VBLANK: u8 = 0x10;
const OAM: u8 = 0x20;
const SAME_LINE: u8 = 0x40;

/// STAT requests in the first two frames of a lit LCD. 0 is two M-cycles after the one that
/// switches it on, as in `ppu_access`; line L shows in LY from L * 114 - 3 on.
fn requests(sources: u8, lyc: u8) -> Vec<u32> {
    let mut console = Console::lit(&[(LYC, lyc), (STAT, sources)]);
    console.wait(1);
    console.requests(2 * FRAME_MCYCLES, interrupts::STAT)
}

/// Returns one moment of each given line, in both frames.
fn in_both_frames(lines: Range<u32>, moment: impl Fn(u32) -> u32) -> Vec<u32> {
    let frames = [0, 154].into_iter();
    frames.flat_map(|first| lines.clone().map(move |line| first + line)).map(moment).collect()
}

// mooneye intr_2_0_timing and hblank_ly_scx_timing: HBlank, 63 M-cycles after mode 2's interrupt,
// 50 before the next LY.
#[test]
fn hblank_is_requested_once_in_each_visible_line() {
    assert_eq!(requests(HBLANK, 200), in_both_frames(0..144, |line| line * LINE + 61));
}

// mooneye vblank_stat_intr and intr_1_2_timing: with VBlank's own interrupt, and OAM's an M-cycle
// before it.
#[test]
fn vblank_is_requested_as_line_144_begins() {
    let expected = in_both_frames(144..145, |line| line * LINE - 2);
    assert_eq!(requests(VBLANK, 200), expected);
    let mut console = Console::lit(&[]);
    console.wait(1);
    assert_eq!(console.requests(2 * FRAME_MCYCLES, interrupts::VBLANK), expected);
}

#[test]
fn the_oam_scan_is_requested_in_each_visible_line_and_in_line_144() {
    let expected: Vec<u32> = (1..=2 * 154)
        .filter(|line| line % 154 <= 144)
        .flat_map(|line| match line % 154 {
            // One M-cycle early, except for line 0.
            0 => vec![line * LINE - 2],
            _ => vec![line * LINE - 3],
        })
        .collect();
    assert_eq!(requests(OAM, 200), expected);
}

#[test]
fn the_line_in_lyc_is_requested_as_it_begins_and_0_in_line_153() {
    for line in [1, 2, 77, 143, 144, 145, 152, 153] {
        assert_eq!(
            requests(SAME_LINE, line),
            in_both_frames(u32::from(line)..u32::from(line) + 1, |line| line * LINE - 2)
        );
    }
    assert_eq!(requests(SAME_LINE, 0), in_both_frames(153..154, |line| line * LINE));
    for line in [154, 200, 255] {
        assert!(requests(SAME_LINE, line).is_empty());
    }
}

#[test]
fn no_source_requests_nothing() {
    assert!(requests(0, 10).is_empty());
}

// Pan Docs "STAT blocking": only a rise of the OR of all sources requests.
#[test]
fn a_source_hides_another_that_rises_before_it_falls() {
    // HBlank holds the line until the next scan, but none comes before line 0's.
    let mut expected = in_both_frames(0..144, |line| line * LINE + 61);
    expected.insert(144, 154 * LINE - 2);
    expected.push(2 * 154 * LINE - 2);
    assert_eq!(requests(HBLANK | OAM, 200), expected);
    // VBlank follows line 143's HBlank at once.
    assert_eq!(requests(HBLANK | VBLANK, 200), in_both_frames(0..144, |line| line * LINE + 61));
    // LYC holds the line over all of line 10, HBlank included.
    let mut expected = in_both_frames(0..144, |line| line * LINE + 61);
    expected.retain(|moment| moment % FRAME_MCYCLES != 10 * LINE + 61);
    let mut seen = requests(HBLANK | SAME_LINE, 10);
    seen.retain(|moment| moment % LINE == 61);
    assert_eq!(seen, expected);
}

/// Returns true if a write to STAT in some M-cycle after the LCD was switched on requests an
/// interrupt.
fn requested_by_write(before: u8, mcycle: u32, lyc: u8, value: u8) -> bool {
    let mut console = Console::lit(&[(LYC, lyc), (STAT, before)]);
    console.wait(mcycle);
    console.machine.requested_at(console.machine.now);
    console.machine.interrupts.requested = 0;
    console.write(STAT, value);
    console.read(IF) & interrupts::STAT != 0
}

// Pan Docs "Spurious STAT interrupts": a write acts for a moment as if it enabled all sources.
#[test]
fn a_write_to_stat_requests_in_hblank_vblank_and_the_line_in_lyc() {
    for value in [0x00, 0x78] {
        for line in [0, 20] {
            let (drawing, hblank) = (line * LINE + 38, line * LINE + 78);
            assert!(requested_by_write(0, hblank, 200, value), "HBlank");
            assert!(requested_by_write(0, drawing, line as u8, value), "mode 3 in LYC's line");
            assert!(!requested_by_write(0, drawing, 200, value), "mode 3");
            // The line is high already.
            assert!(!requested_by_write(HBLANK, hblank, 200, value), "HBlank, enabled before");
            let same = requested_by_write(SAME_LINE, hblank, line as u8, value);
            assert!(!same, "LYC's line, enabled before");
        }
        assert!(requested_by_write(0, 145 * LINE + 48, 200, value), "VBlank");
        assert!(!requested_by_write(VBLANK, 145 * LINE + 48, 200, value), "VBlank, enabled before");
    }
}

/// Returns, for writes of 0 in eight M-cycles in a row, if each requests.
fn requested_by_writes(before: u8, first: u32) -> String {
    let writes = first..first + 8;
    writes
        .map(|mcycle| if requested_by_write(before, mcycle, 200, 0) { '1' } else { '0' })
        .collect()
}

#[test]
fn a_write_to_stat_as_the_mode_changes_requests_by_the_one_and_the_other() {
    // The lines begin, as LY shows them, in the third of the eight.
    for (before, line, requests) in [
        (0, 20, "11110000"),
        (0, 144, "11111111"),
        (0, 154, "11110000"),
        (HBLANK, 20, "00000000"),
        (HBLANK, 144, "00001111"),
        (HBLANK, 154, "11110000"),
        (OAM, 20, "11100000"),
        (OAM, 144, "11101111"),
        (OAM, 154, "11110000"),
        (HBLANK | OAM, 20, "00000000"),
        (VBLANK, 20, "11110000"),
        (VBLANK, 144, "11110000"),
        (VBLANK, 154, "00000000"),
    ] {
        let seen = requested_by_writes(before, line * LINE - 5);
        assert_eq!(seen, requests, "{before:02x} before line {line}");
    }
    // HBlank begins, also in the line after the LCD was switched on.
    for line in [0, 20] {
        assert_eq!(requested_by_writes(0, line * LINE + 58), "00001111");
        assert_eq!(requested_by_writes(HBLANK, line * LINE + 58), "00000000");
    }
}

#[test]
fn a_source_enabled_while_it_is_high_requests_by_itself_if_lyc_makes_it_so() {
    let mut console = Console::lit(&[(LYC, 200), (STAT, SAME_LINE)]);
    console.wait(20 * LINE + 40);
    for (lyc, requests) in [(20, true), (20, false), (30, false), (20, true)] {
        console.machine.interrupts.requested = 0;
        console.write(LYC, lyc);
        assert_eq!(console.read(IF) & interrupts::STAT != 0, requests, "LYC = {lyc}");
    }
}

#[test]
fn switching_the_lcd_on_compares_line_0_at_once() {
    for (lyc, requests) in [(0, true), (1, false)] {
        let mut console = Console::dark();
        console.write(LYC, lyc);
        console.write(STAT, SAME_LINE);
        // The result of the comparison stays until the LCD is on: change it first.
        console.machine.ppu.stat_line = false;
        console.machine.interrupts.requested = 0;
        console.write(LCDC, 0x80);
        assert_eq!(console.read(IF) & interrupts::STAT != 0, requests, "LYC = {lyc}");
    }
}

// VBlank shows in IF from two M-cycles before line 144 on, LYC from two before its line
// (GBMicrotest lyc1_int_if_edge_*). LYC rises within the M-cycle before that.
#[test]
fn a_write_to_if_wins_over_a_request_in_the_same_mcycle() {
    for line in [144, 20] {
        for early in 0..4 {
            let mut console = Console::lit(&[(LYC, 20), (STAT, SAME_LINE)]);
            console.wait(line * LINE - 1 - early);
            console.machine.requested_at(console.machine.now);
            console.machine.interrupts.requested = 0;
            console.write(IF, 0x00);
            console.wait(5);
            let requested = if early == 0 {
                0
            } else if line == 144 {
                interrupts::VBLANK
            } else {
                interrupts::STAT
            };
            assert_eq!(console.read(IF), 0xe0 | requested, "line {line}, {early} M-cycles early");
        }
    }
}

// gambatte m1/m2m1irq_ifw_2 and lcdirq_precedence/m1irq_lcdstat18: the OAM source of line 144 holds
// the line until VBlank's does.
#[test]
fn vblank_does_not_request_again_what_oam_or_hblank_requested() {
    let of_line_144 = |sources| -> Vec<u32> {
        let all = requests(sources, 200).into_iter();
        all.filter(|at| (143 * LINE + 70..145 * LINE).contains(at)).collect()
    };
    assert_eq!(of_line_144(OAM | VBLANK), [144 * LINE - 3]);
    assert_eq!(of_line_144(HBLANK | VBLANK), []);
}

// gambatte lcdoff_lycirqen_*: the last comparison stays while the LCD is off and still drives the
// interrupt line; it rises in the moment in which a write enables all sources.
#[test]
fn a_dark_lcd_requests_by_the_comparison_it_keeps() {
    for (lyc, requested) in [(0, true), (7, false)] {
        for value in [SAME_LINE, 0] {
            let mut console = Console::lit(&[(LYC, lyc)]);
            console.wait(20).write(LCDC, 0);
            console.write(LYC, 99);
            console.machine.interrupts.requested = 0;
            console.write(STAT, value);
            assert_eq!(
                console.read(IF) & interrupts::STAT != 0,
                requested,
                "LYC = {lyc}, {value:02x}"
            );
        }
    }
}
