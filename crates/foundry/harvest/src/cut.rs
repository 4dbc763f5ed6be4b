//! Cuts a kernel out of its file: makes a text with the kernel and every definition that it needs,
//! from this file and from imported files.

use crate::outline::{Import, Mentions, Statement, outline};
use gbxcule_front_warp::ImportOptions;
use gbxcule_rows::structure::{Token, indentation, tokens};
use gbxcule_runtime::{ProgramFiles, is_in_package};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Greatest number of definitions of a cut.
const MAX_DEFINITIONS: usize = 300;
/// Greatest number of imports that are followed from one file to the next.
const MAX_IMPORTS: usize = 8;
/// Greatest number of names that are looked up for a cut. Files that import each other with `import
/// *` would otherwise take hours.
const MAX_LOOKUPS: usize = 100_000;
/// Greatest number of bytes of all definitions of a cut.
const MAX_CUT_BYTES: usize = 4 << 20;
/// Packages that stay imports: the compiler knows their names.
const KNOWN_PACKAGES: [&str; 4] = ["warp", "math", "numpy", "typing"];

/// A file with its statements.
pub(crate) struct Source {
    path: PathBuf,
    text: String,
    statements: Vec<Statement>,
    /// Positions of statements, by their parent statement and by the names that they define.
    by_name: HashMap<Option<usize>, HashMap<String, Vec<usize>>>,
    /// Positions of the statements with an `import *`.
    stars: Vec<usize>,
}

impl Source {
    fn new(path: PathBuf, text: String) -> Self {
        let statements = outline(&text);
        let mut by_name: HashMap<Option<usize>, HashMap<String, Vec<usize>>> = HashMap::new();
        let mut stars = Vec::new();
        for (at, statement) in statements.iter().enumerate() {
            let beside = by_name.entry(statement.parent).or_default();
            for name in statement.defines.iter().collect::<BTreeSet<_>>() {
                beside.entry(name.clone()).or_default().push(at);
            }
            if statement.imports.iter().any(|import| import.name == "*") {
                stars.push(at);
            }
        }
        Self { path, text, statements, by_name, stars }
    }

    /// Returns the statements below `parent` that define a name, in order.
    fn defining(&self, parent: Option<usize>, name: &str) -> &[usize] {
        self.by_name.get(&parent).and_then(|beside| beside.get(name)).map_or(&[], Vec::as_slice)
    }
}

/// The files below a folder that were read, each once.
pub(crate) struct Sources {
    allowed: ProgramFiles,
    options: ImportOptions,
    files: HashMap<PathBuf, Option<Rc<Source>>>,
}

impl Sources {
    pub(crate) fn below(folder: &Path, options: &ImportOptions) -> Self {
        let allowed = allowed(folder, options);
        Self { allowed, options: options.clone(), files: HashMap::new() }
    }

    /// Returns a file if it may be read and is text.
    pub(crate) fn file(&mut self, path: &Path) -> Option<Rc<Source>> {
        let read = || {
            let text = self.allowed.text(path).ok()?;
            Some(Rc::new(Source::new(path.into(), text)))
        };
        self.files.entry(path.into()).or_insert_with(read).clone()
    }

    /// Returns the file of an imported module, which lies beside the importing file, beside the
    /// packages around that file, or in a folder that the user names.
    fn module(&mut self, from: &Path, import: &Import) -> Option<Rc<Source>> {
        let mut folder = from.parent()?.to_path_buf();
        for _ in 1..import.level {
            folder.pop();
        }
        let parts: Vec<&str> = import.module.split('.').filter(|it| !it.is_empty()).collect();
        let mut others = self.options.folders.clone().into_iter();
        loop {
            let stem = parts.iter().fold(folder.clone(), |path, part| path.join(part));
            for path in [stem.with_extension("py"), stem.join("__init__.py")] {
                if path.is_file() {
                    return self.file(&path);
                }
            }
            if import.level > 0 {
                return None;
            }
            // The module of an import without dots lies beside the outermost package.
            if !is_in_package(&folder) || !folder.pop() {
                folder = others.next()?;
            }
        }
    }
}

/// Files that programs of a folder may import.
pub(crate) fn allowed(folder: &Path, options: &ImportOptions) -> ProgramFiles {
    options.folders.iter().fold(ProgramFiles::below(folder), |files, it| files.and_below(it))
}

/// A definition: a file and the position of a statement in it.
type DefinitionId = (PathBuf, usize);

/// Choice of the definitions that a cut includes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// All definitions that are mentioned, directly or indirectly.
    All,
    /// All definitions except functions and classes without a decorator: these run only in Python,
    /// and their texts mention whole programs.
    Decorated,
}

struct Cutter<'s> {
    sources: &'s mut Sources,
    reach: Reach,
    /// Names of which the definitions are taken, and not the user's values.
    defined: &'s [String],
    /// Whole lines of imports of known packages.
    imports: BTreeSet<String>,
    /// Aliases of definitions, `here = there`, from imports.
    aliases: BTreeSet<String>,
    /// Lines that bind names to the values that the user gives, and these names.
    values: BTreeSet<String>,
    given: BTreeSet<String>,
    /// Names of modules in each file: the cut writes `module.name` without the module.
    modules: BTreeMap<PathBuf, BTreeSet<String>>,
    /// Chosen definitions, and the order in which the cut prints them: a definition comes before
    /// the definitions that need it.
    chosen: BTreeMap<DefinitionId, Rc<Source>>,
    order: Vec<DefinitionId>,
    todo: Vec<(Rc<Source>, usize)>,
    /// Number of names that were looked up.
    lookups: usize,
    /// Number of bytes of the definitions.
    bytes: usize,
}

/// A cut.
pub(crate) struct CutText {
    /// The text.
    pub(crate) text: String,
    /// Names for which it has the user's values.
    pub(crate) given: Vec<String>,
}

/// Cuts out the kernel whose name stands at a byte of a file.
pub(crate) fn cut(
    sources: &mut Sources,
    file: &Rc<Source>,
    at: usize,
    reach: Reach,
    defined: &[String],
) -> Option<CutText> {
    let is_at = |it: &Statement| it.is_definition && (it.begin..it.end).contains(&at);
    let kernel = file.statements.iter().rposition(is_at)?;
    let mut cutter = Cutter {
        sources,
        reach,
        defined,
        aliases: BTreeSet::new(),
        values: BTreeSet::new(),
        given: BTreeSet::new(),
        modules: BTreeMap::new(),
        imports: BTreeSet::from(["import warp as wp".to_owned()]),
        chosen: BTreeMap::new(),
        order: Vec::new(),
        todo: Vec::new(),
        lookups: 0,
        bytes: 0,
    };
    cutter.add(file, kernel);
    while let Some((file, statement)) = cutter.todo.pop() {
        let text = file.statements[statement].text(&file);
        cutter.bytes += text.len();
        if cutter.bytes > MAX_CUT_BYTES {
            return None;
        }
        let mentions = Mentions::of(text);
        for name in &mentions.names {
            cutter.need(&file, statement, name, 0);
        }
        for (module, name) in &mentions.attributes {
            cutter.need_of_module(&file, statement, module, name);
        }
        if cutter.chosen.len() > MAX_DEFINITIONS || cutter.lookups > MAX_LOOKUPS {
            return None;
        }
    }
    let text = cutter.text(file, kernel);
    Some(CutText { text, given: cutter.given.into_iter().collect() })
}

impl Cutter<'_> {
    fn choose(&mut self, file: &Rc<Source>, statement: usize) {
        let it = &file.statements[statement];
        let text = it.text(file).trim_start();
        let is_python = it.is_definition && !text.starts_with('@');
        // Only Python mentions other kernels: it launches them.
        let is_other_kernel = it.is_definition && text.starts_with("@wp.kernel");
        if !is_other_kernel && (self.reach == Reach::All || !is_python) {
            self.add(file, statement);
        }
    }

    fn add(&mut self, file: &Rc<Source>, statement: usize) {
        let place = (file.path.clone(), statement);
        if self.chosen.insert(place.clone(), Rc::clone(file)).is_none() {
            self.order.push(place);
            self.todo.push((Rc::clone(file), statement));
        }
    }

    /// Chooses the definitions that a name refers to at a statement, in its scope or an outer one.
    fn need(&mut self, file: &Rc<Source>, statement: usize, name: &str, depth: usize) {
        if depth > MAX_IMPORTS {
            return;
        }
        let is_defined = self.defined.iter().any(|it| it == name);
        if !is_defined && self.take_value(name, |path| path == name) {
            self.given.insert(name.to_owned());
            return;
        }
        let mut scope = Some(statement);
        while let Some(at) = scope {
            let parent = file.statements[at].parent;
            if self.take(file, statement, parent, name, depth)
                || parent.is_some_and(|it| self.take_argument(file, it, name))
            {
                return;
            }
            scope = parent;
        }
        self.take_starred(file, name, depth);
    }

    /// Takes the user's value for an argument of the function around a statement.
    fn take_argument(&mut self, file: &Rc<Source>, function: usize, name: &str) -> bool {
        let functions = &file.statements[function].defines;
        let is_given = self.take_value(name, |path| {
            let parts = path.rsplit_once('.');
            parts.is_some_and(|(of, it)| it == name && functions.iter().any(|own| own == of))
        });
        if is_given {
            self.given.insert(name.to_owned());
        }
        is_given
    }

    /// Takes the value that the user gives for the first path that is the wanted one.
    fn take_value(&mut self, name: &str, is_wanted: impl Fn(&str) -> bool) -> bool {
        let mut defines = self.sources.options.defines.iter();
        let value = defines.find(|(path, _)| is_wanted(path));
        let line = value.map(|(_, value)| format!("{name} = {value}\n"));
        let is_given = line.is_some();
        self.values.extend(line);
        is_given
    }

    /// Chooses the definitions of a name that a `from module import *` provides.
    fn take_starred(&mut self, file: &Rc<Source>, name: &str, depth: usize) -> bool {
        let stars = file.stars.iter().flat_map(|&at| &file.statements[at].imports);
        let stars = stars.filter(|it| it.name == "*");
        for import in stars {
            self.lookups += 1;
            if self.lookups > MAX_LOOKUPS {
                return false;
            }
            if let Some(other) = self.sources.module(&file.path, import)
                && self.take_at_top(&other, name, depth + 1)
            {
                return true;
            }
        }
        false
    }

    /// Chooses the definitions of a name at the top level of a module, defined or imported there.
    fn take_at_top(&mut self, file: &Rc<Source>, name: &str, depth: usize) -> bool {
        depth <= MAX_IMPORTS
            && self.lookups <= MAX_LOOKUPS
            && (self.take(file, usize::MAX, None, name, depth)
                || self.take_starred(file, name, depth))
    }

    /// Chooses the definitions of `name` in a module of the folder that a statement calls `module`.
    fn need_of_module(&mut self, file: &Rc<Source>, statement: usize, module: &str, name: &str) {
        let mut scope = Some(statement);
        let import = loop {
            let parent = scope.and_then(|at| file.statements[at].parent);
            let beside = file.defining(parent, module).iter();
            let imports = beside.flat_map(|&at| &file.statements[at].imports);
            self.lookups += 1;
            match imports.into_iter().find(|it| it.name == module) {
                Some(import) => break import,
                None if parent.is_none() => return,
                None => scope = parent,
            }
        };
        let package = import.module.split('.').next().unwrap_or_default();
        let whole = match &import.original {
            // `import a.b` binds `a`, whose names are not those of `a.b`.
            None if import.module == module
                || !import.module.starts_with(&format!("{module}.")) =>
            {
                import.clone()
            }
            None => return,
            // `from . import module`
            Some(original) => {
                let dot = if import.module.is_empty() { "" } else { "." };
                let path = format!("{}{dot}{original}", import.module);
                Import { module: path, original: None, ..import.clone() }
            }
        };
        if whole.level == 0 && whole.module == package && KNOWN_PACKAGES.contains(&package) {
            return;
        }
        if let Some(other) = self.sources.module(&file.path, &whole)
            && self.take_at_top(&other, name, 1)
        {
            self.modules.entry(file.path.clone()).or_default().insert(module.to_owned());
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
        self.lookups += 1;
        let others = file.defining(parent, name).iter().copied();
        let found: Vec<usize> = others.filter(|&at| at != user).collect();
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
        if import.level == 0 && KNOWN_PACKAGES.contains(&package) && import.original.is_none() {
            let alias = if import.name == import.module {
                String::new()
            } else {
                format!(" as {}", import.name)
            };
            self.imports.insert(format!("import {}{alias}", import.module));
            return;
        }
        let Some(original) = &import.original else { return };
        let Some(other) = self.sources.module(&file.path, import) else {
            if import.level == 0 && KNOWN_PACKAGES.contains(&package) {
                let alias = match import.name == *original {
                    true => String::new(),
                    false => format!(" as {}", import.name),
                };
                self.imports.insert(format!("from {} import {original}{alias}", import.module));
            }
            return;
        };
        if self.take_at_top(&other, original, depth + 1) && import.name != *original {
            self.aliases.insert(format!("{} = {original}\n", import.name));
        }
    }

    /// Returns the text of the chosen definitions: other files first, each in its own order, and
    /// the kernel last.
    fn text(&self, file: &Rc<Source>, kernel: usize) -> String {
        let mut text: String = self.imports.iter().map(|line| format!("{line}\n")).collect();
        let is_own = |place: &&DefinitionId| place.0 == file.path;
        let others = self.order.iter().filter(|place| !is_own(place)).rev();
        let mut own_file: Vec<&DefinitionId> = self.order.iter().filter(is_own).collect();
        own_file.sort();
        own_file.retain(|place| place.1 != kernel);
        // A chosen definition inside another chosen definition is printed with the outer one.
        let is_inside = |place: &&DefinitionId| {
            let source = &self.chosen[place];
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
        let print = |text: &mut String, place: &DefinitionId| {
            let source = &self.chosen[place];
            let statement = &source.statements[place.1];
            let block = outside_class(&dedented(statement.text(source), statement.margin));
            let block = match self.modules.get(&place.0) {
                Some(modules) => without_modules(&block, modules),
                None => block,
            };
            let gap = if statement.is_definition { "\n\n" } else { "" };
            let line = if text.ends_with('\n') { "" } else { "\n" };
            *text += &format!("{line}{gap}{}\n", block.trim_end());
        };
        others.filter(|place| !is_inside(place)).for_each(|place| print(&mut text, place));
        text.extend(self.aliases.iter().chain(&self.values).map(String::as_str));
        own_file.into_iter().filter(|place| !is_inside(place)).for_each(|it| print(&mut text, it));
        print(&mut text, &last);
        text
    }
}

impl Statement {
    /// Returns the statement's lines, decorators included.
    fn text<'s>(&self, source: &'s Source) -> &'s str {
        &source.text[self.begin..self.end]
    }
}

/// Returns a block in which `module.name` is written as `name`.
fn without_modules(block: &str, modules: &BTreeSet<String>) -> String {
    let (mut text, mut from) = (String::with_capacity(block.len()), 0);
    for three in tokens(block).windows(3) {
        if let [(begin, Token::Name(module, false)), (_, Token::Mark(".")), (end, _)] = *three
            && modules.contains(module)
        {
            text += &block[from..begin];
            from = end;
        }
    }
    text + &block[from..]
}

/// Returns a function's text without `@staticmethod`, which has a meaning only in a class.
fn outside_class(block: &str) -> String {
    let end = if block.starts_with("def ") { 0 } else { block.find("\ndef ").unwrap_or(0) };
    let (decorators, function) = block.split_at(end);
    let lines = decorators.lines().filter(|line| line.trim_end() != "@staticmethod");
    let decorators: Vec<&str> = lines.collect();
    match decorators[..] {
        [] => function.trim_start_matches('\n').to_owned(),
        _ => decorators.join("\n") + function,
    }
}

/// Returns a block of lines moved to the left.
fn dedented(block: &str, margin: usize) -> String {
    if margin == 0 {
        return block.to_owned();
    }
    let moved = |line: &str| {
        let (length, _) = indentation(line.as_bytes(), margin);
        line[length..].to_owned() + "\n"
    };
    block.lines().map(moved).collect()
}
