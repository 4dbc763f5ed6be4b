//! Files that a user names: only regular ones are read, up to a size; a file is written whole, or
//! not at all.

// PyO3 passes arguments by value.
#![allow(clippy::needless_pass_by_value)]

use std::io::Error;
use std::path::{Path, PathBuf};

use gbxcule_swarm::Swarm;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

fn error_of(path: &Path, error: &Error) -> PyErr {
    Error::new(error.kind(), format!("{}: {error}", path.display())).into()
}

/// Returns the bytes of a file of at most `most_bytes` bytes. Pipes and devices are refused.
#[pyfunction]
pub(crate) fn read_file(
    py: Python<'_>,
    path: PathBuf,
    most_bytes: u64,
) -> PyResult<Bound<'_, PyBytes>> {
    let bytes = py.detach(|| gbxcule_files::read(&path, most_bytes));
    Ok(PyBytes::new(py, &bytes.map_err(|error| error_of(&path, &error))?))
}

/// Writes a whole file, or leaves the one that is there.
#[pyfunction]
pub(crate) fn write_file(py: Python<'_>, path: PathBuf, bytes: &[u8]) -> PyResult<()> {
    py.detach(|| gbxcule_files::write(&path, bytes)).map_err(|error| error_of(&path, &error))
}

/// Returns the bytes of a checkpoint's file, or only the first bytes of another file.
#[pyfunction]
pub(crate) fn read_checkpoint(py: Python<'_>, path: PathBuf) -> PyResult<Bound<'_, PyBytes>> {
    let (magic, most) = (Swarm::CHECKPOINT_MAGIC, Swarm::MAX_CHECKPOINT_BYTES);
    let bytes = py.detach(|| gbxcule_files::read_record(&path, magic, most));
    Ok(PyBytes::new(py, &bytes.map_err(|error| error_of(&path, &error))?))
}
