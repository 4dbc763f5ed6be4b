//! A number that a kernel computes on the stored inputs, which the question lists: one of the row's
//! results, or the number of a variable behind a line.

use super::line_value;
use crate::Grade;
use gbxcule_grammar::input::ArgumentInput;
use gbxcule_grammar::random::{self, Random};
use gbxcule_ir::Literal;
use gbxcule_rows::execute::{self, LaunchInputs};
use gbxcule_rows::row::Row;
use gbxcule_rows::row_program::RowProgram;
use gbxcule_rows::tensor;

/// Greatest number of elements of all inputs together, because the question lists them.
const MAX_NUMBERS: usize = 192;
/// Allowed relative error of a float.
const TOLERANCE: f64 = 0.01;
/// Least magnitude of the asked float, as a fraction of its array's largest number, so that the
/// answer `0` is wrong.
const LEAST: f64 = 0.1;
/// Constant that separates this file's seeds from others.
const STREAM: u64 = 0x7661_6c75_6520_7175;

/// A number after a launch.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct ValueQuestion {
    /// Lines of the inputs: name, extents, numbers.
    pub(crate) inputs: String,
    /// Name of the element, `` `y[3]` `` after the launch, or of a variable behind a line.
    pub(crate) place: String,
    /// The number.
    pub(crate) value: Literal,
}

impl ValueQuestion {
    /// Makes the question about a row, or returns `None` if its inputs are long or its results
    /// zeros.
    pub(crate) fn of(row: &Row) -> Option<Self> {
        let (inputs, program) = (row.inputs()?, RowProgram::read_forward(&row.source).ok()?);
        let elements: u32 = inputs.iter().map(|it| it.shape.iter().product::<u32>()).sum();
        if elements as usize > MAX_NUMBERS || !program.takes(&inputs) {
            return None;
        }
        let data = execute::arguments(&program, &inputs, row.input_seed);
        let numbers = |all: &[Vec<u8>], at: usize| execute::numbers(&program, at, &all[at]);
        let before: Vec<Vec<Literal>> = (0..inputs.len()).map(|at| numbers(&data, at)).collect();
        if before.iter().map(Vec::len).sum::<usize>() > MAX_NUMBERS {
            return None;
        }
        let lists = inputs.iter().zip(&before).map(|(given, numbers)| list(given, numbers));
        let lists = lists.collect();
        let mut random = Random::new(random::seed(row.input_seed ^ STREAM, row.id));
        // Half of the questions are about a line, where a row has one to ask about.
        if random.below(2) == 0
            && let Some(it) = line_value::drawn(row, &inputs, &data, &mut random)
        {
            return Some(Self { inputs: lists, place: it.place, value: it.value });
        }
        let grid = LaunchInputs { dims: &row.launch_dims, inputs: &inputs };
        let after = execute::forward(&program, grid, &data).ok()?;
        let mut places = Vec::new();
        for at in (0..inputs.len()).filter(|at| inputs[*at].written) {
            let after = numbers(&after, at);
            let largest = after.iter().map(|it| it.as_f64().abs()).fold(0.0, f64::max);
            let tells = |&(place, number): &(usize, &Literal)| {
                let size = number.as_f64().abs();
                size.is_finite() && size > LEAST * largest && *number != before[at][place]
            };
            let found = after.iter().enumerate().filter(tells);
            places.extend(found.map(|(place, number)| (at, place, *number, after.len())));
        }
        if places.is_empty() {
            return None;
        }
        let (at, place, value, count) = places[random.below(places.len())];
        let place = format!("{} after the launch", spelled(&inputs[at], place, count));
        Some(Self { inputs: lists, place, value })
    }

    /// Judges a number.
    pub(crate) fn grade(&self, word: &str) -> Grade {
        let said = match word.to_ascii_lowercase().as_str() {
            "true" => 1.0,
            "false" => 0.0,
            number => match number.parse::<f64>() {
                Ok(number) => number,
                Err(_) => return Grade::DoesNotParse(format!("`{word}` is no number")),
            },
        };
        let right = self.value.as_f64();
        let tolerance = if self.value.scalar().is_float() { TOLERANCE * right.abs() } else { 0.0 };
        match (said - right).abs() <= tolerance {
            true => Grade::Right,
            false => Grade::WrongResult(format!("{}: {said:?} instead of {right:?}", self.place)),
        }
    }
}

/// Returns the line of one input; elements of several numbers are in parentheses.
fn list(given: &ArgumentInput, numbers: &[Literal]) -> String {
    let elements = given.shape.iter().product::<u32>().max(1) as usize;
    let parts = (numbers.len() / elements).max(1);
    let one = |part: &[Literal]| {
        let words: Vec<String> = part.iter().map(|it| tensor::spelled(*it)).collect();
        if parts == 1 { words.concat() } else { format!("({})", words.join(", ")) }
    };
    let all: Vec<String> = numbers.chunks(parts).map(one).collect();
    let name = &given.name;
    match (given.shape.is_empty(), given.zero) {
        (true, _) => format!("{name} = {}\n", all.concat()),
        (false, true) => format!("{name}, extents {:?} = zeros\n", given.shape),
        (false, false) => format!("{name}, extents {:?} = {}\n", given.shape, all.join(", ")),
    }
}

/// Returns the name of number `place` of the `count` numbers of an array: its element, and its
/// position in the element.
fn spelled(given: &ArgumentInput, place: usize, count: usize) -> String {
    let elements = given.shape.iter().product::<u32>().max(1) as usize;
    let parts = (count / elements).max(1);
    let mut rest = place / parts;
    let mut indices: Vec<String> = Vec::new();
    for extent in given.shape.iter().rev().map(|it| *it as usize) {
        indices.insert(0, (rest % extent).to_string());
        rest /= extent;
    }
    let element = format!("`{}[{}]`", given.name, indices.join(", "));
    match parts {
        1 => element,
        _ => format!("number {} (from 0) of {element}", place % parts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_ir::Scalar;

    #[test]
    fn a_place_is_named_by_indices_and_by_the_number_in_an_element() {
        let given = ArgumentInput { name: "y".into(), ..ArgumentInput::integers(vec![3, 4], 0, 1) };
        assert_eq!(spelled(&given, 7, 12), "`y[1, 3]`");
        assert_eq!(spelled(&given, 23, 36), "number 2 (from 0) of `y[1, 3]`");
    }

    #[test]
    fn floats_may_be_off_by_a_hundredth_and_integers_by_nothing() {
        let of = |value| ValueQuestion { inputs: String::new(), place: "`y[0]`".into(), value };
        let half = of(Literal::float(Scalar::F32, 0.5));
        assert_eq!(half.grade("0.5025"), Grade::Right);
        for wrong in ["0.51", "0", "-0.5", "nan", "inf"] {
            assert!(matches!(half.grade(wrong), Grade::WrongResult(_)), "{wrong}");
        }
        assert!(matches!(half.grade("a half"), Grade::DoesNotParse(_)));
        let four = of(Literal::int(Scalar::I32, 4));
        assert_eq!(four.grade("4"), Grade::Right);
        assert!(matches!(four.grade("4.01"), Grade::WrongResult(_)));
    }
}
