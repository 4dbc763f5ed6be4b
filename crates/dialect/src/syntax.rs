//! Python's syntax tree: the only module that names the parser's crates.
//!
//! The parser is an internal part of another project, so its types come in here and are named from
//! here by everybody else.

mod outline;

pub(super) use outline::{Imported, Mentions, Outline, Symbol, SymbolSet, Symbols};
pub(super) use ruff_python_ast::{
    Arguments, CmpOp, Comprehension, DictItem, ElifElseClause, Expr, ExprCall, ExprContext,
    ExprSlice, Keyword, MatchCase, Number, Operator, Pattern, Stmt, StmtAssign, StmtAugAssign,
    StmtClassDef, StmtFor, StmtFunctionDef, StmtIf, StmtWhile, UnaryOp,
};
pub(super) use ruff_python_ast::{BoolOp, ExceptHandler};

use gbxcule_ir::diagnostic::{Code, Diagnostic};
use gbxcule_ir::source::Span;
use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
pub(super) use ruff_text_size::Ranged;
use ruff_text_size::{TextRange, TextSize};
use rustc_hash::FxHashSet;

/// Greatest depth of nested expressions and blocks: beyond what CPython itself takes.
const DEPTH_MAX: usize = 400;

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
        let message = format!("this nests deeper than {DEPTH_MAX} levels");
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

/// The first byte where brackets, operators or indentation nest too deep for recursive walks over
/// the tree; an estimate from above that real programs never come near.
fn too_deep(text: &str) -> Option<u32> {
    let mut levels: Vec<usize> = vec![0];
    let mut depth = 0usize;
    let mut indents: Vec<usize> = vec![0];
    let bytes = text.as_bytes();
    let mut at = 0;
    let mut line_start = true;
    while at < bytes.len() {
        let byte = bytes[at];
        if line_start && levels.len() == 1 {
            let width = bytes[at..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
            let rest = bytes.get(at + width);
            if !matches!(rest, None | Some(b'\n' | b'\r' | b'#')) {
                while indents.last().is_some_and(|&last| last > width) {
                    indents.pop();
                }
                if indents.last().is_none_or(|&last| last < width) {
                    indents.push(width);
                }
                depth = 0;
                levels[0] = 0;
            }
            line_start = false;
            if indents.len() > 90 {
                return Some(at as u32);
            }
        }
        let mut operator = false;
        match byte {
            b'\n' => line_start = true,
            b'#' => {
                while at < bytes.len() && bytes[at] != b'\n' {
                    at += 1;
                }
                continue;
            }
            b'"' | b'\'' => {
                at = after_string(bytes, at);
                continue;
            }
            b'(' | b'[' | b'{' => {
                levels.push(0);
                depth += 1;
            }
            b')' | b']' | b'}' => {
                if levels.len() > 1 {
                    depth -= levels.pop().unwrap_or(0) + 1;
                }
                // A call or subscript of what came before nests it.
                operator = true;
            }
            b',' | b';' | b':' => {
                if let Some(last) = levels.last_mut() {
                    // A lambda nests after its colon.
                    if byte != b':' {
                        depth -= *last;
                        *last = 0;
                    }
                }
            }
            b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' | b'<' | b'>'
            | b'=' | b'.' | b'!' => operator = true,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let end = at
                    + bytes[at..]
                        .iter()
                        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_')
                        .count();
                let word = &text[at..end];
                if matches!(
                    word,
                    "not"
                        | "if"
                        | "else"
                        | "lambda"
                        | "await"
                        | "and"
                        | "or"
                        | "yield"
                        | "in"
                        | "is"
                ) {
                    depth += 1;
                    if let Some(last) = levels.last_mut() {
                        *last += 1;
                    }
                }
                at = end;
                if depth > DEPTH_MAX {
                    return Some(at as u32 - 1);
                }
                continue;
            }
            _ => {}
        }
        if operator && let Some(last) = levels.last_mut() {
            *last += 1;
            depth += 1;
        }
        if depth > DEPTH_MAX {
            return Some(at as u32);
        }
        at += 1;
    }
    None
}

fn after_string(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let triple = bytes[at..].starts_with(&[quote; 3]);
    let mut next = at + if triple { 3 } else { 1 };
    while next < bytes.len() {
        match bytes[next] {
            b'\\' => next += 1,
            b'\n' if !triple => return next,
            byte if byte == quote => {
                if !triple {
                    return next + 1;
                }
                if bytes[next..].starts_with(&[quote; 3]) {
                    return next + 3;
                }
            }
            _ => {}
        }
        next += 1;
    }
    bytes.len()
}
