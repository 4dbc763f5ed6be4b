//! Reads the files beside a text that it imports from, as far as its kernels may need them.
//!
//! Nothing is read here: the caller gives a function from a path to a text. Which path a module's name means is
//! decided here, as Python does. An import is followed if a name that it binds is needed: one that a
//! decorated function or a value at the top of the program's own file mentions, or a definition that is needed itself.

use super::file::{Content, Files, Neighbour, Target};
use super::syntax::{Imported, Outline};
use crate::diagnostic::Diagnostic;
use crate::source::{SourceId, SourceMap};
use rustc_hash::{FxHashMap, FxHashSet};
use std::path::{Component, Path, PathBuf};

/// Gives the text of a file, if there is one.
pub type ReadFile<'r> = &'r dyn Fn(&Path) -> Option<String>;

/// How many files a program may come from, and how many bytes.
const FILES_MAX: usize = 200;
const BYTES_MAX: usize = 8 << 20;

/// How many folders up a package may begin.
const PACKAGE_DEPTH_MAX: usize = 32;

impl Files {
    /// A text with all that it imports from files beside it, directly or not.
    pub(super) fn beside(
        sources: &mut SourceMap,
        id: SourceId,
        read: ReadFile<'_>,
    ) -> Result<Self, Vec<Diagnostic>> {
        let mut files = Self::alone(sources, id)?;
        files.is_beside = true;
        let path = PathBuf::from(&sources.get(id).name);
        let main = Neighbour {
            stem: stem_of(&path),
            name: sources.get(id).name.clone(),
            content: Content::Text(0),
            children: FxHashMap::default(),
        };
        files.neighbours.push(main);
        let mut loader = Loader {
            files,
            sources,
            read,
            roots: None,
            outlines: Vec::new(),
            needed: FxHashSet::default(),
            todo: Vec::new(),
            modules: Vec::new(),
            attributes: FxHashSet::default(),
            missed: FxHashSet::default(),
        };
        loader.run();
        Ok(loader.files)
    }
}

/// Reads files until nothing that kernels may need is missing.
struct Loader<'l> {
    files: Files,
    sources: &'l mut SourceMap,
    read: ReadFile<'l>,
    /// Folders in which modules are looked for; found when the first one is.
    roots: Option<Vec<PathBuf>>,
    /// Of each text; made when it is first looked into.
    outlines: Vec<Outline>,
    /// Names of texts that are needed, and those among them that were not looked into yet.
    needed: FxHashSet<(usize, String)>,
    todo: Vec<(usize, String)>,
    /// Modules that are needed as such: any name behind a dot may be one of them.
    modules: Vec<usize>,
    attributes: FxHashSet<String>,
    /// Modules that have no file.
    missed: FxHashSet<PathBuf>,
}

impl Loader<'_> {
    fn run(&mut self) {
        self.outline();
        self.mentioned(0, None);
        loop {
            while let Some((text, name)) = self.todo.pop() {
                self.follow(text, &name);
            }
            let asked = self.modules.iter().filter_map(|&module| {
                let Content::Text(text) = self.files.neighbours[module].content else {
                    return None;
                };
                Some(self.attributes.iter().map(move |name| (text, name.clone())))
            });
            for (text, name) in asked.flatten().collect::<Vec<_>>() {
                self.need(text, name);
            }
            if self.todo.is_empty() {
                break;
            }
        }
    }

    /// Outlines of the texts that came since.
    fn outline(&mut self) {
        let new = &self.files.texts[self.outlines.len()..];
        self.outlines.extend(new.iter().map(|text| Outline::of(&text.tree.body, &text.text)));
    }

    fn need(&mut self, text: usize, name: String) {
        if self.needed.insert((text, name.clone())) {
            self.todo.push((text, name));
        }
    }

    fn module(&mut self, module: usize) {
        if !self.modules.contains(&module) {
            self.modules.push(module);
        }
    }

    /// What the definitions of a name mention is needed, or what the kernels of a text do.
    fn mentioned(&mut self, text: usize, name: Option<&str>) {
        let (outline, body) = (&self.outlines[text], &self.files.texts[text].tree.body);
        let mentions = match name {
            Some(name) => outline.behind(body, name),
            None => outline.mentioned(body),
        };
        let names: Vec<String> = mentions.names.into_iter().map(str::to_owned).collect();
        for attribute in mentions.attributes {
            if !self.attributes.contains(attribute) {
                self.attributes.insert(attribute.to_owned());
            }
        }
        names.into_iter().for_each(|name| self.need(text, name));
    }

    /// A name of a text is needed.
    fn follow(&mut self, text: usize, name: &str) {
        self.mentioned(text, Some(name));
        let imports = &self.outlines[text].imports;
        let imports = imports.iter().filter(|one| one.bound == name || one.bound == "*");
        let imports: Vec<Imported> = imports.filter(|one| !is_known(one)).cloned().collect();
        for import in imports {
            self.import(text, &import);
            let target = self.files.target(text, import.level, &import.module);
            let Some(Ok(module)) = target else { continue };
            let module = *module;
            match import.name.as_deref() {
                None => self.module(module),
                Some(wanted) => {
                    let wanted = if wanted == "*" { name } else { wanted };
                    if let Content::Text(text) = self.files.neighbours[module].content {
                        self.need(text, wanted.to_owned());
                    }
                    let child = self.files.neighbours[module].children.get(wanted).copied();
                    child.into_iter().for_each(|child| self.module(child));
                }
            }
            self.outline();
        }
    }

    /// Finds out what an import leads to.
    fn import(&mut self, text: usize, import: &Imported) {
        let target = if import.level > 0 {
            let own = PathBuf::from(&self.sources.get(self.files.texts[text].id).name);
            let from = (1..import.level).fold(folder_of(&own).to_owned(), |at, _| up(&at));
            self.below(&from, import)
        } else {
            self.absolute(import)
        };
        let mut keep = |module: &str, target: Target| {
            let key = (text, import.level, module.to_owned());
            let known = self.files.imports.entry(key).or_insert_with(|| target.clone());
            if known.is_err() && target.is_ok() {
                *known = target;
            }
        };
        match target {
            Ok(all) if import.is_first => {
                for (module, &index) in prefixes(&import.module).zip(&all) {
                    keep(module, Ok(index));
                }
                all.into_iter().for_each(|index| self.module(index));
            }
            Ok(all) => all.last().into_iter().for_each(|&last| keep(&import.module, Ok(last))),
            Err(looked) => keep(&import.module, Err(looked)),
        }
    }

    /// A module looked for in all roots.
    fn absolute(&mut self, import: &Imported) -> Result<Vec<usize>, Vec<String>> {
        let mut looked = Vec::new();
        let own = PathBuf::from(&self.sources.get(self.files.texts[0].id).name);
        let roots = self.roots.get_or_insert_with(|| roots(folder_of(&own), self.read)).clone();
        for root in roots {
            match self.below(&root, import) {
                Ok(all) => return Ok(all),
                Err(more) => looked.extend(more),
            }
        }
        Err(looked)
    }

    /// A module by its way `a.b.c` from a folder; for `import a.b.c` all three.
    fn below(&mut self, folder: &Path, import: &Imported) -> Result<Vec<usize>, Vec<String>> {
        if import.module.is_empty() {
            let package = self.package(folder);
            import.name.iter().for_each(|name| self.child(package, name));
            return Ok(vec![package]);
        }
        let names: Vec<&str> = import.module.split('.').collect();
        let mut stem = names.iter().fold(folder.to_owned(), |stem, name| stem.join(name));
        let last = match (self.load(&stem), &import.name) {
            (Ok(last), name) => {
                name.iter().for_each(|name| self.child(last, name));
                last
            }
            // A folder without a file of its own is a module if a module in it is asked for.
            (Err(looked), Some(name)) => {
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
                self.files.neighbours[parent].children.insert((*name).to_owned(), all[0]);
                all.insert(0, parent);
            }
        }
        Ok(all)
    }

    /// A folder: its own file, if it has one.
    fn package(&mut self, folder: &Path) -> usize {
        if let Some(known) = self.files.neighbours.iter().position(|one| one.stem == folder) {
            return known;
        }
        let content = self.content(&folder.join("__init__.py"));
        let (name, content) =
            content.unwrap_or_else(|| (folder.display().to_string(), Content::Folder));
        self.neighbour(folder, name, content)
    }

    /// A module in a package, if the name is one.
    fn child(&mut self, parent: usize, name: &str) {
        if name == "*" {
            return;
        }
        let stem = self.files.neighbours[parent].stem.join(name);
        if let Ok(child) = self.load(&stem) {
            self.files.neighbours[parent].children.insert(name.to_owned(), child);
        }
    }

    /// The module of a file, or which files there could be.
    fn load(&mut self, stem: &Path) -> Result<usize, Vec<String>> {
        let mut file = stem.as_os_str().to_owned();
        file.push(".py");
        let paths = [stem.join("__init__.py"), PathBuf::from(file)];
        let known = self.files.neighbours.iter().position(|one| one.stem == stem);
        if let Some(known) = known {
            return Ok(known);
        }
        if !self.missed.contains(stem) {
            for path in &paths {
                if let Some((name, content)) = self.content(path) {
                    return Ok(self.neighbour(stem, name, content));
                }
            }
            self.missed.insert(stem.to_owned());
        }
        Err(paths.iter().rev().map(|path| path.display().to_string()).collect())
    }

    /// What is in a file, and what messages call it.
    fn content(&mut self, path: &Path) -> Option<(String, Content)> {
        let bytes: usize = self.files.texts.iter().map(|text| text.text.len()).sum();
        if self.files.texts.len() >= FILES_MAX || bytes >= BYTES_MAX {
            return None;
        }
        let text = (self.read)(path)?;
        let name = path.display().to_string();
        let id = self.sources.add(name.clone(), text.as_str());
        let content = match self.files.add(id, &text) {
            Ok(text) => Content::Text(text),
            Err(mut faults) => Content::Faulty(Box::new(faults.swap_remove(0))),
        };
        Some((name, content))
    }

    fn neighbour(&mut self, stem: &Path, name: String, content: Content) -> usize {
        let known = self.files.neighbours.iter().position(|one| one.stem == stem);
        if let Some(known) = known {
            return known;
        }
        let children = FxHashMap::default();
        self.files.neighbours.push(Neighbour { stem: stem.to_owned(), name, content, children });
        self.files.neighbours.len() - 1
    }
}

/// Where modules are looked for: beside the file, and, if that is in a package, beside the package.
fn roots(folder: &Path, read: ReadFile<'_>) -> Vec<PathBuf> {
    let mut outermost = folder.to_owned();
    for _ in 0..PACKAGE_DEPTH_MAX {
        if read(&outermost.join("__init__.py")).is_none() {
            break;
        }
        outermost = up(&outermost);
    }
    if outermost == folder { vec![outermost] } else { vec![folder.to_owned(), outermost] }
}

/// The folder around a folder, by name alone.
fn up(folder: &Path) -> PathBuf {
    match folder.components().next_back() {
        Some(Component::Normal(_)) => folder.parent().unwrap_or(Path::new("")).to_owned(),
        _ => folder.join(".."),
    }
}

fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

fn stem_of(path: &Path) -> PathBuf {
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

/// Modules that the dialect knows itself: no file stands for them.
fn is_known(import: &Imported) -> bool {
    let module = import.module.as_str();
    import.level == 0
        && (super::warp::canonical(module) == "warp"
            || import.is_first && module.starts_with("warp.")
            || matches!(
                module.split('.').next(),
                Some(
                    "math"
                        | "numpy"
                        | "typing"
                        | "types"
                        | "collections"
                        | "gbxcule"
                        | "__future__"
                )
            ))
}
