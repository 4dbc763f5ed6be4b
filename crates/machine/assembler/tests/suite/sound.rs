//! Sound driver of the games, `asm/game/sound.inc`: the registers that tunes and effects write,
//! frame by frame.

use gbxcule_assembler::Assembler;

use crate::console::Console;

const MEMORY: &str = include_str!("../../asm/game/memory.inc");
const SOUND: &str = include_str!("../../asm/game/sound.inc");

/// Program that calls the driver once a frame, with effect 1 in frame 10 and effect 0 in frame 11.
const PLAYER: &str = r#"
FRAME equ $C040
    title "SOUND"
    org $0040
    jp VBlank
    org $0150
    include "game/memory.inc"
Start:
    di
    xor a
    ld [FRAME], a
    call SoundInit
    ld hl, Tune
    call PlayTune
    xor a
    ldh [IF], a
    inc a
    ldh [IE], a
    ei
.loop:
    halt
    nop
    jr .loop
VBlank:
    call SoundFrame
    ld hl, FRAME
    inc [hl]
    ld a, [hl]
    cp 10
    ld a, 1
    call z, PlayEffect
    ld a, [FRAME]
    cp 11
    ld a, 0
    call z, PlayEffect
    reti
    include "game/sound.inc"
Tune: tune 3, Lead, Low, Beat
Lead:
    db LENGTH + 2, VOICE + 1, C4, VOICE + 2, E4, TIE, REST
    db JUMP
    dw Lead
Low:  db LENGTH + 1, VOICE + 1, C3, REST, END
Beat: db LENGTH + 4, KICK, HAT, END
Effects: dw Weak, Strong
Weak:
    db PULSE, 0, 5, 0, $80, $F1, 0, $87, 0
Strong:
    db NOISE, 1, 4, $B1, $22, 6, $91, $33, 0
"#;

/// Returns NR22, NR32 (if the channel is on), NR42 and NR43 after each frame, and whether channel 1
/// plays.
fn registers(frames: usize) -> Vec<[u8; 5]> {
    let assembler = Assembler::new("player.asm", PLAYER)
        .with_include("game/memory.inc", MEMORY)
        .with_include("game/sound.inc", SOUND);
    let rom = assembler.rom().unwrap_or_else(|errors| panic!("{errors}"));
    let mut console = Console::of(&rom.bytes);
    while console.peek(0xC040) == 0 {
        console.run(1);
    }
    let mut rows = Vec::new();
    for _ in 0..frames {
        let bass = if console.peek(0xFF1A) & 0x80 == 0 { 0 } else { console.peek(0xFF1C) & 0x60 };
        let registers = [0xFF17, 0xFF21, 0xFF22, 0xFF12].map(|address| console.peek(address));
        rows.push([registers[0], bass, registers[1], registers[2], registers[3]]);
        console.run(1);
    }
    rows
}

fn column(rows: &[[u8; 5]], which: usize) -> Vec<u8> {
    rows.iter().map(|row| row[which]).collect()
}

fn repeated(parts: &[(u8, usize)]) -> Vec<u8> {
    parts.iter().flat_map(|(value, count)| vec![*value; *count]).collect()
}

#[test]
fn notes_last_their_units_and_a_jump_begins_again() {
    let rows = registers(30);
    // A unit is three frames, and each note lasts two units: C4, E4 held on, silence, C4 again.
    assert_eq!(column(&rows, 0), repeated(&[(0x84, 6), (0xA7, 12), (0x08, 6), (0x84, 6)]));
}

#[test]
fn a_rest_silences_the_bass() {
    assert_eq!(column(&registers(9), 1), repeated(&[(0x40, 3), (0, 6)]));
}

#[test]
fn an_effect_of_noise_goes_before_drums_and_before_effects_of_lower_priority() {
    let rows = registers(22);
    // The hat is due in frame 12, the weak effect on channel 1 in frame 11: neither plays.
    let polynomials = repeated(&[(0x55, 9), (0x22, 4), (0x33, 9)]);
    assert_eq!(column(&rows, 3), polynomials);
    let volumes = repeated(&[(0xA1, 9), (0xB1, 4), (0x91, 6), (0x08, 3)]);
    assert_eq!(column(&rows, 2), volumes);
    assert_eq!(column(&rows, 4), column(&rows[..1], 4).repeat(22));
}
