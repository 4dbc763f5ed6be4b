//! Statements and blocks.
//!
//! Recursion goes as deep as blocks nest, which `check` limits.

use super::expr::{Expr, Level};
use super::function::Writer;
use super::hoist::Declaration;
use super::interval::Interval;
use super::literal::string;
use super::printf::printf;
use gbxcule_ir::arena::{Handle, List};
use gbxcule_ir::function::{Body, Name};
use gbxcule_ir::op::{Op, Value};
use gbxcule_ir::place::{PlaceId, Root};
use gbxcule_ir::stmt::{BlockId, Case, Stmt, StmtKind};
use gbxcule_ir::ty::{Scalar, Type};
use gbxcule_ir::walk::{Step, walk};

/// Construct that a `break` or `continue` must leave.
#[derive(Debug)]
enum Breakable {
    Loop {
        /// Label behind the loop, for a `break` that stands inside a switch.
        label: Option<String>,
    },
    Switch,
}

/// Writes the statements of one function, whose values and lines are the writer's.
pub(super) struct Statements<'w, 'u, 'a> {
    writer: &'w mut Writer<'u, 'a>,
    frames: Vec<Breakable>,
    /// True if a return is a `continue` of the loop over the threads.
    continues: bool,
    /// Number of labels for gotos out of loops.
    labels: u32,
}

impl<'w, 'u, 'a> Statements<'w, 'u, 'a> {
    pub(super) fn new(writer: &'w mut Writer<'u, 'a>, continues: bool) -> Self {
        Self { writer, frames: Vec::new(), continues, labels: 0 }
    }

    /// Writes the outermost block.
    pub(super) fn root(&mut self, block: BlockId) {
        self.writer.unit.names.open();
        self.stmts(block, self.writer.body.blocks[block].stmts.len());
        self.writer.unit.names.close();
    }

    /// Writes the block of a statement, indented one level further.
    fn nested_block(&mut self, block: BlockId) {
        self.writer.depth += 1;
        self.root(block);
        self.writer.depth -= 1;
    }

    /// Writes the first statements of a block.
    fn stmts(&mut self, block: BlockId, count: usize) {
        for (position, stmt) in self.writer.body.blocks[block].stmts[..count].iter().enumerate() {
            self.stmt(block, position, stmt);
        }
    }

    fn stmt(&mut self, block: BlockId, position: usize, stmt: &'a Stmt) {
        let role = self.writer.begin_role(block, position);
        self.statement(block, position, stmt);
        let is_last = block == self.writer.body.root
            && position + 1 == self.writer.body.blocks[block].stmts.len();
        self.writer.end_role(role, is_last);
    }

    fn statement(&mut self, block: BlockId, position: usize, stmt: &'a Stmt) {
        self.writer.span = stmt.span;
        match &stmt.kind {
            StmtKind::Let(value) => self.writer.define(*value),
            StmtKind::Store { place, value } => self.store(*place, *value, (block, position)),
            StmtKind::If { condition, accept, reject } => {
                let condition = self.writer.take(*condition);
                self.writer.name_all_waiting();
                self.if_chain(&condition, *accept, *reject);
            }
            StmtKind::Switch { selector, cases, default } => {
                let of = self.writer.body.type_of(*selector).as_scalar().unwrap_or(Scalar::I32);
                let selector = self.writer.take(*selector);
                self.writer.name_all_waiting();
                self.switch(&selector, of, cases, *default);
            }
            StmtKind::For { index, start, end, step, body } => {
                let is_divided = self.writer.is_divided(block, position);
                self.for_loop(*index, [*start, *end, *step], *body, is_divided);
            }
            StmtKind::While { header, condition, body } => {
                self.while_loop(*header, *condition, *body);
            }
            StmtKind::Break => self.leave_loop(),
            StmtKind::Continue => self.writer.line("continue;"),
            StmtKind::Return(value) => {
                let last = block == self.writer.body.root
                    && position + 1 == self.writer.body.blocks[block].stmts.len();
                self.leave(*value, last);
            }
            StmtKind::Print { format, args } => {
                self.writer.refuse_plain();
                self.print(*format, *args);
            }
            StmtKind::Assert { condition, message } => {
                self.writer.refuse_plain();
                let condition = self.writer.take(*condition);
                self.writer.name_waiting(|_, needs| needs.faults);
                let says = string(self.writer.module.text(*message));
                self.writer.line_saying(
                    &format!("gbx::require({}, {says});", condition.text),
                    Some(*message),
                );
            }
            StmtKind::Trap { message } => {
                self.writer.refuse_plain();
                let says = string(self.writer.module.text(*message));
                self.writer.line_saying(&format!("gbx::trap({says});"), Some(*message));
                // Compilers expect a return at the end, even if control never gets there.
                if self.writer.function.result != Type::UNIT && self.frames.is_empty() {
                    self.writer.line(&format!("return {};", self.zero_result()));
                }
            }
        }
    }

    fn zero_result(&self) -> String {
        match self.writer.function.result.as_scalar() {
            Some(_) => self.writer.zero(self.writer.function.result).text,
            None => "{}".into(),
        }
    }

    fn leave(&mut self, value: Option<Value>, last: bool) {
        let text = match value {
            Some(value) => {
                let value = self.writer.take(value);
                return self.writer.line_of(&["return ", &value.text, ";"]);
            }
            None if last => return,
            None if self.continues => "continue;",
            None => "return;",
        };
        self.writer.line(text);
    }

    fn store(&mut self, place: PlaceId, value: Value, at: (BlockId, usize)) {
        let declared = match self.writer.body.places[place].root {
            Root::Local(local)
                if self.writer.declarations[Handle::index(local)]
                    == Declaration::Store(at.0, at.1) =>
            {
                Some(local)
            }
            _ => None,
        };
        if self.writer.is_plain() && self.writer.plain_fixed_store(place, value, declared.is_some())
        {
            return;
        }
        let value = self.writer.take(value);
        if let Some(local) = declared {
            let name = self.writer.declare(local);
            let ty = self.writer.body.locals[local].ty;
            self.writer.typed_line("", ty, &[" ", &name, " = ", &value.text, ";"]);
            return;
        }
        let to = self.writer.place(place);
        self.writer.settle_for_write(place);
        match value.compound {
            Some(compound) if compound.left(&value.text) == to.text => {
                let right = compound.right(&value.text);
                self.writer.line_of(&[&to.text, " ", compound.op, "= ", right, ";"]);
            }
            _ => self.writer.line_of(&[&to.text, " = ", &value.text, ";"]),
        }
    }

    fn print(&mut self, format: Option<Name>, args: List<Value>) {
        let values = &self.writer.body.value_lists[args];
        let exprs: Vec<Expr> = values.iter().map(|&value| self.writer.take_exact(value)).collect();
        self.writer.name_waiting(|_, needs| needs.faults);
        if let Some(format) = format {
            let scalars = values.iter().map(|&value| self.writer.body.type_of(value).as_scalar());
            let typed: Vec<_> = exprs.into_iter().zip(scalars).collect();
            let (format, args) = printf(self.writer.module.text(format), &typed);
            let args: String = args.iter().map(|arg| format!(", {arg}")).collect();
            self.writer.line(&format!("printf({}{args});", string(&format)));
            return;
        }
        for (expr, &value) in exprs.iter().zip(values) {
            let known =
                self.writer.module.types.components(self.writer.body.type_of(value)).is_some();
            self.writer.line(&if known {
                format!("gbx::print({});", expr.text)
            } else {
                "gbx::print_unknown();".into()
            });
        }
    }

    fn if_chain(&mut self, condition: &Expr, accept: BlockId, reject: BlockId) {
        self.writer.line_of(&["if (", &condition.text, ") {"]);
        self.nested_block(accept);
        let (mut reject, mut opened) = (reject, 0);
        loop {
            let stmts = &self.writer.body.blocks[reject].stmts;
            let Some((last, before)) = stmts.split_last() else { break };
            let mark = (self.writer.unit.out.len(), self.writer.unit.line);
            self.writer.unit.names.open();
            opened += 1;
            self.writer.depth += 1;
            self.stmts(reject, before.len());
            if let StmtKind::If { condition, accept, reject: next } = &last.kind {
                self.writer.span = last.span;
                let condition = self.writer.take(*condition);
                self.writer.name_all_waiting();
                if self.writer.unit.out.len() == mark.0 {
                    self.writer.depth -= 1;
                    self.writer.line_of(&["} else if (", &condition.text, ") {"]);
                    self.nested_block(*accept);
                    reject = *next;
                    continue;
                }
                self.if_chain(&condition, *accept, *next);
            } else {
                self.stmt(reject, before.len(), last);
            }
            self.writer.depth -= 1;
            if self.writer.unit.out.len() > mark.0 {
                self.writer.insert_line(mark.0, mark.1, self.writer.depth, "} else {");
            }
            break;
        }
        (0..opened).for_each(|_| self.writer.unit.names.close());
        self.writer.line("}");
    }

    fn switch(&mut self, selector: &Expr, of: Scalar, cases: &'a [Case], default: BlockId) {
        self.writer.line(&format!("switch ({}) {{", selector.text));
        self.frames.push(Breakable::Switch);
        for case in cases {
            let labels: Vec<String> = case
                .labels
                .iter()
                .map(|&label| format!("case {}:", spell_label(label, of)))
                .collect();
            if labels.is_empty() {
                continue;
            }
            let rows: Vec<&[String]> = labels.chunks(10).collect();
            for row in &rows[..rows.len() - 1] {
                self.writer.line(&row.join(" "));
            }
            self.writer.line(&format!("{} {{", rows[rows.len() - 1].join(" ")));
            self.case(case.body);
        }
        if !self.writer.body.blocks[default].stmts.is_empty() {
            self.writer.line("default: {");
            self.case(default);
        }
        self.frames.pop();
        self.writer.line("}");
    }

    fn case(&mut self, block: BlockId) {
        self.nested_block(block);
        let ends = self.writer.body.blocks[block]
            .stmts
            .last()
            .is_some_and(|last| last.kind.is_terminator());
        if !ends {
            self.writer.depth += 1;
            self.writer.line("break;");
            self.writer.depth -= 1;
        }
        self.writer.line("}");
    }

    fn for_loop(&mut self, index: Value, range: [Value; 3], body: BlockId, is_divided: bool) {
        let ty = self.writer.body.type_of(index);
        self.writer.begin_rounds(body);
        let of = ty.as_scalar().unwrap_or(Scalar::I32);
        let known = range.map(|bound| self.writer.interval_of(bound));
        let step = match self.writer.body.values[range[2]].op {
            Op::Literal(step) => step.as_int(),
            _ => None,
        };
        let [start, mut end, by] = range.map(|bound| self.writer.take(bound));
        self.writer.name_all_waiting();
        let interval = index_interval(known, step);
        // `end` must have the same value in each test.
        let plain = matches!(step, Some(1 | -1))
            || steps_inside(of, known[1], step)
            || self.writer.is_plain() && step.is_some();
        if plain && !end.atom {
            let name = self.writer.unit.names.local("end");
            self.writer.typed_line("const ", ty, &[" ", &name, " = ", &end.text, ";"]);
            end = Expr::atom(name);
        }
        self.writer.unit.names.open();
        let name = match self.writer.body.values[index].name {
            Some(name) => self.writer.unit.names.local(self.writer.module.text(name)),
            None => self.writer.unit.names.local("i"),
        };
        self.writer.set(index, name.clone(), interval);
        if let (true, Some(step)) = (plain, step) {
            let test = if step > 0 { " < " } else { " > " };
            let next = match step {
                _ if is_divided => format!("{name} += blockDim.x"),
                1 => format!("++{name}"),
                -1 => format!("--{name}"),
                _ if step > 0 => format!("{name} += {step}"),
                _ => format!("{name} -= {}", -step),
            };
            let start = if is_divided { "threadIdx.x" } else { &start.text };
            let end = end.at(Level::Sum);
            let parts = [" ", &name, " = ", start, "; ", &name, test, &end, "; ", &next, ") {"];
            self.writer.typed_line("for (", ty, &parts);
        } else {
            self.writer.refuse_plain();
            let (spelled, start, end, by) = (self.writer.ty(ty), &start.text, &end.text, &by.text);
            let range = format!(" : gbx::range<{spelled}>({start}, {end}, {by})) {{");
            self.writer.typed_line("for (const ", ty, &[" ", &name, &range]);
        }
        self.loop_body(body);
        self.writer.unit.names.close();
    }

    fn while_loop(&mut self, header: BlockId, condition: Value, body: BlockId) {
        self.writer.name_all_waiting();
        [header, body].into_iter().for_each(|block| self.writer.begin_rounds(block));
        let (mark, depth) =
            ((self.writer.unit.out.len(), self.writer.unit.line), self.writer.depth);
        self.writer.unit.names.open();
        self.writer.depth += 1;
        self.stmts(header, self.writer.body.blocks[header].stmts.len());
        let test = self.writer.take(condition);
        self.writer.name_all_waiting();
        if self.writer.unit.out.len() == mark.0 {
            self.writer.depth = depth;
            self.writer.line_of(&["while (", &test.text, ") {"]);
        } else {
            self.writer.insert_line(mark.0, mark.1, depth, "for (;;) {");
            if test.text != "true" {
                self.writer.line_of(&["if (!", &test.at(Level::Unary), ")"]);
                self.writer.depth += 1;
                self.writer.line("break;");
            }
            self.writer.depth = depth;
        }
        self.loop_body(body);
        self.writer.unit.names.close();
    }

    /// Writes the body of a loop, after the loop's first line.
    fn loop_body(&mut self, body: BlockId) {
        self.frames.push(Breakable::Loop { label: None });
        self.nested_block(body);
        self.writer.line("}");
        if let Some(Breakable::Loop { label: Some(label) }) = self.frames.pop() {
            self.writer.line(&format!("{label}:;"));
        }
    }

    fn leave_loop(&mut self) {
        if matches!(self.frames.last(), Some(Breakable::Loop { .. })) {
            self.writer.line("break;");
            return;
        }
        let text = self.frames.iter_mut().rev().find_map(|frame| match frame {
            Breakable::Loop { label } => {
                let labels = &mut self.labels;
                let label = label.get_or_insert_with(|| {
                    *labels += 1;
                    format!("leave_{labels}")
                });
                Some(format!("goto {label};"))
            }
            Breakable::Switch => None,
        });
        self.writer.line(&text.unwrap_or_default());
    }
}

/// Returns true if a return occurs inside a loop, where `continue` would mean that loop.
pub(super) fn returns_in_loop(body: &Body) -> bool {
    let mut loops = vec![false; body.blocks.len()];
    let (mut depth, mut found) = (0, false);
    walk(body, body.root, |step| match step {
        Step::Enter(block) => depth += u32::from(loops[block.index()]),
        Step::Leave(block) => depth -= u32::from(loops[block.index()]),
        Step::Stmt(stmt) => match stmt.kind {
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                loops[body.index()] = true;
            }
            StmtKind::Return(_) => found |= depth > 0,
            _ => {}
        },
    });
    found
}

/// Returns true if an index inside the range can take one more step without overflow.
fn steps_inside(of: Scalar, end: Option<Interval>, step: Option<i128>) -> bool {
    let (Some(all), Some(end), Some(step)) = (Interval::of(of), end, step) else {
        return false;
    };
    // The index after the last one must fit the type of the index.
    match step {
        2.. => end.high - 1 + step <= all.high,
        ..=-2 => end.low + 1 + step >= all.low,
        _ => false,
    }
}

/// Writes a label; the labels of a `u64` selector are its bits.
fn spell_label(label: i64, of: Scalar) -> String {
    match of {
        Scalar::U64 => format!("{}u", label as u64),
        _ if label == i64::MIN => "(-9223372036854775807 - 1)".into(),
        _ => label.to_string(),
    }
}

/// Returns the interval of an index.
fn index_interval([start, end, _]: [Option<Interval>; 3], step: Option<i128>) -> Option<Interval> {
    let (start, end, step) = (start?, end?, step?);
    Some(if step > 0 {
        Interval::new(start.low, (end.high - 1).max(start.low))
    } else {
        Interval::new((end.low + 1).min(start.high), start.high)
    })
}
