//! The rungs of the host's compiler: C++ and CUDA texts as they are stored, compiled and run.

use super::{Stored, check};
use crate::bound::Runner;
use crate::distance::{Distance, from_results, from_text, settled};
use crate::error::SynthError;
use crate::execute::{self, Memory};
use crate::host::{self, Job};
use crate::program;
use crate::row::{Check, Row, Texts};
use gbxcule_kernel::back::cxx::Dialect;
use std::path::Path;

const NAMES: [&str; 2] = ["cpp", "cuda_on_host"];

/// One of a row's texts on its way through a host compiler.
struct Way {
    row: usize,
    rung: usize,
    backward: bool,
}

/// For each row: C++, CUDA.
pub(super) fn rungs(
    rows: &[Row],
    read: &[Option<Stored>],
    folder: &Path,
    wanted: Texts,
) -> Result<Vec<[Check; 2]>, SynthError> {
    let (mut jobs, mut ways) = (Vec::new(), Vec::new());
    for (at, (row, stored)) in rows.iter().zip(read).enumerate() {
        let Some(stored) = stored else { continue };
        for (rung, dialect, text, back) in [
            (0, Dialect::Host, &row.cpp, &row.cpp_backward),
            (1, Dialect::Cuda, &row.cuda, &row.cuda_backward),
        ]
        .into_iter()
        .filter(|it| wanted.have(it.1))
        {
            for (backward, text) in [(false, text), (true, back)] {
                if let Some(job) =
                    text.as_ref().and_then(|text| job(stored, text, dialect, backward))
                {
                    jobs.push(job);
                    ways.push(Way { row: at, rung, backward });
                }
            }
        }
    }
    let outcomes = host::run(&jobs, folder)?;
    let mut found: Vec<[Vec<Option<Distance>>; 2]> = vec![Default::default(); rows.len()];
    for (way, outcome) in ways.iter().zip(outcomes) {
        let Some(stored) = &read[way.row] else { continue };
        found[way.row][way.rung].push(match outcome {
            Ok(memory) => judge(&rows[way.row], stored, &memory, way.backward),
            Err(_) => Some(Distance::INFINITE),
        });
    }
    let settle = |rung: usize, distances: &[Option<Distance>]| match distances {
        [] => check(NAMES[rung], "not run: no text", None),
        distances => settled(NAMES[rung], distances),
    };
    Ok(found.iter().map(|[cpp, cuda]| [settle(0, cpp), settle(1, cuda)]).collect())
}

fn job<'a>(stored: &'a Stored, text: &'a str, dialect: Dialect, backward: bool) -> Option<Job<'a>> {
    let (program, grid) = (&stored.program, stored.grid());
    let data = execute::arguments(&program.forward, program.kernel, grid.inputs, stored.seed);
    let (module, kernel, memory) = if backward {
        let reverse = program.reverse.as_ref().ok()?;
        let gradients =
            execute::cotangents(&program.forward, program.kernel, grid.inputs, stored.seed);
        let data = execute::forward(program, grid, &data).ok()?;
        (&reverse.module, reverse.kernel, Memory { data, gradients })
    } else {
        (&program.forward, program.kernel, Memory { data, gradients: Vec::new() })
    };
    let symbol = program::write(module, kernel, dialect).kernels.first()?.symbol.clone();
    Some(Job { text, is_cuda: dialect == Dialect::Cuda, module, kernel, symbol, grid, memory })
}

/// How far memory is from the row's stored results, if it has some; threads ran in order.
fn judge(row: &Row, stored: &Stored, memory: &Memory, backward: bool) -> Option<Distance> {
    let Ok(results) = &stored.results else { return Some(Distance::INFINITE) };
    let text = if backward { &row.gradients_json } else { &row.outputs_json };
    let bounds = || stored.bounds(Runner::Text);
    match text {
        Some(text) => from_text(text, &stored.program, results, memory, backward, bounds),
        None => from_results(&stored.program, results, memory, backward, bounds),
    }
}
