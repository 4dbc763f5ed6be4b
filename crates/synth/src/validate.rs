//! The checks of a row: each check executes something of a row as it is stored, and gives a verdict
//! and a number.

mod assembler;
mod peer;
mod text;

use crate::bound::{Bounds, Runner};
use crate::difference::{self, Slope};
use crate::distance::{exact, settled};
use crate::error::SynthError;
use crate::execute::Grid;
use crate::input::{ArgumentInput, is_small, rank};
use crate::launched::{self, ExpectedResults};
use crate::program::{Emitted, Program};
use crate::row::{Check, Results, Row, Texts, results};
use crate::tensor::Tensor;
use crate::widen;
use gbxcule_ir::Param;
use gbxcule_oracle::Python;
use gbxcule_runtime::Device;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};
use text::HostChecks;

/// The checks, from the first.
pub const CHECKS: [&str; 13] = [
    "parses",
    "texts",
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
    "gpu",
];

/// Error from which on NVIDIA Warp's gradient counts as different from ours, which differences
/// confirm: a hundredth, relative to the number or to 1.
pub const WARP_GRADIENT_ERROR: f64 = 1e-2;

/// Choice of the checks beside those that need no other program. A text is handed to a compiler
/// only if ours prints the same for the row's source, and the compiled program runs in the sandbox.
#[derive(Clone, Debug, Default)]
pub struct Checks {
    /// A folder in which the host's compiler gets one to work in.
    pub host: Option<PathBuf>,
    /// Texts that the host's compiler compiles.
    pub host_texts: Texts,
    /// Compile also texts that differ from those that the compiler prints for the row's source, but
    /// only texts that this process altered itself.
    pub host_altered: bool,
    /// Compile the CUDA texts with NVRTC to machine code, and the stored PTX with `ptxas`.
    pub nvrtc: bool,
    /// A Python with NVIDIA Warp.
    pub warp: Option<Python>,
    /// A GPU that rows are launched on.
    pub gpu: Option<Device>,
}

/// The verdicts of some rows, in their order.
pub fn validate(rows: &[Row], wanted: &Checks) -> Result<Vec<Vec<Check>>, SynthError> {
    let read: Vec<Option<Stored>> = rows.iter().map(Stored::read).collect();
    let mut verdicts: Vec<Vec<Check>> =
        rows.iter().zip(&read).map(|(row, stored)| checks(row, stored.as_ref())).collect();
    let ran = match &wanted.host {
        Some(folder) => text::checks(
            rows,
            &read,
            folder,
            HostChecks { texts: wanted.host_texts, altered: wanted.host_altered, strict: false },
        )?,
        None => rows
            .iter()
            .map(|_| ["cpp", "cuda_on_host"].map(|name| check(name, NOT_ASKED, None)))
            .collect(),
    };
    let compiled = if wanted.nvrtc {
        assembler::checks(rows, &read)?
    } else {
        rows.iter().map(|_| assembler::not_asked()).collect()
    };
    let warp = match &wanted.warp {
        Some(python) => peer::checks(rows, &read, &verdicts, python)?,
        None => rows
            .iter()
            .map(|_| ["warp", "warp_gradient"].map(|name| check(name, NOT_ASKED, None)))
            .collect(),
    };
    let others = ran.into_iter().zip(compiled).zip(warp).zip(rows.iter().zip(&read));
    for (checks, (((ran, compiled), warp), (row, stored))) in verdicts.iter_mut().zip(others) {
        checks.extend(ran);
        checks.extend(compiled);
        checks.extend(warp);
        checks.push(match (wanted.gpu, stored) {
            (None, _) => check("gpu", NOT_ASKED, None),
            (Some(_), None) => check("gpu", UNREAD, None),
            (Some(device), Some(stored)) => stored.launched("gpu", row, device),
        });
    }
    Ok(verdicts)
}

/// The check of the host's compiler alone: C++ texts, compiled together.
pub(crate) fn host(rows: &[Row], folder: &Path) -> Result<Vec<Check>, SynthError> {
    let read: Vec<Option<Stored>> = rows.iter().map(Stored::read).collect();
    let asked = HostChecks { texts: Texts::Cpu, altered: false, strict: true };
    let checks = text::checks(rows, &read, folder, asked)?;
    Ok(checks.into_iter().map(|[cpp, _]| cpp).collect())
}

const NOT_ASKED: &str = "not run: not asked for";
const UNREAD: &str = "not run: does not parse";
/// The verdict, or none, of a compiler on a text of unknown origin.
const ALTERED: &str = "not run: not what the compiler prints";

fn check(name: &str, verdict: &str, number: Option<f64>) -> Check {
    Check { check: name.into(), verdict: verdict.into(), number }
}

/// A row that could be read.
struct Stored {
    program: Program,
    dims: Vec<u32>,
    inputs: Vec<ArgumentInput>,
    seed: u64,
    results: Result<Results, String>,
    /// Texts that the compiler prints for the source.
    emitted: Emitted,
    /// Allowed errors of the results, for each runner.
    bounds: [OnceCell<Option<Bounds>>; 3],
}

impl Stored {
    fn read(row: &Row) -> Option<Self> {
        let program = Program::read(&row.source).ok()?;
        let inputs = row.inputs()?;
        let types = &program.forward.types;
        let fits =
            |(param, given): (&Param, &ArgumentInput)| given.shape.len() == rank(types, param.ty);
        if inputs.len() != program.params().len()
            || !program.params().iter().zip(&inputs).all(fits)
            || !is_small(&row.launch_dims)
        {
            return None;
        }
        let results =
            results(&program, Grid { dims: &row.launch_dims, inputs: &inputs }, row.input_seed);
        let (dims, seed) = (row.launch_dims.clone(), row.input_seed);
        let emitted = program.emit(row.texts());
        Some(Self { program, dims, inputs, seed, results, emitted, bounds: Default::default() })
    }

    fn grid(&self) -> Grid<'_> {
        Grid { dims: &self.dims, inputs: &self.inputs }
    }

    fn bounds(&self, runner: Runner) -> Option<&Bounds> {
        let find = || {
            let exact = self.results.as_ref().ok()?;
            Bounds::find(&self.program, self.grid(), self.seed, exact, runner)
        };
        self.bounds[runner as usize].get_or_init(find).as_ref()
    }

    /// The CUDA texts that the compiler prints.
    fn printed_cuda(&self) -> (&Option<String>, &Option<String>) {
        (&self.emitted.cuda, &self.emitted.cuda_backward)
    }

    /// The gradient beside differences, in 64 bits.
    fn slope(&self) -> Option<Slope> {
        let wide = widen::program(&self.program)?;
        let found = results(&wide, self.grid(), self.seed).ok()?.gradients?;
        Some(difference::compare(&wide, &found, self.grid(), self.seed))
    }

    /// Launched on a device, forward and backward, beside what the row holds.
    fn launched(&self, name: &str, row: &Row, device: Device) -> Check {
        let Ok(results) = &self.results else { return check(name, "fail", None) };
        let stored = [&row.outputs_json, &row.gradients_json].map(Option::as_deref);
        let (wanted, bounds) =
            (ExpectedResults { results, stored }, || self.bounds(Runner::Device));
        match launched::compare(&self.program, self.grid(), self.seed, wanted, device, bounds) {
            Ok(distances) => settled(name, &distances),
            Err(_) => check(name, "fail", None),
        }
    }
}

/// Makes the checks that need no other compiler.
fn checks(row: &Row, stored: Option<&Stored>) -> Vec<Check> {
    let Some(stored) = stored else {
        let none = ["texts", "outputs", "gradients", "differences", "machine_code"];
        let none = none.into_iter().map(|name| check(name, UNREAD, None));
        return std::iter::once(check("parses", "fail", None)).chain(none).collect();
    };
    let Stored { program, results, .. } = stored;
    let mut checks =
        vec![check("parses", "pass", None), check("texts", verdict(same_texts(row, stored)), None)];
    let judge =
        |name: &str, stored: Option<&str>, found: Option<&Vec<Tensor>>| match (stored, found) {
            (None, _) => check(name, "not run: none stored", None),
            (Some(stored), Some(found)) => exact(stored, found).verdict(name),
            (Some(_), None) => check(name, "fail", None),
        };
    let found = results.as_ref().ok();
    checks.push(judge("outputs", row.outputs_json.as_deref(), found.map(|it| &it.outputs)));
    checks.push(judge(
        "gradients",
        row.gradients_json.as_deref(),
        found.and_then(|it| it.gradients.as_ref()),
    ));
    checks.push(match &program.reverse {
        Err(code) => check("differences", &format!("not run: refused ({code})"), None),
        Ok(_) => match stored.slope() {
            Some(Slope::Measured(error)) => {
                check("differences", verdict(error <= difference::TOLERANCE), Some(error))
            }
            Some(Slope::Rough) => check("differences", "not run: rough", None),
            None => check("differences", "not run: not in 64 bits", None),
        },
    });
    checks.push(stored.launched("machine_code", row, Device::Cpu));
    checks
}

fn verdict(holds: bool) -> &'static str {
    if holds { "pass" } else { "fail" }
}

/// Returns true if the compiler prints the texts that the row holds.
fn same_texts(row: &Row, Stored { program, emitted, .. }: &Stored) -> bool {
    row.ir == emitted.ir
        && row.ir_backward == emitted.ir_backward
        && row.cpp == emitted.cpp
        && row.cpp_backward == emitted.cpp_backward
        && row.cuda == emitted.cuda
        && row.cuda_backward == emitted.cuda_backward
        && row.gradient_refused.as_ref() == program.reverse.as_ref().err()
}

/// Returns true if a row's C++ and CUDA texts are those that the compiler prints for its source.
pub(crate) fn is_printed(row: &Row) -> bool {
    Program::read(&row.source).is_ok_and(|program| {
        let emitted = program.emit(row.texts());
        (&row.cpp, &row.cpp_backward, &row.cuda, &row.cuda_backward)
            == (&emitted.cpp, &emitted.cpp_backward, &emitted.cuda, &emitted.cuda_backward)
    })
}

/// For each check: rows that passed, rows that failed, rows without a verdict, and the largest
/// number of those that passed.
pub fn count_verdicts(verdicts: &[Vec<Check>]) -> Vec<(&'static str, usize, usize, usize, f64)> {
    let count = |name: &str, wanted: fn(&str) -> bool| {
        verdicts
            .iter()
            .flatten()
            .filter(|check| check.check == name && wanted(&check.verdict))
            .count()
    };
    CHECKS
        .into_iter()
        .map(|name| {
            let (pass, fail) = (count(name, |it| it == "pass"), count(name, |it| it == "fail"));
            let numbers = verdicts
                .iter()
                .flatten()
                .filter(|check| check.check == name && check.verdict == "pass");
            let most = numbers.filter_map(|check| check.number).fold(0.0, f64::max);
            (name, pass, fail, verdicts.len() - pass - fail, most)
        })
        .collect()
}

/// Checks whose number is a difference in units in the last place.
pub const UNITS: [&str; 5] = ["machine_code", "cpp", "cuda_on_host", "warp", "gpu"];

/// For each of them, the differences of the rows that passed, the least first.
pub fn units(verdicts: &[Vec<Check>]) -> Vec<(&'static str, Vec<f64>)> {
    UNITS
        .map(|name| {
            let own =
                verdicts.iter().flatten().filter(|it| it.check == name && it.verdict == "pass");
            let mut units: Vec<f64> = own.filter_map(|check| check.number).collect();
            units.sort_by(f64::total_cmp);
            (name, units)
        })
        .into()
}

/// Returns true if any check failed.
pub fn is_caught(checks: &[Check]) -> bool {
    checks.iter().any(|check| check.verdict == "fail")
}
