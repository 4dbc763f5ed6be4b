//! Rows of kernels that were not sampled. Inputs are searched on which the kernel runs and on which
//! its results depend; then the row is checked like a sampled row.
//!
//! Some checks are not required of real code: each input matters, each comparison has both
//! outcomes, each operator affects the results, results don't depend on rounding. A row that fails
//! one of these checks is kept and marked.

mod input;
mod order;
mod recorded;

use crate::batch::Manifest;
use crate::execute::LaunchInputs;
use crate::external_column::Tools;
use crate::labels::Labels;
use crate::row::{
    COMPILER_VERSION, GENERATOR_VERSION, Plan, RejectReason, Results, Row, machine_code, slope,
};
use crate::row_program::RowProgram;
use crate::verdict::{Check, Verdict};
use crate::{mutation_check, rounding, structure, tensor, widen};
use gbxcule_grammar::input::ArgumentInput;
use input::RECORDED_BUDGET;
use input::Threads;
pub(crate) use input::{FoundInputs, SEARCH_BUDGET, judge};
use recorded::Shrink;
pub use recorded::{RecordedArgument, RecordedLaunch};
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::collections::BTreeMap;

/// Family of rows that were not sampled.
pub const FAMILY: &str = "harvested";

/// Reason why a function that may be a kernel gives no row.
pub const UNMARKED: &str =
    "calls `wp.tid` or is launched, and no decorator that is read here makes it a kernel";

/// Reason why a kernel is not a row.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Refusal {
    /// The compiler refuses it, with the code.
    Compiler(String),
    /// No text cut out of the file compiles to the same kernel.
    NotCut,
    /// A parameter, by its name, for which inputs can't be drawn, such as an array of structs that
    /// have arrays.
    Parameters(String),
    /// No inputs were found on which the kernel runs without a fault.
    Faults,
    /// The kernel writes nothing.
    NoResult,
    /// The results don't depend on the inputs.
    Constant,
    /// The results, or gradients, aren't finite, or are huge.
    NotFinite,
    /// The results depend on which thread comes first.
    Race,
    /// The gradient differs from finite differences.
    Gradient,
    /// Machine code gives other results.
    MachineCode,
    /// A recorded launch that a row can't hold, with the reason.
    Recording(String),
}

impl Refusal {
    /// Describes the reason, by which cards and reports count.
    pub fn text(&self) -> String {
        match self {
            Self::Compiler(code) => format!("refused by the compiler: `{code}`"),
            Self::NotCut => "not to be had without its file".into(),
            Self::Parameters(_) => "parameters that no inputs are drawn for".into(),
            Self::Faults => "faults on all inputs that were tried".into(),
            Self::NoResult => "writes nothing".into(),
            Self::Constant => "results that don't depend on inputs".into(),
            Self::NotFinite => "results or gradients that aren't finite".into(),
            Self::Race => "results that depend on the order of threads".into(),
            Self::Gradient => "a gradient that differs from differences".into(),
            Self::MachineCode => "machine code that gives something else".into(),
            Self::Recording(_) => "recorded launches that a row can't hold".into(),
        }
    }

    /// Describes the refused part of the kernel.
    pub fn message(&self) -> Option<String> {
        match self {
            Self::Parameters(name) => Some(format!(
                "a row has no inputs for `{name}`: its type is a struct without fields, or an array of structs \
                 that have arrays"
            )),
            Self::Recording(reason) => Some(reason.clone()),
            _ => None,
        }
    }
}

/// Origin and counts of a harvest, stored in the manifest.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Harvest {
    /// Name of the folder.
    pub folder: String,
    /// SPDX expression of the licence of its files.
    pub license: String,
    /// Commit of the folder, if it is a checkout.
    pub commit: Option<String>,
    /// Number of files that were read.
    pub files: usize,
    /// Files that were not read, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unread: Vec<String>,
    /// Number of kernels that were found.
    pub kernels: usize,
    /// Number of functions other than kernels (`@wp.func`); a row contains the functions that its
    /// kernel calls.
    #[serde(default)]
    pub functions: usize,
    /// Number of functions that call `wp.tid` or are launched, but that no decorator in the files
    /// makes kernels.
    #[serde(default)]
    pub unmarked: usize,
    /// Number of rows with the structure of an earlier row.
    pub repeated: usize,
    /// Number of rows whose inputs were recorded.
    #[serde(default)]
    pub recorded: usize,
    /// Numbers of kernels that gave no row, by the reason.
    pub refused: BTreeMap<String, usize>,
}

impl Harvest {
    /// Describes a licence, name or reason that no harvest writes. Manifests are of unknown origin,
    /// and the card copies these texts into its lines and into the settings that hubs read.
    pub(crate) fn fault(&self) -> Option<String> {
        let mut reasons = self.refused.keys();
        let is_line = |text: &String| !text.contains(char::is_control);
        if !is_licence(&self.license) {
            return Some(format!("`{}` is no licence's SPDX expression", self.license));
        }
        let all = is_line(&self.folder) && self.commit.iter().all(is_line) && reasons.all(is_line);
        (!all).then(|| "a name or a reason of the harvest has several lines".to_owned())
    }
}

/// Origin of a row, stored as JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Origin {
    /// Name of the harvested folder.
    pub folder: String,
    /// Path of the file below the folder.
    pub file: String,
    /// Line of the kernel's name.
    pub line: usize,
    /// Commit of the folder, if it is a checkout.
    pub commit: Option<String>,
    /// SPDX expression of the file's licence.
    pub license: String,
    /// The first row with this structure, if that is another row.
    pub same_structure_as: Option<u64>,
    /// The launch that the inputs were recorded from, if they were not drawn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<RecordedFrom>,
    /// Names for which the text has the user's values, in the place of the file's own or of values
    /// that only Python knows.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub given: Vec<String>,
}

/// Launch of a program from which inputs were recorded.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct RecordedFrom {
    /// Path of the program below the folder, or the name of a program elsewhere.
    pub program: String,
    /// Number of the launch of the kernel, from 1 on.
    pub launch: u64,
}

/// Makes the manifest of a harvest.
pub fn manifest_of(harvest: Harvest, rows: usize, plan: Plan) -> Manifest {
    let manifest = Manifest::new(rows as u64, plan, &Tools::default());
    Manifest { harvest: Some(harvest), ..manifest }
}

/// Returns true if a text may be an SPDX expression, such as `Apache-2.0` or `MIT OR Apache-2.0`.
pub fn is_licence(text: &str) -> bool {
    let word = |word: &str| {
        !word.is_empty()
            && word.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-+:()".contains(&byte))
    };
    !text.is_empty() && text.split(' ').all(word)
}

/// Makes the row of a text, for any number of threads or, if its threads race, for a single thread.
pub fn row_of(source: &str, program: &RowProgram, plan: Plan) -> Result<Row, Refusal> {
    // A kernel whose threads race may be written for a single thread.
    match tried(source, program, plan, Threads::Any) {
        Err(refusal @ (Refusal::Race | Refusal::MachineCode)) => {
            tried(source, program, plan, Threads::One).map_err(|_| refusal)
        }
        made => made,
    }
}

/// Makes the row of a text for any number of threads: a kernel that only a single thread runs
/// without a race is refused.
pub fn row_of_threads(source: &str, program: &RowProgram, plan: Plan) -> Result<Row, Refusal> {
    tried(source, program, plan, Threads::Any)
}

/// Makes the row of a text on the inputs of a launch that a program made.
pub fn row_of_recorded(
    source: &str,
    program: &RowProgram,
    plan: Plan,
    launch: &RecordedLaunch,
) -> Result<Row, Refusal> {
    let made = |shrink| {
        let (dims, inputs) = recorded::fitted(program, launch, shrink)?;
        let found_inputs =
            input::try_inputs(program, dims, inputs, seed_of(source, plan), RECORDED_BUDGET)?;
        checked(source, program, plan, found_inputs).map(|row| labelled(source, program, row))
    };
    // Threads at other places of the grid may do more.
    let others = || [Shrink::Last, Shrink::First].into_iter().find_map(|it| made(it).ok());
    made(Shrink::Largest).or_else(|refusal| {
        if launch.dims.len() > 1 { others().ok_or(refusal) } else { Err(refusal) }
    })
}

/// Makes a stored row again, without its number and origin; `None` if it gives no row.
pub(crate) fn made_again(
    row: &Row,
    (program, inputs): (&RowProgram, &[ArgumentInput]),
    plan: Plan,
) -> Option<Row> {
    let source = &row.source;
    if !recorded::is_recorded(inputs) {
        return row_of(source, program, plan).ok();
    }
    let seed = seed_of(source, plan);
    let (dims, inputs) = (row.launch_dims.clone(), inputs.to_vec());
    let found_inputs = judge(program, dims, inputs, seed, RECORDED_BUDGET).ok()?;
    checked(source, program, plan, found_inputs).ok().map(|row| labelled(source, program, row))
}

/// Returns true if some inputs of a row were recorded.
pub(crate) fn has_recorded_inputs(row: &Row) -> bool {
    row.inputs().is_some_and(|inputs| recorded::is_recorded(&inputs))
}

fn seed_of(source: &str, plan: Plan) -> u64 {
    plan.seed ^ structure_seed(source)
}

/// Makes a row of a text if inputs are found.
fn tried(source: &str, program: &RowProgram, plan: Plan, threads: Threads) -> Result<Row, Refusal> {
    let found_inputs = input::find(program, seed_of(source, plan), threads)?;
    checked(source, program, plan, found_inputs).map(|row| labelled(source, program, row))
}

/// Adds the columns that describe a row's source.
fn labelled(source: &str, program: &RowProgram, (row, inputs): (Row, Vec<ArgumentInput>)) -> Row {
    Labels::of(source, program, &inputs).label(row)
}

/// Makes the row of a text on inputs, if its checks pass; the columns that describe its source are
/// missing. Returns the row with its inputs.
pub(crate) fn checked(
    source: &str,
    program: &RowProgram,
    plan: Plan,
    given: FoundInputs,
) -> Result<(Row, Vec<ArgumentInput>), Refusal> {
    let grid = LaunchInputs { dims: &given.dims, inputs: &given.inputs };
    let have = given.results;
    if !order::is_settled(program, grid, given.seed, &have) {
        return Err(Refusal::Race);
    }
    let mut checks =
        vec![Check::passed("parses"), Check::passed("compiles"), Check::passed("meaningful")];
    let mark = |name: &str, holds: bool| {
        Check::new(name, if holds { Verdict::Pass } else { Verdict::Waived }, None)
    };
    checks.push(mark("inputs", given.inputs_matter));
    checks.push(mark("comparisons", given.comparisons_vary));
    let pinned = mutation_check::seed(source, program, grid, given.seed);
    checks.push(mark("pinned", pinned.is_ok_and(|seed| seed == given.seed)));
    checks.extend(gradient(program, grid, given.seed, &have, &mut |it| mark("rounding", it))?);
    let machine = machine_code(program, grid, given.seed, &have);
    if machine.as_ref().is_ok_and(|check| check.verdict == Verdict::Fail) {
        return Err(Refusal::MachineCode);
    }
    checks.extend(machine);
    let row = row(source, program, grid, plan, (given.seed, given.attempt), (have, checks));
    Ok((row, given.inputs))
}

/// Returns a seed that depends on the text alone, so that a kernel's inputs don't depend on other
/// kernels.
fn structure_seed(source: &str) -> u64 {
    u64::from_str_radix(&structure::digest(source, 8), 16).unwrap_or(0)
}

/// Makes the checks of rounding and of the gradient.
fn gradient(
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    seed: u64,
    have: &Results,
    mark: &mut dyn FnMut(bool) -> Check,
) -> Result<Vec<Check>, Refusal> {
    let wide = widen::results(program, grid, seed);
    let mut checks = Vec::new();
    if let Some((_, found)) = &wide {
        let is_harmless = rounding::is_harmless(have, found);
        checks.push(mark(is_harmless));
        if !is_harmless {
            return Ok(checks);
        }
    }
    match slope(program, wide.as_ref(), (grid, seed), have) {
        Ok(check) => checks.extend(check),
        Err(RejectReason::WrongSlope) => return Err(Refusal::Gradient),
        Err(_) => return Err(Refusal::NotFinite),
    }
    Ok(checks)
}

fn row(
    source: &str,
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    plan: Plan,
    (input_seed, attempt): (u64, u32),
    (have, checks): (Results, Vec<Check>),
) -> Row {
    let inputs: &[ArgumentInput] = grid.inputs;
    let row = Row {
        family: FAMILY.into(),
        source: source.into(),
        gradient_refused: program.reverse.as_ref().err().cloned(),
        launch_dims: grid.dims.into(),
        inputs_json: json!(inputs).to_string(),
        input_seed,
        outputs_json: Some(tensor::to_json(&have.outputs)),
        gradients_json: have.gradients.map(|gradients| tensor::to_json(&gradients)),
        checks_json: json!(checks).to_string(),
        seed: plan.seed,
        attempt,
        generator_version: GENERATOR_VERSION,
        compiler: COMPILER_VERSION.into(),
        ..Row::default()
    };
    program.emit(plan.device, grid.dims.len()).fill(row)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn licences_are_expressions() {
        for text in ["MIT", "Apache-2.0", "MIT OR Apache-2.0", "(GPL-2.0+ WITH x)", "LicenseRef-a"]
        {
            assert!(is_licence(text), "{text}");
        }
        for text in ["", " ", "MIT\n", "MIT\nfoo: bar", "a  b", "\"MIT\""] {
            assert!(!is_licence(text), "{text:?}");
        }
    }
}
