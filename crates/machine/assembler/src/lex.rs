//! Splits one line of assembly text into tokens, each with its column.

use crate::error::Complaint;

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Token {
    /// A name, mnemonic, register or directive; local names start with a dot.
    Word(String),
    Number(i64),
    Text(String),
    /// An operator or a bracket; `<<` and `>>` are one sign each.
    Sign(&'static str),
}

#[derive(Clone, Debug)]
pub(crate) struct SourcePosition {
    pub(crate) token: Token,
    pub(crate) column: u32,
}

const SIGNS: [&str; 18] =
    ["<<", ">>", "[", "]", "(", ")", ",", ":", "+", "-", "*", "/", "%", "&", "|", "^", "~", "@"];

/// Returns the length in bytes of the quoted text or character at the beginning of `rest`, or 0. A
/// text without a closing quote reaches to the end.
pub(crate) fn quoted_bytes(rest: &str) -> usize {
    let mut chars = rest.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('\''), Some(c), Some('\'')) => c.len_utf8() + 2,
        (Some('"'), ..) => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
        _ => 0,
    }
}

/// Returns the line up to a `;` outside of quotes.
pub(crate) fn without_comment(line: &str) -> &str {
    let mut at = 0;
    while let Some(c) = line[at..].chars().next() {
        if c == ';' {
            return &line[..at];
        }
        at += quoted_bytes(&line[at..]).max(c.len_utf8());
    }
    line
}

/// Returns the tokens of a line, without its comment.
pub(crate) fn lex(line: &str) -> Result<Vec<SourcePosition>, Complaint> {
    let mut lexer = Lexer { chars: line.chars().collect(), at: 0 };
    let mut spots: Vec<SourcePosition> = Vec::new();
    loop {
        while lexer.peek(0).is_some_and(char::is_whitespace) {
            lexer.at += 1;
        }
        let column = lexer.at as u32 + 1;
        match lexer.peek(0) {
            None | Some(';') => return Ok(spots),
            Some(first) => {
                let token = lexer.token(first)?;
                spots.push(SourcePosition { token, column });
            }
        }
    }
}

struct Lexer {
    chars: Vec<char>,
    at: usize,
}

impl Lexer {
    fn peek(&self, ahead: usize) -> Option<char> {
        self.chars.get(self.at + ahead).copied()
    }

    fn token(&mut self, first: char) -> Result<Token, Complaint> {
        match first {
            '$' => self.number(1, 16),
            '%' if self.starts_binary() => self.number(1, 2),
            '0'..='9' => self.number(0, 10),
            '"' => self.text(),
            '\'' => self.character(),
            _ if is_word_start(first) => Ok(self.word()),
            _ => self.sign(),
        }
    }

    /// Returns true if `%` begins a binary number: `%101` where a value may begin. Right after a
    /// value `%` is the remainder: `n%10`.
    fn starts_binary(&self) -> bool {
        let before = self.at.checked_sub(1).map(|at| self.chars[at]);
        let behind_value = before.is_some_and(|c| c.is_ascii_alphanumeric() || "_)@".contains(c));
        !behind_value && self.peek(1).is_some_and(|c| c.is_digit(2))
    }

    fn number(&mut self, skip: usize, radix: u32) -> Result<Token, Complaint> {
        let start = self.at;
        self.at += skip;
        let digits = self.take(|c| c.is_ascii_alphanumeric() || c == '_').replace('_', "");
        i64::from_str_radix(&digits, radix)
            .ok()
            .filter(|value| *value <= 0xFFFF_FFFF)
            .map(Token::Number)
            .ok_or_else(|| {
                let text: String = self.chars[start..self.at].iter().collect();
                let message = format!(
                    "`{text}` is not a number; numbers are 12, $1F, %0101 or 'c', with _ between digits"
                );
                Complaint::new(start as u32 + 1, message)
            })
    }

    fn text(&mut self) -> Result<Token, Complaint> {
        let start = self.at;
        self.at += 1;
        let text = self.take(|c| c != '"');
        if let Some((before, escape)) = escape_in(&text) {
            let message = format!("`{escape}` in text, which has no escapes; write \"line\", 10");
            return Err(Complaint::new((start + before) as u32 + 2, message));
        }
        match self.peek(0) {
            Some(_) => {
                self.at += 1;
                Ok(Token::Text(text))
            }
            None => Err(Complaint::new(start as u32 + 1, "text without its closing `\"`")),
        }
    }

    fn character(&mut self) -> Result<Token, Complaint> {
        match (self.peek(1), self.peek(2)) {
            (Some(c), Some('\'')) if c.is_ascii() => {
                self.at += 3;
                Ok(Token::Number(i64::from(c as u32)))
            }
            _ => Err(Complaint::new(
                self.at as u32 + 1,
                "a character is one ASCII character between `'` and `'`",
            )),
        }
    }

    fn word(&mut self) -> Token {
        Token::Word(self.take(|c| is_word_start(c) || c.is_ascii_digit()))
    }

    fn sign(&mut self) -> Result<Token, Complaint> {
        let next: String = self.chars[self.at..].iter().take(2).collect();
        match SIGNS.iter().find(|sign| next.starts_with(**sign)) {
            Some(sign) => {
                self.at += sign.len();
                Ok(Token::Sign(sign))
            }
            None => Err(Complaint::new(
                self.at as u32 + 1,
                format!("unexpected `{}`", next.chars().next().unwrap_or(' ')),
            )),
        }
    }

    fn take(&mut self, wanted: impl Fn(char) -> bool) -> String {
        let start = self.at;
        while self.peek(0).is_some_and(&wanted) {
            self.at += 1;
        }
        self.chars[start..self.at].iter().collect()
    }
}

/// Returns the first `\` sequence that would be an escape in other languages, and its position:
/// here a `\` is a plain character.
fn escape_in(text: &str) -> Option<(usize, &'static str)> {
    let escapes = ["\\n", "\\r", "\\t", "\\0"];
    let positions = escapes.into_iter().filter_map(|escape| Some((text.find(escape)?, escape)));
    let (at, escape) = positions.min()?;
    Some((text[..at].chars().count(), escape))
}

fn is_word_start(c: char) -> bool {
    c.is_ascii_alphabetic() || c == '_' || c == '.'
}
