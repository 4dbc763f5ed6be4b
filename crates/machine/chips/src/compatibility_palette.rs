//! Colours that the Color's boot ROM gives a program for the original. For games of the console's
//! maker it chooses them by the title. Host side: not translated.
// Pan Docs "Compatibility palettes".

/// Titles, by the sum of their 16 bytes and, if two games have the same sum, by their fourth
/// letter; and the number of the title's combination.
#[rustfmt::skip]
const GAMES: [(u8, u8, u8); 93] = [
    (0x88, 0, 4), (0x16, 0, 5), (0x36, 0, 35), (0xd1, 0, 34), (0xdb, 0, 3),
    (0xf2, 0, 31), (0x3c, 0, 15), (0x8c, 0, 10), (0x92, 0, 5), (0x3d, 0, 19),
    (0x5c, 0, 36), (0x58, 0, 7), (0xc9, 0, 37), (0x3e, 0, 30), (0x70, 0, 44),
    (0x1d, 0, 21), (0x59, 0, 32), (0x69, 0, 31), (0x19, 0, 20), (0x35, 0, 5),
    (0xa8, 0, 33), (0x14, 0, 13), (0xaa, 0, 14), (0x75, 0, 5), (0x95, 0, 29),
    (0x99, 0, 5), (0x34, 0, 18), (0x6f, 0, 9), (0x15, 0, 3), (0xff, 0, 2),
    (0x97, 0, 26), (0x4b, 0, 25), (0x90, 0, 25), (0x17, 0, 41), (0x10, 0, 42),
    (0x39, 0, 26), (0xf7, 0, 45), (0xf6, 0, 42), (0xa2, 0, 45), (0x49, 0, 36),
    (0x4e, 0, 38), (0x43, 0, 26), (0x68, 0, 42), (0xe0, 0, 30), (0x8b, 0, 41),
    (0xf0, 0, 34), (0xce, 0, 34), (0x0c, 0, 5), (0x29, 0, 42), (0xe8, 0, 6),
    (0xb7, 0, 5), (0x86, 0, 33), (0x9a, 0, 25), (0x52, 0, 42), (0x01, 0, 42),
    (0x9d, 0, 40), (0x71, 0, 2), (0x9c, 0, 16), (0xbd, 0, 25), (0x5d, 0, 42),
    (0x6d, 0, 42), (0x67, 0, 5), (0x3f, 0, 0), (0x6b, 0, 39), (0xb3, b'B', 36),
    (0x46, b'E', 22), (0x28, b'F', 25), (0xa5, b'A', 6), (0xc6, b'A', 32), (0xd3, b'R', 12),
    (0x27, b'B', 36), (0x61, b'E', 11), (0x18, b'K', 39), (0x66, b'E', 18), (0x6a, b'K', 39),
    (0xbf, b' ', 24), (0x0d, b'R', 31), (0xf4, b'-', 50), (0xb3, b'U', 17), (0x46, b'R', 46),
    (0x28, b'A', 6), (0xa5, b'R', 27), (0xc6, b' ', 0), (0xd3, b'I', 47), (0x27, b'N', 41),
    (0x61, b'A', 41), (0x18, b'I', 0), (0x66, b'L', 0), (0x6a, b'I', 19), (0xbf, b'C', 34),
    (0x0d, b'E', 23), (0xf4, b' ', 18), (0xb3, b'R', 29),
];

/// Combinations: the indices in `COLORS` at which the palettes of OBP0, OBP1 and BGP begin.
#[rustfmt::skip]
const COMBINATIONS: [[u8; 3]; 51] = [
    [16, 16, 116], [72, 72, 72], [80, 80, 80], [96, 96, 96], [36, 36, 36], [0, 0, 0],
    [108, 108, 108], [20, 20, 20], [48, 48, 48], [104, 104, 104], [64, 32, 32], [16, 112, 112],
    [16, 8, 8], [12, 16, 16], [16, 116, 116], [112, 16, 112], [8, 68, 8], [64, 64, 32],
    [16, 16, 28], [16, 16, 72], [16, 16, 80], [76, 76, 36], [15, 15, 44], [68, 68, 8],
    [16, 16, 8], [16, 16, 12], [112, 112, 0], [12, 12, 0], [0, 0, 4], [72, 88, 72],
    [80, 88, 80], [96, 88, 96], [64, 88, 32], [68, 16, 52], [111, 0, 56], [111, 16, 60],
    [76, 91, 36], [64, 112, 40], [16, 92, 112], [68, 88, 8], [16, 0, 8], [16, 112, 12],
    [112, 12, 0], [12, 112, 16], [84, 112, 16], [12, 112, 0], [100, 12, 112], [0, 112, 32],
    [16, 12, 112], [112, 12, 24], [16, 112, 116],
];

/// Colours, RGB555 with red in the lowest bits.
#[rustfmt::skip]
const COLORS: [u16; 120] = [
    0x7fff, 0x32bf, 0x00d0, 0x0000, 0x639f, 0x4279, 0x15b0, 0x04cb,
    0x7fff, 0x6e31, 0x454a, 0x0000, 0x7fff, 0x1bef, 0x0200, 0x0000,
    0x7fff, 0x421f, 0x1cf2, 0x0000, 0x7fff, 0x5294, 0x294a, 0x0000,
    0x7fff, 0x03ff, 0x012f, 0x0000, 0x7fff, 0x03ef, 0x01d6, 0x0000,
    0x7fff, 0x42b5, 0x3dc8, 0x0000, 0x7e74, 0x03ff, 0x0180, 0x0000,
    0x67ff, 0x77ac, 0x1a13, 0x2d6b, 0x7ed6, 0x4bff, 0x2175, 0x0000,
    0x53ff, 0x4a5f, 0x7e52, 0x0000, 0x4fff, 0x7ed2, 0x3a4c, 0x1ce0,
    0x03ed, 0x7fff, 0x255f, 0x0000, 0x036a, 0x021f, 0x03ff, 0x7fff,
    0x7fff, 0x01df, 0x0112, 0x0000, 0x231f, 0x035f, 0x00f2, 0x0009,
    0x7fff, 0x03ea, 0x011f, 0x0000, 0x299f, 0x001a, 0x000c, 0x0000,
    0x7fff, 0x027f, 0x001f, 0x0000, 0x7fff, 0x03e0, 0x0206, 0x0120,
    0x7fff, 0x7eeb, 0x001f, 0x7c00, 0x7fff, 0x3fff, 0x7e00, 0x001f,
    0x7fff, 0x03ff, 0x001f, 0x0000, 0x03ff, 0x001f, 0x000c, 0x0000,
    0x7fff, 0x033f, 0x0193, 0x0000, 0x0000, 0x4200, 0x037f, 0x7fff,
    0x7fff, 0x7e8c, 0x7c00, 0x0000, 0x7fff, 0x1bef, 0x6180, 0x0000,
];

/// Palettes of OBP0, OBP1 and BGP.
pub(crate) type Compatible = [[u16; 4]; 3];

/// Returns true if the console's maker made the cartridge: the boot ROM looks up its titles alone.
fn is_own(rom: &[u8]) -> bool {
    match rom[0x14b] {
        0x33 => rom[0x144..0x146] == *b"01",
        maker => maker == 1,
    }
}

/// The counter behind DIV when the boot ROM leaves, in T-cycles. It depends on the header, which
/// the boot ROM compares (docboy `boot_div_*`, mooneye boot_div, gambatte `div/start_inc_*`).
// UNVERIFIED: of the maker's titles for the original only one title was measured, which has no
// palettes in the boot ROM; for titles with palettes the search ends earlier.
pub(crate) fn divider(rom: &[u8]) -> u16 {
    let is_for_color = rom[0x143] & 0x80 != 0;
    let start: u16 = match (is_for_color, is_own(rom)) {
        (true, false) => 0x1ea0,
        (true, true) => 0x2fa8,
        (false, false) => 0x267c,
        (false, true) => 0x3784,
    };
    match (rom[0x14b], rom[0x144]) {
        (0x33, b'0') => start + 0x20,
        (0x33, _) => start - 4,
        _ => start,
    }
}

/// Sum of a title's bytes if the console's maker made the cartridge, else 0.
fn title_sum(rom: &[u8]) -> u8 {
    let title = &rom[0x134..0x144];
    if is_own(rom) { title.iter().fold(0, |sum: u8, byte| sum.wrapping_add(*byte)) } else { 0 }
}

/// Results of the boot ROM for a header: the sum that it leaves in B, and the palettes.
pub(crate) fn of(rom: &[u8]) -> (u8, Compatible) {
    let sum = title_sum(rom);
    let is_game =
        |&&(game, letter, _): &&(u8, u8, u8)| game == sum && (letter == 0 || letter == rom[0x137]);
    let game = GAMES.iter().find(is_game);
    let combination = COMBINATIONS[game.map_or(0, |game| game.2 as usize)];
    let palette = |first: u8| core::array::from_fn(|color| COLORS[first as usize + color]);
    (sum, combination.map(palette))
}
