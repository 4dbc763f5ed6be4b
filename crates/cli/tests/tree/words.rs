//! The language of the sources and the pages: how wide they are, how doc comments begin, and that a
//! type's name means one thing in a crate (CONTRIBUTING.md "Plain words").

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::files::{crate_folders, files_below, lines_of, root};

const WIDEST_COMMENT: usize = 100;
const WIDEST_PAGE: usize = 120;

/// Words that make a reader guess what a sentence is about.
const RIDDLES: [&str; 12] = [
    "Who", "Whoever", "What", "Whatever", "Whether", "Which", "It", "Its", "They", "He", "She",
    "The same",
];

/// Words that also make the first sentence of a file a riddle: it says what the file is or does.
const FILE_RIDDLES: [&str; 3] = ["Where", "How", "From"];

/// Folders of texts that our own programs print.
const PRINTED: [&str; 2] = ["docs/samples", "examples/dataset"];

/// The files that people write.
fn written_files(extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = files_below(&root(), extensions);
    files.retain(|path| PRINTED.iter().all(|folder| !relative(path).starts_with(folder)));
    files
}

/// The text of a line that is a comment and nothing else.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("//").or_else(|| line.strip_prefix("# "))
}

/// The text of a line of a doc comment, without its mark.
fn doc(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("///").or_else(|| line.strip_prefix("//!")).map(str::trim_start)
}

fn begins_with_a_riddle(sentence: &str, is_of_file: bool) -> bool {
    let of_file = FILE_RIDDLES.iter().filter(|_| is_of_file);
    RIDDLES.iter().chain(of_file).any(|word| {
        sentence
            .strip_prefix(word)
            .is_some_and(|rest| !rest.starts_with(|next: char| next.is_alphanumeric()))
    })
}

/// One word that is longer than a line may be, such as a link, cannot be wrapped.
fn can_be_wrapped(text: &str, widest: usize) -> bool {
    text.split_whitespace().all(|word| word.chars().count() + 8 < widest)
}

#[test]
fn comments_fit_a_screen() {
    let mut wide = Vec::new();
    for path in written_files(&["rs", "py", "cpp", "h"]) {
        for (number, line) in lines_of(&path) {
            let width = line.chars().count();
            if comment(&line).is_some_and(|text| can_be_wrapped(text, WIDEST_COMMENT))
                && width > WIDEST_COMMENT
            {
                wide.push(format!("{}:{number}: {width} columns", path.display()));
            }
        }
    }
    assert!(wide.is_empty(), "comments wrap at {WIDEST_COMMENT}:\n{}", wide.join("\n"));
}

#[test]
fn pages_fit_a_screen() {
    let mut wide = Vec::new();
    for path in written_files(&["md"]) {
        let mut in_code = false;
        for (number, line) in lines_of(&path) {
            in_code ^= line.trim_start().starts_with("```");
            let is_table = line.trim_start().starts_with('|');
            let width = line.chars().count();
            if !in_code && !is_table && can_be_wrapped(&line, WIDEST_PAGE) && width > WIDEST_PAGE {
                wide.push(format!("{}:{number}: {width} columns", path.display()));
            }
        }
    }
    assert!(wide.is_empty(), "pages wrap at {WIDEST_PAGE}:\n{}", wide.join("\n"));
}

#[test]
fn doc_comments_begin_with_what_they_are_about() {
    let mut riddles = Vec::new();
    for path in files_below(&root(), &["rs"]) {
        let mut inside = false;
        for (number, line) in lines_of(&path) {
            let text = doc(&line);
            if let Some(text) = text
                && !inside
                && begins_with_a_riddle(text, line.trim_start().starts_with("//!"))
            {
                riddles.push(format!("{}:{number}: {text}", path.display()));
            }
            inside = text.is_some();
        }
    }
    assert!(
        riddles.is_empty(),
        "{} doc comments begin with a riddle; begin with a noun or a verb:\n{}",
        riddles.len(),
        riddles.join("\n")
    );
}

/// The name of a type that a line declares for more than its own module.
fn exported_type(line: &str) -> Option<&str> {
    let rest = line.trim_start().strip_prefix("pub")?;
    let rest = if let Some(inside) = rest.strip_prefix('(') {
        let (scope, rest) = inside.split_once(')')?;
        if scope == "super" || scope == "self" {
            return None;
        }
        rest
    } else {
        rest
    };
    let rest = rest.trim_start();
    let rest =
        ["struct ", "enum ", "trait ", "union "].iter().find_map(|it| rest.strip_prefix(it))?;
    Some(&rest[..rest.find(|next: char| !next.is_alphanumeric()).unwrap_or(rest.len())])
}

#[test]
fn a_type_that_leaves_its_module_has_its_name_alone() {
    let mut twice = Vec::new();
    for folder in crate_folders() {
        let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
        let sources = folder.join("src");
        // A package may compile another one's sources.
        let sources = if sources.is_dir() { files_below(&sources, &["rs"]) } else { Vec::new() };
        for path in sources {
            for (number, line) in lines_of(&path) {
                if let Some(name) = exported_type(&line) {
                    let place = format!("{}:{number}", relative(&path));
                    places.entry(name.to_owned()).or_default().push(place);
                }
            }
        }
        twice.extend(
            places
                .into_iter()
                .filter(|(_, places)| places.len() > 1)
                .map(|(name, places)| format!("{name}: {}", places.join(", "))),
        );
    }
    assert!(twice.is_empty(), "exported types that share a name:\n{}", twice.join("\n"));
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[test]
fn the_rules_catch_what_they_forbid() {
    assert!(begins_with_a_riddle("Whether it rains.", false));
    assert!(begins_with_a_riddle("The same for all.", false));
    assert!(!begins_with_a_riddle("Item of a list.", false));
    assert!(begins_with_a_riddle("Its name.", false));
    let place = "Where files lie.";
    assert!(begins_with_a_riddle(place, true) && !begins_with_a_riddle(place, false));
    assert_eq!(exported_type("pub struct Swarm<'a> {"), Some("Swarm"));
    assert_eq!(exported_type("    pub(crate) enum Place {"), Some("Place"));
    assert_eq!(exported_type("pub(super) struct Place;"), None);
    assert_eq!(exported_type("struct Place;"), None);
    assert!(!can_be_wrapped(&"x".repeat(130), WIDEST_PAGE));
}
