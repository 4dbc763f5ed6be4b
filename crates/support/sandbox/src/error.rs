//! Errors of starting and reading a child process.

use std::io;
use std::path::PathBuf;

/// A failure of the world, not of the child.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum SandboxError {
    #[error("cannot start `{}`: {source}", program.display())]
    Start { program: PathBuf, source: io::Error },
    /// All was made ready, and the system does not take the program's file: it isn't there, or is
    /// damaged, or asks for an interpreter that it may not have.
    #[error("the system cannot run `{}`: {source}", program.display())]
    Unstartable { program: PathBuf, source: io::Error },
    #[error("cannot read what `{}` writes: {source}", program.display())]
    Read { program: PathBuf, source: io::Error },
    #[error("the sandbox for `{}` cannot be made: {reason}", program.display())]
    Confine { program: PathBuf, reason: String },
}
