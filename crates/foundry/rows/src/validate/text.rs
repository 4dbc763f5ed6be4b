//! The checks by the host's compiler: stored C++ and CUDA texts are compiled and run in the sandbox
//! if they equal the texts that our compiler prints. Any other text may be hostile, so it is not
//! run and gets no verdict.

use super::StoredRow;
use crate::allowed_error::Runner;
use crate::distance::{Distance, settled, to_memory};
use crate::error::SynthError;
use crate::execute::{self, ArgumentBytes, Data, Variation};
use crate::host::Launch;
use crate::row::{Row, Texts};
use crate::sandboxed_program::{self, HostLaunch, HostLimits, Job, JobFailure};
use crate::verdict::{CheckOutcome, NotRun, skipped};
use gbxcule_back_cxx::Dialect;
use gbxcule_ir::FunctionId;
use std::path::Path;

const NAMES: [&str; 2] = ["cpp", "cuda_on_host"];

/// One of a row's texts, to be compiled and run.
struct TextRun {
    row: usize,
    check: usize,
    backward: bool,
}

/// Results of one check of a row.
#[derive(Default)]
struct TextDistances {
    distances: Vec<Option<Distance>>,
    /// Reason why there is no verdict.
    none: Option<NotRun>,
}

impl TextDistances {
    fn outcome(&self, name: &str) -> CheckOutcome {
        match (&self.none, self.distances.as_slice()) {
            // A wrong result in one direction decides, even if the other direction was not run.
            (Some(reason), distances) if distances.iter().flatten().all(|it| it.share <= 1.0) => {
                skipped(name, reason.clone())
            }
            (_, []) => skipped(name, NotRun::NoText),
            (_, distances) => settled(name, distances),
        }
    }
}

/// Settings of the checks with the host's compiler.
#[derive(Clone, Copy)]
pub(super) struct HostChecks {
    /// Texts that the host's compiler compiles.
    pub(super) texts: Texts,
    /// True to compile also texts that differ from those that our compiler prints.
    pub(super) altered: bool,
    /// True to report a limit, or a lack of memory or disk, as an error: for rows that must depend
    /// on their seed alone.
    pub(super) strict: bool,
}

/// Runs each row's C++ and CUDA text.
pub(super) fn checks(
    rows: &[Row],
    read: &[Option<StoredRow>],
    folder: &Path,
    asked: HostChecks,
) -> Result<Vec<[CheckOutcome; 2]>, SynthError> {
    let (mut jobs, mut ways) = (Vec::new(), Vec::new());
    let mut results: Vec<[TextDistances; 2]> = rows.iter().map(|_| Default::default()).collect();
    for (at, (row, stored)) in rows.iter().zip(read).enumerate() {
        let Some(stored) = stored else {
            results[at].iter_mut().for_each(|it| it.none = Some(NotRun::Unreadable));
            continue;
        };
        for (check, dialect, texts) in
            texts_of(row, stored).into_iter().filter(|it| asked.texts.have(it.1))
        {
            if !asked.altered && texts.iter().any(|(stored, printed)| stored != printed) {
                results[at][check].none = Some(NotRun::Altered);
                continue;
            }
            for (backward, (text, _)) in [false, true].into_iter().zip(texts) {
                if let Some(job) =
                    text.as_ref().and_then(|text| job(stored, text, dialect, backward))
                {
                    jobs.push(job);
                    ways.push(TextRun { row: at, check, backward });
                }
            }
        }
    }
    for (way, outcome) in ways.iter().zip(sandboxed_program::run(&jobs, folder, HostLimits::ROWS)?)
    {
        let Some(stored) = &read[way.row] else { continue };
        let result = &mut results[way.row][way.check];
        match outcome {
            Ok(launched) => result.distances.extend(launched.iter().map(|memory| match memory {
                Some(memory) => judge(&rows[way.row], stored, memory, way.backward),
                None => Some(Distance::INFINITE),
            })),
            Err(JobFailure::Refused(_) | JobFailure::Crashed(_)) => {
                result.distances.push(Some(Distance::INFINITE));
            }
            Err(
                JobFailure::CompilerLimit(reason)
                | JobFailure::ProgramLimit(reason)
                | JobFailure::Killed(reason)
                | JobFailure::Machine(reason),
            ) => {
                if asked.strict {
                    return Err(SynthError::Unchecked { row: rows[way.row].id, reason });
                }
                result.none = Some(NotRun::Limit(reason));
            }
        }
    }
    Ok(results.iter().map(|[cpp, cuda]| [cpp.outcome(NAMES[0]), cuda.outcome(NAMES[1])]).collect())
}

/// A text of a row, and the text that our compiler prints.
type StoredAndPrinted<'a> = (&'a Option<String>, &'a Option<String>);

/// Returns number, dialect and texts of both checks.
fn texts_of<'a>(
    row: &'a Row,
    stored: &'a StoredRow,
) -> [(usize, Dialect, [StoredAndPrinted<'a>; 2]); 2] {
    let printed = &stored.emitted;
    [
        (0, Dialect::Host, [(&row.cpp, &printed.cpp), (&row.cpp_backward, &printed.cpp_backward)]),
        (
            1,
            Dialect::Cuda,
            [(&row.cuda, &printed.cuda), (&row.cuda_backward, &printed.cuda_backward)],
        ),
    ]
}

fn job<'a>(
    stored: &'a StoredRow,
    text: &'a str,
    dialect: Dialect,
    backward: bool,
) -> Option<Job<'a>> {
    let (program, grid) = (&stored.program, stored.grid());
    let data = execute::arguments(program, grid.inputs, stored.seed);
    let launches = program.launches(grid).ok()?;
    let ran = execute::states(Variation::default(), program, grid, &data).ok()?;
    let (module, kernel, memory) = if backward {
        let reverse = program.reverse.as_ref().ok()?;
        let gradients = execute::cotangents(program, grid.inputs, stored.seed);
        let memory = ArgumentBytes { data: ran.after, gradients };
        (&reverse.module, reverse.kernel, memory)
    } else {
        (&program.forward, program.kernel, ArgumentBytes { data, gradients: Vec::new() })
    };
    let written = program.write(module, kernel, dialect);
    let symbol_of = |kernel: FunctionId| {
        written.kernels.iter().find(|it| it.kernel == kernel).map(|it| it.symbol.clone())
    };
    let each = |(launch, data): (Launch, Data)| {
        let kernel = match &program.reverse {
            Ok(reverse) if backward => program.reverse_of(reverse, launch.kernel),
            _ => launch.kernel,
        };
        let launch = Launch { kernel, ..launch };
        Some(HostLaunch { launch, symbol: symbol_of(kernel)?, data: backward.then_some(data) })
    };
    let mut host: Vec<HostLaunch> = Vec::new();
    if program.host.is_some() {
        host = launches.into_iter().zip(ran.states).map(each).collect::<Option<_>>()?;
    }
    if backward {
        host.reverse();
    }
    let symbol = symbol_of(kernel)?;
    let launches = vec![(grid, memory)];
    Some(Job { text, is_cuda: dialect == Dialect::Cuda, module, kernel, symbol, launches, host })
}

/// Compares memory with the row's stored results, if it has some. The threads ran in order.
fn judge(
    row: &Row,
    stored: &StoredRow,
    memory: &ArgumentBytes,
    backward: bool,
) -> Option<Distance> {
    let Ok(results) = &stored.results else { return Some(Distance::INFINITE) };
    let text = if backward { &row.gradients_json } else { &row.outputs_json };
    let bounds = || stored.bounds(Runner::Text);
    to_memory(text.as_deref(), &stored.program, results, memory, backward, bounds)
}
