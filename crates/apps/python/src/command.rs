//! Runs the command `gbxcule` for the script that the package installs.

use gbxcule_lab::command::Script;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs a command line, whose first word is the script that was started, or Python if the package
/// was started as a module; returns the exit status.
///
/// A request for help, or a wrong command line, ends the process with the exit status.
#[pyfunction]
#[pyo3(signature = (command_line, is_module = false))]
pub(crate) fn run_command(py: Python<'_>, command_line: Vec<OsString>, is_module: bool) -> u8 {
    if let Some(first) = command_line.first().map(PathBuf::from) {
        gbxcule_lab::command::set_script(match is_module {
            true => Script::Module { python: first },
            false => Script::File(first),
        });
    }
    py.detach(|| gbxcule_cli::run(command_line)).code()
}
