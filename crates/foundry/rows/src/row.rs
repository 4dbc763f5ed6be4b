//! A row: a kernel, the texts and results that follow from it, and the verdicts of its checks.
//!
//! Row `i` of a dataset with seed `s` depends on `s`, `i` and the mode alone: drafts are drawn by a
//! seed of the row until one passes the checks.

use crate::allowed_error::{AllowedErrors, Runner, adds_floats};
use crate::distance::settled;
use crate::execute::{self, LaunchInputs, Variation};
use crate::finite_difference::{self, SlopeCheck};
use crate::labels::Labels;
use crate::launched::{self, ExpectedResults};
use crate::row_program::RowProgram;
use crate::semantic_check;
pub(crate) use crate::semantic_check::RejectReason;
use crate::skeleton::KnownSkeletons;
use crate::tensor::{self, Tensor};
use crate::verdict::{Check, CheckOutcome, Verdict};
use crate::{mutation_check, rounding, seed_text, template_row, widen};
use gbxcule_back_cxx::Dialect;
use gbxcule_grammar::input::ArgumentInput;
use gbxcule_grammar::{Draft, draft, random};
use gbxcule_runtime::Device;
use serde::{Deserialize, Serialize};
use serde_json::json;
use std::cell::OnceCell;
use std::sync::LazyLock;

/// Version of the generator. It changes whenever the same seed gives other rows.
pub const GENERATOR_VERSION: u32 = 13;
/// The compiler that made the texts.
pub const COMPILER_VERSION: &str = concat!("gbxcule ", env!("CARGO_PKG_VERSION"));
/// Greatest number of drafts that are tried for a row.
const ATTEMPTS: u64 = 200;
/// Kernels that NVIDIA Warp's package contains already.
pub(crate) static IN_WARP: LazyLock<KnownSkeletons> = LazyLock::new(KnownSkeletons::of_warp);

/// Amount of work that is done for a row when it is made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// The text is compiled, differentiated and printed, but not run.
    Text,
    /// The kernel runs only for the checks of `semantic_check`; no results are stored.
    Meaning,
    /// All work: the semantic checks, expected results, gradients compared with differences.
    Run,
}

/// A row. Columns named `.._json` hold JSON.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(expecting = "a row")]
#[allow(missing_docs, reason = "docs/dataset.md says what a row holds, column by column")]
pub struct Row {
    pub id: u64,
    pub family: String,
    pub kernel: String,
    /// The row's kernels, in the order of the text.
    pub kernels: Vec<String>,
    pub source: String,
    pub ir: String,
    pub ir_backward: Option<String>,
    pub cpp: Option<String>,
    pub cpp_backward: Option<String>,
    pub cuda: Option<String>,
    pub cuda_backward: Option<String>,
    pub cuda_plain: Option<String>,
    pub cuda_plain_backward: Option<String>,
    pub ptx: Option<String>,
    pub ptx_backward: Option<String>,
    pub warp_cpp: Option<String>,
    pub warp_cuda: Option<String>,
    pub warp_origin_json: Option<String>,
    /// The code with which a reverse was refused.
    pub gradient_refused: Option<String>,
    /// The launches of a row of several kernels.
    pub launches_json: Option<String>,
    pub signature_json: String,
    pub launch_dims: Vec<u32>,
    pub inputs_json: String,
    #[serde(with = "seed_text")]
    pub input_seed: u64,
    pub outputs_json: Option<String>,
    pub gradients_json: Option<String>,
    pub features: Vec<String>,
    pub structure: String,
    pub split: String,
    pub checks_json: String,
    #[serde(with = "seed_text")]
    pub seed: u64,
    pub attempt: u32,
    pub generator_version: u32,
    pub compiler: String,
    pub in_warp: bool,
    pub warp_gradient: Option<String>,
    pub origin_json: Option<String>,
    /// The algorithm of the library of which the row is an instance.
    pub template: Option<String>,
    pub summary: Option<String>,
    pub description: Option<String>,
    pub specification: Option<String>,
    pub real_launch_dims: Vec<u32>,
    pub block_dims: Vec<u32>,
}

/// Devices for which a row holds text.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Texts {
    /// C++.
    Cpu,
    /// CUDA C++.
    Cuda,
    /// Both.
    #[default]
    Both,
}

impl Texts {
    /// Returns true if the texts include a dialect.
    pub(crate) fn have(self, dialect: Dialect) -> bool {
        self != match dialect {
            Dialect::Host => Self::Cuda,
            Dialect::Cuda => Self::Cpu,
        }
    }
}

/// Recipe of the rows: the seed and the options that determine all rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The dataset's seed.
    #[serde(with = "seed_text")]
    pub seed: u64,
    /// Amount of work that is done for a row.
    pub mode: Mode,
    /// Devices for which rows hold text.
    pub device: Texts,
    /// The host's compiler compiles and runs the C++ text of one in this many rows; 0 for none.
    #[serde(default)]
    pub host_every: u64,
    /// Percentage of the rows that the grammar samples; the others are algorithms of the library.
    #[serde(default = "all_sampled")]
    pub sampled: u32,
}

/// Default for datasets of older programs, which had no library.
fn all_sampled() -> u32 {
    100
}

/// Makes a sampled row, or returns the reason why the draft was rejected.
fn attempt(plan: Plan, id: u64, attempt: u64) -> Result<Row, RejectReason> {
    let row_seed = random::seed(plan.seed, id);
    let seed = random::seed(row_seed, attempt);
    let draft = draft(row_seed, seed).ok_or(RejectReason::Senseless)?;
    let source = draft.source();
    let program = RowProgram::read(&source).map_err(|_| RejectReason::Faults)?;
    let checked = check(plan.mode, &draft, &program, &source, random::seed(seed, 1 << 40))?;
    let emitted = program.emit(plan.device, draft.dims.len());
    let row = Row {
        id,
        family: draft.family.name().into(),
        gradient_refused: program.reverse.as_ref().err().cloned(),
        launch_dims: draft.dims.clone(),
        inputs_json: json!(draft.inputs).to_string(),
        input_seed: checked.input_seed,
        outputs_json: checked.outputs,
        gradients_json: checked.gradients,
        checks_json: json!(checked.checks).to_string(),
        seed: plan.seed,
        attempt: attempt as u32,
        generator_version: GENERATOR_VERSION,
        compiler: COMPILER_VERSION.into(),
        ..Row::default()
    };
    let labels = Labels::of(&source, &program, &draft.inputs);
    Ok(labels.label(emitted.fill(Row { source, ..row })))
}

/// Outcome of the checks of a draft: the seed of inputs that pass them, verdicts, and results.
struct CheckedDraft {
    input_seed: u64,
    checks: Vec<Check>,
    outputs: Option<String>,
    gradients: Option<String>,
}

/// Makes the checks of a draft that the mode asks for.
fn check(
    mode: Mode,
    draft: &Draft,
    program: &RowProgram,
    source: &str,
    mut input_seed: u64,
) -> Result<CheckedDraft, RejectReason> {
    let mut checks = vec![Check::passed("parses"), Check::passed("compiles")];
    let (mut outputs, mut gradients) = (None, None);
    if mode != Mode::Text {
        input_seed = semantic_check::check(draft, program, source, input_seed)?;
        checks.push(Check::passed("meaningful"));
    }
    if mode == Mode::Run {
        let grid = LaunchInputs { dims: &draft.dims, inputs: &draft.inputs };
        input_seed = mutation_check::seed(source, program, grid, input_seed)?;
        checks.push(Check::passed("pinned"));
        let results = results(program, grid, input_seed).map_err(|_| RejectReason::Faults)?;
        let wide = widen::results(program, grid, input_seed);
        if wide.as_ref().is_some_and(|(_, found)| !rounding::is_harmless(&results, found)) {
            return Err(RejectReason::Rounding);
        }
        checks.extend(slope(program, wide.as_ref(), (grid, input_seed), &results)?);
        checks.extend(machine_code(program, grid, input_seed, &results));
        outputs = Some(tensor::to_json(&results.outputs));
        gradients = results.gradients.map(|gradients| tensor::to_json(&gradients));
    }
    Ok(CheckedDraft { input_seed, checks, outputs, gradients })
}

/// Compares the gradients in 64 bits with differences; rejects a row whose gradient is wrong. Makes
/// no check if the kernel can't be computed in 64 bits.
pub(crate) fn slope(
    program: &RowProgram,
    wide: Option<&(RowProgram, Results)>,
    (grid, seed): (LaunchInputs<'_>, u64),
    have: &Results,
) -> Result<Option<Check>, RejectReason> {
    let check = |verdict, number| Ok(Some(Check::new("differences", verdict, number)));
    if program.reverse.is_err() {
        return check(Verdict::Refused(String::new()), None);
    }
    if have.gradients.is_none() {
        return Err(RejectReason::Faults);
    }
    let Some((wide, Results { gradients: Some(gradients), .. })) = wide else {
        return Ok(None);
    };
    match finite_difference::compare(wide, gradients, grid, seed) {
        SlopeCheck::Measured(error) if error <= finite_difference::TOLERANCE => {
            check(Verdict::Pass, Some(error))
        }
        SlopeCheck::Measured(_) => Err(RejectReason::WrongSlope),
        SlopeCheck::Rough => check(Verdict::Rough, None),
    }
}

/// Compares the kernel and its reverse as machine code of this CPU with the interpreter.
pub(crate) fn machine_code(
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    seed: u64,
    results: &Results,
) -> CheckOutcome {
    let (name, found) = ("machine_code", OnceCell::new());
    let find = || AllowedErrors::find(program, grid, seed, results, Runner::Device);
    let bounds = || found.get_or_init(find).as_ref();
    let wanted = ExpectedResults { results, stored: [None; 2] };
    match launched::compare(program, grid, seed, wanted, Device::Cpu, bounds) {
        Ok(distances) => {
            let check = settled(name, &distances)?;
            // Threads would add to the same element in varying order, but a row must depend on its
            // seed alone.
            let reverse = program.reverse.as_ref().ok().map(|it| &*it.module);
            let unordered = std::iter::once(&*program.forward).chain(reverse).any(adds_floats);
            Ok(Check { number: check.number.filter(|_| !unordered), ..check })
        }
        Err(_) => Ok(Check::failed(name)),
    }
}

/// Makes row `id` of a dataset.
pub fn make(plan: Plan, id: u64) -> Row {
    template_row::make(plan, id).unwrap_or_else(|| sampled(plan, id))
}

fn sampled(plan: Plan, id: u64) -> Row {
    for number in 0..ATTEMPTS {
        if let Ok(row) = attempt(plan, id, number) {
            return row;
        }
    }
    unreachable!("seed {} row {id}: {ATTEMPTS} drafts in a row mean nothing", plan.seed)
}

/// Counts the accepted drafts, and the rejected drafts by reason.
pub fn acceptance(plan: Plan, drafts: u64) -> Vec<(String, usize)> {
    let mut counts = std::collections::BTreeMap::new();
    for id in 0..drafts {
        let reason =
            attempt(plan, id, 0).map_or_else(|reason| format!("{reason:?}"), |_| "accepted".into());
        *counts.entry(reason).or_insert(0) += 1;
    }
    counts.into_iter().collect()
}

/// Expected results of a row's launch.
pub struct Results {
    /// Arrays that the kernel wrote.
    pub outputs: Vec<Tensor>,
    /// Gradients from the reverse kernel, if there is one.
    pub gradients: Option<Vec<Tensor>>,
    /// Gradients of the outputs that begin at zero, as the reverse kernel leaves them.
    pub consumed: Vec<Tensor>,
}

impl Results {
    /// Returns the gradients, if there are any.
    pub fn slopes(&self) -> &[Tensor] {
        self.gradients.as_deref().unwrap_or_default()
    }
}

/// Runs a kernel and its reverse.
pub fn results(program: &RowProgram, grid: LaunchInputs<'_>, seed: u64) -> Result<Results, String> {
    results_in(Variation::default(), program, grid, seed)
}

/// Runs a kernel and its reverse with other mathematics or another order of threads.
pub(crate) fn results_in(
    way: Variation,
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    seed: u64,
) -> Result<Results, String> {
    let data = execute::arguments(program, grid.inputs, seed);
    let ran = execute::states(way, program, grid, &data)?;
    let tensors = |memory: &[Vec<u8>], wanted: fn(&ArgumentInput) -> bool| -> Vec<Tensor> {
        let named = grid.inputs.iter().enumerate().filter(|(_, given)| wanted(given));
        let tensor = |(at, given): (usize, &ArgumentInput)| Tensor {
            name: given.name.clone(),
            shape: given.shape.clone(),
            numbers: execute::numbers(program, at, &memory[at]),
        };
        named.map(tensor).collect()
    };
    let outputs = tensors(&ran.after, |given| given.written);
    if program.reverse.is_err() {
        return Ok(Results { outputs, gradients: None, consumed: Vec::new() });
    }
    let cotangents = execute::cotangents(program, grid.inputs, seed);
    let after = execute::gradients(way, program, grid, (&ran.states, cotangents))?;
    let mut gradients = tensors(&after, |given| !given.zero && !given.shape.is_empty());
    gradients.retain(|tensor| tensor.numbers.iter().any(|number| number.scalar().is_float()));
    let consumed = tensors(&after, |given| given.zero && given.written && !given.shape.is_empty());
    // Nothing reads the gradients of integers in structs.
    if gradients.iter().flat_map(|it| &it.numbers).any(|number| !number.as_f64().is_finite()) {
        return Err("a gradient isn't finite".into());
    }
    Ok(Results { outputs, gradients: Some(gradients), consumed })
}

impl Row {
    /// Returns the devices for which the row holds texts.
    pub fn texts(&self) -> Texts {
        match (&self.cpp, &self.cuda) {
            (Some(_), Some(_)) => Texts::Both,
            (None, Some(_)) => Texts::Cuda,
            _ => Texts::Cpu,
        }
    }

    /// Returns the inputs as data.
    pub fn inputs(&self) -> Option<Vec<ArgumentInput>> {
        let inputs: Vec<ArgumentInput> = serde_json::from_str(&self.inputs_json).ok()?;
        inputs.iter().all(ArgumentInput::is_sound).then_some(inputs)
    }

    /// Adds a check.
    pub(crate) fn add_check(&mut self, check: Check) {
        let mut checks = self.checks();
        checks.push(check);
        self.checks_json = json!(checks).to_string();
    }

    /// Adds later verdicts, and sets `warp_gradient`. Checks that were not run are not stored.
    pub fn record_verdicts(&mut self, found: &[CheckOutcome]) {
        let mut checks = self.checks();
        for check in found.iter().flatten() {
            checks.retain(|it| it.check != check.check);
            checks.push(check.clone());
        }
        self.checks_json = json!(checks).to_string();
        self.warp_gradient = Self::warp_label(&checks).map(str::to_owned);
    }

    /// Returns the value of the column `warp_gradient` that follows from the checks.
    pub(crate) fn warp_label(checks: &[Check]) -> Option<&'static str> {
        let label = checks.iter().find(|it| it.check == "warp_gradient")?;
        match label.verdict {
            Verdict::Pass => Some("right"),
            Verdict::Wrong => Some("wrong"),
            _ => None,
        }
    }

    /// Returns the checks as data.
    pub fn checks(&self) -> Vec<Check> {
        serde_json::from_str(&self.checks_json).unwrap_or_default()
    }
}
