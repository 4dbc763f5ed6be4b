//! What can go wrong outside of a program.

use std::path::{Path, PathBuf};
use thiserror::Error;

/// A failure of the world, with what to do about it.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SynthError {
    /// A file couldn't be read or written.
    #[error("{path}: {source}")]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A data file is none, or of another schema.
    #[error("{path}: {reason}")]
    Data {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
    /// A line of a data file is no row.
    #[error("{path}:{line}:{column}: {reason}")]
    Line {
        /// The file.
        path: PathBuf,
        /// From 1.
        line: usize,
        /// From 1.
        column: usize,
        /// What is wrong.
        reason: String,
    },
    /// The folder holds something else.
    #[error(
        "{path} holds another dataset, of {reason}: choose another folder, or ask for the same"
    )]
    Other {
        /// The folder.
        path: PathBuf,
        /// What it holds.
        reason: String,
    },
    /// The folder holds rows already.
    #[error("{path} holds rows already: add --resume to go on, or choose another folder")]
    NotEmpty {
        /// The folder.
        path: PathBuf,
    },
    /// A device isn't there, or can't be used.
    #[error("{reason}")]
    Device {
        /// What to do about it.
        reason: String,
    },
    /// NVRTC isn't there, or can't be used.
    #[error(transparent)]
    Nvrtc(Box<gbxcule_runtime::Error>),
    /// NVIDIA Warp's process.
    #[error(transparent)]
    Oracle(#[from] gbxcule_oracle::OracleError),
    /// The host's C++ compiler.
    #[error(
        "{compiler}: {reason}; set CXX to a C++17 compiler, or leave the host rungs out with --no-host"
    )]
    Compiler {
        /// Its name.
        compiler: String,
        /// What happened.
        reason: String,
    },
}

impl SynthError {
    pub(crate) fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Self + '_ {
        move |source| Self::File { path: path.into(), source }
    }

    #[allow(clippy::needless_pass_by_value, reason = "for `map_err`")]
    pub(crate) fn nvrtc(error: gbxcule_runtime::Error) -> Self {
        Self::Nvrtc(Box::new(error))
    }

    pub(crate) fn data(path: &Path, reason: impl std::fmt::Display) -> Self {
        Self::Data { path: path.into(), reason: reason.to_string() }
    }
}
