//! Tests that compare the tables of `SECURITY.md` with the policies.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use crate::policy::{Kind, LIBRARIES, Limits, SYSTEM, TOOLS};
use crate::syscall::{allowed, kernels_list};

fn page() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../SECURITY.md");
    std::fs::read_to_string(path).expect("the page")
}

/// Returns a size as the page writes it.
fn size(bytes: u64) -> String {
    match bytes {
        0 => "none".into(),
        _ if bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        _ => format!("{} MiB", bytes >> 20),
    }
}

fn seconds(time: Duration) -> String {
    let seconds = time.as_secs();
    if seconds.is_multiple_of(3600) {
        format!("{} h", seconds / 3600)
    } else {
        format!("{seconds} s")
    }
}

#[test]
fn the_limits_of_the_page_are_those_of_the_policies() {
    let all = [Limits::COMPILER, Limits::PROGRAM, Limits::INTERPRETER];
    let row = |name: &str, of: &dyn Fn(Limits) -> String| {
        let cells = all.map(of);
        // The last column is of the crate `gpu-check`.
        format!("\n| {name} | {} | ", cells.join(" | "))
    };
    let page = page();
    for row in [
        row("time on a core, a process", &|it| seconds(it.cpu)),
        row("time on the clock", &|it| seconds(it.wall)),
        row("address space, a process", &|it| size(it.memory_bytes)),
        row("memory, all processes together", &|it| size(it.memory_bytes)),
        row("the longest file", &|it| size(it.file_bytes)),
        row("all files together", &|it| size(it.written_bytes)),
        row("open files, a process", &|it| it.open_files.to_string()),
        row("processes and threads together", &|it| it.tasks.to_string()),
    ] {
        assert!(page.contains(&row), "SECURITY.md lacks this row:\n{row}");
    }
}

/// Returns the names of calls as the lines of the page.
fn lines(mut names: Vec<&str>) -> String {
    names.sort_unstable();
    let mut text = String::new();
    let mut length = 0;
    for name in names {
        if length + name.len() + 1 > 110 {
            text.push('\n');
            length = 0;
        } else if length > 0 {
            text.push(' ');
        }
        text += name;
        length += name.len() + 1;
    }
    text
}

#[test]
fn the_calls_of_the_page_are_those_that_each_policy_allows() {
    let names: BTreeMap<_, _> =
        kernels_list().into_iter().map(|(name, number)| (number, name)).collect();
    let page = page();
    let mut before = Vec::new();
    for kind in [Kind::Program, Kind::Compiler, Kind::Interpreter] {
        let calls = allowed(kind);
        let own = calls.iter().filter(|it| !before.contains(*it));
        let text = lines(own.map(|it| names[it].as_str()).collect());
        assert!(page.contains(&format!("```text\n{text}\n```")), "SECURITY.md lacks:\n{text}");
        before = calls;
    }
}

#[test]
fn the_files_of_the_page_are_those_that_each_policy_opens() {
    let page = page().split_whitespace().collect::<Vec<_>>().join(" ");
    for paths in [&LIBRARIES[..], &TOOLS, &SYSTEM] {
        let text = paths.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ");
        assert!(page.contains(&text), "SECURITY.md lacks:\n{text}");
    }
}
