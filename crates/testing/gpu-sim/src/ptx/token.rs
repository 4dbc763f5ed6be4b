//! Words, numbers and marks of a PTX text.

use super::Refusals;

/// A part of the text.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Token<'t> {
    /// A name, a directive or a mnemonic with its modifiers.
    Word(&'t str),
    /// An integer without its sign.
    Integer(u64),
    /// `0f` and eight digits.
    F32(u32),
    /// `0d` and sixteen digits.
    F64(u64),
    /// Any other character.
    Mark(char),
}

/// Splits a text into tokens, each with its line.
pub(super) fn tokens(text: &str) -> Result<Vec<(usize, Token<'_>)>, Refusals> {
    let (mut found, mut line, mut rest) = (Vec::new(), 1, text);
    while let Some(first) = rest.chars().next() {
        if first == '\n' {
            line += 1;
        }
        if first.is_whitespace() {
            rest = &rest[first.len_utf8()..];
        } else if rest.starts_with("//") {
            rest = &rest[rest.find('\n').unwrap_or(rest.len())..];
        } else if rest.starts_with("/*") {
            let end =
                rest.find("*/").ok_or_else(|| Refusals::one(line, "a comment without end"))?;
            line += rest[..end].matches('\n').count();
            rest = &rest[end + 2..];
        } else if first.is_ascii_digit() {
            let (word, after) = rest.split_at(end_of(rest, |c| c.is_ascii_alphanumeric()));
            let number =
                number(word).ok_or_else(|| Refusals::one(line, format!("the number `{word}`")))?;
            found.push((line, number));
            rest = after;
        } else if is_in_word(first) {
            let (word, after) = rest.split_at(word_length(rest));
            found.push((line, Token::Word(word)));
            rest = after;
        } else {
            found.push((line, Token::Mark(first)));
            rest = &rest[first.len_utf8()..];
        }
    }
    Ok(found)
}

fn is_in_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '$' | '%' | '.')
}

fn end_of(text: &str, belongs: impl Fn(char) -> bool) -> usize {
    text.find(|c| !belongs(c)).unwrap_or(text.len())
}

/// Returns the length of the word at the beginning of a text; `::` belongs to it, as in
/// `.L1::no_allocate`.
fn word_length(text: &str) -> usize {
    let mut length = end_of(text, is_in_word);
    while text[length..].starts_with("::") {
        length += 2 + end_of(&text[length + 2..], is_in_word);
    }
    length
}

fn number(word: &str) -> Option<Token<'static>> {
    let bits = |digits: &str, count: usize| {
        (digits.len() == count).then(|| u64::from_str_radix(digits, 16).ok())?
    };
    if let Some(digits) = word.strip_prefix("0f").or(word.strip_prefix("0F")) {
        return Some(Token::F32(u32::try_from(bits(digits, 8)?).ok()?));
    }
    if let Some(digits) = word.strip_prefix("0d").or(word.strip_prefix("0D")) {
        return bits(digits, 16).map(Token::F64);
    }
    let word = word.strip_suffix('U').unwrap_or(word);
    let value = match word.strip_prefix("0x").or(word.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16),
        // A leading zero means base 8.
        None if word.len() > 1 && word.starts_with('0') => u64::from_str_radix(word, 8),
        None => word.parse(),
    };
    value.ok().map(Token::Integer)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_their_base_and_their_width() {
        let of = |text| tokens(text).expect("tokens")[0].1;
        assert_eq!(of("0x1FU"), Token::Integer(31));
        assert_eq!(of("010"), Token::Integer(8));
        assert_eq!(of("0"), Token::Integer(0));
        assert_eq!(of("18446744073709551615"), Token::Integer(u64::MAX));
        assert_eq!(of("0f3F800000"), Token::F32(0x3F80_0000));
        assert_eq!(of("0dBFF0000000000000"), Token::F64(0xBFF0_0000_0000_0000));
        for wrong in ["0f3F80000", "0dBFF", "1x", "18446744073709551616", "09"] {
            let refusals = tokens(wrong).expect_err(wrong);
            assert_eq!(refusals.to_string(), format!("PTX line 1: the number `{wrong}`"));
        }
    }

    #[test]
    fn words_keep_their_modifiers_and_lines_are_counted() {
        let text = "// a\nld.global.L1::no_allocate.u32 /* b\nc */ %r1 , [%rd2+-4] ;\n$L:";
        let found = tokens(text).expect("tokens");
        let word = |at: usize, line, text| assert_eq!(found[at], (line, Token::Word(text)));
        word(0, 2, "ld.global.L1::no_allocate.u32");
        word(1, 3, "%r1");
        word(4, 3, "%rd2");
        word(10, 4, "$L");
        assert_eq!(found[11].1, Token::Mark(':'));
        assert!(tokens("/* a").is_err());
    }
}
