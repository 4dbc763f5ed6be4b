//! The structure of a text: its tokens with names and literals erased.
//!
//! Two kernels have the same structure if they differ only in chosen names and in literals: every
//! chosen name becomes `n`, every number `0`, every string `s`. Keywords, Python's scalars and
//! names after `wp.` stay. Compared with trees or IR, more kernels are equal: `x * y` and `x * x`
//! have the same structure. The comparison needs only texts, so any kernel can be compared with
//! rows.

use sha2::{Digest, Sha256};
use std::collections::BTreeSet;

/// Keywords and names of Python that erasing keeps.
const KEPT_WORDS: [&str; 28] = [
    "and", "break", "class", "continue", "def", "elif", "else", "for", "if", "in", "not", "or",
    "pass", "return", "while", "range", "float", "int", "bool", "True", "False", "import", "from",
    "as", "assert", "is", "len", "abs",
];

/// Marks of two characters.
const LONG_MARKS: [&str; 16] = [
    "//", "**", "<<", ">>", "<=", ">=", "==", "!=", "+=", "-=", "*=", "/=", "&=", "|=", "^=", "->",
];

/// A token of a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Token<'a> {
    /// A name, and whether a dot precedes it.
    Name(&'a str, bool),
    /// A literal of a number.
    Number(&'a str),
    /// A literal of a string.
    Text,
    /// An operator or a bracket.
    Mark(&'a str),
    /// A line's beginning, with the columns of its indentation.
    Line(usize),
}

/// Returns the tokens of a text with their offsets; comments and blank lines give no token.
pub fn tokens(text: &str) -> Vec<(usize, Token<'_>)> {
    let bytes = text.as_bytes();
    let mut tokens: Vec<(usize, Token<'_>)> = Vec::new();
    let (mut at, mut fresh, mut depth) = (0, true, 0usize);
    while at < bytes.len() {
        let byte = bytes[at];
        if fresh && depth == 0 && byte != b'\n' {
            let (length, margin) = indentation(&bytes[at..], usize::MAX);
            at += length;
            fresh = false;
            if at < bytes.len() && !matches!(bytes[at], b'\n' | b'#' | b'\r') {
                tokens.push((at, Token::Line(margin)));
            }
            continue;
        }
        let run =
            |wanted: fn(&u8) -> bool| bytes[at..].iter().take_while(|&byte| wanted(byte)).count();
        let length = match byte {
            b'\n' => {
                fresh = true;
                1
            }
            b' ' | b'\t' | b'\r' | b'\\' => 1,
            b'#' => run(|&byte| byte != b'\n'),
            b'"' | b'\'' => {
                tokens.push((at, Token::Text));
                string(&bytes[at..])
            }
            _ if byte.is_ascii_alphabetic() || byte == b'_' || byte >= 0x80 => {
                let length =
                    run(|&byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80);
                if is_prefix(&text[at..at + length], bytes.get(at + length)) {
                    at += length;
                    continue;
                }
                let dotted = matches!(tokens.last(), Some((_, Token::Mark("."))));
                tokens.push((at, Token::Name(&text[at..at + length], dotted)));
                length
            }
            _ if begins_number(&bytes[at..]) => {
                let length = number(&bytes[at..]);
                tokens.push((at, Token::Number(&text[at..at + length])));
                length
            }
            _ => {
                let two = text.get(at..at + 2).filter(|two| LONG_MARKS.contains(two));
                match byte {
                    b'(' | b'[' | b'{' => depth += 1,
                    b')' | b']' | b'}' => depth = depth.saturating_sub(1),
                    _ => {}
                }
                let mark = two.unwrap_or(&text[at..=at]);
                tokens.push((at, Token::Mark(mark)));
                mark.len()
            }
        };
        at += length;
    }
    tokens
}

/// Returns the bytes of a line's indentation and its columns, as Python counts them; no more bytes
/// than stand before column `limit`.
pub fn indentation(line: &[u8], limit: usize) -> (usize, usize) {
    let mut columns = 0_usize;
    for (at, byte) in line.iter().enumerate() {
        match byte {
            _ if columns >= limit => return (at, columns),
            b' ' => columns += 1,
            b'\t' => columns = (columns + 1).next_multiple_of(8),
            _ => return (at, columns),
        }
    }
    (line.len(), columns)
}

/// Returns true if a name is the prefix of the string that follows it, as in `f"{x}"`.
fn is_prefix(name: &str, next: Option<&u8>) -> bool {
    let is_letter = |letter: u8| matches!(letter.to_ascii_lowercase(), b'b' | b'f' | b'r' | b'u');
    matches!(next, Some(b'"' | b'\'')) && name.len() <= 2 && name.bytes().all(is_letter)
}

fn begins_number(bytes: &[u8]) -> bool {
    let is_digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
    is_digit(0) || bytes[0] == b'.' && is_digit(1)
}

fn string(bytes: &[u8]) -> usize {
    let quote = bytes[0];
    let triple = bytes.len() >= 3 && bytes[1] == quote && bytes[2] == quote;
    let mut at = if triple { 3 } else { 1 };
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\n' if !triple => return at,
            byte if byte == quote && !triple => return at + 1,
            byte if byte == quote && bytes[at..].starts_with(&[quote; 3]) => return at + 3,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

fn number(bytes: &[u8]) -> usize {
    let mut at = 0;
    while at < bytes.len() {
        let signed = matches!(bytes[at], b'+' | b'-') && matches!(bytes[at - 1], b'e' | b'E');
        if !(bytes[at].is_ascii_alphanumeric()
            || matches!(bytes[at], b'.' | b'_')
            || at > 0 && signed)
        {
            break;
        }
        at += 1;
    }
    at
}

/// Returns a text with names and literals erased.
pub fn erased(text: &str) -> String {
    erased_of(&tokens(text))
}

/// Joins a text's tokens with names and literals erased.
pub fn erased_of(tokens: &[(usize, Token<'_>)]) -> String {
    let mut out = String::with_capacity(4 * tokens.len());
    let mut behind_wp = false;
    for (at, (_, token)) in tokens.iter().enumerate() {
        match *token {
            Token::Name(name, dotted) => {
                let is_wp = !dotted && matches!(name, "wp" | "warp");
                let is_kept = is_wp || behind_wp && dotted || !dotted && KEPT_WORDS.contains(&name);
                out.push_str(if is_kept { name } else { "n" });
                let calls_on = matches!(tokens.get(at + 1), Some((_, Token::Mark("."))));
                behind_wp = (is_wp || behind_wp && dotted) && calls_on;
            }
            Token::Number(_) => out.push('0'),
            Token::Text => out.push('s'),
            Token::Mark(mark) => out.push_str(mark),
            Token::Line(margin) => {
                out.push('\n');
                out.extend(std::iter::repeat_n(' ', margin));
                continue;
            }
        }
        out.push(' ');
    }
    out
}

/// Returns the structure as 32 hexadecimal digits.
pub fn hash(tokens: &[(usize, Token<'_>)]) -> String {
    digest(&erased_of(tokens), 16)
}

/// Returns the first bytes of a text's SHA-256 as hexadecimal digits.
pub fn digest(text: &str, bytes: usize) -> String {
    gbxcule_files::hex(&Sha256::digest(text)[..bytes])
}

/// Returns the features of the language that a text uses: statements, operators, builtins, kinds of
/// types.
pub fn features(tokens: &[(usize, Token<'_>)]) -> Vec<String> {
    let mut features = BTreeSet::new();
    for (at, (_, token)) in tokens.iter().enumerate() {
        let before = at.checked_sub(1).map(|at| tokens[at].1);
        match *token {
            Token::Name(
                name @ ("for" | "while" | "break" | "continue" | "elif" | "and" | "or" | "not"),
                false,
            ) => {
                features.insert(name.to_owned());
            }
            Token::Name("if", false) => {
                let statement = matches!(before, Some(Token::Line(_)));
                features.insert(if statement { "if" } else { "if-expression" }.to_owned());
            }
            Token::Name("else", false) if matches!(before, Some(Token::Line(_))) => {
                features.insert("else".to_owned());
            }
            Token::Name("return", false) => _ = features.insert("return".to_owned()),
            Token::Name(name, true)
                if at >= 2 && matches!(tokens[at - 2].1, Token::Name("wp", false)) =>
            {
                features.insert(format!("wp.{name}"));
            }
            Token::Mark(mark @ ("%" | "//" | "<<" | ">>" | "&" | "|" | "^" | "@"))
                if !matches!(before, Some(Token::Line(_))) =>
            {
                features.insert(mark.to_owned());
            }
            Token::Mark(mark @ ("+=" | "-=" | "*=")) => _ = features.insert(mark.to_owned()),
            _ => {}
        }
    }
    features.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_literals_are_erased_and_nothing_else() {
        let one = "@wp.kernel\ndef f(x: wp.array(dtype=float)):\n    i = wp.tid()  # here\n    x[i] = wp.sin(x[i]) * 2.0\n";
        let other = "@wp.kernel\ndef other(a: wp.array(dtype=float)):\n\n    t = wp.tid()\n    a[t] = wp.sin(a[t]) * 1.0e-3\n";
        let hash = |text: &str| hash(&tokens(text));
        assert_eq!(hash(one), hash(other));
        for (from, to) in [("sin", "cos"), ("*", "+"), ("float", "int"), ("    x[i]", "      x[i]")]
        {
            assert_ne!(hash(one), hash(&one.replace(from, to)), "{from}");
        }
    }

    #[test]
    fn a_structure_does_not_depend_on_how_it_is_spelled() {
        let hash = |text: &str| hash(&tokens(text));
        let one = "def f():\n        if a:\n                b = 0.5\n                c = \"d\"\n";
        for (from, to) in
            [("0.5", ".5"), ("\"d\"", "f\"d\""), ("\"d\"", "rb'd'"), ("        ", "\t")]
        {
            assert_eq!(hash(one), hash(&one.replace(from, to)), "{to}");
        }
        let tabs = "def f():\n\tif a:\n\t\tb = 1\n\tc = 2\n";
        assert_ne!(hash(tabs), hash(&tabs.replace("\tc", "\t\tc")));
        // A string without an end goes on to the line's end, as the front end reads it.
        assert_eq!(erased("a = 'b\nc = 1\n"), erased("a = 'b'\nc = 1\n"));
    }
}
