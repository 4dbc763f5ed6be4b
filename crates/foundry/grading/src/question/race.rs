//! A CUDA text that may have a race: a row's text, unchanged or changed so that several threads may
//! write to one element. The simulator decides.

use super::{line_number, numbered};
use crate::Grade;
use crate::graded_row::GradedRow;
use crate::simulated;
use gbxcule_gpu_check::compiler::CudaCompiler;
use gbxcule_grammar::random::{self, Random};
use gbxcule_rows::row::Row;

/// Constant that separates this file's seeds from others.
const STREAM: u64 = 0x7261_6365_2071_7565;

/// A CUDA text, and its answer if that is known before the text runs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct RaceQuestion {
    /// The text.
    pub(crate) text: String,
    /// The answer: `no`, or the number of the changed line; `None` if a barrier was removed,
    /// because only a run then shows the line.
    pub(crate) answer: Option<String>,
}

impl RaceQuestion {
    /// Makes the question about a row, or returns `None` if no change of its CUDA can cause a race.
    pub(crate) fn of(row: &Row) -> Option<Self> {
        let unchanged = row.cuda_plain.as_ref()?;
        let changes = changes(unchanged);
        let mut random = Random::new(random::seed(row.input_seed ^ STREAM, row.id));
        if changes.is_empty() {
            return None;
        }
        if random.below(2) == 0 {
            return Some(Self { text: unchanged.clone(), answer: Some("no".into()) });
        }
        let (line, with) = &changes[random.below(changes.len())];
        let mut lines: Vec<&str> = unchanged.lines().collect();
        match with {
            Some(with) => lines[*line] = with,
            None => _ = lines.remove(*line),
        }
        let answer = with.as_ref().map(|_| (line + 1).to_string());
        Some(Self { text: lines.join("\n") + "\n", answer })
    }

    /// Returns the text with numbers of lines.
    pub(crate) fn numbered(&self) -> String {
        numbered(&self.text)
    }

    /// Judges an answer: `no`, or the number of a line with an access that races.
    pub(crate) fn grade(&self, problem: &GradedRow, word: &str, compiler: &CudaCompiler) -> Grade {
        let said = match (word.to_ascii_lowercase().as_str(), line_number(word)) {
            ("no" | "none" | "no race", _) => None,
            (_, Some(line)) => Some(line),
            _ => return Grade::DoesNotParse(format!("`{word}` is neither `no` nor a line")),
        };
        let (verdict, _) = simulated::grade(problem, &self.text, false, compiler);
        let fault = match verdict {
            Grade::Right => None,
            Grade::WrongResult(reason) if reason.contains("race: ") => Some(reason),
            Grade::NotGraded(reason) => return Grade::NotGraded(reason),
            other => {
                let reason = other.reason().unwrap_or_default();
                return Grade::NotGraded(format!("the question has no answer: {reason}"));
            }
        };
        match (said, fault) {
            (None, None) => Grade::Right,
            (Some(line), None) => {
                Grade::WrongResult(format!("there is no race, in line {line} neither"))
            }
            (None, Some(fault)) => Grade::WrongResult(format!("there is a race: {fault}")),
            (Some(line), Some(fault)) => {
                let is_named = lines_named(&fault).any(|it| it == line);
                let is_changed = self.answer.as_ref().is_some_and(|it| *it == line.to_string());
                match is_named || is_changed {
                    true => Grade::Right,
                    false => Grade::WrongResult(format!("the race is elsewhere: {fault}")),
                }
            }
        }
    }
}

/// Returns the numbers of the lines that a fault names.
fn lines_named(fault: &str) -> impl Iterator<Item = usize> {
    let after = fault.split(" line ").skip(1);
    after.filter_map(|it| it.split(|it: char| !it.is_ascii_digit()).next()?.parse().ok())
}

/// Returns changes of a text that may cause a race: the number of a line, from 0, and its new text,
/// or `None` to remove the line.
fn changes(text: &str) -> Vec<(usize, Option<String>)> {
    let one = |(at, line): (usize, &str)| {
        let code = line.trim_start();
        let indent = &line[..line.len() - code.len()];
        let new = match code {
            "__syncthreads();" => return Some((at, None)),
            _ => plain_addition(code).or_else(|| shared_place(code, text))?,
        };
        Some((at, Some(format!("{indent}{new}"))))
    };
    text.lines().enumerate().filter_map(one).collect()
}

/// Returns `place += value;` for an atomic addition.
fn plain_addition(code: &str) -> Option<String> {
    let operands = code.strip_prefix("atomicAdd(&")?.strip_suffix(");")?;
    let mut depth = 0;
    let comma = operands.char_indices().find(|(_, letter)| {
        depth += i32::from("([{".contains(*letter)) - i32::from(")]}".contains(*letter));
        *letter == ',' && depth == 0
    });
    let (place, value) = operands.split_at(comma?.0);
    Some(format!("{place} += {};", value.trim_start_matches([',', ' '])))
}

/// Returns `y[i / 2] = value;` for a thread's store to its own element of a parameter `y`.
fn shared_place(code: &str, text: &str) -> Option<String> {
    let (place, value) = code.split_once("] = ")?;
    let (array, index) = place.split_once('[')?;
    let is_name = |it: &str| it.chars().all(|it| it.is_alphanumeric() || it == '_');
    let is_of_thread =
        text.contains(&format!("int {index} = blockIdx.x * blockDim.x + threadIdx.x;"));
    let is_parameter = text.contains(&format!("* {array},\n"));
    (is_name(array) && is_name(index) && is_of_thread && is_parameter)
        .then(|| format!("{array}[{index} / 2] = {value}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_meet_where_an_atomic_a_barrier_or_an_index_was() {
        let text = "    float* y,\n    const int i = blockIdx.x * blockDim.x + threadIdx.x;\n    \
                    atomicAdd(&n[int(f(a, b))], g(1, 2));\n    __syncthreads();\n    y[i] = x[i];\n    z[i] = 1;\n";
        let new = |line: &str| Some(format!("    {line}"));
        let wanted =
            [(2, new("n[int(f(a, b))] += g(1, 2);")), (3, None), (4, new("y[i / 2] = x[i];"))];
        assert_eq!(changes(text), wanted);
    }

    #[test]
    fn a_fault_names_both_lines() {
        let fault = "data race: thread 3 of block 0 in line 12: it writes `y[1]`, which thread 2 of block 0 wrote in \
                     line 9; nothing orders the two, on the stored inputs, <<<1, 128>>>";
        assert_eq!(lines_named(fault).collect::<Vec<_>>(), [12, 9]);
    }
}
