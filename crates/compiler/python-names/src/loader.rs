//! Loads the files that a text imports from, as far as the text's kernels may need them.
//!
//! The caller gives a function that reads a file. This module decides, as Python does, which path
//! the name of a module means. It follows an import if a name that the import binds is needed:
//! decorated functions and values at the top of the program's own file mention the first needed
//! names, and the definitions of needed names mention further ones.

use crate::file::{Content, Files, ImportedModule, Target};
use crate::outline::{Imported, Mentions, Symbol, SymbolSet};
use crate::text::{File, ImportOptions, ReadFile, Texts};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::{SourceId, SourceMap, Span};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Component, Path, PathBuf};

/// Greatest number of files of a program.
const MAX_FILES: usize = 200;

/// Greatest number of bytes of a program's files.
const MAX_BYTES: usize = 8 << 20;

/// Greatest number of folders between a file and the folder around its outermost package.
const MAX_PACKAGE_DEPTH: usize = 32;

/// Loads a text and the files beside it that it imports from, directly or through others.
pub fn load(
    texts: &mut Texts,
    sources: &mut SourceMap,
    id: SourceId,
    read: ReadFile<'_>,
) -> Result<Files, Vec<Diagnostic>> {
    let mut files = Files::single(texts.parsed(sources, id))?;
    files.is_beside = true;
    files.takes_options = !texts.import_options.without_command_line;
    files.define(texts, sources)?;
    let path = PathBuf::from(&sources.get(id).name);
    let mut loader = Loader {
        main_file: path.clone(),
        bytes: files.texts[0].text.len(),
        files,
        texts,
        sources,
        read,
        roots: None,
        stems: FxHashMap::default(),
        needed: Vec::new(),
        imported: Vec::new(),
        todo: Vec::new(),
        modules: FxHashSet::default(),
        paths: FxHashSet::default(),
        members: FxHashSet::default(),
        waiting: Vec::new(),
        attributes: SymbolSet::default(),
        offers: FxHashMap::default(),
        open_offers: Vec::new(),
        targets: FxHashMap::default(),
    };
    let name = path.display().to_string();
    loader.imported_module(&module_stem(&path), name, Content::Text(0));
    loader.run();
    loader.note_needed();
    Ok(loader.files)
}

/// Reads files until nothing that kernels may need is missing.
struct Loader<'l> {
    /// The program's own file.
    main_file: PathBuf,
    files: Files,
    /// Total bytes of the files.
    bytes: usize,
    texts: &'l mut Texts,
    sources: &'l mut SourceMap,
    read: ReadFile<'l>,
    /// Folders in which modules are looked for; `None` before the first search.
    roots: Option<Vec<PathBuf>>,
    /// Modules by their stems; `None` if no file has the stem.
    stems: FxHashMap<PathBuf, Option<usize>>,
    /// Needed names of each text.
    needed: Vec<SymbolSet>,
    /// Texts that were imported.
    imported: Vec<usize>,
    /// Needed names whose definitions were not read yet, with their texts.
    todo: Vec<(usize, Symbol)>,
    /// Paths through imports that were followed: the text in which a path begins, and its names.
    paths: FxHashSet<(usize, Vec<Symbol>)>,
    /// Paths from modules that were followed: the module, and the names after it.
    members: FxHashSet<(usize, Vec<Symbol>)>,
    /// Paths from modules that may lead to submodules which no import has loaded so far.
    waiting: Vec<(usize, Vec<Symbol>)>,
    /// Modules that are needed as a whole: any name after a dot may be one of their names.
    modules: FxHashSet<usize>,
    /// Names after dots.
    attributes: SymbolSet,
    /// Texts of these modules, by the names that the texts bind.
    offers: FxHashMap<Symbol, Vec<usize>>,
    /// Texts of these modules that may bind any name.
    open_offers: Vec<usize>,
    /// Modules that imports lead to, by text and import. An import of `*` is looked up for each
    /// name of its text.
    targets: FxHashMap<(usize, *const Imported), Option<usize>>,
}

impl Loader<'_> {
    fn run(&mut self) {
        let texts_of_host: Vec<usize> = self.files.given_texts().collect();
        for number in [0].into_iter().chain(texts_of_host) {
            let text = self.files.texts[number].clone();
            let outline = text.outline(&mut self.texts.symbols);
            let mentioned = outline.mentioned(&text.tree.body, &mut self.texts.symbols);
            mentioned.into_iter().for_each(|each| self.mentioned(number, each));
        }
        loop {
            while let Some((text, name)) = self.todo.pop() {
                self.require_definition(text, name);
            }
            let waiting = std::mem::take(&mut self.waiting);
            let (ready, waiting): (Vec<_>, Vec<_>) = waiting
                .into_iter()
                .partition(|(module, path)| self.child_of(*module, path[0]).is_some());
            self.waiting = waiting;
            if ready.is_empty() {
                return;
            }
            for (module, path) in ready {
                if let Some(child) = self.child_of(module, path[0]) {
                    self.need_member(child, &path[1..]);
                }
            }
        }
    }

    /// Returns the submodule of a module by its name, if an import has loaded it.
    fn child_of(&self, module: usize, name: Symbol) -> Option<usize> {
        let children = &self.files.imported_modules[module].children;
        children.get(self.texts.symbols.name(name)).copied()
    }

    /// Marks the target of a path that begins with a name of a text as needed.
    fn need_path(&mut self, text: usize, path: &[Symbol]) {
        let [name, rest @ ..] = path else { return };
        let outlined = self.files.texts[text].clone();
        let outline = outlined.outline(&mut self.texts.symbols);
        if rest.is_empty() || !outline.is_imported_only(*name) {
            if outline.may_bind(*name) {
                self.need_bound(text, *name);
                self.need_attributes(rest);
            }
            return;
        }
        if !self.paths.insert((text, path.to_vec())) {
            return;
        }
        for import in outline.imports(*name).filter(|one| !one.is_known) {
            let Some(module) = self.target(text, import) else { continue };
            let Some((wanted, symbol)) = &import.name else {
                self.need_member(module, rest);
                continue;
            };
            let symbol = if wanted == "*" { *name } else { *symbol };
            if let Content::Text(number) = self.files.imported_modules[module].content {
                let mut onward = vec![symbol];
                onward.extend(rest);
                self.need_path(number, &onward);
            }
            let child = self.files.imported_modules[module].children.get(wanted).copied();
            child.into_iter().for_each(|child| self.need_member(child, rest));
        }
    }

    /// Marks the target of a path from a module as needed; an empty path means the module as a
    /// whole.
    fn need_member(&mut self, module: usize, path: &[Symbol]) {
        let Some(&name) = path.first() else { return self.module(module) };
        if !self.members.insert((module, path.to_vec())) {
            return;
        }
        if let Content::Text(number) = self.files.imported_modules[module].content {
            self.need_path(number, path);
        }
        match self.child_of(module, name) {
            Some(child) => self.need_member(child, &path[1..]),
            None => self.waiting.push((module, path.to_vec())),
        }
    }

    /// Records which names of the imported texts are needed.
    fn note_needed(&mut self) {
        for &number in &self.imported {
            let names = self.needed.get_mut(number).map(std::mem::take);
            self.files.needed.insert(number, names.unwrap_or_default());
        }
    }

    /// Marks a name of a text as needed if the text may bind the name.
    fn require_name(&mut self, text: usize, name: Symbol) {
        if self.needed.get(text).is_some_and(|needed| needed.contains(name)) {
            return;
        }
        if self.files.texts[text].outline(&mut self.texts.symbols).may_bind(name) {
            self.need_bound(text, name);
        }
    }

    /// Marks a name that a text may bind as needed.
    fn need_bound(&mut self, text: usize, name: Symbol) {
        if self.needed.len() <= text {
            self.needed.resize_with(text + 1, SymbolSet::default);
        }
        if self.needed[text].insert(name) {
            self.todo.push((text, name));
        }
    }

    /// Marks a module as needed as a whole.
    fn module(&mut self, module: usize) {
        if !self.modules.insert(module) {
            return;
        }
        let Content::Text(number) = self.files.imported_modules[module].content else { return };
        let text = self.files.texts[number].clone();
        let outline = text.outline(&mut self.texts.symbols);
        if outline.may_bind_any() {
            self.open_offers.push(number);
            let attributes = std::mem::take(&mut self.attributes);
            attributes.iter().for_each(|name| self.require_name(number, name));
            self.attributes = attributes;
            return;
        }
        for name in outline.names() {
            if self.attributes.contains(name) {
                self.require_name(number, name);
            } else {
                self.offers.entry(name).or_default().push(number);
            }
        }
    }

    /// Marks the names that a statement of a text mentions as needed.
    fn mentioned(&mut self, text: usize, mentions: &Mentions) {
        self.need_attributes(&mentions.attributes);
        mentions.names.iter().for_each(|&name| self.need_bound(text, name));
        mentions.paths.iter().for_each(|path| self.need_path(text, path));
    }

    /// Marks names after dots as needed, of any module.
    fn need_attributes(&mut self, attributes: &[Symbol]) {
        for &attribute in attributes {
            if !self.attributes.insert(attribute) {
                continue;
            }
            let mut offers = self.offers.remove(&attribute).unwrap_or_default();
            offers.extend(&self.open_offers);
            offers.into_iter().for_each(|text| self.require_name(text, attribute));
        }
    }

    /// Returns the module that an import of a text leads to.
    fn target(&mut self, text: usize, import: &Imported) -> Option<usize> {
        let key = (text, std::ptr::from_ref(import));
        if let Some(known) = self.targets.get(&key) {
            return *known;
        }
        self.import(text, import);
        let first = import.module.split('.').next().unwrap_or("");
        let module = if import.is_first { first } else { import.module.as_str() };
        let target = self.files.target(text, import.level, module);
        let module = target.and_then(|target| target.as_ref().ok().copied());
        self.targets.insert(key, module);
        module
    }

    /// Marks the names that the definitions of a needed name mention as needed.
    fn require_definition(&mut self, number: usize, name: Symbol) {
        let text = self.files.texts[number].clone();
        let outline = text.outline(&mut self.texts.symbols);
        let behind = outline.names_mentioned_by(&text.tree.body, name, &mut self.texts.symbols);
        behind.into_iter().for_each(|each| self.mentioned(number, each));
        for import in outline.imports(name).filter(|one| !one.is_known) {
            let Some(module) = self.target(number, import) else { continue };
            match &import.name {
                // Any name may follow the dots.
                None if import.is_first => {
                    for way in prefixes(&import.module) {
                        let part = self.files.target(number, import.level, way);
                        let part = part.and_then(|part| part.as_ref().ok().copied());
                        part.into_iter().for_each(|part| self.module(part));
                    }
                }
                None => self.module(module),
                Some((wanted, symbol)) => {
                    let symbol = if wanted == "*" { name } else { *symbol };
                    if let Content::Text(text) = self.files.imported_modules[module].content {
                        self.require_name(text, symbol);
                    }
                    let child = self.files.imported_modules[module].children.get(wanted).copied();
                    child.into_iter().for_each(|child| self.module(child));
                }
            }
        }
    }

    /// Looks up the module of an import and records the result.
    fn import(&mut self, text: usize, import: &Imported) {
        let target = if import.level > 0 {
            let importing = PathBuf::from(&self.sources.get(self.files.texts[text].id).name);
            let from = (1..import.level)
                .fold(folder_of(&importing).to_owned(), |at, _| parent_folder(&at));
            self.below(&from, import)
        } else {
            self.absolute(import)
        };
        let mut keep = |module: &str, target: Target| {
            let key = (text, import.level, module.to_owned());
            let recorded = self.files.imports.entry(key).or_insert_with(|| target.clone());
            if recorded.is_err() && target.is_ok() {
                *recorded = target;
            }
        };
        match target {
            Ok(all) if import.is_first => {
                for (module, &index) in prefixes(&import.module).zip(&all) {
                    keep(module, Ok(index));
                }
            }
            Ok(all) => all.last().into_iter().for_each(|&last| keep(&import.module, Ok(last))),
            Err(looked) => keep(&import.module, Err(looked)),
        }
    }

    /// Looks up a module in all roots. A module that binds the imported name precedes another one
    /// of the same path: a file `utils.py` in the package `utils` is not the package.
    fn absolute(&mut self, import: &Imported) -> Result<Vec<usize>, Vec<String>> {
        let (mut looked, mut without_name) = (Vec::new(), None);
        if self.roots.is_none() {
            self.roots = Some(self.found_roots());
        }
        let roots = self.roots.clone().unwrap_or_default();
        for root in roots {
            match self.below(&root, import) {
                Ok(all) if self.gives(&all, import) => return Ok(all),
                Ok(all) => _ = without_name.get_or_insert(all),
                Err(more) => looked.extend(more),
            }
        }
        without_name.ok_or(looked)
    }

    /// Returns true if the last of some modules may give the name that an import binds.
    fn gives(&mut self, modules: &[usize], import: &Imported) -> bool {
        let (Some((name, symbol)), Some(&last)) = (&import.name, modules.last()) else {
            return true;
        };
        let module = &self.files.imported_modules[last];
        match module.content {
            Content::Text(text) if name != "*" && !module.children.contains_key(name) => {
                self.files.texts[text].outline(&mut self.texts.symbols).may_bind(*symbol)
            }
            _ => true,
        }
    }

    /// Looks up a module `a.b.c` from a folder; returns all three modules for `import a.b.c`.
    fn below(&mut self, folder: &Path, import: &Imported) -> Result<Vec<usize>, Vec<String>> {
        if import.module.is_empty() {
            let package = self.package(folder);
            import.name.iter().for_each(|(name, _)| self.child(package, name));
            return Ok(vec![package]);
        }
        let names: Vec<&str> = import.module.split('.').collect();
        let mut stem = names.iter().fold(folder.to_owned(), |stem, name| stem.join(name));
        let last = match (self.load(&stem), &import.name) {
            (Ok(last), name) => {
                name.iter().for_each(|(name, _)| self.child(last, name));
                last
            }
            // A folder without an `__init__.py` is a module if a module in the folder is
            // imported.
            (Err(looked), Some((name, _))) => {
                self.load(&stem.join(name)).map_err(|_| looked)?;
                let package = self.package(&stem);
                self.child(package, name);
                package
            }
            (Err(looked), None) => return Err(looked),
        };
        let mut all = vec![last];
        if import.is_first {
            for name in names[1..].iter().rev() {
                stem.pop();
                let parent = self.package(&stem);
                self.files.imported_modules[parent].children.insert((*name).to_owned(), all[0]);
                all.insert(0, parent);
            }
        }
        Ok(all)
    }

    /// Returns the module of a folder, whose content is the folder's `__init__.py` if there is one.
    fn package(&mut self, folder: &Path) -> usize {
        if let Some(&Some(module)) = self.stems.get(folder) {
            return module;
        }
        let content = self.content(&folder.join("__init__.py"));
        let (name, content) =
            content.unwrap_or_else(|| (folder.display().to_string(), Content::Folder));
        self.imported_module(folder, name, content)
    }

    /// Loads a module in a package, if there is a module of this name.
    fn child(&mut self, parent: usize, name: &str) {
        if name == "*" {
            return;
        }
        let stem = self.files.imported_modules[parent].stem.join(name);
        if let Ok(child) = self.load(&stem) {
            self.files.imported_modules[parent].children.insert(name.to_owned(), child);
        }
    }

    /// Returns the module of a file, or the files that were looked for.
    fn load(&mut self, stem: &Path) -> Result<usize, Vec<String>> {
        let loaded = self.stems.get(stem).copied();
        if let Some(Some(loaded)) = loaded {
            return Ok(loaded);
        }
        let mut file = stem.as_os_str().to_owned();
        file.push(".py");
        let paths = [stem.join("__init__.py"), PathBuf::from(file)];
        match loaded {
            Some(_) => {}
            None => {
                for path in &paths {
                    if let Some((name, content)) = self.content(path) {
                        return Ok(self.imported_module(stem, name, content));
                    }
                }
                self.stems.insert(stem.to_owned(), None);
            }
        }
        Err(paths.iter().rev().map(|path| path.display().to_string()).collect())
    }

    /// Reads a file; returns its name for messages and its content.
    fn content(&mut self, path: &Path) -> Option<(String, Content)> {
        if matches!(self.texts.file(path, self.read), File::Absent) {
            return None;
        }
        let name = path.display().to_string();
        let is_full = self.files.texts.len() >= MAX_FILES || self.bytes >= MAX_BYTES;
        if is_full {
            let message = format!(
                "`{name}` isn't read: a program comes from at most {MAX_FILES} files and {} MiB",
                MAX_BYTES >> 20
            );
            let fault = Diagnostic::error(Code::TooComplex, Span::NONE, message);
            return Some((name, Content::Faulty(Box::new(fault))));
        }
        let id = match self.texts.file(path, self.read) {
            File::Absent => return None,
            File::Refused(why) => {
                let message = format!("`{name}` isn't read: {why}");
                let fault = Diagnostic::error(Code::ImportedName, Span::NONE, message);
                return Some((name, Content::Faulty(Box::new(fault))));
            }
            File::Parsed(id, _) => *id,
            File::Read(text) => self.sources.add(name.clone(), std::mem::take(text)),
        };
        let content = match self.texts.parsed(self.sources, id) {
            Ok(text) => {
                self.bytes += text.text.len();
                let number = self.files.add(text);
                self.imported.push(number);
                Content::Text(number)
            }
            Err(faults) => Content::Faulty(Box::new(faults[0].clone())),
        };
        Some((name, content))
    }

    fn imported_module(&mut self, stem: &Path, name: String, content: Content) -> usize {
        if let Some(&Some(module)) = self.stems.get(stem) {
            return module;
        }
        let children = FxHashMap::default();
        let number = self.files.imported_modules.len();
        self.stems.insert(stem.to_owned(), Some(number));
        self.files.imported_modules.push(ImportedModule {
            stem: stem.to_owned(),
            name,
            content,
            children,
        });
        number
    }

    /// Returns the folders in which modules are looked for, in this order: the file's folder; if
    /// that folder is in a package, the folder around the outermost package; the folders between
    /// the file and the root of a tree of programs; the folders that the user names.
    fn found_roots(&mut self) -> Vec<PathBuf> {
        let folder = folder_of(&self.main_file).to_owned();
        let mut outermost = folder.clone();
        for _ in 0..MAX_PACKAGE_DEPTH {
            // A folder without an `__init__.py` belongs to the package around the folder.
            let around = parent_folder(&outermost);
            let mut is_package = |folder: &Path| {
                !matches!(self.texts.file(&folder.join("__init__.py"), self.read), File::Absent)
            };
            if !is_package(&outermost) && !is_package(&around) {
                break;
            }
            outermost = around;
        }
        let ImportOptions { folders, tree, .. } = &self.texts.import_options;
        let is_in_tree = |at: &&Path| tree.as_ref().is_some_and(|tree| at.starts_with(tree));
        let around = folder.ancestors().skip(1).take_while(is_in_tree).map(Path::to_owned);
        // A file that the user names is a program, and a file of a tree is a module of its package.
        let own = folder.clone();
        let first = if tree.is_some() { [outermost, own] } else { [own, outermost] };
        let mut roots = Vec::new();
        for root in first.into_iter().chain(around).chain(folders.iter().cloned()) {
            if !roots.contains(&root) {
                roots.push(root);
            }
        }
        roots
    }
}

/// Returns the folder around a folder, from the path alone.
fn parent_folder(folder: &Path) -> PathBuf {
    match folder.components().next_back() {
        Some(Component::Normal(_)) => folder.parent().unwrap_or(Path::new("")).to_owned(),
        _ => folder.join(".."),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn module_stem(path: &Path) -> PathBuf {
    if path.file_name().is_some_and(|name| name == "__init__.py") {
        return folder_of(path).to_owned();
    }
    path.with_extension("")
}

/// `a`, `a.b`, `a.b.c` of `a.b.c`.
fn prefixes(module: &str) -> impl Iterator<Item = &str> {
    let ends = module.match_indices('.').map(|(at, _)| at).chain([module.len()]);
    ends.map(|end| &module[..end]).filter(|prefix| !prefix.is_empty())
}
