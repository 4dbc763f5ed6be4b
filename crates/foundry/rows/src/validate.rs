//! The checks of a row: each check runs or compares a part of the stored row, and gives a verdict
//! and a number.

mod assembler;
mod origin;
mod text;
mod warp;

use crate::allowed_error::{AllowedErrors, Runner};
use crate::distance::{exact, settled};
use crate::error::SynthError;
use crate::execute::LaunchInputs;
use crate::finite_difference::{self, SlopeCheck};
use crate::launched::{self, ExpectedResults};
use crate::row::{Results, Row, Texts, results};
use crate::row_program::{Emitted, RowProgram};
use crate::tensor::Tensor;
use crate::verdict::{Check, CheckOutcome, NotRun, Verdict, skipped};
use crate::widen;
use gbxcule_grammar::input::{ArgumentInput, is_small};
use gbxcule_oracle::Python;
use gbxcule_runtime::Device;
pub use origin::Provenance;
use std::cell::OnceCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use text::HostChecks;

/// The checks, in order.
pub const CHECKS: [&str; 17] = [
    "parses",
    "texts",
    "labels",
    "origin",
    "outputs",
    "gradients",
    "differences",
    "machine_code",
    "cpp",
    "cuda_on_host",
    "nvrtc",
    "ptx",
    "warp",
    "warp_gradient",
    "warp_text",
    "gpu",
    "verdicts",
];

/// Checks that compare stored columns with columns made again, and run no stored text.
pub(crate) const COMPARISONS: [&str; 4] = ["texts", "labels", "origin", "verdicts"];

/// Error above which NVIDIA Warp's gradient counts as different from ours, which differences
/// confirm; relative to the number, or to 1 if that is larger.
pub const WARP_GRADIENT_ERROR: f64 = 1e-2;

/// Selection of the checks that need another program. A host compiler gets a text only if our
/// compiler prints the same text for the row's source, and the compiled program runs in the
/// sandbox.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// The dataset of the rows.
    pub dataset: Option<Provenance>,
    /// Folder below which the host's compiler works, in a temporary folder.
    pub host: Option<PathBuf>,
    /// Texts that the host's compiler compiles.
    pub host_texts: Texts,
    /// True to compile also texts that differ from the printed ones. Allowed only for texts that
    /// this process altered itself.
    pub host_altered: bool,
    /// True to compile the CUDA texts to machine code by NVRTC, and the stored PTX by `ptxas`.
    pub nvrtc: bool,
    /// A Python with NVIDIA Warp.
    pub warp: Option<Python>,
    /// A GPU for launches of the rows.
    pub gpu: Option<Device>,
}

/// Makes the checks of some rows, in their order.
pub fn validate(rows: &[Row], wanted: &Checks) -> Result<Vec<Vec<CheckOutcome>>, SynthError> {
    let read: Vec<Option<StoredRow>> = rows.iter().map(StoredRow::read).collect();
    let mut verdicts: Vec<Vec<CheckOutcome>> =
        rows.iter().zip(&read).map(|(row, stored)| checks(row, stored.as_ref())).collect();
    let dataset = wanted.dataset.as_ref();
    let origins = rows.iter().zip(&read).zip(&verdicts);
    let origins: Vec<(CheckOutcome, Option<Row>)> = origins
        .map(|((row, stored), found)| origin::check(dataset, row, stored.as_ref(), found))
        .collect();
    let ran = match &wanted.host {
        Some(folder) => text::checks(
            rows,
            &read,
            folder,
            HostChecks { texts: wanted.host_texts, altered: wanted.host_altered, strict: false },
        )?,
        None => rows
            .iter()
            .map(|_| ["cpp", "cuda_on_host"].map(|name| skipped(name, NotRun::NotAsked)))
            .collect(),
    };
    let compiled = if wanted.nvrtc {
        assembler::checks(rows, &read)?
    } else {
        rows.iter().map(|_| assembler::not_asked()).collect()
    };
    let warp = match &wanted.warp {
        Some(python) => warp::checks(rows, &read, &verdicts, python)?,
        None => rows
            .iter()
            .map(|_| ["warp", "warp_gradient"].map(|name| skipped(name, NotRun::NotAsked)))
            .collect(),
    };
    let warp_texts = match &wanted.warp {
        Some(python) => warp::texts(rows, python)?,
        None => rows.iter().map(|_| skipped("warp_text", NotRun::NotAsked)).collect(),
    };
    let warp = warp.into_iter().zip(warp_texts);
    let others = ran.into_iter().zip(compiled).zip(warp).zip(origins);
    let rows = rows.iter().zip(&read);
    for ((checks, (row, stored)), (((ran, compiled), warp), (origin, again))) in
        verdicts.iter_mut().zip(rows).zip(others)
    {
        checks.extend(ran);
        checks.extend(compiled);
        checks.extend(warp.0);
        checks.push(warp.1);
        checks.push(match (wanted.gpu, stored) {
            (None, _) => skipped("gpu", NotRun::NotAsked),
            (Some(_), None) => skipped("gpu", NotRun::Unreadable),
            (Some(device), Some(stored)) => stored.launched("gpu", row, device),
        });
        checks.push(origin);
        checks.push(match stored {
            None => skipped("verdicts", NotRun::Unreadable),
            Some(stored) => origin::verdicts(dataset, (row, stored), checks, again.as_ref()),
        });
    }
    Ok(verdicts)
}

/// Makes only the check of the host's compiler: compiles all C++ texts together and runs them.
pub(crate) fn host(rows: &[Row], folder: &Path) -> Result<Vec<CheckOutcome>, SynthError> {
    let read: Vec<Option<StoredRow>> = rows.iter().map(StoredRow::read).collect();
    let asked = HostChecks { texts: Texts::Cpu, altered: false, strict: true };
    let checks = text::checks(rows, &read, folder, asked)?;
    Ok(checks.into_iter().map(|[cpp, _]| cpp).collect())
}

/// A row that could be read.
struct StoredRow {
    program: RowProgram,
    dims: Vec<u32>,
    inputs: Vec<ArgumentInput>,
    seed: u64,
    results: Result<Results, String>,
    /// Texts that the compiler prints for the source.
    emitted: Emitted,
    /// Allowed errors of the results, for each runner.
    bounds: [OnceCell<Option<AllowedErrors>>; 3],
}

impl StoredRow {
    fn read(row: &Row) -> Option<Self> {
        let program = RowProgram::read(&row.source).ok()?;
        let inputs = row.inputs()?;
        if !program.takes(&inputs) || !is_small(&row.launch_dims) {
            return None;
        }
        let results = results(
            &program,
            LaunchInputs { dims: &row.launch_dims, inputs: &inputs },
            row.input_seed,
        );
        let (dims, seed) = (row.launch_dims.clone(), row.input_seed);
        let emitted = program.emit(row.texts(), row.launch_dims.len());
        Some(Self { program, dims, inputs, seed, results, emitted, bounds: Default::default() })
    }

    fn grid(&self) -> LaunchInputs<'_> {
        LaunchInputs { dims: &self.dims, inputs: &self.inputs }
    }

    fn bounds(&self, runner: Runner) -> Option<&AllowedErrors> {
        let find = || {
            let exact = self.results.as_ref().ok()?;
            AllowedErrors::find(&self.program, self.grid(), self.seed, exact, runner)
        };
        self.bounds[runner as usize].get_or_init(find).as_ref()
    }

    /// Returns the CUDA texts that the compiler prints.
    fn printed_cuda(&self) -> (&Option<String>, &Option<String>) {
        (&self.emitted.cuda, &self.emitted.cuda_backward)
    }

    /// Compares the gradient with differences, in 64 bits.
    fn slope(&self) -> Option<SlopeCheck> {
        let wide = widen::program(&self.program)?;
        let gradients = results(&wide, self.grid(), self.seed).ok()?.gradients?;
        Some(finite_difference::compare(&wide, &gradients, self.grid(), self.seed))
    }

    /// Launches the kernel on a device, forward and backward, and compares the results with the
    /// row's.
    fn launched(&self, name: &str, row: &Row, device: Device) -> CheckOutcome {
        let Ok(results) = &self.results else { return Ok(Check::failed(name)) };
        let stored = [&row.outputs_json, &row.gradients_json].map(Option::as_deref);
        let (wanted, bounds) =
            (ExpectedResults { results, stored }, || self.bounds(Runner::Device));
        match launched::compare(&self.program, self.grid(), self.seed, wanted, device, bounds) {
            Ok(distances) => settled(name, &distances),
            Err(_) => Ok(Check::failed(name)),
        }
    }
}

/// Makes the checks that need no other compiler.
fn checks(row: &Row, stored: Option<&StoredRow>) -> Vec<CheckOutcome> {
    let Some(stored) = stored else {
        let none = ["texts", "labels", "outputs", "gradients", "differences", "machine_code"];
        let none = none.into_iter().map(|name| skipped(name, NotRun::Unreadable));
        return std::iter::once(Ok(Check::failed("parses"))).chain(none).collect();
    };
    let StoredRow { program, results, .. } = stored;
    let mut checks = vec![
        Ok(Check::passed("parses")),
        Ok(Check::holds("texts", same_texts(row, stored), None)),
        origin::labels(row, stored),
    ];
    let judge = |name: &str, stored: Option<&str>, own: Option<&Vec<Tensor>>| match (stored, own) {
        (None, _) => skipped(name, NotRun::NothingStored),
        (Some(stored), Some(own)) => Ok(exact(stored, own).verdict(name)),
        (Some(_), None) => Ok(Check::failed(name)),
    };
    let computed = results.as_ref().ok();
    checks.push(judge("outputs", row.outputs_json.as_deref(), computed.map(|it| &it.outputs)));
    checks.push(judge(
        "gradients",
        row.gradients_json.as_deref(),
        computed.and_then(|it| it.gradients.as_ref()),
    ));
    checks.push(match &program.reverse {
        Err(_) => Ok(Check::new("differences", Verdict::Refused(String::new()), None)),
        Ok(_) => match stored.slope() {
            Some(SlopeCheck::Measured(error)) => {
                Ok(Check::holds("differences", error <= finite_difference::TOLERANCE, Some(error)))
            }
            Some(SlopeCheck::Rough) => Ok(Check::new("differences", Verdict::Rough, None)),
            None => skipped("differences", NotRun::NotWide),
        },
    });
    checks.push(stored.launched("machine_code", row, Device::Cpu));
    checks
}

/// Returns true if the compiler prints the texts that the row holds.
fn same_texts(row: &Row, StoredRow { program, emitted, .. }: &StoredRow) -> bool {
    emitted.clone().fill(row.clone()) == *row
        && row.gradient_refused.as_ref() == program.reverse.as_ref().err()
}

/// Returns true if a row's C++ and CUDA texts equal those that the compiler prints for its source.
pub(crate) fn is_printed(row: &Row) -> bool {
    RowProgram::read(&row.source).is_ok_and(|program| {
        let emitted = program.emit(row.texts(), row.launch_dims.len());
        (&row.cpp, &row.cpp_backward, &row.cuda, &row.cuda_backward)
            == (&emitted.cpp, &emitted.cpp_backward, &emitted.cuda, &emitted.cuda_backward)
    })
}

/// Numbers of rows by the outcome of one check.
#[derive(Clone, PartialEq, Debug)]
pub struct CheckCount {
    /// Name of the check.
    pub check: &'static str,
    /// Number of rows that passed.
    pub pass: usize,
    /// Number of rows that failed.
    pub fail: usize,
    /// Number of rows with another verdict: rough, refused, waived, or NVIDIA Warp's fault.
    pub neither: usize,
    /// Numbers of rows for which the check was not run, by the reason.
    pub not_run: BTreeMap<NotRun, usize>,
    /// The largest measured number of the rows that passed.
    pub most: f64,
}

/// Counts the outcomes of each check.
pub fn count_verdicts(outcomes: &[Vec<CheckOutcome>]) -> Vec<CheckCount> {
    let count = |check| {
        let not_run = BTreeMap::new();
        let mut count = CheckCount { check, pass: 0, fail: 0, neither: 0, not_run, most: 0.0 };
        for outcome in outcomes.iter().flatten() {
            match outcome {
                Ok(found) if found.check == check => match found.verdict {
                    Verdict::Pass => {
                        count.pass += 1;
                        count.most = count.most.max(found.number.unwrap_or(0.0));
                    }
                    Verdict::Fail => count.fail += 1,
                    _ => count.neither += 1,
                },
                Err(skipped) if skipped.check == check => {
                    *count.not_run.entry(skipped.reason.clone()).or_default() += 1;
                }
                _ => {}
            }
        }
        count
    };
    CHECKS.map(count).into()
}

/// Checks whose number is a difference in units in the last place.
pub const UNITS: [&str; 5] = ["machine_code", "cpp", "cuda_on_host", "warp", "gpu"];

/// Returns, for each of [`UNITS`], the differences of the rows that passed, the least first.
pub fn units(outcomes: &[Vec<CheckOutcome>]) -> Vec<(&'static str, Vec<f64>)> {
    UNITS
        .map(|name| {
            let made = outcomes.iter().flatten().flatten();
            let passed = made.filter(|it| it.check == name && it.verdict == Verdict::Pass);
            let mut units: Vec<f64> = passed.filter_map(|check| check.number).collect();
            units.sort_by(f64::total_cmp);
            (name, units)
        })
        .into()
}

/// Returns true if any check failed.
pub fn has_failed(outcomes: &[CheckOutcome]) -> bool {
    outcomes.iter().flatten().any(|check| check.verdict == Verdict::Fail)
}
