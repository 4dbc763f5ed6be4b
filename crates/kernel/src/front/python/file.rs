//! The texts of a program: its own file, and the files beside it that it imports from. `loader` brings those.
//!
//! Texts lie one behind the other in one space of bytes, so that a place in any tree says which text it is in.

use super::syntax::{self, Ranged, Tree};
use crate::diagnostic::Diagnostic;
use crate::source::{SourceId, SourceMap, Span};
use rustc_hash::FxHashMap;
use std::path::PathBuf;

/// A parsed text.
pub(super) struct Text {
    pub(super) id: SourceId,
    /// Where it begins in the space of all texts.
    begin: u32,
    /// What is taken from a byte of that space to get a byte of the text.
    shift: u32,
    pub(super) text: String,
    pub(super) tree: Tree,
}

/// A module that a text may import.
pub(super) struct Neighbour {
    /// Its file without the ending, or the folder of a package.
    pub(super) stem: PathBuf,
    /// What messages call it.
    pub(super) name: String,
    pub(super) content: Content,
    /// Modules in it, by their names.
    pub(super) children: FxHashMap<String, usize>,
}

/// What is in a module's file.
pub(super) enum Content {
    /// A text, by its number.
    Text(usize),
    /// No Python.
    Faulty(Box<Diagnostic>),
    /// There is no file: a folder.
    Folder,
}

/// What an import leads to: a neighbour, or the files that were looked for.
pub(super) type Target = Result<usize, Vec<String>>;

/// All texts of a program.
pub(super) struct Files {
    pub(super) texts: Vec<Text>,
    pub(super) neighbours: Vec<Neighbour>,
    /// By the importing text, the dots before the module's name, and its name.
    pub(super) imports: FxHashMap<(usize, u32, String), Target>,
    /// Whether other files could be read at all.
    pub(super) is_beside: bool,
}

impl Files {
    /// A text alone.
    pub(super) fn alone(sources: &SourceMap, id: SourceId) -> Result<Self, Vec<Diagnostic>> {
        let mut files = Self {
            texts: Vec::new(),
            neighbours: Vec::new(),
            imports: FxHashMap::default(),
            is_beside: false,
        };
        files.add(id, &sources.get(id).text)?;
        Ok(files)
    }

    pub(super) fn add(&mut self, id: SourceId, text: &str) -> Result<usize, Vec<Diagnostic>> {
        let begin = self.texts.last().map_or(0, |last| last.begin + last.text.len() as u32 + 8);
        let mark =
            if begin == 0 { 0 } else { text.len() - text.trim_start_matches('\u{feff}').len() };
        let shift = begin.wrapping_sub(mark as u32);
        let place = |start: u32, end: u32| {
            Span::new(id, start.wrapping_sub(shift), end.wrapping_sub(shift))
        };
        let tree = syntax::parse(&text[mark..], begin, place)?;
        self.texts.push(Text { id, begin, shift, text: text.to_owned(), tree });
        Ok(self.texts.len() - 1)
    }

    /// Where something lies in its text.
    pub(super) fn span(&self, node: &impl Ranged) -> Span {
        let (start, end) = (syntax::start(node), syntax::end(node));
        let text = &self.texts[self.text_at(start)];
        Span::new(text.id, start.wrapping_sub(text.shift), end.wrapping_sub(text.shift))
    }

    /// The number of the text that a byte is in.
    fn text_at(&self, byte: u32) -> usize {
        self.texts.partition_point(|text| text.begin <= byte).max(1) - 1
    }

    /// The text of a span.
    pub(super) fn quote(&self, span: Span) -> &str {
        let text = self.texts.iter().find(|text| Some(text.id) == span.source());
        text.and_then(|it| it.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// What an import in a text leads to; `None` if it wasn't followed.
    pub(super) fn target(&self, text: usize, level: u32, module: &str) -> Option<&Target> {
        self.imports.get(&(text, level, module.to_owned()))
    }

    /// Which files were looked for in vain for a module, or for one that a dotted path begins with.
    pub(super) fn looked_for(&self, path: &str) -> Option<&[String]> {
        let misses = self.imports.iter().filter_map(|((_, level, module), target)| {
            let begins = path.strip_prefix(module.as_str());
            let begins = begins.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
            let looked = target.as_ref().err()?;
            (*level == 0 && begins).then_some((module.len(), looked.as_slice()))
        });
        misses.max_by_key(|(len, _)| *len).map(|(_, looked)| looked)
    }
}
