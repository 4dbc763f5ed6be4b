//! Source files to one list of lines: includes followed, macros written out, art drawn.

use std::collections::BTreeMap;

use crate::art::{self, Order};
use crate::error::{AssembleError, Complaint};

/// A line ready to be parsed, and where it came from.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) file: String,
    pub(crate) number: u32,
    pub(crate) text: String,
    pub(crate) used_at: Option<(String, u32)>,
}

impl Line {
    pub(crate) fn error(&self, complaint: Complaint) -> AssembleError {
        AssembleError {
            file: self.file.clone(),
            line: self.number,
            column: complaint.column,
            message: complaint.message,
            used_at: self.used_at.clone(),
        }
    }
}

/// Includes and macros inside each other at most so deep: they may be recursive.
const DEEPEST: usize = 16;

/// More lines than any source needs: recursive macros grow fast.
const MAX_LINES: usize = 200_000;

#[derive(Default)]
pub(crate) struct Expander<'a> {
    includes: Vec<(&'a str, &'a str)>,
    pub(crate) lines: Vec<Line>,
    pub(crate) errors: Vec<AssembleError>,
    macros: BTreeMap<String, Vec<Line>>,
    uses: usize,
}

/// Block whose lines are being collected.
enum Block {
    None,
    Macro { name: String, start: Line, body: Vec<Line> },
    Art { order: Order, start: Line, rows: Vec<Line> },
}

impl<'a> Expander<'a> {
    pub(crate) fn new(includes: Vec<(&'a str, &'a str)>) -> Expander<'a> {
        Expander { includes, ..Expander::default() }
    }

    /// Reads a whole file.
    pub(crate) fn file(&mut self, name: &str, text: &str, depth: usize) {
        let lines = text.lines().zip(1..).map(|(text, number)| Line {
            file: name.to_string(),
            number,
            text: text.to_string(),
            used_at: None,
        });
        self.expand(lines.collect(), depth);
    }

    fn expand(&mut self, lines: Vec<Line>, depth: usize) {
        let mut block = Block::None;
        for line in lines {
            block = match block {
                Block::None => self.line(line, depth),
                Block::Macro { name, start, body } => self.macro_line(name, start, body, line),
                Block::Art { order, start, rows } => self.art_line(order, start, rows, line),
            };
        }
        match block {
            Block::None => {}
            Block::Macro { start, .. } => self.complain(&start, "macro without its `endm`"),
            Block::Art { start, .. } => self.complain(&start, "art without its `endart`"),
        }
    }

    fn complain(&mut self, line: &Line, message: impl Into<String>) {
        let indent = line.text.len() - line.text.trim_start().len();
        self.errors.push(line.error(Complaint::new(indent as u32 + 1, message)));
    }

    fn line(&mut self, line: Line, depth: usize) -> Block {
        let text = without_comment(&line.text).trim().to_string();
        let (first, rest) = text.split_once(char::is_whitespace).unwrap_or((&text, ""));
        match (first, rest.trim()) {
            ("macro", "") => self.complain(&line, "macro without a name"),
            ("macro", name) => {
                return Block::Macro { name: name.to_string(), start: line, body: Vec::new() };
            }
            ("art", "") => return Block::Art { order: Order::Rows, start: line, rows: Vec::new() },
            ("art", "tall") => {
                return Block::Art { order: Order::Tall, start: line, rows: Vec::new() };
            }
            ("art", _) => self.complain(&line, "expected `art` or `art tall`"),
            ("include", name) => self.include(&line, name, depth),
            (name, arguments) if self.macros.contains_key(name) => {
                self.use_macro(&line, name, arguments, depth);
            }
            (label, rest) if label.ends_with(':') && self.is_macro(rest) => {
                self.push(Line { text: label.to_string(), ..line.clone() });
                return self.line(Line { text: rest.to_string(), ..line }, depth);
            }
            _ => self.push(line),
        }
        Block::None
    }

    fn is_macro(&self, text: &str) -> bool {
        text.split_whitespace().next().is_some_and(|word| self.macros.contains_key(word))
    }

    fn push(&mut self, line: Line) {
        if self.lines.len() < MAX_LINES {
            self.lines.push(line);
        }
    }

    fn include(&mut self, line: &Line, quoted: &str, depth: usize) {
        let name = quoted.trim_matches('"');
        let found = self.includes.iter().find(|include| include.0 == name).copied();
        match found {
            Some(_) if depth >= DEEPEST => {
                self.complain(line, format!("includes and macros more than {DEEPEST} deep"));
            }
            Some((name, text)) => self.file(name, text, depth + 1),
            None => {
                let known: Vec<&str> = self.includes.iter().map(|include| include.0).collect();
                let known = if known.is_empty() { "none".to_string() } else { known.join(", ") };
                self.complain(line, format!("no file `{name}` to include; there is {known}"));
            }
        }
    }

    fn use_macro(&mut self, line: &Line, name: &str, arguments: &str, depth: usize) {
        if depth >= DEEPEST {
            return self.complain(line, format!("includes and macros more than {DEEPEST} deep"));
        }
        self.uses += 1;
        let arguments = split_arguments(arguments);
        let used_at = line.used_at.clone().unwrap_or((line.file.clone(), line.number));
        let body = self.macros[name].clone();
        let mut lines = Vec::with_capacity(body.len());
        for mut inner in body {
            match substitute(&inner.text, &arguments, self.uses) {
                Ok(text) => inner.text = text,
                Err(missing) => {
                    let found = arguments.len();
                    let message = format!("`{name}` needs argument {missing}, found {found}");
                    return self.complain(line, message);
                }
            }
            inner.used_at = Some(used_at.clone());
            lines.push(inner);
        }
        self.expand(lines, depth + 1);
    }

    fn macro_line(&mut self, name: String, start: Line, mut body: Vec<Line>, line: Line) -> Block {
        if without_comment(&line.text).trim() != "endm" {
            body.push(line);
            return Block::Macro { name, start, body };
        }
        if self.macros.insert(name.clone(), body).is_some() {
            self.complain(&start, format!("macro `{name}` is defined twice"));
        }
        Block::None
    }

    fn art_line(&mut self, order: Order, start: Line, mut rows: Vec<Line>, line: Line) -> Block {
        if line.text.trim() != "endart" {
            rows.push(line);
            return Block::Art { order, start, rows };
        }
        let texts: Vec<String> = rows.iter().map(|row| row.text.clone()).collect();
        match art::tiles(&texts, order) {
            Ok(bytes) => {
                let bytes: Vec<String> = bytes.iter().map(u8::to_string).collect();
                self.lines.push(Line { text: format!("db {}", bytes.join(",")), ..start });
            }
            Err((row, complaint)) => {
                let error = rows.get(row).unwrap_or(&start).error(complaint);
                self.errors.push(error);
            }
        }
        Block::None
    }
}

/// The line up to a `;` that is in no text or character.
fn without_comment(text: &str) -> &str {
    let mut is_text = false;
    for (at, c) in text.char_indices() {
        match c {
            '"' => is_text = !is_text,
            ';' if !is_text && !text[..at].ends_with('\'') => return &text[..at],
            _ => {}
        }
    }
    text
}

/// The arguments between commas that are in no bracket and no text.
fn split_arguments(text: &str) -> Vec<String> {
    let (mut depth, mut is_text, mut arguments) = (0, false, vec![String::new()]);
    for c in text.chars() {
        match c {
            '"' => is_text = !is_text,
            '(' | '[' if !is_text => depth += 1,
            ')' | ']' if !is_text => depth -= 1,
            ',' if !is_text && depth == 0 => {
                arguments.push(String::new());
                continue;
            }
            _ => {}
        }
        if let Some(last) = arguments.last_mut() {
            last.push(c);
        }
    }
    let arguments = arguments.into_iter().map(|argument| argument.trim().to_string());
    arguments.filter(|argument| !argument.is_empty()).collect()
}

/// A macro's line with `\1` to `\9` replaced, and `\@` by a number that no other use has.
/// Fails with the number of the argument that is missing.
fn substitute(text: &str, arguments: &[String], using: usize) -> Result<String, usize> {
    let mut result = String::new();
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        match chars.next() {
            Some('@') => result.push_str(&using.to_string()),
            Some(digit @ '1'..='9') => {
                let number = digit as usize - '0' as usize;
                result.push_str(arguments.get(number - 1).ok_or(number)?);
            }
            Some(other) => result.extend(['\\', other]),
            None => result.push('\\'),
        }
    }
    Ok(result)
}
