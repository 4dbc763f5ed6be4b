//! Changes the division of a job's checkpoint into parts, for `gbxcule.checkpoint`.

use gbxcule_swarm::{Checkpoint, SwarmError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::swarm::refusal::OrRefuse as _;

/// Returns the note of a checkpoint.
#[pyfunction]
pub(crate) fn checkpoint_note<'py>(
    py: Python<'py>,
    checkpoint: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let read = py.detach(|| Checkpoint::from_bytes(checkpoint)).or_refuse()?;
    Ok(PyBytes::new(py, read.note()))
}

/// Returns a checkpoint with the envs `begin..end` of each part, one part after the other, and a
/// note.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "PyO3 passes lists by value")]
pub(crate) fn joined_checkpoint<'py>(
    py: Python<'py>,
    parts: Vec<(Vec<u8>, usize, usize)>,
    note: &[u8],
) -> PyResult<Bound<'py, PyBytes>> {
    let join = || -> Result<Option<Vec<u8>>, SwarmError> {
        let mut joined: Option<Checkpoint> = None;
        for (bytes, begin, end) in &parts {
            let part = Checkpoint::from_bytes(bytes)?.only(*begin..*end)?;
            match &mut joined {
                Some(joined) => joined.append(part)?,
                None => joined = Some(part),
            }
        }
        joined.map(|joined| joined.with_note(note)).transpose()
    };
    let bytes = py.detach(join).or_refuse()?;
    let bytes = bytes.ok_or_else(|| PyValueError::new_err("a checkpoint has one part at least"))?;
    Ok(PyBytes::new(py, &bytes))
}
