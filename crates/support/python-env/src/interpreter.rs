//! Choice of the Python interpreter: the interpreter that the user named, else the active
//! environment's, else the one of the user's project, else `python3`.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::project::find_in_project;

/// Variable that names the interpreter.
pub const VARIABLE: &str = "GBXCULE_PYTHON";

/// Variables by which virtual environments and Conda name the active environment.
const ACTIVE: [&str; 2] = ["VIRTUAL_ENV", "CONDA_PREFIX"];

/// The chosen interpreter, and the reason why a preferred one is not run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PythonInterpreter {
    /// Path of the program to run.
    pub program: PathBuf,
    /// Reason why an interpreter that lies in a project is not run, if there is one.
    pub passed_over: Option<String>,
}

impl PythonInterpreter {
    /// Finds the interpreter for this process; projects are searched in and above the folders
    /// `starts`.
    #[must_use]
    pub fn find(starts: &[PathBuf]) -> Self {
        Self::find_by(&|name| env::var_os(name), starts)
    }

    fn find_by(variable: &dyn Fn(&str) -> Option<OsString>, starts: &[PathBuf]) -> Self {
        let set = |name: &str| variable(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let in_folder = Path::new(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
        let active = || ACTIVE.iter().find_map(|name| Some(set(name)?.join(in_folder)));
        if let Some(program) = set(VARIABLE).or_else(active) {
            return Self { program, passed_over: None };
        }
        let fallback = || PathBuf::from(if cfg!(windows) { "python" } else { "python3" });
        match find_in_project(starts, &Path::new(".venv").join(in_folder)) {
            Ok(program) => Self { program: program.unwrap_or_else(fallback), passed_over: None },
            Err(why) => Self { program: fallback(), passed_over: Some(why) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_named_python_comes_before_an_active_one_and_empty_variables_name_none() {
        let find = |variables: &[(&str, &str)]| {
            let variable = |name: &str| {
                variables.iter().find(|it| it.0 == name).map(|it| OsString::from(it.1))
            };
            PythonInterpreter::find_by(&variable, &[]).program
        };
        let in_folder = if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" };
        let (named, venv, conda) = ((VARIABLE, "p"), ("VIRTUAL_ENV", "v"), ("CONDA_PREFIX", "c"));
        assert_eq!(find(&[named, venv, conda]), Path::new("p"));
        assert_eq!(find(&[(VARIABLE, ""), venv, conda]), Path::new("v").join(in_folder));
        assert_eq!(find(&[("VIRTUAL_ENV", ""), conda]), Path::new("c").join(in_folder));
        assert_eq!(find(&[]), Path::new(if cfg!(windows) { "python" } else { "python3" }));
    }
}
