//! Depth of a text, estimated before the text is parsed: walks over the tree are recursive, so a
//! text that nests too deep is refused first.

/// Greatest depth of nested expressions and blocks; CPython's own limit is lower.
pub(super) const MAX_DEPTH: usize = 400;

/// Greatest depth of indentation.
const MAX_INDENTS: usize = 90;

/// Words that nest the expression behind them.
const NESTING_WORDS: [&str; 10] =
    ["and", "await", "else", "if", "in", "is", "lambda", "not", "or", "yield"];
/// Bytes of the longest of these words.
const MAX_WORD_BYTES: usize = 6;

/// Meaning of a byte that begins a token.
#[derive(Clone, Copy)]
enum Class {
    /// Nests nothing.
    Other,
    LineEnd,
    /// Begins a word.
    Word,
    /// Begins a comment.
    Comment,
    /// Begins a string.
    Quote,
    Punctuation,
}

const CLASSES: [Class; 256] = {
    let mut classes = [Class::Other; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b'\n' => Class::LineEnd,
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => Class::Word,
            b'#' => Class::Comment,
            b'"' | b'\'' => Class::Quote,
            b'0'..=b'9' => Class::Other,
            b'!'..=b'~' => Class::Punctuation,
            _ => Class::Other,
        };
        byte += 1;
    }
    classes
};

/// True for bytes that continue a word.
const IS_OF_WORD: [bool; 256] = {
    let mut is_of_word = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        is_of_word[byte] = matches!(byte as u8, b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_');
        byte += 1;
    }
    is_of_word
};

/// Returns the first byte at which brackets, operators or indentation nest too deep. The estimate
/// lies above the true depth; real programs stay far below the limit.
pub(super) fn too_deep(text: &str) -> Option<u32> {
    let bytes = text.as_bytes();
    let mut nesting = Nesting { levels: vec![0], depth: 0, indents: vec![0] };
    let (mut at, mut is_line_start) = (0, true);
    while at < bytes.len() {
        if is_line_start && nesting.levels.len() == 1 {
            nesting.begin_line(&bytes[at..]);
            is_line_start = false;
            if nesting.indents.len() > MAX_INDENTS {
                return Some(at as u32);
            }
        }
        let byte = bytes[at];
        let mut token = at + 1;
        // This match runs for each byte of each text; most bytes are spaces and parts of words.
        match CLASSES[byte as usize] {
            Class::Other => {
                at = token;
                continue;
            }
            Class::LineEnd => is_line_start = true,
            Class::Word => {
                while token < bytes.len() && IS_OF_WORD[bytes[token] as usize] {
                    token += 1;
                }
                let begins = matches!(byte, b'a' | b'e' | b'i' | b'l' | b'n' | b'o' | b'y');
                if begins
                    && token - at <= MAX_WORD_BYTES
                    && NESTING_WORDS.contains(&&text[at..token])
                {
                    nesting.operator();
                }
            }
            Class::Comment => {
                while token < bytes.len() && bytes[token] != b'\n' {
                    token += 1;
                }
            }
            Class::Quote => token = after_string(bytes, at),
            Class::Punctuation => nesting.punctuation(byte),
        }
        if nesting.depth > MAX_DEPTH {
            return Some(token as u32 - 1);
        }
        at = token;
    }
    None
}

/// Brackets, operators and indentation around a byte of a text.
struct Nesting {
    /// Number of operators since the last comma in each open bracket.
    levels: Vec<usize>,
    /// Number of open brackets and of operators in them.
    depth: usize,
    /// Widths of the open indentations.
    indents: Vec<usize>,
}

impl Nesting {
    /// Notes a line's indentation, and forgets the operators of the line before. Empty lines and
    /// comments have no indentation.
    fn begin_line(&mut self, line: &[u8]) {
        let width = line.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count();
        if matches!(line.get(width), None | Some(b'\n' | b'\r' | b'#')) {
            return;
        }
        while self.indents.last().is_some_and(|&last| last > width) {
            self.indents.pop();
        }
        if self.indents.last().is_none_or(|&last| last < width) {
            self.indents.push(width);
        }
        self.depth = 0;
        self.levels[0] = 0;
    }

    fn punctuation(&mut self, byte: u8) {
        match byte {
            b'(' | b'[' | b'{' => {
                self.levels.push(0);
                self.depth += 1;
            }
            b')' | b']' | b'}' => {
                if self.levels.len() > 1 {
                    self.depth -= self.levels.pop().unwrap_or(0) + 1;
                }
                // A call or subscript nests the expression before its bracket.
                self.operator();
            }
            // A lambda nests after its colon, so a colon forgets no operators.
            b',' | b';' => {
                if let Some(last) = self.levels.last_mut() {
                    self.depth -= std::mem::take(last);
                }
            }
            b'+' | b'-' | b'*' | b'/' | b'%' | b'@' | b'&' | b'|' | b'^' | b'~' | b'<' | b'>'
            | b'=' | b'.' | b'!' => self.operator(),
            _ => {}
        }
    }

    fn operator(&mut self) {
        if let Some(last) = self.levels.last_mut() {
            *last += 1;
            self.depth += 1;
        }
    }
}

/// Returns the byte after a string, or after its line if the string isn't closed.
fn after_string(bytes: &[u8], position: usize) -> usize {
    let quote = bytes[position];
    let triple = bytes[position..].starts_with(&[quote; 3]);
    let mut next = position + if triple { 3 } else { 1 };
    while next < bytes.len() {
        match bytes[next] {
            b'\\' => next += 1,
            b'\n' if !triple => return next,
            byte if byte == quote => {
                if !triple {
                    return next + 1;
                }
                if bytes[next..].starts_with(&[quote; 3]) {
                    return next + 3;
                }
            }
            _ => {}
        }
        next += 1;
    }
    bytes.len()
}
