//! Searches for NVRTC: `GBXCULE_NVRTC`, the Python environment's wheel, the system.

use crate::error::Error;
use gbxcule_python_env::PythonInterpreter;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Variable that names the library or a folder above it.
pub(crate) const VARIABLE: &str = "GBXCULE_NVRTC";

/// Way in which a library was found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Origin {
    /// The caller named it.
    Path,
    /// `GBXCULE_NVRTC` names it.
    Variable,
    /// Wheel `nvidia-cuda-nvrtc` of this interpreter.
    Python(PathBuf),
    /// The system's loader found it.
    System,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Path => f.write_str("by its path"),
            Self::Variable => f.write_str(VARIABLE),
            Self::Python(python) => write!(f, "the wheel of {}", python.display()),
            Self::System => f.write_str("the system"),
        }
    }
}

/// Library to try.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct LibraryCandidate {
    pub(super) path: PathBuf,
    pub(super) origin: Origin,
}

/// Returns all libraries to try, best first.
pub(super) fn places() -> Result<Vec<LibraryCandidate>, Error> {
    if let Some(place) = variable() {
        return by_variable(&place);
    }
    let python = PythonInterpreter::find(&gbxcule_python_env::search_starts()).program;
    let folders = search_path(&python);
    let mut places = in_packages(&folders, &Origin::Python(python));
    places.extend(in_system());
    Ok(places)
}

/// Returns the value of the variable, if it is set and not empty.
pub(super) fn variable() -> Option<PathBuf> {
    std::env::var_os(VARIABLE).filter(|place| !place.is_empty()).map(PathBuf::from)
}

/// Returns the library that the variable names, or an error; no other library is tried then.
fn by_variable(place: &Path) -> Result<Vec<LibraryCandidate>, Error> {
    let libraries =
        if place.is_dir() { libraries_below(place, 8) } else { vec![place.to_path_buf()] };
    if libraries.is_empty() || !place.exists() {
        return Err(Error::NvrtcVariable(place.into()));
    }
    Ok(libraries
        .into_iter()
        .map(|path| LibraryCandidate { path, origin: Origin::Variable })
        .collect())
}

/// Returns the folders in which an interpreter looks for packages; none if it doesn't run.
fn search_path(python: &Path) -> Vec<PathBuf> {
    let script = "import sys\nprint('\\n'.join(sys.path))";
    // The working folder is left out: its files belong to no installed wheel.
    let run = Command::new(python).env("PYTHONSAFEPATH", "1").args(["-c", script]).output();
    let Ok(run) = run else { return Vec::new() };
    let output = String::from_utf8_lossy(&run.stdout).into_owned();
    output.lines().map(PathBuf::from).filter(|folder| folder.is_absolute()).collect()
}

/// Returns candidates in the wheels' folders: those of CUDA 13, then older ones.
fn in_packages(folders: &[PathBuf], origin: &Origin) -> Vec<LibraryCandidate> {
    let wheels = ["nvidia/cu13", "nvidia/cuda_nvrtc"];
    let all = wheels.iter().flat_map(|wheel| folders.iter().map(move |folder| folder.join(wheel)));
    let all = all.flat_map(|folder| libraries_below(&folder, 3));
    all.map(|path| LibraryCandidate { path, origin: origin.clone() }).collect()
}

fn in_system() -> Vec<LibraryCandidate> {
    let named = if cfg!(windows) {
        ["nvrtc64_130_0.dll", "nvrtc64_120_0.dll"].as_slice()
    } else {
        ["libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so"].as_slice()
    };
    let mut paths: Vec<PathBuf> = named.iter().map(PathBuf::from).collect();
    let toolkits = ["CUDA_PATH", "CUDA_HOME"].into_iter().filter_map(std::env::var_os);
    let toolkits = toolkits.map(PathBuf::from).chain(["/usr/local/cuda".into()]);
    let folders = toolkits.flat_map(|toolkit| ["lib64", "bin"].map(|folder| toolkit.join(folder)));
    paths.extend(folders.flat_map(|folder| libraries_below(&folder, 1)));
    paths.into_iter().map(|path| LibraryCandidate { path, origin: Origin::System }).collect()
}

/// Returns the libraries with NVRTC's name in a folder and in the folders below it, down to a
/// depth.
fn libraries_below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let (mut libraries, mut folders) = (Vec::new(), Vec::new());
    for entry in entries.flatten() {
        // Links to folders are not followed, because they could lead in circles.
        if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            folders.push(entry.path());
        } else if is_library(&entry.file_name().to_string_lossy()) {
            libraries.push(entry.path());
        }
    }
    libraries.sort();
    folders.sort();
    if depth > 1 {
        libraries.extend(folders.iter().flat_map(|folder| libraries_below(folder, depth - 1)));
    }
    libraries
}

fn is_library(name: &str) -> bool {
    let windows = name.starts_with("nvrtc64_") && name.ends_with(".dll");
    name.starts_with("libnvrtc.so") || windows && !name.contains("alt")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().expect("a folder");
        for file in files {
            let path = root.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
            std::fs::write(path, "").expect("a file");
        }
        root
    }

    #[test]
    fn the_variable_names_the_library_or_a_folder_above_it() {
        let root = tree(&["a/lib/libnvrtc.so.13", "a/lib/libnvrtc-builtins.so.13.0"]);
        let library = root.path().join("a/lib/libnvrtc.so.13");
        for place in [root.path(), &root.path().join("a/lib"), &library] {
            let libraries = by_variable(place).expect("a library");
            assert_eq!(
                libraries,
                [LibraryCandidate { path: library.clone(), origin: Origin::Variable }]
            );
        }
    }

    #[test]
    fn a_variable_that_names_nothing_is_an_error_that_says_so() {
        let root = tree(&["a/lib/libcudart.so.13"]);
        for place in [root.path(), &root.path().join("missing")] {
            let error = by_variable(place).expect_err("no library").to_string();
            assert!(
                error.contains(VARIABLE) && error.contains(&*place.to_string_lossy()),
                "{error}"
            );
        }
    }

    #[test]
    fn the_wheel_of_cuda_13_comes_first() {
        let root =
            tree(&["nvidia/cuda_nvrtc/lib/libnvrtc.so.12", "nvidia/cu13/lib/libnvrtc.so.13"]);
        let folders = [root.path().to_path_buf()];
        let libraries = in_packages(&folders, &Origin::System);
        let names: Vec<_> = libraries.iter().filter_map(|place| place.path.file_name()).collect();
        assert_eq!(names, ["libnvrtc.so.13", "libnvrtc.so.12"]);
    }
}
