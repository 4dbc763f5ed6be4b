//! The command `gbxcule` for the script that Python installs: the library of the program, in this
//! extension.

use gbxcule_lab::command::Script;
use pyo3::prelude::*;
use std::ffi::OsString;
use std::path::PathBuf;

/// Runs a command line, whose first word is the script that was started, or Python if the package
/// was started as a module; returns the exit status.
///
/// A command line that asks for help, or that is wrong, ends the process with the status of the
/// program.
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
