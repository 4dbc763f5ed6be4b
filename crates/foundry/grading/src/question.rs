//! Questions whose answer is a word: the line of a bug, the line of a race or `no`, a number that a
//! launch leaves. Each is made of a row alone, so that everybody asks the same, and judged by
//! running something.
//!
//! [`task`](crate::task) asks them, `grade_one` judges the answers, a dataset's own answers are
//! [`stand_in`](crate::stand_in)s.

pub(crate) mod bug;
pub(crate) mod race;
pub(crate) mod value;

/// The text with a number before each line.
pub(crate) fn numbered(text: &str) -> String {
    let lines = text.lines().enumerate();
    lines.map(|(at, line)| format!("{:>3}  {line}\n", at + 1)).collect()
}

/// The number of a line that an answer names.
pub(crate) fn line_number(word: &str) -> Option<usize> {
    let number = word.strip_prefix("line").unwrap_or(word).trim();
    number.parse().ok()
}
