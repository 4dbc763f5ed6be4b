//! Arrays on a CUDA device for Python: the swarm's arrays, and arrays made for kernels. Other
//! libraries use them in place, NumPy gets a copy.

// PyO3 passes arguments by value.
#![allow(clippy::needless_pass_by_value)]

use gbxcule_ir::Scalar;
use gbxcule_runtime::{Array, DataType, Device, Error};
use gbxcule_swarm::device::refused_action;
use pyo3::exceptions::{PyBufferError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyCapsule, PyTuple};

use crate::dlpack::{self, CUDA, Element};
use crate::kernel::launch_target;

/// Array in the memory of a CUDA device, which later launches, or a swarm's later steps, change.
/// Any library that speaks DLPack can use it in place.
#[pyclass(frozen, module = "gbxcule._native")]
pub(crate) struct DeviceArray {
    array: Array,
}

impl DeviceArray {
    pub(crate) fn new(array: Array) -> Self {
        Self { array }
    }

    pub(crate) fn array(&self) -> &Array {
        &self.array
    }

    pub(crate) fn element_of(array: &Array) -> Element {
        match array.data_type() {
            DataType::Scalar(of) => Element::of(*of),
            other => unreachable!("device arrays are of scalars, not of {other}"),
        }
    }

    /// Views this array's memory as unsigned numbers of the elements' width.
    fn plain(&self, scalar: Scalar) -> Result<Array, Error> {
        let array = &self.array;
        let data_type = DataType::Scalar(scalar);
        array.view_as(data_type, array.offset(), array.shape(), array.strides())
    }

    fn read(&self) -> Result<Vec<u8>, Error> {
        fn bytes<T: gbxcule_runtime::Element>(array: &Array) -> Result<Vec<u8>, Error> {
            Ok(bytemuck::cast_slice(&array.to_vec::<T>()?).to_vec())
        }
        match Self::element_of(&self.array).bytes() {
            1 => self.plain(Scalar::U8)?.to_vec::<u8>(),
            2 => bytes::<u16>(&self.plain(Scalar::U16)?),
            4 => bytes::<u32>(&self.plain(Scalar::U32)?),
            _ => bytes::<u64>(&self.plain(Scalar::U64)?),
        }
    }

    fn write(&self, bytes: &[u8]) -> Result<(), Error> {
        fn put<T: gbxcule_runtime::Element>(array: &Array, bytes: &[u8]) -> Result<(), Error> {
            // The bytes of another library may have any alignment.
            let elements = bytes.chunks_exact(size_of::<T>()).map(bytemuck::pod_read_unaligned);
            array.write(&elements.collect::<Vec<T>>())
        }
        match Self::element_of(&self.array).bytes() {
            1 => self.plain(Scalar::U8)?.write(bytes),
            2 => put::<u16>(&self.plain(Scalar::U16)?, bytes),
            4 => put::<u32>(&self.plain(Scalar::U32)?, bytes),
            _ => put::<u64>(&self.plain(Scalar::U64)?, bytes),
        }
    }

    /// Converts a device's error to Python's: with a line for the fault of a user's kernel, without
    /// a line for a swarm's fault, because the user didn't write the swarm's kernels.
    fn failed(&self, error: &Error) -> PyErr {
        if let Some((env, action)) = refused_action(error) {
            return PyValueError::new_err(format!(
                "action {action} of env {env} is not in its codec: the env pressed nothing in that step"
            ));
        }
        let of_kernels = launch_target::stream(self.array.device()).ok();
        if self.array.stream() == of_kernels.as_ref() {
            launch_target::failed(error)
        } else {
            PyRuntimeError::new_err(error.to_string())
        }
    }
}

/// Makes an array of zeros for kernels, in the memory of a CUDA device.
#[pyfunction]
pub(crate) fn device_zeros(
    py: Python<'_>,
    shape: Vec<usize>,
    dtype: &str,
    device: &str,
) -> PyResult<DeviceArray> {
    // NumPy has no name for `bfloat16`.
    let mut scalars = Scalar::ALL.into_iter().filter(|scalar| *scalar != Scalar::Bf16);
    let Some(scalar) = scalars.find(|scalar| Element::of(*scalar).name() == dtype) else {
        return Err(PyTypeError::new_err(format!("kernels have no arrays of `{dtype}`")));
    };
    let device = launch_target::named(device)?;
    if device == Device::Cpu {
        return Err(PyValueError::new_err("arrays on the CPU are NumPy's"));
    }
    let made = py.detach(|| launch_target::stream(device)?.zeros(DataType::Scalar(scalar), &shape));
    made.map(DeviceArray::new).map_err(|error| launch_target::failed(&error))
}

#[pymethods]
impl DeviceArray {
    /// Number of elements in each dimension.
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, self.array.shape())
    }

    /// NumPy's name of the elements' type.
    #[getter]
    fn dtype(&self) -> String {
        Self::element_of(&self.array).name()
    }

    /// Device of the array, as DLPack numbers it: kind 2 is CUDA.
    fn __dlpack_device__(&self) -> (i32, u32) {
        match self.array.device() {
            Device::Cpu => (dlpack::CPU, 0),
            Device::Cuda(ordinal) => (CUDA, ordinal),
        }
    }

    /// Exports the array in place. `stream` is the consumer's stream in the protocol's numbering:
    /// its later work follows the work that is queued for the array now. Without a stream the call
    /// waits for that work.
    #[pyo3(signature = (*, stream = None, max_version = None, dl_device = None, copy = None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, u32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        // Every consumer accepts version 0 of the protocol.
        _ = max_version;
        if copy == Some(true) || dl_device.is_some_and(|device| device != self.__dlpack_device__())
        {
            let message = "this array is only shared in place; `numpy()` copies it to the host";
            return Err(PyBufferError::new_err(message));
        }
        dlpack::order(&self.array, stream).map_err(|error| self.failed(&error))?;
        dlpack::export(py, &self.array, Self::element_of(&self.array))
    }

    /// Returns some columns of every row, in place.
    fn columns(&self, low: usize, high: usize) -> PyResult<Self> {
        let part = self.array.slice(1, low..high, 1).map_err(|error| self.failed(&error))?;
        Ok(Self::new(part))
    }

    /// Copies an array of the same shape from the host into this array; NumPy converts the
    /// elements. The call does not wait for the copy.
    fn assign(&self, py: Python<'_>, values: &Bound<'_, PyAny>) -> PyResult<()> {
        let values = py.import("numpy")?.call_method1("asarray", (values, self.dtype()))?;
        let shape: Vec<usize> = values.getattr("shape")?.extract()?;
        if shape != self.array.shape() {
            let wanted = self.array.shape();
            let message = format!("expected an array of shape {wanted:?}, found {shape:?}");
            return Err(PyValueError::new_err(message));
        }
        let bytes = values.call_method0("tobytes")?.cast_into::<PyBytes>()?;
        let bytes = bytes.as_bytes();
        py.detach(|| self.write(bytes)).map_err(|error| self.failed(&error))
    }

    /// Waits for the queued work, and returns the elements as bytes in row-major order.
    fn tobytes<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = py.detach(|| self.read()).map_err(|error| self.failed(&error))?;
        Ok(PyBytes::new(py, &bytes))
    }

    /// Returns a copy on the host as a NumPy array.
    fn numpy<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let bytes = self.tobytes(py)?;
        let flat = py.import("numpy")?.call_method1("frombuffer", (bytes, self.dtype()))?;
        flat.call_method1("reshape", (self.shape(py)?,))?.call_method0("copy")
    }

    /// Copies the array, for `numpy.asarray`.
    #[pyo3(signature = (dtype = None, copy = None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<&Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(PyValueError::new_err(
                "an array on a CUDA device becomes NumPy's only as a copy: leave out `copy=False`",
            ));
        }
        let array = self.numpy(py)?;
        dtype.map_or(Ok(array.clone()), |dtype| array.call_method1("astype", (dtype,)))
    }
}
