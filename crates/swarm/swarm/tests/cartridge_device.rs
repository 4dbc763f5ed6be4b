//! Devices in cartridges, as a swarm's user sees them: tilt is set, rumble is read, batteries are
//! saved.

use gbxcule_assembler::Assembler;
use gbxcule_runtime::Device;
use gbxcule_swarm::{Rom, Schedule, Swarm, SwarmConfig, SwarmError};

const ENVS: usize = 3;

fn swarm(type_code: u8, ram_code: u8, program: &str) -> Swarm {
    let code = Assembler::new("program.asm", program).code_at(0x150).expect("a program");
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x104].copy_from_slice(&[0x00, 0xc3, 0x50, 0x01]);
    (rom[0x147], rom[0x149]) = (type_code, ram_code);
    rom[0x150..][..code.len()].copy_from_slice(&code);
    let schedule = Schedule::new(1, 1).expect("a schedule");
    let config = SwarmConfig { schedule, ..SwarmConfig::new(ENVS) };
    Swarm::new(Rom::new(&rom).expect("a header"), config, Device::Cpu).expect("a swarm")
}

fn step(swarm: &mut Swarm) {
    swarm.step(&[0; ENVS]).expect("good actions");
}

/// Latches the sensor again and again, and copies its two numbers to C000 to C003.
const FEEL: &str = "
    ld a, $0a
    ld [$0000], a
    ld a, $40
    ld [$4000], a
Again:
    ld a, $55
    ld [$a000], a
    ld a, $aa
    ld [$a010], a
    ld a, [$a020]
    ld [$c000], a
    ld a, [$a030]
    ld [$c001], a
    ld a, [$a040]
    ld [$c002], a
    ld a, [$a050]
    ld [$c003], a
    jr Again
";

#[test]
fn a_program_feels_the_tilt_of_its_env() {
    let mut swarm = swarm(0x22, 0, FEEL);
    let felt = |swarm: &Swarm, env| {
        let bytes = swarm.read_memory(env, 0xc000..0xc004).expect("work RAM");
        [0, 2].map(|at| u16::from_le_bytes([bytes[at], bytes[at + 1]]))
    };
    step(&mut swarm);
    assert_eq!(felt(&swarm, 0), [0x81d0; 2]);
    swarm.set_tilts(&[true, false, true], &[[1.0, 0.0], [-0.5, -2.0]]).expect("tilts");
    for _ in 0..2 {
        step(&mut swarm);
        let expected = [[0x81d0 - 0x70, 0x81d0], [0x81d0; 2], [0x81d0 + 0x38, 0x81d0 + 0xe0]];
        assert_eq!([0, 1, 2].map(|env| felt(&swarm, env)), expected);
    }
    // A tilt is part of the state, but not of the battery's file.
    let state = swarm.save_state(0).expect("an env");
    swarm.load_state(1, &state).expect("its own state");
    step(&mut swarm);
    assert_eq!(felt(&swarm, 1), felt(&swarm, 0));
    assert_eq!(swarm.save_battery(0).expect("an EEPROM"), [0xff; 256]);
    let refused = swarm.set_tilts(&[true; 3], &[[0.0, 2.5]; 3]).expect_err("too far");
    assert!(matches!(refused, SwarmError::TiltRange { found } if found == 2.5), "{refused}");
    assert!(swarm.set_tilts(&[true; 3], &[[0.0; 2]; 2]).is_err(), "a row is missing");
}

#[test]
fn a_cartridge_without_a_sensor_has_no_tilt() {
    let refused = swarm(0x1e, 2, "Again: jr Again").set_tilts(&[true; 3], &[[0.0; 2]; 3]);
    assert!(matches!(refused, Err(SwarmError::NoTilt)));
}

/// Lets the motor run in every second frame.
const SHAKE: &str = "
    ld b, 0
Again:
    ldh a, [$44]
    cp 144
    jr nz, Again
    ld a, b
    xor 8
    ld b, a
    ld [$4000], a
Wait:
    ldh a, [$44]
    cp 144
    jr z, Wait
    jr Again
";

#[test]
fn rumble_is_seen_after_each_step() {
    let mut swarm = swarm(0x1e, 2, SHAKE);
    let mut seen = Vec::new();
    for _ in 0..4 {
        step(&mut swarm);
        let rumbles = swarm.rumbles().expect("a swarm");
        assert!(rumbles.iter().all(|it| *it == rumbles[0]));
        seen.push(rumbles[0]);
    }
    assert!(seen == [true, false, true, false] || seen == [false, true, false, true], "{seen:?}");
}

#[test]
fn states_of_pyboy_have_none_of_these_cartridges_and_bess_has_all() {
    for (type_code, name) in [(0xff, "HuC1"), (0xfe, "HuC3"), (0x22, "MBC7")] {
        let mut swarm = swarm(type_code, 3, "Again: inc [hl]\n jr Again");
        step(&mut swarm);
        let refused = swarm.export_pyboy(0).expect_err("PyBoy has none").to_string();
        assert!(refused.contains(&format!("no cartridge with {name}")), "{refused}");
        let bess = swarm.export_bess(0).expect("an env");
        swarm.import_state(1, &bess).expect("a BESS state");
        let battery = swarm.save_battery(0).expect("a battery");
        swarm.load_battery(2, &battery).expect("its own file");
        assert_eq!(swarm.save_battery(2).expect("a battery"), battery);
    }
}
