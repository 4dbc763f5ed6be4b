//! Rules that no compiler enforces: which crate may depend on which, how long files may be, and
//! which names are too vague.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use super::files::{crate_folders, files_below, root};

const MAX_FILE_LINES: usize = 600;

const EMPTY_NAMES: [&str; 7] = ["utils", "util", "helpers", "common", "base", "misc", "manager"];

/// Returns the manifest of each of our crates, by the package's name.
fn manifests() -> BTreeMap<String, String> {
    let texts = crate_folders().into_iter().map(|folder| {
        let text = std::fs::read_to_string(folder.join("Cargo.toml")).expect("a manifest");
        let (_, name) = text.split_once("name = \"").expect("a package");
        (name.split('"').next().expect("a name").to_owned(), text)
    });
    texts.collect()
}

/// Returns the lines of a manifest's `[dependencies]`; tests may use more.
fn dependency_lines(text: &str) -> impl Iterator<Item = &str> {
    let section = text.split("\n[").find_map(|it| it.strip_prefix("dependencies]\n"));
    section.unwrap_or_default().lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Returns the dependency that a line of a manifest names.
fn dependency(line: &str) -> &str {
    line.split(['.', ' ', '=']).next().unwrap_or_default()
}

/// Returns our crates among the dependencies of a manifest.
fn uses(text: &str) -> BTreeSet<String> {
    let ours = dependency_lines(text).map(dependency);
    let ours = ours.filter_map(|name| name.strip_prefix("gbxcule-"));
    ours.map(str::to_owned).collect()
}

/// Returns the name by which pages call a package: without `gbxcule-`, which most have.
fn short(package: &str) -> &str {
    package.strip_prefix("gbxcule-").unwrap_or(package)
}

/// Returns the table of crates in docs/architecture.md: the dependencies of each.
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let page = std::fs::read_to_string(root().join("docs/architecture.md")).expect("the page");
    let section = page.split("\n## ").find(|section| section.starts_with("The crates\n"));
    let rows = section.expect("a section about crates").lines().filter_map(|line| {
        let row = line.strip_prefix("| `")?.strip_suffix('|')?;
        let [name, _, used] = row.split('|').collect::<Vec<_>>()[..] else { return None };
        let used = used.split(',').map(|name| name.trim().trim_matches('`').to_owned());
        let used = used.filter(|name| !name.is_empty()).collect();
        Some((name.trim().trim_matches('`').to_owned(), used))
    });
    rows.collect()
}

#[test]
fn crates_use_each_other_as_the_architecture_says() {
    let (manifests, documented) = (manifests(), documented());
    let names: BTreeSet<&str> = manifests.keys().map(|package| short(package)).collect();
    for (package, text) in &manifests {
        let name = short(package);
        let row = documented.get(name);
        assert_eq!(Some(&uses(text)), row, "docs/architecture.md, the row of {name}");
    }
    for name in documented.keys() {
        assert!(names.contains(&**name), "docs/architecture.md has a row for {name}");
    }
}

/// `cargo fuzz` runs with `--locked`, and only by hand, so no other test would notice a stale lock.
#[test]
fn the_lock_of_the_fuzz_targets_has_our_crates_as_they_are() {
    let lock = std::fs::read_to_string(root().join("fuzz/Cargo.lock")).expect("a lock");
    let manifests = manifests();
    for package in lock.split("[[package]]\n") {
        let names: Vec<&str> = package.split('"').skip(1).step_by(2).collect();
        let Some(text) = names.first().and_then(|name| manifests.get(*name)) else { continue };
        let locked = names[1..].iter().filter_map(|name| name.strip_prefix("gbxcule-"));
        let locked: BTreeSet<String> = locked.map(str::to_owned).collect();
        assert_eq!(uses(text), locked, "{}: run `cargo metadata` in fuzz/", names[0]);
        // If the lock has two versions of a crate, a line there also names the version.
        let locked: Vec<_> = names[1..].iter().filter_map(|name| name.split(' ').next()).collect();
        let needed = dependency_lines(text).filter(|line| !line.contains("optional = true"));
        let missing: Vec<_> =
            needed.map(dependency).filter(|name| !locked.contains(name)).collect();
        assert_eq!(missing, [""; 0], "{}: run `cargo metadata` in fuzz/", names[0]);
    }
}

#[test]
fn only_tests_use_the_testkit() {
    for (name, text) in manifests() {
        assert!(!uses(&text).contains("testkit"), "{name} is not a test");
    }
}

/// The release profile's default is for other people's code: a crate of ours that it doesn't name
/// would be slow unnoticed.
#[test]
fn the_release_profile_names_every_crate() {
    let text = std::fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let (_, profile) = text.split_once("[profile.release.package]").expect("a release profile");
    for name in manifests().keys() {
        assert!(profile.contains(&format!("\n{name} = {{")), "{name} has no row");
    }
    // Cargo ignores the profile's own `strip` for packages that have a row.
    for name in ["cli", "python"] {
        let start = format!("gbxcule-{name} = {{");
        let row = profile.lines().find(|line| line.starts_with(&start)).expect("a row");
        assert!(row.contains("strip = \"symbols\""), "{name} keeps the names of its functions");
    }
}

fn all_sources() -> Vec<PathBuf> {
    let parts = ["crates", "fuzz", "games", "python"].iter();
    parts.flat_map(|part| files_below(&root().join(part), &["rs", "py"])).collect()
}

#[test]
fn no_source_is_longer_than_a_reader_can_hold() {
    for path in all_sources() {
        let lines = std::fs::read_to_string(&path).expect("a source").lines().count();
        assert!(lines <= MAX_FILE_LINES, "{} has {lines} lines", path.display());
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

/// Macros that panic if the reader has gone away or the disk is full.
const PRINTING: [&str; 4] = ["println!(", "print!(", "eprintln!(", "eprint!("];

/// Streams on which printing is built, which only the command's printer uses.
const STREAMS: [&str; 2] = ["io::stdout", "io::stderr"];

#[test]
fn one_printer_writes_all_standard_output() {
    let mut is_printer_there = false;
    for path in all_sources().iter().filter(|path| path.extension().is_some_and(|it| it == "rs")) {
        let name = path.strip_prefix(root()).expect("below the root").display().to_string();
        // Build scripts print for Cargo, tests for their runner.
        if !name.contains("/src/") || name.ends_with("/tests.rs") || name.contains("/tests/") {
            continue;
        }
        let text = std::fs::read_to_string(path).expect("a source");
        let has = |part: &&str| text.contains(*part);
        assert_eq!(PRINTING.iter().find(|part| has(part)), None, "{name}: use `print`");
        let is_printer = name == "crates/apps/cli/src/print.rs";
        is_printer_there |= is_printer && STREAMS.iter().all(has);
        if name.starts_with("crates/apps/cli/") && !is_printer {
            assert_eq!(STREAMS.iter().find(|part| has(part)), None, "{name}: use `print`");
        }
    }
    assert!(is_printer_there);
}
