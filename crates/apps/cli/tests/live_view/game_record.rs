//! `gbxcule play --record`: what a person plays is a file that `gbxcule judge` replays to the same
//! memory.

use std::fs;
use std::path::Path;
use std::process::Command;

use gbxcule_lab::game_log::{GameLog, replay};
use serde_json::json;

use crate::client::Client;
use crate::serving::{Serving, wait_until};

fn play(rom: &str, record: &Path) -> Serving {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    command.args(["play", "--rom", rom, "--record"]).arg(record);
    Serving::run(&mut command)
}

#[test]
fn games_are_recorded_from_power_on_and_a_reset_begins_the_next() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("games.jsonl");
    let serving = play("PEARL_DRIFT", &record);
    let mut client = Client::connect(&serving);
    client.send(&json!({ "type": "hold", "env": 0, "buttons": 0x04 }));
    client.send(&json!({ "type": "speed", "times": 0.0 }));
    let games = || GameLog::read(&record).map_or(0, |log| log.games.len());
    wait_until("a game", || games() == 1);
    client.send(&json!({ "type": "reset" }));
    wait_until("a second game", || games() == 2);
    drop((client, serving));

    let log = GameLog::read(&record).expect("a file of games");
    let outcomes = replay(&log.header, &log.games, &mut |_| ()).expect("games");
    for (game, outcome) in log.games.iter().zip(&outcomes) {
        game.check(&log.header, outcome).expect("the game is what was played");
        assert!(game.buttons.iter().any(|buttons| buttons == 0x04));
    }
    // The next play appends to the file; a file of another game is refused.
    drop(play("PEARL_DRIFT", &record));
    let before = fs::read(&record).expect("a file");
    let mut other = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    other.args(["play", "--port", "0", "--rom", "EMBER_LEAP", "--record"]).arg(&record);
    let refused = other.output().expect("the command");
    let said = String::from_utf8_lossy(&refused.stderr);
    assert!(said.contains("has games of PEARL_DRIFT, not of this EMBER_LEAP"), "{said}");
    assert_eq!(fs::read(&record).expect("a file"), before);
}
