//! Source texts and spans into them.
//!
//! Every item of the IR carries a [`Span`] into a text of a [`SourceMap`]. The map itself stays
//! outside the IR: only the diagnostic renderer and writers that quote source lines need the text.

use rustc_hash::FxHashMap;
use std::fmt;

/// One text of a [`SourceMap`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SourceId(u32);

impl SourceId {
    /// Returns the source that was added after this many others.
    pub fn from_index(index: u32) -> Self {
        Self(index)
    }

    /// Returns the number of texts that were added before this one.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The outcome of reading a file that a text imports.
#[derive(Clone, Debug)]
pub enum FileText {
    /// The text of the file.
    Text(String),
    /// The file doesn't exist.
    Nothing,
    /// The path can't be read as a file, for a reason such as "this is a folder, not a file".
    Refused(String),
}

impl From<Option<String>> for FileText {
    fn from(text: Option<String>) -> Self {
        text.map_or(Self::Nothing, Self::Text)
    }
}

/// A range of bytes in one source text.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Span {
    source: u32,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The span of generated code, which stands in no source.
    pub const NONE: Self = Self { source: u32::MAX, start: 0, end: 0 };

    /// Makes the span of the bytes `start..end` of `source`.
    pub fn new(source: SourceId, start: u32, end: u32) -> Self {
        Self { source: source.0, start, end }
    }

    /// Returns the text that this span points into; `None` for [`Span::NONE`].
    pub fn source(self) -> Option<SourceId> {
        (self.source != u32::MAX).then_some(SourceId(self.source))
    }

    /// Returns true if the span points into a source; false for generated code.
    pub fn is_some(self) -> bool {
        self.source != u32::MAX
    }

    /// Returns the smallest span that covers both; for spans of different texts, the first.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        if !self.is_some() {
            return other;
        }
        if self.source != other.source {
            return self;
        }
        let (start, end) = (self.start.min(other.start), self.end.max(other.end));
        Self { source: self.source, start, end }
    }
}

impl Default for Span {
    fn default() -> Self {
        Self::NONE
    }
}

impl fmt::Debug for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.source() {
            Some(SourceId(id)) => write!(f, "{id}:{}..{}", self.start, self.end),
            None => f.write_str("none"),
        }
    }
}

/// Lines of a text that were taken from a place of another file, where messages point.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// First of the lines in the text, counted from 1.
    pub first: usize,
    /// Number of lines.
    pub count: usize,
    /// Name of the file.
    pub file: String,
    /// Number of the first of these lines in the file, from 1 on.
    pub line: usize,
}

/// A named text.
#[derive(Clone, Debug)]
pub struct Source {
    /// Name for messages: a path, or a made-up name such as `<string>`.
    pub name: String,
    /// The whole text.
    pub text: String,
    line_starts: Vec<u32>,
    parts: Vec<Part>,
}

impl Source {
    /// Returns the part of another file that holds a byte, if one does.
    pub fn part(&self, byte: u32) -> Option<&Part> {
        let (line, _) = self.line_column(byte);
        self.parts.iter().find(|part| (part.first..part.first + part.count).contains(&line))
    }

    /// Returns the line and the column (in characters) of a byte, both counted from 1.
    pub fn line_column(&self, byte: u32) -> (usize, usize) {
        let line = self.line_starts.partition_point(|&start| start <= byte).max(1);
        let start = self.line_starts[line - 1] as usize;
        let end = (byte as usize).min(self.text.len());
        let column = self.text.get(start..end).map_or(0, |text| text.chars().count());
        (line, column + 1)
    }

    /// Returns a line, counted from 1, without its line end; empty past the last one.
    pub fn line(&self, line: usize) -> &str {
        let Some(&start) = line.checked_sub(1).and_then(|index| self.line_starts.get(index)) else {
            return "";
        };
        let end = self.line_starts.get(line).map_or(self.text.len(), |&next| next as usize);
        self.text[start as usize..end].trim_end_matches(['\n', '\r'])
    }
}

/// All texts of one compilation.
#[derive(Clone, Default, Debug)]
pub struct SourceMap {
    sources: Vec<Source>,
    /// Texts by name: a file that changed has several texts.
    ids_by_name: FxHashMap<String, Vec<SourceId>>,
}

impl SourceMap {
    /// Makes an empty map.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a text. A text that the map has already under this name is not stored twice.
    pub fn add(&mut self, name: impl Into<String>, text: impl Into<String>) -> SourceId {
        let (name, text) = (name.into(), text.into());
        let ids = self.ids_by_name.entry(name.clone()).or_default();
        if let Some(&id) = ids.iter().find(|id| self.sources[id.index()].text == text) {
            return id;
        }
        let id = SourceId(self.sources.len() as u32);
        ids.push(id);
        // The standard library's search takes several bytes at a time.
        let ends = text.match_indices('\n');
        let line_starts = std::iter::once(0).chain(ends.map(|(end, _)| end as u32 + 1)).collect();
        self.sources.push(Source { name, text, line_starts, parts: Vec::new() });
        id
    }

    /// Notes which lines of a text were taken from other files.
    pub fn set_parts(&mut self, id: SourceId, parts: Vec<Part>) {
        self.sources[id.index()].parts = parts;
    }

    /// Returns a text that was added before.
    pub fn get(&self, id: SourceId) -> &Source {
        &self.sources[id.0 as usize]
    }

    /// Returns the text that a span covers; empty for [`Span::NONE`].
    pub fn text(&self, span: Span) -> &str {
        let Some(id) = span.source() else { return "" };
        self.get(id).text.get(span.start as usize..span.end as usize).unwrap_or("")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let mut map = SourceMap::new();
        let id = map.add("a.py", "x = 1\nü = x\n");
        let source = map.get(id);
        assert_eq!(source.line_column(0), (1, 1));
        assert_eq!(source.line_column(8), (2, 2));
        assert_eq!(source.line(2), "ü = x");
        assert_eq!(source.line(9), "");
    }

    #[test]
    fn a_text_is_kept_once_and_a_changed_one_anew() {
        let mut map = SourceMap::new();
        let first = map.add("a", "abc");
        assert_eq!(map.add("a", "abc"), first);
        assert_ne!(map.add("a", "abd"), first);
        assert_ne!(map.add("b", "abc"), first);
    }

    #[test]
    fn spans_join_within_a_text_only() {
        let mut map = SourceMap::new();
        let (a, b) = (map.add("a", "abc"), map.add("b", "abc"));
        assert_eq!(Span::new(a, 2, 3).to(Span::new(a, 0, 1)), Span::new(a, 0, 3));
        assert_eq!(Span::new(a, 2, 3).to(Span::new(b, 0, 1)), Span::new(a, 2, 3));
        assert_eq!(Span::NONE.to(Span::new(b, 0, 1)), Span::new(b, 0, 1));
    }
}
