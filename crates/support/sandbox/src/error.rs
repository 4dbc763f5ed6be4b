//! Errors of starting and reading a child process.

use std::io;
use std::path::PathBuf;

/// Failure of the system, not of the child.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum SandboxError {
    #[error("cannot start `{}`: {source}", program.display())]
    Start { program: PathBuf, source: io::Error },
    /// The child was ready, and the system refuses the program's file: it is missing or damaged, or
    /// needs an interpreter that the child may not run.
    #[error("the system cannot run `{}`: {source}", program.display())]
    Unstartable { program: PathBuf, source: io::Error },
    #[error("cannot read what `{}` writes: {source}", program.display())]
    Read { program: PathBuf, source: io::Error },
    #[error("the sandbox for `{}` cannot be made: {reason}", program.display())]
    Confine { program: PathBuf, reason: String },
}
