//! `docs/programs.md` is executable: each `python` block is a program that is taken, or is followed by a `text` block
//! that holds exactly what is said about it. `GBXCULE_BLESS=1` writes those blocks anew.

use std::path::Path;

use gbxcule_swarm::program::PROGRAM_ENTRIES;
use gbxcule_swarm::{ProgramText, Programs};

/// What is said about a file; empty if it is taken. What a file lacks is built in.
fn said(text: &str) -> String {
    let task =
        ProgramText::new("task.py", &format!("import warp as wp\nimport gbxcule as gb\n\n{text}"));
    let built_in = |name: &str| ProgramText::find(name).expect("built in");
    let observes = text.contains("def observe(");
    let rewards = text.contains("def reward") || !observes;
    let reward = if rewards { task.clone() } else { built_in("reward_v0") };
    let obs = if observes { task } else { built_in("obs_v0") };
    Programs::new(reward, obs).err().map_or_else(String::new, |error| error.to_string())
}

/// A page's text as it should be, block by block.
fn blessed(page: &str) -> String {
    let mut lines = page.lines().peekable();
    let mut out = String::new();
    while let Some(line) = lines.next() {
        out.push_str(line);
        out.push('\n');
        if line != "```python" {
            continue;
        }
        let mut code = String::new();
        for line in lines.by_ref() {
            out.push_str(line);
            out.push('\n');
            if line == "```" {
                break;
            }
            code.push_str(line);
            code.push('\n');
        }
        let said = said(&code);
        if lines.peek() == Some(&"```text") {
            while lines.next().is_some_and(|line| line != "```") {}
            assert!(!said.is_empty(), "this should be refused, but is taken:\n{code}");
            out.push_str(&format!("```text\n{said}\n```\n"));
        } else {
            assert!(said.is_empty(), "this should be taken:\n{code}\n{said}");
        }
    }
    out
}

fn page() -> (std::path::PathBuf, String) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/programs.md");
    let page = std::fs::read_to_string(&path).expect("docs/programs.md");
    (path, page)
}

#[test]
fn programs_are_what_their_page_says() {
    let (path, page) = page();
    let wanted = blessed(&page);
    if std::env::var_os("GBXCULE_BLESS").is_some() {
        std::fs::write(&path, &wanted).expect("writable");
    } else {
        assert_eq!(page, wanted, "{} is out of date", path.display());
    }
}

#[test]
fn the_page_names_all_that_can_be_asked() {
    let (_, page) = page();
    let table = page.split_once("## What it may ask").expect("the section").1;
    for entry in PROGRAM_ENTRIES {
        let name = entry.strip_prefix("view::").expect("of `view`");
        assert!(table.contains(&format!("`gb.{name}(machine")), "`gb.{name}` is not on the page");
    }
}
