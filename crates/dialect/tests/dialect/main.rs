//! `docs/dialect/*.md` is executable: each `python` block compiles to valid IR, or is followed by a
//! `text` block that holds exactly what is said about it. `GBXCULE_BLESS=1` writes those blocks
//! anew.

use gbxcule_dialect::Program;
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::render;
use gbxcule_ir::source::SourceMap;
use gbxcule_testkit::page;
use std::path::{Path, PathBuf};

/// Messages about a program; empty if it compiles.
fn said(text: &str, files: &page::Files) -> String {
    let mut sources = SourceMap::new();
    let id =
        sources.add("kernel.py", format!("import warp as wp\nfrom typing import Any\n\n{text}"));
    let read = |path: &Path| {
        let found = files.iter().find(|(known, _)| Path::new(known) == path);
        found.map(|(_, text)| text.clone()).into()
    };
    let outcome = Program::parse_beside(&mut sources, id, &read).and_then(|program| {
        let kernels = program.reader().kernels().len();
        assert!(kernels > 0, "an example without a kernel:\n{text}");
        check::module(program.compile("example")?)
    });
    outcome.map_or_else(|faults| render(&faults, &sources), |_| String::new())
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
        page::hold(&path, &said);
    }
}
