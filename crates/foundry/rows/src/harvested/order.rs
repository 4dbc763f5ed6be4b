//! Finds kernels whose threads race. A row's results must not depend on the order of threads;
//! otherwise they could not be compared with a GPU's results.

use crate::execute::{self, LaunchInputs, Variation};
use crate::rounding;
use crate::row::{Results, results_in};
use crate::row_program::RowProgram;
use gbxcule_ir::op::Op;

/// Number of thread orders that are tried.
const ORDERS: u64 = 4;

/// Returns true if other orders of threads give the same results. Without atomics, threads that
/// don't see each other's writes must give the same results, too.
pub(super) fn is_settled(
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    seed: u64,
    have: &Results,
) -> bool {
    let in_order = |order| {
        let way = Variation { order_seed: Some(order), ..Variation::default() };
        let other = results_in(way, program, grid, seed);
        other.is_ok_and(|other| rounding::is_harmless(have, &other))
    };
    (uses_atomics(program) || is_settled_apart(program, grid, seed)) && (0..ORDERS).all(in_order)
}

fn is_settled_apart(program: &RowProgram, grid: LaunchInputs<'_>, seed: u64) -> bool {
    let data = execute::arguments(program, grid.inputs, seed);
    execute::race(program, grid, &data, true).is_ok_and(|race| race.is_none())
}

fn uses_atomics(program: &RowProgram) -> bool {
    let mut functions = program.forward.functions.iter();
    functions.any(|(_, function)| {
        function.body.values.iter().any(|(_, value)| matches!(value.op, Op::Atomic { .. }))
    })
}
