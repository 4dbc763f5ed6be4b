//! The view over a plain WebSocket client.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;

use gbxcule_swarm::{
    FRAME_BYTES, LinkMode, NativeSwarm, ProgramText, Programs, Rom, Schedule, SwarmConfig, button,
};
use serde_json::{Value, json};
use tungstenite::Message;

use crate::client::{Client, View};
use crate::serving::{
    Serving, TASK, expected_colors, expected_swarm, fresh_swarm, game_file, step_randomly,
    wait_until,
};

#[test]
fn stepped_views_show_what_a_swarm_with_the_same_actions_shows() {
    let serving =
        Serving::start(&["watch", "--num-envs", "7", "--paused", "--frames-per-step", "6"]);
    let mut client = Client::connect(&serving);
    assert_eq!(client.hello["type"], "hello");
    assert_eq!(client.hello["rom"], "PEARL_DRIFT");
    assert_eq!(client.hello["num_envs"], 7);
    assert_eq!(client.look(0, 7, 1, None).head["step"], 0);
    for step in 1..=40 {
        client.send(&json!({ "type": "step" }));
        let view = client.look(2, 100, 1, Some(6));
        assert_eq!(view.head["step"], step);
        assert_eq!(view.head["count"], 5, "clipped to the machines there are");
        if step % 10 != 0 {
            continue;
        }
        let swarm = expected_swarm(7, 6, step);
        let pictures: Vec<_> = view.pictures.chunks(FRAME_BYTES).collect();
        assert_eq!(pictures.len(), 6);
        for (env, picture) in (2..7).chain([6]).zip(pictures) {
            assert!(picture == swarm.frame(env).expect("an env"), "step {step}, env {env}");
        }
        let chosen = &view.head["chosen"];
        let cpu = swarm.cpu_state(6).expect("an env");
        assert_eq!(chosen["registers"]["pc"], cpu.pc);
        assert_eq!(chosen["registers"]["f"], cpu.f);
        assert_eq!(chosen["frames"], step * 6);
        assert_eq!(chosen["reward"].as_f64().map(|reward| reward as f32), Some(swarm.rewards()[6]));
        let memory = swarm.read_memory(6, 0xC000..0xC020).expect("memory");
        assert_eq!(chosen["memory"], json!(memory));
    }
}

#[test]
fn machines_of_the_color_come_in_colour() {
    let game = game_file("AMBER_ROAD");
    let path = game.path().to_str().expect("a path");
    let arguments = ["watch", "--rom", path, "--num-envs", "3", "--paused"];
    for curve in ["raw", "corrected"] {
        let serving = Serving::start(
            &[&arguments[..], &["--frames-per-step", "30", "--curve", curve]].concat(),
        );
        let mut client = Client::connect(&serving);
        (0..10).for_each(|_| client.send(&json!({ "type": "step" })));
        let view = client.look(1, 2, 1, Some(0));
        assert_eq!((&view.head["step"], &view.head["colors"]), (&json!(10), &json!(curve)));
        let swarm = expected_colors(3, 30, 10);
        let frame = |env| swarm.frame(env).expect("an env");
        assert!(view.pictures == [frame(1), frame(2), frame(0)].concat());
        let (pixels, _) = view.pictures.as_chunks();
        let is_gray = |color: u16| color & 31 == color >> 5 & 31 && color & 31 == color >> 10 & 31;
        assert!(pixels.iter().any(|pixel| !is_gray(u16::from_le_bytes(*pixel))), "colours");
        // The view has a picture of an eighth, and the whole one after it.
        let view = client.look(0, 1, 8, Some(2));
        assert_eq!(view.pictures.len(), 20 * 18 * 2 + frame(2).len());
        assert!(view.pictures.ends_with(frame(2)));
    }
    let serving = Serving::start(&["watch", "--num-envs", "1", "--paused"]);
    let view = Client::connect(&serving).look(0, 1, 1, None);
    assert_eq!(view.head.get("colors"), None);
}

#[test]
fn the_machine_that_is_played_is_heard() {
    let serving = Serving::start(&["play", "--paused", "--frames-per-step", "3"]);
    let (mut client, mut deaf) = (Client::connect(&serving), Client::connect(&serving));
    assert_eq!(client.hello["sound"], true);
    let rom = gbxcule_assembler::by_name("PEARL_DRIFT").expect("the game");
    let rom = Rom::new(rom.bytes()).expect("a good header");
    let schedule = Schedule::new(3, 3).expect("a schedule");
    let config = SwarmConfig { sound: true, schedule, ..SwarmConfig::new(1) };
    let mut swarm = NativeSwarm::new(rom, config).expect("a swarm");
    let look =
        json!({ "type": "look", "first": 0, "count": 0, "shrink": 1, "chosen": 0, "sound": true });
    let mut expected = Vec::new();
    for step in 1..=30 {
        swarm.step(&[8]).expect("nothing is pressed");
        let samples = swarm.samples(0).expect("an env").iter().flatten();
        expected.extend(samples.flat_map(|side| side.to_le_bytes()));
        client.send(&json!({ "type": "step" }));
        // A view has all samples since the last one.
        if step % 3 == 0 {
            client.send(&look);
            let view = client.view();
            assert_eq!(view.head["sound"], expected.len() / 4, "step {step}");
            assert!(view.pictures[FRAME_BYTES..] == expected, "step {step}");
            expected.clear();
            assert_eq!(deaf.look(0, 0, 1, Some(0)).head["sound"], 0);
        }
    }
    let watch = Serving::start(&["watch", "--num-envs", "1", "--paused"]);
    assert_eq!(Client::connect(&watch).hello["sound"], false);
}

#[test]
fn two_play_with_a_cable_each_on_a_page_of_its_own() {
    let arguments = ["play", "--paused", "--rom", "LINK_PING_PONG", "--link", "pairs"];
    let serving = Serving::start(&[&arguments[..], &["--frames-per-step", "4"]].concat());
    let [mut one, mut other] = [0, 1].map(|_| Client::connect(&serving));
    assert_eq!((&one.hello["num_envs"], &one.hello["sound"]), (&json!(2), &json!(false)));
    let rom = gbxcule_assembler::by_name("LINK_PING_PONG").expect("a built-in ROM");
    let rom = Rom::new(rom.bytes()).expect("a good header");
    let schedule = Schedule::new(4, 4).expect("a schedule");
    let config = SwarmConfig { link: LinkMode::Pairs, schedule, ..SwarmConfig::new(2) };
    let mut swarm = NativeSwarm::new(rom, config).expect("a swarm");
    // The second player throws.
    for (env, player, buttons) in [(0, &mut one, 0), (1, &mut other, button::A)] {
        player.send(&json!({ "type": "hold", "env": env, "buttons": buttons }));
        assert_eq!(player.look(0, 0, 1, Some(env)).head["chosen"]["held"], true);
        swarm.hold_buttons(env, Some(buttons)).expect("an env");
    }
    for _ in 0..12 {
        one.send(&json!({ "type": "step" }));
        swarm.step(&[8, 8]).expect("good actions");
    }
    for (env, player) in [&mut one, &mut other].into_iter().enumerate() {
        let seen = player.look(0, 0, 1, Some(env)).head["chosen"]["memory"].clone();
        let bytes = swarm.read_memory(env, 0xc000..0xc020).expect("an env");
        assert_eq!(seen, json!(bytes));
        assert_eq!((bytes[0], bytes[3]), (0xa5, if env == 1 { 1 } else { 2 }));
    }
}

#[test]
fn a_state_is_saved_from_the_page_and_machines_begin_in_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("saved.state").display().to_string();
    let serving =
        Serving::start(&["watch", "--num-envs", "4", "--paused", "--frames-per-step", "6"]);
    let mut client = Client::connect(&serving);
    (0..5).for_each(|_| client.send(&json!({ "type": "step" })));
    client.send(&json!({ "type": "save", "env": 4 }));
    client.send(&json!({ "type": "save", "env": 3 }));
    let view = client.look(0, 1, 1, None);
    assert_eq!(view.head["step"], 5);
    let state = &view.pictures[FRAME_BYTES..];
    assert_eq!(view.head["state_bytes"], state.len());
    let swarm = expected_swarm(4, 6, 5);
    assert!(state == swarm.save_state(3).expect("an env"), "the state of that machine");
    client.send(&json!({ "type": "step" }));
    assert_eq!(client.look(0, 1, 1, None).head["state_bytes"], 0, "it is sent once");
    std::fs::write(&file, state).expect("a file");
    let other = Serving::start(&["play", "--paused", "--state", &file]);
    let mut player = Client::connect(&other);
    let memory = |view: &View| view.head["chosen"]["memory"].clone();
    let expected = json!(swarm.read_memory(3, 0xC000..0xC020).expect("memory"));
    for _ in 0..2 {
        assert_eq!(memory(&player.look(0, 0, 1, Some(0))), expected);
        (0..9).for_each(|_| player.send(&json!({ "type": "step" })));
        assert_ne!(memory(&player.look(0, 0, 1, Some(0))), expected);
        player.send(&json!({ "type": "reset" }));
    }
}

#[test]
fn programs_of_the_user_are_shown_as_a_swarm_computes_them_also_frame_by_frame() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("task.py").display().to_string();
    std::fs::write(&file, TASK).expect("a file");
    let arguments =
        ["watch", "--num-envs", "6", "--paused", "--speed", "1000", "--reward", &file, "--obs"];
    let serving = Serving::start(&[&arguments[..], &[&file]].concat());
    let mut client = Client::connect(&serving);
    let text = ProgramText::new("task.py", TASK);
    let programs = Programs::new(text.clone(), text).expect("programs");
    let mut swarm = fresh_swarm(6, 24, programs);
    let (mut total, mut was_done, mut step) = (0.0, false, 0);
    let (mut ends, mut over) = (0, 0);
    for _ in 0..4 {
        // Some steps run at once, some piece by piece.
        client.send(&json!({ "type": "step" }));
        client.send(&json!({ "type": "run" }));
        let mut view = client.look(1, 5, 8, Some(4));
        while view.head["step"].as_u64() < Some(step + 4) {
            view = client.look(1, 5, 8, Some(4));
        }
        client.send(&json!({ "type": "pause" }));
        client.send(&json!({ "type": "step" }));
        while view.head["running"] == true || view.head["frame"] != 0 {
            view = client.look(1, 5, 8, Some(4));
        }
        while Some(step) < view.head["step"].as_u64() {
            step_randomly(&mut swarm, step);
            let (reward, done) = (swarm.rewards()[4], swarm.dones()[4]);
            total = if was_done && !done {
                reward
            } else {
                total + reward * f32::from(u8::from(!(was_done && done)))
            };
            ends += u32::from(done && !was_done);
            (was_done, step) = (done, step + 1);
        }
        let chosen = &view.head["chosen"];
        let number = |name: &str| chosen[name].as_f64().map(|number| number as f32);
        assert_eq!(number("reward"), Some(swarm.rewards()[4]), "step {step}");
        assert_eq!(number("episode_return"), Some(total), "step {step}");
        assert_eq!(chosen["done"], swarm.dones()[4]);
        assert_eq!(chosen["obs_dim"], 40);
        assert_eq!(chosen["observation"], json!(swarm.observations()[160..192]));
        let done: Vec<usize> = (1..6).filter(|env| swarm.dones()[*env]).collect();
        assert_eq!(view.head["done"], json!(done), "step {step}");
        over += done.len();
    }
    assert!(ends > 0 && over > 0, "{ends} episodes ended, {over} machines were over");
}

#[test]
fn a_program_that_is_wrong_is_said_before_anything_is_served() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("task.py").display().to_string();
    std::fs::write(&file, TASK.replace("gb.action", "gb.acton")).expect("a file");
    for verb in ["watch", "play"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
        let output = command.args([verb, "--reward", &file]).output().expect("the binary runs");
        assert_eq!(output.status.code(), Some(2));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("`gbxcule` has no `acton`"), "{stderr}");
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_running_swarm_pauses_on_a_picture_of_that_very_step() {
    for speed in ["0", "4"] {
        let serving = Serving::start(&["watch", "--num-envs", "3", "--speed", speed]);
        let mut client = Client::connect(&serving);
        let moved =
            |client: &mut Client| client.look(0, 3, 1, None).head["step"].as_u64() > Some(5);
        wait_until("the swarm runs", || moved(&mut client));
        client.send(&json!({ "type": "pause" }));
        let mut view = client.look(0, 3, 1, Some(0));
        while view.head["running"] == true {
            view = client.look(0, 3, 1, Some(0));
        }
        client.send(&json!({ "type": "step" }));
        let view = client.look(0, 3, 1, None);
        assert_eq!((&view.head["running"], &view.head["frame"]), (&json!(false), &json!(0)));
        let steps = view.head["step"].as_u64().expect("a number");
        let swarm = expected_swarm(3, 24, steps);
        for (env, picture) in view.pictures.chunks(FRAME_BYTES).enumerate() {
            assert!(picture == swarm.frame(env).expect("an env"), "step {steps}, env {env}");
        }
    }
}

#[test]
fn a_browser_that_takes_nothing_does_not_hold_the_swarm_up() {
    let serving = Serving::start(&["watch", "--num-envs", "64"]);
    let mut slow = Client::connect(&serving);
    // The views are far more than the socket holds, and none of them is read.
    for times in 0..200 {
        let look = json!({ "type": "look", "first": 0, "count": 60 + times % 4, "shrink": 1, "chosen": 0 });
        slow.send(&look);
    }
    let mut client = Client::connect(&serving);
    let step = |client: &mut Client| client.look(0, 1, 8, None).head["step"].as_u64().unwrap_or(0);
    let before = step(&mut client);
    wait_until("the swarm runs on", || step(&mut client) > before + 200);
}

#[test]
fn hands_move_the_game_and_leave_with_their_browser() {
    let serving = Serving::start(&["play", "--paused"]);
    let mut client = Client::connect(&serving);
    assert_eq!(client.hello["mode"], "play");
    let place = |view: &View| view.head["chosen"]["memory"][6].as_u64().expect("a byte");
    let step_to = |client: &mut Client, from: u64, to: u64| {
        for _ in from..to {
            client.send(&json!({ "type": "step" }));
        }
        let mut view = client.look(0, 0, 1, Some(0));
        while view.head["step"].as_u64() < Some(to) {
            view = client.look(0, 0, 1, Some(0));
        }
        view
    };
    let start = place(&step_to(&mut client, 0, 30));
    client.send(&json!({ "type": "hold", "env": 0, "buttons": 1 }));
    let right = step_to(&mut client, 30, 50);
    assert_eq!(right.head["chosen"]["held"], true);
    assert!(place(&right) > start, "{} is not right of {start}", place(&right));
    let mut other = Client::connect(&serving);
    drop(client);
    wait_until("the hands are gone", || {
        other.send(&json!({ "type": "step" }));
        other.look(0, 0, 1, Some(0)).head["chosen"]["held"] == false
    });
}

#[test]
fn malformed_messages_are_refused_and_harm_nobody() {
    let serving = Serving::start(&["watch", "--num-envs", "2", "--paused"]);
    let mut client = Client::connect(&serving);
    let wrong = [
        "",
        "{",
        "null",
        "{\"type\":\"look\"}",
        "{\"type\":\"look\",\"first\":0,\"count\":1,\"shrink\":5}",
    ];
    for text in wrong {
        client.send_text(text);
        assert_eq!(client.text()["type"], "refused", "{text}");
    }
    client.socket.send(Message::binary(vec![0xFF; 100])).expect("it listens");
    assert_eq!(client.text()["type"], "refused");
    client.send(&json!({ "type": "hold", "env": u64::MAX, "buttons": 1 }));
    let look = client.look(usize::MAX, usize::MAX, 8, Some(usize::MAX));
    assert_eq!((&look.head["count"], &look.head["chosen"]), (&json!(0), &Value::Null));

    // A message that is too long, bytes that are no WebSocket, half a request: each ends its
    // connection.
    let mut long = Client::connect(&serving);
    // The connection may end while the message is being sent.
    let sent = long.socket.send(Message::text("x".repeat(1 << 20)));
    assert!(sent.is_err() || long.socket.read().is_err());
    for bytes in [&b"\x00\xFF\x00\xFF\r\n\r\n"[..], b"GET / HTTP/1.1\r\nHost: "] {
        let mut raw = TcpStream::connect(&serving.address).expect("it listens");
        raw.write_all(bytes).expect("it listens");
    }
    client.send(&json!({ "type": "step" }));
    assert_eq!(client.look(0, 2, 4, None).head["step"], 1);
}

fn get(serving: &Serving, path: &str, headers: &str) -> String {
    let mut stream = TcpStream::connect(&serving.address).expect("it listens");
    let host = &serving.address;
    let request = format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n{headers}\r\n");
    stream.write_all(request.as_bytes()).expect("it listens");
    let mut answer = String::new();
    stream.read_to_string(&mut answer).expect("a text");
    answer
}

#[test]
fn the_page_is_whole_and_other_sites_are_turned_away() {
    let serving = Serving::start(&["watch", "--num-envs", "1", "--paused"]);
    let page = get(&serving, "/", "");
    assert!(page.starts_with("HTTP/1.1 200 OK\r\n"), "{page}");
    let scripts = ["main", "link", "machine", "mosaic", "buttons", "screen"]
        .map(|name| format!("/{name}.js"));
    for path in scripts.iter().map(String::as_str).chain(["/style.css"]) {
        assert!(get(&serving, path, "").starts_with("HTTP/1.1 200 OK\r\n"), "{path}");
    }
    assert!(get(&serving, "/etc/passwd", "").starts_with("HTTP/1.1 404"));
    assert!(get(&serving, "/socket", "").starts_with("HTTP/1.1 426"));
    let foreign =
        "Origin: http://evil.example\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAA\r\n";
    assert!(get(&serving, "/socket", foreign).starts_with("HTTP/1.1 403"));
}

#[test]
fn a_taken_port_is_a_clear_error() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = taken.local_addr().expect("an address").port().to_string();
    for verb in ["watch", "play"] {
        let output = Command::new(env!("CARGO_BIN_EXE_gbxcule"))
            .args([verb, "--port", &port])
            .output()
            .expect("the binary runs");
        assert_eq!(output.status.code(), Some(2));
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(
            stderr.contains(&format!("port {port} of 127.0.0.1 is taken; --port 0")),
            "{stderr}"
        );
    }
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_it_and_frees_the_port() {
    let mut serving = Serving::start(&["watch", "--num-envs", "2"]);
    let client = Client::connect(&serving);
    let id = serving.child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().expect("kill runs").success());
    wait_until("it ends", || serving.child.try_wait().expect("ours to ask").is_some());
    TcpListener::bind(&serving.address).expect("the port is free again");
    drop(client);
}
