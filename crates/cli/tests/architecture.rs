//! The house rules that a compiler doesn't hold: who may depend on whom, how long files may be, and
//! which names say nothing.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What each room may use of ours (docs/architecture.md "Rooms").
const MAY_USE: [(&str, &[&str]); 10] = [
    ("gameboy", &[]),
    ("kernel", &[]),
    ("oracle", &[]),
    ("roms", &[]),
    ("runtime", &["kernel"]),
    ("swarm", &["gameboy", "roms", "kernel", "runtime"]),
    ("lab", &["oracle", "swarm", "gameboy", "roms", "kernel", "runtime"]),
    ("synth", &["oracle", "kernel", "runtime"]),
    ("cli", &["oracle", "gameboy", "roms", "kernel", "runtime", "swarm", "lab", "synth"]),
    ("python", &["swarm", "roms", "runtime", "kernel", "synth"]),
];

const LONGEST_FILE_LINES: usize = 600;

const EMPTY_NAMES: [&str; 7] = ["utils", "util", "helpers", "common", "base", "misc", "manager"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn crates() -> Vec<String> {
    let folder = root().join("crates");
    let mut names: Vec<String> = std::fs::read_dir(folder)
        .expect("the crates folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Our crates among the `[dependencies]` of one; tests may use more.
fn uses(name: &str) -> Vec<String> {
    let path = root().join("crates").join(name).join("Cargo.toml");
    let text = std::fs::read_to_string(&path).expect("a manifest");
    let mut in_dependencies = false;
    let mut found = Vec::new();
    for line in text.lines() {
        if line.starts_with('[') {
            in_dependencies = line == "[dependencies]";
        } else if let Some(rest) = line.strip_prefix("gbxcule-")
            && in_dependencies
        {
            found.push(rest.split(['.', ' ', '=']).next().expect("a name").to_owned());
        }
    }
    found
}

#[test]
fn crates_depend_only_in_the_direction_of_the_architecture() {
    let allowed: BTreeMap<&str, &[&str]> = MAY_USE.into_iter().collect();
    for name in crates() {
        let may = allowed.get(name.as_str()).unwrap_or_else(|| panic!("crate {name} has no row"));
        for used in uses(&name) {
            assert!(may.contains(&used.as_str()), "{name} must not depend on {used}");
        }
    }
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a readable folder") {
        let path = entry.expect("an entry").path();
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        if path.is_dir() {
            if !name.starts_with('.') && name != "target" && name != "runs" {
                sources(&path, found);
            }
        } else if name.ends_with(".rs") || name.ends_with(".py") {
            found.push(path);
        }
    }
}

fn all_sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    for part in ["crates", "fuzz", "python"] {
        sources(&root().join(part), &mut found);
    }
    assert!(found.len() > 100, "only {} sources found", found.len());
    found
}

#[test]
fn no_source_is_longer_than_a_reader_can_hold() {
    for path in all_sources() {
        let lines = std::fs::read_to_string(&path).expect("a source").lines().count();
        assert!(lines <= LONGEST_FILE_LINES, "{} has {lines} lines", path.display());
    }
}

#[test]
fn every_name_says_something() {
    for path in all_sources() {
        let stem = path.file_stem().expect("a name").to_string_lossy().into_owned();
        assert!(!EMPTY_NAMES.contains(&stem.as_str()), "{} says nothing", path.display());
        assert!(stem != "mod", "{}: name it after its module, beside the folder", path.display());
    }
}

#[test]
fn every_rust_source_opens_with_what_it_is() {
    for path in all_sources().iter().filter(|path| path.extension().is_some_and(|it| it == "rs")) {
        let text = std::fs::read_to_string(path).expect("a source");
        assert!(text.starts_with("//!"), "{} does not open with `//!`", path.display());
    }
}
