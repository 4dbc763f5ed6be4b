//! Counts of constructs in kernels (lines, comments, guards, tiles, functions, branches, loops), by
//! the same rules for rows and for folders of real code.
//!
//! A kernel counts from its decorator to the end of its body; its functions are the ones in its
//! file that `@wp.func` decorates.

use crate::batch;
use crate::error::SynthError;
use crate::feature_count::kernels;
use crate::structure::{Token, tokens};
use gbxcule_files::python_files;
use std::collections::HashSet;
use std::fmt::Write as _;
use std::path::Path;

/// Constructs of a kernel.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Constructs {
    lines: usize,
    has_comment: bool,
    has_docstring: bool,
    returns_early: bool,
    has_tiles: bool,
    calls_function: bool,
    has_if: bool,
    has_nested_loop: bool,
}

/// Function that returns true if a kernel has a construct.
type HasConstruct = fn(&Constructs) -> bool;

/// Lines of the table that hold percentages: the name, and the function that says which kernels
/// count.
const SHARES: [(&str, HasConstruct); 7] = [
    ("comments", |it| it.has_comment),
    ("docstring", |it| it.has_docstring),
    ("early return", |it| it.returns_early),
    ("tiles", |it| it.has_tiles),
    ("functions of the user", |it| it.calls_function),
    ("`if`", |it| it.has_if),
    ("nested loops", |it| it.has_nested_loop),
];

/// Constructs of the kernels of a dataset, or of a folder of Python files.
#[derive(Clone, Debug, Default)]
pub struct ConstructCounts {
    kernels: Vec<Constructs>,
}

impl ConstructCounts {
    /// Counts the constructs of a dataset's rows, or else of the Python files below a folder.
    pub fn of_folder(folder: &Path) -> Result<Self, SynthError> {
        let mut counts = Self::default();
        if folder.join(batch::MANIFEST).exists() {
            let rows = batch::read_brief(folder, &|_| ())?;
            rows.iter().for_each(|row| counts.add(&row.source));
            return Ok(counts);
        }
        for path in python_files(folder)? {
            let text = gbxcule_files::read_text(&path, gbxcule_files::MAX_TEXT_BYTES)
                .map_err(SynthError::file(&path))?;
            counts.add(&text);
        }
        Ok(counts)
    }

    /// Returns the number of kernels.
    pub fn kernels(&self) -> usize {
        self.kernels.len()
    }

    fn add(&mut self, text: &str) {
        let tokens = tokens(text);
        let functions = functions(&tokens);
        for kernel in kernels(&tokens) {
            let start = tokens[kernel.start].0;
            let end = tokens.get(kernel.end).map_or(text.len(), |it| it.0);
            self.kernels.push(constructs(&text[start..end], &tokens[kernel], &functions));
        }
    }

    /// Returns the greatest number of lines among the shortest `percent` percent of the kernels.
    fn lines(&self, percent: usize) -> usize {
        let mut lines: Vec<usize> = self.kernels.iter().map(|it| it.lines).collect();
        lines.sort_unstable();
        lines
            .get((lines.len() * percent / 100).min(lines.len().saturating_sub(1)))
            .map_or(0, |it| *it)
    }
}

/// Returns a table with a column for each of the counts.
pub fn table(columns: &[(String, ConstructCounts)]) -> String {
    let mut text = String::from("| |");
    columns.iter().for_each(|(name, _)| _ = write!(text, " {name} |"));
    text += "\n|---|";
    columns.iter().for_each(|_| text += "---:|");
    text += "\n| kernels |";
    columns.iter().for_each(|(_, own)| _ = write!(text, " {} |", own.kernels()));
    text += "\n| lines, median / p95 |";
    columns
        .iter()
        .for_each(|(_, own)| _ = write!(text, " {} / {} |", own.lines(50), own.lines(95)));
    for (name, has) in SHARES {
        _ = write!(text, "\n| {name}, % |");
        for (_, own) in columns {
            let count = own.kernels.iter().filter(|it| has(it)).count();
            _ = write!(text, " {:.1} |", 100.0 * count as f64 / own.kernels().max(1) as f64);
        }
    }
    text + "\n"
}

/// Returns the names of the functions that a file decorates with `@wp.func`.
fn functions<'a>(tokens: &[(usize, Token<'a>)]) -> HashSet<&'a str> {
    let marked = tokens.windows(4).enumerate().filter(|(_, it)| {
        it[0].1 == Token::Mark("@")
            && it[1].1 == Token::Name("wp", false)
            && it[3].1 == Token::Name("func", true)
    });
    let defined = marked.filter_map(|(at, _)| {
        let after = tokens[at..].iter().map(|it| it.1);
        match after.skip_while(|it| *it != Token::Name("def", false)).nth(1)? {
            Token::Name(name, _) => Some(name),
            _ => None,
        }
    });
    defined.collect()
}

fn constructs(text: &str, tokens: &[(usize, Token<'_>)], functions: &HashSet<&str>) -> Constructs {
    let mut constructs = Constructs {
        lines: text.lines().filter(|line| !line.trim().is_empty()).count(),
        has_comment: text
            .lines()
            .any(|line| line.trim_start().starts_with('#') || line.contains("  #")),
        ..Constructs::default()
    };
    let (mut body, mut loops) = (None, Vec::new());
    let mut lines = Vec::new();
    for (at, (_, token)) in tokens.iter().enumerate() {
        if let Token::Line(margin) = token {
            lines.push((*margin, at + 1));
        }
    }
    let first = lines.first().map_or(0, |it| it.0);
    for &(margin, at) in &lines {
        // Lines inside brackets give no line token, so lines of parameters don't count as
        // statements.
        if margin > first {
            body.get_or_insert(margin);
        }
        loops.retain(|outer| *outer < margin);
        match tokens.get(at).map(|it| it.1) {
            Some(Token::Text) => {
                let next = tokens.get(at + 1).map(|it| it.1);
                constructs.has_docstring |= next.is_none_or(|it| matches!(it, Token::Line(_)));
            }
            Some(Token::Name("return", _)) => {
                constructs.returns_early |= body.is_some_and(|body| margin > body);
            }
            Some(Token::Name("if", _)) => constructs.has_if = true,
            Some(Token::Name("for" | "while", _)) => {
                constructs.has_nested_loop |= !loops.is_empty();
                loops.push(margin);
            }
            _ => {}
        }
    }
    for pair in tokens.windows(2) {
        if let (Token::Name(name, dotted), Token::Mark("(")) = (pair[0].1, pair[1].1) {
            constructs.has_tiles |= dotted && name.starts_with("tile_");
            constructs.calls_function |= !dotted && functions.contains(name);
        }
    }
    constructs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_construct_is_seen_where_it_is_and_nowhere_else() {
        let text = "@wp.func\ndef f(x: float):\n    return x\n\n\n@wp.kernel\ndef a(\n    x: wp.array(dtype=float),\n):\n    \
                    \"\"\"Words.\"\"\"\n    i = wp.tid()\n    if i > 3:  # a guard\n        return\n    for j in range(2):\n        \
                    for k in range(2):\n            x[i] = f(x[i])\n\n\n@wp.kernel\ndef b(x: wp.array(dtype=float)):\n    t = \
                    wp.tile_load(x, shape=4)\n    for j in range(2):\n        wp.printf(\"#\")\n    for j in range(2):\n        wp.tid()\n";
        let mut counts = ConstructCounts::default();
        counts.add(text);
        let all = Constructs {
            lines: 11,
            has_comment: true,
            has_docstring: true,
            returns_early: true,
            has_tiles: false,
            calls_function: true,
            has_if: true,
            has_nested_loop: true,
        };
        let second = Constructs { lines: 7, has_tiles: true, ..Constructs::default() };
        assert_eq!(counts.kernels, [all, second]);
        let table = table(&[("rows".into(), counts)]);
        assert!(table.contains("| tiles, % | 50.0 |") && table.contains("| 11 / 11 |"), "{table}");
    }
}
