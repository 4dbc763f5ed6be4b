//! Names that the statements of a text bind and mention. The loader follows imports by them, so
//! that only the definitions that a kernel may need are read.

use crate::decorator::is_plain;
use crate::module;
use crate::syntax::{
    ExceptHandler, Expr, Ranged, Stmt, Visitor, end, path, start, walk_expr, walk_stmt,
};
use rustc_hash::{FxHashMap, FxHashSet};
use std::sync::{Arc, OnceLock};

/// A name of some text, by its number.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Symbol(u32);

/// All names of all texts, each with a number: sets of names are sets of numbers.
#[derive(Default)]
pub(crate) struct Symbols {
    numbers: FxHashMap<Arc<str>, Symbol>,
    names: Vec<Arc<str>>,
}

impl Symbols {
    /// Returns the number of a name.
    pub(crate) fn of(&mut self, name: &str) -> Symbol {
        if let Some(&known) = self.numbers.get(name) {
            return known;
        }
        let (number, name) = (Symbol(self.names.len() as u32), Arc::<str>::from(name));
        self.names.push(name.clone());
        self.numbers.insert(name, number);
        number
    }

    pub(crate) fn name(&self, Symbol(number): Symbol) -> &str {
        &self.names[number as usize]
    }
}

/// A set of names: a bit for each name.
#[derive(Default)]
pub(crate) struct SymbolSet(Vec<u64>);

impl SymbolSet {
    /// Adds a name; returns true if it is new.
    pub(crate) fn insert(&mut self, Symbol(number): Symbol) -> bool {
        let (word, bit) = (number as usize / 64, 1 << (number % 64));
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        let is_new = self.0[word] & bit == 0;
        self.0[word] |= bit;
        is_new
    }

    pub(crate) fn contains(&self, Symbol(number): Symbol) -> bool {
        let word = self.0.get(number as usize / 64);
        word.is_some_and(|word| word & 1 << (number % 64) != 0)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = Symbol> {
        let words = self.0.iter().enumerate().filter(|(_, word)| **word != 0);
        words.flat_map(|(at, &word)| {
            let bits = (0..64).filter(move |bit| word & 1 << bit != 0);
            bits.map(move |bit| Symbol(at as u32 * 64 + bit))
        })
    }
}

/// A name that a text imports.
#[derive(Clone)]
pub(crate) struct Imported {
    /// Name that the import binds; `*` for all names of a module.
    bound: Symbol,
    /// Dots before the module's name.
    pub(crate) level: u32,
    /// Name of the module, with the dots in it; may be empty if `level` is above 0.
    pub(crate) module: String,
    /// Name in the module; `None` if the module itself is imported.
    pub(crate) name: Option<(String, Symbol)>,
    /// True for `import a.b.c`, which binds `a`.
    pub(crate) is_first: bool,
    /// True for a module that the dialect knows itself, without a file.
    pub(crate) is_known: bool,
}

/// Names that a text binds, imports and mentions, for following imports.
#[derive(Default)]
pub(crate) struct Outline {
    /// The imports, wherever they stand.
    imports: Vec<Imported>,
    /// Positions in `imports`, by the bound name.
    by_name: FxHashMap<Symbol, Vec<usize>>,
    /// Positions in `imports` of the imports of `*`.
    stars: Vec<usize>,
    /// Positions in `statements`, by the bound name: the names that a statement mentions may be
    /// needed together with the names that the statement binds.
    bindings: FxHashMap<Symbol, Vec<usize>>,
    statements: Vec<Statement>,
    /// Positions of the statements that kernels start from: decorated functions, values at the top,
    /// types of generic kernels.
    roots: Vec<usize>,
}

/// A statement that binds names: its first byte, and its mentions, read at the first request.
struct Statement {
    at: u32,
    mentions: OnceLock<Mentions>,
}

/// Names that a statement mentions.
#[derive(Default)]
pub(crate) struct Mentions {
    /// Names that the text may bind.
    pub(crate) names: Vec<Symbol>,
    /// Names after a dot.
    pub(crate) attributes: Vec<Symbol>,
    /// Names that the text imports, each with the names after its dots: `a.b.c`.
    pub(crate) paths: Vec<Vec<Symbol>>,
}

impl Outline {
    pub(crate) fn of(body: &[Stmt], text: &str, symbols: &mut Symbols) -> Self {
        let calls = |line: &str| line.contains("kernel(") || line.contains("Kernel(");
        let has_calls = text.lines().any(|line| calls(line) && !line.trim_start().starts_with('@'));
        let mut reader = OutlineReader { outline: Self::default(), has_calls, depth: 0, symbols };
        body.iter().for_each(|stmt| reader.visit_stmt(stmt));
        let mut outline = reader.outline;
        for (position, import) in outline.imports.iter_mut().enumerate() {
            import.is_known =
                import.level == 0 && module::is_known(&import.module, import.is_first);
            outline.by_name.entry(import.bound).or_default().push(position);
        }
        outline.stars = outline.by_name.get(&symbols.of("*")).cloned().unwrap_or_default();
        outline
    }

    /// Names that the kernels of the text mention; `body` is the text's tree.
    pub(crate) fn mentioned(&self, body: &[Stmt], symbols: &mut Symbols) -> Vec<&Mentions> {
        self.roots.iter().map(|&at| self.mentions(at, body, symbols)).collect()
    }

    /// Names that all bindings of a name mention.
    pub(crate) fn names_mentioned_by(
        &self,
        body: &[Stmt],
        name: Symbol,
        symbols: &mut Symbols,
    ) -> Vec<&Mentions> {
        let bindings = self.bindings.get(&name).map_or(&[][..], Vec::as_slice);
        bindings.iter().map(|&at| self.mentions(at, body, symbols)).collect()
    }

    /// Names that a statement mentions.
    fn mentions(&self, at: usize, body: &[Stmt], symbols: &mut Symbols) -> &Mentions {
        let Statement { at, mentions } = &self.statements[at];
        mentions.get_or_init(|| {
            let mut finder = Finder { at: *at, names: Names::default() };
            finder.visit_body(body);
            let Names { names, attributes, paths } = finder.names;
            let mut result = Mentions::default();
            for path in paths {
                let path: Vec<Symbol> = path.into_iter().map(|name| symbols.of(name)).collect();
                if !self.by_name.contains_key(&path[0]) || self.bindings.contains_key(&path[0]) {
                    result.names.extend(self.may_bind(path[0]).then_some(path[0]));
                    result.attributes.extend(&path[1..]);
                } else if self.imports(path[0]).any(|import| !import.is_known) {
                    result.paths.push(path);
                }
            }
            let bare = names.into_iter().map(|name| symbols.of(name));
            result.names.extend(bare.filter(|&name| self.may_bind(name)));
            result.attributes.extend(attributes.into_iter().map(|name| symbols.of(name)));
            result
        })
    }

    /// First bytes of the statements that bind some names.
    pub(crate) fn begins(&self, names: &SymbolSet) -> FxHashSet<u32> {
        let bound = names.iter().filter_map(|name| self.bindings.get(&name));
        bound.flatten().map(|&at| self.statements[at].at).collect()
    }

    /// Imports that bind a name, or may bind it by `*`.
    pub(crate) fn imports(&self, name: Symbol) -> impl Iterator<Item = &Imported> {
        let named = self.by_name.get(&name).map_or(&[][..], Vec::as_slice);
        named.iter().chain(&self.stars).map(|&at| &self.imports[at])
    }

    /// Returns true if only imports bind a name.
    pub(crate) fn is_imported_only(&self, name: Symbol) -> bool {
        let is_imported = self.by_name.contains_key(&name) || self.may_bind_any();
        is_imported && !self.bindings.contains_key(&name)
    }

    /// Returns true if the text imports `*` and may so bind any name.
    pub(crate) fn may_bind_any(&self) -> bool {
        !self.stars.is_empty()
    }

    /// Names that the text binds.
    pub(crate) fn names(&self) -> impl Iterator<Item = Symbol> {
        self.bindings.keys().chain(self.by_name.keys()).copied()
    }

    /// Returns true if the text may bind a name.
    pub(crate) fn may_bind(&self, name: Symbol) -> bool {
        self.may_bind_any() || self.bindings.contains_key(&name) || self.by_name.contains_key(&name)
    }
}

/// Reads the outline of a text.
struct OutlineReader<'s> {
    outline: Outline,
    /// True if functions may become kernels by calls.
    has_calls: bool,
    depth: usize,
    symbols: &'s mut Symbols,
}

impl OutlineReader<'_> {
    fn import(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let module = alias.name.to_string();
                    let first = alias.name.split('.').next().unwrap_or("");
                    let bound = alias.asname.as_ref().map_or(first, |name| name.as_str());
                    let bound = self.symbols.of(bound);
                    let is_first = alias.asname.is_none();
                    self.outline.imports.push(Imported {
                        bound,
                        level: 0,
                        module,
                        name: None,
                        is_first,
                        is_known: false,
                    });
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    let module = import.module.as_ref().map_or("", |module| module.as_str());
                    let bound = alias.asname.as_ref().unwrap_or(&alias.name);
                    let name = (alias.name.to_string(), self.symbols.of(&alias.name));
                    self.outline.imports.push(Imported {
                        bound: self.symbols.of(bound),
                        level: import.level,
                        module: module.to_owned(),
                        name: Some(name),
                        is_first: false,
                        is_known: false,
                    });
                }
            }
            _ => {}
        }
    }
}

impl Visitor<'_> for OutlineReader<'_> {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        let mut names = Vec::new();
        let is_root = match stmt {
            Stmt::FunctionDef(def) => {
                names.push(def.name.as_str());
                let annotated =
                    def.parameters.iter().any(|each| each.as_parameter().annotation.is_some());
                let made = def.decorator_list.iter().any(|it| !is_of_python(&it.expression));
                made || annotated && self.has_calls
            }
            Stmt::ClassDef(def) => {
                names.push(def.name.as_str());
                false
            }
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| bound(target, &mut names));
                self.depth == 0 || is_overload(&assign.value)
            }
            Stmt::AnnAssign(assign) => {
                bound(&assign.target, &mut names);
                self.depth == 0
            }
            Stmt::Expr(expr) => is_overload(&expr.value),
            stmt => {
                self.import(stmt);
                false
            }
        };
        if is_root || !names.is_empty() {
            let position = self.outline.statements.len();
            self.outline.statements.push(Statement { at: start(stmt), mentions: OnceLock::new() });
            for name in names {
                let name = self.symbols.of(name);
                self.outline.bindings.entry(name).or_default().push(position);
            }
            self.outline.roots.extend(is_root.then_some(position));
        }
        let scope = matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_));
        self.depth += usize::from(scope);
        walk_stmt(self, stmt);
        self.depth -= usize::from(scope);
    }

    // Expressions hold no statements.
    fn visit_expr(&mut self, _: &Expr) {}
}

/// Search for the statement that begins at a byte.
struct Finder<'a> {
    at: u32,
    names: Names<'a>,
}

#[derive(Default)]
struct Names<'a> {
    /// Names without dots.
    names: FxHashSet<&'a str>,
    /// Names after the dot of an expression that is not a path.
    attributes: FxHashSet<&'a str>,
    /// Paths such as `a.b.c`.
    paths: FxHashSet<Vec<&'a str>>,
}

impl<'a> Finder<'a> {
    /// Returns the part of a list, in the order of the text, that may hold the statement.
    fn around<'p, T: Ranged>(&self, parts: &'p [T]) -> Option<&'p T> {
        let next = parts.partition_point(|part| end(part) <= self.at);
        parts.get(next).filter(|part| start(*part) <= self.at)
    }
}

/// Searches bodies and branches by halving them, because bodies may be long and the search may be
/// repeated for each of their statements.
impl<'a> Visitor<'a> for Finder<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        if self.at == start(stmt) {
            return self.names.visit_stmt(stmt);
        }
        match stmt {
            Stmt::If(branches) => {
                let other = self.around(&branches.elif_else_clauses).map(|clause| &clause.body);
                self.visit_body(other.unwrap_or(&branches.body));
            }
            Stmt::Match(cases) => {
                let case = self.around(&cases.cases).map(|case| &case.body);
                case.into_iter().for_each(|body| self.visit_body(body));
            }
            Stmt::Try(guarded) => {
                let bodies = [&guarded.body, &guarded.orelse, &guarded.finalbody];
                let handler = self.around(&guarded.handlers);
                let handler = handler.map(|ExceptHandler::ExceptHandler(handler)| &handler.body);
                bodies.into_iter().chain(handler).for_each(|body| self.visit_body(body));
            }
            stmt => walk_stmt(self, stmt),
        }
    }

    fn visit_body(&mut self, body: &'a [Stmt]) {
        self.around(body).into_iter().for_each(|stmt| self.visit_stmt(stmt));
    }

    fn visit_expr(&mut self, _: &'a Expr) {}
}

/// `wp.overload(..)`
fn is_overload(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(call)
        if matches!(&*call.func, Expr::Attribute(attribute) if attribute.attr.as_str() == "overload"))
}

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Returns true if a text has two words side by side; an annotation never has.
fn is_prose(text: &str) -> bool {
    const OPERATORS: [&str; 8] = ["and", "else", "for", "if", "in", "is", "not", "or"];
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_word = |word: &str| !OPERATORS.contains(&word);
    words.windows(2).any(|pair| {
        pair[0].ends_with(is_of_name)
            && pair[1].starts_with(is_of_name)
            && pair.iter().all(|word| is_word(word))
    })
}

/// Returns true for a decorator of functions that run only in Python.
fn is_of_python(decorator: &Expr) -> bool {
    let last = match decorator {
        Expr::Call(call) => &*call.func,
        other => other,
    };
    let name = path(last).and_then(|path| path.last().copied());
    let kernels =
        ["func", "func_grad", "func_native", "func_replay", "integrand", "overload", "struct"];
    is_plain(decorator) && name.is_some_and(|name| !kernels.contains(&name))
}

/// Adds the names that a target binds.
fn bound<'a>(target: &'a Expr, names: &mut Vec<&'a str>) {
    match target {
        Expr::Name(name) => names.push(name.id.as_str()),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|part| bound(part, names)),
        _ => {}
    }
}

impl<'a> Visitor<'a> for Names<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        // Methods without a decorator run in Python: no kernel calls them.
        let is_python =
            |stmt: &&Stmt| matches!(stmt, Stmt::FunctionDef(def) if def.decorator_list.is_empty());
        match stmt {
            Stmt::ClassDef(class) => {
                let decorators = class.decorator_list.iter();
                decorators.for_each(|decorator| self.visit_expr(&decorator.expression));
                let body = class.body.iter().filter(|stmt| !is_python(stmt));
                body.for_each(|stmt| self.visit_stmt(stmt));
            }
            // A docstring.
            Stmt::Expr(expr) if expr.value.is_string_literal_expr() => {}
            stmt => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => _ = self.names.insert(name.id.as_str()),
            Expr::Attribute(attribute) => match path(expr) {
                Some(path) => {
                    self.paths.insert(path);
                    return;
                }
                None => _ = self.attributes.insert(attribute.attr.as_str()),
            },
            // Annotations may be written as strings.
            Expr::StringLiteral(text) => {
                let parts = text.value.iter().map(|part| part.as_str());
                for part in parts.filter(|part| !is_prose(part)) {
                    for path in part.split(|c: char| !(is_of_name(c) || c == '.')) {
                        self.paths.insert(path.split('.').collect());
                        self.attributes.extend((!path.contains('.')).then_some(path));
                    }
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}
