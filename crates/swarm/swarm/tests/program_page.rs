//! `docs/programs.md` and `program_refusals.md` are executable: each `python` block is a program
//! that compiles, or is followed by a `text` block with exactly the compiler's message.
//! `GBXCULE_BLESS=1` rewrites those blocks.

use gbxcule_gameboy::SOURCES;
use gbxcule_testkit::page_example;
use std::path::{Path, PathBuf};

use gbxcule_swarm::{ProgramText, Programs};

/// The message for a program's file, empty if the file is right. A reward or an observation that
/// the file lacks is the built-in one.
fn message(text: &str, files: &page_example::Files) -> String {
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
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/programs.md")
}

#[test]
fn programs_are_what_their_page_says() {
    page_example::check_page(&path(), &message);
    let refusals = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/program_refusals.md");
    page_example::check_page(&refusals, &message);
}

/// The functions of `gameboy/src/view.rs` for programs, with arguments and result as the page
/// writes them. A program passes the machine; ROM, cartridge RAM and the numbers
/// of the step are passed along with it.
fn view() -> Vec<String> {
    let (_, text) = SOURCES.iter().find(|(path, _)| *path == "src/view.rs").expect("the file");
    let functions = text.split("\npub fn ").skip(1).map(|rest| {
        let (name, rest) = rest.split_once('(').expect("parameters");
        let (params, rest) = rest.split_once(')').expect("the end of the parameters");
        let head = rest.split_once('{').expect("a body").0;
        let result = head.split_once("-> ").map_or("", |(_, rest)| rest.trim());
        let result = match result {
            "u8" => "uint8",
            "u16" => "uint16",
            "i32" => "int32",
            other => other,
        };
        let params = params.split(", ").filter_map(|param| {
            let (name, ty) = param.split_once(": ").expect("a type");
            (!ty.starts_with('&')).then_some(name)
        });
        let params: Vec<&str> = std::iter::once("machine").chain(params).collect();
        let result = if result.is_empty() { "nothing".to_owned() } else { format!("`{result}`") };
        format!("`gb.{name}({})` | {result}", params.join(", "))
    });
    // A function with a body for each model is defined twice.
    let mut functions: Vec<String> = functions.collect();
    functions.dedup();
    functions
}

#[test]
fn the_page_says_what_can_be_asked_as_the_view_does() {
    let page = std::fs::read_to_string(path()).expect("docs/programs.md");
    let table = page.split_once("## Functions of the machine").expect("the section").1;
    let mut on_page = Vec::new();
    for row in table.lines().filter(|line| line.starts_with("| `gb.")) {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let result = cells[1].split(':').next().expect("a type");
        on_page.extend(cells[0].split("`, ").map(|call| {
            let call = call.trim_matches('`');
            format!("`{call}` | {result}")
        }));
    }
    let mut wanted = view();
    on_page.sort();
    wanted.sort();
    assert_eq!(on_page, wanted);
}
