//! `docs/programs.md` is executable: each `python` block is a program that is taken, or is followed by a `text` block
//! that holds exactly what is said about it. `GBXCULE_BLESS=1` writes those blocks anew.

#[path = "../../kernel/tests/dialect/page.rs"]
mod page;

use std::path::{Path, PathBuf};

use gbxcule_swarm::program::PROGRAM_ENTRIES;
use gbxcule_swarm::{ProgramText, Programs};

/// What is said about a file; empty if it is taken. What a file lacks is built in.
fn said(text: &str, files: &page::Files) -> String {
    let whole = format!("import warp as wp\nimport gbxcule as gb\n\n{text}");
    let task = ProgramText::with_files("task.py", &whole, files.clone());
    let built_in = |name: &str| ProgramText::find(name).expect("built in");
    let observes = text.contains("def observe(");
    let rewards = text.contains("def reward") || !observes;
    let reward = if rewards { task.clone() } else { built_in("reward_v0") };
    let obs = if observes { task } else { built_in("obs_v0") };
    Programs::new(reward, obs).err().map_or_else(String::new, |error| error.to_string())
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/programs.md")
}

#[test]
fn programs_are_what_their_page_says() {
    page::hold(&path(), &said);
}

#[test]
fn the_page_names_all_that_can_be_asked() {
    let page = std::fs::read_to_string(path()).expect("docs/programs.md");
    let table = page.split_once("## What it may ask").expect("the section").1;
    for entry in PROGRAM_ENTRIES {
        let name = entry.strip_prefix("view::").expect("of `view`");
        assert!(table.contains(&format!("`gb.{name}(machine")), "`gb.{name}` is not on the page");
    }
}
