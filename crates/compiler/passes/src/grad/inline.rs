//! Chooses the callees that are inlined before differentiation; every other callee gets its own
//! reverse. (`pass::inline` chooses by size and speed; this choice is by effects, so that the
//! reverse is right.)

use gbxcule_ir::check::Valid;
use gbxcule_ir::function::FunctionId;
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Arg, Op};
use gbxcule_ir::place::Projection;
use gbxcule_ir::stmt::{Stmt, StmtKind};
use gbxcule_ir::walk::any_stmt;

/// Returns true, for each function, if its calls are inlined: if it touches array memory or acts on
/// the outside, calls a function that does, or is given a place in array memory.
pub(super) fn choose(source: &Valid<Module>) -> Vec<bool> {
    let mut chosen = vec![false; source.functions.len()];
    for (id, function) in source.functions.iter() {
        chosen[id.index()] |= uses_memory(source, id) || source.facts(id).effects.acts;
        let body = &function.body;
        for (_, data) in body.values.iter() {
            let Op::Call { function: callee, args } = data.op else { continue };
            chosen[callee.index()] |= body.arg_lists[args].iter().any(|arg| match *arg {
                Arg::Place(place) => {
                    body.path(place).iter().any(|step| matches!(step, Projection::Element(_)))
                }
                Arg::Value(_) => false,
            });
        }
    }
    // Callees come before their callers.
    for &id in source.call_order() {
        let callees = &source.facts(id).callees;
        chosen[id.index()] |= callees.iter().any(|callee| chosen[callee.index()]);
        // A function with a gradient by hand stays whole.
        chosen[id.index()] &= source.functions[id].adjoint.is_none();
    }
    chosen
}

/// Returns true if a function itself reads or writes arrays, or may stop the launch.
pub(super) fn uses_memory(module: &Module, function: FunctionId) -> bool {
    let (types, function) = (&module.types, &module.functions[function]);
    let holds = |ty| types.holds_array(ty);
    let is_trap = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Trap { .. });
    any_stmt(&function.body, function.body.root, is_trap)
        || function.params.iter().any(|param| holds(param.ty))
        || function.body.values.iter().any(|(_, data)| holds(data.ty))
        || function.body.locals.iter().any(|(_, local)| holds(local.ty))
}

/// Returns the functions with a reverse of their own that kernels reach, callees before their
/// callers.
pub(super) fn called(
    source: &Valid<Module>,
    kernels: &[FunctionId],
    inline: &[bool],
) -> Vec<FunctionId> {
    let mut reached = vec![false; source.functions.len()];
    kernels.iter().for_each(|kernel| reached[kernel.index()] = true);
    for &id in source.call_order().iter().rev() {
        if reached[id.index()] {
            source.facts(id).callees.iter().for_each(|callee| reached[callee.index()] = true);
        }
    }
    let order = source.call_order().iter().copied();
    order.filter(|id| !kernels.contains(id) && reached[id.index()] && !inline[id.index()]).collect()
}
