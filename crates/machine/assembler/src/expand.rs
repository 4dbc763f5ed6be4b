//! Expands source files to one list of lines: follows includes, expands macros, draws art.

use std::collections::{BTreeMap, BTreeSet};

use crate::argument::{self, substitute};
use crate::art::{self, Order};
use crate::error::{AssembleError, Complaint};
use crate::layout::nearest;
use crate::lex::without_comment;

/// Line that is ready to be parsed, and its origin.
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

/// Greatest depth of includes and macros inside each other.
const MAX_DEPTH: usize = 16;

/// Greatest number of lines; no source needs as many, but macros that use macros grow fast.
const MAX_LINES: usize = 200_000;

/// Length of the longest line of a macro's expansion: arguments that are passed on twice grow fast.
const MAX_LINE_BYTES: usize = 10_000;

/// Greatest number of files that the complaint about a missing include names.
const MAX_NEAR: usize = 3;

/// Files that are read only when a source includes them.
pub trait Folder: std::fmt::Debug {
    /// Returns the names that `include` may have.
    fn names(&self) -> Vec<String>;

    /// Returns the text of the file with one of these names, or the reason why it can't be read.
    fn read(&self, name: &str) -> Result<String, String>;
}

#[derive(Default)]
pub(crate) struct Expander<'a> {
    folder: Option<&'a dyn Folder>,
    includes: Vec<(&'a str, &'a str)>,
    pub(crate) lines: Vec<Line>,
    pub(crate) errors: Vec<AssembleError>,
    macros: BTreeMap<String, Vec<Line>>,
    /// Macros with complaints, which are not expanded any more.
    refused: BTreeSet<String>,
    /// Macros around the present line, outermost first.
    macros_around: Vec<String>,
    files_around: Vec<String>,
    uses: usize,
    /// Number of lines so far; the lines of a macro count for each expansion.
    lines_met: usize,
}

/// Block whose lines are being collected.
enum Block {
    None,
    Macro { name: String, start: Line, body: Vec<Line> },
    Art { order: Order, start: Line, rows: Vec<Line> },
}

impl<'a> Expander<'a> {
    pub(crate) fn new(
        includes: Vec<(&'a str, &'a str)>,
        folder: Option<&'a dyn Folder>,
    ) -> Expander<'a> {
        Expander { includes, folder, ..Expander::default() }
    }

    /// Expands a whole file.
    pub(crate) fn file(&mut self, name: &str, text: &str, depth: usize) {
        // Some editors begin a file with a byte order mark.
        let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
        let lines = text.lines().zip(1..).take(MAX_LINES + 1).map(|(text, number)| Line {
            file: name.to_string(),
            number,
            text: text.to_string(),
            used_at: None,
        });
        self.files_around.push(name.to_string());
        self.expand(lines.collect(), depth);
        self.files_around.pop();
    }

    /// Returns true if lines beyond the limit were left out.
    pub(crate) fn is_cut(&self) -> bool {
        self.lines_met > MAX_LINES
    }

    /// Counts a line, and complains about the first one beyond the limit.
    fn meet(&mut self, line: &Line) {
        if self.is_cut() {
            return;
        }
        self.lines_met += 1;
        if self.is_cut() {
            let message = format!(
                "more than {MAX_LINES} lines, with includes read and macros written out; what \
                 follows is left out"
            );
            self.complain(line, message);
        }
    }

    fn expand(&mut self, lines: Vec<Line>, depth: usize) {
        let mut block = Block::None;
        for line in lines {
            self.meet(&line);
            if self.is_cut() {
                return;
            }
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
        if self.refused.contains(first) {
            return Block::None;
        }
        if self.macros.contains_key(first) {
            self.use_macro(&line, first, rest, depth);
            return Block::None;
        }
        match (first.to_ascii_lowercase().as_str(), rest.trim()) {
            ("macro", "") => self.complain(&line, "macro without a name"),
            ("macro", name) => return self.begin_macro(line, name),
            ("art", "") => return Block::Art { order: Order::Rows, start: line, rows: Vec::new() },
            ("art", "tall") => {
                return Block::Art { order: Order::Tall, start: line, rows: Vec::new() };
            }
            ("art", _) => self.complain(&line, "expected `art` or `art tall`"),
            ("include", name) => self.include(&line, name, depth),
            (_, rest) if first.ends_with(':') && self.is_macro(rest) => {
                self.lines.push(Line { text: first.to_string(), ..line.clone() });
                return self.line(Line { text: rest.to_string(), ..line }, depth);
            }
            _ => self.lines.push(line),
        }
        Block::None
    }

    fn is_macro(&self, text: &str) -> bool {
        let word = text.split_whitespace().next().unwrap_or_default();
        self.macros.contains_key(word) || self.refused.contains(word)
    }

    fn begin_macro(&mut self, start: Line, words: &str) -> Block {
        let (name, parameters) = words.split_once([' ', '\t', ',']).unwrap_or((words, ""));
        if !parameters.is_empty() {
            let message = format!(
                "macro `{name}` with names of arguments; its lines have `\\1` to `\\9` for them, \
                 and `macro {name}` is enough"
            );
            self.complain(&start, message);
            self.refused.insert(name.to_string());
        }
        Block::Macro { name: name.to_string(), start, body: Vec::new() }
    }

    fn include(&mut self, line: &Line, quoted: &str, depth: usize) {
        let name = quoted.trim_matches('"');
        if depth >= MAX_DEPTH {
            return self.complain(line, format!("includes and macros more than {MAX_DEPTH} deep"));
        }
        if self.files_around.iter().any(|file| file == name) {
            return self.complain(line, format!("`{name}` includes itself"));
        }
        match self.text_of(name) {
            Some(Ok(text)) => self.file(name, &text, depth + 1),
            Some(Err(reason)) => self.complain(line, format!("`{name}` can't be read: {reason}")),
            None => {
                let message = format!("no file `{name}` to include; {}", self.near_files(name));
                self.complain(line, message);
            }
        }
    }

    /// Returns the text of a file to include; files of the folder take precedence over others of
    /// the same name.
    fn text_of(&self, name: &str) -> Option<Result<String, String>> {
        let folder = self.folder.filter(|folder| folder.names().iter().any(|own| own == name));
        if let Some(folder) = folder {
            return Some(folder.read(name));
        }
        let include = self.includes.iter().find(|include| include.0 == name);
        include.map(|include| Ok(include.1.to_string()))
    }

    /// Lists the files with similar names, for the complaint about a missing file.
    fn near_files(&self, name: &str) -> String {
        let mut known = self.folder.map(|folder| folder.names()).unwrap_or_default();
        known.extend(self.includes.iter().map(|include| include.0.to_string()));
        if known.is_empty() {
            return "no files were given".to_string();
        }
        let near = nearest(name, known.iter(), MAX_NEAR);
        match near.is_empty() {
            true => format!("none of the {} that there are has a similar name", known.len()),
            false => {
                let near: Vec<String> = near.iter().map(|name| format!("`{name}`")).collect();
                format!("did you mean {}", near.join(" or "))
            }
        }
    }

    fn use_macro(&mut self, line: &Line, name: &str, arguments: &str, depth: usize) {
        if let Some(at) = self.macros_around.iter().position(|around| around == name) {
            let through = self.macros_around[at + 1..].join("`, `");
            let through =
                if through.is_empty() { through } else { format!(" through `{through}`") };
            self.macros.remove(name);
            self.refused.insert(name.to_string());
            return self.complain(line, format!("macro `{name}` uses itself{through}"));
        }
        if depth >= MAX_DEPTH {
            return self.complain(line, format!("includes and macros more than {MAX_DEPTH} deep"));
        }
        self.uses += 1;
        match self.written_out(line, name, arguments) {
            Ok(lines) => {
                self.macros_around.push(name.to_string());
                self.expand(lines, depth + 1);
                self.macros_around.pop();
            }
            Err(message) => self.complain(line, message),
        }
    }

    /// Returns the lines of a macro with the arguments of a use put in.
    fn written_out(&self, line: &Line, name: &str, text: &str) -> Result<Vec<Line>, String> {
        let body = &self.macros[name];
        let arguments = argument::split(text);
        if let Some(empty) = arguments.iter().position(String::is_empty) {
            return Err(format!("argument {} of `{name}` is empty", empty + 1));
        }
        let taken = body
            .iter()
            .map(|inner| argument::highest(without_comment(&inner.text)))
            .max()
            .unwrap_or(0);
        let found = arguments.len();
        if found < taken {
            return Err(format!("`{name}` needs argument {}, found {found}", found + 1));
        }
        if found > taken {
            let plural = if taken == 1 { "" } else { "s" };
            return Err(format!("`{name}` takes {taken} argument{plural}, found {found}"));
        }
        let used_at = line.used_at.clone().unwrap_or((line.file.clone(), line.number));
        let write = |inner: &Line| {
            let text = substitute(&inner.text, &arguments, self.uses);
            if text.len() > MAX_LINE_BYTES {
                return Err(format!("`{name}` writes a line of more than {MAX_LINE_BYTES} bytes"));
            }
            Ok(Line { text, used_at: Some(used_at.clone()), ..inner.clone() })
        };
        body.iter().map(write).collect()
    }

    fn macro_line(&mut self, name: String, start: Line, mut body: Vec<Line>, line: Line) -> Block {
        if !without_comment(&line.text).trim().eq_ignore_ascii_case("endm") {
            body.push(line);
            return Block::Macro { name, start, body };
        }
        if self.refused.contains(&name) {
            return Block::None;
        }
        if self.macros.insert(name.clone(), body).is_some() {
            self.complain(&start, format!("macro `{name}` is defined twice"));
        }
        Block::None
    }

    fn art_line(&mut self, order: Order, start: Line, mut rows: Vec<Line>, line: Line) -> Block {
        let text = without_comment(&line.text);
        if !text.trim().eq_ignore_ascii_case("endart") {
            // A line with only a comment is not a row.
            if text == line.text || !text.trim().is_empty() {
                rows.push(Line { text: text.to_string(), ..line });
            }
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
