//! Normal form, the input of the reverse pass: the same program with
//!
//! - callees that touch array memory or act on the outside inlined, so that one body shows all uses
//!   of memory; the remaining calls take only values and variables;
//! - one exit: no `Break` and no `Continue`, and `Return` only as the last statement. A `For`
//!   stays a `For` only if nothing leaves it; all other loops are `While` over one flag, whose
//!   header only reads the flag;
//! - parameters passed by reference read once at the beginning into a variable and written back at
//!   the end;
//! - no `Assert`, `Trap`, `Print`: a reverse pass runs only after a forward pass without faults.
//!
//! This does not use `pass::inline` and `pass::exit`: those passes keep faults and prints, turn
//! returns into breaks, and don't inline a callee whose result has several parts or that gets a
//! place behind a handle that may change. Here one walk inlines all of these callees and removes
//! their exits, and the result is made of statements that the reverse may run again.
//!
//! When an arm of a branch leaves its block early, the statements after the branch go into the
//! other arm, or into an `If` over a flag.

use super::copy::{Binding, Copy};
use super::exit::{Exit, Exits};
use super::trip_count;
use gbxcule_ir::build::Builder;
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::{Body, Function, FunctionId, LocalId, PassMode};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, Op, Value};
use gbxcule_ir::stmt::{BlockId, Case, Stmt, StmtKind};
use gbxcule_ir::ty::{Shape, Type};

/// Fills the body of `into`, which has the parameters and the result of `function`, with the normal
/// form of `function`; `inline` says which callees are dissolved.
pub(super) fn build(
    source: &Valid<Module>,
    module: &mut Module,
    function: FunctionId,
    into: FunctionId,
    inline: &[bool],
) {
    let callee = &source.functions[function];
    let mut b = Builder::new(module, into);
    b.set_span(callee.span);
    let mut params = Vec::new();
    for (position, param) in (0..).zip(&callee.params) {
        params.push(match param.mode {
            PassMode::Value => Binding::Own(position),
            PassMode::Shared | PassMode::Mutable => {
                let local = b.local(param.name.clone(), param.ty);
                let (place, from) = (b.local_place(local), b.param_place(position));
                let value = b.load(from);
                b.store(place, value);
                Binding::Local(local)
            }
        });
    }
    let mut normalizer = Normalizer { source, b, inline };
    let result = normalizer.function(callee, params.clone(), false);
    let mut b = normalizer.b;
    for (position, (param, binding)) in (0..).zip(callee.params.iter().zip(params)) {
        if let (PassMode::Mutable, Binding::Local(local)) = (param.mode, binding) {
            let (place, to) = (b.local_place(local), b.param_place(position));
            let value = b.load(place);
            b.store(to, value);
        }
    }
    b.ret(result);
    b.finish();
}

struct Normalizer<'a, 'm> {
    source: &'a Valid<Module>,
    b: Builder<'m>,
    inline: &'a [bool],
}

/// A function whose statements are being copied.
struct Frame<'a> {
    copy: Copy<'a>,
    exits: Exits,
    /// Variable that is set when the function has returned.
    returned: LocalId,
    /// Variables for its results.
    results: Vec<LocalId>,
    loops: Vec<Loop>,
}

/// A loop being copied.
#[derive(Clone, Copy)]
struct Loop {
    /// Variable that is true while the loop goes on. A `For` that nothing leaves has no such
    /// variable.
    running: Option<LocalId>,
    /// Variable that is set when the rest of the iteration is skipped.
    gone: LocalId,
}

impl Normalizer<'_, '_> {
    /// Copies all statements of a function; returns its result.
    fn function(
        &mut self,
        callee: &Function,
        params: Vec<Binding>,
        inlined: bool,
    ) -> Option<Value> {
        let parts = match &self.b.module.types[callee.result] {
            Shape::Tuple(parts) => parts.to_vec(),
            _ => vec![callee.result],
        };
        let results: Vec<LocalId> =
            parts.iter().map(|&ty| self.b.local(format!("{}_result", callee.name), ty)).collect();
        let returned = self.b.local(format!("{}_returned", callee.name), Type::BOOL);
        let body = &callee.body;
        let exits = Exits::new(body);
        let copy = Copy::new(body, params);
        let mut frame = Frame { copy, exits, returned, results, loops: Vec::new() };
        if inlined {
            self.clear(&mut frame);
        }
        self.stmts(&mut frame, &body.blocks[body.root].stmts);
        if callee.result == Type::UNIT {
            return None;
        }
        let results: Vec<Value> = frame
            .results
            .iter()
            .map(|&local| {
                let place = self.b.local_place(local);
                self.b.load(place)
            })
            .collect();
        match &self.b.module.types[callee.result] {
            Shape::Tuple(_) => Some(self.b.construct(callee.result, &results)),
            _ => results.first().copied(),
        }
    }

    /// Sets the variables of an inlined call to zero: in a loop each call begins with new ones.
    fn clear(&mut self, frame: &mut Frame<'_>) {
        let mut locals: Vec<LocalId> = frame
            .copy
            .body
            .locals
            .handles()
            .map(|old| frame.copy.local(&mut self.b, old))
            .collect();
        locals.extend(frame.results.iter().copied());
        for local in locals {
            let place = self.b.local_place(local);
            let ty = self.b.place_type(place);
            let zero = self.b.zero(ty);
            self.b.store(place, zero);
        }
        self.flag(frame.returned, false);
    }

    fn flag(&mut self, local: LocalId, value: bool) {
        let (place, value) = (self.b.local_place(local), self.b.bool(value));
        self.b.store(place, value);
    }

    fn stmts(&mut self, frame: &mut Frame<'_>, stmts: &[Stmt]) {
        for (position, stmt) in stmts.iter().enumerate() {
            self.b.set_span(stmt.span);
            let exit = frame.exits.of_stmt(&stmt.kind);
            let following = &stmts[position + 1..];
            if exit == Exit::Never {
                self.whole(frame, &stmt.kind);
                continue;
            }
            if let StmtKind::If { condition, accept, reject } = stmt.kind {
                let (left, right) = (frame.exits.of(accept), frame.exits.of(reject));
                if left == Exit::Always || right == Exit::Always {
                    self.branch(frame, condition, [accept, reject], following);
                    return;
                }
            }
            self.whole(frame, &stmt.kind);
            if exit == Exit::Maybe && !following.is_empty() {
                self.guard_rest(frame, following);
            }
            return;
        }
    }

    /// Copies an `If` of which at least one arm leaves the block: the statements after it go into
    /// the other arm.
    fn branch(
        &mut self,
        frame: &mut Frame<'_>,
        condition: Value,
        arms: [BlockId; 2],
        following: &[Stmt],
    ) {
        let condition = frame.copy.value(condition);
        let blocks = arms.map(|arm| {
            self.b.open_block();
            let body = frame.copy.body;
            self.stmts(frame, &body.blocks[arm].stmts);
            match frame.exits.of(arm) {
                Exit::Never => self.stmts(frame, following),
                Exit::Maybe if !following.is_empty() => self.guard_rest(frame, following),
                _ => {}
            }
            self.b.close_block()
        });
        self.b.if_blocks(condition, blocks[0], blocks[1]);
    }

    fn guard_rest(&mut self, frame: &mut Frame<'_>, following: &[Stmt]) {
        let gone = frame.loops.last().map_or(frame.returned, |inner| inner.gone);
        let place = self.b.local_place(gone);
        let gone = self.b.load(place);
        let stays = self.b.not(gone);
        self.b.open_block();
        self.stmts(frame, following);
        let accept = self.b.close_block();
        let reject = self.b.empty_block();
        self.b.if_blocks(stays, accept, reject);
    }

    /// Copies one statement with all its blocks.
    fn whole(&mut self, frame: &mut Frame<'_>, stmt: &StmtKind) {
        match stmt {
            StmtKind::Let(value) => self.operation(frame, *value),
            StmtKind::Store { place, value } => {
                let place = frame.copy.place(&mut self.b, *place);
                self.b.store(place, frame.copy.value(*value));
            }
            StmtKind::If { condition, accept, reject } => {
                let (condition, span) = (frame.copy.value(*condition), self.b.span());
                let (accept, reject) = (self.block(frame, *accept), self.block(frame, *reject));
                self.b.set_span(span);
                self.b.if_blocks(condition, accept, reject);
            }
            StmtKind::Switch { selector, cases, default } => {
                let selector = frame.copy.value(*selector);
                let cases = cases
                    .iter()
                    .map(|case| Case {
                        labels: case.labels.clone(),
                        body: self.block(frame, case.body),
                    })
                    .collect();
                let default = self.block(frame, *default);
                self.b.switch(selector, cases, default);
            }
            StmtKind::For { index, start, end, step, body } => {
                let range = [*start, *end, *step].map(|value| frame.copy.value(value));
                if frame.exits.leaves_loop(*body) {
                    self.leaving_for(frame, *index, range, *body);
                } else {
                    self.plain_for(frame, *index, range, *body);
                }
            }
            StmtKind::While { header, condition, body } => {
                self.while_loop(frame, *header, *condition, *body);
            }
            StmtKind::Break => self.leave_iteration(frame, true),
            StmtKind::Continue => self.leave_iteration(frame, false),
            StmtKind::Return(value) => self.leave_function(frame, *value),
            StmtKind::Trap { .. } => self.leave_function(frame, None),
            StmtKind::Print { .. } | StmtKind::Assert { .. } => {}
        }
    }

    fn block(&mut self, frame: &mut Frame<'_>, block: BlockId) -> BlockId {
        self.b.open_block();
        let body = frame.copy.body;
        self.stmts(frame, &body.blocks[block].stmts);
        self.b.close_block()
    }

    fn operation(&mut self, frame: &mut Frame<'_>, value: Value) {
        match frame.copy.body.values[value].op {
            Op::Call { function, args } if self.inline[function.index()] => {
                let args: Vec<Arg> = frame.copy.body.arg_lists[args].to_vec();
                let callee = &self.source.functions[function];
                let params = args.iter().map(|&arg| self.bind(frame, arg)).collect();
                let span = self.b.span();
                let result = self.function(callee, params, true);
                self.b.set_span(span);
                let result = result.unwrap_or_else(|| self.b.tuple(&[]));
                frame.copy.set(value, result);
            }
            _ => _ = frame.copy.operation(&mut self.b, value),
        }
    }

    fn bind(&mut self, frame: &mut Frame<'_>, arg: Arg) -> Binding {
        match frame.copy.arg(&mut self.b, arg) {
            Arg::Place(place) => Binding::Place(place),
            Arg::Value(value) => {
                let ty = self.b.body().type_of(value);
                let array = matches!(self.b.module.types[ty], Shape::Array { .. });
                if array || ty.as_scalar().is_some() {
                    return Binding::Value(value);
                }
                let local = self.b.local("argument", ty);
                let place = self.b.local_place(local);
                self.b.store(place, value);
                Binding::Local(local)
            }
        }
    }

    fn leave_iteration(&mut self, frame: &Frame<'_>, for_good: bool) {
        let Some(&Loop { running, gone }) = frame.loops.last() else { return };
        self.flag(gone, true);
        if let (true, Some(running)) = (for_good, running) {
            self.flag(running, false);
        }
    }

    fn leave_function(&mut self, frame: &Frame<'_>, value: Option<Value>) {
        if let Some(value) = value {
            let value = frame.copy.value(value);
            let ty = self.b.body().type_of(value);
            let tuple = matches!(self.b.module.types[ty], Shape::Tuple(_));
            for (part, &local) in (0..).zip(&frame.results) {
                let part = if tuple { self.b.extract(value, part) } else { value };
                let place = self.b.local_place(local);
                self.b.store(place, part);
            }
        }
        for &Loop { running, gone } in &frame.loops {
            self.flag(gone, true);
            running.into_iter().for_each(|running| self.flag(running, false));
        }
        self.flag(frame.returned, true);
    }

    fn plain_for(&mut self, frame: &mut Frame<'_>, index: Value, range: [Value; 3], body: BlockId) {
        let new = self.index(frame, index);
        let gone = self.b.local("skipped", Type::BOOL);
        frame.loops.push(Loop { running: None, gone });
        self.b.open_block();
        self.flag(gone, false);
        let old: &Body = frame.copy.body;
        self.stmts(frame, &old.blocks[body].stmts);
        let body = self.b.close_block();
        frame.loops.pop();
        self.b.for_block(new, range, body);
    }

    fn index(&mut self, frame: &mut Frame<'_>, index: Value) -> Value {
        let data = frame.copy.body.values[index];
        let name = data.name.map_or("i", |name| self.source.text(name));
        let new = self.b.loop_index(data.ty, name);
        frame.copy.set(index, new);
        new
    }

    /// Copies a `For` that may be left as a `While` that counts its iterations.
    fn leaving_for(
        &mut self,
        frame: &mut Frame<'_>,
        index: Value,
        range: [Value; 3],
        body: BlockId,
    ) {
        let trips = trip_count::count(&mut self.b, range);
        let counter = self.b.local("count", Type::I64);
        let place = self.b.local_place(counter);
        let zero = self.b.number(Type::I64, 0.0);
        self.b.store(place, zero);
        self.running(frame, |this, frame| {
            let count = this.b.load(place);
            let more = this.b.lt(count, trips);
            this.b.open_block();
            let one = this.b.number(Type::I64, 1.0);
            let next = this.b.add(count, one);
            this.b.store(place, next);
            let [start, _, step] = range;
            let new = trip_count::index(&mut this.b, start, step, count);
            frame.copy.set(index, new);
            let old: &Body = frame.copy.body;
            this.stmts(frame, &old.blocks[body].stmts);
            (more, this.b.close_block())
        });
    }

    fn while_loop(
        &mut self,
        frame: &mut Frame<'_>,
        header: BlockId,
        condition: Value,
        body: BlockId,
    ) {
        self.running(frame, |this, frame| {
            let old: &Body = frame.copy.body;
            this.stmts(frame, &old.blocks[header].stmts);
            let more = frame.copy.value(condition);
            (more, this.block(frame, body))
        });
    }

    /// Writes `running = True; while running: .. if more: <body> else: running = False`.
    fn running<'a>(
        &mut self,
        frame: &mut Frame<'a>,
        fill: impl FnOnce(&mut Self, &mut Frame<'a>) -> (Value, BlockId),
    ) {
        let running = self.b.local("running", Type::BOOL);
        let gone = self.b.local("skipped", Type::BOOL);
        self.flag(running, true);
        frame.loops.push(Loop { running: Some(running), gone });
        self.b.open_block();
        self.flag(gone, false);
        let (more, accept) = fill(self, frame);
        let reject = self.b.block(|b| {
            let (place, no) = (b.local_place(running), b.bool(false));
            b.store(place, no);
        });
        self.b.if_blocks(more, accept, reject);
        let body = self.b.close_block();
        frame.loops.pop();
        self.b.open_block();
        let place = self.b.local_place(running);
        let goes_on = self.b.load(place);
        let header = self.b.close_block();
        self.b.while_blocks(header, goes_on, body);
    }
}
