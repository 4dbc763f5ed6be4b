//! The number that a variable has behind a line of a kernel, in one thread. A copy of the kernel,
//! which the interpreter runs, stores it: behind the line it writes the variable into an array with
//! one element for each thread.

use gbxcule_grammar::input::ArgumentInput;
use gbxcule_grammar::random::Random;
use gbxcule_ir::{Literal, Scalar};
use gbxcule_rows::execute::{self, LaunchInputs};
use gbxcule_rows::row::Row;
use gbxcule_rows::row_program::RowProgram;

/// Name of the array, which no row uses.
const ARRAY: &str = "behind_the_line";
/// Types of the variables that are asked about, and a number that marks threads which don't run the
/// line.
const TYPES: [(&str, Scalar); 2] = [("int", Scalar::I32), ("float", Scalar::F32)];
/// Mark of a thread that doesn't run the line; no variable is asked about that has it.
const MARK: i32 = -1_234_567;

/// A number behind a line.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct LineValue {
    /// The variable, the line and the thread: a noun for questions and messages.
    pub(crate) place: String,
    /// The number when the line has run for the last time.
    pub(crate) value: Literal,
}

/// Assignment to a variable that stands on one line.
struct Assignment<'s> {
    /// Number of the line, from 1.
    line: usize,
    indent: &'s str,
    name: &'s str,
    text: &'s str,
}

/// Draws a number that may be asked about a row, given its arguments before the launch: of a
/// variable that a line of the kernel assigns, in a thread that runs the line.
pub(crate) fn drawn(
    row: &Row,
    inputs: &[ArgumentInput],
    data: &[Vec<u8>],
    random: &mut Random,
) -> Option<LineValue> {
    // The old value that an atomic operation gives depends on the order of threads.
    if row.source.contains("atomic") || row.launch_dims.is_empty() {
        return None;
    }
    let mut left = assignments(row);
    while !left.is_empty() {
        let of = left.swap_remove(random.below(left.len()));
        let mut values = of_assignment(row, &of, (inputs, data)).unwrap_or_default();
        if !values.is_empty() {
            return Some(values.swap_remove(random.below(values.len())));
        }
    }
    None
}

/// Returns the places in the source at which the kernel's parameters end and its body begins.
fn head_end(row: &Row) -> Option<(usize, usize)> {
    const END: &str = "):\n";
    let begin = row.source.find(&format!("def {}(", row.kernel))?;
    let end = begin + row.source[begin..].find(END)?;
    Some((row.source[..end].trim_end_matches([',', '\n', ' ']).len(), end + END.len()))
}

/// Returns the assignments of the kernel's body.
fn assignments(row: &Row) -> Vec<Assignment<'_>> {
    let Some((_, body)) = head_end(row) else { return Vec::new() };
    let first = row.source[..body].lines().count() + 1;
    let is_inside = |it: &&str| it.is_empty() || it.starts_with([' ', '\t']);
    let lines = row.source[body..].lines().take_while(is_inside);
    lines.zip(first..).filter_map(|(line, number)| assignment(line, number)).collect()
}

fn assignment(source: &str, line: usize) -> Option<Assignment<'_>> {
    let text = source.trim();
    let (target, value) = text.split_once('=')?;
    let name = target.trim_end_matches(['+', '-', '*', '/', ' ']);
    let is_part = |it: char| it.is_ascii_alphanumeric() || it == '_';
    let is_name = name.chars().all(is_part) && name.starts_with(|it: char| it.is_alphabetic());
    // A line that goes on is no place for another statement behind it.
    let is_whole = ["()", "[]"].iter().all(|pair| {
        let [opened, closed] = [0, 1].map(|at| text.matches(&pair[at..=at]).count());
        opened == closed
    });
    let is_asked = is_name && is_whole && !value.starts_with('=') && !text.contains("wp.tid()");
    let indent = &source[..source.len() - source.trim_start().len()];
    is_asked.then_some(Assignment { line, indent, name, text })
}

/// Returns the source with a line behind the assignment that stores the variable.
fn storing(row: &Row, of: &Assignment<'_>, dtype: &str) -> Option<String> {
    let (head, _) = head_end(row)?;
    let rank = row.launch_dims.len();
    let indices: Vec<String> = (0..rank).map(|dim| format!("{ARRAY}_{dim}")).collect();
    let (indices, indent) = (indices.join(", "), of.indent);
    let parameter = format!(", {ARRAY}: wp.array(dtype={dtype}, ndim={rank})");
    let mut lines: Vec<&str> = row.source.lines().collect();
    let stored = format!("{indent}{indices} = wp.tid()\n{indent}{ARRAY}[{indices}] = {}", of.name);
    lines.insert(of.line, &stored);
    let text = lines.join("\n") + "\n";
    // The head lies before the line, so its place stays.
    Some(format!("{}{parameter}{}", &text[..head], &text[head..]))
}

fn of_assignment(
    row: &Row,
    of: &Assignment<'_>,
    (inputs, data): (&[ArgumentInput], &[Vec<u8>]),
) -> Option<Vec<LineValue>> {
    // A variable of another type can't be stored in the array.
    let (program, scalar) = TYPES.into_iter().find_map(|(dtype, scalar)| {
        Some((RowProgram::read_forward(&storing(row, of, dtype)?).ok()?, scalar))
    })?;
    let dims = &row.launch_dims;
    let zeros = ArgumentInput { name: ARRAY.into(), ..ArgumentInput::zeros(dims.clone()) };
    let inputs = [inputs, &[zeros]].concat();
    let mark = if scalar.is_float() { (MARK as f32).to_bits() as i32 } else { MARK };
    let threads = dims.iter().product::<u32>() as usize;
    let data = [data, &[mark.to_le_bytes().repeat(threads)]].concat();
    let grid = LaunchInputs { dims, inputs: &inputs };
    let after = execute::forward(&program, grid, &data).ok()?;
    let at = inputs.len() - 1;
    let numbers = execute::numbers(&program, at, after.get(at)?);
    let tells = |&(_, number): &(usize, &Literal)| {
        let size = number.as_f64();
        size.is_finite() && size != f64::from(MARK) && ![0.0, 1.0].contains(&size)
    };
    let one = |(thread, value): (usize, &Literal)| LineValue {
        place: format!(
            "`{}` behind line {}, `{}`, in thread {} when it has run the line for the last time",
            of.name,
            of.line,
            of.text,
            index(thread, dims)
        ),
        value: *value,
    };
    Some(numbers.iter().enumerate().filter(tells).map(one).collect())
}

/// Returns the index of a thread of a launch: `3`, or `(3, 1)`.
fn index(thread: usize, dims: &[u32]) -> String {
    let mut rest = thread;
    let mut words = Vec::new();
    for extent in dims.iter().rev().map(|it| *it as usize) {
        words.insert(0, (rest % extent).to_string());
        rest /= extent;
    }
    if words.len() == 1 { words.concat() } else { format!("({})", words.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: &str = "import warp as wp\n\n\n@wp.kernel\ndef k(x: wp.array(dtype=float), y: wp.array2d(dtype=float)):\n    \
         i, j = wp.tid()\n    total = float(0.0)\n    for n in range(i + 1):\n        total += x[n]\n    if i == 1:\n        \
         count = 7 * j\n        total = total * float(count)\n    y[i, j] = total\n";

    #[test]
    fn a_variable_has_the_number_of_the_last_run_of_its_line_in_a_thread() {
        let launch_dims = vec![3, 2];
        let row = Row { source: SOURCE.into(), kernel: "k".into(), launch_dims, ..Row::default() };
        let named = |name: &str, given: ArgumentInput| ArgumentInput { name: name.into(), ..given };
        let inputs = [
            named("x", ArgumentInput::integers(vec![3], 0, 0)),
            named("y", ArgumentInput::zeros(vec![3, 2])),
        ];
        let x: Vec<u8> = [2.0_f32, 3.0, 4.0].iter().flat_map(|it| it.to_le_bytes()).collect();
        let data = [x, vec![0; 24]];
        let all = assignments(&row).into_iter();
        let found = all.filter_map(|it| of_assignment(&row, &it, (&inputs, &data))).flatten();
        let found: Vec<(String, f64)> = found.map(|it| (it.place, it.value.as_f64())).collect();
        let place = |name: &str, line: &str, thread: &str| {
            format!(
                "`{name}` behind line {line}, in thread {thread} when it has run the line for the last time"
            )
        };
        let sum = "9, `total += x[n]`";
        let threads = ["(0, 0)", "(0, 1)", "(1, 0)", "(1, 1)", "(2, 0)", "(2, 1)"];
        let sums = threads.iter().zip([2.0, 2.0, 5.0, 5.0, 9.0, 9.0]);
        let mut wanted: Vec<(String, f64)> =
            sums.map(|(thread, sum_of)| (place("total", sum, thread), sum_of)).collect();
        wanted.push((place("count", "11, `count = 7 * j`", "(1, 1)"), 7.0));
        wanted.push((place("total", "12, `total = total * float(count)`", "(1, 1)"), 35.0));
        assert_eq!(found, wanted);
    }
}
