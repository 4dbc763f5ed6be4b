//! Lines of a text: their indentation, the source lines that they quote, and the sites at which
//! something may fault.

use super::Site;
use gbxcule_ir::function::{FunctionId, Name};
use gbxcule_ir::source::{SourceId, SourceMap, Span};
use rustc_hash::FxHashSet;
use std::borrow::Cow;

/// The lines written so far.
pub(super) struct Lines<'a> {
    sources: Option<&'a SourceMap>,
    text: String,
    count: u32,
    sites: Vec<Site>,
    /// Function that is being written.
    function: FunctionId,
    pub(super) depth: usize,
    /// Place in the source of the statement that is being written.
    pub(super) span: Span,
    /// True while a value is written later than it was computed: its source line is not quoted
    /// again.
    pub(super) is_late: bool,
    /// File and line of the source line that was quoted last.
    quoted: Option<(Option<SourceId>, usize)>,
    /// Span that was looked up last.
    quoted_span: Option<Span>,
    /// All source lines that the function quoted.
    quoted_lines: FxHashSet<(Option<SourceId>, usize)>,
}

/// Position between two lines.
#[derive(Clone, Copy)]
pub(super) struct Mark {
    length: usize,
    count: u32,
    depth: usize,
}

impl<'a> Lines<'a> {
    pub(super) fn new(sources: Option<&'a SourceMap>) -> Self {
        Self {
            sources,
            text: String::new(),
            count: 0,
            sites: Vec::new(),
            function: FunctionId::from_index(0),
            depth: 0,
            span: Span::NONE,
            is_late: false,
            quoted: None,
            quoted_span: None,
            quoted_lines: FxHashSet::default(),
        }
    }

    /// Begins the text of a function.
    pub(super) fn enter(&mut self, function: FunctionId, span: Span) {
        (self.function, self.span) = (function, span);
        (self.quoted, self.quoted_span) = (None, None);
        self.quoted_lines.clear();
    }

    pub(super) fn sites(&self) -> &[Site] {
        &self.sites
    }

    pub(super) fn into_parts(self) -> (String, Vec<Site>) {
        (self.text, self.sites)
    }

    /// Appends text and counts its lines.
    pub(super) fn put(&mut self, text: &str) {
        self.text.push_str(text);
        self.count += text.bytes().filter(|&byte| byte == b'\n').count() as u32;
    }

    /// Writes a line of the current statement, after its source line if that was not quoted yet.
    pub(super) fn line(&mut self, text: &str) {
        self.line_of(&[text]);
    }

    /// Writes a line that consists of parts.
    pub(super) fn line_of(&mut self, parts: &[&str]) {
        self.line_with(None, parts);
    }

    /// Writes a line at which a `Trap` or `Assert` may give its message.
    pub(super) fn line_with(&mut self, message: Option<Name>, parts: &[&str]) {
        if self.depth > 0 && !parts.first().is_some_and(|part| part.starts_with('}')) {
            self.quote();
        }
        if self.span.is_some() || message.is_some() {
            let (line, function, span) = (self.count + 1, self.function, self.span);
            self.sites.push(Site { line, function, span, message });
        }
        self.indent();
        parts.iter().for_each(|part| self.put(part));
        self.put("\n");
    }

    fn indent(&mut self) {
        (0..self.depth).for_each(|_| self.text.push_str("    "));
    }

    fn quote(&mut self) {
        if self.quoted_span.replace(self.span) == Some(self.span) {
            return;
        }
        let Some((line, text)) = self.source_line() else { return };
        let now = (self.span.source(), line);
        let is_known = self.is_late && self.quoted_lines.contains(&now);
        if self.quoted != Some(now) && !text.is_empty() && !is_known {
            self.quoted = Some(now);
            self.quoted_lines.insert(now);
            self.indent();
            self.put(&format!("// {line}: {text}\n"));
        }
    }

    /// Returns the number and the text of the current source line.
    fn source_line(&self) -> Option<(usize, Cow<'a, str>)> {
        let source = self.sources?.get(self.span.source()?);
        let (line, _) = source.line_column(self.span.start);
        let text = source.line(line).trim();
        // A comment that ends with a backslash would go on in the next line.
        let text = text.trim_end_matches(|c: char| c == '\\' || c.is_whitespace());
        if !text.contains(char::is_control) {
            return Some((line, Cow::Borrowed(text)));
        }
        let text: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
        let end = text.trim_end_matches(|c: char| c == '\\' || c.is_whitespace()).len();
        Some((line, Cow::Owned(text[..end].to_owned())))
    }

    /// Returns the file and line of a span.
    pub(super) fn place(&self, span: Span) -> Option<(String, usize)> {
        let source = self.sources?.get(span.source()?);
        let (line, _) = source.line_column(span.start);
        Some((source.name.replace(|c: char| c.is_control(), " "), line))
    }

    /// Returns the position behind the last line.
    pub(super) fn mark(&self) -> Mark {
        Mark { length: self.text.len(), count: self.count, depth: self.depth }
    }

    /// Returns true if no line was written since a mark.
    pub(super) fn is_at(&self, mark: Mark) -> bool {
        self.text.len() == mark.length
    }

    /// Inserts a line at an earlier position of the text.
    pub(super) fn insert(&mut self, mark: Mark, text: &str) {
        let width = 4 * mark.depth;
        self.text.insert_str(mark.length, &format!("{:width$}{text}\n", ""));
        self.count += 1;
        let since = self.sites.partition_point(|site| site.line <= mark.count);
        self.sites[since..].iter_mut().for_each(|site| site.line += 1);
    }
}
