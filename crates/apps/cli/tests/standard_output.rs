//! Runs every verb with a reader that has gone away, and on a full disk: its files are complete all
//! the same.
#![cfg(target_os = "linux")]

use std::fs::{self, OpenOptions};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use gbxcule_testkit::folder::contents;

/// Verbs that print, with the right exit status and a file that they write.
const VERBS: [(&str, i32, &str); 15] = [
    ("demo --env-counts 1 --out demo", 0, "demo/mosaic.png"),
    ("verify --ref-backend warp_vec_cpu --rom ALU_LOOP --verify-steps 3", 0, "."),
    (
        "verify --ref-backend warp_vec_cpu --dut-backend stub_bad --rom ALU_LOOP --bundle-dir bundles",
        1,
        "bundles",
    ),
    (
        "bench --env-counts 1 --steps 1 --repeats 1 --warmup-steps 0 --out bench",
        0,
        "bench/summary.md",
    ),
    ("report bench", 0, "bench/scaling.png"),
    ("doctor --json", 0, "."),
    ("roms --out roms", 0, "roms/ALU_LOOP.gb"),
    ("record --num-envs 2 --steps 1 --out end.png", 0, "end.png"),
    ("compile k.py", 0, "."),
    ("compile --survey .", 0, "."),
    ("synth generate --count 3 --mode text --out rows", 0, "rows/dataset_card.md"),
    ("synth dedupe rows --out unique", 0, "unique/dataset_card.md"),
    ("synth validate rows --no-host --out checked", 0, "checked/dataset_card.md"),
    ("synth leakage rows", 0, "."),
    ("synth skeletons .", 0, "."),
];

const KERNEL: &str =
    "import warp as wp\n\n@wp.kernel\ndef k(a: wp.array(dtype=float)):\n    a[0] = 1.0\n";

fn run(folder: &Path, line: &str, stdout: Stdio) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    command
        .args(line.split_whitespace())
        .current_dir(folder)
        .env("GBXCULE_PYTHON", "/no/such/python");
    let child = command.stdout(stdout).stderr(Stdio::piped()).spawn().expect("the binary runs");
    child.wait_with_output().expect("it ends")
}

/// Runs all verbs in one folder, one after the other; each must write its file.
fn run_all(stdout: fn() -> Stdio, check: fn(&str, i32, &Output)) {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("k.py"), KERNEL).expect("a file");
    for (line, deserved, file) in VERBS {
        let output = run(folder.path(), line, stdout());
        check(line, deserved, &output);
        assert!(folder.path().join(file).exists(), "{line} left no {file}");
    }
    let bundles = fs::read_dir(folder.path().join("bundles")).expect("bundles").count();
    assert_eq!(bundles, 1, "a mismatch leaves its bundle");
}

/// Returns a pipe whose reader is gone.
fn closed() -> Stdio {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    writer.into()
}

fn full() -> Stdio {
    OpenOptions::new().write(true).open("/dev/full").expect("a full disk").into()
}

#[test]
fn a_reader_who_went_away_changes_nothing() {
    run_all(closed, |line, deserved, output| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(deserved), "{line}: {stderr}");
        assert!(!stderr.contains("error") && !stderr.contains("panicked"), "{line}: {stderr}");
    });
}

#[test]
fn a_full_disk_is_said_and_makes_the_exit_status_2() {
    run_all(full, |line, _, output| {
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {stderr}");
        let expected = "error: writing to standard output: No space left on device";
        assert!(stderr.contains(expected), "{line}: {stderr}");
    });
}

#[test]
fn help_is_told_like_everything_else() {
    let folder = tempfile::tempdir().expect("a folder");
    for line in ["--help", "--version", "synth --help"] {
        assert_eq!(run(folder.path(), line, closed()).status.code(), Some(0), "{line}");
        assert_eq!(run(folder.path(), line, full()).status.code(), Some(2), "{line}");
    }
}

#[test]
fn errors_that_nobody_hears_are_no_panic() {
    let folder = tempfile::tempdir().expect("a folder");
    for line in ["replay nothing", "compile nothing.py", "nonsense"] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
        command.args(line.split_whitespace()).current_dir(&folder).stdout(closed()).stderr(full());
        assert_eq!(command.status().expect("the binary runs").code(), Some(2), "{line}");
    }
}

/// If the address can't be printed, nobody can open the page.
#[test]
fn a_page_whose_address_cannot_be_told_is_not_served() {
    let folder = tempfile::tempdir().expect("a folder");
    for line in ["watch --num-envs 1 --port 0", "play --port 0"] {
        let output = run(folder.path(), line, full());
        assert_eq!(output.status.code(), Some(2), "{line}");
    }
}

/// Verbs that write files larger than the limit, with the files that they need before.
const WRITERS: [&str; 14] = [
    "demo --env-counts 1 --out demo",
    "verify --ref-backend warp_vec_cpu --dut-backend stub_bad --rom ALU_LOOP --bundle-dir bundles",
    "bench --env-counts 1 --steps 1 --repeats 1 --warmup-steps 0 --out bench-again",
    "report bench",
    "roms --out roms",
    "assemble alu_loop.asm --out a.gb",
    "record --num-envs 2 --steps 1 --out end.png",
    "record --num-envs 2 --steps 2 --out end.gif",
    "compile k.py --header header",
    "synth generate --count 3 --mode text --out new",
    "synth dedupe rows --out unique",
    "synth validate rows --no-host --out checked",
    "synth tasks rows --out tasks.jsonl",
    "synth harvest code --license MIT --out harvested",
];

/// Returns a kernel with inputs that matter, in a file that names its licence.
fn harvested_kernel() -> String {
    format!("# SPDX-License-Identifier: MIT\n{}", KERNEL.replace("1.0", "a[1] * 2.0"))
}

#[test]
fn a_file_beyond_the_shells_limit_is_said_and_nothing_is_half_written() {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("a file");
    write("k.py", KERNEL);
    let source =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../machine/assembler/asm/alu_loop.asm");
    fs::copy(source, folder.path().join("alu_loop.asm")).expect("a file");
    fs::create_dir(folder.path().join("code")).expect("a folder");
    write("code/k.py", &harvested_kernel());
    for line in [
        "synth generate --count 3 --mode run --out rows",
        "bench --env-counts 1 --steps 1 --repeats 1 --warmup-steps 0 --out bench",
    ] {
        assert_eq!(run(folder.path(), line, Stdio::null()).status.code(), Some(0), "{line}");
    }
    let before = contents(folder.path());
    for line in WRITERS {
        let mut command = Command::new("bash");
        // The limit counts blocks of 1024 bytes.
        let script = "ulimit -f 1; exec \"$0\" $1";
        command.args(["-c", script, env!("CARGO_BIN_EXE_gbxcule"), line]).current_dir(&folder);
        let output = command.env("GBXCULE_PYTHON", "/no/such/python").output().expect("bash");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{line}: {:?} {stderr}", output.status);
        assert!(stderr.contains("File too large"), "{line}: {stderr}");
        for (path, bytes) in contents(folder.path()) {
            let name = path.display().to_string();
            assert!(!name.contains(".gbxcule-"), "{line} left {name}");
            match before.get(&path) {
                Some(whole) => assert_eq!(&bytes, whole, "{line} changed {name}"),
                // Small files of a set are written before the one that is too large.
                None => assert!(bytes.len() <= 1024, "{line} left {name}"),
            }
        }
    }
}

/// Limits of file sizes end the writing of a dataset at its rows, at a picture, or not at all.
#[test]
fn a_dataset_whose_card_has_no_room_leaves_no_data() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("code")).expect("a folder");
    fs::write(folder.path().join("code/k.py"), harvested_kernel()).expect("a file");
    let generated = run(folder.path(), "synth generate --count 3 --out rows", Stdio::null());
    assert_eq!(generated.status.code(), Some(0));
    for line in ["synth harvest code --license MIT --out new", "synth dedupe rows --out new"] {
        let mut statuses = Vec::new();
        for kibibytes in [8, 48, 4096] {
            let new = folder.path().join("new");
            let before = contents(folder.path());
            let mut command = Command::new("bash");
            let script = format!("ulimit -f {kibibytes}; exec \"$0\" $1");
            command.args(["-c", &script, env!("CARGO_BIN_EXE_gbxcule"), line]).current_dir(&folder);
            let output = command.env("GBXCULE_PYTHON", "/no/such/python").output().expect("bash");
            statuses.push(output.status.code());
            if output.status.code() == Some(0) {
                assert!(new.join("dataset_card.md").exists() && new.join("data").exists());
                fs::remove_dir_all(new).expect("the dataset");
            } else {
                let there = contents(folder.path());
                assert!(there == before && !new.exists(), "{line} with {kibibytes} KiB: {there:?}");
            }
        }
        assert!(statuses[0] == Some(2) && statuses[2] == Some(0), "{line}: {statuses:?}");
    }
}
