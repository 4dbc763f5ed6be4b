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

/// Verbs that docs of functions were found to begin with: "Writes a file", not "Write a file".
const IMPERATIVES: [&str; 70] = [
    "Accept",
    "Add",
    "Allow",
    "Append",
    "Apply",
    "Ask",
    "Begin",
    "Bring",
    "Build",
    "Choose",
    "Clear",
    "Close",
    "Collect",
    "Compile",
    "Compute",
    "Convert",
    "Create",
    "Decide",
    "Decode",
    "Describe",
    "Disconnect",
    "Do",
    "Draw",
    "Drop",
    "Emit",
    "Encode",
    "Ensure",
    "Evaluate",
    "Execute",
    "Fill",
    "Find",
    "Forget",
    "Generate",
    "Get",
    "Give",
    "Go",
    "Insert",
    "Load",
    "Lock",
    "Make",
    "Measure",
    "Merge",
    "Move",
    "Open",
    "Parse",
    "Pick",
    "Put",
    "Raise",
    "Read",
    "Refuse",
    "Remove",
    "Replace",
    "Resolve",
    "Restore",
    "Return",
    "Run",
    "Save",
    "Say",
    "See",
    "Send",
    "Serve",
    "Skip",
    "Sort",
    "Take",
    "Tell",
    "Understand",
    "Wait",
    "Walk",
    "Weigh",
    "Write",
];

/// Words that are verbs in front of an object ("Step every shard") and else nouns ("Step of a
/// wave").
const IMPERATIVES_OR_NOUNS: [&str; 39] = [
    "Break", "Call", "Change", "Check", "Compare", "Copy", "Count", "Cut", "End", "Fold", "Follow",
    "Format", "Free", "Guard", "Handle", "Hold", "Join", "Keep", "Launch", "Leave", "List", "Look",
    "Mark", "Match", "Name", "Pass", "Place", "Press", "Print", "Record", "Reset", "Set", "Show",
    "Start", "Step", "Stop", "Sync", "Test", "Use",
];

/// Words that may stand before `fn`, beside `pub`.
const FN_MODIFIERS: [&str; 5] = ["const", "unsafe", "extern", "\"C\"", "async"];

/// Words with which an object may begin.
const DETERMINERS: [&str; 15] = [
    "a", "an", "all", "and", "another", "each", "every", "its", "no", "one", "some", "the",
    "these", "this", "until",
];

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

/// Returns true if a sentence commands instead of telling: "Step every shard."
fn is_imperative(sentence: &str) -> bool {
    let mut words = sentence.split(|next: char| !next.is_alphanumeric());
    let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    IMPERATIVES.contains(&first)
        || IMPERATIVES_OR_NOUNS.contains(&first) && DETERMINERS.contains(&second)
}

/// Returns true if a line declares a function.
fn declares_function(line: &str) -> bool {
    let is_modifier = |word: &str| word.starts_with("pub") || FN_MODIFIERS.contains(&word);
    line.split_whitespace().find(|word| !is_modifier(word)) == Some("fn")
}

/// The sentence with which a comment begins in a language of C's kind, or a docstring of Python.
fn first_sentence<'a>(line: &'a str, before: &str) -> Option<&'a str> {
    let line = line.trim_start();
    if let Some(text) = line.strip_prefix("\"\"\"").or_else(|| line.strip_prefix("/*")) {
        return Some(text.trim_start_matches(['*', ' ']));
    }
    let follows = before.trim_start().starts_with("//");
    line.strip_prefix("//").filter(|_| !follows).map(str::trim_start)
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

#[test]
fn comments_of_headers_pages_and_python_begin_with_what_they_are_about() {
    let mut riddles = Vec::new();
    for path in written_files(&["h", "c", "cpp", "js", "py"]) {
        let mut before = String::new();
        for (number, line) in lines_of(&path) {
            if first_sentence(&line, &before).is_some_and(|text| begins_with_a_riddle(text, false))
            {
                riddles.push(format!("{}:{number}: {}", path.display(), line.trim_start()));
            }
            before = line;
        }
    }
    assert!(riddles.is_empty(), "begin with a noun or a verb:\n{}", riddles.join("\n"));
}

#[test]
fn docs_of_functions_tell_and_do_not_command() {
    let mut commands = Vec::new();
    for path in files_below(&root(), &["rs"]) {
        let mut sentence: Option<(usize, String)> = None;
        for (number, line) in lines_of(&path) {
            if let Some(text) = doc(&line) {
                sentence.get_or_insert_with(|| (number, text.to_owned()));
            } else if !line.trim_start().starts_with("#[") {
                let of_function = sentence.take().filter(|_| declares_function(&line));
                if let Some((number, text)) = of_function.filter(|(_, text)| is_imperative(text)) {
                    commands.push(format!("{}:{number}: {text}", path.display()));
                }
            }
        }
    }
    assert!(
        commands.is_empty(),
        "{} docs of functions are imperatives; write \"Steps every machine\":\n{}",
        commands.len(),
        commands.join("\n")
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

/// The name of a constant that a line declares, in Rust or in Python.
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
    begins.iter().any(|prefix| name.starts_with(prefix))
        || ends.iter().any(|end| name.ends_with(end))
}

#[test]
fn limits_begin_with_max_or_min() {
    let mut wrong = Vec::new();
    let mut files = written_files(&["rs", "py"]);
    // There such a name is a place in a game's memory.
    files.retain(|path| !relative(path).starts_with("crates/swarm/swarm/src/program/game"));
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
    assert!(begins_with_a_riddle("Whether it rains.", false));
    assert!(begins_with_a_riddle("The same for all.", false));
    assert!(!begins_with_a_riddle("Item of a list.", false));
    assert!(begins_with_a_riddle("Its name.", false));
    assert!(is_imperative("Write a file whole.") && is_imperative("Step every shard."));
    assert!(!is_imperative("Writes a file whole.") && !is_imperative("Step of a wave."));
    assert!(declares_function("    pub(crate) const fn write(") && !declares_function("fnord"));
    assert!(
        declares_function("pub extern \"C\" fn write()") && !declares_function("pub write: u8,")
    );
    assert_eq!(first_sentence("/* What it is. */", ""), Some("What it is. */"));
    assert_eq!(first_sentence("// what goes on.", "// A sentence"), None);
    let place = "Where files lie.";
    assert!(begins_with_a_riddle(place, true) && !begins_with_a_riddle(place, false));
    assert_eq!(exported_type("pub struct Swarm<'a> {"), Some("Swarm"));
    assert_eq!(exported_type("    pub(crate) enum Place {"), Some("Place"));
    assert_eq!(exported_type("pub(super) struct Place;"), None);
    assert_eq!(exported_type("struct Place;"), None);
    assert!(!can_be_wrapped(&"x".repeat(130), WIDEST_PAGE));
    assert_eq!(constant("pub const ROWS: usize = 4;"), Some("ROWS"));
    assert_eq!(constant("ROWS_MAX = 4"), Some("ROWS_MAX"));
    assert_eq!(constant("    let rows = ROWS;"), None);
    assert!(is_limit_of_another_form("MOST_ROWS") && is_limit_of_another_form("ROWS_MAX"));
    assert!(!is_limit_of_another_form("MAX_ROWS"));
}
