//! Processes that are ended while a compiler works for them: no process keeps running, no file is
//! left behind, no data is lost.
//!
//! `GBXCULE_KILLS` is the number of attempts with each signal, at a different moment each time;
//! `make attack` makes many.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

fn batch(out: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    command.args([
        "synth",
        "batch",
        "--count",
        "4",
        "--seed",
        "4",
        "--mode",
        "text",
        "--host-every",
        "1",
    ]);
    command
        .args(["--resume", "--jsonl", "--out"])
        .arg(out)
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Returns scratch files and folders in a dataset's folder.
fn scratch(out: &Path) -> Vec<PathBuf> {
    let folders = [out.to_owned(), out.join("data"), out.join("jsonl")];
    let entries = folders.iter().filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    let paths = entries.map(|entry| entry.path());
    paths.filter(|path| path.to_string_lossy().contains("/.gbxcule-")).collect()
}

/// Returns the processes that work in a folder or below it.
fn workers(folder: &Path) -> Vec<String> {
    let all = fs::read_dir("/proc").expect("/proc").flatten();
    let works = |entry: &fs::DirEntry| {
        fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd.starts_with(folder))
    };
    all.filter(works).map(|entry| entry.file_name().to_string_lossy().into_owned()).collect()
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    for _ in 0..6000 {
        if holds() {
            return;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    panic!("never: {what}");
}

/// Starts a batch, and waits until its compiler works or the batch has ended.
fn at_work(out: &Path) -> Child {
    let mut child = batch(out).spawn().expect("the program starts");
    wait_until("a compiler works", || {
        !workers(out).is_empty() || child.try_wait().expect("ours to ask").is_some()
    });
    child
}

fn files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let entries = fs::read_dir(folder.join("data")).expect("data").flatten();
    let mut all: Vec<_> = entries
        .map(|entry| (entry.file_name().into(), fs::read(entry.path()).expect("a file")))
        .collect();
    all.sort();
    all
}

fn kill_often(signal: &str) {
    let kills = std::env::var("GBXCULE_KILLS").ok().and_then(|it| it.parse().ok()).unwrap_or(3);
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path().canonicalize().expect("a path");
    let (whole, out) = (root.join("whole"), root.join("killed"));
    assert!(batch(&whole).status().expect("the program starts").success());
    assert!(scratch(&whole).is_empty());
    for attempt in 0..kills {
        let mut child = at_work(&out);
        std::thread::sleep(Duration::from_millis(attempt * 17 % 300));
        let id = child.id().to_string();
        assert!(
            Command::new("kill").args(["-s", signal, &id]).status().expect("kill runs").success()
        );
        let status = child.wait().expect("its end");
        assert!(status.success() || status.code().is_none(), "{status}");
        wait_until("its children end", || workers(&out).is_empty());
        if signal != "KILL" {
            assert_eq!(scratch(&out), [] as [PathBuf; 0], "attempt {attempt}");
        }
        if status.success() {
            fs::remove_dir_all(out.join("data")).expect("ours");
        }
    }
    assert!(batch(&out).status().expect("the program starts").success());
    assert_eq!(scratch(&out), [] as [PathBuf; 0]);
    assert_eq!(files(&whole), files(&out));
}

#[test]
fn ctrl_c_ends_the_compiler_too_and_leaves_nothing() {
    kill_often("INT");
}

#[test]
fn sigterm_ends_the_compiler_too_and_leaves_nothing() {
    kill_often("TERM");
}

#[test]
fn a_closed_terminal_ends_the_compiler_too_and_leaves_nothing() {
    kill_often("HUP");
}

#[test]
fn after_nohup_a_closed_terminal_ends_nothing() {
    let folder = tempfile::tempdir().expect("a folder");
    let out = folder.path().canonicalize().expect("a path").join("rows");
    let plain = batch(&out);
    let mut command = Command::new("nohup");
    command.arg(plain.get_program()).args(plain.get_args());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().expect("starts");
    wait_until("a compiler works", || {
        !workers(&out).is_empty() || child.try_wait().expect("ours to ask").is_some()
    });
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "HUP", &id]).status().expect("kill runs").success());
    assert!(child.wait().expect("its end").success());
}

#[test]
fn sigkill_ends_the_compiler_too_and_the_next_start_removes_what_is_left() {
    kill_often("KILL");
}
