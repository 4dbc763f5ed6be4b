//! Finds kernels whose control flow is the same for all threads, or whose threads can begin again
//! where it differs.
//!
//! A value *varies* if it may differ from thread to thread: it comes from a launch index, from
//! array memory, or from another value that varies. If no condition varies, threads can be lowered
//! side by side. They also can if conditions vary only outside of loops and before anything is
//! written: a group whose threads differ there begins again, one by one.

use gbxcule_ir::check::Valid;
use gbxcule_ir::walk::{Use, any_stmt, place_values, stmt_uses, walk_stmts};
use gbxcule_ir::{
    BlockId, Body, FunctionId, Module, Op, PlaceId, Projection, Root, StmtKind, Value,
};

/// Finds the conditions in which threads of a kernel may differ; `None` if control flow may differ
/// at other places, functions lowered in place included.
pub(super) fn split(
    module: &Valid<Module>,
    inline: &impl Fn(FunctionId) -> bool,
    kernel: FunctionId,
) -> Option<Vec<Value>> {
    let mut split = Vec::new();
    let mut todo = vec![(kernel, false)];
    let mut seen = vec![false; module.functions.len()];
    while let Some((id, params_vary)) = todo.pop() {
        let body = &module.functions[id].body;
        let mut flow = Varying {
            module,
            body,
            params: params_vary,
            values: vec![false; body.values.len()],
            locals: vec![false; body.locals.len()],
            changed: true,
        };
        while std::mem::take(&mut flow.changed) {
            walk_stmts(body, body.root, |stmt| flow.stmt(&stmt.kind));
        }
        if id == kernel {
            split = flow.early_conditions();
        }
        if !flow.conditions_agree(if id == kernel { &split } else { &[] }) {
            return None;
        }
        for (_, data) in body.values.iter() {
            if let Op::Call { function, .. } = data.op
                && inline(function)
                && !std::mem::replace(&mut seen[function.index()], true)
            {
                todo.push((function, true));
            }
        }
    }
    Some(split)
}

/// Returns true if a block may write memory that outlives a thread, or print.
pub(super) fn may_write(module: &Valid<Module>, body: &Body, block: BlockId) -> bool {
    any_stmt(body, block, |stmt| writes(module, body, &stmt.kind))
}

/// Returns true if a statement itself may write memory that outlives a thread, or print.
pub(super) fn writes(module: &Valid<Module>, body: &Body, stmt: &StmtKind) -> bool {
    match *stmt {
        StmtKind::Store { place, .. } => {
            let element = |step: &Projection| matches!(step, Projection::Element(_));
            !matches!(body.places[place].root, Root::Local(_))
                || body.path(place).iter().any(element)
        }
        StmtKind::Let(value) => match body.values[value].op {
            Op::Atomic { .. } => true,
            Op::Call { function, .. } => !module.facts(function).effects.is_pure(),
            _ => false,
        },
        StmtKind::Print { .. } => true,
        _ => false,
    }
}

struct Varying<'a> {
    module: &'a Valid<Module>,
    body: &'a Body,
    params: bool,
    values: Vec<bool>,
    locals: Vec<bool>,
    changed: bool,
}

impl Varying<'_> {
    fn stmt(&mut self, stmt: &StmtKind) {
        let mut varies = false;
        let mut written = Vec::new();
        stmt_uses(
            self.body,
            stmt,
            |_| true,
            |used| match used {
                Use::Value(value) => varies |= self.values[value.index()],
                Use::Read(place) => varies |= self.place(place),
                Use::Write(place) => written.push(place),
                Use::Change(place) | Use::Expose(place) => {
                    varies |= self.place(place);
                    written.push(place);
                }
            },
        );
        match *stmt {
            StmtKind::Let(value) => {
                let op = self.body.values[value].op;
                // Values from array memory count as varying, and so do results of functions that
                // depend on more than their arguments.
                let asks = match op {
                    Op::LaunchIndex(_) | Op::Atomic { .. } => true,
                    Op::Call { function, .. } => {
                        let facts = self.module.facts(function);
                        !facts.effects.is_pure() || facts.launch_dims > 0
                    }
                    _ => false,
                };
                varies |= asks;
                self.note_value(value, varies);
                if asks || matches!(op, Op::AsArray(_)) {
                    written.into_iter().for_each(|place| self.note_place(place, true));
                }
            }
            StmtKind::For { index, .. } => self.note_value(index, varies),
            StmtKind::Store { .. } => {
                written.into_iter().for_each(|place| {
                    let varies = varies || self.indices(place);
                    self.note_place(place, varies);
                });
            }
            _ => {}
        }
    }

    fn note_value(&mut self, value: Value, varies: bool) {
        self.changed |= varies && !self.values[value.index()];
        self.values[value.index()] |= varies;
    }

    fn note_place(&mut self, place: PlaceId, varies: bool) {
        if let Root::Local(local) = self.body.places[place].root {
            self.changed |= varies && !self.locals[local.index()];
            self.locals[local.index()] |= varies;
        }
    }

    /// Returns true if the content of a place varies.
    fn place(&self, place: PlaceId) -> bool {
        let memory = |step: &Projection| matches!(step, Projection::Element(_));
        let root = match self.body.places[place].root {
            Root::Local(local) => self.locals[local.index()],
            Root::Param(_) => self.params,
            Root::Table(_) => false,
            Root::Array(value) => self.values[value.index()],
        };
        root || self.indices(place) || self.body.path(place).iter().any(memory)
    }

    fn indices(&self, place: PlaceId) -> bool {
        let mut varies = false;
        place_values(self.body, place, |value| varies |= self.values[value.index()]);
        varies
    }

    /// Returns the varying conditions that stand outside of loops and before any write.
    fn early_conditions(&self) -> Vec<Value> {
        let (mut early, mut todo) = (Vec::new(), vec![self.body.root]);
        while let Some(block) = todo.pop() {
            for stmt in &self.body.blocks[block].stmts {
                match stmt.kind {
                    StmtKind::If { condition, accept, reject } => {
                        if self.values[condition.index()] {
                            early.push(condition);
                        }
                        todo.extend([accept, reject]);
                        // Only threads that wrote nothing may reach the statements after this one.
                        if [accept, reject].into_iter().any(|arm| self.goes_on_after_writes(arm)) {
                            break;
                        }
                    }
                    StmtKind::For { .. } | StmtKind::While { .. } | StmtKind::Switch { .. } => {
                        break;
                    }
                    ref other if writes(self.module, self.body, other) => break,
                    _ => {}
                }
            }
        }
        early
    }

    fn goes_on_after_writes(&self, arm: BlockId) -> bool {
        let last = self.body.blocks[arm].stmts.last();
        let returns = last.is_some_and(|stmt| matches!(stmt.kind, StmtKind::Return(_)));
        !returns && may_write(self.module, self.body, arm)
    }

    fn conditions_agree(&self, except: &[Value]) -> bool {
        let varies = |value: Value| self.values[value.index()];
        !any_stmt(self.body, self.body.root, |stmt| match stmt.kind {
            StmtKind::If { condition, .. } => varies(condition) && !except.contains(&condition),
            StmtKind::While { condition, .. } => varies(condition),
            StmtKind::Switch { selector, .. } => varies(selector),
            StmtKind::For { start, end, step, .. } => [start, end, step].into_iter().any(varies),
            _ => false,
        })
    }
}
