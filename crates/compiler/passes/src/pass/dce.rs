//! Drops code without a use: values without effect, stores to variables that are never read,
//! branches and counted loops without statements. Operations that may fault stay.

use gbxcule_ir::arena::Handle;
use gbxcule_ir::check::Valid;
use gbxcule_ir::function::{Body, FunctionId};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{BinaryOp, Op, Value};
use gbxcule_ir::place::{PlaceId, Projection, Root};
use gbxcule_ir::stmt::{BlockId, StmtKind};
use gbxcule_ir::walk::{Use, any_stmt, place_values, stmt_blocks, stmt_uses, walk_stmts};

/// Cleans all functions.
pub fn run(module: Valid<Module>) -> Module {
    let droppable = droppable(&module);
    let mut module = module.into_inner();
    for id in module.functions.handles() {
        clean(&mut module, id, &droppable);
    }
    module
}

/// Cleans one function. Callees beyond the end of `droppable` count as droppable.
pub fn clean(module: &mut Module, function: FunctionId, droppable: &[bool]) {
    let mut body = std::mem::take(&mut module.functions[function].body);
    while drop_unused(module, droppable, &mut body) {}
    module.functions[function].body = body;
}

/// Returns true, for each function, if a call may be dropped when its result is not used.
pub fn droppable(module: &Valid<Module>) -> Vec<bool> {
    let mut faults = vec![false; module.functions.len()];
    for &function in module.call_order() {
        let callees = &module.facts(function).callees;
        let inner = callees.iter().any(|&callee| faults[Handle::index(callee)]);
        faults[Handle::index(function)] =
            inner || may_fault(module, &module.functions[function].body);
    }
    let effects = module.functions.handles().map(|function| module.facts(function).effects);
    effects.zip(faults).map(|(effects, faults)| effects.is_none() && !faults).collect()
}

/// Returns true if a body holds anything that may fault or never end, not counting its calls.
fn may_fault(module: &Module, body: &Body) -> bool {
    any_stmt(body, body.root, |stmt| match stmt.kind {
        StmtKind::While { .. } => true,
        StmtKind::Let(value) => {
            !matches!(body.values[value].op, Op::Call { .. }) && op_may_fault(module, body, value)
        }
        StmtKind::Store { place, .. } => place_may_fault(body, place),
        _ => false,
    })
}

/// Returns true if an operation may fault, even if its value is not used.
pub(crate) fn op_may_fault(module: &Module, body: &Body, value: Value) -> bool {
    match body.values[value].op {
        Op::Binary(BinaryOp::Divide | BinaryOp::FloorDivide | BinaryOp::Remainder, _, divisor) => {
            let of = module.types.components(body.type_of(value)).map(|(of, _)| of);
            let safe = body.literal(divisor).is_some_and(|divisor| divisor.bits() != 0);
            !of.is_some_and(|of| of.is_float()) && !safe
        }
        Op::Load(place) | Op::AsArray(place) => place_may_fault(body, place),
        Op::View { selectors, .. } => !body.selector_lists[selectors].is_empty(),
        Op::Call { .. } | Op::Atomic { .. } => true,
        _ => false,
    }
}

fn place_may_fault(body: &Body, place: PlaceId) -> bool {
    let indexed = |step: &Projection| matches!(step, Projection::At(_) | Projection::Element(_));
    body.path(place).iter().any(indexed)
}

/// Drops what one walk finds unused; returns true if it dropped anything.
fn drop_unused(module: &Module, droppable: &[bool], body: &mut Body) -> bool {
    let (uses, read) = used(module, droppable, body);
    let mut dead: Vec<(BlockId, Vec<bool>)> = Vec::new();
    for (id, block) in body.blocks.iter() {
        let keep = block.stmts.iter().map(|stmt| match &stmt.kind {
            StmtKind::Let(value) => {
                uses[value.index()] > 0 || !may_drop(module, droppable, body, *value)
            }
            StmtKind::Store { place, .. } => {
                let unread = match body.places[*place].root {
                    Root::Local(local) => !read[local.index()],
                    _ => false,
                };
                !unread || place_may_fault(body, *place)
            }
            StmtKind::If { .. } | StmtKind::Switch { .. } | StmtKind::For { .. } => {
                let mut empty = true;
                stmt_blocks(&stmt.kind, |inner| empty &= body.blocks[inner].stmts.is_empty());
                !empty
            }
            _ => true,
        });
        dead.push((id, keep.collect()));
    }
    let mut changed = false;
    for (id, keep) in dead {
        let mut keep = keep.into_iter();
        body.blocks[id].stmts.retain(|_| {
            let stays = keep.next().unwrap_or(true);
            changed |= !stays;
            stays
        });
    }
    changed
}

/// Returns true if an operation may be dropped when its value is not used.
fn may_drop(module: &Module, droppable: &[bool], body: &Body, value: Value) -> bool {
    match body.values[value].op {
        Op::Call { function, .. } => {
            droppable.get(Handle::index(function)).copied().unwrap_or(false)
        }
        _ => !op_may_fault(module, body, value),
    }
}

/// Counts the uses of each value, and finds the variables that are read, or passed on by reference.
/// An operation that is about to be dropped uses nothing.
fn used(module: &Module, droppable: &[bool], body: &Body) -> (Vec<u32>, Vec<bool>) {
    let mut counts =
        UseCounts { uses: vec![0; body.values.len()], read: vec![false; body.locals.len()] };
    let mut lets = Vec::new();
    walk_stmts(body, body.root, |stmt| match stmt.kind {
        StmtKind::Let(value) => lets.push(value),
        _ => counts.stmt(body, &stmt.kind),
    });
    // A value is defined before it is used: a backwards walk knows all users of a value when it
    // reaches the value.
    for value in lets.into_iter().rev() {
        if counts.uses[value.index()] > 0 || !may_drop(module, droppable, body, value) {
            counts.stmt(body, &StmtKind::Let(value));
        }
    }
    (counts.uses, counts.read)
}

struct UseCounts {
    uses: Vec<u32>,
    read: Vec<bool>,
}

impl UseCounts {
    fn stmt(&mut self, body: &Body, stmt: &StmtKind) {
        stmt_uses(
            body,
            stmt,
            |_| true,
            |used| match used {
                Use::Value(value) => self.uses[value.index()] += 1,
                Use::Write(place) => {
                    place_values(body, place, |value| self.uses[value.index()] += 1);
                    // A store through a handle that a variable holds reads the handle.
                    if body.path(place).iter().any(|step| matches!(step, Projection::Element(_))) {
                        self.reads(body, place);
                    }
                }
                Use::Read(place) | Use::Change(place) | Use::Expose(place) => {
                    place_values(body, place, |value| self.uses[value.index()] += 1);
                    self.reads(body, place);
                }
            },
        );
    }

    fn reads(&mut self, body: &Body, place: PlaceId) {
        if let Root::Local(local) = body.places[place].root {
            self.read[local.index()] = true;
        }
    }
}
