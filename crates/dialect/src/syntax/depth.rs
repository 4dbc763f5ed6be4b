//! Depth of a text before it is parsed: walks over the tree are recursive, so a text that nests too
//! deep is refused first.

/// Greatest depth of nested expressions and blocks: beyond what CPython itself takes.
pub(super) const MAX_DEPTH: usize = 400;

/// Greatest depth of indentation.
const MAX_INDENTS: usize = 90;

/// Words that nest the expression behind them.
const NESTING_WORDS: [&str; 10] =
    ["and", "await", "else", "if", "in", "is", "lambda", "not", "or", "yield"];
/// Bytes of the longest of them.
const MAX_WORD_BYTES: usize = 6;

/// Returns the first byte where brackets, operators or indentation nest too deep; an estimate from
/// above that real programs never come near.
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
        // Most bytes of a text are spaces and parts of words, and this is a tenth of its parsing.
        if byte == b' ' {
            at += 1;
            continue;
        }
        let token = after_token(bytes, at);
        match byte {
            b'\n' => is_line_start = true,
            b'a' | b'e' | b'i' | b'l' | b'n' | b'o' | b'y' if token - at <= MAX_WORD_BYTES => {
                if NESTING_WORDS.contains(&&text[at..token]) {
                    nesting.operator();
                }
            }
            byte => nesting.punctuation(byte),
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
    /// Widths of the indentations around.
    indents: Vec<usize>,
}

impl Nesting {
    /// Takes a line's indentation, and forgets the operators of the line before. Empty lines and
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
                // A call or subscript of what came before nests it.
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

/// The byte after a comment, a string, a word, or one other byte.
fn after_token(bytes: &[u8], at: usize) -> usize {
    let mut next = at + 1;
    match bytes[at] {
        b'#' => {
            while next < bytes.len() && bytes[next] != b'\n' {
                next += 1;
            }
        }
        b'"' | b'\'' => next = after_string(bytes, at),
        b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
            while let Some(b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_') = bytes.get(next) {
                next += 1;
            }
        }
        _ => {}
    }
    next
}

/// The byte after a string, or after its line if the string does not end there.
fn after_string(bytes: &[u8], at: usize) -> usize {
    let quote = bytes[at];
    let triple = bytes[at..].starts_with(&[quote; 3]);
    let mut next = at + if triple { 3 } else { 1 };
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
