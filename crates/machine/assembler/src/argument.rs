//! Arguments of macros: splits the arguments of a use, and substitutes them in the lines of the
//! macro's body. The expander does both before any line is parsed.

use crate::lex::quoted_bytes;

/// Splits arguments at commas outside of brackets, texts and characters.
pub(crate) fn split(text: &str) -> Vec<String> {
    if text.trim().is_empty() {
        return Vec::new();
    }
    let (mut depth, mut arguments, mut start, mut at) = (0, Vec::new(), 0, 0);
    while let Some(c) = text[at..].chars().next() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            ',' if depth == 0 => {
                arguments.push(text[start..at].trim().to_string());
                start = at + 1;
            }
            _ => {}
        }
        at += quoted_bytes(&text[at..]).max(c.len_utf8());
    }
    arguments.push(text[start..].trim().to_string());
    arguments
}

/// Returns the highest argument number in a macro's line, or 0.
pub(crate) fn highest(line: &str) -> usize {
    let digits = line.split('\\').skip(1).filter_map(|rest| rest.chars().next()?.to_digit(10));
    digits.max().unwrap_or(0) as usize
}

/// Replaces `\1` to `\9` in a macro's line by the arguments, and `\@` by a number that is unique to
/// the use.
pub(crate) fn substitute(line: &str, arguments: &[String], using: usize) -> String {
    let mut result = String::new();
    let mut chars = line.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            result.push(c);
            continue;
        }
        match chars.next() {
            Some('@') => result.push_str(&using.to_string()),
            Some(digit @ '1'..='9') => {
                let number = digit as usize - '0' as usize;
                result.push_str(arguments.get(number - 1).map_or("", String::as_str));
            }
            Some(other) => result.extend(['\\', other]),
            None => result.push('\\'),
        }
    }
    result
}
