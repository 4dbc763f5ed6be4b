//! Finds the games: each folder beside this file that has a `game.json`. Writes the table of the
//! games for the crate, and for `tests/games` the list of their tests and scripted players.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::{env, fs};

use serde::Deserialize;

/// The row of a game, `game.json`. README.md describes its fields.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    kind: String,
    difficulty: String,
    purpose: String,
    memory: String,
    console: Console,
    players: u8,
    has_title: bool,
    variants: Vec<(String, String)>,
    actions: String,
    frames_per_step: u32,
    release_after_frames: u32,
    info: BTreeMap<String, (String, u8)>,
    sha256: String,
}

#[derive(Deserialize, PartialEq)]
#[serde(rename_all = "lowercase")]
enum Console {
    Original,
    Color,
}

fn main() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("Cargo names the crate"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("Cargo names a folder"));
    println!("cargo::rerun-if-changed={}", root.display());
    let mut folders = entries(&root);
    folders.retain(|folder| folder.join("game.json").exists());
    let games: String = folders.iter().map(|folder| game(folder)).collect();
    fs::write(out.join("games.rs"), format!("&[{games}]")).expect("Cargo's folder");
    fs::write(out.join("tests.rs"), tests(&folders)).expect("Cargo's folder");
}

/// Returns the paths in a folder, in order of their names.
fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|it| panic!("{}: {it}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths
}

/// Returns the name of a file or folder.
fn name_of(path: &Path) -> &str {
    let name = path.file_name().and_then(|name| name.to_str());
    name.unwrap_or_else(|| panic!("{}: names are ASCII", path.display()))
}

fn read(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns an expression of type `Game`.
fn game(folder: &Path) -> String {
    let path = folder.join("game.json");
    let text = read(&path);
    let row: Row =
        serde_json::from_str(&text).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
    assert!(row.info.contains_key("score"), "{}: `info` lacks `score`", path.display());
    let name = name_of(folder);
    let mut sources = String::new();
    for source in entries(folder) {
        if source.extension().is_some_and(|it| it == "asm" || it == "inc") {
            let _ = write!(sources, "({:?}, include_str!({source:?})), ", include_name(&source));
        }
    }
    format!(
        "Game {{ name: {:?}, title: {:?}, kind: {:?}, difficulty: {:?}, purpose: {:?}, \
         memory: {:?}, is_for_color: {}, players: {}, has_title: {}, variants: &{:?}, actions: {:?}, \
         frames_per_step: {}, release_after_frames: {}, sha256: {:?}, entry: {:?}, \
         sources: &[{sources}], program: include_str!({:?}), row: {text:?} }}, ",
        name.to_uppercase(),
        title(name),
        row.kind,
        row.difficulty,
        row.purpose,
        row.memory,
        row.console == Console::Color,
        row.players,
        row.has_title,
        row.variants,
        row.actions,
        row.frames_per_step,
        row.release_after_frames,
        row.sha256,
        include_name(&folder.join("game.asm")),
        folder.join("program.py"),
    )
}

/// Returns the name by which sources include a file of a game: `ember_leap/level.inc`.
fn include_name(file: &Path) -> String {
    format!("{}/{}", name_of(file.parent().expect("a game's folder")), name_of(file))
}

/// Returns `KeepOfKeys` for `keep_of_keys`.
fn title(folder: &str) -> String {
    let word = |word: &str| word[..1].to_uppercase() + &word[1..];
    folder.split('_').map(word).collect()
}

/// Returns a module for the `tests.rs` of each game, and the constant `PLAYERS`: the games that
/// have a `player.rs`, a module of their `tests.rs`.
fn tests(folders: &[PathBuf]) -> String {
    let (mut modules, mut players) = (String::new(), String::new());
    for folder in folders {
        let name = name_of(folder);
        let _ = writeln!(modules, "#[path = {:?}]\nmod {name};", folder.join("tests.rs"));
        if folder.join("player.rs").exists() {
            let _ = write!(players, "({:?}, play!({name})), ", name.to_uppercase());
        }
    }
    format!("{modules}\nconst PLAYERS: &[(&str, score::Play)] = &[{players}];\n")
}
