//! Foreign names in messages and in commands for a shell.

use std::fmt::Write as _;
use std::path::Path;

/// Returns true for a character that a terminal interprets instead of showing, such as an escape or
/// a change of the writing direction.
#[must_use]
pub fn is_terminal_command(character: char) -> bool {
    let is_direction = matches!(
        character,
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
    );
    character.is_control() || is_direction
}

/// Returns true if a text has a character that a terminal interprets, new lines and tabs included.
#[must_use]
pub fn has_control_characters(text: &str) -> bool {
    text.chars().any(is_terminal_command)
}

/// Writes a path in the form that a shell takes, in a command that a user may copy.
#[must_use]
pub fn shell_word(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let is_safe = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+:@%,=".contains(byte);
    // A word that begins with a hyphen would be read as an option.
    let here = if bytes.first() == Some(&b'-') { "./" } else { "" };
    match path.to_str() {
        Some(text) if !text.is_empty() && bytes.iter().all(is_safe) => format!("{here}{text}"),
        Some(text) if !has_control_characters(text) => {
            format!("{here}'{}'", text.replace('\'', r"'\''"))
        }
        _ => {
            let mut word = format!("{here}$'");
            for &byte in bytes {
                if byte.is_ascii_graphic() && !b"'\\".contains(&byte) || byte == b' ' {
                    word.push(char::from(byte));
                } else {
                    // Writing to a string cannot fail.
                    let _ = write!(word, "\\x{byte:02x}");
                }
            }
            word + "'"
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn characters_that_a_terminal_obeys_are_found() {
        assert!(has_control_characters("a\x1b[2J"));
        assert!(has_control_characters("\u{2066}"));
        assert!(!has_control_characters("Spiel für zwei µ"));
    }

    #[test]
    fn shells_read_a_word_back_as_the_path_it_was() {
        use std::ffi::OsStr;
        use std::os::unix::ffi::OsStrExt;

        let names: [&[u8]; 9] = [
            b"runs/a-b_1.gb",
            b"",
            b"a b",
            b"it's; rm -rf $HOME `id`",
            b"-rf",
            b"-x y",
            b"two\nlines\t\x1b[2J'\\",
            b"\xff\xfe not UTF-8",
            "Spiel für zwei".as_bytes(),
        ];
        for name in names {
            let word = shell_word(Path::new(OsStr::from_bytes(name)));
            let mut shell = std::process::Command::new("bash");
            let output = shell.args(["-c", &format!("printf %s {word}")]).output().expect("bash");
            let read = output.stdout.strip_prefix(b"./").unwrap_or(&output.stdout);
            assert_eq!(read, name, "{word}");
            assert!(!word.chars().any(char::is_control), "{word}");
        }
    }
}
