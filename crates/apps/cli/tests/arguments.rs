//! Command lines: wrong ones are refused at once, with advice, and options that say the same do the
//! same.

use std::path::Path;
use std::process::{Command, Output};

fn gbxcule(folder: &Path, words: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    command.args(words).current_dir(folder).output().expect("the binary runs")
}

/// Checks that a command line is refused with a text, and leaves no file behind.
fn refused(words: &[&str], wanted: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let output = gbxcule(folder.path(), words);
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {message}");
    assert!(message.contains(wanted), "{words:?}: {message}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0, "{words:?}");
}

#[test]
fn options_that_would_change_nothing_are_refused() {
    let rows = ["synth", "generate", "--count", "1", "--out", "rows"];
    let generate = |more: &[&'static str]| [&rows[..], more].concat();
    for (words, wanted) in [
        (vec!["compile", "a.py", "--arch", "sm_80"], "add --emit ptx"),
        (vec!["compile", "a.py", "--arch", "sm_80", "--emit", "cuda"], "add --emit ptx"),
        (vec!["compile", "a.py", "--emit", "ir", "--unchecked"], "leave out --unchecked"),
        (vec!["check", "a.py", "--set", "bins=64"], "--count and --set are for kernels in CUDA"),
        (vec!["check", "a.py", "--count", "64"], "--count and --set are for kernels in CUDA"),
        (vec!["check", "a.cu", "--define", "N=4"], "are for a file in Python"),
        (vec!["compile", "--header", "h", "--out", "a.cpp"], "--out is for a file"),
        (vec!["compile", "--header", "h", "--grad"], "--grad is for a file"),
        (vec!["compile", "--survey", ".", "--unchecked"], "--unchecked is for a file"),
        (vec!["compile", "--survey", ".", "--device", "cuda"], "--device is for a file"),
        (generate(&["--arch", "sm_80"]), "--ptx"),
        (generate(&["--device", "cuda", "--host-every", "2"]), "add --device cpu"),
        (vec!["synth", "tasks", "rows", "--device", "cuda"], "unexpected argument '--device'"),
        (vec!["synth", "grade", "a", "--dataset", "b", "--device", "cuda"], "'--device'"),
        (vec!["synth", "validate", "rows", "--no-host", "--work", "w"], "cannot be used with"),
        (vec!["record", "--out", "a.png", "--every", "2"], "--every is for films"),
        (
            vec!["record", "--envs", "0", "--out", "a.wav", "--scale", "2"],
            "--scale is for pictures",
        ),
        (vec!["record", "--out", "a.wav", "--columns", "2"], "--columns is for pictures"),
    ] {
        refused(&words, wanted);
    }
}

#[test]
fn numbers_that_are_none_say_what_is_wanted() {
    for (words, wanted) in [
        (
            &["synth", "generate", "--count", "-1", "--out", "rows"][..],
            "this is not a whole number from 0 on",
        ),
        (
            &["synth", "generate", "--count", "1.5", "--out", "rows"],
            "this is not a whole number from 0 on",
        ),
        (&["synth", "generate", "--count", "", "--out", "rows"], "it is empty"),
        (&["synth", "validate", "rows", "--limit", "0"], "it is not 1 or more"),
        (&["synth", "mutate", "rows", "--seed", "18446744073709551616"], "it is too large"),
        (&["synth", "batch", "--count", "1", "--out", "rows", "--shard", "-1/3"], "a shard is I/N"),
        (&["bench", "--longest-window", "long"], "this is not a number"),
        (&["record", "--envs", "-1,2"], "this is not a whole number from 0 on"),
    ] {
        refused(words, wanted);
    }
}

#[test]
fn a_folder_without_a_dataset_is_named_as_such() {
    let verbs: [&[&str]; 6] = [
        &["validate", "."],
        &["mutate", "."],
        &["leakage", "."],
        &["card", "."],
        &["tasks", "."],
        &["grade", "answers.jsonl", "--dataset", "."],
    ];
    for verb in verbs {
        let words = [&["synth"][..], verb].concat();
        refused(&words, ". is no dataset folder: it has no ");
        let elsewhere: Vec<&str> =
            words.iter().map(|word| if *word == "." { "none" } else { word }).collect();
        refused(&elsewhere, "none is no dataset folder: there is no such folder");
    }
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

const GENERIC: &str = "import warp as wp
from typing import Any

@wp.kernel
def fill(x: wp.array(dtype=Any), value: Any):
    x[wp.tid()] = value
";

#[test]
fn check_takes_the_options_of_compile_and_gives_the_same_refusal() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("g.py"), GENERIC).expect("a file");
    let [compiled, checked, raced] =
        [&["compile", "g.py"][..], &["check", "g.py"], &["check", "g.py", "--race"]]
            .map(|words| gbxcule(folder.path(), words));
    assert_eq!(checked.status.code(), Some(1), "{}", messages(&checked));
    assert!(
        messages(&checked).contains("g.py:5") && messages(&checked).contains("--types"),
        "{}",
        messages(&checked)
    );
    assert_eq!(messages(&checked), messages(&compiled));
    assert_eq!(messages(&checked), messages(&raced));
    let types = "fill=[wp.array(dtype=wp.vec3), wp.vec3]";
    let checked = gbxcule(folder.path(), &["check", "g.py", "--types", types]);
    let printed = String::from_utf8_lossy(&checked.stdout).into_owned() + &messages(&checked);
    // Without NVRTC the kernel is read, and not run.
    assert!(printed.contains("no fault") || printed.contains("NVRTC"), "{printed}");
}

#[test]
fn emit_says_what_is_written_whatever_the_device() {
    let folder = tempfile::tempdir().expect("a folder");
    let text = GENERIC.replace("dtype=Any", "dtype=float").replace("Any):", "float):");
    std::fs::write(folder.path().join("f.py"), text).expect("a file");
    let written = |options: &[&str]| {
        let output = gbxcule(folder.path(), &[&["compile", "f.py"], options].concat());
        assert!(output.status.success(), "{}", messages(&output));
        output.stdout
    };
    for (emit, device) in [("cpp", "cpu"), ("cuda", "cuda")] {
        let text = written(&["--device", device]);
        for other in ["cpu", "cuda"] {
            assert_eq!(written(&["--emit", emit, "--device", other]), text, "{emit}");
        }
    }
    assert_eq!(written(&["--emit", "ir", "--device", "cuda"]), written(&["--emit", "ir"]));
}

/// The command, pages and packages describe the project by one sentence.
#[test]
fn the_project_is_described_in_one_way() {
    let help = String::from_utf8(gbxcule(Path::new("."), &["-h"]).stdout).expect("text");
    let about = help.lines().next().and_then(|line| line.strip_prefix("A "));
    let about = about.expect("a sentence");
    for (file, text) in [
        ("README.md", include_str!("../../../../README.md")),
        ("docs/how-it-works.md", include_str!("../../../../docs/how-it-works.md")),
        ("book.toml", include_str!("../../../../book.toml")),
        ("pyproject.toml", include_str!("../../../../pyproject.toml")),
        ("gbxcule/Cargo.toml", include_str!("../../gbxcule/Cargo.toml")),
    ] {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(about), "{file} lacks `{about}`");
    }
}

/// A film without a picture is refused before its machines run.
#[test]
fn errors_that_can_be_known_before_the_work_are_reported_before_it() {
    let film = ["record", "--steps", "1", "--frames-per-step", "9", "--every", "10"];
    for out in ["a.gif", "a.mp4"] {
        refused(&[&film[..], &["--out", out]].concat(), "lower --every");
    }
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("a.gif")).expect("a folder");
    let output = gbxcule(
        folder.path(),
        &["record", "--steps", "1000000", "--frames-per-step", "1", "--out", "a.gif"],
    );
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(
        output.status.code() == Some(2) && message.contains("a folder is in its place"),
        "{message}"
    );
    for words in [
        &["demo", "--out", "file"][..],
        &["bench", "--out", "file/below"],
        &["verify", "--rom", "ALU_LOOP", "--ref-backend", "warp_vec_cpu", "--bundle-dir", "file"],
    ] {
        std::fs::write(folder.path().join("file"), "").expect("a file");
        let output = gbxcule(folder.path(), words);
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            output.status.code() == Some(2) && message.contains(words[words.len() - 2]),
            "{message}"
        );
    }
    // Statistics of other kernels are for a dataset.
    let output = gbxcule(folder.path(), &["synth", "card", "nowhere", "--warp-tests", "."]);
    assert!(output.status.code() == Some(2) && !folder.path().join("nowhere").exists());
}
