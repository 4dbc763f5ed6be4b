//! Errors of a swarm as Python's exceptions.

use std::sync::TryLockError;

use gbxcule_swarm::SwarmError;
use pyo3::exceptions::{PyMemoryError, PyRuntimeError, PyValueError};
use pyo3::prelude::*;

/// Locks the swarm, or returns an error. Other Python threads run during a step, so one of them may
/// call the swarm. Such a call fails instead of waiting, because the order of the threads' steps
/// would be unknown.
pub(super) fn try_lock<T>(lock: Result<T, TryLockError<T>>) -> PyResult<T> {
    match lock {
        Ok(guard) => Ok(guard),
        Err(TryLockError::Poisoned(error)) => Ok(error.into_inner()),
        Err(TryLockError::WouldBlock) => Err(PyRuntimeError::new_err(
            "another thread is in a call of this environment, or a signal came in the middle of one; give each thread \
             an environment of its own, or let them take turns with a lock, and let a signal's handler set a flag that is \
             looked at between two steps",
        )),
    }
}

/// Returns the exception of an error.
pub(super) fn refused(error: &SwarmError) -> PyErr {
    match error {
        // The device failed; no argument is wrong.
        SwarmError::Device(_) | SwarmError::Forked => PyRuntimeError::new_err(error.to_string()),
        SwarmError::TooLittleMemory { .. } => PyMemoryError::new_err(error.to_string()),
        error => PyValueError::new_err(error.to_string()),
    }
}

/// Errors of the swarm as exceptions.
pub(crate) trait OrRefuse<T> {
    fn or_refuse(self) -> PyResult<T>;
}

impl<T, E: Into<SwarmError>> OrRefuse<T> for Result<T, E> {
    fn or_refuse(self) -> PyResult<T> {
        self.map_err(|error| refused(&error.into()))
    }
}
