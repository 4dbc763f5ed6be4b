//! Keeps large functions that several places call from being inlined.
//!
//! The swarm runs this pass on its kernels before they are printed for NVRTC. If a module is below
//! some size, NVRTC 13.5 inlines large functions into all their callers. Then compiling may never
//! end: it took seconds for one kernel, and did not end for another that was 2 % smaller. The
//! reason is that the code doubles with each level of functions that are called from two places. So
//! this pass counts the statements of all copies of a function, including everything that is
//! inlined into it.

use gbxcule_ir::check::Valid;
use gbxcule_ir::function::{FunctionId, FunctionKind, Inline};
use gbxcule_ir::module::Module;
use gbxcule_ir::op::{Op, Value};
use gbxcule_ir::stmt::StmtKind;
use gbxcule_ir::walk::walk_stmts;

/// Keeps a function out of line if the back end may choose to inline it and its copies would add
/// more than `max_copied_statements` statements to the module. Functions that no kernel reaches do
/// not count.
pub fn run(module: Valid<Module>, max_copied_statements: usize) -> Valid<Module> {
    let order = module.call_order().to_vec();
    let mut module = module.into_inner();
    let bodies: Vec<(usize, Vec<FunctionId>)> =
        module.functions.handles().map(|id| measure(&module, id)).collect();
    let mut calls = vec![0_usize; bodies.len()];
    let mut is_reached: Vec<bool> = module
        .functions
        .iter()
        .map(|(_, function)| function.kind != FunctionKind::Callable)
        .collect();
    for &id in order.iter().rev() {
        if is_reached[id.index()] {
            for callee in &bodies[id.index()].1 {
                is_reached[callee.index()] = true;
                calls[callee.index()] += 1;
            }
        }
    }
    // Sizes include everything that is inlined.
    let mut sizes = vec![0_usize; bodies.len()];
    for id in order {
        let (statements, callees) = &bodies[id.index()];
        let inner = callees.iter().map(|callee| match module.functions[*callee].inline {
            Inline::Never => 1,
            _ => sizes[callee.index()],
        });
        let size = statements + inner.sum::<usize>();
        sizes[id.index()] = size;
        let function = &mut module.functions[id];
        let copies = size.saturating_mul(calls[id.index()].saturating_sub(1));
        if function.inline == Inline::Auto && copies > max_copied_statements {
            function.inline = Inline::Never;
        }
    }
    super::rechecked(module)
}

/// Returns the number of statements of a function, and the callee of each call in it.
fn measure(module: &Module, id: FunctionId) -> (usize, Vec<FunctionId>) {
    let body = &module.functions[id].body;
    let (mut statements, mut callees) = (0, Vec::new());
    let callee = |value: Value| match body.values[value].op {
        Op::Call { function, .. } => Some(function),
        _ => None,
    };
    walk_stmts(body, body.root, |stmt| {
        statements += 1;
        if let StmtKind::Let(value) = stmt.kind {
            callees.extend(callee(value));
        }
    });
    (statements, callees)
}
