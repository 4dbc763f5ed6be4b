//! Attacks as files: rows and folders made to harm their readers. Each states the expected result.
//!
//! `rows`: a row whose columns are replaced (`change`), or filled with a text many times
//! (`repeat`); it is `refused` with a sentence, or the checks that it `fails` are these.
//! `folders`: what lies in a folder in which a dataset of two rows is to be made, with its `card`
//! or without, and read; it is `refused` with a sentence, or has `rows`; a file beside it stays as
//! it is.
#![cfg(unix)]

use gbxcule_rows::batch::{Manifest, Work, batch, read};
use gbxcule_rows::card;
use gbxcule_rows::external_column::Tools;
use gbxcule_rows::feature_count::Usage;
use gbxcule_rows::row::{Mode, Plan, Texts, make};
use gbxcule_rows::shard::Shard;
use gbxcule_rows::validate::{Checks, validate};
use gbxcule_rows::verdict::Verdict;
use serde_json::{Map, Value};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

fn plan(mode: Mode) -> Plan {
    Plan { seed: 11, mode, device: Texts::Cpu, host_every: 0, sampled: 100 }
}

/// The attacks of a kind, with their names.
fn corpus(kind: &str) -> Vec<(String, Value)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/attacks").join(kind);
    let entries = fs::read_dir(folder).expect("the corpus");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a text");
        let attack =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path:?}: {error}"));
        (path.display().to_string(), attack)
    };
    paths.into_iter().map(read).collect()
}

fn text<'v>(value: &'v Value, key: &str) -> Option<&'v str> {
    value.get(key).and_then(Value::as_str)
}

/// A row of ours with the columns of an attack.
fn hostile_row(attack: &Value) -> Value {
    static OWN: LazyLock<Value> =
        LazyLock::new(|| serde_json::to_value(make(plan(Mode::Run), 1)).expect("JSON"));
    let mut row = OWN.clone();
    let none = Map::new();
    for (column, value) in attack.get("change").and_then(Value::as_object).unwrap_or(&none) {
        row[column] = value.clone();
    }
    for (column, parts) in attack.get("repeat").and_then(Value::as_object).unwrap_or(&none) {
        let part = |at: usize| parts[at].as_str().expect("before, a part, after");
        let times = parts[3].as_u64().expect("how often") as usize;
        row[column] = format!("{}{}{}", part(0), part(1).repeat(times), part(2)).into();
    }
    row
}

/// Returns the checks that a row fails, or why it isn't read.
fn outcome_of_row(attack: &Value) -> (&'static str, String) {
    let folder = tempfile::tempdir().expect("a folder");
    let line = hostile_row(attack).to_string();
    fs::create_dir(folder.path().join("jsonl")).expect("a folder");
    let manifest = Manifest::new(1, plan(Mode::Run), &Tools::default());
    let manifest = serde_json::to_string(&manifest).expect("JSON");
    fs::write(folder.path().join("dataset.json"), manifest).expect("a file");
    fs::write(folder.path().join("jsonl/rows.jsonl"), format!("{line}\n")).expect("a file");
    let rows = match read(folder.path()) {
        Ok(rows) => rows,
        Err(error) => return ("refused", error.to_string()),
    };
    let checks = validate(&rows, &Checks::default()).expect("no other program is asked");
    let failed = checks[0].iter().flatten().filter(|check| check.verdict != Verdict::Pass);
    ("fails", failed.map(|check| check.check.as_str()).collect::<Vec<_>>().join(", "))
}

#[test]
fn hostile_rows_come_to_what_their_files_say() {
    let mut wrong = Vec::new();
    let corpus = corpus("rows");
    assert!(corpus.len() >= 20, "{}", corpus.len());
    for (name, attack) in corpus {
        let (way, message) = outcome_of_row(&attack);
        let is_kept = |wanted: &str| match way {
            "refused" => message.contains(wanted),
            _ => message == wanted,
        };
        if !text(&attack, way).is_some_and(is_kept) {
            wrong.push(format!("{name}: {way}: {}", message.chars().take(300).collect::<String>()));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Creates an attack's files in a folder.
fn lay_out(folder: &Path, attack: &Value) {
    for entry in attack["entries"].as_array().expect("entries") {
        let path = folder.join(text(entry, "name").expect("a name"));
        fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
        match text(entry, "kind").expect("a kind") {
            "folder" => fs::create_dir(path).expect("a folder"),
            "file" => fs::write(path, text(entry, "text").unwrap_or_default()).expect("a file"),
            "link" => {
                let to = text(entry, "to").expect("a target");
                std::os::unix::fs::symlink(to, path).expect("a link");
            }
            "pipe" => {
                let made = std::process::Command::new("mkfifo").arg(path).status();
                assert!(made.expect("mkfifo").success());
            }
            other => panic!("`{other}` is no kind"),
        }
    }
}

fn outcome_of_folder(folder: &Path, draws_card: bool) -> (&'static str, String) {
    let manifest = Manifest::new(2, plan(Mode::Text), &Tools::default());
    let work = Work { shard: Shard::WHOLE, workers: 1, resume: true, jsonl: true };
    let done = batch(folder, &manifest, &work, &Tools::default(), &|| ())
        .and_then(|()| read(folder))
        .and_then(|rows| {
            if draws_card {
                card::write(folder, &manifest, &rows, &Usage::of_warp(), &|_| ())?;
            }
            Ok(rows.len())
        });
    match done {
        Ok(rows) => ("rows", rows.to_string()),
        Err(error) => ("refused", error.to_string()),
    }
}

#[test]
fn hostile_folders_come_to_what_their_files_say_and_lead_no_writer_out() {
    let mut wrong = Vec::new();
    let corpus = corpus("folders");
    assert!(corpus.len() >= 10, "{}", corpus.len());
    for (name, attack) in corpus {
        let beside = tempfile::tempdir().expect("a folder");
        let (folder, own) = (beside.path().join("dataset"), beside.path().join("own"));
        for path in [&folder, &own] {
            fs::create_dir(path).expect("a folder");
        }
        fs::write(own.join("file"), "precious").expect("a file");
        lay_out(&folder, &attack);
        let (way, message) = outcome_of_folder(&folder, attack["card"] == true);
        if !text(&attack, way).is_some_and(|wanted| message.contains(wanted)) {
            wrong.push(format!("{name}: {way}: {message}"));
        }
        let left: Vec<_> = fs::read_dir(&own).expect("ours").flatten().collect();
        let is_kept = left.len() == 1
            && fs::read(own.join("file")).is_ok_and(|text| text == b"precious")
            && fs::read_dir(beside.path()).expect("ours").count() == 2;
        if !is_kept {
            wrong.push(format!("{name}: what lay beside it has changed"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
