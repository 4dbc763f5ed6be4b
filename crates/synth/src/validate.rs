//! The ladder: each rung executes something of a row as it is stored, and gives a verdict and a number.

mod assembler;
mod peer;

use crate::difference::{self, Slope};
use crate::error::SynthError;
use crate::execute::{self, Grid, Memory};
use crate::host::{self, Job};
use crate::input::Given;
use crate::program::{self, Program};
use crate::row::{Check, Row, results};
use crate::tensor::{self, Tensor};
use gbxcule_kernel::back::cxx::Dialect;
use gbxcule_oracle::Python;
use std::path::{Path, PathBuf};

/// What results of a host compiler may differ by, in units in the last place: its mathematical functions are others
/// than ours, and what is made of them may be off by more.
pub const HOST_UNITS: f64 = 256.0;

/// The rungs, from the first.
pub const RUNGS: [&str; 12] = [
    "parses",
    "texts",
    "outputs",
    "gradients",
    "differences",
    "cpp",
    "cuda_on_host",
    "nvrtc",
    "ptx",
    "warp",
    "warp_gradient",
    "gpu",
];

/// From where on NVIDIA Warp's gradient is another one than ours, which differences confirm: an error of a hundredth,
/// relative to the number or to 1.
pub const WARP_GRADIENT_ERROR: f64 = 1e-2;

/// Which rungs are climbed beside those that need nothing.
#[derive(Clone, Debug, Default)]
pub struct Rungs {
    /// A folder where the host's compiler works.
    pub host: Option<PathBuf>,
    /// Whether NVRTC compiles the CUDA texts to machine code, and `ptxas` the stored PTX.
    pub nvrtc: bool,
    /// A Python with NVIDIA Warp.
    pub warp: Option<Python>,
}

/// The verdicts of some rows, in their order.
pub fn validate(rows: &[Row], wanted: &Rungs) -> Result<Vec<Vec<Check>>, SynthError> {
    let read: Vec<Option<Stored>> = rows.iter().map(Stored::read).collect();
    let mut verdicts: Vec<Vec<Check>> =
        rows.iter().zip(&read).map(|(row, stored)| rungs(row, stored.as_ref())).collect();
    let ran = match &wanted.host {
        Some(folder) => texts(rows, &read, folder)?,
        None => rows
            .iter()
            .map(|_| ["cpp", "cuda_on_host"].map(|name| check(name, NOT_ASKED, None)))
            .collect(),
    };
    let compiled = if wanted.nvrtc {
        assembler::rungs(rows)?
    } else {
        rows.iter().map(|_| assembler::not_asked()).collect()
    };
    let warp = match &wanted.warp {
        Some(python) => peer::rungs(rows, &read, &verdicts, python)?,
        None => rows
            .iter()
            .map(|_| ["warp", "warp_gradient"].map(|name| check(name, NOT_ASKED, None)))
            .collect(),
    };
    let others = ran.into_iter().zip(compiled).zip(warp);
    for (checks, ((ran, compiled), warp)) in verdicts.iter_mut().zip(others) {
        checks.extend(ran);
        checks.extend(compiled);
        checks.extend(warp);
        checks.push(check("gpu", "not run: no launch on a GPU yet", None));
    }
    Ok(verdicts)
}

const NOT_ASKED: &str = "not run: not asked for";

fn check(name: &str, verdict: &str, number: Option<f64>) -> Check {
    Check { check: name.into(), verdict: verdict.into(), number }
}

/// A row that could be read.
struct Stored {
    program: Program,
    inputs: Vec<Given>,
    results: Result<crate::row::Results, String>,
}

impl Stored {
    fn read(row: &Row) -> Option<Self> {
        let program = Program::read(&row.source).ok()?;
        let inputs = row.inputs()?;
        if inputs.len() != program.params().len() {
            return None;
        }
        let results =
            results(&program, Grid { dims: &row.launch_dims, inputs: &inputs }, row.input_seed);
        Some(Self { program, inputs, results })
    }
}

/// What needs no other compiler.
fn rungs(row: &Row, stored: Option<&Stored>) -> Vec<Check> {
    let Some(Stored { program, inputs, results }) = stored else {
        let none = ["texts", "outputs", "gradients", "differences"];
        let none = none.into_iter().map(|name| check(name, "not run: does not parse", None));
        return std::iter::once(check("parses", "fail", None)).chain(none).collect();
    };
    let grid = Grid { dims: &row.launch_dims, inputs };
    let mut checks = vec![
        check("parses", "pass", None),
        check("texts", verdict(same_texts(row, program)), None),
    ];
    let judge =
        |name: &str, stored: Option<&str>, found: Option<&Vec<Tensor>>| match (stored, found) {
            (None, _) => check(name, "not run: none stored", None),
            (Some(stored), Some(found)) => {
                let units = compare(stored, found);
                check(name, verdict(units == Some(0.0)), units)
            }
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
        Ok(reverse) => match difference::compare(program, reverse, grid, row.input_seed) {
            Slope::Measured(error) => {
                check("differences", verdict(error <= difference::TOLERANCE), Some(error))
            }
            Slope::Rough => check("differences", "not run: rough", None),
            Slope::Unable => check("differences", "not run: not in 64 bits", None),
        },
    });
    checks
}

fn verdict(holds: bool) -> &'static str {
    if holds { "pass" } else { "fail" }
}

/// Whether the compiler prints what the row holds.
fn same_texts(row: &Row, program: &Program) -> bool {
    let emitted = program.emit();
    let same = |stored: &Option<String>, now: &Option<String>| stored.is_none() || stored == now;
    row.ir == emitted.ir
        && row.ir_backward == emitted.ir_backward
        && same(&row.cpp, &Some(emitted.cpp))
        && same(&row.cpp_backward, &emitted.cpp_backward)
        && same(&row.cuda, &Some(emitted.cuda))
        && same(&row.cuda_backward, &emitted.cuda_backward)
        && row.gradient_refused.as_ref() == program.reverse.as_ref().err()
}

/// The largest difference between stored numbers and found ones; `None` if they aren't of one shape.
fn compare(stored: &str, found: &[Tensor]) -> Option<f64> {
    let stored = tensor::from_json(stored)?;
    if stored.len() != found.len() {
        return None;
    }
    let mut worst = 0.0f64;
    for ((name, values), tensor) in stored.iter().zip(found) {
        if *name != tensor.name || values.len() != tensor.numbers.len() {
            return None;
        }
        for (value, &number) in values.iter().zip(&tensor.numbers) {
            worst = worst.max(tensor::units(tensor::literal(value, number.scalar())?, number));
        }
    }
    Some(worst)
}

/// One of a row's texts on its way through a host compiler.
struct Way {
    row: usize,
    rung: usize,
    backward: bool,
}

/// The rungs of the host compiler, for each row: C++, CUDA.
fn texts(
    rows: &[Row],
    read: &[Option<Stored>],
    folder: &Path,
) -> Result<Vec<[Check; 2]>, SynthError> {
    let (mut jobs, mut ways) = (Vec::new(), Vec::new());
    for (at, (row, stored)) in rows.iter().zip(read).enumerate() {
        let Some(stored) = stored else { continue };
        for (rung, dialect, text, back) in [
            (0, Dialect::Host, &row.cpp, &row.cpp_backward),
            (1, Dialect::Cuda, &row.cuda, &row.cuda_backward),
        ] {
            for (backward, text) in [(false, text), (true, back)] {
                if let Some(job) =
                    text.as_ref().and_then(|text| job(row, stored, text, dialect, backward))
                {
                    jobs.push(job);
                    ways.push(Way { row: at, rung, backward });
                }
            }
        }
    }
    let outcomes = host::run(&jobs, folder)?;
    let none = |name| check(name, "not run: no text", None);
    let mut checks: Vec<[Check; 2]> =
        rows.iter().map(|_| [none("cpp"), none("cuda_on_host")]).collect();
    for (way, outcome) in ways.iter().zip(outcomes) {
        let units = outcome.ok().and_then(|memory| {
            judge(&rows[way.row], read[way.row].as_ref()?, &memory, way.backward)
        });
        let entry = &mut checks[way.row][way.rung];
        let holds = units.is_some_and(|units| units <= HOST_UNITS);
        let worst = entry.number.into_iter().chain(units).fold(0.0, f64::max);
        entry.number = Some(worst);
        if entry.verdict != "fail" {
            entry.verdict = verdict(holds).into();
        }
    }
    Ok(checks)
}

fn job<'a>(
    row: &'a Row,
    stored: &'a Stored,
    text: &'a str,
    dialect: Dialect,
    backward: bool,
) -> Option<Job<'a>> {
    let program = &stored.program;
    let grid = Grid { dims: &row.launch_dims, inputs: &stored.inputs };
    let data = execute::arguments(&program.forward, program.kernel, &stored.inputs, row.input_seed);
    let (module, kernel, memory) = if backward {
        let reverse = program.reverse.as_ref().ok()?;
        let gradients =
            execute::cotangents(&program.forward, program.kernel, &stored.inputs, row.input_seed);
        let data = execute::forward(program, grid, &data).ok()?;
        (&reverse.module, reverse.kernel, Memory { data, gradients })
    } else {
        (&program.forward, program.kernel, Memory { data, gradients: Vec::new() })
    };
    let symbol = program::write(module, kernel, dialect).kernels.first()?.symbol.clone();
    Some(Job { text, is_cuda: dialect == Dialect::Cuda, module, kernel, symbol, grid, memory })
}

/// How far memory is from the row's stored results.
fn judge(row: &Row, stored: &Stored, memory: &Memory, backward: bool) -> Option<f64> {
    let text = if backward { row.gradients_json.as_ref()? } else { row.outputs_json.as_ref()? };
    let part = if backward { &memory.gradients } else { &memory.data };
    let wanted = tensor::from_json(text)?;
    let module = &stored.program.forward;
    let mut found = Vec::new();
    for (name, _) in &wanted {
        let at = stored.inputs.iter().position(|given| given.name == *name)?;
        let numbers = execute::numbers(module, stored.program.kernel, at, &part[at]);
        found.push(Tensor { name: name.clone(), shape: Vec::new(), numbers });
    }
    compare(text, &found)
}

/// For each rung: rows that passed, rows that failed, rows without a verdict, and the largest number of those that passed.
pub fn ladder(verdicts: &[Vec<Check>]) -> Vec<(&'static str, usize, usize, usize, f64)> {
    let count = |name: &str, wanted: fn(&str) -> bool| {
        verdicts
            .iter()
            .flatten()
            .filter(|check| check.check == name && wanted(&check.verdict))
            .count()
    };
    RUNGS
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

/// Whether any check failed.
pub fn is_caught(checks: &[Check]) -> bool {
    checks.iter().any(|check| check.verdict == "fail")
}
