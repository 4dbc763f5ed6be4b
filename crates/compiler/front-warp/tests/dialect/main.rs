//! `docs/dialect/*.md` and the pages beside this file are executable: each `python` block compiles
//! to valid IR, or is followed by a `text` block that holds exactly what is said about it.
//! `GBXCULE_BLESS=1` writes those blocks anew.

use gbxcule_front_warp::{Program, Texts};
use gbxcule_ir::check;
use gbxcule_ir::diagnostic::{Code, CodeSource, render};
use gbxcule_ir::source::SourceMap;
use gbxcule_testkit::page_example;
use gbxcule_testkit::switch::hold_text;
use std::path::{Path, PathBuf};

/// Messages about a program; empty if it compiles.
fn messages(text: &str, files: &page_example::Files) -> String {
    let mut sources = SourceMap::new();
    let id =
        sources.add("kernel.py", format!("import warp as wp\nfrom typing import Any\n\n{text}"));
    let read = |path: &Path| {
        let found = files.iter().find(|(known, _)| Path::new(known) == path);
        found.map(|(_, text)| text.clone()).into()
    };
    let outcome =
        Program::load(&mut Texts::default(), &mut sources, id, Some(&read)).and_then(|program| {
            let kernels = program.reader().kernels().len();
            assert!(kernels > 0, "an example without a kernel:\n{text}");
            check::module(program.compile("example")?)
        });
    outcome.map_or_else(|faults| render(&faults, &sources), |_| String::new())
}

fn pages() -> Vec<PathBuf> {
    let entries = ["../../../docs/dialect", "tests/dialect"].into_iter().flat_map(|folder| {
        std::fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join(folder)).expect("a folder")
    });
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
        page_example::check_page(&path, &messages);
    }
}

/// A page with what stands between its marks replaced.
fn with_table(page: &str, table: &str) -> String {
    let (begin, end) = ("<!-- codes: begin -->\n", "<!-- codes: end -->");
    let start = page.find(begin).expect("the table's first mark") + begin.len();
    let stop = page.find(end).expect("the table's last mark");
    format!("{}{table}{}", &page[..start], &page[stop..])
}

#[test]
fn the_table_of_refusals_has_every_code() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/dialect/refusals.md");
    let page = std::fs::read_to_string(&path).expect("a page");
    let mut table = String::from("| code | what it means |\n|---|---|\n");
    for code in Code::ALL.iter().filter(|code| code.stage() == CodeSource::Dialect) {
        table.push_str(&format!("| `{code}` | {} |\n", code.meaning()));
    }
    let wanted = with_table(&page, &table);
    hold_text(&path, &wanted);
}
