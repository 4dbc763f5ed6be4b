//! Parses source texts, and converts places in syntax to spans.

use super::cfg;
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::{SourceId, SourceMap, Span};
use syn::spanned::Spanned;

/// A parsed text.
pub(super) struct File {
    id: SourceId,
    /// Module path that follows from the text's own path: `ppu::line` for `src/ppu/line.rs`.
    pub(super) modules: Vec<String>,
    pub(super) syntax: syn::File,
}

impl File {
    /// Parses a text. The items of the crate's root lie in `lib.rs` or `main.rs`.
    pub(super) fn parse(
        path: &str,
        text: &str,
        flags: &[&str],
        sources: &mut SourceMap,
    ) -> Result<Self, Diagnostic> {
        let id = sources.add(path, text);
        let inner = path.rsplit_once("src/").map_or(path, |(_, inner)| inner);
        let mut modules: Vec<String> =
            inner.trim_end_matches(".rs").split('/').map(str::to_string).collect();
        if modules.last().is_some_and(|last| ["lib", "main", "mod"].contains(&last.as_str())) {
            modules.pop();
        }
        let mut syntax = syn::parse_file(text).map_err(|error| {
            Diagnostic::error(Code::RustSyntax, within(id, error.span()), error.to_string())
        })?;
        cfg::apply(&mut syntax, flags);
        Ok(Self { id, modules, syntax })
    }

    /// Returns the place of a piece of the text's syntax.
    pub(super) fn span(&self, at: &impl Spanned) -> Span {
        within(self.id, at.span())
    }
}

fn within(id: SourceId, span: proc_macro2::Span) -> Span {
    let bytes = span.byte_range();
    Span::new(id, bytes.start as u32, bytes.end as u32)
}
