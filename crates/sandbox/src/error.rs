//! Errors of starting and reading a child process.

use std::io;
use std::path::PathBuf;

/// A failure of the world, not of the child.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum SandboxError {
    #[error("cannot start `{}`: {source}", program.display())]
    Start { program: PathBuf, source: io::Error },
    #[error("cannot read what `{}` writes: {source}", program.display())]
    Read { program: PathBuf, source: io::Error },
    #[error("the sandbox for `{}` cannot be made: {reason}", program.display())]
    Confine { program: PathBuf, reason: String },
}
