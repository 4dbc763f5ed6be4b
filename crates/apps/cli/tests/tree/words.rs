//! The language of the sources and the pages: how wide they are, how doc comments begin, and that a
//! type's name means one thing in a crate (CONTRIBUTING.md "Plain words").

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::files::{crate_folders, files_below, lines_of, root};

const WIDEST_COMMENT: usize = 100;
const WIDEST_PAGE: usize = 120;

/// Words at a sentence's beginning that leave its subject unclear.
const RIDDLES: [&str; 12] = [
    "Who", "Whoever", "What", "Whatever", "Whether", "Which", "It", "Its", "They", "He", "She",
    "The same",
];

/// Folders of texts that our own programs print.
const PRINTED: [&str; 3] = ["crates/testing/testkit/samples", "docs/samples", "examples/dataset"];

/// Returns the files that people write.
fn written_files(extensions: &[&str]) -> Vec<PathBuf> {
    let mut files = files_below(&root(), extensions);
    files.retain(|path| PRINTED.iter().all(|folder| !relative(path).starts_with(folder)));
    files
}

/// Returns the text of a line that is only a comment.
fn comment(line: &str) -> Option<&str> {
    let line = line.trim_start();
    line.strip_prefix("//").or_else(|| line.strip_prefix("# "))
}

/// Returns true if a comment begins with such a word.
fn begins_with_a_riddle(sentence: &str) -> bool {
    let mut endings = RIDDLES.iter().filter_map(|word| sentence.strip_prefix(word));
    endings.any(|ending| !ending.starts_with(|next: char| next.is_alphanumeric()))
}

/// Returns the first sentence of a comment in a language of C's kind, or of a docstring of Python.
fn first_sentence<'a>(line: &'a str, before: &str) -> Option<&'a str> {
    let line = line.trim_start();
    if let Some(text) = line.strip_prefix("\"\"\"").or_else(|| line.strip_prefix("/*")) {
        return Some(text.trim_start_matches(['*', ' ']));
    }
    let follows = before.trim_start().starts_with("//");
    line.strip_prefix("//").filter(|_| !follows).map(|it| it.trim_start_matches(['/', '!', ' ']))
}

/// Returns the first sentence of a comment in Python or TOML.
fn first_sentence_behind_hash<'a>(line: &'a str, before: &str) -> Option<&'a str> {
    let follows = before.trim_start().starts_with('#');
    line.trim_start().strip_prefix("# ").filter(|_| !follows)
}

/// Returns true if a text has no word, such as a link, that is longer than a line may be.
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
fn comments_begin_with_what_they_are_about() {
    let mut riddles = Vec::new();
    for path in written_files(&["rs", "h", "c", "cpp", "js", "py", "toml"]) {
        let has_hashes = path.extension().is_some_and(|it| it == "py" || it == "toml");
        let mut before = String::new();
        for (number, line) in lines_of(&path) {
            let behind_hash = first_sentence_behind_hash(&line, &before).filter(|_| has_hashes);
            let sentence = first_sentence(&line, &before).or(behind_hash);
            if sentence.is_some_and(begins_with_a_riddle) {
                riddles.push(format!("{}:{number}: {}", path.display(), line.trim_start()));
            }
            before = line;
        }
    }
    assert!(riddles.is_empty(), "begin with a noun or a verb:\n{}", riddles.join("\n"));
}

/// Returns the name of a type that a line declares for other modules.
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
        // A package may compile the sources of another one.
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

/// Returns the name of a constant that a line declares, in Rust or in Python.
fn constant(line: &str) -> Option<&str> {
    let is_name = |character: char| matches!(character, 'A'..='Z' | '0'..='9' | '_');
    let rest = line.split_once("const ").map_or(line, |(_, rest)| rest);
    let end = rest.find(|character| !is_name(character)).unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    (!name.is_empty() && rest.trim_start().starts_with([':', '='])).then_some(name)
}

/// Returns true if the name of a limit is not `MAX_` or `MIN_` and what it limits.
fn is_limit_of_another_form(name: &str) -> bool {
    let begins = ["MOST_", "LONGEST_", "LARGEST_", "LEAST_", "SHORTEST_", "FEWEST_"];
    let ends = ["_MAX", "_MIN"];
    let name = name.trim_start_matches('_');
    begins.iter().any(|prefix| name.starts_with(prefix))
        || ends.iter().any(|end| name.ends_with(end))
}

#[test]
fn limits_begin_with_max_or_min() {
    let mut wrong = Vec::new();
    let mut files = written_files(&["rs", "py"]);
    // There such a name is an address in a game's memory.
    files.retain(|path| !(relative(path).starts_with("games/") && path.ends_with("program.py")));
    for path in files {
        for (number, line) in lines_of(&path) {
            if let Some(name) = constant(&line).filter(|name| is_limit_of_another_form(name)) {
                wrong.push(format!("{}:{number}: {name}", relative(&path)));
            }
        }
    }
    assert!(wrong.is_empty(), "limits are called MAX_X and MIN_X:\n{}", wrong.join("\n"));
}

fn relative(path: &Path) -> String {
    path.strip_prefix(root()).unwrap_or(path).display().to_string()
}

#[test]
fn the_rules_catch_what_they_forbid() {
    assert!(begins_with_a_riddle("Whether it rains.") && begins_with_a_riddle("Its name."));
    assert!(begins_with_a_riddle("The same for all.") && !begins_with_a_riddle("Item of a list."));
    assert_eq!(first_sentence("/* What it is. */", ""), Some("What it is. */"));
    assert_eq!(first_sentence("    //! What it is.", ""), Some("What it is."));
    assert_eq!(first_sentence("// what goes on.", "// A sentence"), None);
    assert_eq!(first_sentence_behind_hash("    # What it is.", ""), Some("What it is."));
    assert_eq!(first_sentence_behind_hash("# what goes on.", "# A sentence"), None);
    assert_eq!(exported_type("pub struct Swarm<'a> {"), Some("Swarm"));
    assert_eq!(exported_type("    pub(crate) enum Place {"), Some("Place"));
    assert_eq!(exported_type("pub(super) struct Place;"), None);
    assert_eq!(exported_type("struct Place;"), None);
    assert!(!can_be_wrapped(&"x".repeat(130), WIDEST_PAGE));
    assert_eq!(constant("pub const ROWS: usize = 4;"), Some("ROWS"));
    assert_eq!(constant("ROWS_MAX = 4"), Some("ROWS_MAX"));
    assert_eq!(constant("    let rows = ROWS;"), None);
    assert!(is_limit_of_another_form("_MOST_ROWS") && is_limit_of_another_form("ROWS_MAX"));
    assert!(!is_limit_of_another_form("MAX_ROWS"));
}
