//! Texts: each text is read and parsed once for all programs that import it.
//!
//! Texts lie one after the other in one space of bytes, so a position in any tree determines the
//! text that contains it.

use crate::decorator::is_plain;
use crate::outline::{Outline, Symbols};
use crate::syntax::{self, Changes, StmtFunctionDef, Tree};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::{FileText, SourceId, SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// A parsed text.
pub struct Text {
    /// Number of the file.
    pub id: SourceId,
    /// Position at which the text begins in the space of all texts.
    pub(crate) begin: u32,
    /// Number that is subtracted from a position in that space to get a byte of the text.
    pub(crate) shift: u32,
    /// Text of the file.
    pub text: String,
    /// Syntax tree of the text.
    pub tree: Tree,
    pub(crate) outline: OnceLock<Outline>,
    changes: OnceLock<Changes>,
    functions: OnceLock<FxHashMap<String, bool>>,
    aliases: OnceLock<FxHashSet<String>>,
    /// True if functions in the text may take arguments by reference.
    pub has_references: bool,
    /// True if the text may use the library.
    mentions_library: OnceLock<bool>,
}

impl Text {
    /// Outline: the names that the text binds and mentions, read at the first request.
    pub(crate) fn outline(&self, symbols: &mut Symbols) -> &Outline {
        self.outline.get_or_init(|| Outline::of(&self.tree.body, &self.text, symbols))
    }

    /// Returns true if the text may use a library, by the library's own test.
    pub(crate) fn mentions_library(&self, is_mentioned: fn(&str) -> bool) -> bool {
        *self.mentions_library.get_or_init(|| is_mentioned(&self.text))
    }

    /// Returns true if the text may hold kernels: it calls a function that makes kernels, or
    /// decorates a function with a decorator whose meaning is open.
    fn may_hold_kernels(&self) -> bool {
        // Matches `kernel(` and `Kernel(`, without their first letter.
        let calls = |it: &str| it.starts_with("ernel") && it[5..].trim_start().starts_with('(');
        self.text.match_indices("ernel").any(|(at, _)| calls(&self.text[at..]))
            || self.text.contains("getkernel")
            || syntax::functions(&self.tree.body)
                .iter()
                .any(|def| def.decorator_list.iter().any(|it| !is_plain(&it.expression)))
    }

    /// Functions of the text by their names. The flag is true if the function has a parameter
    /// that is a reference.
    pub fn functions(&self) -> &FxHashMap<String, bool> {
        self.functions.get_or_init(|| {
            let mut functions = FxHashMap::default();
            for def in syntax::functions(&self.tree.body) {
                let takes_one = self.has_references && self.takes_reference(def);
                *functions.entry(def.name.to_string()).or_insert(false) |= takes_one;
            }
            functions
        })
    }

    /// Names that may stand for functions with other names, read at the first request.
    pub fn aliases(&self) -> &FxHashSet<String> {
        let read = || syntax::aliases(&self.tree.body).into_iter().map(str::to_owned).collect();
        self.aliases.get_or_init(read)
    }

    fn takes_reference(&self, def: &StmtFunctionDef) -> bool {
        let annotations = def.parameters.iter().filter_map(|parameter| parameter.annotation());
        let byte = |byte: u32| byte.wrapping_sub(self.shift) as usize;
        let quotes = annotations
            .filter_map(|it| self.text.get(byte(syntax::start(it))..byte(syntax::end(it))));
        quotes.into_iter().any(mentions_references)
    }

    /// Names of the values that the text changes in place, read at the first request.
    pub fn changes(&self) -> &Changes {
        self.changes.get_or_init(|| Changes::of(&self.tree.body))
    }
}

/// Returns true if `ref[` stands in a text as a complete name, as in `wp.ref[float]`.
fn mentions_references(text: &str) -> bool {
    let is_name = |before: char| before.is_alphanumeric() || before == '_';
    text.match_indices("ref[").any(|(at, _)| !text[..at].ends_with(is_name))
}

/// Result of parsing a text: the text, or the faults if it is not Python.
pub type Parsed = Result<Arc<Text>, Arc<[Diagnostic]>>;

/// Files read so far, each parsed at most once, for programs that import the same files.
#[derive(Default)]
pub struct Texts {
    /// All texts, one after the other.
    space: String,
    files: FxHashMap<PathBuf, File>,
    pub(crate) symbols: Symbols,
    pub(crate) import_options: ImportOptions,
}

/// Options of the user beside the texts themselves.
#[derive(Clone, Default, Debug)]
pub struct ImportOptions {
    /// Folders in which modules are looked for after the program's own.
    pub folders: Vec<PathBuf>,
    /// Outermost folder of a tree of programs: modules are also looked for in each folder between
    /// it and a program's own folder, the nearest first.
    pub tree: Option<PathBuf>,
    /// Values of names that only Python would know, as Python writes them:
    /// `mujoco.mjtGeom.mjGEOM_BOX` is `6`, `make.dtype` is `wp.float64` for an argument of a
    /// function around a kernel.
    pub defines: Vec<(String, String)>,
    /// Types of generic kernels' parameters, as the second argument of `wp.overload` says them:
    /// `scale` is `[wp.array(dtype=float), float]`.
    pub types: Vec<(String, String)>,
    /// True where no command line takes these options, as in Python; then messages don't name the
    /// options.
    pub without_command_line: bool,
}

/// Reads a file by its path.
pub type ReadFile<'r> = &'r dyn Fn(&Path) -> FileText;

/// State of a file.
pub(crate) enum File {
    /// No file has this path.
    Absent,
    /// A file that must not be read, for this reason.
    Refused(String),
    /// A text that was not parsed yet.
    Read(String),
    Parsed(SourceId, Parsed),
}

/// Greatest number of bytes of texts that share a space.
const MAX_SPACE: usize = 1 << 30;

impl Texts {
    /// Makes an empty set of texts.
    pub fn new(import_options: ImportOptions) -> Self {
        Self { import_options, ..Self::default() }
    }

    /// Returns the number of a file's text in the map, if the text was added.
    pub fn source(&self, path: &Path) -> Option<SourceId> {
        match self.files.get(path) {
            Some(File::Parsed(id, _)) => Some(*id),
            _ => None,
        }
    }

    /// Forgets a file: the next program that imports the file reads it anew.
    pub fn forget(&mut self, path: &Path) {
        self.files.remove(path);
    }

    /// Returns the bytes of all texts.
    pub fn len_bytes(&self) -> usize {
        self.space.len()
    }

    /// Returns false if a text of the map surely holds no kernels.
    pub fn may_hold_kernels(&mut self, sources: &SourceMap, id: SourceId) -> bool {
        self.parsed(sources, id).map_or(true, |text| text.may_hold_kernels())
    }

    /// State of a file, which is read at the first request.
    pub(crate) fn file(&mut self, path: &Path, read: ReadFile<'_>) -> &mut File {
        if !self.files.contains_key(path) {
            let file = match read(path) {
                FileText::Text(text) => File::Read(text),
                FileText::Nothing => File::Absent,
                FileText::Refused(why) => File::Refused(why),
            };
            self.files.insert(path.to_owned(), file);
        }
        self.files.get_mut(path).unwrap_or_else(|| unreachable!("the file was inserted"))
    }

    /// Parses a text of the map under its name, at the first request.
    pub fn parsed(&mut self, sources: &SourceMap, id: SourceId) -> Parsed {
        let source = sources.get(id);
        let path = Path::new(&source.name);
        if let Some(File::Parsed(known, parsed)) = self.files.get(path)
            && (*known == id || sources.get(*known).text == source.text)
        {
            return parsed.clone();
        }
        let parsed = self.parse(id, &source.text).map_err(Arc::from);
        self.files.insert(path.to_owned(), File::Parsed(id, parsed.clone()));
        parsed
    }

    fn parse(&mut self, id: SourceId, text: &str) -> Result<Arc<Text>, Vec<Diagnostic>> {
        if self.space.len() + text.len() >= MAX_SPACE {
            let message = "the texts of this program are too large together";
            return Err(vec![Diagnostic::error(Code::TooComplex, Span::NONE, message)]);
        }
        if !self.space.is_empty() {
            self.space.push('\n');
        }
        let begin = self.space.len() as u32;
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        let shift = begin.wrapping_sub(mark as u32);
        let place = |start: u32, end: u32| {
            Span::new(id, start.wrapping_sub(shift), end.wrapping_sub(shift))
        };
        self.space.push_str(&text[mark..]);
        let tree = syntax::parse(&self.space, begin, place)?;
        let has_references = mentions_references(text);
        let text = text.to_owned();
        Ok(Arc::new(Text {
            id,
            begin,
            shift,
            text,
            tree,
            outline: OnceLock::new(),
            changes: OnceLock::new(),
            functions: OnceLock::new(),
            aliases: OnceLock::new(),
            has_references,
            mentions_library: OnceLock::new(),
        }))
    }

    /// A text without a file, parsed under a name at the first request. Messages that point into
    /// the text name the file `id` instead.
    pub(crate) fn built_in(&mut self, name: &str, text: &str, id: SourceId) -> Parsed {
        let path = Path::new(name);
        if let Some(File::Parsed(_, parsed)) = self.files.get(path) {
            return parsed.clone();
        }
        let parsed = self.parse(id, text).map_err(Arc::from);
        self.files.insert(path.to_owned(), File::Parsed(id, parsed.clone()));
        parsed
    }
}
