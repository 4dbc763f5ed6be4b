//! Registers written in the middle of a line: which pixels show the new value.
//! mealybug-tearoom-tests has photographs of all of these on a DMG. Our machine draws the same
//! pictures; here are single lines of the same kind, as it draws them.

use gbxcule_gameboy::ppu::sync_ppu;
use insta::assert_snapshot;

use crate::console::{Console, LCDC, LINE};

const BGP: u16 = 0xff47;
const OBP0: u16 = 0xff48;
const OBP1: u16 = 0xff49;
const SCY: u16 = 0xff42;
const SCX: u16 = 0xff43;
const WY: u16 = 0xff4a;
const WX: u16 = 0xff4b;
const DMA: u16 = 0xff46;

/// Draws line 20 with writes in it: M-cycles since LY shows 20, registers, values.
fn line(name: &str, lcdc: u8, registers: &[(u16, u8)], writes: &[(u32, u16, u8)]) -> String {
    let shades = draw(lcdc, registers, writes).into_iter();
    let drawn: String = shades.map(|shade| ['.', '-', '+', '#'][usize::from(shade)]).collect();
    format!("{name:<20} {drawn}\n")
}

fn draw(lcdc: u8, registers: &[(u16, u8)], writes: &[(u32, u16, u8)]) -> Vec<u8> {
    draw_line(20, lcdc, registers, writes)
}

/// The shades of a line of the second frame after the LCD was switched on.
fn draw_line(line: u32, lcdc: u8, registers: &[(u16, u8)], writes: &[(u32, u16, u8)]) -> Vec<u8> {
    let mut console = Console::dark();
    let vram = &mut console.machine.vram;
    // A row of a tile has one colour, which changes every two rows; the tiles with signed numbers
    // are darker.
    for tile in 0..384usize {
        for row in 0..8 {
            let colour = tile + row / 2 + tile / 256;
            vram[tile * 16 + row * 2] = if colour & 1 != 0 { 0xff } else { 0 };
            vram[tile * 16 + row * 2 + 1] = if colour & 2 != 0 { 0xff } else { 0 };
        }
    }
    for at in 0..0x400 {
        vram[0x1800 + at] = (at % 32 % 3) as u8;
        vram[0x1c00 + at] = (at % 2 + 1) as u8;
    }
    // Objects of stripes: beside each other, over each other, behind the background, from the other
    // palette.
    for at in 0..32 {
        vram[0x400 + at] = 0xb2 ^ (at as u8 / 2).wrapping_mul(0x24);
    }
    let objects = [
        [36, 48, 64, 0x00],
        [36, 52, 64, 0x20],
        [30, 72, 65, 0x10],
        [36, 80, 65, 0x80],
        [36, 0, 64, 0],
        [36, 90, 64, 0x40],
    ];
    console.machine.oam[..24].copy_from_slice(&objects.concat());
    // Further ones are above the screen.
    console.machine.oam[24..].as_chunks_mut().0.fill([1, 0, 1, 0]);
    for (address, value) in [(BGP, 0xe4), (OBP0, 0x1b), (OBP1, 0x90), (WY, 200), (WX, 200)] {
        console.write(address, value);
    }
    for &(address, value) in registers {
        console.write(address, value);
    }
    console.write(LCDC, lcdc);
    // The first picture after the LCD was switched on stays white.
    console.wait(154 * LINE);
    console.read(LCDC);
    console.machine.ppu.draw = true;
    console.wait((line * LINE).saturating_sub(5));
    let begin = console.machine.now;
    for &(mcycle, address, value) in writes {
        console.machine.now = begin + mcycle;
        console.write(address, value);
    }
    console.machine.now = begin + LINE;
    let now = console.machine.tcycles();
    sync_ppu(&mut console.machine, now + 8);
    let row = &console.machine.frame[line as usize * 40..][..40];
    row.iter().flat_map(|byte| [byte >> 6, byte >> 4 & 3, byte >> 2 & 3, byte & 3]).collect()
}

// mealybug m3_bgp_change, m3_obp0_change: on the one pixel between them both palettes' bits show.
#[test]
fn palettes_change_between_two_pixels_and_are_mixed_on_one() {
    let rows = [
        line("nothing", 0x93, &[], &[]),
        line("BGP", 0x93, &[], &[(40, BGP, 0x1b)]),
        line("BGP, SCX 5", 0x93, &[(SCX, 5)], &[(40, BGP, 0x1b)]),
        line("BGP, SCX 2", 0x93, &[(SCX, 2)], &[(40, BGP, 0x1b)]),
        line("OBP0", 0x93, &[], &[(38, OBP0, 0x6c)]),
        line("OBP1", 0x93, &[], &[(43, OBP1, 0x6c)]),
        line("all, one by one", 0x93, &[], &[(48, BGP, 0x1b), (49, OBP0, 0x11), (50, OBP1, 0x22)]),
    ];
    assert_snapshot!(rows.concat(), @r"
    nothing              ++++++++########........++++++++########..........+.++++########.+..+.+.++++++++###.##..........++++++++########........++++++++########........++++++++########
    BGP                  ++++++++########........++++++++########.#..#..#..-.----........#+##+#+#--------.........#######--------........########--------........########--------........
    BGP, SCX 5           +++########........++++++++########......#..-..-..-........######+#-+-+----.........##...##--------........########--------........########--------........#####
    BGP, SCX 2           ++++++########........++++++++########...#..#..-..-.--........###+##+#+-------...........#####--------........########--------........########--------........##
    OBP0                 ++++++++########........++++++++########-.--.--.--+-++++########.+..+.+.++++++++###-##---.......++++++++########........++++++++########........++++++++########
    OBP1                 ++++++++########........++++++++########..........+.++++########.-..-.-.++++++++###.##..........++++++++########........++++++++########........++++++++########
    all, one by one      ++++++++########........++++++++########..........+.++++######..#.##.#.#--------.........#######--------........########--------........########--------........
    ");
}

// Strikethrough: an object has the tile and the attributes at the place in OAM to which the next
// byte is copied. In mode 2 the PPU sees the Y and X that it read last, again and again.
#[test]
fn objects_beside_oam_dma_are_made_of_what_lies_on_its_way() {
    let rows = [
        line("nothing", 0x93, &[], &[]),
        line("DMA in mode 3", 0x93, &[], &[(28, DMA, 0xc0)]),
        line("DMA later", 0x93, &[], &[(37, DMA, 0xc0)]),
        line("DMA in mode 2", 0x93, &[], &[(1, DMA, 0xc0)]),
    ];
    assert_snapshot!(rows.concat(), @r"
    nothing              ++++++++########........++++++++########..........+.++++########.+..+.+.++++++++###.##..........++++++++########........++++++++########........++++++++########
    DMA in mode 3        ++++++++########........++++++++########....++++++++++++########........++++++++##++++++++......++++++++########........++++++++########........++++++++########
    DMA later            ++++++++########........++++++++########........++++++++########........++++++++##++++++++......++++++++########........++++++++########........++++++++########
    DMA in mode 2        ++++++++########........++++++++########++++++++++++++++########........++++++++########........++++++++########........++++++++########........++++++++########
    ");
}

// mealybug m3_scx_high_5_bits, m3_scx_low_3_bits, m3_scy_change.
#[test]
fn scrolling_shows_in_the_next_tile_and_its_lower_bits_in_the_next_line() {
    let rows = [
        line("SCX 8", 0x91, &[], &[(40, SCX, 8)]),
        line("SCX 8 later", 0x91, &[], &[(42, SCX, 8)]),
        line("SCX 3 before", 0x91, &[], &[(20, SCX, 3)]),
        line("SCX 3 just in time", 0x91, &[], &[(23, SCX, 3)]),
        line("SCX 3 too late", 0x91, &[], &[(24, SCX, 3)]),
        line("SCX 5, 2 in time", 0x91, &[(SCX, 5)], &[(24, SCX, 2)]),
        line("SCX 5, 2 in between", 0x91, &[(SCX, 5)], &[(25, SCX, 2)]),
        line("SCX 5, 2 too late", 0x91, &[(SCX, 5)], &[(26, SCX, 2)]),
        line("SCY 3", 0x91, &[], &[(40, SCY, 3)]),
        line("SCY 3 later", 0x91, &[], &[(41, SCY, 3)]),
    ];
    assert_snapshot!(rows.concat(), @r"
    SCX 8                ++++++++########........++++++++########........++++++++########........########........++++++++########........++++++++########........++++++++########........
    SCX 8 later          ++++++++########........++++++++########........++++++++########........++++++++........++++++++########........++++++++########........++++++++########........
    SCX 3 before         +++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########...
    SCX 3 just in time   +++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########...
    SCX 3 too late       ++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########
    SCX 5, 2 in time     ++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########..
    SCX 5, 2 in between  +++++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++#####
    SCX 5, 2 too late    +++################........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++#####
    SCY 3                ++++++++########........++++++++########........++++++++########--------########........--------########........--------########........--------########........
    SCY 3 later          ++++++++########........++++++++########........++++++++########........########........--------########........--------########........--------########........
    ");
}

// mealybug m3_lcdc_bg_en_change, obj_en_change, obj_size_change, bg_map_change, tile_sel_change.
#[test]
fn the_bits_of_lcdc_act_each_at_its_own_moment() {
    let rows = [
        line("background off, on", 0x93, &[], &[(36, LCDC, 0x92), (50, LCDC, 0x93)]),
        line("objects off, on", 0x93, &[], &[(33, LCDC, 0x91), (39, LCDC, 0x93)]),
        line("objects off in time", 0x93, &[], &[(34, LCDC, 0x91), (40, LCDC, 0x93)]),
        line("tall objects", 0x93, &[], &[(34, LCDC, 0x97)]),
        line("tall objects first", 0x97, &[], &[(40, LCDC, 0x93)]),
        line("map", 0x91, &[], &[(41, LCDC, 0x99)]),
        line("map later", 0x91, &[], &[(42, LCDC, 0x99)]),
        line("tile data", 0x91, &[], &[(40, LCDC, 0x81)]),
        line("tile data later", 0x91, &[], &[(41, LCDC, 0x81)]),
    ];
    assert_snapshot!(rows.concat(), @r"
    background off, on   ++++++++########........+++++++..................................+..+.+.++++++++###.##..........++++++++########........++++++++########........++++++++########
    objects off, on      ++++++++########........++++++++########..........+.++++########.+..+.+.++++++++###.##..........++++++++########........++++++++########........++++++++########
    objects off in time  ++++++++########........++++++++########........++++++++########.+..+.+.++++++++###.##..........++++++++########........++++++++########........++++++++########
    tall objects         ++++++++########........++++++++########..........+.++++########.++.+.+.++++++++##.#.#..........++++++++########........++++++++########........++++++++########
    tall objects first   ++++++++########........++++++++########..........+.++++########.+..+.+.++++++++###.##..........++++++++########........++++++++########........++++++++########
    map                  ++++++++########........++++++++########........++++++++########................########........########........########........########........########........
    map later            ++++++++########........++++++++########........++++++++########........++++++++########........########........########........########........########........
    tile data            ++++++++########........++++++++########........++++++++########--------########........--------########........--------########........--------########........
    tile data later      ++++++++########........++++++++########........++++++++########........########........--------########........--------########........--------########........
    ");
}

// mealybug m3_lcdc_win_en_change_multiple, m3_lcdc_win_map_change, m3_wx_4_change, m3_wx_5_change.
#[test]
fn the_window_begins_at_wx_and_ends_with_its_bit() {
    let rows = [
        line("window", 0xf3, &[(WY, 0), (WX, 87)], &[]),
        line("its map", 0xf1, &[(WY, 0), (WX, 87)], &[(50, LCDC, 0xb1)]),
        line("off", 0xf1, &[(WY, 0), (WX, 87)], &[(54, LCDC, 0xd1)]),
        line("off, on", 0xf1, &[(WY, 0), (WX, 20)], &[(31, LCDC, 0xd1), (41, LCDC, 0xf1)]),
        line("off, on later", 0xf1, &[(WY, 0), (WX, 20)], &[(33, LCDC, 0xd1), (43, LCDC, 0xf1)]),
        line("off, WX comes", 0xf1, &[(WY, 0), (WX, 87)], &[(10, LCDC, 0xd1)]),
        line("off, WX in a tile", 0xf1, &[(WY, 0), (WX, 88)], &[(10, LCDC, 0xd1)]),
        line("WX meets a tile", 0xf1, &[(WY, 0), (WX, 87)], &[(50, WX, 111)]),
        line("WX between tiles", 0xf1, &[(WY, 0), (WX, 87)], &[(50, WX, 113)]),
        line("WX goes in time", 0xf1, &[(WY, 0), (WX, 87)], &[(45, WX, 150)]),
        line("WX goes too late", 0xf1, &[(WY, 0), (WX, 87)], &[(46, WX, 150)]),
        line("WX comes in time", 0xf1, &[(WY, 0), (WX, 200)], &[(45, WX, 87)]),
        line("WX comes too late", 0xf1, &[(WY, 0), (WX, 200)], &[(46, WX, 87)]),
        line("WX, a pixel behind", 0xf1, &[(WY, 0), (WX, 200)], &[(45, WX, 86)]),
        line("WY comes", 0xf1, &[(WY, 200), (WX, 87)], &[(30, WY, 20)]),
        line("WY comes and goes", 0xf1, &[(WY, 20), (WX, 87)], &[(30, WY, 21)]),
    ];
    assert_snapshot!(rows.concat(), @r"
    window               ++++++++########........++++++++########..........+.++++########.+..+.+.++++++++###.##..........########........########........########........########........
    its map              ++++++++########........++++++++########........++++++++########........++++++++########........########++++++++########........++++++++########........++++++++
    off                  ++++++++########........++++++++########........++++++++########........++++++++########........########........########++++++++########........++++++++########
    off, on              ++++++++#############........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++###
    off, on later        ++++++++#############........################........++++++++########........++++++++########........++++++++########........++++++++########........++++++++###
    off, WX comes        ++++++++########........++++++++########........++++++++########........++++++++.########........++++++++########........++++++++########........++++++++#######
    off, WX in a tile    ++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########
    WX meets a tile      ++++++++########........++++++++########........++++++++########........++++++++########........########.........########........########........########.......
    WX between tiles     ++++++++########........++++++++########........++++++++########........++++++++########........########........########........########........########........
    WX goes in time      ++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########.......########........#
    WX goes too late     ++++++++########........++++++++########........++++++++########........++++++++########........########........########........########........########........
    WX comes in time     ++++++++########........++++++++########........++++++++########........++++++++--------++++++++--------++++++++--------++++++++--------++++++++--------++++++++
    WX comes too late    ++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########
    WX, a pixel behind   ++++++++########........++++++++########........++++++++########........+++++++--------++++++++--------++++++++--------++++++++--------++++++++--------++++++++-
    WY comes             ++++++++########........++++++++########........++++++++########........++++++++--------++++++++--------++++++++--------++++++++--------++++++++--------++++++++
    WY comes and goes    ++++++++########........++++++++########........++++++++########........++++++++--------++++++++--------++++++++--------++++++++--------++++++++--------++++++++
    ");
}

// docboy window_turn_off_*_sprite_*. The window's second tile is 3 in row 3 and 0 in row 4, the
// background's row; 1 if row 3 has the lower plane and row 4 the upper one. The background is 2.
#[test]
fn a_tile_of_a_window_that_goes_off_ends_with_the_backgrounds_row() {
    let second_tile = |mcycle: u32| {
        let wx = 23;
        let row = draw(0xf1, &[(WY, 17), (WX, wx)], &[(mcycle, LCDC, 0xd1)]);
        let tile = usize::from(wx) - 7 + 8;
        row[tile..tile + 7].iter().all(|shade| *shade == row[tile]).then_some(row[tile])
    };
    let mut seen: Vec<u8> = (24..34).filter_map(second_tile).collect();
    seen.dedup();
    assert_eq!(seen, [2, 1, 3]);
}

// Pan Docs "Window": WX = 0 and WX = 166; mealybug m3_window_timing_wx_0.
#[test]
fn a_window_at_the_edges_has_bugs_of_its_own() {
    let rows = [
        line("WX 0", 0xf1, &[(WY, 0), (WX, 0)], &[]),
        line("WX 0, SCX 3", 0xf1, &[(WY, 0), (WX, 0), (SCX, 3)], &[]),
        line("WX 0, SCX 7", 0xf1, &[(WY, 0), (WX, 0), (SCX, 7)], &[]),
        line("WX 1", 0xf1, &[(WY, 0), (WX, 1)], &[]),
        line("WX 1, SCX 7", 0xf1, &[(WY, 0), (WX, 1), (SCX, 7)], &[]),
        line("WX 6", 0xf1, &[(WY, 0), (WX, 6)], &[]),
        line("WX 7", 0xf1, &[(WY, 0), (WX, 7)], &[]),
        line("WX 165", 0xf1, &[(WY, 0), (WX, 165)], &[]),
        line("WX 166", 0xf1, &[(WY, 0), (WX, 166)], &[]),
        line("WX 166, then 200", 0xf1, &[(WY, 0), (WX, 166)], &[(10, WX, 200)]),
        line("WX 167", 0xf1, &[(WY, 0), (WX, 167)], &[]),
    ];
    assert_snapshot!(rows.concat(), @r"
    WX 0                 #........########........########........########........########........########........########........########........########........########........#######
    WX 0, SCX 3          .....########........########........########........########........########........########........########........########........########........########...
    WX 0, SCX 7          ..########........########........########........########........########........########........########........########........########........########......
    WX 1                 ##........########........########........########........########........########........########........########........########........########........######
    WX 1, SCX 7          ##........########........########........########........########........########........########........########........########........########........######
    WX 6                 #######........########........########........########........########........########........########........########........########........########........#
    WX 7                 ########........########........########........########........########........########........########........########........########........########........
    WX 165               ++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########
    WX 166               ........########........########........########........########........########........########........########........########........########........########
    WX 166, then 200     ........########........########........########........########........########........########........########........########........########........########
    WX 167               ++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########........++++++++########
    ");
}

// gambatte `wxA6_*`: the window goes on after its first tile, in the first line of a frame too,
// and if it was disabled meanwhile, as soon as it is enabled.
#[test]
fn a_window_in_the_last_column_goes_on_in_the_next_line() {
    let registers = [(WY, 0), (WX, 166)];
    let background = draw(0xd1, &registers, &[]);
    let carried = draw(0xf1, &registers, &[]);
    assert_ne!(carried, background);
    // Tiles of the window's map take turns: column 1 comes first.
    let begins_at_column_1 = |row: &[u8]| {
        let window = draw(0xf1, &[(WY, 0), (WX, 7)], &[]);
        row[..8] != window[..8] && row[8..16] == row[24..32] && row[..8] != row[8..16]
    };
    assert!(begins_at_column_1(&carried));
    assert!(begins_at_column_1(&draw_line(0, 0xf1, &registers, &[])));
    // Off before mode 3: nothing of the window, unless it is on again in time.
    assert_eq!(draw(0xf1, &registers, &[(12, LCDC, 0xd1)]), background);
    let again = draw(0xf1, &registers, &[(12, LCDC, 0xd1), (18, LCDC, 0xf1)]);
    assert_ne!(again, background);
    assert_eq!(draw(0xf1, &registers, &[(12, LCDC, 0xd1), (60, LCDC, 0xf1)]), background);
}

// AGE m3-bg-bgp, mealybug m3_lcdc_bg_en_change: the panel reads the first pixel a dot late.
#[test]
fn the_first_pixel_shows_the_new_palette_alone() {
    let mut mixed = std::collections::BTreeSet::new();
    for mcycle in 20..34 {
        for scx in 0..8 {
            let row = draw(0x91, &[(SCX, scx), (BGP, 0x55)], &[(mcycle, BGP, 0xaa)]);
            mixed.extend(row.iter().position(|shade| *shade == 3));
        }
    }
    assert_eq!(mixed.first(), Some(&1));
    assert!((1..20).all(|column| mixed.contains(&column)), "{mixed:?}");
}

/// Returns a character for each SCX from 0 to 7.
fn by_scx(what: impl Fn(u8) -> char) -> String {
    (0..8).map(what).collect()
}

// mealybug m3_lcdc_win_en_change_multiple_wx, gambatte `late_wy_FFto2_ly2_scx*`,
// `scx_m3_extend_1`.
#[test]
fn the_window_and_the_fine_scroll_take_a_write_on_a_dot_of_their_own() {
    let background = |scx| draw(0xd1, &[(SCX, scx)], &[]);
    // Pixels of a window that is switched off as it begins.
    let pixels = |wx: u8| {
        let row = draw(0xb9, &[(WY, 0), (WX, wx)], &[(40, LCDC, 0x99)]);
        let beneath = draw(0x99, &[], &[]);
        (0..160).filter(|x| row[*x] != beneath[*x]).count()
    };
    let counts: Vec<usize> = (48..66).map(pixels).collect();
    assert_eq!(counts, [21, 34, 47, 60, 73, 86, 28, 16, 26, 36, 44, 56, 68, 80, 21, 8, 18, 0]);
    // Lines that show the window although WY is written late.
    let window = |mcycle| {
        by_scx(|scx| {
            let row = draw(0xf1, &[(SCX, scx), (WY, 200), (WX, 7)], &[(mcycle, WY, 20)]);
            if row == background(scx) { '.' } else { 'W' }
        })
    };
    assert_eq!([25, 26, 27].map(window), ["WWWWWWWW", "....WWWW", "........"]);
    // Discarded pixels, if SCX is written while they are discarded.
    let thrown = |mcycle| {
        by_scx(|scx| {
            let row = draw(0x91, &[(SCX, scx)], &[(mcycle, SCX, 7 - scx)]);
            let seen = row.iter().position(|shade| *shade != row[0]).unwrap_or(0);
            char::from(b'0' + (8 - seen.min(8)) as u8)
        })
    };
    assert_eq!([22, 23, 24, 25].map(thrown), ["76543210", "76543210", "01543210", "01234010"]);
}

// An object further left delays all that follows by 11 to 6 dots, so that a write finds the fetcher
// at another step. The first pixel that shows the write, and how many do, with that object at X = 0
// to 5; a change of BGP after it shows what the line has lost or won.
#[test]
#[expect(clippy::too_many_lines, reason = "a table of pictures")]
fn a_write_finds_the_fetcher_at_any_step() {
    let window = [(WY, 0), (WX, 87)];
    let mut table = String::new();
    let mut row = |name: &str, lcdc, registers: &[_], address, value, moments: [u32; 3]| {
        for mcycle in moments {
            table += &format!("{name:<18} {mcycle}:");
            for x in 0..6 {
                let registers = [registers, &[(0xfe11, x)]].concat();
                let later = (mcycle + 9, BGP, 0x1b);
                let back = (mcycle + 5, address, lcdc);
                let all = [(mcycle, address, value), back, later];
                let writes = if name.ends_with(" on") { &all[..] } else { &[all[0], later] };
                let calm = draw(lcdc, &registers, &[later]);
                let written = draw(lcdc, &registers, writes);
                let differ: Vec<usize> = (0..160).filter(|&at| calm[at] != written[at]).collect();
                let first = differ.first().map_or(0, |at| *at);
                table += &format!(" {first:>3}/{:02}", differ.len());
            }
            table += "\n";
        }
    };
    row("SCX", 0x93, &[], SCX, 8, [48, 49, 50]);
    row("SCX, lower bits", 0x93, &[], SCX, 5, [23, 24, 25]);
    row("SCY", 0x93, &[], SCY, 3, [48, 49, 50]);
    row("background", 0x93, &[], LCDC, 0x92, [48, 49, 50]);
    row("objects off", 0x93, &[], LCDC, 0x91, [33, 34, 36]);
    row("objects off later", 0x93, &[], LCDC, 0x91, [37, 38, 42]);
    row("objects on", 0x91, &[], LCDC, 0x93, [33, 34, 35]);
    row("tall", 0x93, &[], LCDC, 0x97, [49, 50, 51]);
    row("tall later", 0x93, &[], LCDC, 0x97, [52, 53, 54]);
    row("map", 0x93, &[], LCDC, 0x9b, [48, 49, 50]);
    row("tile data", 0x93, &[], LCDC, 0x83, [48, 49, 50]);
    row("window's map", 0xf3, &window, LCDC, 0xb3, [57, 58, 59]);
    row("window off", 0xf3, &window, LCDC, 0xd3, [51, 52, 57]);
    row("window off and on", 0xf3, &[(WY, 0), (WX, 16)], LCDC, 0xd3, [26, 27, 28]);
    row("WX comes", 0xf3, &[(WY, 0), (WX, 200)], WX, 120, [59, 60, 61]);
    row("WX goes", 0xf3, &[(WY, 0), (WX, 120)], WX, 200, [59, 60, 61]);
    row("WX moves", 0xf3, &[(WY, 0), (WX, 40)], WX, 120, [45, 46, 47]);
    assert_snapshot!(table, @r"
    SCX                48:  72/83  72/83  72/83  72/83  80/76  81/75
    SCX                49:  80/76  81/75  80/75  80/76  80/76  80/76
    SCX                50:  80/76  80/76  80/76  80/76  80/76  80/76
    SCX, lower bits    23:   3/88   3/89   3/89   3/88   3/88   4/88
    SCX, lower bits    24:   3/90   0/00   0/00   0/00   0/00   0/00
    SCX, lower bits    25:   3/93   0/00   0/00   0/00   0/00   0/00
    SCY                48:  72/83  72/83  72/83  72/83  72/83  72/83
    SCY                49:  72/83  72/83  80/75  80/76  80/76  80/76
    SCY                50:  80/76  80/76  80/76  80/76  80/76  80/76
    background         48:  62/63  63/61  72/60  72/61  72/60  72/60
    background         49:  72/60  72/60  72/60  72/61  72/61  72/61
    background         50:  72/61  72/61  72/61  72/61  72/61  72/61
    objects off        33:  44/13  44/14  44/15  44/16  44/17  44/18
    objects off        34:  44/17  44/18  44/19  44/20  47/20  47/21
    objects off        36:  48/21  48/22  48/22  48/22  48/22  48/21
    objects off later  37:  48/22  48/21  48/22  48/21  48/21  48/21
    objects off later  38:  48/21  48/21  48/20  48/20  48/19  48/18
    objects off later  42:  48/20  48/20  48/21  48/20  48/20  48/19
    objects on         33:  57/08  57/08  57/08  57/08  57/08  57/08
    objects on         34:  59/10  59/10  59/10  59/10  59/10  59/10
    objects on         35:  61/13  61/13  61/13  61/13  61/13  61/13
    tall               49:  66/01  66/01  66/01  66/01  66/01  66/01
    tall               50:  66/01  66/01  66/01  66/01  66/01  66/01
    tall               51:  66/01  66/01   0/00   0/00  82/01  82/02
    tall later         52:  82/01  82/02  82/03  82/03  82/03  82/03
    tall later         53:  82/03  82/03  82/03  82/03  82/03  82/03
    tall later         54:  82/03  82/03  82/03  82/03  82/03  82/03
    map                48:  72/56  72/55  72/55  72/56  96/48  96/48
    map                49:  96/48  96/48  96/48  96/48  96/48  96/48
    map                50:  96/48  96/48  96/48  96/48  96/48  96/48
    tile data          48:  72/83  72/83  72/83  72/83  72/83  72/83
    tile data          49:  72/83  72/83  80/75  80/76  80/76  80/76
    tile data          50:  80/76  80/76  80/76  80/76  80/76  80/76
    window's map       57:  80/59  80/59  80/59  80/59  80/59  80/59
    window's map       58:  80/59  80/59  89/54  89/54  89/54  89/54
    window's map       59:  89/54  89/54  89/54  89/54  96/47  96/47
    window off         51:  80/49  80/49  80/49  80/49  80/49  80/50
    window off         52:  80/49  80/50  80/50  80/51  80/52  80/52
    window off         57:  80/49  80/49  80/49  80/48  96/45  80/52
    window off and on  26:  16/90  16/89  16/88  16/87  16/86  16/86
    window off and on  27:  16/86  16/86  16/87  16/86  16/85  16/84
    window off and on  28:  16/85  16/84  16/83  16/82  16/80  16/79
    WX comes           59: 113/39 113/39 113/39 113/39 113/39 113/39
    WX comes           60: 113/39 113/39 113/39 113/39 113/39 113/39
    WX comes           61: 113/39 113/39 113/39 113/39 113/40 113/41
    WX goes            59: 113/32 113/32 113/32 113/32 114/31 115/30
    WX goes            60: 114/31 115/30 116/29 117/28 118/27 113/27
    WX goes            61: 118/27 113/27 113/27 113/27 113/28 113/29
    WX moves           45: 113/06 113/06 113/06 113/06 113/06 113/06
    WX moves           46: 113/06 113/06 113/06 113/06 113/06 113/06
    WX moves           47: 113/06 113/06 113/06 113/06 113/06 113/06
    ");
}
