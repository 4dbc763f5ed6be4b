//! Target of a launch: the CPU, or the kernels' single stream on a CUDA device.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use gbxcule_ir::{Module, Shape, Type};
use gbxcule_runtime::{Device, Error, PerProcess, Stream};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::LaunchError;
use super::text;
use crate::dlpack::CUDA;

/// CUDA's handle for the default stream, which libraries use by default.
pub(crate) const DEFAULT_STREAM: u64 = 1;

/// Target of a launch.
pub(crate) struct LaunchTarget {
    pub(crate) device: Device,
    /// Stream of the kernels on a CUDA device.
    pub(crate) stream: Option<Stream>,
    /// Stream in which the caller continues with arrays of other libraries.
    pub(crate) caller: u64,
}

impl LaunchTarget {
    pub(crate) fn new(device: Device, caller: Option<u64>) -> PyResult<Self> {
        let stream = match device {
            Device::Cpu => None,
            Device::Cuda(_) => Some(stream(device).map_err(|error| failed(&error))?),
        };
        // Many libraries use 0 for the default stream.
        let caller = caller.filter(|&handle| handle != 0).unwrap_or(DEFAULT_STREAM);
        Ok(Self { device, stream, caller })
    }
}

/// Returns the kernels' stream on a device.
pub(crate) fn stream(device: Device) -> Result<Stream, Error> {
    static KNOWN: PerProcess<Mutex<BTreeMap<Device, Stream>>> = PerProcess::new();
    let mut streams = KNOWN.get().lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(stream) = streams.get(&device) {
        return Ok(stream.clone());
    }
    let stream = Stream::new(device)?;
    streams.insert(device, stream.clone());
    Ok(stream)
}

/// Returns a device by its name.
pub(crate) fn named(name: &str) -> PyResult<Device> {
    name.parse().map_err(|error: Error| PyValueError::new_err(error.to_string()))
}

/// Makes the Python error for a failure in the kernels' stream or on the CPU, with the line of a
/// fault.
pub(crate) fn failed(error: &Error) -> PyErr {
    LaunchError::new_err(match error {
        Error::Fault(fault) => gbxcule_ir::diagnostic::render(&[fault.diagnostic()], &text::all()),
        error => error.to_string(),
    })
}

/// Returns the CUDA device of the first array of an argument that lies on one.
pub(crate) fn of_arrays(
    module: &Module,
    ty: Type,
    value: &Bound<'_, PyAny>,
) -> PyResult<Option<Device>> {
    match module.types[ty] {
        Shape::Array { .. } => {
            let Some(ask) = value.getattr_opt("__dlpack_device__")? else { return Ok(None) };
            let (kind, ordinal): (i32, i32) = ask.call0()?.extract()?;
            let on_cuda = kind == CUDA && ordinal >= 0;
            Ok(on_cuda.then_some(Device::Cuda(ordinal.unsigned_abs())))
        }
        Shape::Struct(id) => {
            for field in &module.types.structure(id).fields {
                let Some(part) = field_of(value, &field.name)? else { continue };
                if let Some(device) = of_arrays(module, field.ty, &part)? {
                    return Ok(Some(device));
                }
            }
            Ok(None)
        }
        _ => Ok(None),
    }
}

/// Returns a field of a struct that is given as a dictionary, or as an object with attributes.
pub(crate) fn field_of<'py>(
    value: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<Option<Bound<'py, PyAny>>> {
    match value.cast::<PyDict>() {
        Ok(fields) => fields.get_item(name),
        Err(_) => value.getattr_opt(name),
    }
}
