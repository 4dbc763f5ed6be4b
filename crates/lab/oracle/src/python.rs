//! The Python that runs the oracle servers.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;

use gbxcule_python_env::PythonInterpreter;
use gbxcule_python_env::{find_in_project, is_trusted, search_starts};

use gbxcule_sandbox::Policy;

use crate::OracleError;

/// Python code that removes the working folder from the search path for modules, so that a
/// `json.py` there is not executed. `PYTHONSAFEPATH` does the same from Python 3.11 on.
const SAFE_PATH: &str = "import sys; sys.path[:] = [it for it in sys.path if it]\n";

/// File of the package that serves oracles.
const PACKAGE: &str = "gbxcule/oracle/__main__.py";

/// Python code that serves the oracle named by the first argument.
const SERVE: &str =
    "import runpy; runpy.run_module('gbxcule.oracle', run_name='__main__', alter_sys=True)";

/// Interpreter, and the folder with the `gbxcule` package if that is not installed.
#[derive(Debug, Clone)]
pub struct Python {
    /// The interpreter.
    pub program: PathBuf,
    /// Folder that goes first in `PYTHONPATH`.
    pub package_folder: Option<PathBuf>,
}

impl Python {
    /// Finds the interpreter: `GBXCULE_PYTHON`, else the active environment, else `.venv` of the
    /// user's own project, else `python3`. The package comes from the folder `python` beside this
    /// program, else from the project, else from the interpreter.
    #[must_use]
    pub fn find() -> Self {
        let program = Self::interpreter().program;
        let starts = search_starts();
        let beside = env::current_exe().ok().and_then(|program| package_beside(&program));
        let in_project = || {
            let package = find_in_project(&starts, &Path::new("python").join(PACKAGE)).ok()??;
            package.ancestors().nth(3).map(Path::to_owned)
        };
        Self { program, package_folder: beside.or_else(in_project) }
    }

    /// Returns the interpreter, and the reason why a project's untrusted interpreter is not run.
    #[must_use]
    pub fn interpreter() -> PythonInterpreter {
        PythonInterpreter::find(&search_starts())
    }

    /// Returns the command that serves an oracle.
    #[must_use]
    pub fn oracle(&self, name: &str) -> Command {
        let mut command = self.script(SERVE);
        command.arg(name);
        command
    }

    /// Returns the command that runs a Python text of this crate and imports nothing from the
    /// working folder.
    #[must_use]
    pub fn script(&self, text: &str) -> Command {
        let mut command = self.command();
        command.args(["-c", &safe(text)]);
        command
    }

    /// Returns the command that serves an oracle in the sandbox, for foreign programs, and the
    /// policy that its owner enforces. The oracle may write in `folder` but imports nothing from
    /// there, so a restarted oracle executes no file that a foreign program left.
    ///
    /// # Errors
    /// The interpreter doesn't start, or the sandbox can't be made.
    pub fn confined_oracle(
        &self,
        name: &str,
        folder: &Path,
    ) -> Result<(Command, Policy), OracleError> {
        const WHERE: &str =
            "import sys; print(sys.executable, sys.prefix, sys.base_prefix, *sys.path, sep='\\n')";
        let start =
            |source| OracleError::Start { program: self.program.display().to_string(), source };
        let output = self.command().args(["-c", WHERE]).output().map_err(start)?;
        let output = String::from_utf8_lossy(&output.stdout).into_owned();
        let paths: Vec<PathBuf> =
            output.lines().map(PathBuf::from).filter(|path| path.is_absolute()).collect();
        let program = paths.first().unwrap_or(&self.program).clone();
        let read = paths.into_iter().chain(self.package_folder.clone());
        let policy = Policy::interpreter(folder, read);
        let mut command = gbxcule_sandbox::command(&program, &policy)?;
        command.args(["-c", &safe(SERVE), name]);
        // The folder is also the home, in which Python would look for the user's own packages.
        for name in ["PYTHONSAFEPATH", "PYTHONNOUSERSITE", "PYTHONDONTWRITEBYTECODE"] {
            command.env(name, "1");
        }
        if let Some(path) = self.python_path() {
            command.env("PYTHONPATH", path);
        }
        Ok((command, policy))
    }

    /// Returns the command of the interpreter, with the package on its path.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(path) = self.python_path() {
            command.env("PYTHONPATH", path);
        }
        command.env("PYTHONSAFEPATH", "1");
        command
    }

    /// Returns the folders in which Python looks for packages first, if the package isn't
    /// installed.
    fn python_path(&self) -> Option<OsString> {
        let mut path = vec![self.package_folder.clone()?];
        path.extend(env::var_os("PYTHONPATH").iter().flat_map(env::split_paths));
        env::join_paths(path).ok()
    }
}

/// Returns a Python text preceded by [`SAFE_PATH`].
fn safe(text: &str) -> String {
    format!("{SAFE_PATH}{text}")
}

/// Returns the folder `python` beside a program, if the package lies there and nobody else could
/// have put it there.
fn package_beside(program: &Path) -> Option<PathBuf> {
    let folder = program.parent()?.join("python");
    let package = folder.join(PACKAGE);
    let folders = package.ancestors().take_while(|path| path.starts_with(&folder));
    let trusted = package.exists() && folders.into_iter().all(is_trusted);
    trusted.then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_package_beside_a_program_is_found_wherever_both_lie_unless_others_may_write_to_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let program = folder.path().join("gbxcule");
        assert_eq!(package_beside(&program), None);
        let package = folder.path().join("python").join(PACKAGE);
        fs::create_dir_all(package.parent().expect("a folder")).expect("folders");
        fs::write(&package, "").expect("a file");
        assert_eq!(package_beside(&program), Some(folder.path().join("python")));
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            fs::set_permissions(&package, PermissionsExt::from_mode(0o666)).expect("ours");
            assert_eq!(package_beside(&program), None);
        }
    }

    #[test]
    fn a_confined_oracle_runs_nothing_that_a_program_left_in_its_folder() {
        let folder = tempfile::tempdir().expect("a folder");
        let package_folder =
            Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../python").canonicalize())
                .map(|folder| folder.expect("the package"));
        let python = Python { program: "python3".into(), package_folder };
        let leave = |name: &str| fs::write(name, "raise SystemExit('left by a program')\n");
        let site = "import site; print(site.getusersitepackages())";
        let mut site_command = python.command();
        site_command.args(["-c", site]).env("HOME", folder.path());
        let site = String::from_utf8(site_command.output().expect("Python").stdout).expect("UTF-8");
        fs::create_dir_all(site.trim()).expect("a folder");
        leave(&format!("{}/usercustomize.py", site.trim())).expect("a file");
        leave(&format!("{}/argparse.py", folder.path().display())).expect("a file");

        let command = python.confined_oracle("nothing", folder.path());
        let (mut command, _) = command.expect("a sandbox");
        let output = command.output().expect("it starts");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("invalid choice: 'nothing'"), "{stderr}");
    }
}
