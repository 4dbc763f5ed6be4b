//! Checks that every path in a page exists, and that the book has every page.

use std::path::Path;

use super::files::{files_below, root};

/// Returns the code spans of a page that look like paths of this repository.
fn paths_in(text: &str) -> Vec<String> {
    const FOLDERS: [&str; 8] =
        ["crates/", "docs/", "games/", "python/", "examples/", "fuzz/", ".ci/", ".github/"];
    text.split('`')
        .skip(1)
        .step_by(2)
        .filter(|span| FOLDERS.iter().any(|folder| span.starts_with(folder)))
        .filter(|span| !span.contains(['*', ' ', '<', '{', '$']))
        .map(|span| span.split("::").next().expect("a part").trim_end_matches('/').to_owned())
        .collect()
}

fn exists(path: &str) -> bool {
    let full = root().join(path);
    full.exists() || full.with_extension("rs").exists()
}

#[test]
fn every_path_that_a_page_names_exists() {
    let mut missing = Vec::new();
    for page in files_below(&root(), &["md"]) {
        let text = std::fs::read_to_string(&page).expect("a page");
        for path in paths_in(&text) {
            if !exists(&path) {
                missing.push(format!("{}: `{path}`", page.display()));
            }
        }
    }
    assert!(missing.is_empty(), "pages name what is not there:\n{}", missing.join("\n"));
}

/// Returns the targets of a page's links to files of this repository.
fn links_in(text: &str) -> Vec<&str> {
    text.split("](")
        .skip(1)
        .filter_map(|rest| rest.split_once(')'))
        .map(|(target, _)| target.split('#').next().expect("a part"))
        .filter(|target| !target.is_empty() && !target.contains("://") && !target.contains(' '))
        .collect()
}

#[test]
fn every_link_between_pages_leads_somewhere() {
    let mut broken = Vec::new();
    for page in files_below(&root(), &["md"]) {
        let text = std::fs::read_to_string(&page).expect("a page");
        let folder = page.parent().unwrap_or(Path::new("."));
        for link in links_in(&text) {
            if !folder.join(link).exists() {
                broken.push(format!("{}: {link}", page.display()));
            }
        }
    }
    assert!(broken.is_empty(), "links lead nowhere:\n{}", broken.join("\n"));
}

#[test]
fn every_page_stands_in_the_summary_of_the_book() {
    let docs = root().join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).expect("docs/SUMMARY.md");
    let chapters = links_in(&summary);
    for page in files_below(&docs, &["md"]) {
        let path = page.strip_prefix(&docs).expect("a path below docs").display().to_string();
        assert!(
            path == "SUMMARY.md" || chapters.contains(&path.as_str()),
            "docs/SUMMARY.md has no line for docs/{path}: add `- [Title]({path})` to its part"
        );
    }
}

#[test]
fn contributing_answers_two_dozen_questions_by_path() {
    let page = root().join("CONTRIBUTING.md");
    let text = std::fs::read_to_string(page).expect("CONTRIBUTING.md");
    let answers =
        text.lines().filter(|line| line.starts_with('|') && !paths_in(line).is_empty()).count();
    assert!(answers >= 24, "only {answers} rows of the table name a path");
}

#[test]
fn the_rules_see_paths_and_links() {
    let text = "See `crates/apps/cli/src/main.rs` and `crates/*/src`, [a page](docs/x.md#part).";
    assert_eq!(paths_in(text), ["crates/apps/cli/src/main.rs"]);
    assert_eq!(links_in(text), ["docs/x.md"]);
    assert!(!exists("crates/none"));
}
