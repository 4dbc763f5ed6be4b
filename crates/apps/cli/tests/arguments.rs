//! Wrong command lines: each is refused at once, with advice.

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
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{words:?}: {said}");
    assert!(said.contains(wanted), "{words:?}: {said}");
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

/// A film without a picture is refused before its machines run.
#[test]
fn what_can_be_known_before_is_not_found_out_later() {
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
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(2) && said.contains("a folder is in its place"), "{said}");
    for words in [
        &["demo", "--out", "file"][..],
        &["bench", "--out", "file/below"],
        &["verify", "--rom", "ALU_LOOP", "--ref-backend", "warp_vec_cpu", "--bundle-dir", "file"],
    ] {
        std::fs::write(folder.path().join("file"), "").expect("a file");
        let output = gbxcule(folder.path(), words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && said.contains(words[words.len() - 2]), "{said}");
    }
    // Statistics of other kernels are for a dataset.
    let output = gbxcule(folder.path(), &["synth", "card", "nowhere", "--warp-tests", "."]);
    assert!(output.status.code() == Some(2) && !folder.path().join("nowhere").exists());
}
