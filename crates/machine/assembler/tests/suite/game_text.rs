//! Printing in games, `game/text.inc`, in a ROM of its own.

use gbxcule_assembler::Assembler;

use crate::console::Console;

const LIBRARY: [(&str, &str); 3] = [
    ("game/memory.inc", include_str!("../../asm/game/memory.inc")),
    ("game/video.inc", include_str!("../../asm/game/video.inc")),
    ("game/text.inc", include_str!("../../asm/game/text.inc")),
];

/// Makes a ROM that runs the text `print` with the LCD on, frame after frame.
fn printing(print: &str, data: &str) -> Console {
    let source = format!(
        " org $0040\n jp VBlank\n org $0150
    include \"game/memory.inc\"
    include \"game/video.inc\"
    include \"game/text.inc\"
Start:
    ld sp, STACK
    call ScreenOff
    call ClearMemory
    ld a, $C9                   ; no objects: their routine returns
    ldh [DRAW], a
    ld hl, $9800
    ld bc, $0400
    ld d, ' '
    call Fill
    ld hl, $8180
    ld b, 0
    call LoadFont
    ld a, $91
    ld b, 1
    call ScreenOn
{print}
.idle:
    call NextFrame
    jr .idle
{data}
"
    );
    let assembler =
        LIBRARY.iter().fold(Assembler::new("source", &source), |assembler, (name, text)| {
            assembler.with_include(name, text)
        });
    Console::of(&assembler.rom().unwrap_or_else(|errors| panic!("{errors}")).bytes)
}

/// Returns the text in a row of the background's map.
fn row(console: &Console, row: u16) -> String {
    let from = 0x9800 + row * 32;
    let tiles = console.range(from, from + 32);
    tiles.iter().map(|tile| char::from(*tile)).collect::<String>().trim_end().to_string()
}

#[test]
fn numbers_are_printed_in_all_widths_with_blanks_or_zeros_in_front() {
    let numbers = [0u16, 7, 9, 10, 99, 100, 999, 1000, 9_999, 10_000, 40_960, 65_535];
    for (fill, width) in [(' ', 5), ('0', 5), (' ', 3), ('0', 2), (' ', 1)] {
        let print: String = (0x9800u16..)
            .step_by(32)
            .zip(numbers)
            .map(|(address, number)| {
                format!(
                    "ld hl, {number}\n ld de, {address}\n ld b, {width}\n ld c, '{fill}'\n \
                     call PrintNumber\n"
                )
            })
            .collect();
        let mut console = printing(&print, "");
        console.run(20);
        for (at, number) in numbers.iter().enumerate() {
            let digits = format!("{number:05}");
            let shown = match fill {
                '0' => digits[5 - width..].to_string(),
                _ => format!("{number:>5}")[5 - width..].trim_end().to_string(),
            };
            assert_eq!(row(&console, at as u16), shown, "{number} in {width} of `{fill}`");
        }
    }
}

#[test]
fn more_text_than_the_queue_holds_arrives_whole() {
    let lines: Vec<String> = (0..18).map(|line| format!("Line {line:2} of the page.")).collect();
    let data: Vec<String> = lines.iter().map(|line| format!("db \"{line}\"\n")).collect();
    let data = format!("Page:\n{}db 0", data.join("db NEWLINE\n"));
    let mut console = printing("ld hl, Page\n ld de, $9800\n call PrintText", &data);
    console.run(20);
    for (at, line) in lines.iter().enumerate() {
        assert_eq!(row(&console, at as u16), *line);
    }
}

#[test]
fn a_box_has_its_corners_edges_and_an_empty_inside() {
    let mut console = printing("ld de, $9800\n ld b, 5\n ld c, 4\n call PrintBox", "");
    console.run(20);
    let rows = [0, 1, 2, 3, 4].map(|at| row(&console, at).into_bytes());
    let middle: &[u8] = &[0x1B, 0x20, 0x20, 0x20, 0x1C];
    let top: &[u8] = &[0x18, 0x19, 0x19, 0x19, 0x1A];
    let bottom: &[u8] = &[0x1D, 0x1E, 0x1E, 0x1E, 0x1F];
    assert_eq!(rows, [top, middle, middle, bottom, &[]]);
}
