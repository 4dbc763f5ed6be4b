//! Draws that distinguish a row from its mutants: copies of its source with one operator, function
//! or number changed, or with the row's number for one extent. If a comparison decides, or a term
//! is small, random numbers expose a wrong answer only by luck, and one seed would pass an answer
//! that another refuses.
//!
//! Inputs of several shapes and ranges are tried until each mutant is exposed by a draw. A mutant
//! that no draw exposes counts as equivalent to the row. The search has a limit that equals the
//! cost of grading a few answers.

use crate::fresh_inputs::FreshInputs;
use crate::graded_row::GradedRow;
use crate::shape::{Reshaping, Shaped};
use gbxcule_grammar::random::{self, Random};
use gbxcule_rows::execute::{self, ArgumentBytes, BUDGET, LaunchInputs, Variation};
use gbxcule_rows::mutate::mutants;
use gbxcule_rows::row_program::RowProgram;

/// Greatest number of mutants of a row, because each is compiled.
const MUTANTS: usize = 48;
/// Greatest number of inputs that are tried for a row whose mutants are not all exposed.
const CANDIDATES: usize = 120;
/// Greatest number of inputs on which a mutant gives other bits within the tolerance: beyond it,
/// rounding is taken for the reason.
const FRUITLESS: usize = 4;
/// Greatest number of statements that the search for a row executes, in mutants and in the row's
/// program.
const STATEMENTS: u64 = 12_000_000;
/// Divisor of the remaining statements that gives the row's limit on one input.
const SHARE: u64 = 32;
/// The search ends when fewer statements than these remain.
const LEAST: u64 = 100_000;
/// A mutant that executes this multiple of the row's statements counts as endless.
const SLOWER: u64 = 4;
/// Number of runs of the row's program that make and check a draw.
const RUNS_OF_A_DRAW: u64 = 8;
/// Constant that separates this file's seeds from others.
const STREAM: u64 = 0x006d_7574_616e_7473;
/// Shapes of the candidates, used in turn.
const WAYS: [Reshaping; 5] =
    [Reshaping::Long, Reshaping::Same, Reshaping::Free, Reshaping::Growing, Reshaping::Scaled];
/// Ranges of the candidates, used in turn: a factor on floats (`None` for the stored range) and a
/// growth of integers.
const RANGES: [(Option<f64>, i64); 6] =
    [(None, 0), (Some(1.0), 0), (Some(4.0), 1), (Some(0.25), 0), (Some(16.0), 20), (Some(2.0), 3)];

/// A mutant that no draw has exposed yet.
struct Hidden {
    mutant: RowProgram,
    /// Number of inputs on which the mutant gave other bits within the tolerance.
    fruitless: usize,
}

impl GradedRow {
    /// Adds draws that expose those mutants of the row's source that no draw has exposed yet.
    pub(crate) fn add_draws_for_mutants(&mut self, source: &str, own: &Shaped, seed: u64) {
        let mut rest = STATEMENTS;
        let is_hidden = |mutant: &RowProgram| {
            !self.draws.iter().any(|draw| self.shows(mutant, draw, &mut rest)) && rest > 0
        };
        let all = fixed_extents(source, own).into_iter().chain(mutants(source));
        let hidden = all.take(MUTANTS).filter(is_hidden);
        let mut hidden: Vec<Hidden> =
            hidden.map(|mutant| Hidden { mutant, fruitless: 0 }).collect();
        let seed = random::seed(seed, STREAM);
        let mut random = Random::new(seed);
        for number in 0..CANDIDATES {
            if hidden.is_empty() || rest < LEAST {
                return;
            }
            let (factor, integers) = RANGES[number % RANGES.len()];
            let shaped = own.reshaped(WAYS[number % WAYS.len()], &mut random);
            let Some(shaped) = shaped.map(|it| it.widened(factor, integers)) else { continue };
            let seed = random::seed(seed, number as u64);
            if !self.differs(&mut hidden, &shaped, seed, &mut rest) {
                continue;
            }
            let before = hidden.len();
            if let Some(draw) = self.sound_draw(&shaped, seed) {
                rest = rest.saturating_sub(RUNS_OF_A_DRAW * draw.statements);
                hidden.retain(|it| !self.shows(&it.mutant, &draw, &mut rest));
                if hidden.len() < before {
                    self.draws.push(draw);
                }
            }
            hidden.retain(|it| it.fruitless < FRUITLESS);
        }
    }

    /// Returns true if a hidden mutant gives other bits than the row on inputs of this shape.
    /// Counts these inputs for each such mutant, and subtracts the executed statements from `rest`.
    fn differs(&self, hidden: &mut [Hidden], shaped: &Shaped, seed: u64, rest: &mut u64) -> bool {
        let Shaped { dims, inputs } = shaped;
        let grid = LaunchInputs { dims, inputs };
        if !self.program.takes(inputs) {
            return false;
        }
        let seed = random::seed(seed, 0);
        let data = execute::arguments(&self.program, inputs, seed);
        let budget = BUDGET.min(*rest / SHARE);
        let (right, statements) = self.run(budget, grid, &data);
        *rest = rest.saturating_sub(statements);
        let Ok(right) = right else { return false };
        let mut differs = false;
        for it in hidden {
            let after = launched(&it.mutant, (grid, &data), statements, rest);
            let is_other = after.ok().as_ref() != Some(&right);
            it.fruitless += usize::from(is_other);
            differs |= is_other;
        }
        differs
    }

    /// Returns true if a mutant's results on a draw would be graded as wrong.
    fn shows(&self, mutant: &RowProgram, draw: &FreshInputs, rest: &mut u64) -> bool {
        let after = launched(mutant, (draw.grid(), &draw.data), draw.statements, rest);
        after.map_or(true, |data| {
            let memory = ArgumentBytes { data, gradients: Vec::new() };
            self.forward_difference(draw, &memory).is_some()
        })
    }
}

/// Returns the programs of a source that each have one extent, of an array or of the launch, as the
/// number that it is in the row.
fn fixed_extents(source: &str, own: &Shaped) -> Vec<RowProgram> {
    let fixed = |(at, mark): (usize, &str)| {
        let is_part = |it: char| it.is_alphanumeric() || it == '_';
        let name = source[..at].rsplit(|it| !is_part(it)).next()?;
        let (dim, _) = source[at + mark.len()..].split_once(']')?;
        let given = own.inputs.iter().find(|it| it.name == name)?;
        let extent = given.shape.get(dim.trim().parse::<usize>().ok()?)?;
        let rest = &source[at + mark.len() + dim.len() + 1..];
        let text = format!("{}{extent}{rest}", &source[..at - name.len()]);
        RowProgram::read_forward(&text).ok()
    };
    let of_arrays = source.match_indices(".shape[").filter_map(fixed);
    of_arrays.chain((0..own.dims.len()).filter_map(|dim| shorter(source, own, dim))).collect()
}

/// Returns the program of a source whose threads beyond the row's launch end in one dimension.
fn shorter(source: &str, own: &Shaped, dim: usize) -> Option<RowProgram> {
    let place = source.find("wp.tid()")?;
    let line = source[..place].rfind('\n')? + 1;
    let indent = &source[line..][..source[line..].len() - source[line..].trim_start().len()];
    let names: Vec<String> = (0..own.dims.len()).map(|it| format!("own_{it}")).collect();
    let (all, extent) = (names.join(", "), own.dims[dim]);
    let guard = format!(
        "{indent}{all} = wp.tid()\n{indent}if own_{dim} >= {extent}:\n{indent}    return\n"
    );
    let (before, after) = source.split_at(line);
    RowProgram::read_forward(&format!("{before}{guard}{after}")).ok()
}

/// Runs a mutant on inputs on which the row executes `statements`, and subtracts the mutant's own
/// statements from `rest`.
fn launched(
    mutant: &RowProgram,
    (grid, data): (LaunchInputs<'_>, &[Vec<u8>]),
    statements: u64,
    rest: &mut u64,
) -> Result<Vec<Vec<u8>>, String> {
    let budget = BUDGET.min(SLOWER * statements + LEAST);
    let way = Variation { budget, ..Variation::default() };
    let (after, taken) = execute::forward_counted(way, mutant, grid, data);
    *rest = rest.saturating_sub(taken);
    after
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_grammar::input::ArgumentInput;
    use gbxcule_rows::row::Row;

    /// Behind the first guard a second one leaves few threads, so that chance rarely exposes a
    /// number in the first.
    const SOURCE: &str = "import warp as wp\n\n\n@wp.kernel\ndef k(d: int, a: wp.array(dtype=int), b: wp.array(dtype=int), c: wp.array2d(dtype=int)):\n    \
         i = wp.tid()\n    if i >= a.shape[0]:\n        return\n    j = d - i\n    if j < 1 or j > b.shape[0]:\n        \
         return\n    c[i + 1, j] = a[i] + b[j - 1]\n";

    #[test]
    fn each_extent_that_is_a_number_is_exposed_by_a_draw() {
        let named = |name: &str, given: ArgumentInput| ArgumentInput { name: name.into(), ..given };
        let inputs = [
            named("d", ArgumentInput::integers(vec![], 3, 5)),
            named("a", ArgumentInput::integers(vec![5], 0, 3)),
            named("b", ArgumentInput::integers(vec![6], 0, 3)),
            named("c", ArgumentInput::zeros(vec![6, 7])),
        ];
        let inputs_json = serde_json::to_string(&inputs).expect("inputs");
        for seed in 0..4 {
            let (source, inputs_json) = (SOURCE.into(), inputs_json.clone());
            let row = Row { source, launch_dims: vec![8], inputs_json, ..Row::default() };
            let problem = GradedRow::of(&row, seed, false).expect("a problem");
            let mutants = fixed_extents(SOURCE, &problem.own);
            assert_eq!(mutants.len(), 3);
            for mutant in mutants {
                let mut rest = STATEMENTS;
                let mut draws = problem.draws.iter();
                assert!(draws.any(|draw| problem.shows(&mutant, draw, &mut rest)), "seed {seed}");
            }
        }
    }
}
