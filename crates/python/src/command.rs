//! The command `gbxcule` for the script that Python installs: the same library as the program's, in
//! this extension.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs a command line, whose first word is the script that was started; returns the exit status.
///
/// A command line that asks for help, or that is wrong, ends the process with the status of the
/// program.
#[pyfunction]
pub(crate) fn run_command(py: Python<'_>, command_line: Vec<OsString>) -> u8 {
    if let Some(script) = command_line.first() {
        gbxcule_lab::command::set_script(PathBuf::from(script));
    }
    py.detach(|| gbxcule_cli::run(command_line)).code()
}
