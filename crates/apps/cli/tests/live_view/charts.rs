//! Compares statistics of episodes and the map with a swarm that gets the same actions.

use std::collections::HashMap;

use gbxcule_swarm::{ProgramText, Programs};
use serde_json::json;

use crate::client::Client;
use crate::serving::{Serving, TASK, fresh_swarm, step_randomly};

#[test]
fn the_map_and_the_episodes_are_those_of_all_machines() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("task.py").display().to_string();
    std::fs::write(&file, TASK).expect("a file");
    let arguments = [
        "watch",
        "--num-envs",
        "6",
        "--paused",
        "--heatmap",
        "C006,C007",
        "--reward",
        &file,
        "--obs",
    ];
    let serving = Serving::start(&[&arguments[..], &[&file]].concat());
    let mut client = Client::connect(&serving);
    assert_eq!(client.hello["map"], true);
    let text = ProgramText::new("task.py", TASK);
    let programs = Programs::new(text.clone(), text).expect("programs");
    let mut swarm = fresh_swarm(6, 24, programs);
    let mut visits: HashMap<[u8; 2], u64> = HashMap::new();
    let (mut was_done, mut episodes) = ([false; 6], 0);
    for step in 0..20 {
        client.send(&json!({ "type": "step" }));
        step_randomly(&mut swarm, step);
        for (env, was_done) in was_done.iter_mut().enumerate() {
            let place = swarm.read_memory(env, 0xC006..0xC008).expect("an env");
            *visits.entry([place[0], place[1]]).or_default() += 1;
            let is_done = swarm.dones()[env];
            episodes += u64::from(is_done && !*was_done);
            *was_done = is_done;
        }
    }
    let look =
        json!({ "type": "look", "first": 0, "count": 0, "shrink": 8, "chosen": 2, "map": true });
    client.send(&look);
    let view = client.view();
    assert_eq!(view.head["step"], 20);
    assert_eq!(view.head["episodes"]["count"], episodes);
    let map = &view.head["map"];
    let size = |name: &str| map[name].as_u64().expect("a number") as usize;
    let most = visits.values().max().expect("visits");
    assert_eq!((map["cell"].as_u64(), map["most"].as_u64()), (Some(1), Some(*most)));
    assert_eq!(map["place"], json!(swarm.read_memory(2, 0xC006..0xC008).expect("an env")));
    // The chosen machine's picture comes first.
    let heat = &view.pictures[gbxcule_swarm::FRAME_BYTES..];
    assert_eq!(heat.len(), size("columns") * size("rows"));
    for (at, heat) in heat.iter().enumerate() {
        let (x, y) = (at % size("columns") + size("left"), at / size("columns") + size("top"));
        let place = [x as u8, y as u8];
        let visits = visits.get(&place).copied().unwrap_or(0);
        assert_eq!((*heat == 0, *heat == 255), (visits == 0, visits == *most), "{place:?}");
    }
}

#[test]
fn places_that_are_none_are_refused_before_anything_is_served() {
    let run = |place: &str| {
        let command = std::process::Command::new(env!("CARGO_BIN_EXE_gbxcule"))
            .args(["watch", "--heatmap", place])
            .output()
            .expect("the binary runs");
        assert_eq!(command.status.code(), Some(2), "{place}");
        String::from_utf8(command.stderr).expect("text")
    };
    assert!(run("C006").contains("write D361,D362"));
    assert!(run("C006,C007:C00B").contains("1 or 2 bytes"));
}
