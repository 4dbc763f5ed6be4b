//! The checks by NVIDIA Warp: its results for a row, its gradients, and its texts are compared with
//! the stored ones.

use super::{StoredRow, WARP_GRADIENT_ERROR};
use crate::allowed_error::Runner;
use crate::distance::{Distance, settled, to_memory};
use crate::error::SynthError;
use crate::execute;
use crate::row::Row;
use crate::tensor::{self, Tensor};
use crate::verdict::{Check, CheckOutcome, NotRun, Verdict, skipped};
use crate::warp::{Question, WarpArgument, ask};
use crate::warp_text::WarpText;
use gbxcule_files::TemporaryFolder;
use gbxcule_oracle::Python;
use serde_json::Value;

/// Data and cotangents of a question, which borrows them.
struct QuestionMemory {
    at: usize,
    data: Vec<Vec<u8>>,
    cotangents: Vec<Vec<u8>>,
}

/// Asks Warp for each row's results and gradients: results must equal the row's, gradients must
/// equal those that differences confirm.
pub(super) fn checks(
    rows: &[Row],
    read: &[Option<StoredRow>],
    known: &[Vec<CheckOutcome>],
    python: &Python,
) -> Result<Vec<[CheckOutcome; 2]>, SynthError> {
    let none = |stored: &Option<StoredRow>| {
        let is_geometry = stored.as_ref().is_some_and(|it| it.program.queries_geometry());
        let reason = || if is_geometry { NotRun::Geometry } else { NotRun::Unreadable };
        ["warp", "warp_gradient"].map(|name| skipped(name, reason()))
    };
    let mut checks: Vec<[CheckOutcome; 2]> = read.iter().map(none).collect();
    let memories: Vec<QuestionMemory> =
        (0..rows.len()).filter_map(|at| memory(&rows[at], read[at].as_ref()?, at)).collect();
    let questions: Vec<Question<'_>> = memories
        .iter()
        .filter_map(|memory| question(&rows[memory.at], read[memory.at].as_ref()?, memory))
        .collect();
    for (memory, answer) in memories.iter().zip(ask(python, &questions)?) {
        let at = memory.at;
        let Some(stored) = &read[at] else { continue };
        checks[at] = match answer {
            Err(_) => [Ok(Check::failed("warp")), skipped("warp_gradient", NotRun::RefusedByWarp)],
            Ok(answer) => {
                let result = settled("warp", &[judge(&rows[at], stored, &answer.data)]);
                let passes = |it: &Check| it.check == "differences" && it.verdict == Verdict::Pass;
                let confirmed = known[at].iter().flatten().any(passes);
                [result, gradient(&rows[at], stored, &answer.gradients, confirmed)]
            }
        };
    }
    Ok(checks)
}

/// Compares the columns with NVIDIA Warp's text with what the installed package writes. Rows made
/// by another version of the package get no verdict.
pub(super) fn texts(rows: &[Row], python: &Python) -> Result<Vec<CheckOutcome>, SynthError> {
    let name = "warp_text";
    let has_text = |row: &Row| {
        row.warp_origin_json.is_some() || row.warp_cpp.is_some() || row.warp_cuda.is_some()
    };
    let mut checks: Vec<CheckOutcome> =
        rows.iter().map(|_| skipped(name, NotRun::NothingStored)).collect();
    let asked: Vec<usize> = (0..rows.len()).filter(|&at| has_text(&rows[at])).collect();
    if asked.is_empty() {
        return Ok(checks);
    }
    // Warp executes a row's source as Python, so it runs in the sandbox.
    let parent = std::env::temp_dir();
    let folder = TemporaryFolder::inside(&parent).map_err(SynthError::file(&parent))?;
    let warp = WarpText::confined(python, folder.path())?;
    let blank = |&at: &usize| Row { source: rows[at].source.clone(), ..Row::default() };
    let mut written: Vec<Row> = asked.iter().map(blank).collect();
    warp.finish(&mut written)?;
    let version = |origin: &Value| origin["version"].as_str().unwrap_or("unknown").to_owned();
    for (&at, written) in asked.iter().zip(&written) {
        let row = &rows[at];
        let stored = row.warp_origin_json.as_deref().and_then(|it| serde_json::from_str(it).ok());
        let stored = version(&stored.unwrap_or_default());
        checks[at] = if stored != version(warp.origin()) {
            skipped(name, NotRun::OtherWarp { stored, installed: version(warp.origin()) })
        } else {
            let columns = [
                ("warp_cpp", row.warp_cpp != written.warp_cpp),
                ("warp_cuda", row.warp_cuda != written.warp_cuda),
            ];
            let wrong: Vec<&str> = columns.iter().filter(|it| it.1).map(|it| it.0).collect();
            let refused = written.checks().into_iter().find(|it| it.check == name);
            match refused {
                _ if !wrong.is_empty() => {
                    Ok(Check { detail: wrong.join(", "), ..Check::failed(name) })
                }
                Some(check) => Ok(check),
                None => Ok(Check::passed(name)),
            }
        };
    }
    Ok(checks)
}

fn memory(row: &Row, stored: &StoredRow, at: usize) -> Option<QuestionMemory> {
    row.outputs_json.as_ref().filter(|_| !stored.program.queries_geometry())?;
    Some(QuestionMemory {
        at,
        data: execute::arguments(&stored.program, &stored.inputs, row.input_seed),
        cotangents: execute::cotangents(&stored.program, &stored.inputs, row.input_seed),
    })
}

fn question<'a>(
    row: &'a Row,
    stored: &'a StoredRow,
    memory: &'a QuestionMemory,
) -> Option<Question<'a>> {
    let places = stored.program.places();
    let inputs = stored.inputs.iter().zip(places);
    let arguments = inputs.zip(memory.data.iter().zip(&memory.cotangents)).map(
        |((given, part), (bytes, gradient))| WarpArgument {
            bytes,
            array: (!given.shape.is_empty())
                .then_some((given.shape.as_slice(), gradient.as_slice())),
            part,
        },
    );
    Some(Question {
        source: &row.source,
        kernel: stored.program.name(),
        dims: &row.launch_dims,
        arguments: arguments.collect(),
    })
}

/// Returns Warp's arrays as tensors of those names.
fn named_tensors(stored: &StoredRow, arrays: &[Vec<u8>], names: &[String]) -> Option<Vec<Tensor>> {
    let arrays_at: Vec<usize> =
        (0..stored.inputs.len()).filter(|&at| !stored.inputs[at].shape.is_empty()).collect();
    let tensor = |name: &String| {
        let place = arrays_at.iter().position(|&at| stored.inputs[at].name == *name)?;
        let program = &stored.program;
        let numbers = execute::numbers(program, arrays_at[place], arrays.get(place)?);
        Some(Tensor { name: name.clone(), shape: Vec::new(), numbers })
    };
    names.iter().map(tensor).collect()
}

fn names(text: &str) -> Option<Vec<String>> {
    Some(tensor::from_json(text)?.into_iter().map(|(name, _)| name).collect())
}

/// Measures the distance of Warp's arrays from the row's results. Warp's threads ran in order.
fn judge(row: &Row, stored: &StoredRow, arrays: &[Vec<u8>]) -> Option<Distance> {
    let (Ok(results), text @ Some(_)) = (&stored.results, row.outputs_json.as_deref()) else {
        return Some(Distance::INFINITE);
    };
    let mut arrays = arrays.iter();
    let data = stored.inputs.iter().map(|given| match given.shape.is_empty() {
        true => Vec::new(),
        false => arrays.next().cloned().unwrap_or_default(),
    });
    let memory = execute::ArgumentBytes { data: data.collect(), gradients: Vec::new() };
    let bounds = || stored.bounds(Runner::Warp);
    to_memory(text, &stored.program, results, &memory, false, bounds)
}

/// Makes the check of gradients. The verdict `wrong` is about Warp, not about the row: such rows
/// are kept.
fn gradient(row: &Row, stored: &StoredRow, arrays: &[Vec<u8>], confirmed: bool) -> CheckOutcome {
    let Some(text) = row.gradients_json.as_deref().filter(|_| confirmed) else {
        return skipped("warp_gradient", NotRun::Unconfirmed);
    };
    let error = error(text, stored, arrays);
    let is_right = error.is_some_and(|error| error <= WARP_GRADIENT_ERROR);
    let verdict = if is_right { Verdict::Pass } else { Verdict::Wrong };
    Ok(Check::new("warp_gradient", verdict, error))
}

/// Returns the largest relative error of Warp's gradients.
fn error(text: &str, stored: &StoredRow, arrays: &[Vec<u8>]) -> Option<f64> {
    let ours = tensor::from_json(text)?;
    let theirs = named_tensors(stored, arrays, &names(text)?)?;
    let mut worst = 0.0f64;
    for ((_, values), tensor) in ours.iter().zip(&theirs) {
        for (value, number) in
            values.iter().zip(&tensor.numbers).filter(|(_, it)| it.scalar().is_float())
        {
            let (wanted, found) = (value.as_f64()?, number.as_f64());
            let error = (wanted - found).abs() / wanted.abs().max(1.0);
            worst = if error.is_nan() { f64::INFINITY } else { worst.max(error) };
        }
    }
    Some(worst)
}
