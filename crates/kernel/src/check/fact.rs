//! What back ends and passes ask about functions, collected once a module is known to be right.

use super::module::callees;
use crate::ir::arena::Handle;
use crate::ir::function::{Function, FunctionId, Mode};
use crate::ir::module::Module;
use crate::ir::op::{Op, Value};
use crate::ir::place::{PlaceId, Projection, Root};
use crate::ir::stmt::StmtKind;
use crate::ir::walk::{Step, Use, place_values, stmt_uses, walk};

/// What is known of a function.
#[derive(Clone, Debug)]
pub struct FunctionFacts {
    /// How often each value is used; 0 also for values that are never reached.
    pub uses: Vec<u32>,
    /// The functions it calls itself, each once.
    pub callees: Vec<FunctionId>,
    /// What it does, its callees included.
    pub effects: Effects,
    /// Whether it, or a callee, asks for its launch index.
    pub asks_launch_index: bool,
}

/// What a function does besides giving its result.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Effects {
    /// It writes array memory or a `Mutable` parameter, or changes memory atomically.
    pub writes: bool,
    /// It prints, or may stop the launch by `Trap` or `Assert`.
    pub acts: bool,
    /// It reads array memory or a parameter passed by reference.
    pub reads: bool,
}

impl Effects {
    /// Whether a call may be dropped if nobody uses its result.
    pub fn is_none(self) -> bool {
        !self.writes && !self.acts
    }

    /// Whether equal arguments give equal results, whenever it is called.
    pub fn is_pure(self) -> bool {
        self.is_none() && !self.reads
    }

    fn join(&mut self, other: Self) {
        self.writes |= other.writes;
        self.acts |= other.acts;
        self.reads |= other.reads;
    }
}

impl FunctionFacts {
    /// How often a value is used.
    pub fn uses(&self, value: Value) -> u32 {
        self.uses[value.index()]
    }
}

/// Facts of all functions, by position. Callees come first in `order`.
pub(super) fn collect(module: &Module, order: &[FunctionId]) -> Vec<FunctionFacts> {
    let mut facts: Vec<Option<FunctionFacts>> = vec![None; module.functions.len()];
    for &id in order {
        let mut found = of_function(module, &module.functions[id]);
        for callee in &found.callees {
            if let Some(callee) = &facts[callee.index()] {
                found.effects.join(callee.effects);
                found.asks_launch_index |= callee.asks_launch_index;
            }
        }
        facts[Handle::index(id)] = Some(found);
    }
    facts.into_iter().flatten().collect()
}

fn of_function(module: &Module, function: &Function) -> FunctionFacts {
    let body = &function.body;
    let mut uses = vec![0; body.values.len()];
    let mut effects = Effects::default();
    let mut asks_launch_index = false;
    walk(body, body.root, |step| {
        let Step::Stmt(stmt) = step else { return };
        let op = match stmt.kind {
            StmtKind::Let(value) => Some(body.values[value].op),
            _ => None,
        };
        let writes = |position| writes_argument(module, op, position);
        stmt_uses(body, &stmt.kind, writes, |used| {
            let mut place = |place: PlaceId, reads: bool, writes: bool| {
                place_values(body, place, |value| uses[value.index()] += 1);
                if is_shared(function, place) {
                    effects.reads |= reads;
                    effects.writes |= writes;
                }
            };
            match used {
                Use::Value(value) => uses[value.index()] += 1,
                Use::Read(at) | Use::Expose(at) => place(at, true, false),
                Use::Write(at) => place(at, false, true),
                Use::Change(at) => place(at, true, true),
            }
        });
        effects.acts |= matches!(
            stmt.kind,
            StmtKind::Print { .. } | StmtKind::Assert { .. } | StmtKind::Trap { .. }
        );
        asks_launch_index |= matches!(op, Some(Op::LaunchIndex(_)));
    });
    let callees = callees(module, function);
    FunctionFacts { uses, callees, effects, asks_launch_index }
}

fn writes_argument(module: &Module, op: Option<Op>, position: usize) -> bool {
    let Some(Op::Call { function, .. }) = op else { return false };
    module.functions[function].params[position].mode == Mode::Mutable
}

/// Whether others may see the memory of a place: not in a local, table or by-value parameter.
fn is_shared(function: &Function, place: PlaceId) -> bool {
    let body = &function.body;
    let behind = |step: &Projection| matches!(step, Projection::Element(_));
    if body.path(place).iter().any(behind) {
        return true;
    }
    match body.places[place].root {
        Root::Param(position) => function.params[position as usize].mode != Mode::Value,
        Root::Local(_) | Root::Table(_) => false,
        Root::Array(_) => true,
    }
}
