//! Questions whose answer is a word: the line of a bug, the line of a race or `no`, a number in a
//! launch's results or behind a line. A question depends on its row alone, so all users ask the
//! same question. The answer is judged by running the kernel.
//!
//! [`task`](crate::task) writes the prompts, `grade_one` judges the answers,
//! [`stand_in`](crate::stand_in) makes answers from the dataset.

pub(crate) mod bug;
mod line_value;
pub(crate) mod race;
pub(crate) mod value;

/// Returns the text with a number before each line.
pub(crate) fn numbered(text: &str) -> String {
    let lines = text.lines().enumerate();
    lines.map(|(at, line)| format!("{:>3}  {line}\n", at + 1)).collect()
}

/// Returns the number of the line that an answer names.
pub(crate) fn line_number(word: &str) -> Option<usize> {
    let word = word.to_ascii_lowercase();
    word.strip_prefix("line").unwrap_or(&word).trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::line_number;

    #[test]
    fn a_line_is_named_by_its_number_with_or_without_the_word() {
        for word in ["16", "line 16", "Line 16", "LINE16"] {
            assert_eq!(line_number(word), Some(16), "{word}");
        }
        for word in ["", "line", "1-60", "-16", "16, 17", "1e1"] {
            assert_eq!(line_number(word), None, "{word}");
        }
    }
}
