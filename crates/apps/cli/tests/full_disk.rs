//! A file system that takes no more files, or no more bytes: a small one in memory, mounted for
//! each test alone, which needs a namespace of its own.
//!
//! If the system allows none, the tests print that and check nothing.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROGRAM: &str = env!("CARGO_BIN_EXE_gbxcule");
const KERNEL: &str =
    "import warp as wp\n\n@wp.kernel\ndef k(a: wp.array(dtype=float)):\n    a[0] = 1.0\n";

/// Makes a script run with a small file system at `full`, in namespaces of its own. Root needs no
/// namespace of users.
fn small_disk(folder: &Path, options: &str, script: &str) -> Option<Output> {
    fs::create_dir_all(folder.join("full")).expect("a folder");
    let mounted = format!("mount -t tmpfs -o {options} none full || exit 77; {script}");
    for namespaces in [&["--mount"][..], &["--user", "--map-root-user", "--mount"]] {
        let mut command = Command::new("unshare");
        command.args(namespaces).args(["sh", "-c", &mounted, PROGRAM]).current_dir(folder);
        let output = command.env("GBXCULE_PYTHON", "/no/such/python").output().ok()?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        if output.status.code() != Some(77) && !stderr.contains("unshare") {
            return Some(output);
        }
    }
    eprintln!("skipped: this system mounts no file system for a user's own namespace");
    None
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Verbs that write, each with fewer files than it needs; the folder that is mounted counts as one.
#[test]
fn a_disk_that_takes_no_more_files_is_said_as_that() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("k.py"), KERNEL).expect("a file");
    for (files, line) in [
        (20, "roms --out full/roms"),
        (2, "compile k.py --header full/header"),
        (3, "demo --env-counts 1 --out full/demo"),
        (1, "record --num-envs 2 --steps 1 --out full/end.png"),
        (4, "synth generate --count 3 --mode text --out full/rows"),
        (
            3,
            "verify --ref-backend warp_vec_cpu --dut-backend stub_bad --rom ALU_LOOP --bundle-dir full/bundles",
        ),
    ] {
        let options = format!("size=64m,nr_inodes={files}");
        let script = format!("exec \"$0\" {line}");
        let Some(output) = small_disk(folder.path(), &options, &script) else { return };
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert!(message.contains("no inodes are left"), "{line}: {message}");
    }
}

#[test]
fn a_disk_without_bytes_is_said_and_leaves_nothing_half_written() {
    let folder = tempfile::tempdir().expect("a folder");
    for line in ["roms --out full/roms", "synth generate --count 3 --mode text --out full/rows"] {
        let script =
            format!("\"$0\" {line}; code=$?; find full -name '.gbxcule-*' >&2; exit $code");
        let Some(output) = small_disk(folder.path(), "size=64k", &script) else { return };
        let message = stderr(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {message}");
        assert!(message.contains("No space left on device"), "{line}: {message}");
        assert!(!message.contains("inodes") && !message.contains(".gbxcule-"), "{line}: {message}");
    }
}

/// Rows, and their own texts as answers.
fn answers(folder: &Path) -> PathBuf {
    for line in [
        "synth generate --count 3 --mode run --out rows",
        "synth tasks rows --task python-to-cpp --out tasks.jsonl --stand-in answers.jsonl",
    ] {
        let mut command = Command::new(PROGRAM);
        let status = command.args(line.split_whitespace()).current_dir(folder).output();
        assert!(status.expect("it runs").status.success(), "{line}");
    }
    folder.join("graded/grades.jsonl")
}

/// The compiler itself would report "does not compile", or a crash of its assembler.
#[test]
fn right_answers_are_never_wrong_for_want_of_files() {
    let folder = tempfile::tempdir().expect("a folder");
    let graded = answers(folder.path());
    let mut statuses = Vec::new();
    for files in [2, 6, 12, 30] {
        let script =
            "exec \"$0\" synth grade answers.jsonl --dataset rows --out graded --work full/work";
        let options = format!("size=2g,nr_inodes={files}");
        let Some(output) = small_disk(folder.path(), &options, script) else { return };
        let message = stderr(&output);
        statuses.push(output.status.code());
        if output.status.code() != Some(2) {
            let lines = fs::read_to_string(&graded).expect("verdicts");
            for line in lines.lines() {
                let is_fair = line.contains("\"right\"") || line.contains("not graded");
                assert!(is_fair, "{files} files: {line}");
            }
            continue;
        }
        assert!(
            message.contains("inodes") || message.contains("files more"),
            "{files} files: {message}"
        );
    }
    assert_eq!(statuses[0], Some(2), "{statuses:?}");
    assert_eq!(statuses.last(), Some(&Some(0)), "{statuses:?}");
}
