//! `gbxcule play --battery`: the cartridge's memory outlives the program and a reset.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::json;

use crate::client::Client;
use crate::serving::{Serving, wait_until};

/// Program that counts at A000 and A001 some 140 times a second, and leaves the rest of its RAM
/// alone.
const COUNTER: &str = "\
    cartridge mbc1_ram_battery
    ramsize 8
Start:
    ld a, $0A
    ld [$0000], a
Count:
    ld hl, $A000
    inc [hl]
    jr nz, Wait
    inc hl
    inc [hl]
Wait:
    ld bc, $0400
Delay:
    dec bc
    ld a, b
    or c
    jr nz, Delay
    jr Count
";

fn play(rom: &Path, battery: &Path) -> Serving {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    command.args(["play", "--rom"]).arg(rom).arg("--battery").arg(battery);
    Serving::run(&mut command)
}

/// Returns the counter in a file.
fn count(battery: &Path) -> u16 {
    fs::read(battery).map_or(0xFFFF, |file| u16::from_le_bytes([file[0], file[1]]))
}

#[test]
fn a_battery_file_is_written_while_it_is_played_and_outlives_a_reset_and_the_program() {
    let folder = tempfile::tempdir().expect("a folder");
    let (rom, battery) = (folder.path().join("counter.gb"), folder.path().join("counter.sav"));
    fs::write(&rom, gbxcule_assembler::assemble(COUNTER).expect("it assembles").bytes)
        .expect("a ROM");

    let serving = play(&rom, &battery);
    wait_until("a new file", || battery.exists());
    drop(serving);

    let mut file = vec![0; 0x2000];
    file[1] = 0x40;
    file[0x1000] = 0x5A;
    fs::write(&battery, &file).expect("a file");
    let serving = play(&rom, &battery);
    wait_until("it counts on", || count(&battery) > 0x4000);
    let before = count(&battery);
    Client::connect(&serving).send(&json!({ "type": "reset" }));
    wait_until("it counts on after a reset", || count(&battery) > before);
    let kept = fs::read(&battery).expect("a file");
    assert_eq!(kept.len(), 0x2000);
    assert!((0x40..0x60).contains(&kept[1]), "a reset emptied the cartridge: {}", kept[1]);
    assert_eq!(kept[0x1000], 0x5A, "a byte that the program never touches");
}

#[test]
fn a_battery_file_is_written_where_the_machine_stands_still() {
    let folder = tempfile::tempdir().expect("a folder");
    let (rom, battery) = (folder.path().join("counter.gb"), folder.path().join("counter.sav"));
    fs::write(&rom, gbxcule_assembler::assemble(COUNTER).expect("it assembles").bytes)
        .expect("a ROM");
    let serving = play(&rom, &battery);
    let mut client = Client::connect(&serving);
    client.send(&json!({ "type": "pause" }));
    let mut steps = |count: usize| {
        (0..count).for_each(|_| client.send(&json!({ "type": "step" })));
    };
    steps(60);
    wait_until("a file", || battery.exists());
    let before = count(&battery);
    steps(60);
    wait_until("the steps since", || count(&battery) > before);
}

#[test]
fn a_battery_file_that_does_not_fit_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let (rom, battery) = (folder.path().join("counter.gb"), folder.path().join("counter.sav"));
    fs::write(&rom, gbxcule_assembler::assemble(COUNTER).expect("it assembles").bytes)
        .expect("a ROM");
    fs::write(&battery, b"short").expect("a file");
    let refuse = |rom: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
        command.args(["play", "--port", "0", "--rom"]).arg(rom).arg("--battery").arg(&battery);
        let output = command.output().expect("the binary runs");
        assert_eq!(output.status.code(), Some(2));
        String::from_utf8(output.stderr).expect("text")
    };
    let message = refuse(&rom);
    assert!(message.contains("counter.sav") && message.contains("8192"), "{message}");
    assert_eq!(fs::read(&battery).expect("a file"), b"short");
    let message = refuse(Path::new("PEARL_DRIFT"));
    assert!(message.contains("has no RAM with a battery"), "{message}");
}
