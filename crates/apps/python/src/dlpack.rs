//! Arrays of other libraries, borrowed in place by the DLPack protocol (version 0, which every
//! producer speaks).
//!
//! A producer returns a capsule named `dltensor`. The consumer renames the capsule, so that nobody
//! takes it again, and calls its deleter when the tensor is no longer used. Arrays of a device are
//! exported in the same way. The other unsafe code of this crate is in `rollout.rs` and
//! `kernel/argument.rs`.
#![allow(unsafe_code, reason = "memory and functions of the producer of a tensor")]

use std::ffi::{CStr, c_void};
use std::ptr::{self, NonNull};

use gbxcule_ir::Scalar;
use gbxcule_runtime::{Array, Error};

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyDict};

const NAME: &CStr = c"dltensor";
const TAKEN: &CStr = c"used_dltensor";

/// Number of DLPack's `kDLCPU`.
pub(crate) const CPU: i32 = 1;
/// Number of DLPack's `kDLCUDA`.
pub(crate) const CUDA: i32 = 2;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) kind: i32,
    pub(crate) id: i32,
}

/// Type of an element: a kind (0 signed, 1 unsigned, 2 float, 4 bfloat, 6 bool), the number of its
/// bits, and the number of lanes.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) kind: u8,
    pub(crate) bits: u8,
    pub(crate) lanes: u16,
}

impl Element {
    pub(crate) fn of(scalar: Scalar) -> Self {
        let kind = match scalar {
            Scalar::Bool => 6,
            Scalar::Bf16 => 4,
            _ if scalar.is_float() => 2,
            _ if scalar.is_signed_int() => 0,
            _ => 1,
        };
        Self { kind, bits: 8 * scalar.bytes() as u8, lanes: 1 }
    }

    pub(crate) fn bytes(self) -> usize {
        (usize::from(self.bits) * usize::from(self.lanes)).div_ceil(8)
    }

    /// Returns the name in NumPy, if the type has one.
    pub(crate) fn name(self) -> String {
        let kind = match self.kind {
            0 => "int",
            1 => "uint",
            2 => "float",
            4 => "bfloat",
            5 => "complex",
            6 => return "bool".to_string(),
            _ => "elements of kind",
        };
        format!("{kind}{}", self.bits)
    }
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    ndim: i32,
    element: Element,
    shape: *mut i64,
    /// Strides in elements; null means C order without gaps.
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// Array of another library, which is released when this is dropped.
pub(crate) struct Borrowed {
    managed: NonNull<Managed>,
}

// SAFETY: a tensor belongs to no thread; its deleter is called where Python is attached, because
// Python drops its objects there.
unsafe impl Send for Borrowed {}
// SAFETY: nobody changes the description of a tensor, and who uses its memory keeps others away.
unsafe impl Sync for Borrowed {}

impl Borrowed {
    /// Asks an object for its memory on the CPU.
    pub(crate) fn of(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        Self::in_order_of(array, None)
    }

    /// Asks an object for its memory. Later work in `stream`, a stream of the memory's device, then
    /// follows all queued work of the owner.
    pub(crate) fn in_order_of(array: &Bound<'_, PyAny>, stream: Option<u64>) -> PyResult<Self> {
        if !array.hasattr("__dlpack__")? {
            return Err(PyTypeError::new_err(format!(
                "expected an array that speaks DLPack (NumPy, PyTorch, ...), found `{}`",
                array.get_type().name()?
            )));
        }
        let read_only = || -> PyResult<bool> {
            let Some(flags) = array.getattr_opt("flags")? else { return Ok(false) };
            let writeable = flags.getattr_opt("writeable")?;
            writeable.map_or(Ok(false), |writeable| Ok(!writeable.extract::<bool>()?))
        };
        if read_only()? {
            return Err(PyValueError::new_err(
                "the array is read-only, and DLPack hands out memory to write to: pass a copy",
            ));
        }
        let capsule = match stream {
            None => array.call_method0("__dlpack__")?,
            Some(handle) => {
                let options = PyDict::new(array.py());
                options.set_item("stream", handle)?;
                array.call_method("__dlpack__", (), Some(&options))?
            }
        };
        let capsule = capsule.cast::<PyCapsule>()?;
        let pointer = capsule.pointer_checked(Some(NAME))?;
        // SAFETY: the capsule is valid and this thread is attached to the interpreter; the name
        // lives for ever.
        if unsafe { pyo3::ffi::PyCapsule_SetName(capsule.as_ptr(), TAKEN.as_ptr()) } != 0 {
            return Err(PyErr::fetch(array.py()));
        }
        Ok(Self { managed: pointer.cast() })
    }

    fn tensor(&self) -> &Tensor {
        // SAFETY: a capsule named `dltensor` holds a managed tensor, which is ours until we call
        // its deleter.
        unsafe { &self.managed.as_ref().tensor }
    }

    pub(crate) fn device(&self) -> Device {
        self.tensor().device
    }

    pub(crate) fn element(&self) -> Element {
        self.tensor().element
    }

    pub(crate) fn shape(&self) -> &[i64] {
        let tensor = self.tensor();
        if tensor.ndim <= 0 {
            return &[];
        }
        // SAFETY: the protocol says that `shape` points to `ndim` numbers, which live as long as
        // the tensor.
        unsafe { std::slice::from_raw_parts(tensor.shape, tensor.ndim as usize) }
    }

    /// Returns the strides in elements; `None` for C order.
    pub(crate) fn strides(&self) -> Option<&[i64]> {
        let tensor = self.tensor();
        if tensor.strides.is_null() || tensor.ndim <= 0 {
            return None;
        }
        // SAFETY: as for `shape`.
        Some(unsafe { std::slice::from_raw_parts(tensor.strides, tensor.ndim as usize) })
    }

    /// Returns the address of the first element.
    pub(crate) fn address(&self) -> *mut u8 {
        let tensor = self.tensor();
        tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize)
    }

    /// Returns the number of elements in all dimensions together.
    pub(crate) fn len(&self) -> usize {
        self.shape().iter().map(|extent| usize::try_from(*extent).unwrap_or(0)).product()
    }

    /// Returns true if the elements lie one after the other, with the last index running fastest.
    pub(crate) fn is_in_c_order(&self) -> bool {
        let Some(strides) = self.strides() else { return true };
        let mut expected = 1;
        for (extent, stride) in self.shape().iter().zip(strides).rev() {
            if *extent > 1 && *stride != expected {
                return false;
            }
            expected *= (*extent).max(1);
        }
        true
    }

    /// Returns all bytes of an array on the CPU.
    ///
    /// The interpreter is released meanwhile, so the caller of the Python function must not let
    /// another thread use the array.
    pub(crate) fn bytes_mut(&mut self) -> PyResult<&mut [u8]> {
        if self.device().kind != CPU {
            return Err(PyValueError::new_err("expected an array in the CPU's memory"));
        }
        if !self.is_in_c_order() {
            return Err(PyValueError::new_err(
                "expected an array in C order without gaps; numpy.ascontiguousarray makes one",
            ));
        }
        let bytes = self.len() * self.element().bytes();
        if bytes == 0 {
            return Ok(&mut []);
        }
        // SAFETY: the producer vouches for this many elements in this order at this address until
        // the deleter is called; version 0 of the protocol has writable memory only.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.address(), bytes) })
    }

    /// Fills an array on the CPU with bytes.
    pub(crate) fn copy_from(&mut self, bytes: &[u8]) -> PyResult<()> {
        let out = self.bytes_mut()?;
        if out.len() != bytes.len() {
            return Err(PyValueError::new_err(format!(
                "expected an array of {} bytes, found {}",
                bytes.len(),
                out.len()
            )));
        }
        out.copy_from_slice(bytes);
        Ok(())
    }
}

impl Drop for Borrowed {
    fn drop(&mut self) {
        // SAFETY: we took the capsule, so its deleter is ours to call, once; this thread is
        // attached to the interpreter, because Python's arguments are dropped where they were
        // taken.
        unsafe {
            if let Some(deleter) = self.managed.as_ref().deleter {
                deleter(self.managed.as_ptr());
            }
        }
    }
}

/// Makes a consumer's stream, numbered by the protocol, wait for the work queued for an array.
/// Without a stream the call itself waits; -1 asks for no order.
pub(crate) fn order(array: &Array, consumer: Option<i64>) -> Result<(), Error> {
    let Some(stream) = array.stream() else { return Ok(()) };
    match consumer {
        Some(-1) => Ok(()),
        // SAFETY: the protocol says that this is a living stream of the array's device; 1 and 2 are
        // CUDA's own handles for the default streams.
        Some(other) if other > 0 => unsafe { stream.make_wait(other as u64) },
        _ => stream.synchronize(),
    }
}

/// Exported tensor, with the memory to which it points.
struct Exported {
    managed: Managed,
    shape: Vec<i64>,
    strides: Vec<i64>,
    /// Array that keeps the memory alive.
    _array: Array,
}

/// Exports an array of a device as a capsule for one consumer.
pub(crate) fn export<'py>(
    py: Python<'py>,
    array: &Array,
    element: Element,
) -> PyResult<Bound<'py, PyCapsule>> {
    let Some(address) = array.device_pointer() else {
        return Err(PyValueError::new_err("expected an array in the memory of a CUDA device"));
    };
    let size = isize::from(element.bits) / 8;
    let id = match array.device() {
        gbxcule_runtime::Device::Cpu => 0,
        gbxcule_runtime::Device::Cuda(ordinal) => ordinal as i32,
    };
    let mut exported = Box::new(Exported {
        managed: Managed {
            tensor: Tensor {
                data: ptr::with_exposed_provenance_mut(address as usize),
                device: Device { kind: CUDA, id },
                ndim: array.shape().len() as i32,
                element,
                shape: ptr::null_mut(),
                strides: ptr::null_mut(),
                byte_offset: 0,
            },
            context: ptr::null_mut(),
            deleter: Some(free),
        },
        shape: array.shape().iter().map(|&extent| extent as i64).collect(),
        strides: array.strides().iter().map(|&stride| (stride / size) as i64).collect(),
        _array: array.clone(),
    });
    exported.managed.tensor.shape = exported.shape.as_mut_ptr();
    exported.managed.tensor.strides = exported.strides.as_mut_ptr();
    let exported = Box::into_raw(exported);
    // SAFETY: the tensor was just made; the consumer, or the capsule if it is not taken, calls the
    // deleter once.
    unsafe {
        let managed = &raw mut (*exported).managed;
        (*managed).context = exported.cast();
        let capsule = pyo3::ffi::PyCapsule_New(managed.cast(), NAME.as_ptr(), Some(drop_untaken));
        if capsule.is_null() {
            free(managed);
            return Err(PyErr::fetch(py));
        }
        Ok(Bound::from_owned_ptr(py, capsule).cast_into_unchecked())
    }
}

/// Deletes a tensor that `export` made.
unsafe extern "C" fn free(managed: *mut Managed) {
    // SAFETY: the protocol calls it once, with what it was given; its context is the box.
    drop(unsafe { Box::from_raw((*managed).context.cast::<Exported>()) });
}

/// Destroys a capsule: frees the tensor in it if no consumer has taken it.
unsafe extern "C" fn drop_untaken(capsule: *mut pyo3::ffi::PyObject) {
    // SAFETY: Python calls it with the capsule; one that was taken has another name.
    unsafe {
        if pyo3::ffi::PyCapsule_IsValid(capsule, NAME.as_ptr()) == 1 {
            let managed: *mut Managed =
                pyo3::ffi::PyCapsule_GetPointer(capsule, NAME.as_ptr()).cast();
            free(managed);
        }
    }
}
