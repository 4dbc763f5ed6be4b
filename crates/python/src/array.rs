//! Arrays of the swarm's as Python sees them: other libraries take them where they lie, NumPy gets a copy.

use gbxcule_kernel::ir::Scalar;
use gbxcule_runtime::{Array, DataType, Device, Error};
use pyo3::exceptions::{PyBufferError, PyRuntimeError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyTuple};

use crate::dlpack::{self, CUDA, Element};

/// An array in the memory of a CUDA device, which the swarm goes on writing to: what later steps compute appears in
/// it. Any library that speaks DLPack takes it in place.
#[pyclass(frozen, module = "gbxcule._native")]
pub(crate) struct DeviceArray {
    array: Array,
}

impl DeviceArray {
    pub(crate) fn new(array: Array) -> Self {
        Self { array }
    }

    fn scalar(&self) -> Scalar {
        match self.array.data_type() {
            DataType::Scalar(of) => *of,
            other => unreachable!("a swarm has arrays of scalars, not of {other}"),
        }
    }
}

fn failed(error: &Error) -> PyErr {
    PyRuntimeError::new_err(error.to_string())
}

#[pymethods]
impl DeviceArray {
    /// Elements in each dimension.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.shape())
    }

    /// The type of its elements, as NumPy calls it.
    #[getter]
    fn dtype(&self) -> &'static str {
        if self.scalar() == Scalar::F32 { "float32" } else { "uint8" }
    }

    /// Where it lies, as DLPack says it: kind 2 is CUDA.
    fn __dlpack_device__(&self) -> (i32, u32) {
        match self.array.device() {
            Device::Cpu => (dlpack::CPU, 0),
            Device::Cuda(ordinal) => (CUDA, ordinal),
        }
    }

    /// The array in place. `stream` is the consumer's, as the protocol has it: what it does there from now on happens
    /// behind what the swarm was asked for so far. Without one, the swarm is waited for.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, u32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Version 0 of the protocol is what every consumer takes.
        _ = max_version;
        if copy == Some(true) || dl_device.is_some_and(|device| device != self.__dlpack_device__())
        {
            let message = "the array is given in place only; `numpy()` copies it to the host";
            return Err(PyBufferError::new_err(message));
        }
        dlpack::order(&self.array, stream).map_err(|error| failed(&error))?;
        let kind = if self.scalar() == Scalar::F32 { 2 } else { 1 };
        let bits = 8 * self.scalar().bytes() as u8;
        dlpack::export(py, &self.array, Element { kind, bits, lanes: 1 })
    }

    /// The elements as bytes of the host, row-major; `numpy()` of the package gives them a shape.
    fn tobytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| match self.scalar() {
            Scalar::F32 => {
                let numbers = self.array.to_vec::<f32>()?;
                Ok(bytemuck::cast_slice(&numbers).to_vec())
            }
            _ => self.array.to_vec::<u8>(),
        });
        let bytes: Vec<u8> = bytes.map_err(|error: Error| failed(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// A copy on the host as a NumPy array.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = self.tobytes(py)?;
        let flat = py.import("numpy")?.call_method1("frombuffer", (bytes, self.dtype()))?;
        flat.call_method1("reshape", (self.shape(py)?,))?.call_method0("copy")
    }
}
