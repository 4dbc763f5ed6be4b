//! Tests `asm/game/logo.inc`, which shows a letter of the font at twice its size, in four tiles.

use gbxcule_assembler::Assembler;

use crate::console::Console;

const LIBRARY: [(&str, &str); 4] = [
    ("game/memory.inc", include_str!("../../asm/game/memory.inc")),
    ("game/video.inc", include_str!("../../asm/game/video.inc")),
    ("game/text.inc", include_str!("../../asm/game/text.inc")),
    ("game/logo.inc", include_str!("../../asm/game/logo.inc")),
];

/// Makes a ROM whose font, dark on light, begins at tile $18, and whose logo "RG" begins at tile
/// $80, in the upper left corner of the map.
fn logo(ink: u8) -> Console {
    let includes: String =
        LIBRARY.iter().map(|(name, _)| format!(" include \"{name}\"\n")).collect();
    let source = format!(
        " org $0040\n jp VBlank\n org $0150\n{includes}
Name: db \"RG\", 0
Start:
    ld sp, STACK
    call ScreenOff
    ld hl, $8180
    ld b, 0
    call LoadFont
    ld hl, Name
    ld de, $8800
    ld b, {ink}
    call LoadLogo
    ld de, $9800
    ld a, $80
    ld b, 2
    call PlaceLogo
    ld a, $91
    ldh [LCDC], a
.idle:
    jr .idle
"
    );
    let assembler =
        LIBRARY.iter().fold(Assembler::new("logo.asm", &source), |all, (name, text)| {
            all.with_include(name, text)
        });
    let mut console =
        Console::of(&assembler.rom().unwrap_or_else(|errors| panic!("{errors}")).bytes);
    console.run(8);
    console
}

/// Returns the shade of a pixel of a tile.
fn shade(console: &Console, tile: u8, x: usize, y: usize) -> u8 {
    let at = 0x8000 + u16::from(tile) * 16 + y as u16 * 2;
    let bit = |byte: u8| byte >> (7 - x) & 1;
    bit(console.peek(at)) | bit(console.peek(at + 1)) << 1
}

/// Returns the pixel (x, y) of a large letter, which has 16 x 16, as the map shows it.
fn pixel(console: &Console, letter: usize, x: usize, y: usize) -> u8 {
    let entry = 0x9800 + (y / 8 * 32 + letter * 2 + x / 8) as u16;
    shade(console, console.peek(entry), x % 8, y % 8)
}

#[test]
fn letters_are_those_of_the_font_at_twice_the_size_and_grey_below() {
    for (ink, shades) in [(0, [3, 2, 0]), (0xFF, [0, 1, 3])] {
        let console = logo(ink);
        let [above, below, background] = shades;
        for (letter, tile) in b"RG".iter().enumerate() {
            for (x, y) in (0..256).map(|at| (at % 16, at / 16)) {
                let is_set = shade(&console, *tile, x / 2, y / 2) != 0;
                let wanted = match is_set {
                    false => background,
                    true if y < 8 => above,
                    true => below,
                };
                assert_eq!(pixel(&console, letter, x, y), wanted, "letter {letter} at {x}, {y}");
            }
        }
    }
}
