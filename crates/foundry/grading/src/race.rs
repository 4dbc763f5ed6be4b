//! Finds races of kernels in NVIDIA Warp's dialect: draws inputs on which a kernel runs, and runs
//! the kernel's CUDA text on the simulator like an answer.

use crate::graded_row::GradedRow;
use crate::simulated;
use gbxcule_gpu_check::compiler::CudaCompiler;
use gbxcule_rows::harvested::{Refusal, row_of, row_of_threads};
use gbxcule_rows::row::{Mode, Plan, Row, Texts};
use gbxcule_rows::row_program::RowProgram;

/// Reason why a file can't be checked.
#[derive(Debug)]
pub struct Unchecked(String);

impl std::fmt::Display for Unchecked {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unchecked {}

/// Returns the name of each kernel of a text, and its fault if it has one. `program` has the
/// kernels that were read from the text.
pub fn races(
    text: &str,
    program: &RowProgram,
    compiler: &CudaCompiler,
    seed: u64,
) -> Result<Vec<(String, Option<String>)>, Unchecked> {
    let plan = Plan { seed, mode: Mode::Run, device: Texts::Cuda, host_every: 0, sampled: 100 };
    let kernels: Vec<_> = program.forward.kernels().map(|(id, _)| id).collect();
    let one = |kernel| {
        let kernel_program = program.of_kernel(kernel);
        let name = kernel_program.name().to_owned();
        let row = match row_of_several(text, &kernel_program, plan) {
            Ok(row) => row,
            Err(Refusal::Race) => return Ok((name, Some(UNORDERED.to_owned()))),
            // Machine code on several threads differs, and on a single thread it does not.
            Err(Refusal::MachineCode) if row_of(text, &kernel_program, plan).is_ok() => {
                return Ok((name, Some(UNORDERED.to_owned())));
            }
            Err(refusal) => return Err(Unchecked(format!("{name}: {}", refusal.text()))),
        };
        let problem = GradedRow::of_program(kernel_program, &row, seed).map_err(Unchecked)?;
        let (grade, _) =
            simulated::grade(&problem, row.cuda.as_deref().unwrap_or(""), false, compiler);
        match grade {
            crate::Grade::NotGraded(reason) | crate::Grade::UnknownForm(reason) => {
                Err(Unchecked(format!("{name}: {reason}")))
            }
            grade => Ok((name, grade.reason().map(str::to_owned))),
        }
    };
    kernels.into_iter().map(one).collect()
}

/// Draws launches until one has several threads, because a launch of one thread shows no race.
fn row_of_several(text: &str, program: &RowProgram, plan: Plan) -> Result<Row, Refusal> {
    let first = row_of_threads(text, program, plan)?;
    let is_several = |row: &Row| row.launch_dims.iter().any(|extent| *extent > 1);
    let seeds = (1..DRAWS).map(|draw| Plan { seed: plan.seed.wrapping_add(draw), ..plan });
    let others = seeds.map(|plan| row_of_threads(text, program, plan));
    let drawn = std::iter::once(Ok(first.clone())).chain(others);
    let mut several = drawn.filter(|row| row.as_ref().map_or_else(is_race, is_several));
    several.next().unwrap_or(Ok(first))
}

fn is_race(refusal: &Refusal) -> bool {
    matches!(refusal, Refusal::Race | Refusal::MachineCode)
}

/// Launches that are drawn, at most, until one has several threads.
const DRAWS: u64 = 8;

/// Message for a kernel in which the interpreter finds a race.
const UNORDERED: &str =
    "data race: threads write what others read or write: its results depend on their order";
