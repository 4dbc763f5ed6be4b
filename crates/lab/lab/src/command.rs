//! The command that runs: a program of its own, or a script of the Python package, whose process is
//! Python.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// Way in which Python started this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// As the script that the package installs.
    File(PathBuf),
    /// As `python -m gbxcule`, of a package without that script.
    Module {
        /// The interpreter.
        python: PathBuf,
    },
}

static SCRIPT: OnceLock<Script> = OnceLock::new();

/// Records the script that started this process. Only the first call has an effect.
pub fn set_script(script: Script) {
    SCRIPT.get_or_init(|| script);
}

impl Script {
    /// Returns the file that is executed.
    fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::Module { python: path } => path,
        }
    }

    /// Returns the words between the file and those of the command.
    fn words(&self) -> &'static str {
        match self {
            Self::File(_) => "",
            Self::Module { .. } => "-m gbxcule",
        }
    }
}

/// Returns the path of the program that was started, and the words between it and those of the
/// command. The program is the Python script if there is one, else the executable.
#[must_use]
pub fn started() -> (PathBuf, &'static str) {
    match SCRIPT.get() {
        Some(script) => (script.path().to_owned(), script.words()),
        None => (env::current_exe().unwrap_or_default(), ""),
    }
}

/// Returns the command as the user typed it, as far as this process knows: the program, and the
/// words after it.
#[must_use]
pub fn typed() -> (String, &'static str) {
    let first = || env::args().next().unwrap_or_else(|| "gbxcule".to_owned());
    match SCRIPT.get() {
        Some(Script::File(_)) => ("gbxcule".to_owned(), ""),
        Some(script) => (script.path().display().to_string(), script.words()),
        None => (first(), ""),
    }
}
