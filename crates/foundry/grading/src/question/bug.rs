//! A wrong kernel: a row's source with one operator, function or number changed, so that a result
//! on the stored inputs is wrong. Used by the tasks of repair and of finding the line.

use super::numbered;
use crate::Grade;
use crate::graded_row::GradedRow;
use crate::interpreted;
use gbxcule_grammar::random;
use gbxcule_rows::execute::{self, LaunchInputs};
use gbxcule_rows::mutate::Mutation;
use gbxcule_rows::row::Row;
use gbxcule_rows::row_program::RowProgram;

/// Greatest number of changes that are tried.
const TRIES: u64 = 12;
/// Least error of the wrong number, as a fraction of its array's largest number.
const DIFFERENCE: f64 = 1e-3;
/// Constant that separates this file's seeds from others.
const STREAM: u64 = 0x7365_6564_6564_2062;

/// A wrong kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SeededBug {
    /// The wrong source.
    pub(crate) source: String,
    /// Number of the wrong line in the source, from 1 on.
    pub(crate) line: usize,
    /// The first wrong number: `` `y` at 3 is 0.5 instead of 0.25 ``.
    pub(crate) counterexample: String,
}

impl SeededBug {
    /// Makes a row's source wrong, or returns `None` if no change alters the results on its inputs.
    pub(crate) fn of(row: &Row) -> Option<Self> {
        let (inputs, right) = (row.inputs()?, RowProgram::read_forward(&row.source).ok()?);
        if !right.takes(&inputs) {
            return None;
        }
        let grid = LaunchInputs { dims: &row.launch_dims, inputs: &inputs };
        let data = execute::arguments(&right, &inputs, row.input_seed);
        let wanted = execute::forward(&right, grid, &data).ok()?;
        (0..TRIES).find_map(|attempt| {
            let seed = random::seed(row.input_seed ^ STREAM, attempt);
            let source = Mutation::Source.apply(row, seed)?.source;
            let wrong = RowProgram::read_forward(&source).ok()?;
            let found = execute::forward(&wrong, grid, &data).ok()?;
            let counterexample = first_difference(&right, grid, &wanted, &found)?;
            let mut lines = row.source.lines().zip(source.lines());
            let line = 1 + lines.position(|(one, other)| one != other)?;
            Some(Self { source, line, counterexample })
        })
    }

    /// Returns the wrong CUDA text, in the header-free form if the kernel has one.
    pub(crate) fn cuda(&self, row: &Row) -> Option<String> {
        let program = RowProgram::read(&self.source).ok()?;
        let texts = program.emit(row.texts(), row.launch_dims.len());
        texts.cuda_plain.or(texts.cuda)
    }

    /// Returns the wrong source with numbers of lines.
    pub(crate) fn numbered(&self) -> String {
        numbered(&self.source)
    }

    /// Judges the number of a line: replaces this line by the row's line and runs the kernel.
    pub(crate) fn grade(&self, problem: &GradedRow, row: &Row, line: usize) -> Grade {
        let (Some(own), Some(wrong)) = (
            row.source.lines().nth(line.wrapping_sub(1)),
            self.source.lines().nth(line.wrapping_sub(1)),
        ) else {
            return Grade::WrongResult(format!("the kernel has no line {line}"));
        };
        if own == wrong {
            return Grade::WrongResult(format!("line {line} is as it should be"));
        }
        let mut lines: Vec<&str> = self.source.lines().collect();
        lines[line - 1] = own;
        interpreted::python(problem, &lines.join("\n"))
    }
}

/// Describes the first number after a launch that is wrong by more than rounding.
fn first_difference(
    program: &RowProgram,
    grid: LaunchInputs<'_>,
    wanted: &[Vec<u8>],
    found: &[Vec<u8>],
) -> Option<String> {
    let written = grid.inputs.iter().enumerate().filter(|(_, it)| it.written);
    written.into_iter().find_map(|(at, given)| {
        let numbers = |all: &[Vec<u8>]| execute::numbers(program, at, &all[at]);
        let (wanted, found) = (numbers(wanted), numbers(found));
        let largest = wanted.iter().map(|it| it.as_f64().abs()).fold(0.0, f64::max);
        let is_off = |at: &usize| {
            let (one, other) = (wanted[*at].as_f64(), found[*at].as_f64());
            (one - other).abs() > DIFFERENCE * largest
        };
        let place = (0..wanted.len()).find(is_off)?;
        let elements = given.shape.iter().product::<u32>().max(1) as usize;
        let element = place / (wanted.len() / elements).max(1);
        let (is, right) = (found[place].as_f64(), wanted[place].as_f64());
        Some(format!("`{}` at {element} is {is:?} instead of {right:?}", given.name))
    })
}
