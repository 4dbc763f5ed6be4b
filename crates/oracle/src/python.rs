//! Where the Python is that runs the oracle servers.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

/// An interpreter, and the folder that holds the `gbxcule` package when it is not installed.
#[derive(Debug, Clone)]
pub struct Python {
    /// The interpreter.
    pub program: PathBuf,
    /// What goes in front of `PYTHONPATH`.
    pub package_folder: Option<PathBuf>,
}

impl Python {
    /// `GBXCULE_PYTHON`, else the active virtual environment, else `.venv` beside the project, else `python3`.
    #[must_use]
    pub fn find() -> Self {
        let program = env::var_os("GBXCULE_PYTHON")
            .map(PathBuf::from)
            .or_else(|| {
                env::var_os("VIRTUAL_ENV").map(|folder| PathBuf::from(folder).join("bin/python"))
            })
            .or_else(|| find_upwards(Path::new(".venv/bin/python")))
            .unwrap_or_else(|| PathBuf::from("python3"));
        let package_folder = find_upwards(Path::new("python/gbxcule/oracle/__main__.py"))
            .and_then(|file| file.ancestors().nth(3).map(Path::to_owned));
        Self { program, package_folder }
    }

    /// The command that serves an oracle.
    #[must_use]
    pub fn oracle(&self, name: &str) -> Command {
        let mut command = self.command();
        command.args(["-m", "gbxcule.oracle", name]);
        command
    }

    /// The bare interpreter, able to import the package.
    #[must_use]
    pub fn command(&self) -> Command {
        let mut command = Command::new(&self.program);
        if let Some(folder) = &self.package_folder {
            let mut path = vec![folder.clone()];
            path.extend(env::var_os("PYTHONPATH").iter().flat_map(env::split_paths));
            if let Ok(joined) = env::join_paths(path) {
                command.env("PYTHONPATH", joined);
            }
        }
        command
    }
}

/// Look from the working folder upwards, then from the binary upwards, then where this was built.
fn find_upwards(relative: &Path) -> Option<PathBuf> {
    let starts =
        [env::current_dir().ok(), env::current_exe().ok(), Some(env!("CARGO_MANIFEST_DIR").into())];
    starts
        .iter()
        .flatten()
        .flat_map(|start| start.ancestors())
        .map(|folder| folder.join(relative))
        .find(|candidate| candidate.exists())
}
