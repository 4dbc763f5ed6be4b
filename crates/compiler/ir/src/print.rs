//! Prints IR in a compact form of its own, for people and for snapshots.
//!
//! Literals stand where they are used. Values that the user named keep their names (a second value
//! of the same name gets `.1`, and so does a second function of the same name and parameters); the
//! others are numbered in the order of their definition, so that a change moves only the lines that
//! it touches. Wrong modules print as well, as long as their handles are in range.

mod expr;
mod name;

use super::arena::List;
use super::function::{Body, Function, FunctionKind, Name, PassMode, Residency};
use super::module::Module;
use super::op::{Op, Value};
use super::place::PlaceId;
use super::stmt::{BlockId, Case, StmtKind};
use super::ty::{Shape, Type, Types};
use name::{FunctionNames, Names};
use std::fmt::Write as _;

/// Prints the whole module.
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
    let functions = FunctionNames::new(module);
    for (position, (id, item)) in module.functions.iter().enumerate() {
        text.push_str(if position == 0 { "" } else { "\n" });
        text = put(module, &functions, functions.of(id), item, text);
    }
    text
}

/// Returns the number of nested fixed arrays, up to the number of dimensions that an array may
/// have. An `array` operation makes dimensions of them unless its own number is printed.
pub(crate) fn levels(types: &Types, mut ty: Type) -> u8 {
    let mut count = 0;
    while let Shape::Fixed { of, .. } = types[ty]
        && count < 4
    {
        (ty, count) = (of, count + 1);
    }
    count
}

/// Prints one function.
pub fn function(module: &Module, function: &Function) -> String {
    put(module, &FunctionNames::new(module), &function.name, function, String::new())
}

/// Appends a function, under a name, to a text.
fn put(
    module: &Module,
    functions: &FunctionNames<'_>,
    name: &str,
    function: &Function,
    text: String,
) -> String {
    let names = Names::new(module, function);
    let mut printer = Printer { module, functions, function, body: &function.body, names, text };
    printer.header(name);
    printer.block(function.body.root);
    printer.text.push_str("}\n");
    printer.text
}

struct Printer<'a> {
    module: &'a Module,
    functions: &'a FunctionNames<'a>,
    function: &'a Function,
    body: &'a Body,
    names: Names<'a>,
    text: String,
}

/// Step of printing that is still to be done: the tree is walked without recursion.
enum PrintTask {
    /// The statements of a block from a position on.
    Stmts(BlockId, usize),
    /// A line of its own, such as `} else {`, one level further out.
    Line(String),
}

impl Printer<'_> {
    fn header(&mut self, name: &str) {
        let keyword = if self.function.kind == FunctionKind::Kernel { "kernel" } else { "func" };
        _ = write!(self.text, "{keyword} {name}(");
        for (position, param) in (0..).zip(&self.function.params) {
            self.text.push_str(if position == 0 { "" } else { ", " });
            self.text.push_str(self.names.param(position));
            self.text.push_str(match param.mode {
                PassMode::Value => ": ",
                PassMode::Shared => ": ref ",
                PassMode::Mutable => ": mut ",
            });
            self.ty(param.ty);
        }
        self.text.push(')');
        if self.function.result != Type::UNIT {
            _ = write!(self.text, " -> {}", self.module.types.display(self.function.result));
        }
        for &(one, other) in &self.function.disjoint {
            let (one, other) = (self.names.param(one), self.names.param(other));
            _ = write!(self.text, " apart({one}, {other})");
        }
        _ = match self.function.residency {
            Residency::Free => Ok(()),
            Residency::Blocks { threads, together: None } => {
                write!(self.text, " blocks({threads})")
            }
            Residency::Blocks { threads, together: Some(blocks) } => {
                write!(self.text, " blocks({threads}, {blocks})")
            }
            Residency::Registers(count) => write!(self.text, " registers({count})"),
        };
        self.text.push_str(" {\n");
        for (local, data) in self.body.locals.iter() {
            self.text.push_str(if data.scratch { "  scratch " } else { "  var " });
            self.text.push_str(self.names.local(local));
            self.text.push_str(": ");
            self.ty(data.ty);
            self.text.push('\n');
        }
    }

    fn block(&mut self, root: BlockId) {
        let mut todo = vec![PrintTask::Stmts(root, 0)];
        let mut depth = 1;
        while let Some(next) = todo.pop() {
            match next {
                PrintTask::Line(line) => {
                    // `} else {` closes one block and opens another.
                    depth -= 1;
                    self.line(depth, &line);
                    depth += usize::from(line.ends_with('{') || line.ends_with(':'));
                }
                PrintTask::Stmts(block, from) => {
                    let Some(data) = self.body.blocks.get(block) else { continue };
                    for (position, stmt) in data.stmts.iter().enumerate().skip(from) {
                        let inner = self.stmt(depth, &stmt.kind);
                        if !inner.is_empty() {
                            depth += 1;
                            todo.push(PrintTask::Stmts(block, position + 1));
                            todo.extend(inner.into_iter().rev());
                            break;
                        }
                    }
                }
            }
        }
    }

    fn line(&mut self, depth: usize, line: &str) {
        self.margin(depth);
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn margin(&mut self, depth: usize) {
        (0..depth).for_each(|_| self.text.push_str("  "));
    }

    /// Prints a statement up to its first block; returns what must follow.
    fn stmt(&mut self, depth: usize, stmt: &StmtKind) -> Vec<PrintTask> {
        let end = || PrintTask::Line("}".into());
        let inner = match stmt {
            StmtKind::Let(value) => match self.body.values.get(*value).map(|data| data.op) {
                Some(Op::Literal(_)) => return Vec::new(),
                op => {
                    self.margin(depth);
                    self.definition(*value, op.as_ref());
                    Vec::new()
                }
            },
            StmtKind::Store { place, value } => self.store(depth, *place, *value),
            StmtKind::If { condition, accept, reject } => {
                self.head(depth, "if ", &[*condition]);
                self.text.push_str(" {");
                self.branches(*accept, *reject)
            }
            StmtKind::Switch { selector, cases, default } => {
                self.head(depth, "switch ", &[*selector]);
                self.text.push_str(" {");
                let mut todo: Vec<PrintTask> = cases.iter().flat_map(case_tasks).collect();
                let label = PrintTask::Line("default:".into());
                todo.extend([label, PrintTask::Stmts(*default, 0), end()]);
                todo
            }
            StmtKind::For { index, start, end: bound, step, body } => {
                self.head(depth, "for ", &[*index]);
                self.text.push_str(" in range(");
                self.list(&[*start, *bound, *step]);
                self.text.push_str(") {");
                vec![PrintTask::Stmts(*body, 0), end()]
            }
            StmtKind::While { header, condition, body } => {
                self.head(depth, "while {", &[]);
                let test = self.test(*condition);
                vec![PrintTask::Stmts(*header, 0), test, PrintTask::Stmts(*body, 0), end()]
            }
            StmtKind::Break => self.head(depth, "break", &[]),
            StmtKind::Continue => self.head(depth, "continue", &[]),
            StmtKind::Return(None) => self.head(depth, "return", &[]),
            StmtKind::Return(Some(value)) => self.head(depth, "return ", &[*value]),
            StmtKind::Print { format, args } => self.print(depth, *format, *args),
            StmtKind::Assert { condition, message } => {
                self.head(depth, "assert ", &[*condition]);
                let text = format!(", {:?}", self.text_of(*message));
                self.text.push_str(&text);
                Vec::new()
            }
            StmtKind::Trap { message } => {
                let text = format!("trap {:?}", self.text_of(*message));
                self.head(depth, &text, &[])
            }
        };
        self.text.push('\n');
        inner
    }

    fn store(&mut self, depth: usize, place: PlaceId, value: Value) -> Vec<PrintTask> {
        self.margin(depth);
        self.place(place);
        self.text.push_str(" = ");
        self.value(value);
        Vec::new()
    }

    /// Returns the tasks that print both branches; an empty second branch is left out.
    fn branches(&self, accept: BlockId, reject: BlockId) -> Vec<PrintTask> {
        let mut todo = vec![PrintTask::Stmts(accept, 0)];
        if self.body.blocks.get(reject).is_some_and(|block| !block.stmts.is_empty()) {
            todo.extend([PrintTask::Line("} else {".into()), PrintTask::Stmts(reject, 0)]);
        }
        todo.push(PrintTask::Line("}".into()));
        todo
    }

    fn print(&mut self, depth: usize, format: Option<Name>, args: List<Value>) -> Vec<PrintTask> {
        self.head(depth, if format.is_some() { "printf(" } else { "print(" }, &[]);
        if let Some(format) = format {
            let text = format!("{:?}, ", self.text_of(format));
            self.text.push_str(&text);
        }
        self.values(args);
        self.text.push(')');
        Vec::new()
    }

    /// Returns the line between a loop's header and its body.
    fn test(&mut self, condition: Value) -> PrintTask {
        let before = self.text.len();
        self.text.push_str("} test ");
        self.value(condition);
        self.text.push_str(" {");
        PrintTask::Line(self.text.split_off(before))
    }

    /// Begins a line with a word and the values after it.
    fn head(&mut self, depth: usize, word: &str, values: &[Value]) -> Vec<PrintTask> {
        self.margin(depth);
        self.text.push_str(word);
        self.list(values);
        Vec::new()
    }

    /// Prints `name = operation`, or the operation alone if it is a call or atomic operation
    /// without a result.
    fn definition(&mut self, value: Value, op: Option<&Op>) {
        let Some(op) = op else {
            self.text.push_str("invalid");
            return;
        };
        let effect = matches!(op, Op::Call { .. } | Op::Atomic { .. });
        if !(effect && self.body.type_of(value) == Type::UNIT) {
            self.value(value);
            self.text.push_str(" = ");
        }
        self.op(value, op);
    }
}

/// Returns the tasks that print the label of a case and its statements.
fn case_tasks(case: &Case) -> [PrintTask; 2] {
    let labels: Vec<String> = case.labels.iter().map(i64::to_string).collect();
    [PrintTask::Line(format!("case {}:", labels.join(", "))), PrintTask::Stmts(case.body, 0)]
}
