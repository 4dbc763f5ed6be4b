//! Verbs that several processes share: the results of their shards, put together, are those of one
//! process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use gbxcule_testkit::folder::contents;

const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../examples/dataset");

/// Runs a verb; returns its exit status and its output.
fn run_synth(args: &[&str]) -> (Option<i32>, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_gbxcule"));
    // One thread adds up floats in the same order each time.
    command.env("GBXCULE_THREADS", "1").arg("synth").args(args);
    let output = command.output().expect("the program starts");
    let text = [output.stdout, output.stderr].concat();
    (output.status.code(), String::from_utf8_lossy(&text).into_owned())
}

/// Returns the files below a folder, but for the shards' own results.
fn merged_files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = contents(folder);
    files.retain(|path, _| path.iter().all(|part| part != "blocks"));
    files
}

/// Runs a verb alone and as two processes, the second of them twice, and compares what they say and
/// write. Returns the output of the one process.
fn compare(args: &[&str], other: [&str; 2], folder: &Path) -> String {
    let [one, many] = ["one", "many"].map(|name| folder.join(args[0]).join(name));
    let [alone, shared] = [&one, &many].map(|out| ["--out", out.to_str().expect("UTF-8")]);
    let is_count = args[0] == "mutate";
    let (status, wanted) = run_synth(&[args, if is_count { &[] } else { &alone[..] }].concat());
    let shard = |shard| run_synth(&[args, &["--shard", shard], &shared].concat());
    let first = shard("1/2");
    assert!(first.1.contains("blocks are left to other processes"), "{args:?}: {}", first.1);
    let place = |text: &str| text.replace(shared[1], "OUT").replace(alone[1], "OUT");
    for _ in 0..2 {
        let last = shard("0/2");
        assert_eq!((last.0, place(&last.1)), (status, place(&wanted)), "{args:?}");
    }
    if !is_count {
        assert_eq!(merged_files(&many), merged_files(&one), "{args:?}");
    }
    // Another option would give other results.
    let other = run_synth(&[args, &other[..], &["--shard", "0/2"], &shared].concat());
    let is_refused = other.0 == Some(2) && other.1.contains("name another folder");
    assert!(is_refused, "{args:?}: {}", other.1);
    wanted
}

/// Leaves one line in twenty, counted by `number`, readable, and puts a text that is no program
/// into `field` of the others: the merged result has passes and failures of both blocks, and
/// unreadable lines take almost no time.
fn spoil(file: &Path, number: &str, field: &str) {
    let line = |line: &str| {
        let mut row: serde_json::Value = serde_json::from_str(line).expect("a row");
        if !row[number].as_u64().expect("a number").is_multiple_of(20) {
            row[field] = "no program".into();
        }
        format!("{row}\n")
    };
    let text = std::fs::read_to_string(file).expect("a file");
    std::fs::write(file, text.lines().map(line).collect::<String>()).expect("a file");
}

/// Spoils the rows of a dataset that has JSON lines.
fn spoil_rows(dataset: &Path) {
    std::fs::remove_dir_all(dataset.join("data")).expect("a folder");
    for entry in std::fs::read_dir(dataset.join("jsonl")).expect("a folder") {
        spoil(&entry.expect("an entry").path(), "id", "source");
    }
}

#[test]
fn shards_of_a_validation_are_the_one_of_one_process() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = folder.path().join("rows");
    let path = rows.to_str().expect("UTF-8");
    let plan = ["--count", "503", "--seed", "3", "--mode", "text", "--jsonl"];
    assert_eq!(run_synth(&[&["generate"], &plan[..], &["--out", path]].concat()).0, Some(0));
    spoil_rows(&rows);
    let counts = compare(&["validate", path, "--no-host"], ["--limit", "3"], folder.path());
    for counted in ["parses               26      477", "texts                26        0"] {
        assert!(counts.contains(counted), "{counts}");
    }
}

#[test]
fn shards_of_mutations_are_counted_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let rows = folder.path().join("rows");
    let rows = rows.to_str().expect("UTF-8");
    // The grammar's rows have few threads.
    let plan = ["--count", "33", "--seed", "3", "--sampled", "100"];
    assert_eq!(run_synth(&[&["generate"], &plan[..], &["--out", rows]].concat()).0, Some(0));
    let counts = compare(&["mutate", rows, "--no-host"], ["--seed", "9"], folder.path());
    assert!(counts.contains("expected output           33"), "{counts}");
}

#[test]
fn shards_of_a_grading_are_scored_together() {
    let folder = tempfile::tempdir().expect("a folder");
    let answers = folder.path().join("answers.jsonl");
    let answers = answers.to_str().expect("UTF-8");
    let options =
        ["--task", "python-to-ir", "--limit", "21", "--mutate-every", "3", "--stand-in", answers];
    let tasks = folder.path().join("tasks.jsonl");
    let tasks = ["--out", tasks.to_str().expect("UTF-8")];
    assert_eq!(run_synth(&[&["tasks", SAMPLE], &options[..], &tasks].concat()).0, Some(0));
    spoil(Path::new(answers), "row", "answer");
    let scores = compare(
        &["grade", answers, "--dataset", SAMPLE, "--tasks", tasks[1]],
        ["--seed", "9"],
        folder.path(),
    );
    let count = std::fs::read_to_string(answers).expect("answers").lines().count();
    assert!(count > 16 && scores.contains(&format!("{count} answers about 40 rows")), "{scores}");
}

/// Verdicts that are there are taken, unless the computer failed, and removed at the end.
#[test]
fn a_grading_that_was_stopped_goes_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let [answers, tasks, out] =
        ["answers.jsonl", "tasks.jsonl", "out"].map(|name| folder.path().join(name));
    let [answers, tasks, out] = [&answers, &tasks, &out].map(|it| it.to_str().expect("UTF-8"));
    // Two blocks.
    let options =
        ["--task", "python-to-ir", "--limit", "17", "--stand-in", answers, "--out", tasks];
    assert_eq!(run_synth(&[&["tasks", SAMPLE], &options[..]].concat()).0, Some(0));
    spoil(Path::new(answers), "row", "answer");
    let grade = ["grade", answers, "--dataset", SAMPLE, "--tasks", tasks, "--out", out];
    // A shard leaves its blocks, as a process does that is stopped.
    assert_eq!(run_synth(&[&grade[..], &["--shard", "0/1"]].concat()).0, Some(0));
    let blocks = Path::new(out).join("blocks");
    let change = |block: &str, verdict: serde_json::Value| {
        let path = blocks.join(block);
        let text = std::fs::read_to_string(&path).expect("verdicts");
        let mut verdicts: serde_json::Value = serde_json::from_str(&text).expect("JSON");
        verdicts[0][1] = serde_json::json!({"grade": verdict, "costs": null});
        std::fs::write(&path, verdicts.to_string()).expect("a file");
    };
    change("000000.json", serde_json::json!({"WrongResult": "a verdict of before"}));
    change("000001.json", serde_json::json!({"NotGraded": "the computer failed"}));
    let (status, text) = run_synth(&[&grade[..], &["--seed", "9"]].concat());
    assert!(status == Some(2) && text.contains("remove `blocks`"), "{text}");
    assert_eq!(run_synth(&grade).0, Some(0));
    let verdicts = std::fs::read_to_string(Path::new(out).join("grades.jsonl")).expect("verdicts");
    assert!(verdicts.contains("a verdict of before"), "{verdicts}");
    assert!(!verdicts.contains("the computer failed"), "{verdicts}");
    assert!(!blocks.exists());
}

#[test]
fn shards_of_a_harvest_are_one_dataset() {
    let folder = tempfile::tempdir().expect("a folder");
    let code = folder.path().join("code");
    std::fs::create_dir(&code).expect("a folder");
    let mut text = "# SPDX-License-Identifier: MIT\nimport warp as wp\n".to_owned();
    for number in 0..70 {
        text += &format!(
            "\n\n@wp.kernel\ndef scale_{number}(x: wp.array(dtype=float), y: wp.array(dtype=float)):\n    \
             i = wp.tid()\n    y[i] = {number}.5 * x[i]\n"
        );
    }
    std::fs::write(code.join("kernels.py"), text).expect("a file");
    let code = code.to_str().expect("UTF-8");
    let output = compare(&["harvest", code, "--license", "MIT"], ["--seed", "9"], folder.path());
    assert!(output.contains("70 kernels in 1 files: 70 rows"), "{output}");
}
