//! Viewers that flood, are slow, send half of a message or read nothing: the swarm runs on, and
//! others are served.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::Command;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use serde_json::json;
use tungstenite::Message;

use crate::client::Client;
use crate::serving::{Serving, wait_until};

/// Number of connections, larger than the limit.
const MANY: usize = 300;

/// Returns a field of `/proc/PID/status`.
#[cfg(target_os = "linux")]
fn status(serving: &Serving, field: &str) -> u64 {
    let text = std::fs::read_to_string(format!("/proc/{}/status", serving.child.id()));
    let text = text.expect("the process runs");
    let line = text.lines().find_map(|line| line.strip_prefix(field)).expect("a field");
    line.trim_matches([':', '\t', ' ', 'k', 'B']).parse().expect("a number")
}

/// Returns the complete answer to some bytes.
fn answer(serving: &Serving, bytes: &str) -> String {
    let mut stream = TcpStream::connect(&serving.address).expect("it listens");
    stream.set_read_timeout(Some(Duration::from_secs(60))).expect("a socket");
    stream.write_all(bytes.as_bytes()).expect("it listens");
    let mut answer = String::new();
    // A closed connection is an answer as well.
    let _ = stream.read_to_string(&mut answer);
    answer
}

fn get(serving: &Serving, target: &str) -> String {
    answer(serving, &format!("GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", serving.address))
}

#[test]
fn a_speed_of_almost_nothing_is_refused_and_the_swarm_goes_on() {
    let serving = Serving::start(&["watch", "--num-envs", "2", "--speed", "1"]);
    let mut client = Client::connect(&serving);
    for times in ["1e-320", "5e-324", "-0.5", "1e308"] {
        client.send_text(&format!("{{\"type\":\"speed\",\"times\":{times}}}"));
        assert_eq!(client.text()["type"], "refused", "{times}");
    }
    client.send(&json!({ "type": "speed", "times": 0.001 }));
    client.send(&json!({ "type": "speed", "times": 1000 }));
    wait_until("the swarm runs on", || client.look(0, 2, 8, None).head["step"].as_u64() > Some(5));
}

#[test]
fn viewers_that_flood_take_turns_with_the_others() {
    let serving = Serving::start(&["watch", "--num-envs", "2", "--paused"]);
    let (is_over, sent) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for request in ["step", "reset", "run"] {
            let mut flooder = Client::connect(&serving);
            let (is_over, sent, serving) = (&is_over, &sent, &serving);
            scope.spawn(move || {
                while !is_over.load(Ordering::Relaxed) {
                    if flooder
                        .socket
                        .send(Message::text(json!({ "type": request }).to_string()))
                        .is_err()
                    {
                        // The flood disconnected it.
                        flooder = Client::connect(serving);
                    }
                    sent.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
        wait_until("the flood has begun", || sent.load(Ordering::Relaxed) > 1000);
        let mut client = Client::connect(&serving);
        // Each answer comes while requests of the flood are waiting, which never stops before the
        // last answer.
        for count in 0..30 {
            let buttons = 1 << (count % 8);
            client.send(&json!({ "type": "hold", "env": 0, "buttons": buttons }));
            let view = client.look(0, 2, 1, Some(0));
            assert_eq!(view.head["chosen"]["buttons"], buttons);
        }
        is_over.store(true, Ordering::Relaxed);
    });
}

/// The requests of the flood would make a minute of steps.
#[test]
fn the_requests_of_a_viewer_that_floods_and_leaves_end_with_it() {
    let serving = Serving::start(&["watch", "--num-envs", "16", "--paused"]);
    let mut flooder = Client::connect(&serving);
    let step = json!({ "type": "step" }).to_string();
    let sent = (0..100_000).take_while(|_| flooder.socket.send(Message::text(&step)).is_ok());
    let sent = sent.count() as u64;
    drop(flooder);
    let mut client = Client::connect(&serving);
    let mut looks = 0;
    // An unchanged swarm has no new view for the same look.
    let mut step = || {
        looks += 1;
        client.look(0, 1 + looks % 2, 8, None).head["step"].as_u64().expect("a number")
    };
    wait_until("the swarm stands still", || {
        let first = step();
        (0..20).all(|_| step() == first)
    });
    assert!(step() < sent, "{} of {sent}", step());
}

#[cfg(target_os = "linux")]
#[test]
fn viewers_that_never_read_hold_little_memory_and_no_place() {
    let serving = Serving::start(&["watch", "--num-envs", "512", "--paused"]);
    drop(Client::connect(&serving));
    let before = status(&serving, "VmRSS");
    let mut silent = Vec::new();
    for number in 0..MANY {
        let mut client = Client::connect(&serving);
        for count in 0..4 {
            let look = json!({ "type": "look", "first": 0, "count": 500 + count, "shrink": 1, "chosen": 0 });
            client.send(&look);
        }
        silent.push(client);
        if number % 50 == 0 {
            let mut client = Client::connect(&serving);
            assert_eq!(client.look(0, 4, 8, None).head["count"], 4);
        }
    }
    // Each of them alone may have a view of 3 MB waiting: together they would take more than 900
    // MB. The 64 that have places take at most 192 MB; the allocator keeps more, depending on the
    // system.
    let grown = status(&serving, "VmRSS").saturating_sub(before);
    assert!(grown < 600 << 10, "{grown} KiB more");
    assert!(status(&serving, "Threads") < 256 + 20);
}

#[cfg(target_os = "linux")]
#[test]
fn requests_that_are_never_finished_hold_no_place() {
    let serving = Serving::start(&["watch", "--num-envs", "1", "--paused"]);
    let half = ["", "GET / HTTP/1.1\r\nHost: ", "GET /socket HTTP/1.1\r\nUpgrade: websocket\r\n"];
    let mut open = Vec::new();
    for number in 0..MANY {
        let mut stream = TcpStream::connect(&serving.address).expect("it listens");
        stream.write_all(half[number % half.len()].as_bytes()).expect("it listens");
        open.push(stream);
    }
    assert!(get(&serving, "/").starts_with("HTTP/1.1 200 OK\r\n"));
    let mut client = Client::connect(&serving);
    assert_eq!(client.look(0, 1, 8, None).head["count"], 1);
    wait_until("their threads end", || status(&serving, "Threads") < 100);
    assert_eq!(open.len(), MANY);
}

/// A limit of 32 descriptors is soon used up by 100 connections.
#[cfg(target_os = "linux")]
#[test]
fn without_descriptors_it_waits_for_one_and_serves_on() {
    let mut command = Command::new("sh");
    let script = "ulimit -n 32; exec \"$0\" watch --num-envs 1 --paused \"$@\"";
    command.args(["-c", script, env!("CARGO_BIN_EXE_gbxcule")]);
    let serving = Serving::run(&mut command);
    let open: Vec<_> = (0..100).map(|_| TcpStream::connect(&serving.address)).collect();
    assert!(get(&serving, "/").starts_with("HTTP/1.1 200 OK\r\n"));
    assert_eq!(open.len(), 100);
}

#[test]
fn no_other_page_may_show_this_one_in_a_frame() {
    let serving = Serving::start(&["watch", "--num-envs", "1", "--paused"]);
    let page = get(&serving, "/");
    assert!(
        page.contains("frame-ancestors 'none'") && page.contains("X-Frame-Options: DENY"),
        "{page}"
    );
    assert!(serving.query.is_empty(), "this computer's own browser needs no token");
}

#[test]
fn beyond_this_computer_nobody_is_let_in_without_the_token() {
    let mut serving =
        Serving::start(&["watch", "--num-envs", "1", "--paused", "--host", "0.0.0.0"]);
    serving.address = serving.address.replace("0.0.0.0", "127.0.0.1");
    let token = serving.query.strip_prefix("?token=").expect("a token");
    assert!(token.len() >= 32 && token.bytes().all(|byte| byte.is_ascii_hexdigit()), "{token}");
    let wrong = format!("?token={}", token.replace(|_: char| true, "0"));
    for query in ["", "?token=", &wrong] {
        assert!(get(&serving, &format!("/{query}")).starts_with("HTTP/1.1 403"), "{query}");
        let socket = format!(
            "GET /socket{query} HTTP/1.1\r\nHost: {}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            serving.address
        );
        assert!(answer(&serving, &socket).starts_with("HTTP/1.1 403"), "{query}");
    }
    assert!(get(&serving, &format!("/{}", serving.query)).starts_with("HTTP/1.1 200 OK\r\n"));
    assert!(get(&serving, "/main.js").starts_with("HTTP/1.1 200 OK\r\n"));
    // A request by name works as well, if it has the token.
    let named = format!("GET /{} HTTP/1.1\r\nHost: games.example:1\r\n\r\n", serving.query);
    assert!(answer(&serving, &named).starts_with("HTTP/1.1 200 OK\r\n"));
    assert_eq!(Client::connect(&serving).look(0, 1, 8, None).head["count"], 1);
}
