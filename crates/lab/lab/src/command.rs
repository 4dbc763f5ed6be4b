//! The running command: an executable, or a script of the Python package that the Python
//! interpreter runs.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The Python script that started this process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Script {
    /// The script that the package installs.
    File(PathBuf),
    /// `python -m gbxcule`, for a package without that script.
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

    /// Returns the words between the file and the command's own arguments.
    fn words(&self) -> &'static str {
        match self {
            Self::File(_) => "",
            Self::Module { .. } => "-m gbxcule",
        }
    }
}

/// Returns the path of the Python script, or of the executable if no script was recorded, and the
/// words between it and the command's own arguments.
pub fn started() -> (PathBuf, &'static str) {
    match SCRIPT.get() {
        Some(script) => (script.path().to_owned(), script.words()),
        None => (env::current_exe().unwrap_or_default(), ""),
    }
}

/// Returns the command as the user probably typed it: the program, and the words after it.
pub fn typed() -> (String, &'static str) {
    let first = || env::args().next().unwrap_or_else(|| "gbxcule".to_owned());
    match SCRIPT.get() {
        Some(Script::File(_)) => ("gbxcule".to_owned(), ""),
        Some(script) => (script.path().display().to_string(), script.words()),
        None => (first(), ""),
    }
}
