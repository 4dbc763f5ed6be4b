//! Finds kernels whose control flow is the same for all threads.
//!
//! A value *varies* if it may differ from thread to thread: what comes from a launch index, from
//! array memory, or from anything that varies. If no condition does, threads can be lowered side by
//! side.

use gbxcule_ir::check::Valid;
use gbxcule_ir::walk::{Step, Use, place_values, stmt_uses, walk};
use gbxcule_ir::{Body, FunctionId, Module, Op, PlaceId, Projection, Root, StmtKind, Value};

/// Returns true if control flow is the same for all threads, in functions lowered in place too.
pub(super) fn is_uniform(
    module: &Valid<Module>,
    inline: &impl Fn(FunctionId) -> bool,
    kernel: FunctionId,
) -> bool {
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
            walk(body, body.root, |step| {
                if let Step::Stmt(stmt) = step {
                    flow.stmt(&stmt.kind);
                }
            });
        }
        if !flow.conditions_agree() {
            return false;
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
    true
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
                // Values from array memory are not looked into, nor results of functions that
                // depend on more than their arguments.
                let asks = match op {
                    Op::LaunchIndex(_) | Op::Atomic { .. } => true,
                    Op::Call { function, .. } => {
                        let facts = self.module.facts(function);
                        !facts.effects.is_pure() || facts.asks_launch_index
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

    /// Returns true if what a place holds varies.
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

    fn conditions_agree(&self) -> bool {
        let mut agree = true;
        walk(self.body, self.body.root, |step| {
            let Step::Stmt(stmt) = step else { return };
            let varies = |value: Value| self.values[value.index()];
            agree &= match stmt.kind {
                StmtKind::If { condition, .. } | StmtKind::While { condition, .. } => {
                    !varies(condition)
                }
                StmtKind::Switch { selector, .. } => !varies(selector),
                StmtKind::For { start, end, step, .. } => {
                    ![start, end, step].map(varies).contains(&true)
                }
                _ => true,
            };
        });
        agree
    }
}
