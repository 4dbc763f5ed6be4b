//! Answers in C++: each answer is compiled and run in a separate sandbox, so that it can't reach
//! another answer's results. On request CUDA text is compiled in the same way, after a header that
//! makes it C++.

use crate::device_code;
use crate::fresh_inputs::FreshInputs;
use crate::graded_row::GradedRow;
use crate::task::Language;
use crate::{Grade, GradeOptions, backward_memory};
use gbxcule_back_cxx::Dialect;
use gbxcule_rows::error::SynthError;
use gbxcule_rows::execute::ArgumentBytes;
use gbxcule_rows::row_program;
use gbxcule_rows::sandboxed_program::{self, Job, JobFailure};

/// Grades a text that should compute results, or gradients.
pub(crate) fn grade(
    problem: &GradedRow,
    text: &str,
    language: Language,
    backward: bool,
    options: &GradeOptions,
) -> Result<Grade, SynthError> {
    let is_cuda = language == Language::Cuda;
    let reference = &problem.program;
    if reference.host.is_some() {
        let reason = "answers with several kernels are run by NVRTC and the simulator";
        return Ok(Grade::NotGraded(reason.into()));
    }
    let (module, kernel) = match reference.first_kernel(backward) {
        Ok(first) => first,
        Err(code) => return Ok(Grade::NotGraded(format!("the row has no gradient: {code}"))),
    };
    let dialect = if is_cuda { Dialect::Cuda } else { Dialect::Host };
    let written = row_program::write(module, kernel, dialect);
    let Some(entry) = written.kernels.first() else { unreachable!("one kernel was written") };
    if is_cuda && let Some(reason) = device_code::refusal(text, &entry.symbol) {
        return Ok(Grade::DoesNotCompile(reason));
    }
    let launches = problem.draws(backward).enumerate().flat_map(|(number, draw)| {
        // As in `simulated`, the first launch has all gradients, and a second one lacks one.
        let absent = backward.then(|| problem.absent_gradient(number)).flatten();
        [Some(None), absent.map(Some)].into_iter().flatten().map(move |absent| (draw, absent))
    });
    let launches: Vec<(&FreshInputs, Option<usize>)> = launches.collect();
    let memories = launches.iter().map(|(draw, absent)| {
        let mut memory = match backward {
            true => backward_memory(problem, draw),
            false => ArgumentBytes { data: draw.data.clone(), gradients: Vec::new() },
        };
        if let Some(absent) = *absent {
            memory.gradients[absent].clear();
        }
        (draw.grid(), memory)
    });
    let (symbol, memories) = (entry.symbol.clone(), memories.collect());
    let job = Job { text, is_cuda, module, kernel, symbol, launches: memories, host: Vec::new() };
    let outcome = sandboxed_program::run(&[job], &options.work, options.limits)?.pop();
    let launched = match outcome.unwrap_or_else(|| Err(JobFailure::Machine("it was lost".into()))) {
        Ok(launched) => launched,
        Err(JobFailure::Refused(reason) | JobFailure::CompilerLimit(reason)) => {
            return Ok(Grade::DoesNotCompile(reason));
        }
        Err(
            JobFailure::Crashed(reason)
            | JobFailure::ProgramLimit(reason)
            | JobFailure::Killed(reason),
        ) => {
            return Ok(Grade::WrongResult(reason));
        }
        Err(JobFailure::Machine(reason)) => return Ok(Grade::NotGraded(reason)),
    };
    for ((draw, _), memory) in launches.into_iter().zip(launched) {
        let wrong = match memory {
            None => Some(format!("it faults, on {}", draw.described())),
            Some(memory) if backward => problem.backward_difference(draw, &memory),
            Some(memory) => problem.forward_difference(draw, &memory),
        };
        if let Some(wrong) = wrong {
            return Ok(Grade::WrongResult(wrong));
        }
    }
    Ok(Grade::Right)
}
