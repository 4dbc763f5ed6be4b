//! The texts of a program: its own file, and the files beside it that it imports from. `loader`
//! brings those.
//!
//! Texts lie one after the other in one space of bytes, so that a place in any tree says which
//! text it is in. Several programs may share one space ([`Texts`]): then each text is read and
//! parsed once for all of them.

use super::geometry;
use super::loader::ReadFile;
use super::syntax::{self, Changes, Outline, Ranged, StmtFunctionDef, SymbolSet, Symbols, Tree};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::{FileText, SourceId, SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

/// A parsed text.
pub(super) struct Text {
    pub(super) id: SourceId,
    /// Position at which the text begins in the space of all texts.
    begin: u32,
    /// Number that is subtracted from a position in that space to get a byte of the text.
    shift: u32,
    pub(super) text: String,
    pub(super) tree: Tree,
    outline: OnceLock<Outline>,
    changes: OnceLock<Changes>,
    functions: OnceLock<FxHashMap<String, bool>>,
    /// True if functions in it may take arguments by reference.
    pub(super) has_references: bool,
    /// True if it may ask hash grids, hierarchies or meshes.
    mentions_geometry: bool,
}

impl Text {
    /// Outline: the names that the text binds and mentions, found out at the first request.
    pub(super) fn outline(&self, symbols: &mut Symbols) -> &Outline {
        self.outline.get_or_init(|| Outline::of(&self.tree.body, &self.text, symbols))
    }

    /// Returns true if it may hold kernels: it calls what makes them, or decorates a function with
    /// something that may be anything.
    fn may_hold_kernels(&self) -> bool {
        // `kernel(` and `Kernel(`: the first letter is left away.
        let calls = |it: &str| it.starts_with("ernel") && it[5..].trim_start().starts_with('(');
        self.text.match_indices("ernel").any(|(at, _)| calls(&self.text[at..]))
            || self.text.contains("getkernel")
            || syntax::functions(&self.tree.body)
                .iter()
                .any(|def| def.decorator_list.iter().any(|it| !syntax::is_plain(&it.expression)))
    }

    /// Functions of the text by their names: true for those with a parameter that is a reference.
    pub(super) fn functions(&self) -> &FxHashMap<String, bool> {
        self.functions.get_or_init(|| {
            let mut functions = FxHashMap::default();
            for def in syntax::functions(&self.tree.body) {
                let takes_one = self.has_references && self.takes_reference(def);
                *functions.entry(def.name.to_string()).or_insert(false) |= takes_one;
            }
            functions
        })
    }

    fn takes_reference(&self, def: &StmtFunctionDef) -> bool {
        let annotations = def.parameters.iter().filter_map(|parameter| parameter.annotation());
        let byte = |byte: u32| byte.wrapping_sub(self.shift) as usize;
        let quotes = annotations
            .filter_map(|it| self.text.get(byte(syntax::start(it))..byte(syntax::end(it))));
        quotes.into_iter().any(mentions_references)
    }

    /// Names of what the text changes in place, found out at the first request.
    pub(super) fn changes(&self) -> &Changes {
        self.changes.get_or_init(|| Changes::of(&self.tree.body))
    }
}

/// Returns true if `ref[` stands in a text as a name of its own, as in `wp.ref[float]`.
fn mentions_references(text: &str) -> bool {
    let is_name = |before: char| before.is_alphanumeric() || before == '_';
    text.match_indices("ref[").any(|(at, _)| !text[..at].ends_with(is_name))
}

/// Result of parsing a text: the text, or the faults if it is not Python.
pub(super) type Parsed = Result<Arc<Text>, Arc<[Diagnostic]>>;

/// Files read so far, each parsed at most once, for programs that import from the same ones.
#[derive(Default)]
pub struct Texts {
    /// All texts, one after the other.
    space: String,
    files: FxHashMap<PathBuf, File>,
    pub(super) symbols: Symbols,
    pub(super) import_options: ImportOptions,
}

/// Facts from the user about texts besides the texts themselves.
#[derive(Clone, Default, Debug)]
pub struct ImportOptions {
    /// Folders in which modules are looked for after the program's own.
    pub folders: Vec<PathBuf>,
    /// Outermost folder of a tree of programs: each folder between it and a program's own is looked
    /// in, the nearest first.
    pub tree: Option<PathBuf>,
    /// Values of names that only Python would know, as Python writes them:
    /// `mujoco.mjtGeom.mjGEOM_BOX` is `6`, `make.dtype` is `wp.float64` for an argument of a
    /// function around a kernel.
    pub defines: Vec<(String, String)>,
    /// Types of generic kernels' parameters, as the second argument of `wp.overload` says them:
    /// `scale` is `[wp.array(dtype=float), float]`.
    pub types: Vec<(String, String)>,
    /// True where no command line takes these options, as in Python: messages don't name them then.
    pub without_command_line: bool,
}

/// Names of the texts that are made of the user's values and types: messages show them, so they are
/// the options' names.
const DEFINES: &str = "--define";
const TYPES: &str = "--types";
/// Name among the files of the library of geometry.
const GEOMETRY: &str = "<geometry>";

/// State of a file.
pub(super) enum File {
    /// There is none.
    Absent,
    /// Must not be read, for this reason.
    Refused(String),
    /// Text, not parsed yet.
    Read(String),
    Parsed(SourceId, Parsed),
}

/// Most bytes of texts that share a space.
const MAX_SPACE: usize = 1 << 30;

impl Texts {
    /// No files yet.
    pub fn new(import_options: ImportOptions) -> Self {
        Self { import_options, ..Self::default() }
    }

    /// The number of a file's text in the map, if it was added.
    pub fn source(&self, path: &Path) -> Option<SourceId> {
        match self.files.get(path) {
            Some(File::Parsed(id, _)) => Some(*id),
            _ => None,
        }
    }

    /// Forgets a file: the next program that imports it reads it anew.
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

    /// State of a file, read at the first request.
    pub(super) fn file(&mut self, path: &Path, read: ReadFile<'_>) -> &mut File {
        if !self.files.contains_key(path) {
            let file = match read(path) {
                FileText::Text(text) => File::Read(text),
                FileText::Nothing => File::Absent,
                FileText::Refused(why) => File::Refused(why),
            };
            self.files.insert(path.to_owned(), file);
        }
        self.files.get_mut(path).unwrap_or_else(|| unreachable!("it was inserted"))
    }

    /// A text that the map has, parsed under its name.
    pub(super) fn parsed(&mut self, sources: &SourceMap, id: SourceId) -> Parsed {
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
        let mentions_geometry = geometry::is_mentioned(text);
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
            has_references,
            mentions_geometry,
        }))
    }

    /// The library of geometry, parsed at the first request. No message points into it.
    fn geometry(&mut self, id: SourceId) -> Parsed {
        let path = Path::new(GEOMETRY);
        if let Some(File::Parsed(_, parsed)) = self.files.get(path) {
            return parsed.clone();
        }
        let parsed = self.parse(id, geometry::TEXT).map_err(Arc::from);
        self.files.insert(path.to_owned(), File::Parsed(id, parsed.clone()));
        parsed
    }
}

/// A module that a text may import.
pub(super) struct ImportedModule {
    /// File without the ending, or the folder of a package.
    pub(super) stem: PathBuf,
    /// Name for messages.
    pub(super) name: String,
    pub(super) content: Content,
    /// Modules in it, by their names.
    pub(super) children: FxHashMap<String, usize>,
}

/// Content of a module's file.
pub(super) enum Content {
    /// A text, by its number.
    Text(usize),
    /// No Python, or nothing that may be read.
    Faulty(Box<Diagnostic>),
    /// There is no file: a folder.
    Folder,
}

/// Target of an import: an imported module, or the files that were looked for.
pub(super) type Target = Result<usize, Vec<String>>;

/// All texts of a program.
pub(super) struct Files {
    pub(super) texts: Vec<Arc<Text>>,
    /// Numbers in the order in which they lie in the space of all texts.
    order: Vec<usize>,
    /// The text that was found last for a byte.
    last: AtomicUsize,
    pub(super) imported_modules: Vec<ImportedModule>,
    /// Targets by the importing text, the dots before the module's name, and its name.
    pub(super) imports: FxHashMap<(usize, u32, String), Target>,
    /// True if other files could be read at all.
    pub(super) is_beside: bool,
    /// True if the user may give values, types and folders on a command line.
    pub(super) takes_options: bool,
    /// The names whose values the user gives: in which text, and what they are called there.
    defines: FxHashMap<String, (usize, String)>,
    /// Types of generic kernels, likewise.
    types: FxHashMap<String, (usize, String)>,
    /// The texts of both.
    given: Vec<usize>,
    /// The library of geometry, if a text mentions it.
    pub(super) geometry: Option<usize>,
    /// Names of imported texts that kernels may need, by the text; of any other text all may be.
    pub(super) needed: FxHashMap<usize, SymbolSet>,
}

impl Files {
    /// A text alone.
    pub(super) fn single(text: Parsed) -> Result<Self, Vec<Diagnostic>> {
        let mut files = Self {
            texts: Vec::new(),
            order: Vec::new(),
            last: AtomicUsize::new(0),
            imported_modules: Vec::new(),
            imports: FxHashMap::default(),
            is_beside: false,
            takes_options: false,
            defines: FxHashMap::default(),
            types: FxHashMap::default(),
            given: Vec::new(),
            geometry: None,
            needed: FxHashMap::default(),
        };
        files.add(text.map_err(|faults| faults.to_vec())?);
        Ok(files)
    }

    /// Adds the values and types that the user gives, as texts of their own.
    pub(super) fn define(
        &mut self,
        texts: &mut Texts,
        sources: &mut SourceMap,
    ) -> Result<(), Vec<Diagnostic>> {
        let ImportOptions { defines, types, .. } = texts.import_options.clone();
        self.defines = self.give(DEFINES, defines, texts, sources)?;
        self.types = self.give(TYPES, types, texts, sources)?;
        Ok(())
    }

    /// Adds the library of geometry, if a text mentions it.
    pub(super) fn add_geometry(&mut self, texts: &mut Texts) -> Result<(), Vec<Diagnostic>> {
        if self.texts.iter().any(|text| text.mentions_geometry) {
            let library = texts.geometry(self.texts[0].id);
            self.geometry = Some(self.add(library.map_err(|faults| faults.to_vec())?));
        }
        Ok(())
    }

    fn give(
        &mut self,
        option: &str,
        values: Vec<(String, String)>,
        texts: &mut Texts,
        sources: &mut SourceMap,
    ) -> Result<FxHashMap<String, (usize, String)>, Vec<Diagnostic>> {
        if values.is_empty() {
            return Ok(FxHashMap::default());
        }
        let mut text = String::from("import math\nimport numpy as np\nimport warp as wp\n");
        for module in self.modules_in(&values, texts) {
            text += &format!("import {module}\n");
        }
        for (at, (_, value)) in values.iter().enumerate() {
            text += &format!("_{at} = {value}\n");
        }
        let known = texts.source(Path::new(option)).filter(|&it| sources.get(it).text == text);
        let id = known.unwrap_or_else(|| sources.add(option, text));
        let number = self.add(texts.parsed(sources, id).map_err(|faults| faults.to_vec())?);
        self.given.push(number);
        let places = values.into_iter().enumerate();
        Ok(places.map(|(at, (name, _))| (name, (number, format!("_{at}")))).collect())
    }

    /// Modules that values may name by their dots, as `a.b` in `a.b.make(8)`, the deepest first:
    /// what begins with a name of the program's own file is none.
    fn modules_in(&self, values: &[(String, String)], texts: &mut Texts) -> Vec<String> {
        let own = self.texts[0].outline(&mut texts.symbols);
        let mut modules = Vec::new();
        for path in values.iter().flat_map(|(_, value)| syntax::paths_in(value)) {
            let is_own = |name: &str, symbols: &mut Symbols| own.may_bind(symbols.of(name));
            let is_known = matches!(&*path[0], "math" | "np" | "numpy" | "warp" | "wp");
            if !is_known && !is_own(&path[0], &mut texts.symbols) {
                modules.extend((1..path.len()).map(|names| path[..names].join(".")));
            }
        }
        let depth = |module: &str| std::cmp::Reverse(module.split('.').count());
        modules.sort_by(|a, b| depth(a).cmp(&depth(b)).then_with(|| a.cmp(b)));
        modules.dedup();
        modules
    }

    /// Returns where the value that the user gives for a name stands: the number of its text, and
    /// its name there.
    pub(super) fn defined(&self, name: &str) -> Option<&(usize, String)> {
        self.defines.get(name)
    }

    /// Returns where the types that the user gives for a generic kernel stand: the number of their
    /// text, and their name there.
    pub(super) fn types_of(&self, kernel: &str) -> Option<&(usize, String)> {
        self.types.get(kernel)
    }

    /// The texts that the user gives.
    pub(super) fn given_texts(&self) -> impl Iterator<Item = usize> {
        self.given.iter().copied()
    }

    /// Adds a text; returns its number.
    pub(super) fn add(&mut self, text: Arc<Text>) -> usize {
        let number = self.texts.len();
        let place = self.order.partition_point(|&other| self.texts[other].begin < text.begin);
        self.order.insert(place, number);
        self.texts.push(text);
        number
    }

    /// Returns the place of a node in its text.
    pub(super) fn span(&self, node: &impl Ranged) -> Span {
        let (start, end) = (syntax::start(node), syntax::end(node));
        let number = self.text_at(start);
        if self.geometry == Some(number) {
            return Span::NONE;
        }
        let text = &self.texts[number];
        Span::new(text.id, start.wrapping_sub(text.shift), end.wrapping_sub(text.shift))
    }

    /// First bytes of the statements of a text that kernels may need, if not all may be.
    pub(super) fn needed_begins(&self, text: usize) -> Option<FxHashSet<u32>> {
        let needed = self.needed.get(&text)?;
        // Nothing is needed of a text whose outline nobody asked for.
        let begins = self.texts[text].outline.get().map(|outline| outline.begins(needed));
        Some(begins.unwrap_or_default())
    }

    /// The number of the text that a byte is in.
    pub(super) fn text_at(&self, byte: u32) -> usize {
        // The text is mostly the same as before.
        let last = self.last.load(Ordering::Relaxed);
        let text = &self.texts[last];
        if text.begin <= byte && (byte.wrapping_sub(text.shift) as usize) < text.text.len() {
            return last;
        }
        let behind = self.order.partition_point(|&text| self.texts[text].begin <= byte);
        let found = self.order[behind.max(1) - 1];
        self.last.store(found, Ordering::Relaxed);
        found
    }

    /// The text of a span.
    pub(super) fn quote(&self, span: Span) -> &str {
        let text = self.texts.iter().find(|text| Some(text.id) == span.source());
        text.and_then(|it| it.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// Target of an import in a text; `None` if it wasn't followed.
    pub(super) fn target(&self, text: usize, level: u32, module: &str) -> Option<&Target> {
        self.imports.get(&(text, level, module.to_owned()))
    }

    /// The module that a dotted path begins with, if it was looked for in vain, and in which files.
    pub(super) fn looked_for(&self, path: &str) -> Option<(&str, &[String])> {
        let misses = self.imports.iter().filter_map(|((_, level, module), target)| {
            let begins = path.strip_prefix(module.as_str());
            let begins = begins.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
            let looked = target.as_ref().err()?;
            (*level == 0 && begins).then_some((module.as_str(), looked.as_slice()))
        });
        misses.max_by_key(|(module, _)| module.len())
    }
}
