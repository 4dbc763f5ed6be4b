//! Consoles of other revisions than the usual: with code made for the ROM and without, through
//! saved states and checkpoints; and a Super Game Boy's picture.

use gbxcule_assembler::Assembler;
use gbxcule_runtime::Device;
use gbxcule_swarm::{
    Frame, Grays, Model, Picture, Recompile, Revision, Rom, Schedule, Swarm, SwarmConfig, View,
};

/// Sends PAL01 and ATTR_DIV over P1 again and again: the lower half has palette 1.
const PROGRAM: &str = "
    ld sp, $fffe
    ld a, $e4
    ldh [$47], a
Again:
    ld hl, Commands
    ld c, 2
Packet:
    xor a
    call Pulse
    ld b, 16
Byte:
    ld a, [hl]
    inc hl
    ld d, a
    ld e, 8
Bit:
    ld a, $20
    srl d
    jr nc, Zero
    ld a, $10
Zero:
    call Pulse
    dec e
    jr nz, Bit
    dec b
    jr nz, Byte
    ld a, $20
    call Pulse
    dec c
    jr nz, Packet
    jr Again
Pulse:
    ldh [$00], a
    ld a, $30
    ldh [$00], a
    ret
Commands:
    db $01, $34, $12, $01, $00, $02, $00, $03, $00, $04, $00, $05, $00, $06, $00, $00
    db $31, $41, $08, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00
";

/// Frames in which both commands have come.
const FRAMES: u32 = 3;

fn program() -> Vec<u8> {
    let code = Assembler::new("super.asm", PROGRAM).code_at(0x150).expect("a program");
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x104].copy_from_slice(&[0x00, 0xc3, 0x50, 0x01]);
    (rom[0x146], rom[0x14b], rom[0x143]) = (0x03, 0x33, 0x80);
    rom[0x104..0x134].fill(0xff);
    rom[0x150..][..code.len()].copy_from_slice(&code);
    rom
}

fn swarm(console: &str, recompile: Recompile) -> Swarm {
    let rom = Rom::for_console(&program(), console).expect("a console's name");
    let schedule = Schedule::new(1, 1).expect("a schedule");
    let config = SwarmConfig { schedule, recompile, draw_last: true, ..SwarmConfig::new(1) };
    Swarm::new(rom, config, Device::Cpu).expect("a swarm")
}

#[test]
fn every_console_runs_goes_on_from_a_checkpoint_and_keeps_to_its_own_states() {
    let consoles: Vec<&str> = Revision::names().collect();
    assert_eq!(consoles.len(), 8);
    let mut states = Vec::new();
    for console in &consoles {
        let mut interpreted = swarm(console, Recompile::Off);
        (0..FRAMES).for_each(|_| interpreted.step(&[1]).expect("a good action"));
        let state = interpreted.save_state(0).expect("an env");
        let checkpoint = interpreted.checkpoint(b"").expect("a swarm");
        let restored = Swarm::from_checkpoint(&checkpoint, None, None);
        let (restored, _) = restored.expect("its own checkpoint");
        let name = restored.rom().revision().name(restored.rom().model());
        assert_eq!(name, console.strip_suffix("-b").unwrap_or(console));
        assert!(state == restored.save_state(0).expect("an env"), "{console}");
        states.push(state);
    }
    // Revisions that differ at power-on alone take each other's states.
    let kind = |console: &str| match console {
        "dmg" | "dmg-b" | "mgb" => "dmg".to_owned(),
        "sgb" | "sgb2" => "sgb".to_owned(),
        other => other.to_owned(),
    };
    for to in &consoles {
        let mut swarm = swarm(to, Recompile::Off);
        for (from, state) in consoles.iter().zip(&states) {
            let loads = swarm.load_state(0, state).is_ok();
            assert_eq!(loads, kind(from) == kind(to), "{from} to {to}");
        }
    }
}

#[test]
fn code_made_for_the_rom_sends_the_same_commands() {
    let [interpreted, made] = [Recompile::Off, Recompile::Always].map(|how| {
        let mut swarm = swarm("sgb", how);
        (0..FRAMES).for_each(|_| swarm.step(&[1]).expect("a good action"));
        swarm.save_state(0).expect("an env")
    });
    assert!(interpreted == made);
}

#[test]
fn a_super_game_boys_picture_has_the_programs_colors() {
    let mut swarm = swarm("sgb", Recompile::default());
    (0..FRAMES).for_each(|_| swarm.step(&[0]).expect("a good action"));
    assert_eq!((swarm.rom().model(), swarm.rom().frame_model()), (Model::Original, Model::Color));
    let mut seen = Vec::new();
    swarm
        .frames(&[0], |frame| {
            assert!(matches!(frame, Frame::Colors(_)));
            frame.colors(Grays::Even, |color| seen.push(color));
        })
        .expect("an env");
    // The logo is of shade 1, where palettes 0 and 1 have 1 and 4.
    let colors: std::collections::BTreeSet<u16> = seen.iter().copied().collect();
    assert_eq!(colors, [1, 4, 0x1234].into());
    assert!(seen[..160 * 72].contains(&1) && seen[160 * 72..].contains(&4));
    let mut rgb = vec![0; Picture::Rgb.bytes()];
    swarm.fill_view(&View::Picture(Picture::Rgb, Grays::Even), None, &mut rgb).expect("a view");
    assert_eq!(rgb[..3], gbxcule_swarm::rgb(0x1234));
    let mut gray = vec![0; Picture::Gray.bytes()];
    swarm.fill_view(&View::Picture(Picture::Gray, Grays::Even), None, &mut gray).expect("a view");
    assert_eq!(gray[0], 255);
}
