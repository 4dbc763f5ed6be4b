//! Grades answers of language models: an answer is parsed or compiled, and run on its row's stored
//! inputs and on fresh inputs that no dataset holds.
//!
//! [`task`] writes the prompts, [`answer`] reads the replies, `graded_row` computes the right
//! results. `interpreted` runs answers in Python and IR, `simulated` answers in CUDA, `compiled`
//! answers in C++; `question` judges answers of one word. [`score`] computes the scores.
//!
//! Answers are texts of unknown origin. Python is read by our front end and never executed; IR is
//! parsed; the interpreter runs both with a limit of steps and in simulated memory. CUDA is
//! compiled in the sandbox, and the simulator runs its machine code in simulated memory. C++ is
//! compiled and run in the sandbox, each answer separately.

pub mod answer;
mod code_block;
mod compiled;
mod device_code;
mod edge_number;
mod fresh_inputs;
mod graded_row;
mod grader;
mod gradient;
mod interpreted;
mod magnitude;
mod module_state;
mod mutant;
mod picture;
mod probe;
mod question;
pub mod race;
mod raw_form;
mod room;
pub mod score;
mod shape;
mod shape_draws;
mod simulated;
pub mod stand_in;
pub mod task;
mod tile;
mod unusual;

pub use grader::Grader;

use answer::Answer;
use gbxcule_gpu_check::compiler::CudaCompiler;
use gbxcule_gpu_check::cost::Cost;
use gbxcule_rows::error::SynthError;
use gbxcule_rows::execute::{self, ArgumentBytes};
use gbxcule_rows::row::Row;
use gbxcule_rows::sandboxed_program::HostLimits;
use gbxcule_sandbox::Limits;
use graded_row::GradedRow;
use question::bug::SeededBug;
use question::race::RaceQuestion;
use question::value::ValueQuestion;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;
use task::{Language, Task};

/// Number of draws of other shapes on which an answer runs in addition to the stored inputs.
pub const FRESH_INPUTS: u64 = 3;
/// Greatest number of bytes of an answer.
pub const MAX_ANSWER_BYTES: usize = 1 << 20;
/// Greatest length of a reason in bytes: a reason may quote an answer, so it is cut.
const MAX_REASON_BYTES: usize = 4000;

/// Verdict on an answer.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub enum Grade {
    /// The answer is missing, or doesn't parse as Python or IR; with the first error.
    DoesNotParse(String),
    /// The compiler refuses the text; with the first error.
    DoesNotCompile(String),
    /// The program gives other results than the row's, faults, or doesn't end; with the place.
    WrongResult(String),
    /// The program gives the row's results on all inputs.
    Right,
    /// No verdict: the machine code has an instruction that the simulator doesn't know; with its
    /// name. Statistics count the answer as not right, so that answers can't drop out of them.
    UnknownForm(String),
    /// No verdict, with the reason: the row can't be run, or this machine failed.
    NotGraded(String),
}

impl Grade {
    /// Names of the verdicts, as tables show them.
    pub const NAMES: [&str; 5] =
        ["right", "wrong result", "does not compile", "does not parse", "not graded"];

    /// Returns the verdict's position in [`Grade::NAMES`].
    pub fn kind(&self) -> usize {
        match self {
            Self::Right => 0,
            Self::WrongResult(_) => 1,
            Self::DoesNotCompile(_) => 2,
            Self::DoesNotParse(_) => 3,
            Self::UnknownForm(_) | Self::NotGraded(_) => 4,
        }
    }

    /// Cuts a long reason.
    fn shortened(mut self) -> Self {
        let (Self::DoesNotParse(reason)
        | Self::DoesNotCompile(reason)
        | Self::WrongResult(reason)
        | Self::UnknownForm(reason)
        | Self::NotGraded(reason)) = &mut self
        else {
            return self;
        };
        if reason.len() > MAX_REASON_BYTES {
            let end = reason.floor_char_boundary(MAX_REASON_BYTES);
            let cut = reason.len() - end;
            reason.truncate(end);
            *reason += &format!(" .. ({cut} bytes more)");
        }
        self
    }

    /// Returns the reason of the verdict, or `None` for right answers.
    pub fn reason(&self) -> Option<&str> {
        match self {
            Self::Right => None,
            Self::DoesNotParse(reason)
            | Self::DoesNotCompile(reason)
            | Self::WrongResult(reason)
            | Self::UnknownForm(reason)
            | Self::NotGraded(reason) => Some(reason),
        }
    }
}

/// Costs of a right answer in CUDA, and of our compiler's text for the row.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Costs {
    /// Cost of the answer.
    pub answer: Cost,
    /// Cost of the compiler's text, if it could be measured.
    pub own: Option<Cost>,
}

impl Costs {
    /// Returns the factor by which the answer is cheaper than the compiler's text; an upper bound
    /// if the answer's launch was stopped at a limit.
    pub fn speed(&self) -> Option<f64> {
        self.own.map(|own| own.cycles() / self.answer.cycles())
    }
}

/// Verdict on an answer, with costs for a right CUDA answer that the simulator ran.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Judged {
    /// The verdict.
    pub grade: Grade,
    /// The costs.
    pub costs: Option<Costs>,
}

/// Options of a grading.
#[derive(Clone, Debug)]
pub struct GradeOptions {
    /// Seed of the fresh inputs.
    pub seed: u64,
    /// Folder in which each compiler makes a temporary folder.
    pub work: PathBuf,
    /// Number of threads.
    pub workers: usize,
    /// Limits of the host's compiler and of the compiled programs.
    pub limits: HostLimits,
    /// True if CUDA is compiled as C++ after a header and run on the host, without warps, blocks
    /// and races, instead of by NVRTC and the simulator.
    pub cuda_on_host: bool,
}

/// The runner of answers in CUDA.
enum CudaRunner {
    /// NVRTC and the simulator.
    Simulator(CudaCompiler),
    /// The host's compiler, after a header that makes CUDA C++.
    Host,
    /// CUDA can't be run; the text says which part is missing.
    Missing(String),
}

impl CudaRunner {
    fn find(options: &GradeOptions) -> Self {
        if options.cuda_on_host {
            return Self::Host;
        }
        match CudaCompiler::find(&options.work) {
            Ok(compiler) => Self::Simulator(compiler),
            Err(reason) => Self::Missing(reason.to_string()),
        }
    }
}

impl GradeOptions {
    /// Default limits, for answers about as long as rows.
    pub const LIMITS: HostLimits = HostLimits {
        compiler: Limits {
            wall: Duration::from_secs(60),
            cpu: Duration::from_secs(20),
            memory_bytes: 2 << 30,
            file_bytes: 64 << 20,
            written_bytes: 128 << 20,
            ..Limits::COMPILER
        },
        program: Limits {
            wall: Duration::from_secs(20),
            cpu: Duration::from_secs(5),
            ..Limits::PROGRAM
        },
    };
}

/// Grades answers in their order, and calls `graded` after each.
pub fn grade(
    rows: &BTreeMap<u64, Row>,
    answers: &[Answer],
    options: &GradeOptions,
    graded: &(dyn Fn() + Sync),
) -> Result<Vec<Grade>, SynthError> {
    Grader::new(rows, options.clone()).grade(answers, graded)
}

fn grade_one(
    (row, problem): (&Row, &GradedRow),
    answer: &Answer,
    options: &GradeOptions,
    cuda: &CudaRunner,
) -> Result<(Grade, Option<Cost>), SynthError> {
    let alone = |grade| Ok((grade, None));
    let text = &*answer.code();
    if text.len() > MAX_ANSWER_BYTES {
        let reason = format!("{} bytes, {MAX_ANSWER_BYTES} are allowed", text.len());
        return alone(Grade::DoesNotParse(reason));
    }
    match answer.task.answered_in() {
        Language::Python => alone(interpreted::python(problem, text)),
        Language::Ir => alone(interpreted::ir(problem, text)),
        Language::Cuda => {
            let backward = answer.task == Task::ForwardToBackward;
            match cuda {
                CudaRunner::Simulator(compiler) => {
                    Ok(simulated::grade(problem, text, backward, compiler))
                }
                CudaRunner::Host => {
                    alone(compiled::grade(problem, text, Language::Cuda, backward, options)?)
                }
                CudaRunner::Missing(reason) => alone(cuda_is_missing(reason)),
            }
        }
        Language::Cpp => alone(compiled::grade(problem, text, Language::Cpp, false, options)?),
        Language::Word => alone(grade_word((row, problem), answer.task, text, cuda)),
    }
}

/// Grades an answer that is a word.
fn grade_word(
    (row, problem): (&Row, &GradedRow),
    task: Task,
    word: &str,
    cuda: &CudaRunner,
) -> Grade {
    let none = || Grade::NotGraded(format!("row {}: it has no such question", row.id));
    match task {
        Task::PredictValue => ValueQuestion::of(row).map_or_else(none, |it| it.grade(word)),
        Task::FindRace => match (RaceQuestion::of(row), cuda) {
            (Some(question), CudaRunner::Simulator(compiler)) => {
                question.grade(problem, word, compiler)
            }
            (Some(_), CudaRunner::Missing(reason)) => cuda_is_missing(reason),
            (Some(_), CudaRunner::Host) => cuda_is_missing("a host compiler sees no races"),
            (None, _) => none(),
        },
        _ => match (SeededBug::of(row), question::line_number(word)) {
            (Some(bug), Some(line)) => bug.grade(problem, row, line),
            (Some(_), None) => Grade::DoesNotParse(format!("`{word}` is no number of a line")),
            (None, _) => none(),
        },
    }
}

fn cuda_is_missing(reason: &str) -> Grade {
    Grade::NotGraded(format!("CUDA is run by NVRTC and the simulator: {reason}"))
}

/// Returns the memory before the launch of a reverse kernel: the forward kernel's results, and
/// their gradients.
fn backward_memory(problem: &GradedRow, draw: &fresh_inputs::FreshInputs) -> ArgumentBytes {
    let data = execute::forward(&problem.program, draw.grid(), &draw.data);
    let Ok(data) = data else { unreachable!("it ran when the problem was made") };
    ArgumentBytes { data, gradients: problem.gradients_before(draw) }
}
