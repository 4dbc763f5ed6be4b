//! What the statements of a text bind and mention, for following imports: only what a kernel may need is read.

use super::{Expr, Stmt, end, start};
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use rustc_hash::{FxHashMap, FxHashSet};

/// One name that a text imports.
#[derive(Clone)]
pub(in super::super) struct Imported {
    /// The name that it binds; `*` for all of a module.
    pub(in super::super) bound: String,
    /// Dots before the module's name.
    pub(in super::super) level: u32,
    /// The module's name, with dots; may be empty behind dots.
    pub(in super::super) module: String,
    /// The name in the module; without one the module itself is meant.
    pub(in super::super) name: Option<String>,
    /// Whether it binds the first of the modules in `module` only: `import a.b.c`.
    pub(in super::super) is_first: bool,
}

/// A text as whoever follows imports sees it.
#[derive(Default)]
pub(in super::super) struct Outline {
    /// The imports, wherever they stand.
    pub(in super::super) imports: Vec<Imported>,
    /// The statements that bind each name, by their first bytes: what they mention may be needed with it.
    bindings: FxHashMap<String, Vec<u32>>,
    /// Those that tell of kernels: decorated functions, values at the top, types of generic kernels.
    roots: Vec<u32>,
    /// Whether functions may become kernels by calls.
    has_calls: bool,
    depth: usize,
}

/// Names that are mentioned.
#[derive(Default)]
pub(in super::super) struct Mentions<'a> {
    pub(in super::super) names: FxHashSet<&'a str>,
    /// Those behind a dot.
    pub(in super::super) attributes: FxHashSet<&'a str>,
}

impl Outline {
    pub(in super::super) fn of(body: &[Stmt], text: &str) -> Self {
        let calls = |line: &str| line.contains("kernel(") || line.contains("Kernel(");
        let has_calls = text.lines().any(|line| calls(line) && !line.trim_start().starts_with('@'));
        let mut outline = Self { has_calls, ..Self::default() };
        body.iter().for_each(|stmt| outline.visit_stmt(stmt));
        outline
    }

    /// What kernels of the text, which has this body, mention.
    pub(in super::super) fn mentioned<'a>(&self, body: &'a [Stmt]) -> Mentions<'a> {
        mentions(body, &self.roots)
    }

    /// What whatever is bound to a name mentions.
    pub(in super::super) fn behind<'a>(&self, body: &'a [Stmt], name: &str) -> Mentions<'a> {
        mentions(body, self.bindings.get(name).map_or(&[], Vec::as_slice))
    }

    fn import(&mut self, stmt: &Stmt) {
        match stmt {
            Stmt::Import(import) => {
                for alias in &import.names {
                    let module = alias.name.to_string();
                    let first = alias.name.split('.').next().unwrap_or("");
                    let bound =
                        alias.asname.as_ref().map_or(first, |name| name.as_str()).to_owned();
                    let is_first = alias.asname.is_none();
                    self.imports.push(Imported { bound, level: 0, module, name: None, is_first });
                }
            }
            Stmt::ImportFrom(import) => {
                for alias in &import.names {
                    let module = import.module.as_ref().map_or("", |module| module.as_str());
                    self.imports.push(Imported {
                        bound: alias.asname.as_ref().unwrap_or(&alias.name).to_string(),
                        level: import.level,
                        module: module.to_owned(),
                        name: Some(alias.name.to_string()),
                        is_first: false,
                    });
                }
            }
            _ => {}
        }
    }
}

impl Visitor<'_> for Outline {
    fn visit_stmt(&mut self, stmt: &Stmt) {
        let mut names = Vec::new();
        let is_root = match stmt {
            Stmt::FunctionDef(def) => {
                names.push(def.name.as_str());
                let annotated =
                    def.parameters.iter().any(|each| each.as_parameter().annotation.is_some());
                !def.decorator_list.is_empty() || annotated && self.has_calls
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
        for name in names {
            self.bindings.entry(name.to_owned()).or_default().push(start(stmt));
        }
        if is_root {
            self.roots.push(start(stmt));
        }
        let scope = matches!(stmt, Stmt::FunctionDef(_) | Stmt::ClassDef(_));
        self.depth += usize::from(scope);
        walk_stmt(self, stmt);
        self.depth -= usize::from(scope);
    }

    // Expressions hold no statements.
    fn visit_expr(&mut self, _: &Expr) {}
}

/// What the statements that begin at these bytes mention.
fn mentions<'a>(body: &'a [Stmt], wanted: &[u32]) -> Mentions<'a> {
    struct Finder<'a, 'w> {
        wanted: &'w [u32],
        mentions: Mentions<'a>,
    }
    impl<'a> Visitor<'a> for Finder<'a, '_> {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            if self.wanted.contains(&start(stmt)) {
                self.mentions.visit_stmt(stmt);
            } else if self.wanted.iter().any(|at| (start(stmt)..end(stmt)).contains(at)) {
                walk_stmt(self, stmt);
            }
        }

        fn visit_expr(&mut self, _: &'a Expr) {}
    }
    let mut finder = Finder { wanted, mentions: Mentions::default() };
    body.iter().for_each(|stmt| finder.visit_stmt(stmt));
    finder.mentions
}

/// `wp.overload(..)`
fn is_overload(expr: &Expr) -> bool {
    matches!(expr, Expr::Call(call)
        if matches!(&*call.func, Expr::Attribute(attribute) if attribute.attr.as_str() == "overload"))
}

/// The names that a target binds.
fn bound<'a>(target: &'a Expr, names: &mut Vec<&'a str>) {
    match target {
        Expr::Name(name) => names.push(name.id.as_str()),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|part| bound(part, names)),
        _ => {}
    }
}

impl<'a> Visitor<'a> for Mentions<'a> {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        // Functions that Python runs can't be looked through anyhow.
        let is_python =
            |stmt: &&Stmt| matches!(stmt, Stmt::FunctionDef(def) if def.decorator_list.is_empty());
        match stmt {
            Stmt::ClassDef(class) => {
                let decorators = class.decorator_list.iter();
                decorators.for_each(|decorator| self.visit_expr(&decorator.expression));
                let body = class.body.iter().filter(|stmt| !is_python(stmt));
                body.for_each(|stmt| self.visit_stmt(stmt));
            }
            stmt => walk_stmt(self, stmt),
        }
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Name(name) => _ = self.names.insert(name.id.as_str()),
            Expr::Attribute(attribute) => _ = self.attributes.insert(attribute.attr.as_str()),
            // Annotations may be written as strings.
            Expr::StringLiteral(text) => {
                let words = text.value.iter().flat_map(|part| {
                    part.as_str().split(|c: char| !(c.is_alphanumeric() || c == '_'))
                });
                for word in words {
                    self.names.insert(word);
                    self.attributes.insert(word);
                }
            }
            _ => {}
        }
        walk_expr(self, expr);
    }
}
