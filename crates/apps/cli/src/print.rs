//! Printing of all verbs, to standard output and standard error.
//!
//! A failure of printing never stops the work. After the first failure nothing more is printed, and
//! `run` in `lib.rs` checks for the failure at the end: a closed pipe (`| head`) is an ordinary
//! end; any other failure, such as a full disk, is reported and makes the exit status 2. Control
//! characters in foreign names and messages don't reach the terminal.

use std::fmt::{self, Write as _};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::{Mutex, PoisonError};

use gbxcule_files::{Patient, is_terminal_command};

/// The first failure of standard output.
static FAILURE: Mutex<Option<io::Error>> = Mutex::new(None);

/// Prints a line to standard output, formatted as by `format!`.
macro_rules! say {
    () => { $crate::print::line(format_args!("")) };
    ($($part:tt)*) => { $crate::print::line(format_args!($($part)*)) };
}
pub(crate) use say;

/// Prints a line.
pub(crate) fn line(text: fmt::Arguments<'_>) {
    bytes(format!("{}\n", Plain(&text.to_string())).as_bytes());
}

/// Prints bytes unchanged: a text that the user asked for, or machine code.
pub(crate) fn bytes(bytes: &[u8]) {
    let mut failure = FAILURE.lock().unwrap_or_else(PoisonError::into_inner);
    if failure.is_none() {
        *failure = gbxcule_files::write_standard(bytes).err();
    }
}

/// Prints to standard error. A failure is ignored, because it could not be reported.
pub(crate) fn error(text: &str) {
    let _ = Patient::new(io::stderr().lock()).write_all(Plain(text).to_string().as_bytes());
}

/// Returns true if standard output is a terminal.
pub(crate) fn is_terminal() -> bool {
    io::stdout().is_terminal()
}

/// Returns the failure of the output so far as an error, unless the reader closed the pipe.
pub(crate) fn output_failure() -> io::Result<()> {
    without_broken_pipe(FAILURE.lock().unwrap_or_else(PoisonError::into_inner).take())
}

fn without_broken_pipe(failure: Option<io::Error>) -> io::Result<()> {
    match failure {
        Some(error) if error.kind() != ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Text whose control characters are printed in visible form.
struct Plain<'t>(&'t str);

impl fmt::Display for Plain<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            if is_terminal_command(character) && !matches!(character, '\n' | '\t') {
                write!(f, "{}", character.escape_default())?;
            } else {
                f.write_char(character)?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_who_went_away_is_no_failure_and_a_full_disk_is_one() {
        assert!(without_broken_pipe(None).is_ok());
        assert!(without_broken_pipe(Some(ErrorKind::BrokenPipe.into())).is_ok());
        assert!(without_broken_pipe(Some(ErrorKind::StorageFull.into())).is_err());
    }

    #[test]
    fn control_characters_of_names_are_shown_and_not_obeyed() {
        assert_eq!(Plain("a\x1b[2Jb\r\n\tµ").to_string(), "a\\u{1b}[2Jb\\r\n\tµ");
        assert_eq!(Plain("\u{202e}yp.k").to_string(), "\\u{202e}yp.k");
    }
}
