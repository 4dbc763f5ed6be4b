//! Facts about functions for back ends and passes, collected once a module has passed the check.

use super::module::callees;
use crate::arena::Handle;
use crate::function::{Function, FunctionId, PassMode};
use crate::module::Module;
use crate::op::{Op, Value};
use crate::place::{PlaceId, Projection, Root};
use crate::stmt::StmtKind;
use crate::walk::{Use, place_values, stmt_uses, walk_stmts};

/// Facts about one function.
#[derive(Clone, Debug)]
pub struct FunctionFacts {
    /// Number of uses of each value; 0 also for values that no statement reaches.
    pub uses: Vec<u32>,
    /// Functions that it calls itself, each once.
    pub callees: Vec<FunctionId>,
    /// Effects of the function, its callees included.
    pub effects: Effects,
    /// Number of leading dimensions of the grid that it, or a callee, asks for.
    pub launch_dims: u8,
}

/// Effects of a function besides giving its result.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Effects {
    /// True if it writes array memory or a `Mutable` parameter, or changes memory atomically.
    pub writes: bool,
    /// True if it prints, or may stop the launch by `Trap` or `Assert`.
    pub acts: bool,
    /// True if it reads array memory or a parameter passed by reference.
    pub reads: bool,
}

impl Effects {
    /// Returns true if a call may be dropped when its result is not used.
    pub fn is_none(self) -> bool {
        !self.writes && !self.acts
    }

    /// Returns true if equal arguments give equal results at all times.
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
    /// Returns the number of uses of a value.
    pub fn uses(&self, value: Value) -> u32 {
        self.uses[value.index()]
    }
}

/// Collects the facts of all functions, by position. `order` has callees before their callers.
pub(super) fn collect(module: &Module, order: &[FunctionId]) -> Vec<FunctionFacts> {
    let mut facts: Vec<Option<FunctionFacts>> = vec![None; module.functions.len()];
    for &id in order {
        let mut of_this = of_function(module, &module.functions[id]);
        for callee in &of_this.callees {
            if let Some(callee) = &facts[callee.index()] {
                of_this.effects.join(callee.effects);
                of_this.launch_dims = of_this.launch_dims.max(callee.launch_dims);
            }
        }
        facts[Handle::index(id)] = Some(of_this);
    }
    facts.into_iter().flatten().collect()
}

fn of_function(module: &Module, function: &Function) -> FunctionFacts {
    let body = &function.body;
    let mut uses = vec![0; body.values.len()];
    let mut effects = Effects::default();
    let mut launch_dims = 0;
    walk_stmts(body, body.root, |stmt| {
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
        if let Some(Op::LaunchIndex(dim)) = op {
            launch_dims = launch_dims.max(dim + 1);
        }
    });
    let callees = callees(module, function);
    FunctionFacts { uses, callees, effects, launch_dims }
}

fn writes_argument(module: &Module, op: Option<Op>, position: usize) -> bool {
    let Some(Op::Call { function, .. }) = op else { return false };
    module.functions[function].params[position].mode == PassMode::Mutable
}

/// Returns true if other code may see the memory of a place: if the place is not in a local, table
/// or by-value parameter.
fn is_shared(function: &Function, place: PlaceId) -> bool {
    let body = &function.body;
    let behind = |step: &Projection| matches!(step, Projection::Element(_));
    if body.path(place).iter().any(behind) {
        return true;
    }
    match body.places[place].root {
        Root::Param(position) => function.params[position as usize].mode != PassMode::Value,
        Root::Local(_) | Root::Table(_) => false,
        Root::Array(_) => true,
    }
}
