//! A Super Game Boy's second player, on a page of its own.

use gbxcule_assembler::Assembler;
use gbxcule_testkit::super_game_boy::{self, POLL, SEND};
use serde_json::json;

use crate::client::Client;
use crate::serving::{Serving, wait_until};

/// Returns a program that asks for two controllers, then writes what P1 shows of their directions
/// to C000 and C001.
fn program() -> Vec<u8> {
    let text = format!(
        "ld sp, $fffe\nld hl, Command\ncall Send\n{POLL}{SEND}
         Command: db $89, $01, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00, $00"
    );
    let code = Assembler::new("players.asm", &text).code_at(0x150);
    super_game_boy::rom(&code.expect("a program"))
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
