//! `docs/dialect/*.md` is executable: each `python` block compiles to valid IR, or is followed by a `text`
//! block that holds exactly what is said about it. `GBXCULE_BLESS=1` writes those blocks anew.

use gbxcule_kernel::check;
use gbxcule_kernel::diagnostic::render;
use gbxcule_kernel::front::python::Program;
use gbxcule_kernel::source::SourceMap;
use std::path::{Path, PathBuf};

/// What is said about a program; empty if it compiles.
fn said(text: &str) -> String {
    let mut sources = SourceMap::new();
    let id =
        sources.add("kernel.py", format!("import warp as wp\nfrom typing import Any\n\n{text}"));
    let outcome = Program::parse(&sources, id).and_then(|program| {
        let kernels = program.reader().kernels().len();
        assert!(kernels > 0, "an example without a kernel:\n{text}");
        check::module(program.compile("example")?)
    });
    outcome.map_or_else(|faults| render(&faults, &sources), |_| String::new())
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
        if lines.peek() == Some(&"```text") {
            while lines.next().is_some_and(|line| line != "```") {}
            let said = said(&code);
            assert!(!said.is_empty(), "this should be refused, but compiles:\n{code}");
            out.push_str(&format!("```text\n{}\n```\n", said.trim_end()));
        } else {
            let said = said(&code);
            assert!(said.is_empty(), "this should compile:\n{code}\n{said}");
        }
    }
    out
}

fn pages() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/dialect");
    let entries = std::fs::read_dir(folder).expect("docs/dialect exists");
    let mut pages: Vec<PathBuf> = entries.map(|entry| entry.expect("readable").path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages
}

#[test]
fn the_dialect_is_what_its_pages_say() {
    let pages = pages();
    assert!(pages.len() >= 5, "pages are missing");
    for path in pages {
        let page = std::fs::read_to_string(&path).expect("readable");
        let wanted = blessed(&page);
        if std::env::var_os("GBXCULE_BLESS").is_some() {
            std::fs::write(&path, &wanted).expect("writable");
        } else {
            assert_eq!(page, wanted, "{} is out of date", path.display());
        }
    }
}
