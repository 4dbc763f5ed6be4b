//! Errors outside of a program: files, data, devices, compilers.

use gbxcule_files::UnreadFolder;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// A failure outside of this program, with the remedy.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SynthError {
    /// A file couldn't be read or written.
    #[error("{path}: {source}{}", remedy(source))]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Reason of the system.
        source: std::io::Error,
    },
    /// A folder that holds no dataset.
    #[error(
        "{path} is no dataset folder: {reason}; name a folder that `gbxcule synth generate --out` made"
    )]
    NoDataset {
        /// The folder.
        path: PathBuf,
        /// Reason.
        reason: String,
    },
    /// A file is not a data file, or has another schema.
    #[error("{path}: {reason}")]
    Data {
        /// Path of the file.
        path: PathBuf,
        /// Description of the defect.
        reason: String,
    },
    /// A line of a data file is not a row.
    #[error("{path}:{line}:{column}: {reason}")]
    Line {
        /// The file.
        path: PathBuf,
        /// Position, from 1.
        line: usize,
        /// Position, from 1.
        column: usize,
        /// Description of the defect.
        reason: String,
    },
    /// The folder holds another dataset.
    #[error(
        "{path} holds another dataset, of {reason}: choose another folder, or ask for the same, or for more of its rows with `--resume`"
    )]
    Other {
        /// The folder.
        path: PathBuf,
        /// Description of the dataset that is there.
        reason: String,
    },
    /// The folder holds rows already.
    #[error("{path} holds rows already: add --resume to go on, or choose another folder")]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// A device is missing, or can't be used.
    #[error("{reason}")]
    Device {
        /// Reason, with advice.
        reason: String,
    },
    /// NVRTC is missing, or can't be used.
    #[error(transparent)]
    Nvrtc(Box<gbxcule_runtime::Error>),
    /// NVIDIA Warp's process failed.
    #[error(transparent)]
    Oracle(#[from] gbxcule_oracle::OracleError),
    /// The host's compiler or the compiled program did not finish, so a row's check has no result.
    #[error(
        "row {row} could not be compiled and run: {reason}; the blocks before it are there: try again with --resume"
    )]
    Unchecked {
        /// Number of the row.
        row: u64,
        /// Reason.
        reason: String,
    },
    /// A compiled program could not be run.
    #[error(transparent)]
    Sandbox(#[from] gbxcule_sandbox::SandboxError),
    /// The host's C++ compiler is missing or doesn't work.
    #[error(
        "{compiler}: {reason}; set CXX to a C++17 compiler, or do without: --no-host of `validate` and `mutate`, --task of \
         `grade` for a task that asks for Python or IR"
    )]
    Compiler {
        /// Name of the compiler.
        compiler: String,
        /// Reason.
        reason: String,
    },
}

/// Returns what a user can do about an error of the system.
fn remedy(error: &std::io::Error) -> &'static str {
    match error.kind() {
        ErrorKind::NotFound => "; name a path that exists",
        ErrorKind::NotADirectory => "; a file stands in the place of a folder: name another path",
        ErrorKind::PermissionDenied => "; change its permissions, or name another path",
        _ => "",
    }
}

impl SynthError {
    /// Converts an error of the system to an error about a file.
    pub fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::File { path: path.into(), source }
    }

    /// Makes the error about a host compiler that is missing or doesn't work.
    pub fn compiler(compiler: &str, reason: &dyn std::fmt::Display) -> Self {
        Self::Compiler { compiler: compiler.into(), reason: reason.to_string() }
    }

    #[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
    pub(crate) fn nvrtc(error: gbxcule_runtime::Error) -> Self {
        Self::Nvrtc(Box::new(error))
    }

    /// Makes the error about a folder without a part that every dataset has.
    pub(crate) fn no_dataset(folder: &Path, part: &str) -> Self {
        let reason = match folder.metadata() {
            Ok(found) if found.is_dir() => format!("it has no {part}"),
            Ok(_) => "it is a file".to_owned(),
            Err(_) => "there is no such folder".to_owned(),
        };
        Self::NoDataset { path: folder.into(), reason }
    }

    /// Makes the error about a file with unexpected contents.
    pub fn data(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::Data { path: path.into(), reason: reason.to_string() }
    }
}

impl From<UnreadFolder> for SynthError {
    fn from(unread: UnreadFolder) -> Self {
        Self::File { path: unread.path, source: unread.source }
    }
}
