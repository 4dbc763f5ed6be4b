//! A Super Game Boy's second player, on a page of its own.

use gbxcule_assembler::Assembler;
use serde_json::json;

use crate::client::Client;
use crate::serving::{Serving, wait_until};

/// Asks for two controllers, then writes what P1 shows of their directions to C000 and C001.
const PROGRAM: &str = "
    ld sp, $fffe
    ld hl, Command
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
Poll:
    ldh a, [$00]
    and 1
    xor 1
    ld l, a
    ld h, $c0
    ld a, $20
    ldh [$00], a
    ldh a, [$00]
    and $0f
    ld [hl], a
    ld a, $10
    call Pulse
    jr Poll
Pulse:
    ldh [$00], a
    ld a, $30
    ldh [$00], a
    ret
Command:
    db $89, $01, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00
";

/// A program whose header unlocks a Super Game Boy.
fn program() -> Vec<u8> {
    let code = Assembler::new("players.asm", PROGRAM).code_at(0x150).expect("a program");
    let mut rom = vec![0; 0x8000];
    rom[0x100..0x104].copy_from_slice(&[0x00, 0xc3, 0x50, 0x01]);
    (rom[0x146], rom[0x14b]) = (0x03, 0x33);
    rom[0x150..][..code.len()].copy_from_slice(&code);
    rom
}

#[test]
fn two_play_on_a_super_game_boy_until_the_second_player_leaves() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("players.gb").display().to_string();
    std::fs::write(&path, program()).expect("a file");
    let serving = Serving::start(&["play", "--paused", "--rom", &path, "--model", "sgb"]);
    let [mut one, mut other] = [0, 1].map(|_| Client::connect(&serving));
    let shown = |client: &mut Client| {
        (0..3).for_each(|_| client.send(&json!({ "type": "step" })));
        let memory = client.look(0, 0, 1, Some(0)).head["chosen"]["memory"].clone();
        [0, 1].map(|at| memory[at].as_u64().expect("a byte"))
    };
    one.send(&json!({ "type": "hold", "env": 0, "buttons": 1 }));
    other.send(&json!({ "type": "hold", "env": 0, "controller": 1, "buttons": 2 }));
    assert_eq!(other.look(0, 0, 1, Some(0)).head["chosen"]["held"], true);
    assert_eq!(shown(&mut one), [0x0e, 0x0d]);
    drop(other);
    wait_until("the second player's buttons are up", || shown(&mut one) == [0x0e, 0x0f]);
}
