//! Checks by runs that a kernel is meaningful: results are finite and vary, every input matters,
//! every comparison has both outcomes, and no statement can be removed.

use crate::execute::{self, LaunchInputs};
use crate::row_program::RowProgram;
use gbxcule_grammar::{Draft, random};
use gbxcule_interp::Outcomes;

/// Number of draws of inputs that are compared.
const DRAWS: u64 = 3;

/// Reason why a kernel is rejected as a row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum RejectReason {
    /// The grammar finds no plausible kernel for the number.
    Senseless,
    /// In each draw of inputs a comparison always has the same outcome.
    OneSided,
    /// Rounding decides the results: those in 64 bits are others.
    Rounding,
    /// The kernel does not compile, or a launch faults.
    Faults,
    /// A result is not finite, or a float is above a million.
    NotFinite,
    /// An output is the same for all draws of inputs.
    ConstantResult,
    /// No result depends on an input.
    IdleInput,
    /// The results stay the same without a statement.
    IdleStatement,
    /// No single draw shows all changes of the text that some draw shows.
    HiddenChange,
    /// A gradient differs from central differences.
    WrongSlope,
}

/// The memory after a launch from each draw.
type Results = Vec<Vec<Vec<u8>>>;

/// Returns the seed of inputs on which every comparison has both outcomes; a few draws are tried.
pub(crate) fn check(
    draft: &Draft,
    program: &RowProgram,
    source: &str,
    seed: u64,
) -> Result<u64, RejectReason> {
    let grid = LaunchInputs { dims: &draft.dims, inputs: &draft.inputs };
    let mut seeds: Vec<u64> =
        (0..DRAWS).map(|draw| if draw == 0 { seed } else { random::seed(seed, draw) }).collect();
    let mut draws: Vec<Vec<Vec<u8>>> = Vec::new();
    let (mut results, mut two_sided) = (Results::new(), None);
    for (at, &seed) in seeds.iter().enumerate() {
        let data = execute::arguments(program, &draft.inputs, seed);
        let ran = execute::forward_with_outcomes(program, grid, &data);
        let (after, outcomes) = ran.map_err(|_| RejectReason::Faults)?;
        if two_sided.is_none() && !is_one_sided(draft, program, source, &outcomes) {
            two_sided = Some(at);
        }
        draws.push(data);
        results.push(after);
    }
    let two_sided = two_sided.ok_or(RejectReason::OneSided)?;
    seeds.swap(0, two_sided);
    draws.swap(0, two_sided);
    results.swap(0, two_sided);
    let written = |at: usize| draft.inputs[at].written;
    let outputs: Vec<usize> = (0..draft.inputs.len()).filter(|&at| written(at)).collect();
    if !results.iter().all(|result| is_moderate(program, result, &outputs)) {
        return Err(RejectReason::NotFinite);
    }
    if outputs.iter().any(|&at| results.iter().skip(1).all(|result| result[at] == results[0][at])) {
        return Err(RejectReason::ConstantResult);
    }
    for at in (0..draft.inputs.len()).filter(|&at| !draft.inputs[at].zero) {
        let matters = (1..draws.len()).any(|other| {
            let mut mixed = draws[0].clone();
            mixed[at].clone_from(&draws[other][at]);
            let result = execute::forward(program, grid, &mixed);
            result.map_or(true, |result| outputs.iter().any(|&at| result[at] != results[0][at]))
        });
        if !matters {
            return Err(RejectReason::IdleInput);
        }
    }
    let idle = |source: String| {
        let without = RowProgram::read_forward(&source);
        // One draw that differs is enough, and usually the first does.
        without.is_ok_and(|it| {
            draws.iter().zip(&results).all(|(data, wanted)| {
                let result = execute::forward(&it, grid, data);
                result.is_ok_and(|result| outputs.iter().all(|&at| result[at] == wanted[at]))
            })
        })
    };
    if draft.ablations().any(idle) { Err(RejectReason::IdleStatement) } else { Ok(seeds[0]) }
}

/// Returns true if all numbers of the results are finite, and no float is above a million.
fn is_moderate(program: &RowProgram, result: &[Vec<u8>], outputs: &[usize]) -> bool {
    outputs.iter().all(|&at| {
        let numbers = execute::numbers(program, at, &result[at]);
        numbers.iter().all(|number| {
            let value = number.as_f64();
            value.is_finite() && !(value.abs() > 1e6 && number.scalar().is_float())
        })
    })
}

/// Returns true if a comparison always had the same outcome. A comparison that ends a loop early
/// may, because only other inputs need it.
fn is_one_sided(draft: &Draft, program: &RowProgram, source: &str, outcomes: &Outcomes) -> bool {
    let drafted = draft.functions();
    outcomes.iter().any(|((function, span), seen)| {
        let name = &*program.forward.functions[*function].name;
        if !seen.contains(&false) || !drafted.contains(&name) {
            return false;
        }
        let line = source[..span.start as usize].rsplit('\n').next().unwrap_or_default();
        !line.trim_start().starts_with("while ")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_grammar::draft;

    #[test]
    fn every_comparison_of_a_row_comes_out_both_ways() {
        let mut compared = 0;
        for seed in 0..80 {
            let Some(draft) = draft(seed, seed) else { continue };
            let source = draft.source();
            let program = RowProgram::read(&source).expect("a kernel");
            let Ok(seed) = check(&draft, &program, &source, seed) else { continue };
            let data = execute::arguments(&program, &draft.inputs, seed);
            let grid = LaunchInputs { dims: &draft.dims, inputs: &draft.inputs };
            let (_, outcomes) =
                execute::forward_with_outcomes(&program, grid, &data).expect("results");
            assert!(!is_one_sided(&draft, &program, &source, &outcomes), "{source}");
            compared += outcomes.len();
        }
        assert!(compared > 10, "{compared} comparisons");
    }
}
