//! Arrays on the CPU that many launches use. `gbxcule.warp` asks the memory's owner once, because
//! the protocol's calls take longer than a small launch.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

use crate::dlpack::{Borrowed, CPU};

/// Array of another library in the CPU's memory, which stays borrowed as long as this lives.
#[pyclass(frozen, module = "gbxcule._native")]
pub(crate) struct LentArray {
    borrowed: Borrowed,
}

impl LentArray {
    pub(crate) fn borrowed(&self) -> &Borrowed {
        &self.borrowed
    }
}

#[pymethods]
impl LentArray {
    #[new]
    fn new(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        let borrowed = Borrowed::of(array)?;
        if borrowed.device().kind != CPU {
            return Err(PyValueError::new_err("expected an array in the CPU's memory"));
        }
        Ok(Self { borrowed })
    }
}
