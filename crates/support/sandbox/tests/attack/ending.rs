//! When an owner ends, for any reason, its children and their children end with it.

use gbxcule_sandbox::ChildGroup;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Returns a command that starts a grandchild, prints its number, and sleeps.
fn family() -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 1000 & echo $!; wait"]).stdout(Stdio::piped());
    command
}

fn line(child: &mut Child) -> String {
    let mut stdout = BufReader::new(child.stdout.as_mut().expect("a pipe"));
    let mut line = String::new();
    while line.trim().parse::<u32>().is_err() {
        line.clear();
        assert!(stdout.read_line(&mut line).expect("a line") > 0, "it ended");
    }
    line.trim().to_owned()
}

/// Returns true if a process runs. A process that has ended and that was not waited for does not
/// run.
fn runs(id: &str) -> bool {
    let output = Command::new("ps").args(["-o", "state=", "-p", id]).output().expect("ps runs");
    let state = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    !state.is_empty() && !state.starts_with('Z')
}

fn ends(id: &str) {
    for _ in 0..1000 {
        if !runs(id) {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("process {id} still runs");
}

#[test]
fn grandchildren_end_with_a_child_that_is_dropped() {
    let mut owned = ChildGroup::spawn(&mut family()).expect("sh");
    let grandchild = line(owned.child());
    assert!(runs(&grandchild));
    drop(owned);
    ends(&grandchild);
}

#[test]
fn a_child_that_ended_takes_those_it_left_along() {
    let mut command = Command::new("sh");
    command.args(["-c", "sleep 1000 & echo $!"]).stdout(Stdio::piped());
    let mut owned = ChildGroup::spawn(&mut command).expect("sh");
    let grandchild = line(owned.child());
    while !owned.has_ended() {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(runs(&grandchild));
    assert!(owned.end().expect("its status").success());
    ends(&grandchild);
}

/// Starts the owner that the next test kills.
#[test]
#[ignore = "a part of the next test"]
fn an_owner_of_a_family() {
    let mut owned = ChildGroup::spawn(&mut family()).expect("sh");
    println!("\n{}", line(owned.child()));
    std::thread::sleep(Duration::from_secs(1000));
}

#[test]
fn nothing_is_left_of_an_owner_that_was_killed() {
    let own = std::env::current_exe().expect("this test");
    let mut owner = Command::new(own)
        .args(["--exact", "ending::an_owner_of_a_family", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()
        .expect("this test");
    let grandchild = line(&mut owner);
    assert!(runs(&grandchild));
    owner.kill().expect("ours to kill");
    owner.wait().expect("ended");
    ends(&grandchild);
}
