//! Cuts a kernel out of its file: a text of its own with every definition that it needs, from this
//! file and from those that it imports from.

use super::outline::{Import, Statement, outline};
use crate::structure::{Token, tokens};
use gbxcule_runtime::ProgramFiles;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Definitions of a cut, at most: no kernel of a person needs more.
const MOST_DEFINITIONS: usize = 300;
/// Packages that stay imports: what a row needs of them is known to the compiler.
const KNOWN: [&str; 4] = ["warp", "math", "numpy", "typing"];

/// A file with its statements.
pub(super) struct Source {
    path: PathBuf,
    text: String,
    statements: Vec<Statement>,
}

/// Files below a folder that were read, each once.
pub(super) struct Sources {
    allowed: ProgramFiles,
    files: HashMap<PathBuf, Option<Rc<Source>>>,
}

impl Sources {
    pub(super) fn below(folder: &Path) -> Self {
        Self { allowed: ProgramFiles::below(folder), files: HashMap::new() }
    }

    /// A file, if it may be read and is a text.
    pub(super) fn file(&mut self, path: &Path) -> Option<Rc<Source>> {
        let read = || {
            let text = self.allowed.text(path).ok()?;
            let statements = outline(&text);
            Some(Rc::new(Source { path: path.into(), text, statements }))
        };
        self.files.entry(path.into()).or_insert_with(read).clone()
    }

    /// The file of a module that a file imports: beside it, or beside the packages around it.
    fn module(&mut self, from: &Path, import: &Import) -> Option<Rc<Source>> {
        let mut folder = from.parent()?.to_path_buf();
        for _ in 1..import.level {
            folder.pop();
        }
        let parts: Vec<&str> = import.module.split('.').filter(|it| !it.is_empty()).collect();
        loop {
            let stem = parts.iter().fold(folder.clone(), |path, part| path.join(part));
            for path in [stem.with_extension("py"), stem.join("__init__.py")] {
                if path.is_file() {
                    return self.file(&path);
                }
            }
            // An import without dots is found beside the outermost package.
            if import.level > 0 || !folder.join("__init__.py").is_file() || !folder.pop() {
                return None;
            }
        }
    }
}

/// A definition that a cut needs: a file and a statement of it.
type Place = (PathBuf, usize);

struct Cutter<'s> {
    sources: &'s mut Sources,
    /// Whole lines of imports of known packages.
    imports: BTreeSet<String>,
    /// In the order in which they are printed: what others need first.
    chosen: BTreeMap<Place, Rc<Source>>,
    order: Vec<Place>,
    todo: Vec<(Rc<Source>, usize)>,
}

/// Cuts out the kernel whose name stands at a byte of a file.
pub(super) fn cut(sources: &mut Sources, file: &Rc<Source>, at: usize) -> Option<String> {
    let own = |it: &Statement| it.is_definition && (it.begin..it.end).contains(&at);
    let kernel = file.statements.iter().rposition(own)?;
    let mut cutter = Cutter {
        sources,
        imports: BTreeSet::from(["import warp as wp".to_owned()]),
        chosen: BTreeMap::new(),
        order: Vec::new(),
        todo: Vec::new(),
    };
    cutter.choose(file, kernel);
    while let Some((file, statement)) = cutter.todo.pop() {
        let names = file.statements[statement].mentions.clone();
        for name in names {
            cutter.need(&file, statement, &name, 0);
        }
        if cutter.chosen.len() > MOST_DEFINITIONS {
            return None;
        }
    }
    Some(cutter.text(file, kernel))
}

impl Cutter<'_> {
    fn choose(&mut self, file: &Rc<Source>, statement: usize) {
        let place = (file.path.clone(), statement);
        if self.chosen.insert(place.clone(), Rc::clone(file)).is_none() {
            self.order.push(place);
            self.todo.push((Rc::clone(file), statement));
        }
    }

    /// Chooses what a name means at a statement: a definition beside it or further out.
    fn need(&mut self, file: &Rc<Source>, statement: usize, name: &str, depth: usize) {
        if depth > 8 {
            return;
        }
        let mut scope = Some(statement);
        while let Some(at) = scope {
            let parent = file.statements[at].parent;
            if self.take(file, statement, parent, name, depth) {
                return;
            }
            scope = parent;
        }
    }

    /// Chooses all definitions of a name among the statements below `parent`.
    fn take(
        &mut self,
        file: &Rc<Source>,
        user: usize,
        parent: Option<usize>,
        name: &str,
        depth: usize,
    ) -> bool {
        let found: Vec<usize> = (0..file.statements.len())
            .filter(|&at| {
                let it = &file.statements[at];
                it.parent == parent && at != user && it.defines.iter().any(|own| own == name)
            })
            .collect();
        for &at in &found {
            let it = &file.statements[at];
            if it.imports.is_empty() {
                self.choose(file, at);
                continue;
            }
            for import in it.imports.iter().filter(|import| import.name == name) {
                self.import(file, import, depth);
            }
        }
        !found.is_empty()
    }

    fn import(&mut self, file: &Rc<Source>, import: &Import, depth: usize) {
        let package = import.module.split('.').next().unwrap_or_default();
        if import.level == 0 && KNOWN.contains(&package) && import.original.is_none() {
            let alias = if import.name == import.module {
                String::new()
            } else {
                format!(" as {}", import.name)
            };
            self.imports.insert(format!("import {}{alias}", import.module));
            return;
        }
        // A name of another spelling would have to be spelled anew.
        let Some(original) = import.original.as_ref().filter(|it| **it == import.name) else {
            return;
        };
        let Some(other) = self.sources.module(&file.path, import) else {
            if import.level == 0 && KNOWN.contains(&package) {
                self.imports.insert(format!("from {} import {original}", import.module));
            }
            return;
        };
        self.take(&other, usize::MAX, None, original, depth + 1);
    }

    /// Prints what was chosen: other files first, each in its own order, the kernel last.
    fn text(&self, file: &Rc<Source>, kernel: usize) -> String {
        let mut text: String = self.imports.iter().map(|line| format!("{line}\n")).collect();
        let own = |place: &&Place| place.0 == file.path;
        let others = self.order.iter().filter(|place| !own(place)).rev();
        let mut own: Vec<&Place> = self.order.iter().filter(own).collect();
        own.sort();
        own.retain(|place| place.1 != kernel);
        // A definition inside of another one that was chosen is there already.
        let is_inside = |place: &&&Place| {
            let source = &self.chosen[*place];
            let mut parent = source.statements[place.1].parent;
            while let Some(at) = parent {
                if self.chosen.contains_key(&(place.0.clone(), at)) {
                    return true;
                }
                parent = source.statements[at].parent;
            }
            false
        };
        let last = (file.path.clone(), kernel);
        let places: Vec<&Place> = others.chain(own).collect();
        for place in places.iter().filter(|place| !is_inside(place)).copied().chain([&last]) {
            let source = &self.chosen[place];
            let statement = &source.statements[place.1];
            let block = dedented(&source.text[statement.begin..statement.end], statement.margin);
            let gap = if statement.is_definition { "\n\n" } else { "" };
            let line = if text.ends_with('\n') { "" } else { "\n" };
            text += &format!("{line}{gap}{}\n", block.trim_end());
        }
        text
    }
}

/// A block of lines moved to the left.
fn dedented(block: &str, margin: usize) -> String {
    if margin == 0 {
        return block.to_owned();
    }
    let moved = |line: &str| {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        line[margin.min(spaces)..].to_owned() + "\n"
    };
    block.lines().map(moved).collect()
}

/// Marks a function as a kernel that another line of its file made one: `k = wp.kernel(f)`.
pub(super) fn marked(text: &str, name: &str) -> String {
    let is_marked = tokens(text).windows(4).any(|four| {
        let words = four.iter().map(|it| it.1);
        words.eq([
            Token::Mark("@"),
            Token::Name("wp", false),
            Token::Mark("."),
            Token::Name("kernel", true),
        ])
    });
    if is_marked {
        return text.to_owned();
    }
    text.replacen(&format!("\ndef {name}("), &format!("\n@wp.kernel\ndef {name}("), 1)
}
