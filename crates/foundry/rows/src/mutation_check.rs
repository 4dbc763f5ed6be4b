//! Checks that a row's results depend on every part of its source: each change of an operator,
//! function or number must change the results on the row's inputs. A few draws of inputs are tried.

use crate::execute::{self, LaunchInputs};
use crate::mutate::mutants;
use crate::row_program::RowProgram;
use crate::semantic_check::RejectReason;
use gbxcule_grammar::random;

/// Number of draws of inputs that are tried.
const DRAWS: u64 = 8;

/// Returns the seed of a draw that exposes every mutant which any draw exposes.
pub(crate) fn seed(
    source: &str,
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    seed: u64,
) -> Result<u64, RejectReason> {
    let wrong: Vec<RowProgram> = mutants(source).collect();
    let draw = |number: u64| {
        let seed = if number == 0 { seed } else { random::seed(seed, number) };
        let data = execute::arguments(program, grid.inputs, seed);
        let right = execute::forward(program, grid, &data).ok()?;
        Some(InputDraw { seed, data, right })
    };
    let shows = |draw: &InputDraw, at: &usize| {
        execute::forward(&wrong[*at], grid, &draw.data).ok().as_ref() != Some(&draw.right)
    };
    let first = draw(0).ok_or(RejectReason::Faults)?;
    let (shown, hidden): (Vec<usize>, Vec<usize>) =
        (0..wrong.len()).partition(|at| shows(&first, at));
    // A mutant that no draw exposes counts as equivalent to the kernel. The chosen draw must expose
    // all other mutants.
    let others: Vec<(InputDraw, Vec<usize>)> = (1..DRAWS)
        .filter(|_| !hidden.is_empty())
        .filter_map(|number| {
            let draw = draw(number)?;
            let exposed = hidden.iter().copied().filter(|at| shows(&draw, at)).collect();
            Some((draw, exposed))
        })
        .collect();
    let can_show = |at: &usize| others.iter().any(|(_, exposed)| exposed.contains(at));
    let wanted = hidden.iter().filter(|at| can_show(at)).count();
    if wanted == 0 {
        return Ok(first.seed);
    }
    let is_best = |(draw, exposed): &&(InputDraw, Vec<usize>)| {
        exposed.len() == wanted && shown.iter().all(|at| shows(draw, at))
    };
    others.iter().find(is_best).map(|(draw, _)| draw.seed).ok_or(RejectReason::HiddenChange)
}

/// Inputs and the row's results on them.
struct InputDraw {
    seed: u64,
    data: Vec<Vec<u8>>,
    right: Vec<Vec<u8>>,
}
