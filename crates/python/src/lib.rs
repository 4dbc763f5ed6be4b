//! The Python extension behind the package `gbxcule`.

use pyo3::prelude::*;

/// The native half of the package `gbxcule`.
#[pymodule]
fn gbxcule_native(_module: &Bound<'_, PyModule>) -> PyResult<()> {
    Ok(())
}
