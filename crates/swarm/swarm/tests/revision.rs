//! Other revisions than the default: with code made for the ROM and without, through saved states
//! and checkpoints; and a Super Game Boy's picture.

use gbxcule_assembler::Assembler;
use gbxcule_runtime::Device;
use gbxcule_swarm::{
    BORDERED_HEIGHT, BORDERED_WIDTH, Frame, Grays, Model, Picture, Recompile, Revision, Rom,
    Schedule, Swarm, SwarmConfig, SwarmError, View,
};
use gbxcule_testkit::super_game_boy::{self, POLL, SEND};

/// Sends PAL01 and ATTR_DIV over P1 again and again: the lower half has palette 1.
const PROGRAM: &str = "
    ld sp, $fffe
    ld a, $e4
    ldh [$47], a
Again:
    ld hl, Commands
    ld c, 2
Packet:
    call Send
    dec c
    jr nz, Packet
    jr Again
Commands:
    db $01, $34, $12, $01, $00, $02, $00, $03, $00, $04, $00, $05, $00, $06, $00, $00
    db $31, $41, $08, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00
";

/// Frames after which both commands have arrived.
const FRAMES: u32 = 3;

fn program(text: &str) -> Vec<u8> {
    let text = format!("{text}{SEND}");
    let code = Assembler::new("super.asm", &text).code_at(0x150).expect("a program");
    let mut rom = super_game_boy::rom(&code);
    rom[0x143] = 0x80;
    rom[0x104..0x134].fill(0xff);
    rom
}

fn swarm(console: &str, recompile: Recompile) -> Swarm {
    swarm_of(PROGRAM, console, recompile)
}

fn swarm_of(text: &str, console: &str, recompile: Recompile) -> Swarm {
    let rom = Rom::for_console(&program(text), console).expect("a console's name");
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
    // Revisions that differ only at power-on load each other's states.
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

/// Colours around the machine's picture, and those of the picture itself.
fn bordered(swarm: &Swarm) -> (Vec<u16>, Vec<u16>) {
    let picture = swarm.bordered_picture(0).expect("a Super Game Boy");
    assert_eq!(picture.len(), BORDERED_WIDTH * BORDERED_HEIGHT);
    let (mut outer, mut inner) = (Vec::new(), Vec::new());
    for (at, color) in picture.into_iter().enumerate() {
        let (x, y) = (at % BORDERED_WIDTH, at / BORDERED_WIDTH);
        let is_inner = (48..208).contains(&x) && (40..184).contains(&y);
        (if is_inner { &mut inner } else { &mut outer }).push(color);
    }
    (outer, inner)
}

/// Fills video RAM with ones while the LCD is off.
const FILL: &str = "
Wait:
    ldh a, [$44]
    cp 144
    jr nz, Wait
    xor a
    ldh [$40], a
    ld hl, $8000
Fill:
    ld a, $ff
    ld [hl+], a
    ld a, h
    cp $a0
    jr nz, Fill
    ld a, $91
    ldh [$40], a
Again:
";

#[test]
fn a_border_surrounds_the_picture_and_may_cover_it() {
    let mut plain = swarm("sgb", Recompile::default());
    (0..FRAMES).for_each(|_| plain.step(&[0]).expect("a good action"));
    let mut frame = Vec::new();
    let see = |shown: Frame<'_>| shown.colors(Grays::Even, |color| frame.push(color));
    plain.frames(&[0], see).expect("an env");
    let (outer, inner) = bordered(&plain);
    assert!(inner == frame, "no border was sent");
    assert!(outer.iter().all(|color| *color == 0x1234), "colour 0 of palette 0");
    // CHR_TRN and PCT_TRN of ones: no pixel of the tile is transparent, and each colour is white.
    let text = PROGRAM.replacen("Again:", FILL, 1);
    let text = text.replace("db $01, $34", "db $99, $01").replace("db $31, $41", "db $a1, $00");
    let mut covered = swarm_of(&text, "sgb2", Recompile::default());
    (0..4 * FRAMES).for_each(|_| covered.step(&[0]).expect("a good action"));
    let (outer, inner) = bordered(&covered);
    assert!(outer.iter().chain(&inner).all(|color| *color == 0x7fff));
}

#[test]
fn controllers_of_an_env_have_buttons_of_their_own() {
    // MLT_REQ asks for four controllers, once.
    let text = PROGRAM.replace("db $01, $34", "db $89, $03").replace("ld c, 2", "ld c, 1");
    let text = text.replace("    jr Again\n", POLL);
    let mut swarm = swarm_of(&text, "sgb", Recompile::default());
    let shown = |swarm: &mut Swarm| {
        (0..FRAMES).for_each(|_| swarm.step(&[0]).expect("a good action"));
        swarm.read_memory(0, 0xc000..0xc004).expect("work RAM")
    };
    let hold = |swarm: &mut Swarm, controller, buttons| {
        swarm.set_controllers(&[true], controller, &[buttons]).expect("a controller");
    };
    assert_eq!(shown(&mut swarm), [0x0f; 4]);
    hold(&mut swarm, 1, 0x02);
    hold(&mut swarm, 3, 0x09);
    assert_eq!(shown(&mut swarm), [0x0f, 0x0d, 0x0f, 0x06]);
    let state = swarm.save_state(0).expect("an env");
    hold(&mut swarm, 3, 0);
    assert_eq!(shown(&mut swarm), [0x0f, 0x0d, 0x0f, 0x0f]);
    swarm.load_state(0, &state).expect("its own state");
    assert_eq!(shown(&mut swarm), [0x0f, 0x0d, 0x0f, 0x06]);
    assert!(swarm.set_controllers(&[true], 0, &[0]).is_err(), "the actions' controller");
    assert!(swarm.set_controllers(&[true], 4, &[0]).is_err(), "there are four");
    assert!(swarm.set_controllers(&[true], 1, &[]).is_err(), "no byte for the env");
    assert!(swarm.set_controllers(&[true; 2], 1, &[0; 2]).is_err(), "there is one env");
    let mut other = swarm_of(PROGRAM, "dmg", Recompile::Off);
    let refused = other.set_controllers(&[true], 1, &[0]);
    assert!(matches!(refused, Err(SwarmError::NoSuperGameBoy)));
    assert!(matches!(other.bordered_picture(0), Err(SwarmError::NoSuperGameBoy)));
}
