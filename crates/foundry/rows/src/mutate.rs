//! Makes rows wrong on purpose, each by one change, to measure how many of them the checks catch.

use crate::error::SynthError;
use crate::execute::LaunchInputs;
use crate::labels::Labels;
use crate::row::{Results, Row, Texts, results};
use crate::row_program::RowProgram;
use crate::structure::{Token, tokens};
use crate::tensor::Tensor;
use crate::validate::{COMPARISONS, Checks, has_failed, is_printed, validate};
use crate::verdict::{Check, Verdict};
use crate::widen;
use gbxcule_grammar::random::{self, Random};
use gbxcule_runtime::Device;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::path::Path;

/// Number of inputs on which an uncaught row runs, to decide if its results differ at all.
const INPUTS: u64 = 200;
/// Difference of two results in 64 bits that counts as rounding, as a fraction of their array's
/// largest number.
const WIDE_ERROR: f64 = 1e-10;

gbxcule_ir::named! {
    /// Kind of change that makes a row wrong.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
    pub enum Mutation {
        /// A token of the source; everything else stays.
        Source = "source",
        /// A token of the source, with all texts made from the wrong source, so that only a run can
        /// catch it.
        SourceAndTexts = "source and texts",
        /// A word of the IR.
        Ir = "IR",
        /// An operator of the C++ text.
        Cpp = "C++ text",
        /// An operator of the CUDA text.
        Cuda = "CUDA text",
        /// One expected number, by a thousandth or 1.
        Output = "expected output",
        /// One expected gradient, by a thousandth.
        Gradient = "expected gradient",
    }
}

impl Mutation {
    /// Returns the row with one change of this kind, or `None` if the row has nothing to change.
    pub fn apply(self, row: &Row, seed: u64) -> Option<Row> {
        let mut random = Random::new(random::seed(seed, row.id * 8 + self as u64));
        let mut wrong = row.clone();
        match self {
            Self::Source => {
                wrong.source = replace(&row.source, &changes(&row.source), &mut random)?;
            }
            Self::SourceAndTexts => {
                wrong.source = replace(&row.source, &changes(&row.source), &mut random)?;
                let program = RowProgram::read(&wrong.source).ok()?;
                wrong = program.emit(row.texts(), row.launch_dims.len()).fill(wrong);
                wrong = Labels::of(&wrong.source, &program, &row.inputs()?).label(wrong);
                wrong.gradient_refused = program.reverse.err();
                // The stored verdicts are those of the unchanged row.
                wrong.checks_json = "[]".into();
            }
            Self::Ir => wrong.ir = word(&row.ir, &mut random)?,
            Self::Cpp => wrong.cpp = Some(operator(row.cpp.as_ref()?, &mut random)?),
            Self::Cuda => wrong.cuda = Some(operator(row.cuda.as_ref()?, &mut random)?),
            Self::Output => {
                wrong.outputs_json = Some(number(row.outputs_json.as_ref()?, &mut random)?);
            }
            Self::Gradient => {
                wrong.gradients_json = Some(number(row.gradients_json.as_ref()?, &mut random)?);
            }
        }
        Some(wrong)
    }
}

/// A change of a text: the offset and the number of replaced bytes, and the new text.
type Change = (usize, usize, String);

/// Returns a program for each operator, function and number of a source: the source with this one
/// changed, without its reverse.
pub fn mutants(source: &str) -> impl Iterator<Item = RowProgram> {
    let read = |change| RowProgram::read_forward(&changed(source, &change)).ok();
    changes(source).into_iter().filter_map(read)
}

/// Returns a change for each operator, function and number of a kernel.
fn changes(source: &str) -> Vec<Change> {
    const SWAPS: [(&str, &str); 14] = [
        ("+", "-"),
        ("-", "+"),
        ("*", "+"),
        ("/", "*"),
        (">", "<="),
        ("<", ">="),
        ("<=", ">"),
        (">=", "<"),
        ("sin", "cos"),
        ("cos", "sin"),
        ("min", "max"),
        ("max", "min"),
        ("tanh", "sin"),
        ("and", "or"),
    ];
    let body = source.find("@wp.kernel").unwrap_or(source.len());
    let all = tokens(source);
    let mut changes: Vec<Change> = Vec::new();
    for (number, &(at, token)) in all.iter().enumerate().filter(|(_, (at, _))| *at > body) {
        let (text, is_word) = match token {
            Token::Mark(mark) => (mark, false),
            Token::Name(name, dotted) => (name, dotted || name == "and"),
            Token::Number(text) if text.contains('.') => {
                let value: Option<f64> = text.parse().ok();
                changes.extend(value.map(|it| (at, text.len(), format!("{:?}", it + 0.5))));
                continue;
            }
            _ => continue,
        };
        // A sign is not an operator, nor is the star of an argument `*name`.
        let after_operand = number > 0
            && matches!(
                all[number - 1].1,
                Token::Name(..) | Token::Number(_) | Token::Mark(")" | "]")
            );
        if let Some((_, to)) = SWAPS.iter().find(|(from, _)| *from == text)
            && (is_word || after_operand)
        {
            changes.push((at, text.len(), (*to).to_owned()));
        }
    }
    changes
}

/// Returns the text with a change.
fn changed(text: &str, (at, len, with): &Change) -> String {
    format!("{}{with}{}", &text[..*at], &text[at + len..])
}

/// Returns the text with one of the changes.
fn replace(text: &str, changes: &[Change], random: &mut Random) -> Option<String> {
    if changes.is_empty() {
        return None;
    }
    Some(changed(text, &changes[random.below(changes.len())]))
}

/// Changes one operation of IR.
fn word(text: &str, random: &mut Random) -> Option<String> {
    const SWAPS: [(&str, &str); 6] = [
        (" add ", " sub "),
        (" sub ", " add "),
        (" mul ", " add "),
        (" div ", " mul "),
        (" lt ", " ge "),
        (" gt ", " le "),
    ];
    let places = SWAPS.iter().flat_map(|&(from, to)| {
        text.match_indices(from).map(move |(at, _)| (at, from.len(), to.to_owned()))
    });
    let mut changes: Vec<_> = places.collect();
    changes.sort();
    replace(text, &changes, random)
}

/// Changes one arithmetic operator with spaces around it in C++ text.
fn operator(text: &str, random: &mut Random) -> Option<String> {
    let mut changes = Vec::new();
    for (from, to) in [(" + ", " - "), (" - ", " + "), (" * ", " + "), (" / ", " * ")] {
        changes.extend(text.match_indices(from).map(|(at, _)| (at, 3, to.to_owned())));
    }
    changes.sort();
    replace(text, &changes, random)
}

/// Changes one number of stored results.
fn number(text: &str, random: &mut Random) -> Option<String> {
    let mut arrays: Value = serde_json::from_str(text).ok()?;
    let arrays_len = arrays.as_array()?.len();
    if arrays_len == 0 {
        return None;
    }
    let values = arrays[random.below(arrays_len)]["values"].as_array_mut()?;
    let at = random.below(values.len());
    values[at] = match values[at].as_i64() {
        Some(integer) => json!(integer + 1),
        None => {
            let value = values[at].as_f64()?;
            json!(value + (value.abs() * 1e-3).max(1e-3))
        }
    };
    Some(arrays.to_string())
}

/// Counts of rows that were made wrong by one kind of change.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Score {
    /// Kind of the change.
    pub kind: Mutation,
    /// Number of rows that were made wrong.
    pub made: usize,
    /// Number of rows that some check caught.
    pub caught: usize,
    /// Number of rows that were caught by a run, not by the comparison of stored texts.
    pub ran: usize,
    /// Number of uncaught rows whose results and gradients equal the original's, up to rounding,
    /// also on other inputs.
    pub equal: usize,
}

impl Score {
    /// Returns the number of wrong rows that passed.
    pub fn missed(&self) -> usize {
        self.made - self.caught - self.equal
    }

    /// Adds the score of other rows.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            kind: self.kind,
            made: self.made + other.made,
            caught: self.caught + other.caught,
            ran: self.ran + other.ran,
            equal: self.equal + other.equal,
        }
    }
}

/// Makes rows wrong, runs the checks on them, and returns a score for each kind. Calls `missed` for
/// each wrong row that passes. With a folder for the host's compiler, changed texts are compiled
/// and run.
pub fn score(
    rows: &[Row],
    seed: u64,
    folder: Option<&Path>,
    gpu: Option<Device>,
    missed: &mut dyn FnMut(Mutation, &Row, &Row),
) -> Result<Vec<Score>, SynthError> {
    let mut scores = Vec::new();
    for kind in Mutation::ALL {
        let (needs_host, host_texts) = match kind {
            Mutation::Cpp => (true, Texts::Cpu),
            Mutation::Cuda => (true, Texts::Cuda),
            _ => (false, Texts::Both),
        };
        // Every compiled text is our own with one operator changed, so it is safe to run.
        let pairs: Vec<(&Row, Row)> = rows
            .iter()
            .filter(|row| !needs_host || is_printed(row))
            .filter_map(|row| Some((row, kind.apply(row, seed)?)))
            .collect();
        let wrong: Vec<Row> = pairs.iter().map(|pair| pair.1.clone()).collect();
        let host = folder.filter(|_| needs_host).map(Path::to_path_buf);
        let wanted = Checks { host, host_texts, host_altered: true, gpu, ..Checks::default() };
        let verdicts = validate(&wrong, &wanted)?;
        let mut score = Score { kind, made: wrong.len(), caught: 0, ran: 0, equal: 0 };
        for ((row, wrong), checks) in pairs.iter().zip(&verdicts) {
            let failed = |check: &&Check| check.verdict == Verdict::Fail;
            let by_running = |check: &Check| !COMPARISONS.contains(&check.check.as_str());
            score.caught += usize::from(has_failed(checks));
            score.ran += usize::from(checks.iter().flatten().filter(failed).any(by_running));
            if has_failed(checks) {
                continue;
            }
            if computes_the_same(row, wrong) {
                score.equal += 1;
            } else {
                missed(kind, row, wrong);
            }
        }
        scores.push(score);
    }
    Ok(scores)
}

/// Returns true if two rows' sources give the same results and gradients on many inputs.
fn computes_the_same(row: &Row, other: &Row) -> bool {
    same_outputs(row, other) && same_gradients(row, other)
}

/// Returns true if two rows' sources give the same results on many inputs; gradients may differ.
pub fn same_outputs(row: &Row, other: &Row) -> bool {
    agree(row, other, |results| &results.outputs)
}

/// Returns true if two rows' sources give the same gradients on many inputs; results may differ.
pub fn same_gradients(row: &Row, other: &Row) -> bool {
    agree(row, other, Results::slopes)
}

/// Compares the results of two rows' sources on many inputs. Results count as the same if their
/// bits are equal, or if the programs agree in 64 bits, because then only rounding differs, as for
/// a sum in another order.
fn agree(row: &Row, other: &Row, part: fn(&Results) -> &[Tensor]) -> bool {
    let (Ok(one), Ok(two), Some(inputs)) =
        (RowProgram::read(&row.source), RowProgram::read(&other.source), row.inputs())
    else {
        return false;
    };
    let wide = widen::program(&one).zip(widen::program(&two));
    let grid = LaunchInputs { dims: &row.launch_dims, inputs: &inputs };
    let run = |program: &RowProgram, seed: u64| results(program, grid, seed).ok();
    let near_in_64_bits = |seed: u64| {
        let (one, two) = wide.as_ref()?;
        Some(are_near(part(&run(one, seed)?), part(&run(two, seed)?)))
    };
    (0..INPUTS).all(|draw| {
        let seed = random::seed(row.input_seed, draw);
        match (run(&one, seed), run(&two, seed)) {
            (Some(one), Some(two)) => {
                part(&one) == part(&two) || near_in_64_bits(seed) == Some(true)
            }
            (one, two) => one.is_none() && two.is_none(),
        }
    })
}

/// Returns true if numbers of 64 bits differ by rounding alone.
fn are_near(one: &[Tensor], two: &[Tensor]) -> bool {
    one.len() == two.len()
        && one.iter().zip(two).all(|(one, two)| {
            let largest = one.numbers.iter().map(|it| it.as_f64().abs()).fold(0.0, f64::max);
            let mut pairs = one.numbers.iter().zip(&two.numbers);
            one.numbers.len() == two.numbers.len()
                && pairs.all(|(one, two)| {
                    one == two || (one.as_f64() - two.as_f64()).abs() <= WIDE_ERROR * largest
                })
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_grammar::input::ArgumentInput;

    /// A row of a kernel over two arrays of vectors, with this right side.
    fn row(value: &str) -> Row {
        let named = |name: &str, given: ArgumentInput| ArgumentInput { name: name.into(), ..given };
        let inputs = [
            named("x", ArgumentInput::integers(vec![8], 1, 9)),
            named("y", ArgumentInput::zeros(vec![8])),
        ];
        Row {
            source: format!(
                "import warp as wp\n\n\n@wp.kernel\ndef k(x: wp.array(dtype=wp.vec3), y: wp.array(dtype=wp.vec3)):\n    \
                 i = wp.tid()\n    a = x[i]\n    y[i] = {value}\n"
            ),
            launch_dims: vec![8],
            inputs_json: json!(inputs).to_string(),
            ..Row::default()
        }
    }

    #[test]
    fn kernels_that_differ_by_rounding_alone_are_the_same() {
        let right = row("wp.normalize(a * 0.3)");
        for same in ["wp.normalize(a * 0.7)", "wp.normalize(a) * 1.0", "wp.normalize(a * 0.3)"] {
            assert!(computes_the_same(&right, &row(same)), "{same}");
        }
        for other in ["wp.normalize(a * -0.3)", "wp.normalize(a) * 1.00001"] {
            assert!(!same_outputs(&right, &row(other)), "{other}");
        }
    }
}
