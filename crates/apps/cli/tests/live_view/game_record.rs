//! `gbxcule play --record` and `watch --record`: what a person plays is a file that `gbxcule judge`
//! replays to the same memory.

use std::fs;
use std::path::Path;
use std::process::Command;

use gbxcule_lab::artifact::sha256;
use gbxcule_lab::game_log::{GameLog, replay};
use gbxcule_swarm::{FRAME_BYTES, NativeSwarm, Rom, SwarmConfig};
use serde_json::json;

use crate::client::Client;
use crate::serving::{Serving, wait_until};

fn play(rom: &str, record: &Path) -> Serving {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    command.args(["play", "--rom", rom, "--record"]).arg(record);
    Serving::run(&mut command)
}

fn level(level: &str, record: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    command.args(["play", "--rom", "EMBER_LEAP", "--variant", "moon", "--difficulty", "easy"]);
    command.args(["--level", level, "--record"]).arg(record);
    command
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
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("has games of PEARL_DRIFT, not of this EMBER_LEAP"), "{message}");
    assert_eq!(fs::read(&record).expect("a file"), before);
}

#[test]
fn a_level_of_a_variant_is_recorded_and_a_reset_begins_the_next_level() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("games.jsonl");
    let serving = Serving::run(level("200", &record).arg("--paused"));
    let mut client = Client::connect(&serving);
    client.send(&json!({ "type": "hold", "env": 0, "buttons": 0x11 }));
    (0..300).for_each(|_| client.send(&json!({ "type": "step" })));
    client.send(&json!({ "type": "reset" }));
    (0..100).for_each(|_| client.send(&json!({ "type": "step" })));
    client.send(&json!({ "type": "save", "env": 0 }));
    let view = client.look(0, 1, 1, None);
    drop((client, serving));

    let log = GameLog::read(&record).expect("a file of games");
    assert_eq!(log.header.variant.as_deref(), Some("moon"));
    assert_eq!(log.header.difficulty.as_deref(), Some("easy"));
    let games = log.games.iter().map(|game| (game.level, game.buttons.steps()));
    assert_eq!(games.collect::<Vec<_>>(), [(Some(200), 300), (Some(201), 100)]);
    let outcomes = replay(&log.header, &log.games, &mut |_| ()).expect("games");
    let rom = gbxcule_assembler::by_name("EMBER_LEAP").expect("the game").bytes();
    let rom = Rom::new(rom).expect("a good header");
    let mut swarm = NativeSwarm::new(rom, SwarmConfig::new(1)).expect("a swarm");
    swarm.load_state(0, &view.pictures[FRAME_BYTES..]).expect("a state");
    let memory = swarm.read_memory(0, 0xC000..0xE000).expect("memory");
    assert_eq!(outcomes[1].memory_sha256, sha256(&memory));

    let mut again = level("201", &record);
    let refused = again.args(["--port", "0"]).output().expect("the command");
    let message = String::from_utf8_lossy(&refused.stderr);
    assert!(message.contains("give `--level 202`"), "{message}");
}

#[test]
fn watch_records_the_games_of_machines_that_somebody_drove() {
    let folder = tempfile::tempdir().expect("a folder");
    let record = folder.path().join("games.jsonl");
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    command.args(["watch", "--rom", "EMBER_LEAP", "--num-envs", "3", "--paused"]);
    command.args(["--variant", "moon", "--level", "200", "--record"]).arg(&record);
    let serving = Serving::run(&mut command);
    let mut client = Client::connect(&serving);
    let step = |client: &mut Client, steps| {
        (0..steps).for_each(|_| client.send(&json!({ "type": "step" })));
    };
    // Machine 1 is driven between actions; after the reset machine 2 is, until its memory changes.
    step(&mut client, 40);
    client.send(&json!({ "type": "hold", "env": 1, "buttons": 0x11 }));
    step(&mut client, 100);
    client.send(&json!({ "type": "let_go" }));
    step(&mut client, 40);
    client.send(&json!({ "type": "save", "env": 1 }));
    let first = client.look(0, 1, 1, None);
    client.send(&json!({ "type": "reset" }));
    client.send(&json!({ "type": "hold", "env": 2, "buttons": 0x01 }));
    step(&mut client, 20);
    client.send(&json!({ "type": "save", "env": 2 }));
    let second = client.look(0, 1, 1, None);
    client.send(&json!({ "type": "poke", "env": 2, "place": 0xC100, "byte": 1 }));
    step(&mut client, 5);
    client.look(0, 1, 1, None);
    drop((client, serving));

    let log = GameLog::read(&record).expect("a file of games");
    let games = log.games.iter().map(|game| (game.level, game.buttons.steps()));
    // A level begins with a step of four frames without buttons, of which a replay runs one.
    let of_steps = |steps: usize| 3 + 4 * steps;
    assert_eq!(games.collect::<Vec<_>>(), [(Some(201), of_steps(180)), (Some(205), of_steps(20))]);
    let outcomes = replay(&log.header, &log.games, &mut |_| ()).expect("games");
    let rom = gbxcule_assembler::by_name("EMBER_LEAP").expect("the game").bytes();
    let rom = Rom::new(rom).expect("a good header");
    let mut swarm = NativeSwarm::new(rom, SwarmConfig::new(1)).expect("a swarm");
    for (view, outcome) in [first, second].iter().zip(&outcomes) {
        swarm.load_state(0, &view.pictures[FRAME_BYTES..]).expect("a state");
        let memory = swarm.read_memory(0, 0xC000..0xE000).expect("memory");
        assert_eq!(outcome.memory_sha256, sha256(&memory));
    }
}
