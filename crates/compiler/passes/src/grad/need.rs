//! Finds the numbers of the forward pass that the reverse pass must know, and the blocks that have
//! a reverse.
//!
//! *Needed* values are those whose numbers the reverse pass uses (operands of products, conditions,
//! indices), and the values from which those are computed. *Carried* values are the needed ones
//! from which needed variables are computed: the code that must run to get from one iteration to
//! the next.
//!
//! Each loop has its own needs ([`Need::inside`]): a variable that only statements behind the
//! loop read is not part of the state of an iteration. So a sum whose total is used later has no
//! state.

use super::activity::{Activity, is_smooth};
use super::scan::{Definitions, Scan, StmtSite};
use gbxcule_ir::function::{Body, FunctionId, LocalId, PassMode};
use gbxcule_ir::op::{Arg, AtomicOp, BinaryOp, Op, Value};
use gbxcule_ir::place::{PlaceId, Root};
use gbxcule_ir::stmt::{BlockId, StmtKind};
use gbxcule_ir::walk::{Use, op_uses, place_values, stmt_blocks};
use std::collections::BTreeSet;

/// The numbers that a reverse uses.
#[derive(Debug)]
pub(super) struct Need {
    values: Vec<bool>,
    carried: Vec<bool>,
    locals: Vec<bool>,
    /// True for each block that holds statements with a reverse.
    reversed: Vec<bool>,
    /// Needed variables that a block reads.
    reads: Vec<BTreeSet<LocalId>>,
    /// Needed variables that a block writes.
    writes: Vec<BTreeSet<LocalId>>,
}

impl Need {
    pub(super) fn value(&self, value: Value) -> bool {
        self.values[value.index()]
    }

    pub(super) fn carried(&self, value: Value) -> bool {
        self.carried[value.index()]
    }

    pub(super) fn local(&self, local: LocalId) -> bool {
        self.locals[local.index()]
    }

    pub(super) fn reversed(&self, block: BlockId) -> bool {
        self.reversed[block.index()]
    }

    pub(super) fn block_reads(&self, block: BlockId) -> &BTreeSet<LocalId> {
        &self.reads[block.index()]
    }

    pub(super) fn block_writes(&self, block: BlockId) -> &BTreeSet<LocalId> {
        &self.writes[block.index()]
    }

    /// The numbers that the reverse of a body uses.
    pub(super) fn new(module: Definitions<'_>, scan: &Scan<'_>, activity: &Activity) -> Self {
        Self::of(NeedAnalysis { module, scan, activity }, &scan.stmts)
    }

    /// The numbers that the reverse of a block uses, without the numbers of values from outside.
    pub(super) fn inside(finder: NeedAnalysis<'_>, block: BlockId) -> Self {
        let is_inside = |at: &&StmtSite<'_>| {
            let mut around = Some(at.block);
            while around.is_some_and(|it| it != block) {
                around = around.and_then(|it| finder.scan.owner(it)).map(|owner| owner.block);
            }
            around.is_some()
        };
        let stmts: Vec<StmtSite<'_>> =
            finder.scan.stmts.iter().filter(is_inside).copied().collect();
        Self::of(finder, &stmts)
    }

    /// The numbers that the reverses of some statements use.
    fn of(finder: NeedAnalysis<'_>, stmts: &[StmtSite<'_>]) -> Self {
        let body = finder.body();
        let blocks = body.blocks.len();
        let mut need = Self {
            values: vec![false; body.values.len()],
            carried: vec![false; body.values.len()],
            locals: vec![false; body.locals.len()],
            reversed: vec![false; blocks],
            reads: vec![BTreeSet::new(); blocks],
            writes: vec![BTreeSet::new(); blocks],
        };
        finder.add_direct_uses(&mut need, stmts);
        finder.close(&mut need, stmts, true);
        finder.close(&mut need, stmts, false);
        finder.collect_sets(&mut need, stmts);
        need
    }

    /// The needed variables that a block reads.
    pub(super) fn entry(mut self, block: BlockId) -> BTreeSet<LocalId> {
        std::mem::take(&mut self.reads[block.index()])
    }

    /// Returns the needed variables that a statement, or one in its blocks, reads.
    pub(super) fn reads(&self, finder: &NeedAnalysis<'_>, stmt: &StmtKind) -> BTreeSet<LocalId> {
        let mut locals = BTreeSet::new();
        finder.own_reads(self, stmt, &mut locals);
        stmt_blocks(stmt, |block| locals.extend(&self.reads[block.index()]));
        locals
    }

    /// Returns the needed variables that a statement, or one in its blocks, writes.
    pub(super) fn writes(&self, finder: &NeedAnalysis<'_>, stmt: &StmtKind) -> BTreeSet<LocalId> {
        let mut locals: BTreeSet<LocalId> =
            finder.own_writes(stmt).into_iter().filter(|&local| self.local(local)).collect();
        stmt_blocks(stmt, |block| locals.extend(&self.writes[block.index()]));
        locals
    }
}

/// Answers questions about statements.
#[derive(Clone, Copy, Debug)]
pub(super) struct NeedAnalysis<'a> {
    pub(super) module: Definitions<'a>,
    pub(super) scan: &'a Scan<'a>,
    pub(super) activity: &'a Activity,
}

impl NeedAnalysis<'_> {
    fn body(&self) -> &Body {
        self.scan.body
    }

    /// Returns true if a statement itself, without its blocks, has a reverse.
    pub(super) fn is_reversed(&self, stmt: &StmtKind) -> bool {
        let float = |place: PlaceId| self.module.types.has_float(self.body().places[place].ty);
        match *stmt {
            StmtKind::Let(value) => match self.body().values[value].op {
                Op::Call { .. } => self.is_active_call(value),
                Op::Atomic { place, .. } => float(place),
                _ => self.activity.value(value),
            },
            StmtKind::Store { place, .. } => {
                float(place)
                    && self.scan.local_of(place).is_none_or(|local| self.activity.local(local))
            }
            StmtKind::Return(Some(value)) => {
                self.module.types.has_float(self.body().type_of(value))
            }
            _ => false,
        }
    }

    /// Returns true if derivatives flow through a call.
    fn is_active_call(&self, value: Value) -> bool {
        if self.activity.value(value) {
            return true;
        }
        self.mutated(value).iter().any(|&place| {
            let float = self.module.types.has_float(self.body().places[place].ty);
            float && self.scan.local_of(place).is_none_or(|local| self.activity.local(local))
        })
    }

    /// Returns, for each argument of a call, true if the call's reverse uses its value for a
    /// wanted adjoint.
    pub(super) fn args_for_reverse(&self, function: FunctionId, args: &[Arg]) -> Vec<bool> {
        let Some(reverse) = self.module.reverses.get(&function) else {
            return vec![false; args.len()];
        };
        let params = self.module.functions[function].params.iter();
        let floats = args.iter().zip(params).filter(|(_, p)| self.module.types.has_float(p.ty));
        let is_active = |arg: &Arg| match *arg {
            Arg::Value(value) => self.activity.value(value),
            Arg::Place(place) => self.scan.local_of(place).is_none_or(|l| self.activity.local(l)),
        };
        let floats = floats.map(|(arg, _)| is_active(arg)).enumerate();
        let wanted: Vec<usize> = floats.filter(|&(_, active)| active).map(|(at, _)| at).collect();
        let uses = |position| {
            reverse.of_all(position)
                || wanted.iter().any(|&result| reverse.of_result(result, position))
        };
        (0..args.len()).map(uses).collect()
    }

    /// Returns the places that a call may write.
    fn mutated(&self, value: Value) -> Vec<PlaceId> {
        let Op::Call { function, args } = self.body().values[value].op else { return Vec::new() };
        let params = &self.module.functions[function].params;
        let args = self.body().arg_lists[args].iter().zip(params);
        args.filter_map(|(arg, param)| match *arg {
            Arg::Place(place) if param.mode == PassMode::Mutable => Some(place),
            _ => None,
        })
        .collect()
    }

    fn own_writes(&self, stmt: &StmtKind) -> Vec<LocalId> {
        match *stmt {
            StmtKind::Store { place, .. } => self.scan.local_of(place).into_iter().collect(),
            StmtKind::Let(value) => {
                self.mutated(value).into_iter().filter_map(|p| self.scan.local_of(p)).collect()
            }
            _ => Vec::new(),
        }
    }

    fn own_reads(&self, need: &Need, stmt: &StmtKind, locals: &mut BTreeSet<LocalId>) {
        let mut read = |place: PlaceId| match self.body().places[place].root {
            Root::Local(local) if need.local(local) => _ = locals.insert(local),
            _ => {}
        };
        match *stmt {
            StmtKind::Let(value) => {
                let (needed, reversed) = (need.value(value), self.is_reversed(stmt));
                let op = &self.body().values[value].op;
                // A load that has a reverse but isn't needed uses its place, not its number. Of
                // the variables on the path, it reads only the variable of a handle.
                let asks = |place| match op {
                    Op::Load(_) if !needed => reversed && self.scan.is_memory(place),
                    _ => needed || reversed,
                };
                let mut visit = |used| {
                    if let Use::Read(place) | Use::Change(place) | Use::Expose(place) = used
                        && asks(place)
                    {
                        read(place);
                    }
                };
                op_uses(self.body(), op, |_| false, &mut visit);
            }
            // The store reads the handle on its path. A store to a part of a variable keeps the
            // other parts.
            StmtKind::Store { place, .. } => {
                let part = !self.body().path(place).is_empty();
                if part {
                    read(place);
                }
            }
            _ => {}
        }
    }

    /// Adds the values that the reverses of statements use.
    fn add_direct_uses(&self, need: &mut Need, stmts: &[StmtSite<'_>]) {
        for at in stmts {
            if !self.is_reversed(&at.stmt.kind) {
                continue;
            }
            self.reversal_uses(need, &at.stmt.kind);
            let mut block = Some(at.block);
            while let Some(inner) = block {
                if std::mem::replace(&mut need.reversed[inner.index()], true) {
                    break;
                }
                block = self.scan.owner(inner).map(|owner| {
                    for decider in Scan::deciders(&owner.stmt.kind) {
                        need.values[decider.index()] = true;
                    }
                    owner.block
                });
            }
        }
    }

    fn reversal_uses(&self, need: &mut Need, stmt: &StmtKind) {
        match *stmt {
            StmtKind::Store { place, .. } => self.place_needed(need, place),
            StmtKind::Let(value) => self.partials_use(need, value),
            _ => {}
        }
    }

    fn place_needed(&self, need: &mut Need, place: PlaceId) {
        place_values(self.body(), place, |value| need.values[value.index()] = true);
        if let Some(local) = self.scan.handle_local(place) {
            need.locals[local.index()] = true;
        }
    }

    /// Adds the operands whose numbers the derivative of an operation uses.
    fn partials_use(&self, need: &mut Need, value: Value) {
        let active = |value: Value| self.activity.value(value);
        let mut set = |value: Value| need.values[value.index()] = true;
        match self.body().values[value].op {
            Op::Binary(BinaryOp::Multiply, left, right) => {
                if active(left) {
                    set(right);
                }
                if active(right) {
                    set(left);
                }
            }
            Op::Binary(BinaryOp::Divide, _, right) => {
                set(right);
                if active(right) {
                    set(value);
                }
            }
            Op::Binary(BinaryOp::Remainder, left, right) if active(right) => {
                set(value);
                set(left);
                set(right);
            }
            Op::Select { condition, .. } => set(condition),
            Op::Native { native, args } if is_smooth(native) => {
                set(value);
                self.body().value_lists[args].iter().for_each(|&arg| set(arg));
            }
            Op::Load(place) => self.place_needed(need, place),
            Op::Atomic { op, place, value, .. } => {
                if matches!(op, AtomicOp::Min | AtomicOp::Max) {
                    set(value);
                }
                self.place_needed(need, place);
            }
            Op::Call { function, args } => {
                let args = &self.body().arg_lists[args];
                for (arg, wanted) in args.iter().zip(self.args_for_reverse(function, args)) {
                    match *arg {
                        Arg::Value(value) => need.values[value.index()] |= wanted,
                        Arg::Place(place) => {
                            self.place_needed(need, place);
                            if let (Some(local), true) = (self.scan.local_of(place), wanted) {
                                need.locals[local.index()] = true;
                            }
                        }
                    }
                }
            }
            _ => {}
        }
    }

    /// Adds the values from which needed values are computed. Without `all` it adds only the
    /// values from which needed variables are computed.
    fn close(&self, need: &mut Need, stmts: &[StmtSite<'_>], all: bool) {
        loop {
            let mut changed = false;
            for at in stmts.iter().rev() {
                changed |= self.close_stmt(need, at, all);
            }
            if !changed {
                return;
            }
        }
    }

    fn close_stmt(&self, need: &mut Need, site: &StmtSite<'_>, all: bool) -> bool {
        let mut wanted = Vec::new();
        let mut locals = Vec::new();
        let body = self.body();
        let marked =
            |need: &Need, value: Value| if all { need.value(value) } else { need.carried(value) };
        match site.stmt.kind {
            StmtKind::Store { place, value }
                if self.scan.local_of(place).is_some_and(|local| need.local(local)) =>
            {
                wanted.push(value);
                place_values(body, place, |value| wanted.push(value));
                wanted.extend(self.controls(site.block));
            }
            StmtKind::Let(value) => {
                let changes = self.own_writes(&site.stmt.kind).iter().any(|&l| need.local(l));
                if changes {
                    wanted.push(value);
                    wanted.extend(self.controls(site.block));
                }
                if changes || marked(need, value) {
                    op_uses(
                        body,
                        &body.values[value].op,
                        |_| false,
                        |used| match used {
                            Use::Value(value) => wanted.push(value),
                            Use::Read(place)
                            | Use::Write(place)
                            | Use::Change(place)
                            | Use::Expose(place) => {
                                place_values(body, place, |value| wanted.push(value));
                                if let Root::Local(local) = body.places[place].root {
                                    locals.push(local);
                                }
                            }
                        },
                    );
                }
            }
            _ => {}
        }
        let mut changed = false;
        for local in locals {
            changed |= !std::mem::replace(&mut need.locals[local.index()], true);
        }
        let marks = if all { &mut need.values } else { &mut need.carried };
        for value in wanted {
            changed |= !std::mem::replace(&mut marks[value.index()], true);
        }
        changed
    }

    /// Returns all values that decide if and how often a block runs.
    fn controls(&self, block: BlockId) -> Vec<Value> {
        let mut values = Vec::new();
        let mut owner = self.scan.owner(block);
        while let Some(site) = owner {
            values.extend(Scan::deciders(&site.stmt.kind));
            owner = self.scan.owner(site.block);
        }
        values
    }

    /// Collects the variables that blocks read and write, the blocks inside them included.
    fn collect_sets(&self, need: &mut Need, stmts: &[StmtSite<'_>]) {
        for at in stmts.iter().rev() {
            let (mut reads, mut writes) = (BTreeSet::new(), BTreeSet::new());
            self.own_reads(need, &at.stmt.kind, &mut reads);
            writes.extend(self.own_writes(&at.stmt.kind).into_iter().filter(|&l| need.local(l)));
            stmt_blocks(&at.stmt.kind, |inner| {
                reads.extend(&need.reads[inner.index()]);
                writes.extend(&need.writes[inner.index()]);
            });
            need.reads[at.block.index()].extend(reads);
            need.writes[at.block.index()].extend(writes);
        }
    }
}
