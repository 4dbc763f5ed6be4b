//! Dropping what nobody uses: values without effect, stores to variables that nobody reads, branches and
//! counted loops without statements. What may fault stays.

use crate::check::Valid;
use crate::ir::arena::Handle;
use crate::ir::function::{Body, LocalId};
use crate::ir::module::Module;
use crate::ir::op::{BinaryOp, Op, Value};
use crate::ir::place::{PlaceId, Projection, Root};
use crate::ir::stmt::{BlockId, StmtKind};
use crate::ir::walk::{Step, Use, place_values, stmt_blocks, stmt_uses, walk};

/// Cleans all functions.
pub fn run(module: Valid<Module>) -> Module {
    let mut faults = vec![false; module.functions.len()];
    for &function in module.call_order() {
        let callees = &module.facts(function).callees;
        let inner = callees.iter().any(|&callee| faults[Handle::index(callee)]);
        faults[Handle::index(function)] =
            inner || may_fault(&module, &module.functions[function].body);
    }
    let effects = module.functions.handles().map(|function| module.facts(function).effects);
    let droppable: Vec<bool> =
        effects.zip(faults).map(|(effects, faults)| effects.is_none() && !faults).collect();
    let mut module = module.into_inner();
    for id in module.functions.handles() {
        let mut body = std::mem::take(&mut module.functions[id].body);
        while sweep(&module, &droppable, &mut body) {}
        module.functions[id].body = body;
    }
    module
}

/// Whether a body holds anything that may fault or never end, not counting its calls.
fn may_fault(module: &Module, body: &Body) -> bool {
    let mut faults = false;
    walk(body, body.root, |step| {
        let Step::Stmt(stmt) = step else { return };
        faults |= matches!(stmt.kind, StmtKind::While { .. });
        faults |= match stmt.kind {
            StmtKind::Let(value) => {
                !matches!(body.values[value].op, Op::Call { .. })
                    && op_may_fault(module, body, value)
            }
            StmtKind::Store { place, .. } => place_may_fault(body, place),
            _ => false,
        };
    });
    faults
}

fn op_may_fault(module: &Module, body: &Body, value: Value) -> bool {
    match body.values[value].op {
        Op::Binary(BinaryOp::Divide | BinaryOp::FloorDivide | BinaryOp::Remainder, _, divisor) => {
            let of = module.types.components(body.type_of(value)).map(|(of, _)| of);
            let safe = match body.values[divisor].op {
                Op::Literal(literal) => literal.bits() != 0,
                _ => false,
            };
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

/// One round; whether it dropped anything.
fn sweep(module: &Module, droppable: &[bool], body: &mut Body) -> bool {
    let (uses, read) = used(body);
    let mut dead: Vec<(BlockId, Vec<bool>)> = Vec::new();
    for (id, block) in body.blocks.iter() {
        let keep = block.stmts.iter().map(|stmt| match &stmt.kind {
            StmtKind::Let(value) => {
                let callee = match body.values[*value].op {
                    Op::Call { function, .. } => Some(droppable[Handle::index(function)]),
                    _ => None,
                };
                let drops = callee.unwrap_or_else(|| !op_may_fault(module, body, *value));
                uses[value.index()] > 0 || !drops
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
            let kept = keep.next().unwrap_or(true);
            changed |= !kept;
            kept
        });
    }
    changed
}

/// How often each value is used, and which variables are read, or passed on by reference.
fn used(body: &Body) -> (Vec<u32>, Vec<bool>) {
    let mut uses = vec![0u32; body.values.len()];
    let mut read = vec![false; body.locals.len()];
    let reads = |body: &Body, place: PlaceId, read: &mut Vec<bool>| {
        if let Root::Local(local) = body.places[place].root {
            let local: LocalId = local;
            read[local.index()] = true;
        }
    };
    walk(body, body.root, |step| {
        let Step::Stmt(stmt) = step else { return };
        stmt_uses(
            body,
            &stmt.kind,
            |_| true,
            |used| match used {
                Use::Value(value) => uses[value.index()] += 1,
                Use::Write(place) => {
                    place_values(body, place, |value| uses[value.index()] += 1);
                    // A store through a handle that a variable holds reads the handle.
                    if body.path(place).iter().any(|step| matches!(step, Projection::Element(_))) {
                        reads(body, place, &mut read);
                    }
                }
                Use::Read(place) | Use::Change(place) | Use::Expose(place) => {
                    place_values(body, place, |value| uses[value.index()] += 1);
                    reads(body, place, &mut read);
                }
            },
        );
    });
    (uses, read)
}
