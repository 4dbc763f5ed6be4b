//! The command that runs: a program of its own, or a script of the Python package, whose
//! process is Python's.

use std::env;
use std::path::PathBuf;
use std::sync::OnceLock;

use crate::LabError;

static SCRIPT: OnceLock<PathBuf> = OnceLock::new();

/// Remembers the script that started this process. The first call counts.
pub fn set_script(script: PathBuf) {
    SCRIPT.get_or_init(|| script);
}

/// Path of the program that was started: the Python script if there is one, else the executable.
#[must_use]
pub fn path() -> PathBuf {
    SCRIPT.get().cloned().or_else(|| env::current_exe().ok()).unwrap_or_default()
}

/// Returns the command as the user typed it, as far as this process knows.
#[must_use]
pub fn typed() -> String {
    let first = || env::args().next().unwrap_or_else(|| "gbxcule".to_owned());
    SCRIPT.get().map_or_else(first, |_| "gbxcule".to_owned())
}

/// The program that can be copied to another machine and run there.
///
/// # Errors
/// A script of the Python package runs, which is nothing without the package.
pub(crate) fn program() -> Result<PathBuf, LabError> {
    match SCRIPT.get() {
        Some(script) => Err(LabError::NoProgram(script.clone())),
        None => env::current_exe().map_err(LabError::file("gbxcule")),
    }
}
