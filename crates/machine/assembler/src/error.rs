//! Errors of the assembler: all complaints of a run.

use std::fmt;

/// Complaint about one place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssembleError {
    /// Name of the file, as it was given to the assembler.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Text of the complaint: what was found, and what is allowed there.
    pub message: String,
    /// File and line that used the macro, if the place is inside one.
    pub used_at: Option<(String, u32)>,
}

impl fmt::Display for AssembleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "error: {}", self.message)?;
        write!(f, " --> {}:{}:{}", self.file, self.line, self.column)?;
        match &self.used_at {
            Some((file, line)) => write!(f, " (in a macro used at {file}:{line})"),
            None => Ok(()),
        }
    }
}

/// All complaints of one run; never empty.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AssembleErrors(pub Vec<AssembleError>);

impl fmt::Display for AssembleErrors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, error) in self.0.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            write!(f, "{error}")?;
        }
        Ok(())
    }
}

impl std::error::Error for AssembleErrors {}

/// Complaint whose line the caller knows.
#[derive(Debug)]
pub(crate) struct Complaint {
    pub(crate) column: u32,
    pub(crate) message: String,
}

impl Complaint {
    pub(crate) fn new(column: u32, message: impl Into<String>) -> Complaint {
        Complaint { column, message: message.into() }
    }
}

/// Complaints of a run, each with the index of its expanded line.
#[derive(Default)]
pub(crate) struct Complaints(pub(crate) Vec<(usize, Complaint)>);

impl Complaints {
    /// Records the complaint of a failed attempt.
    pub(crate) fn keep<T>(&mut self, line: usize, attempt: Result<T, Complaint>) -> Option<T> {
        attempt.map_err(|complaint| self.0.push((line, complaint))).ok()
    }
}
