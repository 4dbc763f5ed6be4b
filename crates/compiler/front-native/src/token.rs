//! The words of a native snippet.

use gbxcule_ir::ty::Scalar;

/// A word or sign.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Token {
    /// A name, with its namespaces: `wp::vec3`.
    Word(String),
    Int(Scalar, i128),
    Float(Scalar, f64),
    Sign(&'static str),
}

/// Signs, longer ones first.
const SIGNS: [&str; 43] = [
    "<<=", ">>=", "<<", ">>", "<=", ">=", "==", "!=", "&&", "||", "++", "--", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "->", "<", ">", "=", "!", "&", "|", "^", "~", "+", "-", "*", "/",
    "%", "(", ")", "[", "]", "{", "}", ",", ";", ".",
];
const QUESTION: [&str; 2] = ["?", ":"];

/// Greatest number of words of a snippet.
const MAX_TOKENS: usize = 4000;

/// Splits a text.
pub(crate) fn tokens(text: &str) -> Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut remaining = text.trim_start();
    while let Some(first) = remaining.chars().next() {
        if tokens.len() == MAX_TOKENS {
            return Err(format!("more than {MAX_TOKENS} words"));
        }
        let len = if remaining.starts_with("//") {
            remaining.find('\n').unwrap_or(remaining.len())
        } else if let Some(comment) = remaining.strip_prefix("/*") {
            comment.find("*/").map(|at| at + 4).ok_or("`/*` without `*/`")?
        } else if first.is_ascii_digit()
            || first == '.' && remaining[1..].starts_with(|next: char| next.is_ascii_digit())
        {
            let (token, len) = number(remaining)?;
            tokens.push(token);
            len
        } else if first.is_ascii_alphabetic() || first == '_' {
            let len = word_len(remaining);
            tokens.push(Token::Word(remaining[..len].to_owned()));
            len
        } else {
            let sign = SIGNS.iter().chain(&QUESTION).find(|sign| remaining.starts_with(**sign));
            let sign = sign.ok_or_else(|| format!("`{first}`"))?;
            tokens.push(Token::Sign(sign));
            sign.len()
        };
        remaining = remaining[len..].trim_start();
    }
    Ok(tokens)
}

/// Length of a name with the namespaces before it.
fn word_len(text: &str) -> usize {
    let mut len = 0;
    loop {
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        len += text[len..].find(|c| !is_part(c)).unwrap_or(text.len() - len);
        match text[len..].strip_prefix("::") {
            Some(next) if next.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') => {
                len += 2;
            }
            _ => return len,
        }
    }
}

fn number(text: &str) -> Result<(Token, usize), String> {
    let is_hex = text.starts_with("0x") || text.starts_with("0X");
    let mut len = 0;
    let bytes = text.as_bytes();
    while let Some(&byte) = bytes.get(len) {
        let exponent = !is_hex && len > 0 && matches!(bytes[len - 1], b'e' | b'E');
        if !(byte.is_ascii_alphanumeric()
            || byte == b'.'
            || exponent && matches!(byte, b'+' | b'-'))
        {
            break;
        }
        len += 1;
    }
    let unread = || format!("`{}`", &text[..len]);
    let lower = text[..len].to_ascii_lowercase();
    if !is_hex && lower.contains(['.', 'e']) {
        let (scalar, digits) = match lower.strip_suffix('f') {
            Some(digits) => (Scalar::F32, digits),
            None => (Scalar::F64, lower.as_str()),
        };
        // A number parsed as 64 bits first would be rounded twice.
        let value = match scalar {
            Scalar::F32 => digits.parse::<f32>().map(f64::from),
            _ => digits.parse::<f64>(),
        };
        return value.map(|value| (Token::Float(scalar, value), len)).map_err(|_| unread());
    }
    let digits = lower.trim_end_matches(['u', 'l']);
    let suffix = &lower[digits.len()..];
    let value = match digits.strip_prefix("0x") {
        Some(digits) => i128::from_str_radix(digits, 16),
        None if digits.len() > 1 && digits.starts_with('0') => i128::from_str_radix(digits, 8),
        None => digits.parse(),
    };
    let value = value.map_err(|_| unread())?;
    let fits = |scalar: Scalar| match scalar {
        Scalar::I32 => value <= i128::from(i32::MAX),
        Scalar::U32 => value <= i128::from(u32::MAX),
        Scalar::I64 => value <= i128::from(i64::MAX),
        _ => value <= i128::from(u64::MAX),
    };
    // C++ takes the first of these types that holds the number. A decimal number becomes unsigned
    // only by its suffix.
    let may_be_unsigned = is_hex || digits.starts_with('0');
    let candidates: &[Scalar] = match suffix {
        "" if may_be_unsigned => &[Scalar::I32, Scalar::U32, Scalar::I64, Scalar::U64],
        "" => &[Scalar::I32, Scalar::I64],
        "u" => &[Scalar::U32, Scalar::U64],
        "l" | "ll" if may_be_unsigned => &[Scalar::I64, Scalar::U64],
        "l" | "ll" => &[Scalar::I64],
        "ul" | "ull" | "lu" | "llu" => &[Scalar::U64],
        _ => return Err(unread()),
    };
    let scalar = candidates.iter().copied().find(|scalar| fits(*scalar)).ok_or_else(unread)?;
    Ok((Token::Int(scalar, value), len))
}
