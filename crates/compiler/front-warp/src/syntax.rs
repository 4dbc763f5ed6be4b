//! Python's syntax tree: the only module that names the parser's crates.
//!
//! The parser is an internal part of another project, so its types come in here and are named from
//! here by everybody else.

mod depth;
mod outline;

use outline::path;
pub(super) use outline::{Imported, Mentions, Outline, Symbol, SymbolSet, Symbols};
pub(super) use ruff_python_ast::{
    Arguments, CmpOp, Comprehension, DictItem, ElifElseClause, Expr, ExprCall, ExprCompare,
    ExprContext, ExprDict, ExprSlice, Keyword, Number, Operator, Stmt, StmtAssign, StmtAugAssign,
    StmtClassDef, StmtFor, StmtFunctionDef, StmtIf, StmtImport, StmtImportFrom, StmtMatch,
    StmtWhile, UnaryOp,
};
pub(super) use ruff_python_ast::{BoolOp, ExceptHandler};

use depth::{MAX_DEPTH, too_deep};
use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
pub(super) use ruff_text_size::Ranged;
use ruff_text_size::{TextRange, TextSize};
use rustc_hash::FxHashSet;

/// A parsed text.
pub(super) struct Tree {
    /// The statements of the module.
    pub(super) body: Vec<Stmt>,
}

/// Parses the module that a space of texts ends with, which begins at a byte of it. All syntax
/// errors come back, at most 20 of them; `place` makes spans of bytes of the space.
pub(super) fn parse(
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

/// Parses an annotation written as a string. Its spans are not those of the text around it.
pub(super) fn parse_annotation(text: &str) -> Option<Expr> {
    if too_deep(text).is_some() {
        return None;
    }
    let parsed = ruff_python_parser::parse_expression(text).ok()?;
    Some(*parsed.into_syntax().body)
}

/// The names `a.b.c` in an expression, each with all its dots; none if it is no Python.
pub(super) fn paths_in(text: &str) -> Vec<Vec<String>> {
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
    if let Some(expr) = parse_annotation(text) {
        paths.visit_expr(&expr);
    }
    paths.0
}

/// A call, and the loops around it, outermost first.
pub(super) struct CallSite<'a> {
    pub(super) call: &'a ExprCall,
    pub(super) loops: Vec<Loop<'a>>,
}

/// A loop of a statement or a comprehension: its target, and what it goes over.
#[derive(Clone, Copy)]
pub(super) struct Loop<'a> {
    pub(super) target: &'a Expr,
    pub(super) over: &'a Expr,
}

/// All calls in some statements, in the order of the text.
pub(super) fn calls(body: &[Stmt]) -> Vec<CallSite<'_>> {
    struct Calls<'a> {
        found: Vec<CallSite<'a>>,
        loops: Vec<Loop<'a>>,
    }
    impl<'a> Calls<'a> {
        fn comprehension(&mut self, expr: &'a Expr, generators: &'a [Comprehension]) {
            let before = self.loops.len();
            self.loops
                .extend(generators.iter().map(|it| Loop { target: &it.target, over: &it.iter }));
            walk_expr(self, expr);
            self.loops.truncate(before);
        }
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
            match expr {
                Expr::Call(call) => {
                    self.found.push(CallSite { call, loops: self.loops.clone() });
                    walk_expr(self, expr);
                }
                Expr::ListComp(it) => self.comprehension(expr, &it.generators),
                Expr::SetComp(it) => self.comprehension(expr, &it.generators),
                Expr::DictComp(it) => self.comprehension(expr, &it.generators),
                Expr::Generator(it) => self.comprehension(expr, &it.generators),
                expr => walk_expr(self, expr),
            }
        }
    }
    let mut calls = Calls { found: Vec::new(), loops: Vec::new() };
    body.iter().for_each(|stmt| calls.visit_stmt(stmt));
    calls.found
}

/// Names of what some statements change in place: as they stand, and after a dot.
#[derive(Default)]
pub(super) struct Changes {
    pub(super) names: FxHashSet<String>,
    pub(super) attributes: FxHashSet<String>,
    /// Attributes that are stored to.
    pub(super) stored: FxHashSet<String>,
}

impl Changes {
    /// All changes in some statements, and in the functions in them.
    pub(super) fn of(body: &[Stmt]) -> Self {
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

/// Decorators that make no kernel of a function, by their last names.
const PLAIN_DECORATORS: [&str; 29] = [
    "abstractmethod",
    "cache",
    "cached_property",
    "classmethod",
    "contextmanager",
    "expectedFailure",
    "fixture",
    "func",
    "func_grad",
    "func_native",
    "func_replay",
    "getter",
    "integrand",
    "lru_cache",
    "no_grad",
    "override",
    "overload",
    "parametrize",
    "patch",
    "property",
    "register",
    "setter",
    "skip",
    "skipIf",
    "skipUnless",
    "skipif",
    "staticmethod",
    "struct",
    "wraps",
];

/// Returns true for a decorator that makes no kernel of a function.
pub(super) fn is_plain(decorator: &Expr) -> bool {
    let name = match decorator {
        Expr::Call(call) => return is_plain(&call.func),
        Expr::Name(name) => name.id.as_str(),
        Expr::Attribute(attribute) => attribute.attr.as_str(),
        _ => return false,
    };
    PLAIN_DECORATORS.contains(&name)
}

/// The names that some statements read, each time.
pub(super) fn read_names(body: &[Stmt]) -> Vec<(&str, &Expr)> {
    names(body, ExprContext::Load)
}

/// The names that some statements bind, each time.
pub(super) fn bound_names(body: &[Stmt]) -> Vec<&str> {
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

/// All functions in some statements, nested ones too.
pub(super) fn functions(body: &[Stmt]) -> Vec<&StmtFunctionDef> {
    struct Functions<'a>(Vec<&'a StmtFunctionDef>);
    impl<'a> Visitor<'a> for Functions<'a> {
        fn visit_stmt(&mut self, stmt: &'a Stmt) {
            if let Stmt::FunctionDef(def) = stmt {
                self.0.push(def);
            }
            walk_stmt(self, stmt);
        }

        // No statement stands in an expression.
        fn visit_expr(&mut self, _expr: &'a Expr) {}
    }
    let mut functions = Functions(Vec::new());
    body.iter().for_each(|stmt| functions.visit_stmt(stmt));
    functions.0
}

/// Returns true if a `return` stands in a statement, not in a function in it.
pub(super) fn returns(stmt: &Stmt) -> bool {
    let mut found = Own::default();
    found.visit_stmt(stmt);
    found.returns
}

/// Returns true if a function is a generator, or binds names of the scopes around it.
pub(super) fn yields_or_rebinds(def: &StmtFunctionDef) -> bool {
    let mut found = Own::default();
    def.body.iter().for_each(|stmt| found.visit_stmt(stmt));
    found.yields_or_rebinds
}

/// Parts of a function that aren't in a function in it.
#[derive(Default)]
struct Own {
    returns: bool,
    yields_or_rebinds: bool,
}

impl<'a> Visitor<'a> for Own {
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

/// The byte after something.
pub(super) fn end(node: &impl Ranged) -> u32 {
    node.range().end().to_u32()
}

/// The first byte of something.
pub(super) fn start(node: &impl Ranged) -> u32 {
    node.range().start().to_u32()
}

/// The argument of a call with this name, or else at this position.
pub(super) fn argument<'a>(
    arguments: &'a Arguments,
    name: &str,
    position: usize,
) -> Option<&'a Expr> {
    let is_named = |keyword: &&Keyword| keyword.arg.as_ref().is_some_and(|arg| arg == name);
    let keyword = arguments.keywords.iter().find(is_named);
    keyword.map(|keyword| &keyword.value).or_else(|| arguments.args.get(position))
}

/// The number of an integer literal; `None` beyond 128 bits.
pub(super) fn integer(number: &Number) -> Option<i128> {
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
