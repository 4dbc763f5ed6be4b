//! Words, marks and texts of printed IR, each with its position.

use super::{ParseError, Result};
use std::fmt;

/// A token.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token<'t> {
    /// A name with its dots, a number, or a keyword: `x.1`, `%3`, `-1.5e-7f32`, `.mass`.
    Word(&'t str),
    /// Punctuation.
    Mark(&'static str),
    /// A text between quotes, unescaped.
    Text(String),
    /// End of a line.
    Line,
    /// End of the text.
    End,
}

impl fmt::Display for Token<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Word(text) => {
                let short: String = text.chars().take(40).collect();
                write!(f, "`{short}`")
            }
            Self::Mark(text) => write!(f, "`{text}`"),
            Self::Text(_) => f.write_str("a text"),
            Self::Line => f.write_str("the end of the line"),
            Self::End => f.write_str("the end of the text"),
        }
    }
}

/// All marks, the longer ones first.
const MARKS: [&str; 14] = ["->", "(", ")", "[", "]", "{", "}", "<", ">", ",", ";", ":", "=", "&"];

/// The tokens of a text and a position among them.
pub(super) struct Tokens<'t> {
    text: &'t str,
    /// Each token with the byte at which it begins.
    tokens: Vec<(usize, Token<'t>)>,
    at: usize,
}

fn is_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '%' | '.')
}

/// Returns the length in bytes of the word that a text begins with.
fn word_length(text: &str) -> usize {
    let mut end = 0;
    let mut characters = text.char_indices().peekable();
    let is_number = text.starts_with(|first: char| first.is_ascii_digit() || first == '-');
    while let Some((at, character)) = characters.next() {
        let next = characters.peek().map_or(' ', |it| it.1);
        let goes_on = match character {
            '-' if at == 0 => next.is_ascii_digit() || next == 'i',
            // `-` as in `1e-7f32`.
            '-' => is_number && text[..at].ends_with('e') && next.is_ascii_digit(),
            // `:` as in `nan:7fc00001f32`.
            ':' => &text[..at] == "nan" && next.is_ascii_hexdigit(),
            other => is_word(other),
        };
        if !goes_on {
            break;
        }
        end = at + character.len_utf8();
    }
    end
}

impl<'t> Tokens<'t> {
    pub(super) fn of(text: &'t str) -> Result<Self> {
        let mut tokens = Self { text, tokens: Vec::new(), at: 0 };
        let mut offset = 0;
        while let Some(first) = text[offset..].chars().next() {
            let remaining = &text[offset..];
            let word = word_length(remaining);
            let (length, token) = if first == '\n' {
                (1, Some(Token::Line))
            } else if first.is_whitespace() {
                (first.len_utf8(), None)
            } else if first == '"' {
                let (length, unescaped) = unescape(remaining).ok_or_else(|| {
                    tokens.error_at(offset, "a text needs a quote at its end and Rust's escapes")
                })?;
                (length, Some(Token::Text(unescaped)))
            } else if word > 0 {
                (word, Some(Token::Word(&remaining[..word])))
            } else if let Some(mark) = MARKS.into_iter().find(|mark| remaining.starts_with(mark)) {
                (mark.len(), Some(Token::Mark(mark)))
            } else {
                let message = format!("`{}` is not a token of IR", first.escape_default());
                return Err(tokens.error_at(offset, message));
            };
            tokens.tokens.extend(token.map(|token| (offset, token)));
            offset += length;
        }
        tokens.tokens.push((offset, Token::End));
        Ok(tokens)
    }

    pub(super) fn position(&self) -> usize {
        self.at
    }

    pub(super) fn go_to(&mut self, position: usize) {
        self.at = position;
    }

    /// Returns the next token.
    pub(super) fn peek(&self) -> &Token<'t> {
        self.ahead(0)
    }

    /// Returns the token after `count` others.
    pub(super) fn ahead(&self, count: usize) -> &Token<'t> {
        let last = self.tokens.len() - 1;
        &self.tokens[(self.at + count).min(last)].1
    }

    pub(super) fn next(&mut self) -> Token<'t> {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    /// Takes a mark if it comes next; returns true if it did.
    pub(super) fn takes(&mut self, mark: &'static str) -> bool {
        let comes_next = *self.peek() == Token::Mark(mark);
        if comes_next {
            self.next();
        }
        comes_next
    }

    /// Takes a mark, which must come next.
    pub(super) fn mark(&mut self, mark: &'static str) -> Result<()> {
        if self.takes(mark) { Ok(()) } else { Err(self.expected(&format!("`{mark}`"))) }
    }

    /// Takes a keyword, which must come next.
    pub(super) fn keyword(&mut self, wanted: &str) -> Result<()> {
        if *self.peek() == Token::Word(wanted) {
            self.next();
            return Ok(());
        }
        Err(self.expected(&format!("`{wanted}`")))
    }

    /// Takes any word.
    pub(super) fn word(&mut self, expected: &str) -> Result<&'t str> {
        match *self.peek() {
            Token::Word(word) => {
                self.next();
                Ok(word)
            }
            _ => Err(self.expected(expected)),
        }
    }

    /// Takes a text in quotes.
    pub(super) fn quoted(&mut self) -> Result<String> {
        match self.peek() {
            Token::Text(_) => match self.next() {
                Token::Text(text) => Ok(text),
                _ => unreachable!("it was peeked at"),
            },
            _ => Err(self.expected("a text in quotes")),
        }
    }

    /// Takes the end of a line.
    pub(super) fn line(&mut self) -> Result<()> {
        match self.peek() {
            Token::Line => {
                self.next();
                Ok(())
            }
            Token::End => Ok(()),
            _ => Err(self.expected("the end of the line")),
        }
    }

    pub(super) fn skip_lines(&mut self) {
        while *self.peek() == Token::Line {
            self.next();
        }
    }

    /// Moves behind the mark that closes the open body.
    pub(super) fn skip_body(&mut self) -> Result<()> {
        let (begin, mut depth) = (self.at, 1usize);
        while depth > 0 {
            match self.next() {
                Token::Mark("{") => depth += 1,
                Token::Mark("}") => depth -= 1,
                Token::End => {
                    self.at = begin;
                    return Err(self.error("this body has no end: a `}` is missing"));
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// Makes the error for a wrong token.
    pub(super) fn expected(&self, expected: &str) -> ParseError {
        self.expected_at(self.at, expected)
    }

    /// Makes the error for a wrong token at a position.
    pub(super) fn expected_at(&self, position: usize, expected: &str) -> ParseError {
        let (at, found) = &self.tokens[position];
        self.error_at(*at, format!("expected {expected}, found {found}"))
    }

    /// Makes an error at the next token.
    pub(super) fn error(&self, message: impl Into<String>) -> ParseError {
        self.error_at(self.tokens[self.at].0, message)
    }

    /// Makes an error at a byte. It reads the text up to there: only make errors that are returned.
    fn error_at(&self, at: usize, message: impl Into<String>) -> ParseError {
        let before = &self.text[..at];
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        ParseError { line, column, message: message.into() }
    }
}

/// Reads a text in the form that `{:?}` writes; returns its length in bytes, and the text.
fn unescape(text: &str) -> Option<(usize, String)> {
    let mut unescaped = String::new();
    let mut characters = text.char_indices().skip(1);
    while let Some((at, character)) = characters.next() {
        match character {
            '"' => return Some((at + 1, unescaped)),
            '\n' => return None,
            '\\' => unescaped.push(match characters.next()?.1 {
                'n' => '\n',
                't' => '\t',
                'r' => '\r',
                '0' => '\0',
                'u' => {
                    let digits: String = characters
                        .by_ref()
                        .skip(1)
                        .map(|it| it.1)
                        .take_while(|it| it.is_ascii_hexdigit())
                        .take(7)
                        .collect();
                    char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
                }
                other @ ('"' | '\'' | '\\') => other,
                _ => return None,
            }),
            other => unescaped.push(other),
        }
    }
    None
}
