//! LY, STAT, and access to VRAM and OAM in every M-cycle of a frame; the length of mode 3.

use gbxcule_gameboy::ppu::mode3_end;
use proptest::prelude::*;

use crate::console::{Console, LCDC, LINE, LY, LYC, STAT};

const VRAM: u16 = 0x8000;
const OAM: u16 = 0xfe00;
const SCX: u16 = 0xff43;

/// Switches the LCD on and counts as mooneye lcdon_timing does: 0 is two M-cycles after the one
/// that switches the LCD on.
fn switched_on(registers: &[(u16, u8)]) -> Console {
    let mut console = Console::lit(registers);
    console.wait(1);
    console
}

/// Three M-cycles before a line begins, as LY tells it, in the first frame of a lit LCD.
fn before_line(line: u32, registers: &[(u16, u8)]) -> Console {
    let mut console = switched_on(registers);
    console.wait(line * LINE - 6);
    console
}

/// Returns the runs of M-cycles in which a write reaches its target, or does not, as
/// `Console::timeline` does for reads.
fn writes(console: &Console, mcycles: u32, address: u16) -> Vec<(bool, u32)> {
    let mut runs: Vec<(bool, u32)> = Vec::new();
    for at in 0..mcycles {
        let mut later = console.clone();
        let before = later.machine.vram[0] ^ later.machine.oam[0];
        later.wait(at).write(address, 0x99);
        let reaches = later.machine.vram[0] ^ later.machine.oam[0] != before;
        match runs.last_mut() {
            Some(run) if run.0 == reaches => run.1 += 1,
            _ => runs.push((reaches, 1)),
        }
    }
    runs
}

// mooneye lcdon_timing-GS and lcdon_write_timing-GS.
#[test]
fn the_first_line_has_no_mode_2_and_the_second_is_like_any_other() {
    let console = switched_on(&[(LYC, 0)]);
    assert_eq!(console.timeline(240, LY), [(0, 111), (1, 114), (2, 15)]);
    let stat = [
        (0x84, 18),
        (0x87, 43),
        (0x84, 50),
        (0x80, 1),
        (0x82, 20),
        (0x83, 43),
        (0x80, 51),
        (0x82, 14),
    ];
    assert_eq!(console.timeline(240, STAT), stat);
    assert_eq!(console.timeline(200, OAM), [(0, 18), (0xff, 43), (0, 50), (0xff, 64), (0, 25)]);
    assert_eq!(console.timeline(200, VRAM), [(0, 18), (0xff, 43), (0, 70), (0xff, 44), (0, 25)]);
    let tail = [(false, 19), (true, 1), (false, 43), (true, 25)];
    assert_eq!(
        writes(&console, 200, OAM),
        [&[(true, 18), (false, 43), (true, 51)], &tail[..]].concat()
    );
    assert_eq!(
        writes(&console, 200, VRAM),
        [(true, 18), (false, 43), (true, 71), (false, 43), (true, 25)]
    );
    let other = switched_on(&[(LYC, 1)]);
    let stat = [(0x80, 18), (0x83, 43), (0x80, 51), (0x86, 20), (0x87, 43), (0x84, 45)];
    assert_eq!(other.timeline(220, STAT), stat);
}

// SameBoy agrees.
#[test]
fn the_first_line_scrolls_as_scx_says_when_the_lcd_goes_on() {
    for (before, scx) in [(0, 5), (5, 0), (3, 7)] {
        let mut console = switched_on(&[(SCX, before)]);
        console.wait(145 * LINE + 60);
        // SCX is written after the dots in which a line uses it.
        console.write(SCX, 1);
        console.write(LCDC, 0x00);
        console.write(SCX, scx);
        console.write(LCDC, 0x80);
        console.wait(1);
        let expected = switched_on(&[(SCX, scx)]).timeline(80, VRAM);
        assert_eq!(console.timeline(80, VRAM), expected, "SCX {before} before {scx}");
    }
}

// mooneye ppu/intr_2_mode0_timing, intr_2_mode3_timing and intr_2_oam_ok_timing measure the
// lengths; Pan Docs "STAT" has them in dots.
#[test]
fn a_visible_line_is_20_mcycles_of_mode_2_then_43_of_mode_3() {
    for line in [1, 2, 77, 142, 143, 154 + 1] {
        let console = before_line(line, &[(LYC, (line % 154) as u8)]);
        let (last, next) = ((line % 154) as u8, if line == 143 { 0x81 } else { 0x82 });
        assert_eq!(
            console.timeline(LINE + 4, LY),
            [(last - 1, 3), (last, LINE), (last + 1, 1)],
            "line {line}"
        );
        // Between two lines nothing is compared with LYC, one M-cycle before the mode follows.
        let stat = [(0x80, 4), (0x86, 20), (0x87, 43), (0x84, 50), (0x80, 1), (next, 6)];
        assert_eq!(console.timeline(LINE + 10, STAT), stat, "line {line}");
        assert_eq!(console.timeline(LINE + 3, OAM), [(0, 3), (0xff, 64), (0, 50)], "line {line}");
        assert_eq!(console.timeline(LINE + 3, VRAM), [(0, 23), (0xff, 44), (0, 50)], "line {line}");
        let oam = [(true, 4), (false, 19), (true, 1), (false, 43), (true, 50)];
        assert_eq!(writes(&console, LINE + 3, OAM), oam, "line {line}");
        assert_eq!(
            writes(&console, LINE + 3, VRAM),
            [(true, 24), (false, 43), (true, 50)],
            "line {line}"
        );
    }
}

#[test]
fn vblank_leaves_memory_free_for_ten_lines() {
    let console = before_line(144, &[(LYC, 144)]);
    assert_eq!(console.timeline(LINE + 4, LY), [(143, 3), (144, LINE), (145, 1)]);
    assert_eq!(console.timeline(LINE + 4, STAT), [(0x80, 4), (0x85, 113), (0x81, 1)]);
    for address in [OAM, VRAM] {
        assert_eq!(console.timeline(10 * LINE, address), [(0, 10 * LINE)]);
        assert_eq!(writes(&console, 10 * LINE, address), [(true, 10 * LINE)]);
    }
}

// Line 153 shows as 153 for one M-cycle and as 0 for the rest (wilbertpol's ly_lyc_153_write and
// PyBoy agree).
#[test]
fn line_153_shows_as_0_for_most_of_its_time() {
    let console = before_line(153, &[(LYC, 153)]);
    assert_eq!(console.timeline(230, LY), [(152, 3), (153, 1), (0, 226)]);
    assert_eq!(console.timeline(230, STAT)[..4], [(0x81, 4), (0x85, 1), (0x81, 112), (0x80, 1)]);
    let zero = before_line(153, &[(LYC, 0)]);
    let stat = [(0x81, 6), (0x85, 111), (0x84, 1), (0x86, 20), (0x87, 43), (0x84, 49)];
    assert_eq!(zero.timeline(230, STAT), stat);
    assert_eq!(console.timeline(LINE + 10, OAM), [(0, LINE + 3), (0xff, 7)]);
}

#[test]
fn a_dark_lcd_blocks_nothing_and_keeps_the_comparison_it_made_last() {
    for (lyc, stat) in [(60, 0x84), (61, 0x80)] {
        let mut console = before_line(60, &[(LYC, lyc)]);
        console.wait(40).write(LCDC, 0);
        for address in [VRAM, OAM] {
            assert_eq!(console.timeline(300, address), [(0, 300)]);
        }
        assert_eq!(console.timeline(300, LY), [(0, 300)]);
        assert_eq!(console.timeline(300, STAT), [(stat, 300)]);
        console.write(LYC, 0);
        assert_eq!(console.read(STAT), stat);
    }
}

/// Dots of mode 3 by Pan Docs "Rendering": 172, SCX's lower bits, 6 for a window, and what the
/// objects take, left to right. Objects at X = 0 share one tile (mooneye
/// intr_2_mode0_timing_sprites), which Pan Docs does not say.
fn mode_3_dots(scx: u8, window: Option<u8>, objects: &[u8]) -> u16 {
    let mut dots = 172 + u16::from(scx & 7) + if window.is_some() { 6 } else { 0 };
    let mut objects: Vec<u8> = objects.iter().copied().filter(|&x| x < 168).collect();
    objects.sort();
    let mut seen = Vec::new();
    for x in objects {
        let tile_and_pixel = match window {
            _ if x == 0 => (0, 0, 0),
            // The window's left edge lies at WX - 7, an object's at X - 8.
            Some(wx) if x > wx => (1, (x - wx - 1) / 8, (x - wx - 1) % 8),
            _ => {
                let pixel = u16::from(x) + u16::from(scx & 7);
                (0, (pixel / 8) as u8, (pixel % 8) as u8)
            }
        };
        let (layer, tile, pixel) = tile_and_pixel;
        dots += 6;
        if !seen.contains(&(layer, tile)) {
            seen.push((layer, tile));
            dots += (7 - u16::from(pixel)).saturating_sub(2);
        }
    }
    dots
}

/// Line 20 of a frame, a M-cycle before LY shows it.
fn line_20(scx: u8, window: Option<u8>, objects: &[u8]) -> Console {
    let mut registers = vec![(0xff43, scx), (0xff4a, 0), (0xff4b, window.unwrap_or(0))];
    for (index, &x) in (0..).zip(objects) {
        registers.extend([(OAM + index * 4, 16 + 17), (OAM + index * 4 + 1, x)]);
    }
    let mut console = Console::lit(&registers);
    console.write(LCDC, if window.is_some() { 0xa2 } else { 0x82 });
    console.wait(20 * LINE - 2);
    console
}

fn mode_3_mcycles(console: &Console) -> u32 {
    console.timeline(LINE, STAT).iter().filter(|run| run.0 & 3 == 3).map(|run| run.1).sum()
}

// mooneye intr_2_mode0_timing_sprites: M-cycles that objects add.
#[test]
fn objects_add_the_mcycles_that_were_measured() {
    let spread =
        |first: u8, count: u8| (0..count).map(|index| first + 8 * index).collect::<Vec<u8>>();
    let same = |x: u8, count: usize| vec![x; count];
    let rows: [(Vec<u8>, u32); 27] = [
        (same(0, 1), 2),
        (same(0, 2), 4),
        (same(0, 3), 5),
        (same(0, 4), 7),
        (same(0, 5), 8),
        (same(0, 10), 16),
        (same(1, 10), 16),
        (same(2, 10), 15),
        (same(3, 10), 15),
        (same(4, 10), 15),
        (same(5, 10), 15),
        (same(7, 10), 15),
        (same(8, 10), 16),
        (same(167, 10), 15),
        (same(168, 10), 0),
        (same(0, 1), 2),
        (same(4, 1), 1),
        (same(8, 1), 2),
        (same(160, 1), 2),
        (same(164, 1), 1),
        (spread(0, 10), 27),
        (spread(1, 10), 25),
        (spread(2, 10), 22),
        (spread(3, 10), 20),
        (spread(4, 10), 17),
        (spread(5, 10), 15),
        (spread(7, 10), 15),
    ];
    for (objects, added) in rows {
        assert_eq!(mode_3_mcycles(&line_20(0, None, &objects)), 43 + added, "{objects:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn mode_3_takes_as_long_as_its_scroll_window_and_objects_do(
        scx: u8,
        window in prop::option::of(8u8..165),
        objects in prop::collection::vec(any::<u8>(), 0..10),
    ) {
        let dots = mode_3_dots(scx, window, &objects);
        let mut console = line_20(scx, window, &objects);
        prop_assert_eq!(mode_3_mcycles(&console), u32::from(dots / 4));
        // Mode 3 begins 84 dots into the line.
        console.wait(30).read(LY);
        prop_assert_eq!(mode3_end(&mut console.machine), 84 + dots);
    }
}

/// M-cycles for which STAT shows mode 3 in the line in which the LCD is switched on.
fn first_mode_3(wy: u8, lcdc: u8) -> u32 {
    let mut console = Console::dark();
    console.write(0xff4a, wy);
    console.write(0xff4b, 7 + 4);
    console.write(LCDC, lcdc);
    let mode_3 = console.timeline(LINE, STAT).into_iter().filter(|run| run.0 & 3 == 3);
    mode_3.map(|run| run.1).sum()
}

// GBMicrotest win*: WY is compared as the LCD goes on, and the line lasts six dots longer.
#[test]
fn the_window_can_begin_in_the_line_in_which_the_lcd_is_switched_on() {
    let without = first_mode_3(0, 0x80);
    assert_eq!(first_mode_3(0, 0xa0), without + 2);
    assert_eq!(first_mode_3(1, 0xa0), without);
}

// wilbertpol's ly_lyc_144-GS.
#[test]
fn lyc_holds_for_a_line_before_vblanks_as_long_as_ly_shows_it() {
    for line in 144..=153 {
        let console = before_line(line, &[(LYC, line as u8 - 1)]);
        if line < 153 {
            assert_eq!(console.timeline(5, LY), [(line as u8 - 1, 3), (line as u8, 2)]);
        }
        let bits: Vec<bool> = (0..8).map(|at| console.after(at, STAT) & 4 != 0).collect();
        assert_eq!(bits, [true, true, true, false, false, false, false, false], "line {line}");
    }
}
