//! Files of a program: its main file, and the files beside it that it imports. `loader` loads the
//! imported files.

use crate::outline::{SymbolSet, Symbols};
use crate::syntax::{self, Ranged};
use crate::text::{ImportOptions, Parsed, Text, Texts};
use gbxcule_ir::diagnostic::Diagnostic;
use gbxcule_ir::source::{SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Names of the texts that hold the user's values and types. Messages show a text's name, so each
/// text has the name of the option that gives it.
const DEFINES: &str = "--define";
const TYPES: &str = "--types";

/// A text that comes with the dialect. It has no file, and no message points into it.
pub struct Library {
    /// Name among the files.
    pub name: &'static str,
    /// Text.
    pub text: &'static str,
    /// Returns true if a text may use the library.
    pub is_mentioned: fn(&str) -> bool,
}

/// A module that a text may import.
pub struct ImportedModule {
    /// File without the ending, or the folder of a package.
    pub(crate) stem: PathBuf,
    /// Name for messages.
    pub name: String,
    /// Content of the module's file.
    pub content: Content,
    /// Modules in this one, by their names.
    pub children: FxHashMap<String, usize>,
}

/// Content of a module's file.
pub enum Content {
    /// A text, by its number.
    Text(usize),
    /// Faulty Python, or a file that may not be read.
    Faulty(Box<Diagnostic>),
    /// A folder without a file for the package.
    Folder,
}

/// Target of an import: an imported module, or the paths at which a file was looked for.
pub type Target = Result<usize, Vec<String>>;

/// All texts of a program.
pub struct Files {
    /// Texts by their numbers; 0 is the program's own file.
    pub texts: Vec<Arc<Text>>,
    /// Numbers of the texts in the order in which the texts lie in the space of all texts.
    order: Vec<usize>,
    /// Text of the byte that was looked up last.
    last: AtomicUsize,
    /// Imported modules by their numbers.
    pub imported_modules: Vec<ImportedModule>,
    /// Targets by the importing text, the dots before the module's name, and the module's name.
    pub(crate) imports: FxHashMap<(usize, u32, String), Target>,
    /// True if the program may read other files.
    pub is_beside: bool,
    /// True if the user may give values, types and folders on a command line.
    pub takes_options: bool,
    /// Values that the user gives, by the name whose value they are: the number of the text that
    /// holds the value, and the value's name in the text.
    defines: FxHashMap<String, (usize, String)>,
    /// Types that the user gives, by the name of the generic kernel: the number of the text that
    /// holds the types, and their name in the text.
    types: FxHashMap<String, (usize, String)>,
    /// Texts of these values and types.
    given: Vec<usize>,
    /// Number of the library's text, if a text mentions the library.
    pub library: Option<usize>,
    /// Names of imported texts that kernels may need, by the text. A text without an entry may be
    /// needed as a whole.
    pub(crate) needed: FxHashMap<usize, SymbolSet>,
}

impl Files {
    /// Makes a program of a single text.
    pub fn single(text: Parsed) -> Result<Self, Vec<Diagnostic>> {
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
            library: None,
            needed: FxHashMap::default(),
        };
        files.add(text.map_err(|faults| faults.to_vec())?);
        Ok(files)
    }

    /// Adds the values and types that the user gives, as new texts.
    pub fn define(
        &mut self,
        texts: &mut Texts,
        sources: &mut SourceMap,
    ) -> Result<(), Vec<Diagnostic>> {
        let ImportOptions { defines, types, .. } = texts.import_options.clone();
        self.defines = self.give(DEFINES, defines, texts, sources)?;
        self.types = self.give(TYPES, types, texts, sources)?;
        Ok(())
    }

    /// Adds the text of a library, if a text of the program mentions the library.
    pub fn add_library(
        &mut self,
        texts: &mut Texts,
        library: &Library,
    ) -> Result<(), Vec<Diagnostic>> {
        if self.texts.iter().any(|text| text.mentions_library(library.is_mentioned)) {
            let parsed = texts.built_in(library.name, library.text, self.texts[0].id);
            self.library = Some(self.add(parsed.map_err(|faults| faults.to_vec())?));
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
        let source = texts.source(Path::new(option)).filter(|&it| sources.get(it).text == text);
        let id = source.unwrap_or_else(|| sources.add(option, text));
        let number = self.add(texts.parsed(sources, id).map_err(|faults| faults.to_vec())?);
        self.given.push(number);
        let places = values.into_iter().enumerate();
        Ok(places.map(|(at, (name, _))| (name, (number, format!("_{at}")))).collect())
    }

    /// Returns the modules that dotted paths in values may name, as `a.b` in `a.b.make(8)`, the
    /// deepest first. A path that begins with a name that the program's main file binds names no
    /// module.
    fn modules_in(&self, values: &[(String, String)], texts: &mut Texts) -> Vec<String> {
        let main_outline = self.texts[0].outline(&mut texts.symbols);
        let mut modules = Vec::new();
        for path in values.iter().flat_map(|(_, value)| syntax::paths_in(value)) {
            let is_own =
                |name: &str, symbols: &mut Symbols| main_outline.may_bind(symbols.of(name));
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

    /// Returns the number of the text that holds the user's value for a name, and the value's name
    /// there.
    pub fn defined(&self, name: &str) -> Option<&(usize, String)> {
        self.defines.get(name)
    }

    /// Returns the number of the text that holds the user's types for a generic kernel, and their
    /// name there.
    pub fn types_of(&self, kernel: &str) -> Option<&(usize, String)> {
        self.types.get(kernel)
    }

    /// Numbers of the texts that the user gives.
    pub fn given_texts(&self) -> impl Iterator<Item = usize> {
        self.given.iter().copied()
    }

    /// Adds a text; returns its number.
    pub(crate) fn add(&mut self, text: Arc<Text>) -> usize {
        let number = self.texts.len();
        let place = self.order.partition_point(|&other| self.texts[other].begin < text.begin);
        self.order.insert(place, number);
        self.texts.push(text);
        number
    }

    /// Returns the place of a node in its text.
    pub fn span(&self, node: &impl Ranged) -> Span {
        let (start, end) = (syntax::start(node), syntax::end(node));
        let number = self.text_at(start);
        if self.library == Some(number) {
            return Span::NONE;
        }
        let text = &self.texts[number];
        Span::new(text.id, start.wrapping_sub(text.shift), end.wrapping_sub(text.shift))
    }

    /// First bytes of the statements of a text that kernels may need; `None` if kernels may need
    /// all of them.
    pub(crate) fn needed_begins(&self, text: usize) -> Option<FxHashSet<u32>> {
        let needed = self.needed.get(&text)?;
        // If no outline of a text was made, kernels need nothing of the text.
        let begins = self.texts[text].outline.get().map(|outline| outline.begins(needed));
        Some(begins.unwrap_or_default())
    }

    /// Returns the number of the text that a byte is in.
    pub(crate) fn text_at(&self, byte: u32) -> usize {
        // Most bytes are looked up in the same text as the byte before.
        let last = self.last.load(Ordering::Relaxed);
        let text = &self.texts[last];
        if text.begin <= byte && (byte.wrapping_sub(text.shift) as usize) < text.text.len() {
            return last;
        }
        let behind = self.order.partition_point(|&text| self.texts[text].begin <= byte);
        let text = self.order[behind.max(1) - 1];
        self.last.store(text, Ordering::Relaxed);
        text
    }

    /// Returns the text of a span.
    pub fn quote(&self, span: Span) -> &str {
        let text = self.texts.iter().find(|text| Some(text.id) == span.source());
        text.and_then(|it| it.text.get(span.start as usize..span.end as usize)).unwrap_or("")
    }

    /// Returns the target of an import in a text; `None` if the loader didn't follow the import.
    pub fn target(&self, text: usize, level: u32, module: &str) -> Option<&Target> {
        self.imports.get(&(text, level, module.to_owned()))
    }

    /// Returns the module that a dotted path begins with and the files that were looked for;
    /// `None` if a file was found.
    pub fn looked_for(&self, path: &str) -> Option<(&str, &[String])> {
        let misses = self.imports.iter().filter_map(|((_, level, module), target)| {
            let begins = path.strip_prefix(module.as_str());
            let begins = begins.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
            let looked = target.as_ref().err()?;
            (*level == 0 && begins).then_some((module.as_str(), looked.as_slice()))
        });
        misses.max_by_key(|(module, _)| module.len())
    }
}
