//! Statements and blocks.
//!
//! Recursion goes as deep as blocks nest, which `check` limits.

use super::expr::{Expr, Level};
use super::function::Writer;
use super::hoist::Declaration;
use super::interval::Interval;
use super::literal::string;
use super::plain::BlockWork;
use super::printf::printf;
use gbxcule_ir::arena::{Handle, List};
use gbxcule_ir::function::{Body, Local, LocalId, Name};
use gbxcule_ir::op::Value;
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
    pub(super) writer: &'w mut Writer<'u, 'a>,
    body: &'a Body,
    pub(super) work: BlockWork,
    frames: Vec<Breakable>,
    /// True if a return is a `continue` of the loop over the threads.
    continues: bool,
    /// Number of labels for gotos out of loops.
    labels: u32,
}

impl<'w, 'u, 'a> Statements<'w, 'u, 'a> {
    /// Writes the variables and statements of the writer's function.
    pub(super) fn write(writer: &'w mut Writer<'u, 'a>, continues: bool, work: BlockWork) {
        let body = writer.exprs.body;
        let mut statements = Self { writer, body, work, frames: Vec::new(), continues, labels: 0 };
        statements.top_locals();
        statements.block(body.root);
    }

    fn block(&mut self, block: BlockId) {
        self.writer.names.open();
        self.stmts(block, self.body.blocks[block].stmts.len());
        self.writer.names.close();
    }

    /// Declares the variables that can't be declared at their first store.
    fn top_locals(&mut self) {
        for (local, &Local { ty, scratch, .. }) in self.body.locals.iter() {
            let declared = self.writer.declarations[Handle::index(local)];
            let is_tile = declared != Declaration::Nowhere && self.work.is_tile(local);
            if declared != Declaration::Top && !is_tile {
                continue;
            }
            let name = self.declare(local);
            if self.writer.items.is_plain() && self.declare_fixed_array(local, &name) {
                continue;
            }
            let of = self.writer.items.ty(ty);
            if scratch {
                self.line_of(&[of, " ", &name, ";"]);
                continue;
            }
            self.line_of(&[of, " ", &name, " = ", &self.zero(ty), ";"]);
        }
    }

    /// Chooses a local's name.
    pub(super) fn declare(&mut self, local: LocalId) -> String {
        let name = self.writer.names.local(&self.body.locals[local].name);
        self.writer.exprs.locals[Handle::index(local)].clone_from(&name);
        name
    }

    fn take(&mut self, value: Value) -> Expr {
        self.writer.exprs.values.take(value)
    }

    pub(super) fn line(&mut self, text: &str) {
        self.writer.lines.line(text);
    }

    fn line_of(&mut self, parts: &[&str]) {
        self.writer.lines.line_of(parts);
    }

    /// Writes the block of a statement, indented one level further.
    fn nested_block(&mut self, block: BlockId) {
        self.writer.lines.depth += 1;
        self.block(block);
        self.writer.lines.depth -= 1;
    }

    /// Writes the first statements of a block.
    pub(super) fn stmts(&mut self, block: BlockId, count: usize) {
        let mut position = 0;
        while position < count {
            let stmt = &self.body.blocks[block].stmts[position];
            if let Some(connective) = self.connective_at(block, position, count) {
                self.writer.lines.span = stmt.span;
                self.connective(&connective);
                position += connective.count;
            } else {
                self.stmt(block, position, stmt);
                position += 1;
            }
        }
    }

    fn stmt(&mut self, block: BlockId, position: usize, stmt: &'a Stmt) {
        let role = self.work.role(block, position);
        self.work.begin(self.writer, role);
        self.statement(block, position, stmt);
        self.work.end(self.writer, role, self.is_last(block, position));
    }

    /// Returns true for the last statement of the function's outermost block.
    fn is_last(&self, block: BlockId, position: usize) -> bool {
        block == self.body.root && position + 1 == self.body.blocks[block].stmts.len()
    }

    fn statement(&mut self, block: BlockId, position: usize, stmt: &'a Stmt) {
        self.writer.lines.span = stmt.span;
        match &stmt.kind {
            StmtKind::Let(value) => self.writer.define(*value),
            StmtKind::Store { place, value } => self.store(*place, *value, (block, position)),
            StmtKind::If { condition, accept, reject } => {
                let condition = self.take(*condition);
                self.writer.name_all_waiting();
                self.if_chain(&condition, *accept, *reject);
            }
            StmtKind::Switch { selector, cases, default } => {
                let of = self.body.type_of(*selector).as_scalar().unwrap_or(Scalar::I32);
                let selector = self.take(*selector);
                self.writer.name_all_waiting();
                self.switch(&selector, of, cases, *default);
            }
            StmtKind::For { index, start, end, step, body } => {
                let is_divided = self.work.is_divided(block, position);
                self.for_loop(*index, [*start, *end, *step], *body, is_divided);
            }
            StmtKind::While { header, condition, body } => {
                self.while_loop(*header, *condition, *body);
            }
            StmtKind::Break => self.leave_loop(),
            StmtKind::Continue => self.line("continue;"),
            StmtKind::Return(value) => {
                self.leave(*value, self.is_last(block, position));
            }
            StmtKind::Print { format, args } => {
                self.writer.items.refuse();
                self.print(*format, *args);
            }
            StmtKind::Assert { condition, message } => {
                self.writer.items.refuse();
                let condition = self.take(*condition);
                self.writer.name_waiting(|_, needs| needs.faults);
                let says = string(self.writer.items.module.text(*message));
                self.writer.lines.line_with(
                    Some(*message),
                    &[&format!("gbx::require({}, {says});", condition.text)],
                );
            }
            StmtKind::Trap { message } => {
                self.writer.items.refuse();
                let says = string(self.writer.items.module.text(*message));
                self.writer.lines.line_with(Some(*message), &[&format!("gbx::trap({says});")]);
                // Compilers expect a return at the end, even if control never gets there.
                if self.writer.function.result != Type::UNIT && self.frames.is_empty() {
                    self.line(&format!("return {};", self.zero(self.writer.function.result)));
                }
            }
        }
    }

    /// Returns the initializer for a value of zeros.
    fn zero(&self, ty: Type) -> String {
        if ty.as_scalar().is_some() { self.writer.exprs.zero(ty).text } else { "{}".into() }
    }

    fn leave(&mut self, value: Option<Value>, last: bool) {
        let text = match value {
            Some(value) => {
                let value = self.take(value);
                return self.writer.result_line("return ", &value);
            }
            None if last => return,
            None if self.continues => "continue;",
            None => "return;",
        };
        self.line(text);
    }

    fn store(&mut self, place: PlaceId, value: Value, at: (BlockId, usize)) {
        let declared = match self.body.places[place].root {
            Root::Local(local) => {
                let declaration = self.writer.declarations[Handle::index(local)];
                (declaration == Declaration::Store(at.0, at.1)).then_some(local)
            }
            _ => None,
        };
        if self.writer.items.is_plain() && self.store_fixed_array(place, value, declared) {
            return;
        }
        let value = self.take(value);
        if let Some(local) = declared {
            let name = self.declare(local);
            let of = self.writer.items.ty(self.body.locals[local].ty);
            return self.line_of(&[of, " ", &name, " = ", &value.text, ";"]);
        }
        let to = self.writer.exprs.place(place);
        self.settle_for_write(place);
        match value.compound {
            Some(compound) if compound.left(&value.text) == to.text => {
                let right = compound.right(&value.text);
                self.line_of(&[&to.text, " ", compound.op, "= ", right, ";"]);
            }
            _ => self.line_of(&[&to.text, " = ", &value.text, ";"]),
        }
    }

    /// Gives names to waiting values that a write to a place could change, before the write.
    pub(super) fn settle_for_write(&mut self, place: PlaceId) {
        let exprs = &self.writer.exprs;
        let root = match self.body.places[place].root {
            Root::Local(local) if !exprs.is_behind_handle(place) => Some(local),
            _ => None,
        };
        let shared = root.is_none_or(|local| exprs.exposed[Handle::index(local)]);
        self.writer.name_waiting(|_, needs| {
            let read = root.is_some_and(|local| needs.locals.contains(&local));
            read || shared && (needs.memory || needs.faults)
        });
    }

    fn print(&mut self, format: Option<Name>, args: List<Value>) {
        let values = &self.body.value_lists[args];
        let exprs: Vec<Expr> =
            values.iter().map(|&value| self.writer.exprs.take_exact(value)).collect();
        self.writer.name_waiting(|_, needs| needs.faults);
        if let Some(format) = format {
            let scalars = values.iter().map(|&value| self.body.type_of(value).as_scalar());
            let typed: Vec<_> = exprs.into_iter().zip(scalars).collect();
            let (format, args) = printf(self.writer.items.module.text(format), &typed);
            let args: String = args.iter().map(|arg| format!(", {arg}")).collect();
            self.line(&format!("printf({}{args});", string(&format)));
            return;
        }
        for (expr, &value) in exprs.iter().zip(values) {
            let is_composite =
                self.writer.items.module.types.components(self.body.type_of(value)).is_some();
            self.line(&if is_composite {
                format!("gbx::print({});", expr.text)
            } else {
                "gbx::print_unknown();".into()
            });
        }
    }

    fn if_chain(&mut self, condition: &Expr, accept: BlockId, reject: BlockId) {
        self.line_of(&["if (", &condition.text, ") {"]);
        self.nested_block(accept);
        let (mut reject, mut opened) = (reject, 0);
        loop {
            let stmts = &self.body.blocks[reject].stmts;
            let Some((last, before)) = stmts.split_last() else { break };
            let mark = self.writer.lines.mark();
            self.writer.names.open();
            opened += 1;
            self.writer.lines.depth += 1;
            self.stmts(reject, before.len());
            if let StmtKind::If { condition, accept, reject: next } = &last.kind {
                self.writer.lines.span = last.span;
                let condition = self.take(*condition);
                self.writer.name_all_waiting();
                if self.writer.lines.is_at(mark) {
                    self.writer.lines.depth -= 1;
                    self.line_of(&["} else if (", &condition.text, ") {"]);
                    self.nested_block(*accept);
                    reject = *next;
                    continue;
                }
                self.if_chain(&condition, *accept, *next);
            } else {
                self.stmt(reject, before.len(), last);
            }
            self.writer.lines.depth -= 1;
            if !self.writer.lines.is_at(mark) {
                self.writer.lines.insert(mark, "} else {");
            }
            break;
        }
        (0..opened).for_each(|_| self.writer.names.close());
        self.line("}");
    }

    fn switch(&mut self, selector: &Expr, of: Scalar, cases: &'a [Case], default: BlockId) {
        self.line(&format!("switch ({}) {{", selector.text));
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
                self.line(&row.join(" "));
            }
            self.line(&format!("{} {{", rows[rows.len() - 1].join(" ")));
            self.case(case.body);
        }
        if !self.body.blocks[default].stmts.is_empty() {
            self.line("default: {");
            self.case(default);
        }
        self.frames.pop();
        self.line("}");
    }

    fn case(&mut self, block: BlockId) {
        self.nested_block(block);
        let ends =
            self.body.blocks[block].stmts.last().is_some_and(|last| last.kind.is_terminator());
        if !ends {
            self.writer.lines.depth += 1;
            self.line("break;");
            self.writer.lines.depth -= 1;
        }
        self.line("}");
    }

    fn for_loop(&mut self, index: Value, range: [Value; 3], body: BlockId, is_divided: bool) {
        let ty = self.body.type_of(index);
        let spelled = self.writer.items.ty(ty);
        self.work.begin_rounds(body);
        let of = ty.as_scalar().unwrap_or(Scalar::I32);
        let intervals = range.map(|bound| self.writer.exprs.values.interval(bound));
        let step = self.body.integer(range[2]);
        let [start, mut end, by] = range.map(|bound| self.take(bound));
        self.writer.name_all_waiting();
        let interval = index_interval(intervals, step);
        // `end` must have the same value in each test.
        let plain = matches!(step, Some(1 | -1))
            || steps_inside(of, intervals[1], step)
            || self.writer.items.is_plain() && step.is_some();
        if plain && !end.atom {
            let name = self.writer.names.local("end");
            self.line_of(&["const ", spelled, " ", &name, " = ", &end.text, ";"]);
            end = Expr::atom(name);
        }
        self.writer.names.open();
        let name = self.body.values[index].name;
        let name = name.map_or("i", |name| self.writer.items.module.text(name));
        let name = self.writer.names.local(name);
        self.writer.exprs.values.set(index, Expr::atom(&name));
        self.writer.exprs.values.set_interval(index, interval);
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
            self.line(&format!("for ({spelled} {name} = {start}; {name}{test}{end}; {next}) {{"));
        } else {
            self.writer.items.refuse();
            let (start, end, by) = (&start.text, &end.text, &by.text);
            self.line(&format!(
                "for (const {spelled} {name} : gbx::range<{spelled}>({start}, {end}, {by})) {{"
            ));
        }
        self.loop_body(body);
        self.writer.names.close();
    }

    fn while_loop(&mut self, header: BlockId, condition: Value, body: BlockId) {
        self.writer.name_all_waiting();
        [header, body].into_iter().for_each(|block| self.work.begin_rounds(block));
        let (mark, depth) = (self.writer.lines.mark(), self.writer.lines.depth);
        self.writer.names.open();
        self.writer.lines.depth += 1;
        self.stmts(header, self.body.blocks[header].stmts.len());
        let test = self.take(condition);
        self.writer.name_all_waiting();
        if self.writer.lines.is_at(mark) {
            self.writer.lines.depth = depth;
            self.line_of(&["while (", &test.text, ") {"]);
        } else {
            self.writer.lines.insert(mark, "for (;;) {");
            if test.text != "true" {
                self.line_of(&["if (!", &test.at(Level::Unary), ")"]);
                self.writer.lines.depth += 1;
                self.line("break;");
            }
            self.writer.lines.depth = depth;
        }
        self.loop_body(body);
        self.writer.names.close();
    }

    /// Writes the body of a loop, after the loop's first line.
    fn loop_body(&mut self, body: BlockId) {
        self.frames.push(Breakable::Loop { label: None });
        self.nested_block(body);
        self.line("}");
        if let Some(Breakable::Loop { label: Some(label) }) = self.frames.pop() {
            self.line(&format!("{label}:;"));
        }
    }

    fn leave_loop(&mut self) {
        if matches!(self.frames.last(), Some(Breakable::Loop { .. })) {
            self.line("break;");
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
        self.line(&text.unwrap_or_default());
    }
}

/// Returns true if a return occurs inside a loop, where `continue` would mean that loop.
pub(super) fn returns_in_loop(body: &Body) -> bool {
    let mut loops = vec![false; body.blocks.len()];
    let (mut depth, mut returns) = (0, false);
    walk(body, body.root, |step| match step {
        Step::Enter(block) => depth += u32::from(loops[block.index()]),
        Step::Leave(block) => depth -= u32::from(loops[block.index()]),
        Step::Stmt(stmt) => match stmt.kind {
            StmtKind::For { body, .. } | StmtKind::While { body, .. } => {
                loops[body.index()] = true;
            }
            StmtKind::Return(_) => returns |= depth > 0,
            _ => {}
        },
    });
    returns
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
