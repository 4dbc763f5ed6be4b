//! What the statements of a text bind and mention, for following imports: only what a kernel may need is read.

use super::{Expr, Stmt, start};
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
    /// The statements, by their first bytes, in which kernels may be, or values that kernels use.
    pub(in super::super) matters: Vec<u32>,
    /// The statements that bind a name, likewise.
    pub(in super::super) bindings: FxHashMap<String, Vec<u32>>,
}

/// What a statement mentions.
#[derive(Default)]
pub(in super::super) struct Mentions<'a> {
    pub(in super::super) names: FxHashSet<&'a str>,
    /// Names behind a dot.
    pub(in super::super) attributes: FxHashSet<&'a str>,
}

impl Outline {
    pub(in super::super) fn of(body: &[Stmt]) -> Self {
        let mut outline = Self::default();
        each(body, &mut |stmt| outline.add(stmt));
        outline
    }

    fn add(&mut self, stmt: &Stmt) {
        let mut names = Vec::new();
        match stmt {
            Stmt::FunctionDef(def) => names.push(def.name.to_string()),
            Stmt::ClassDef(def) => names.push(def.name.to_string()),
            Stmt::Assign(assign) => {
                assign.targets.iter().for_each(|target| bound(target, &mut names));
            }
            Stmt::AnnAssign(assign) => bound(&assign.target, &mut names),
            _ => {}
        }
        for name in names {
            self.bindings.entry(name).or_default().push(start(stmt));
        }
        let mut found = Found { imports: &mut self.imports, matters: false };
        found.visit_stmt(stmt);
        if found.matters {
            self.matters.push(start(stmt));
        }
    }
}

/// What the statement that begins at a byte mentions.
pub(in super::super) fn mentions(body: &[Stmt], at: u32) -> Mentions<'_> {
    let mut mentions = Mentions::default();
    each(body, &mut |stmt| {
        if start(stmt) == at {
            mentions.visit_stmt(stmt);
        }
    });
    mentions
}

/// The statements of a text, in branches too.
fn each<'a>(body: &'a [Stmt], visit: &mut dyn FnMut(&'a Stmt)) {
    for stmt in body {
        match stmt {
            Stmt::If(branch) => {
                each(&branch.body, visit);
                branch.elif_else_clauses.iter().for_each(|clause| each(&clause.body, visit));
            }
            Stmt::Try(attempt) => {
                each(&attempt.body, visit);
                for handler in &attempt.handlers {
                    let super::ExceptHandler::ExceptHandler(handler) = handler;
                    each(&handler.body, visit);
                }
                each(&attempt.orelse, visit);
                each(&attempt.finalbody, visit);
            }
            stmt => visit(stmt),
        }
    }
}

/// The names that a target binds.
fn bound(target: &Expr, names: &mut Vec<String>) {
    match target {
        Expr::Name(name) => names.push(name.id.to_string()),
        Expr::Tuple(tuple) => tuple.elts.iter().for_each(|part| bound(part, names)),
        _ => {}
    }
}

impl<'a> Visitor<'a> for Mentions<'a> {
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

/// Looks for imports, and for what matters.
struct Found<'o> {
    imports: &'o mut Vec<Imported>,
    matters: bool,
}

impl Visitor<'_> for Found<'_> {
    fn visit_stmt(&mut self, stmt: &Stmt) {
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
            // Functions become kernels by decorators, or by calls: then they are annotated.
            Stmt::FunctionDef(def) => {
                let annotated =
                    def.parameters.iter().any(|each| each.as_parameter().annotation.is_some());
                self.matters |= annotated || !def.decorator_list.is_empty();
            }
            Stmt::ClassDef(_) | Stmt::Assign(_) | Stmt::AnnAssign(_) => self.matters = true,
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    // Expressions hold no statements.
    fn visit_expr(&mut self, _: &Expr) {}
}
