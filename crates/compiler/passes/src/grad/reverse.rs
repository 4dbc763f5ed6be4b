//! Writes the reverse of a body in normal form, block by block.
//!
//! The reverse of a block first runs the block again as far as the reverse needs its numbers, then
//! goes backwards through its statements. Before a statement with blocks is run forward, the
//! variables that its reverse reads are saved, so that its reverse begins in the state in which the
//! statement began.

use super::activity::Activity;
use super::adjoint::{Adjoints, OptionalName};
use super::copy::{Binding, Copy};
use super::loop_reverse::ReversedLoop;
use super::need::{Need, NeedAnalysis};
use super::scan::{Definitions, Scan};
use super::signature;
use gbxcule_ir::build::Builder;
use gbxcule_ir::function::{Function, FunctionId, FunctionKind, LocalId, PassMode};
use gbxcule_ir::op::{Arg, Op, Value};
use gbxcule_ir::place::PlaceId;
use gbxcule_ir::stmt::{BlockId, Case, StmtKind};
use gbxcule_ir::ty::Type;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::rc::Rc;

/// State that all reverse functions of a module share.
#[derive(Debug, Default)]
pub(super) struct Shared {
    /// The reverse of each function that has one.
    pub(super) reverses: FxHashMap<FunctionId, FunctionId>,
    /// Function of [`super::checkpoint`] that returns the distance to the next checkpoint.
    pub(super) distance: Option<FunctionId>,
    /// Functions of [`super::rule`] that multiply or divide an adjoint by a factor. The key says
    /// whether the function divides, and its type.
    pub(super) chains: FxHashMap<(bool, Type), FunctionId>,
    /// Functions of the source whose calls may be dropped.
    pub(super) droppable: Vec<bool>,
}

/// Writes the reverse of one body.
pub(super) struct Reverser<'a, 'm> {
    pub(super) b: Builder<'m>,
    pub(super) copy: Copy<'a>,
    pub(super) scan: &'a Scan<'a>,
    pub(super) finder: NeedAnalysis<'a>,
    /// Needs of the body, or of the loop whose iterations are being reversed.
    pub(super) need: Rc<Need>,
    pub(super) adjoints: Adjoints,
    pub(super) shared: &'a mut Shared,
    pub(super) program: Definitions<'a>,
    /// Function that is reversed.
    pub(super) function: &'a Function,
    /// Adjoints of the results.
    pub(super) results: Vec<Option<Value>>,
}

/// Values that the forward part of a statement saves for its reverse.
#[derive(Debug, Default)]
pub(super) struct SavedValues {
    /// Array handle through which memory is read or written.
    pub(super) handle: Option<Value>,
    /// Values of the places passed to a call, from before the call, if the call's reverse uses
    /// them.
    pub(super) entries: Vec<Option<Value>>,
    /// Variables, and their values from before the statement.
    state: Vec<(LocalId, Value)>,
    /// Number of rounds of a `While`.
    count: Option<Value>,
}

/// Analyses of a body, done before its reverse is written.
pub(super) struct Plan<'a> {
    pub(super) scan: &'a Scan<'a>,
    pub(super) activity: &'a Activity,
    pub(super) need: Rc<Need>,
    pub(super) program: Definitions<'a>,
}

impl<'a, 'm> Reverser<'a, 'm> {
    pub(super) fn new(
        plan: Plan<'a>,
        b: Builder<'m>,
        function: &'a Function,
        shared: &'a mut Shared,
    ) -> Self {
        let bindings = (0..function.params.len() as u32).map(Binding::Own).collect();
        let Plan { scan, activity, need, program } = plan;
        Self {
            b,
            copy: Copy::new(scan.body, bindings),
            scan,
            finder: NeedAnalysis { module: program, scan, activity },
            need,
            adjoints: Adjoints::new(scan, activity),
            shared,
            program,
            function,
            results: Vec::new(),
        }
    }

    /// Writes the whole reverse; returns the variables that hold adjoints.
    pub(super) fn run(mut self) -> FxHashSet<LocalId> {
        let callable = self.function.kind == FunctionKind::Callable;
        if callable {
            self.begin();
        }
        self.block(self.scan.body.root);
        if callable {
            self.end();
        }
        self.b.finish();
        self.adjoints.all().collect()
    }

    pub(super) fn name(&self, value: Value) -> Option<String> {
        self.scan.body.values[value].name.map(|name| self.b.module.text(name).to_owned())
    }

    /// Adds to the adjoint of a value of the body being reversed.
    pub(super) fn add(&mut self, value: Value, amount: Value) {
        let name = self.name(value);
        self.adjoints.add(&mut self.b, value, OptionalName(name.as_deref()), amount);
    }

    /// Returns the place of the adjoint of a variable's or parameter's part.
    pub(super) fn adjoint_place(&mut self, place: PlaceId) -> PlaceId {
        use gbxcule_ir::place::Root;
        let body = self.scan.body;
        let adjoint = match body.places[place].root {
            Root::Local(local) => {
                let data = &body.locals[local];
                self.adjoints.local(&mut self.b, local, &data.name, data.ty)
            }
            Root::Param(position) => {
                let param = &self.function.params[position as usize];
                self.adjoints.param(&mut self.b, position, &param.name, param.ty)
            }
            Root::Table(_) | Root::Array(_) => unreachable!("tables and memory have no adjoint"),
        };
        self.copy.path(&mut self.b, adjoint, place, 0..body.path(place).len())
    }

    /// Writes the reverse of a block into the open block.
    pub(super) fn block(&mut self, block: BlockId) {
        let stmts = &self.scan.body.blocks[block].stmts;
        let reads: Vec<BTreeSet<LocalId>> =
            stmts.iter().map(|stmt| self.need.reads(&self.finder, &stmt.kind)).collect();
        let writes: Vec<BTreeSet<LocalId>> =
            stmts.iter().map(|stmt| self.need.writes(&self.finder, &stmt.kind)).collect();
        let mut saved = Vec::with_capacity(stmts.len());
        let mut later = suffixes(&reads);
        let changed = suffixes(&writes);
        for (position, stmt) in stmts.iter().enumerate() {
            self.b.set_span(stmt.span);
            let wanted = std::mem::take(&mut later[position + 1]);
            let mut keep = SavedValues::default();
            if self.reverses_inside(&stmt.kind) {
                let inside = match stmt.kind {
                    StmtKind::For { body, .. } => Some(Need::inside(self.finder, body).entry(body)),
                    _ => None,
                };
                let entry = inside.as_ref().unwrap_or(&reads[position]);
                for &local in entry.intersection(&changed[position]) {
                    let new = self.copy.local(&mut self.b, local);
                    let place = self.b.local_place(new);
                    keep.state.push((new, self.b.load(place)));
                }
            }
            let used = !writes[position].is_disjoint(&wanted);
            self.forward(&stmt.kind, used, &mut keep);
            saved.push(keep);
        }
        for (stmt, keep) in stmts.iter().zip(&saved).rev() {
            self.b.set_span(stmt.span);
            for &(local, value) in &keep.state {
                let place = self.b.local_place(local);
                self.b.store(place, value);
            }
            if self.reverses_inside(&stmt.kind) {
                self.compound(&stmt.kind, keep);
            } else if self.finder.is_reversed(&stmt.kind) {
                self.simple(&stmt.kind, keep);
            }
        }
    }

    fn reverses_inside(&self, stmt: &StmtKind) -> bool {
        let mut inside = false;
        gbxcule_ir::walk::stmt_blocks(stmt, |block| inside |= self.need.reversed(block));
        inside
    }

    /// Runs one statement forward as far as the reverse of its block needs its numbers. `used` is
    /// true if a later statement reads what this statement writes.
    fn forward(&mut self, stmt: &StmtKind, used: bool, keep: &mut SavedValues) {
        let reversed = self.finder.is_reversed(stmt);
        match *stmt {
            StmtKind::Let(value) => {
                if reversed {
                    self.keep_operands(value, keep);
                }
                if self.need.value(value) {
                    self.copy.operation(&mut self.b, value);
                }
            }
            StmtKind::Store { place, value } => {
                if reversed {
                    keep.handle = self.handle(place);
                }
                if used && self.scan.local_of(place).is_some_and(|l| self.need.local(l)) {
                    let place = self.copy.place(&mut self.b, place);
                    self.b.store(place, self.copy.value(value));
                }
            }
            StmtKind::While { .. } if used && self.reverses_inside(stmt) => {
                let counter = self.counter();
                self.advance_stmt(stmt, Some(counter));
                keep.count = Some(self.b.load(counter));
            }
            _ if used => self.advance_stmt(stmt, None),
            _ => {}
        }
    }

    fn keep_operands(&mut self, value: Value, keep: &mut SavedValues) {
        let body = self.scan.body;
        match body.values[value].op {
            Op::Load(place) | Op::Atomic { place, .. } => keep.handle = self.handle(place),
            Op::Call { function, args } => {
                let args = &body.arg_lists[args];
                for (arg, used) in args.iter().zip(self.finder.args_for_reverse(function, args)) {
                    keep.entries.push(match *arg {
                        Arg::Place(place) if used => {
                            let place = self.copy.place(&mut self.b, place);
                            Some(self.b.load(place))
                        }
                        Arg::Value(_) | Arg::Place(_) => None,
                    });
                }
            }
            _ => {}
        }
    }

    /// Returns the array handle through which a place in memory is reached.
    fn handle(&mut self, place: PlaceId) -> Option<Value> {
        use gbxcule_ir::place::Root;
        let steps = self.scan.handle_steps(place)?;
        Some(match self.scan.body.places[place].root {
            Root::Array(value) if steps == 0 => self.copy.value(value),
            _ => {
                let place = self.copy.place_up_to(&mut self.b, place, steps);
                self.b.load(place)
            }
        })
    }

    /// Declares a counter that begins at 0.
    pub(super) fn counter(&mut self) -> PlaceId {
        let local = self.b.local("trips", Type::I64);
        let (place, zero) = (self.b.local_place(local), self.b.number(Type::I64, 0.0));
        self.b.store(place, zero);
        place
    }

    /// Runs a block forward, as far as needed variables depend on it, into the open block.
    pub(super) fn advance(&mut self, block: BlockId) {
        for stmt in &self.scan.body.blocks[block].stmts {
            self.b.set_span(stmt.span);
            match stmt.kind {
                StmtKind::Let(value) if self.need.carried(value) => {
                    self.copy.operation(&mut self.b, value);
                }
                StmtKind::Store { place, value }
                    if self.scan.local_of(place).is_some_and(|l| self.need.local(l)) =>
                {
                    let place = self.copy.place(&mut self.b, place);
                    self.b.store(place, self.copy.value(value));
                }
                _ if !self.need.writes(&self.finder, &stmt.kind).is_empty() => {
                    self.advance_stmt(&stmt.kind, None);
                }
                _ => {}
            }
        }
    }

    /// Runs a statement with blocks forward. A `While` counts its rounds in `counter`, if a
    /// counter is given.
    pub(super) fn advance_stmt(&mut self, stmt: &StmtKind, counter: Option<PlaceId>) {
        match stmt {
            StmtKind::If { .. } | StmtKind::Switch { .. } => self.branch(stmt, Self::advanced),
            StmtKind::For { index, start, end, step, body } => {
                let range = [*start, *end, *step].map(|value| self.copy.value(value));
                let new = self.b.loop_index(self.scan.body.type_of(*index), "i");
                self.copy.set(*index, new);
                let body = self.advanced(*body);
                self.b.for_block(new, range, body);
            }
            StmtKind::While { header, condition, body } => {
                self.b.open_block();
                self.advance(*header);
                let goes_on = self.copy.value(*condition);
                let header = self.b.close_block();
                self.b.open_block();
                self.advance(*body);
                if let Some(counter) = counter {
                    let (old, one) = (self.b.load(counter), self.b.number(Type::I64, 1.0));
                    let new = self.b.add(old, one);
                    self.b.store(counter, new);
                }
                let body = self.b.close_block();
                self.b.while_blocks(header, goes_on, body);
            }
            _ => {}
        }
    }

    /// Writes the branch of a statement, with `arm` applied to each of its blocks.
    fn branch(&mut self, stmt: &StmtKind, arm: fn(&mut Self, BlockId) -> BlockId) {
        match stmt {
            StmtKind::If { condition, accept, reject } => {
                let (condition, span) = (self.copy.value(*condition), self.b.span());
                let blocks = [*accept, *reject].map(|block| arm(self, block));
                self.b.set_span(span);
                self.b.if_blocks(condition, blocks[0], blocks[1]);
            }
            StmtKind::Switch { selector, cases, default } => {
                let selector = self.copy.value(*selector);
                let cases = cases
                    .iter()
                    .map(|case| Case { labels: case.labels.clone(), body: arm(self, case.body) });
                let cases = cases.collect();
                let default = arm(self, *default);
                self.b.switch(selector, cases, default);
            }
            _ => {}
        }
    }

    fn advanced(&mut self, block: BlockId) -> BlockId {
        self.b.open_block();
        self.advance(block);
        self.b.close_block()
    }

    fn reversed(&mut self, block: BlockId) -> BlockId {
        self.b.open_block();
        if self.need.reversed(block) {
            self.block(block);
        }
        self.b.close_block()
    }

    /// Writes the reverse of a statement with blocks.
    fn compound(&mut self, stmt: &StmtKind, keep: &SavedValues) {
        match stmt {
            StmtKind::If { .. } | StmtKind::Switch { .. } => self.branch(stmt, Self::reversed),
            StmtKind::For { index, start, end, step, body } => {
                let range = [*start, *end, *step].map(|value| self.copy.value(value));
                let reversed = ReversedLoop::of_for(*body, *index, range);
                self.reverse_loop(&reversed, stmt, None);
            }
            StmtKind::While { body, .. } => {
                self.reverse_loop(&ReversedLoop::of_while(*body), stmt, keep.count);
            }
            _ => {}
        }
    }

    /// Stores the adjoints of results and of written parameters, which the caller passes.
    fn begin(&mut self) {
        let mut next = self.function.params.len() as u32;
        for (position, param) in (0..).zip(&self.function.params) {
            if param.mode == PassMode::Mutable && self.program.types.has_float(param.ty) {
                let value = self.b.arg(next);
                let place = self.adjoints.param(&mut self.b, position, &param.name, param.ty);
                self.b.store(place, value);
                next += 1;
            }
        }
        for ty in signature::results(self.b.module, self.function.result) {
            let float = self.program.types.has_float(ty);
            self.results.push(float.then(|| self.b.arg(next)));
            next += u32::from(float);
        }
    }

    /// Returns the adjoints of the parameters, in order.
    fn end(&mut self) {
        let mut parts = Vec::new();
        for (position, param) in (0..).zip(&self.function.params) {
            if self.program.types.has_float(param.ty) {
                let place = self.adjoints.param(&mut self.b, position, &param.name, param.ty);
                parts.push(self.b.load(place));
            }
        }
        let result = match parts[..] {
            [single] => single,
            _ => self.b.tuple(&parts),
        };
        self.b.ret(Some(result));
    }
}

/// Returns, for each position, the union of the sets from there to the end, and a last, empty set.
fn suffixes(sets: &[BTreeSet<LocalId>]) -> Vec<BTreeSet<LocalId>> {
    let mut all = vec![BTreeSet::new()];
    for set in sets.iter().rev() {
        let mut union = all.last().cloned().unwrap_or_default();
        union.extend(set);
        all.push(union);
    }
    all.reverse();
    all
}
