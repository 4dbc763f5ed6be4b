//! Prints IR in a compact form of its own: for people, and for snapshots.
//!
//! Literals stand where they are used. Values that the user named keep the name (a second one of the
//! same name gets `.1`), the others are numbered in the order of their definition, so that a change
//! moves only the lines it touches. Wrong modules print too, as long as their handles are in range.

mod expr;
mod name;

use super::function::{Body, Function, Kind, Mode};
use super::module::Module;
use super::op::Op;
use super::stmt::{BlockId, StmtKind};
use super::ty::Type;
use name::Names;
use std::fmt::Write as _;

/// The whole module.
pub fn module(module: &Module) -> String {
    let mut text = String::new();
    for (_, structure) in module.types.structs().iter() {
        let fields = structure.fields.iter();
        let fields: Vec<String> = fields
            .map(|field| format!("{}: {}", field.name, module.types.display(field.ty)))
            .collect();
        _ = writeln!(text, "struct {} {{ {} }}\n", structure.name, fields.join(", "));
    }
    for (_, table) in module.tables.iter() {
        let (ty, len) = (module.types.display(table.ty), table.bytes.len());
        _ = writeln!(text, "table {}: {ty} = {len} bytes\n", table.name);
    }
    let functions = module.functions.iter().map(|(_, item)| function(module, item));
    text + &functions.collect::<Vec<_>>().join("\n")
}

/// One function.
pub fn function(module: &Module, function: &Function) -> String {
    let mut printer = Printer {
        module,
        function,
        body: &function.body,
        names: Names::new(module, function),
        text: String::new(),
    };
    printer.header();
    printer.block(function.body.root);
    printer.text.push_str("}\n");
    printer.text
}

struct Printer<'a> {
    module: &'a Module,
    function: &'a Function,
    body: &'a Body,
    names: Names<'a>,
    text: String,
}

/// What is left to print of a block: the tree is walked without recursion.
enum Todo {
    /// The statements of a block from a position on.
    Stmts(BlockId, usize),
    /// A line of its own, such as `} else {`, one level further out.
    Line(String),
}

impl Printer<'_> {
    fn header(&mut self) {
        let keyword = if self.function.kind == Kind::Kernel { "kernel" } else { "func" };
        let params = self.function.params.iter().map(|param| {
            let mode = match param.mode {
                Mode::Value => "",
                Mode::Shared => "ref ",
                Mode::Mutable => "mut ",
            };
            format!("{}: {mode}{}", param.name, self.module.types.display(param.ty))
        });
        let params: Vec<String> = params.collect();
        _ = write!(self.text, "{keyword} {}({})", self.function.name, params.join(", "));
        if self.function.result != Type::UNIT {
            _ = write!(self.text, " -> {}", self.module.types.display(self.function.result));
        }
        for &(one, other) in &self.function.apart {
            let name = |at: u32| self.function.params.get(at as usize).map_or("?", |p| &p.name);
            _ = write!(self.text, " apart({}, {})", name(one), name(other));
        }
        self.text.push_str(" {\n");
        for (local, data) in self.body.locals.iter() {
            let (name, ty) = (self.names.local(local), self.module.types.display(data.ty));
            let keyword = if data.scratch { "scratch" } else { "var" };
            _ = writeln!(self.text, "  {keyword} {name}: {ty}");
        }
    }

    fn block(&mut self, root: BlockId) {
        let mut todo = vec![Todo::Stmts(root, 0)];
        let mut depth = 1;
        while let Some(next) = todo.pop() {
            match next {
                Todo::Line(line) => {
                    // `} else {` closes one block and opens another.
                    depth -= 1;
                    self.line(depth, &line);
                    depth += usize::from(line.ends_with('{') || line.ends_with(':'));
                }
                Todo::Stmts(block, from) => {
                    let Some(data) = self.body.blocks.get(block) else { continue };
                    for (position, stmt) in data.stmts.iter().enumerate().skip(from) {
                        let inner = self.stmt(depth, &stmt.kind);
                        if !inner.is_empty() {
                            depth += 1;
                            todo.push(Todo::Stmts(block, position + 1));
                            todo.extend(inner.into_iter().rev());
                            break;
                        }
                    }
                }
            }
        }
    }

    fn line(&mut self, depth: usize, line: &str) {
        _ = writeln!(self.text, "{:width$}{line}", "", width = 2 * depth);
    }

    /// Prints a statement up to its first block; gives what must follow.
    fn stmt(&mut self, depth: usize, stmt: &StmtKind) -> Vec<Todo> {
        let end = || Todo::Line("}".into());
        let line = match stmt {
            StmtKind::Let(value) => match self.body.values.get(*value).map(|data| data.op) {
                Some(Op::Literal(_)) => return Vec::new(),
                Some(op @ (Op::Call { .. } | Op::Atomic { .. }))
                    if self.body.type_of(*value) == Type::UNIT =>
                {
                    self.op(*value, &op)
                }
                Some(op) => format!("{} = {}", self.value(*value), self.op(*value, &op)),
                None => "invalid".into(),
            },
            StmtKind::Store { place, value } => {
                format!("{} = {}", self.place(*place), self.value(*value))
            }
            StmtKind::If { condition, accept, reject } => {
                let condition = self.value(*condition);
                self.line(depth, &format!("if {condition} {{"));
                let mut todo = vec![Todo::Stmts(*accept, 0)];
                if self.body.blocks.get(*reject).is_some_and(|block| !block.stmts.is_empty()) {
                    todo.extend([Todo::Line("} else {".into()), Todo::Stmts(*reject, 0)]);
                }
                todo.push(end());
                return todo;
            }
            StmtKind::Switch { selector, cases, default } => {
                let selector = self.value(*selector);
                self.line(depth, &format!("switch {selector} {{"));
                let mut todo = Vec::new();
                for case in cases {
                    let labels: Vec<String> = case.labels.iter().map(i64::to_string).collect();
                    let label = Todo::Line(format!("case {}:", labels.join(", ")));
                    todo.extend([label, Todo::Stmts(case.body, 0)]);
                }
                todo.extend([Todo::Line("default:".into()), Todo::Stmts(*default, 0), end()]);
                return todo;
            }
            StmtKind::For { index, start, end: bound, step, body } => {
                let range = [start, bound, step].map(|&value| self.value(value)).join(", ");
                let index = self.value(*index);
                self.line(depth, &format!("for {index} in range({range}) {{"));
                return vec![Todo::Stmts(*body, 0), end()];
            }
            StmtKind::While { header, condition, body } => {
                self.line(depth, "while {");
                let test = Todo::Line(format!("}} test {} {{", self.value(*condition)));
                return vec![Todo::Stmts(*header, 0), test, Todo::Stmts(*body, 0), end()];
            }
            StmtKind::Break => "break".into(),
            StmtKind::Continue => "continue".into(),
            StmtKind::Return(None) => "return".into(),
            StmtKind::Return(Some(value)) => format!("return {}", self.value(*value)),
            StmtKind::Print { format, args } => {
                let args = self.values(*args);
                match format {
                    Some(format) => format!("printf({:?}, {args})", self.text_of(*format)),
                    None => format!("print({args})"),
                }
            }
            StmtKind::Assert { condition, message } => {
                format!("assert {}, {:?}", self.value(*condition), self.text_of(*message))
            }
            StmtKind::Trap { message } => format!("trap {:?}", self.text_of(*message)),
        };
        self.line(depth, &line);
        Vec::new()
    }
}
