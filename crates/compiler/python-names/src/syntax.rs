//! Python's syntax tree, and questions about it that the tree alone answers.
//!
//! The parser is an internal part of another project. This module is the only one that names the
//! parser's crates: all others take the parser's types from here.

mod depth;

pub use ruff_python_ast::{
    Arguments, BoolOp, CmpOp, DictItem, ElifElseClause, ExceptHandler, Expr, ExprCall, ExprCompare,
    ExprContext, ExprDict, ExprSlice, Keyword, Number, Operator, Stmt, StmtAssign, StmtAugAssign,
    StmtClassDef, StmtFor, StmtFunctionDef, StmtIf, StmtImport, StmtImportFrom, StmtMatch,
    StmtWhile, UnaryOp,
};

use depth::{MAX_DEPTH, too_deep};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
pub use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
pub use ruff_text_size::Ranged;
use ruff_text_size::{TextRange, TextSize};
use rustc_hash::FxHashSet;

/// A parsed text.
pub struct Tree {
    /// The statements of the module.
    pub body: Vec<Stmt>,
}

/// Parses the module at the end of a space of texts, from the byte `begin` on. Returns the first 20
/// syntax errors; `place` makes spans of bytes of the space.
pub fn parse(
    space: &str,
    begin: u32,
    place: impl Fn(u32, u32) -> Span,
) -> Result<Tree, Vec<Diagnostic>> {
    if let Some(at) = too_deep(&space[begin as usize..]) {
        let span = place(begin + at, begin + at + 1);
        let message = format!("this nests deeper than {MAX_DEPTH} levels");
        return Err(vec![Diagnostic::error(Code::TooComplex, span, message)]);
    }
    let options = ruff_python_parser::ParseOptions::from(ruff_python_parser::Mode::Module);
    let range = TextRange::new(TextSize::new(begin), TextSize::of(space));
    let parsed = ruff_python_parser::parse_cells_unchecked(space, [range], &options);
    let faults: Vec<Diagnostic> = parsed
        .errors()
        .iter()
        .take(20)
        .map(|fault| {
            let range = fault.location;
            let span = place(range.start().to_u32(), range.end().to_u32());
            let message = fault.error.to_string();
            let mut chars = message.chars();
            let first: String =
                chars.next().map(|c| c.to_lowercase().to_string()).unwrap_or_default();
            Diagnostic::error(Code::PythonSyntax, span, first + chars.as_str())
        })
        .collect();
    if !faults.is_empty() {
        return Err(faults);
    }
    Ok(Tree { body: parsed.into_syntax().body.into_iter().collect() })
}

/// All paths such as `a.b.c` in an expression; no path if the text isn't a Python expression.
pub fn paths_in(text: &str) -> Vec<Vec<String>> {
    struct Paths(Vec<Vec<String>>);
    impl<'a> Visitor<'a> for Paths {
        fn visit_expr(&mut self, expr: &'a Expr) {
            match path(expr) {
                Some(path) => self.0.push(path.into_iter().map(str::to_owned).collect()),
                None => walk_expr(self, expr),
            }
        }
    }
    let mut paths = Paths(Vec::new());
    if too_deep(text).is_none()
        && let Ok(parsed) = ruff_python_parser::parse_expression(text)
    {
        paths.visit_expr(&parsed.into_syntax().body);
    }
    paths.0
}

/// Names of a path such as `a.b.c`.
pub fn path(expr: &Expr) -> Option<Vec<&str>> {
    match expr {
        Expr::Name(name) => Some(vec![name.id.as_str()]),
        Expr::Attribute(attribute) => {
            let mut path = path(&attribute.value)?;
            path.push(attribute.attr.as_str());
            Some(path)
        }
        _ => None,
    }
}

/// A call and the loops around the call.
pub struct CallSite<'a> {
    /// The call.
    pub call: &'a ExprCall,
    /// Loops around the call, the outermost first.
    pub loops: Vec<Loop<'a>>,
}

/// A loop of a statement.
#[derive(Clone, Copy)]
pub struct Loop<'a> {
    /// Target that is bound in each round.
    pub target: &'a Expr,
    /// Expression that the loop iterates over.
    pub over: &'a Expr,
}

/// All calls in some statements, in the order of the text.
pub fn calls(body: &[Stmt]) -> Vec<CallSite<'_>> {
    struct Calls<'a> {
        sites: Vec<CallSite<'a>>,
        loops: Vec<Loop<'a>>,
    }
    impl<'a> Visitor<'a> for Calls<'a> {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            match stmt {
                Stmt::For(each) => {
                    self.visit_expr(&each.iter);
                    self.loops.push(Loop { target: &each.target, over: &each.iter });
                    each.body.iter().for_each(|stmt| self.visit_stmt(stmt));
                    self.loops.pop();
                    each.orelse.iter().for_each(|stmt| self.visit_stmt(stmt));
                }
                Stmt::FunctionDef(_) => {
                    // A function is called later, when loops around it have ended.
                    let outer = std::mem::take(&mut self.loops);
                    walk_stmt(self, stmt);
                    self.loops = outer;
                }
                stmt => walk_stmt(self, stmt),
            }
        }

        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Call(call) = expr {
                self.sites.push(CallSite { call, loops: self.loops.clone() });
            }
            walk_expr(self, expr);
        }
    }
    let mut calls = Calls { sites: Vec::new(), loops: Vec::new() };
    body.iter().for_each(|stmt| calls.visit_stmt(stmt));
    calls.sites
}

/// Names of the values that some statements change in place.
#[derive(Default)]
pub struct Changes {
    /// Names of variables.
    pub names: FxHashSet<String>,
    /// Names after a dot.
    pub attributes: FxHashSet<String>,
    /// Attributes to which a value is assigned.
    pub stored: FxHashSet<String>,
}

impl Changes {
    /// All changes in some statements, and in the functions in them.
    pub fn of(body: &[Stmt]) -> Self {
        let mut changes = Self::default();
        body.iter().for_each(|stmt| changes.visit_stmt(stmt));
        changes
    }

    fn add(&mut self, changed: &Expr) {
        match changed {
            Expr::Name(name) => _ = self.names.insert(name.id.to_string()),
            Expr::Attribute(attribute) => _ = self.attributes.insert(attribute.attr.to_string()),
            Expr::Subscript(subscript) => self.add(&subscript.value),
            _ => {}
        }
    }

    fn target(&mut self, target: &Expr) {
        match target {
            Expr::Subscript(subscript) => self.add(&subscript.value),
            Expr::Tuple(tuple) => tuple.elts.iter().for_each(|each| self.target(each)),
            Expr::Attribute(attribute) => _ = self.stored.insert(attribute.attr.to_string()),
            _ => {}
        }
    }
}

impl<'a> Visitor<'a> for Changes {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::Assign(assign) => assign.targets.iter().for_each(|each| self.target(each)),
            Stmt::AnnAssign(assign) => self.target(&assign.target),
            Stmt::AugAssign(assign) => {
                self.target(&assign.target);
                // A list grows in place.
                self.add(&assign.target);
            }
            Stmt::Delete(delete) => delete.targets.iter().for_each(|each| self.target(each)),
            Stmt::For(each) => self.target(&each.target),
            Stmt::With(with) => {
                let targets = with.items.iter().filter_map(|item| item.optional_vars.as_deref());
                targets.for_each(|each| self.target(each));
            }
            Stmt::Expr(expr) => {
                if let Expr::Call(call) = &*expr.value
                    && let Expr::Attribute(method) = &*call.func
                {
                    self.add(&method.value);
                }
            }
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, _: &'a Expr) {}
}

/// Names that some statements read, once for each time.
pub fn read_names(body: &[Stmt]) -> Vec<(&str, &Expr)> {
    names(body, ExprContext::Load)
}

/// Names that some statements bind, once for each time.
pub fn bound_names(body: &[Stmt]) -> Vec<&str> {
    names(body, ExprContext::Store).into_iter().map(|(name, _)| name).collect()
}

fn names(body: &[Stmt], context: ExprContext) -> Vec<(&str, &Expr)> {
    struct Names<'a>(Vec<(&'a str, &'a Expr)>, ExprContext);
    impl<'a> Visitor<'a> for Names<'a> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Name(name) = expr
                && name.ctx == self.1
            {
                self.0.push((name.id.as_str(), expr));
            }
            walk_expr(self, expr);
        }
    }
    let mut names = Names(Vec::new(), context);
    body.iter().for_each(|stmt| names.visit_stmt(stmt));
    names.0
}

/// Names that some statements bind to things that may have other names: by an assignment, or by
/// `as` in an import. `import warp as wp` is left out.
pub fn aliases(body: &[Stmt]) -> FxHashSet<&str> {
    struct Imports<'a>(FxHashSet<&'a str>);
    impl<'a> Visitor<'a> for Imports<'a> {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            let names: &[_] = match stmt {
                Stmt::Import(import) => &import.names,
                Stmt::ImportFrom(import) => &import.names,
                _ => &[],
            };
            let renamed =
                names.iter().filter(|alias| alias.name.split('.').next_back() != Some("warp"));
            self.0.extend(
                renamed.filter_map(|alias| alias.asname.as_ref()).map(|name| name.as_str()),
            );
            walk_stmt(self, stmt);
        }

        // Expressions hold no statements.
        fn visit_expr(&mut self, _expr: &'a Expr) {}
    }
    let mut aliases = Imports(bound_names(body).into_iter().collect());
    body.iter().for_each(|stmt| aliases.visit_stmt(stmt));
    aliases.0
}

/// All functions in some statements, with the functions in functions.
pub fn functions(body: &[Stmt]) -> Vec<&StmtFunctionDef> {
    struct Functions<'a>(Vec<&'a StmtFunctionDef>);
    impl<'a> Visitor<'a> for Functions<'a> {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            if let Stmt::FunctionDef(def) = stmt {
                self.0.push(def);
            }
            walk_stmt(self, stmt);
        }

        // Expressions hold no statements.
        fn visit_expr(&mut self, _expr: &'a Expr) {}
    }
    let mut functions = Functions(Vec::new());
    body.iter().for_each(|stmt| functions.visit_stmt(stmt));
    functions.0
}

/// Returns true if a statement holds a `return` outside of the functions that it defines.
pub fn returns(stmt: &Stmt) -> bool {
    let mut statements = OwnStatements::default();
    statements.visit_stmt(stmt);
    statements.returns
}

/// Returns true if a function is a generator, or binds names of the scopes around it.
pub fn yields_or_rebinds(def: &StmtFunctionDef) -> bool {
    let mut statements = OwnStatements::default();
    def.body.iter().for_each(|stmt| statements.visit_stmt(stmt));
    statements.yields_or_rebinds
}

/// Statements of a function outside of the functions and classes that the function defines.
#[derive(Default)]
struct OwnStatements {
    returns: bool,
    yields_or_rebinds: bool,
}

impl<'a> Visitor<'a> for OwnStatements {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        match stmt {
            Stmt::FunctionDef(_) | Stmt::ClassDef(_) => return,
            Stmt::Return(_) => self.returns = true,
            Stmt::Global(_) | Stmt::Nonlocal(_) => self.yields_or_rebinds = true,
            _ => {}
        }
        walk_stmt(self, stmt);
    }

    fn visit_expr(&mut self, expr: &'a Expr) {
        match expr {
            Expr::Yield(_) | Expr::YieldFrom(_) | Expr::Await(_) | Expr::Named(_) => {
                self.yields_or_rebinds = true;
            }
            Expr::Lambda(_) => return,
            _ => {}
        }
        walk_expr(self, expr);
    }
}

/// Returns the byte after a node.
pub fn end(node: &impl Ranged) -> u32 {
    node.range().end().to_u32()
}

/// Returns the first byte of a node.
pub fn start(node: &impl Ranged) -> u32 {
    node.range().start().to_u32()
}

/// Returns the argument of a call with this name, else the argument at this position.
pub fn argument<'a>(arguments: &'a Arguments, name: &str, position: usize) -> Option<&'a Expr> {
    let is_named = |keyword: &&Keyword| keyword.arg.as_ref().is_some_and(|arg| arg == name);
    let keyword = arguments.keywords.iter().find(is_named);
    keyword.map(|keyword| &keyword.value).or_else(|| arguments.args.get(position))
}

/// Returns the number of an integer literal; `None` beyond 128 bits.
pub fn integer(number: &Number) -> Option<i128> {
    match number {
        Number::Int(value) => {
            let text = value.to_string();
            let digits = text.replace('_', "");
            let lower = digits.to_ascii_lowercase();
            let radix = |prefix: &str, radix| {
                lower.strip_prefix(prefix).and_then(|rest| i128::from_str_radix(rest, radix).ok())
            };
            radix("0x", 16)
                .or_else(|| radix("0o", 8))
                .or_else(|| radix("0b", 2))
                .or_else(|| lower.parse().ok())
        }
        _ => None,
    }
}
