//! Files in `asm/game/` that games share, each tested by a small program.

use gbxcule_assembler::Assembler;

use crate::console::{Console, LEFT, START};

const LIBRARY: [(&str, &str); 5] = [
    ("game/memory.inc", include_str!("../../asm/game/memory.inc")),
    ("game/video.inc", include_str!("../../asm/game/video.inc")),
    ("game/objects.inc", include_str!("../../asm/game/objects.inc")),
    ("game/joypad.inc", include_str!("../../asm/game/joypad.inc")),
    ("game/random.inc", include_str!("../../asm/game/random.inc")),
];

/// Makes a program that runs `begin` once with the screen off, and `frame` in each frame.
fn program(begin: &str, frame: &str) -> Console {
    let includes: String =
        LIBRARY.iter().map(|(name, _)| format!(" include \"{name}\"\n")).collect();
    let text = format!(
        " org $0040\n jp VBlank\n org $0150\n{includes}\
         Seed: dw $1234\n\
         Start:\n ld sp, STACK\n call ScreenOff\n call ClearMemory\n call InitObjects\n\
         call SeedRandom\n{begin}\n\
         ld a, $97\n ld b, 1\n call ScreenOn\n\
         Main:\n call NextFrame\n call ReadButtons\n ld hl, $C008\n inc [hl]\n{frame}\n jp Main\n\
         Numbers: db 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18\n"
    );
    let assembler = Assembler::new("program.asm", &text);
    let assembler = LIBRARY
        .iter()
        .fold(assembler, |assembler, (name, text)| assembler.with_include(name, text));
    Console::of(&assembler.rom().unwrap_or_else(|errors| panic!("{errors}")).bytes)
}

#[test]
fn the_main_program_runs_once_a_frame() {
    let mut console = program("", "");
    console.run(30);
    let before = console.peek(0xC008);
    console.run(100);
    assert_eq!(console.peek(0xC008), before.wrapping_add(100));
}

#[test]
fn buttons_are_pressed_for_one_frame_and_held_for_many() {
    let mut console = program(
        "",
        "ld hl, $C020\n ld a, [Pressed]\n or [hl]\n ld [hl+], a\n\
                                   ld a, [Pressed]\n or a\n jp z, Main\n inc [hl]",
    );
    console.run(30);
    console.hold(START | LEFT);
    console.run(10);
    assert_eq!(console.peek(0xC00A), 0x28);
    assert_eq!(console.range(0xC020, 0xC022), [0x28, 1]);
}

#[test]
fn queued_tiles_reach_the_map_however_many_there_are() {
    let frame = "ld a, [$C008]\n cp 4\n jp nz, Main\n\
                 ld a, 77\n ld de, $9801\n call QueueTile\n\
                 ld b, 18\n ld de, $9840\n\
                 .rows: push bc\n ld hl, Numbers\n ld c, 18\n call QueueRow\n ld hl, 32\n add hl, de\n\
                 ld d, h\n ld e, l\n pop bc\n dec b\n jr nz, .rows\n\
                 ld hl, Numbers\n ld c, 18\n ld de, $981F\n call QueueColumn";
    let mut console = program("", frame);
    console.run(40);
    let numbers: Vec<u8> = (1..=18).collect();
    assert_eq!(console.peek(0x9801), 77);
    for row in 0..18 {
        let at = 0x9840 + row * 32;
        assert_eq!(console.range(at, at + 18), numbers, "row {row}");
        assert_eq!(console.peek(0x981F + row * 32), numbers[usize::from(row)], "column");
    }
}

#[test]
fn objects_are_sent_each_frame_and_those_no_longer_pushed_are_hidden() {
    let wide = "call BeginObjects\n ld bc, $2030\n ld de, $0400\n call PushWideObject\n\
                ld bc, $2850\n ld de, $0820\n call PushWideObject\n";
    let mut console = program("", &format!("{wide} call EndObjects"));
    console.run(40);
    let wanted = [
        [0x20, 0x30, 4, 0],
        [0x20, 0x38, 6, 0],
        [0x28, 0x50, 10, 0x20],
        [0x28, 0x58, 8, 0x20],
        [0, 0, 0, 0],
    ];
    assert_eq!(console.range(0xFE00, 0xFE14), wanted.concat());
    let frame = format!("{wide} ld a, [Held]\n or a\n call nz, BeginObjects\n call EndObjects");
    let mut console = program("", &frame);
    console.run(40);
    assert_eq!(console.peek(0xFE00), 0x20);
    console.hold(LEFT);
    console.run(3);
    assert!((0xFE00..0xFEA0).step_by(4).all(|object| console.peek(object) == 0));
}

#[test]
fn no_more_than_forty_objects_are_pushed() {
    let frame = "call BeginObjects\n ld bc, $2F40\n ld de, 0\n ld h, 50\n.more: push hl\n\
                 call PushObject\n pop hl\n dec h\n jr nz, .more\n call EndObjects";
    let mut console = program("ld a, $5A\n ld [$DFB0], a", frame);
    console.run(40);
    assert_eq!(console.peek(0xFE9C), 0x2F);
    assert_eq!(console.peek(0xDFB0), 0x5A);
}

#[test]
fn random_numbers_below_a_bound_are_all_met_about_equally_often() {
    let frame = "ld a, 10\n call RandomBelow\n ld l, a\n ld h, $C1\n inc [hl]";
    let mut console = program("", frame);
    console.run(1000);
    let counts = console.range(0xC100, 0xC110);
    assert!(counts[..10].iter().all(|count| (60..140).contains(count)), "{counts:?}");
    assert_eq!(counts[10..], [0; 6]);
}
