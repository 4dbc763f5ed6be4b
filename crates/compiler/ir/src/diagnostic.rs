//! Faults of the user's program as data, and the one renderer.
//!
//! A pass that finds faults pushes [`Diagnostic`]s and goes on; no pass prints. Messages are lower
//! case, without full stop, say what was found and what is allowed, and spell types as the user
//! does.

mod code;

pub use code::{Code, CodeSource};

use crate::source::{SourceMap, Span};
use annotate_snippets::{AnnotationKind, Level, Renderer, Snippet};

/// Severity of a diagnostic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    /// The program is refused.
    Error,
    /// The program is accepted, but it may not do what its author thinks.
    Warning,
}

/// A place in the text with a few words about it. The first label of a diagnostic is its place.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// Place of the label.
    pub span: Span,
    /// Text beside the label; may be empty.
    pub text: String,
}

/// One fault of the user's program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// Stable name such as `type-mismatch`, by which surveys count.
    pub code: Code,
    /// Error or warning.
    pub severity: Severity,
    /// Message: what was found and what is allowed.
    pub message: String,
    /// Labelled places, the main one first.
    pub labels: Vec<Label>,
    /// Advice on what to do instead.
    pub help: Option<String>,
}

impl Diagnostic {
    /// Makes an error at `span`.
    pub fn error(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Error, span, message.into())
    }

    /// Makes a warning at `span`.
    pub fn warning(code: Code, span: Span, message: impl Into<String>) -> Self {
        Self::new(code, Severity::Warning, span, message.into())
    }

    fn new(code: Code, severity: Severity, span: Span, message: String) -> Self {
        let labels = vec![Label { span, text: String::new() }];
        Self { code, severity, message, labels, help: None }
    }

    /// Adds a text to the main place.
    #[must_use]
    pub fn here(mut self, text: impl Into<String>) -> Self {
        self.labels[0].text = text.into();
        self
    }

    /// Adds a label at another place.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label { span, text: text.into() });
        self
    }

    /// Adds advice on what to do instead.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help = Some(text.into());
        self
    }

    /// Returns the main place.
    pub fn span(&self) -> Span {
        self.labels.first().map_or(Span::NONE, |label| label.span)
    }
}

/// Returns true if one of these diagnostics refuses the program.
pub fn has_errors(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|diagnostic| diagnostic.severity == Severity::Error)
}

/// Renders diagnostics with a blank line between them. The text has no colours: printers escape
/// control characters, which a hostile text may contain.
pub fn render(diagnostics: &[Diagnostic], sources: &SourceMap) -> String {
    let renderer = Renderer::plain();
    let texts: Vec<String> =
        diagnostics.iter().map(|diagnostic| render_one(&renderer, diagnostic, sources)).collect();
    texts.join("\n")
}

fn render_one(renderer: &Renderer, diagnostic: &Diagnostic, sources: &SourceMap) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let mut group = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code.name())
        .elements(snippets(diagnostic, sources));
    if let Some(help) = &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }
    let mut text = renderer.render(&[group]);
    text.push('\n');
    text
}

fn snippets<'a>(
    diagnostic: &'a Diagnostic,
    sources: &'a SourceMap,
) -> Vec<Snippet<'a, annotate_snippets::Annotation<'a>>> {
    let place = |span: Span| span.source().map(|id| (id, sources.get(id).part(span.start)));
    let mut seen = Vec::new();
    let mut snippets = Vec::new();
    for (id, part) in diagnostic.labels.iter().filter_map(|label| place(label.span)) {
        if seen.contains(&(id, part)) {
            continue;
        }
        seen.push((id, part));
        let source = sources.get(id);
        let is_here = |label: &&Label| place(label.span) == Some((id, part));
        let labels = diagnostic.labels.iter().filter(is_here);
        let spans: Vec<_> = labels.map(|label| clamped(label.span, &source.text)).collect();
        let (text, begin) = lines_around(&source.text, &spans);
        let (line, _) = source.line_column(begin as u32);
        // The text begins one line before the marked lines, and that line may belong to the text
        // before the part.
        let (file, line) = part.map_or((&source.name, line), |part| {
            (&part.file, (part.line + line).saturating_sub(part.first))
        });
        let mut snippet = Snippet::source(text).line_start(line).path(file);
        for (rank, label) in diagnostic.labels.iter().enumerate() {
            if !is_here(&label) {
                continue;
            }
            let kind = if rank == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            let span = clamped(label.span, &source.text);
            let mut mark = kind.span(span.start - begin..span.end - begin);
            if !label.text.is_empty() {
                mark = mark.label(label.text.as_str());
            }
            snippet = snippet.annotation(mark);
        }
        snippets.push(snippet);
    }
    snippets
}

/// Returns the lines of a text that hold all of some spans, with one more line on either side, and
/// the byte at which they begin. The renderer reads its whole input for each diagnostic, so the
/// input must be short.
fn lines_around<'a>(text: &'a str, spans: &[std::ops::Range<usize>]) -> (&'a str, usize) {
    let first = spans.iter().map(|span| span.start).min().unwrap_or(0);
    let last = spans.iter().map(|span| span.end).max().unwrap_or(0);
    let line_begin = |at: usize| text[..at].rfind('\n').map_or(0, |before| before + 1);
    let line_end = |at: usize| text[at..].find('\n').map_or(text.len(), |more| at + more + 1);
    let begin = line_begin(line_begin(first).saturating_sub(1));
    (&text[begin..line_end(line_end(last))], begin)
}

/// Clamps a span to the text and to character boundaries, so that rendering never panics.
fn clamped(span: Span, text: &str) -> std::ops::Range<usize> {
    let start = text.floor_char_boundary(span.start as usize);
    let end = text.ceil_char_boundary(span.end as usize);
    start..end.max(start)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Part;

    #[test]
    fn lines_of_another_file_are_shown_where_they_stand_there() {
        let mut sources = SourceMap::new();
        let id = sources.add("a.py", "x = 1\n\ny = 2\n");
        let part = Part { first: 3, count: 1, file: "b.py".to_owned(), line: 40 };
        sources.set_parts(id, vec![part]);
        let fault = Diagnostic::error(Code::PythonSyntax, Span::new(id, 7, 8), "m")
            .label(Span::new(id, 0, 1), "n");
        let text = render(&[fault], &sources);
        assert!(text.contains("--> b.py:40:1") && text.contains("a.py:1:1"), "{text}");
    }

    #[test]
    fn spans_beyond_the_text_do_not_panic() {
        let mut sources = SourceMap::new();
        let id = sources.add("a.py", "ü");
        let beyond = Diagnostic::warning(Code::Recursion, Span::new(id, 1, 99), "odd");
        let nowhere = Diagnostic::error(Code::Recursion, Span::NONE, "odd");
        assert!(render(&[beyond, nowhere], &sources).contains("warning[recursion]"));
    }

    #[test]
    fn places_far_apart_and_at_the_ends_of_a_text_are_shown_with_their_lines() {
        let mut sources = SourceMap::new();
        let text: String = (1..=9).map(|line| format!("line {line}\r\n")).collect();
        let end = text.len() as u32;
        let id = sources.add("far.py", text);
        let at = |start, end| Span::new(id, start, end);
        let far = Diagnostic::error(Code::Recursion, at(end - 4, end - 2), "far")
            .label(at(0, 4), "the other");
        let shown = render(&[far], &sources);
        assert!(shown.contains("--> far.py:9:5"), "{shown}");
        assert!(shown.contains("1 | line 1") && shown.contains("9 | line 9"), "{shown}");
        for place in [at(0, 0), at(0, 1), at(end - 1, end), at(end, end), at(end + 9, end + 9)] {
            assert!(
                render(&[Diagnostic::error(Code::Recursion, place, "there")], &sources).len() > 9
            );
        }
    }
}
