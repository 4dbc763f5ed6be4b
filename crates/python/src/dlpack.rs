//! Arrays of other people, borrowed in place by the DLPack protocol (version 0, which every producer speaks).
//!
//! A producer hands over a capsule named `dltensor`; who takes it renames it, so that nobody takes it twice, and calls
//! its deleter when done. Everything unsafe of this crate is here.
#![allow(unsafe_code)]

use std::ffi::{CStr, c_void};
use std::ptr::NonNull;

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyCapsule;

const NAME: &CStr = c"dltensor";
const TAKEN: &CStr = c"used_dltensor";

/// `kDLCPU`.
pub(crate) const CPU: i32 = 1;

#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) kind: i32,
    pub(crate) id: i32,
}

/// An element: a kind (0 signed, 1 unsigned, 2 float, 4 bfloat, 6 bool), its bits, and how many make one.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Element {
    pub(crate) kind: u8,
    pub(crate) bits: u8,
    pub(crate) lanes: u16,
}

#[repr(C)]
struct Tensor {
    data: *mut c_void,
    device: Device,
    ndim: i32,
    element: Element,
    shape: *mut i64,
    /// In elements; null means C order without gaps.
    strides: *mut i64,
    byte_offset: u64,
}

#[repr(C)]
struct Managed {
    tensor: Tensor,
    context: *mut c_void,
    deleter: Option<unsafe extern "C" fn(*mut Managed)>,
}

/// An array of somebody else, held until this is dropped.
pub(crate) struct Borrowed {
    managed: NonNull<Managed>,
}

impl Borrowed {
    /// Ask an object for its memory.
    pub(crate) fn of(array: &Bound<'_, PyAny>) -> PyResult<Self> {
        if !array.hasattr("__dlpack__")? {
            return Err(PyTypeError::new_err(format!(
                "expected an array that speaks DLPack (NumPy, PyTorch, ...), found `{}`",
                array.get_type().name()?
            )));
        }
        let capsule = array.call_method0("__dlpack__")?;
        let capsule = capsule.cast::<PyCapsule>()?;
        let pointer = capsule.pointer_checked(Some(NAME))?;
        // SAFETY: the capsule is valid and this thread is attached to the interpreter; the name lives for ever.
        if unsafe { pyo3::ffi::PyCapsule_SetName(capsule.as_ptr(), TAKEN.as_ptr()) } != 0 {
            return Err(PyErr::fetch(array.py()));
        }
        Ok(Self { managed: pointer.cast() })
    }

    fn tensor(&self) -> &Tensor {
        // SAFETY: a capsule named `dltensor` holds a managed tensor, which is ours until we call its deleter.
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
        // SAFETY: the protocol says that `shape` points to `ndim` numbers, which live as long as the tensor.
        unsafe { std::slice::from_raw_parts(tensor.shape, tensor.ndim as usize) }
    }

    /// In elements; nothing for C order.
    pub(crate) fn strides(&self) -> Option<&[i64]> {
        let tensor = self.tensor();
        if tensor.strides.is_null() || tensor.ndim <= 0 {
            return None;
        }
        // SAFETY: as for `shape`.
        Some(unsafe { std::slice::from_raw_parts(tensor.strides, tensor.ndim as usize) })
    }

    /// Where the first element is.
    pub(crate) fn address(&self) -> *mut u8 {
        let tensor = self.tensor();
        tensor.data.cast::<u8>().wrapping_add(tensor.byte_offset as usize)
    }

    pub(crate) fn element_bytes(&self) -> usize {
        let Element { bits, lanes, .. } = self.element();
        (usize::from(bits) * usize::from(lanes)).div_ceil(8)
    }

    /// Elements in all dimensions together.
    pub(crate) fn len(&self) -> usize {
        self.shape().iter().map(|extent| usize::try_from(*extent).unwrap_or(0)).product()
    }

    /// Are the elements one after the other, the last index running fastest?
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

    /// All bytes of an array on the CPU.
    ///
    /// The caller of the Python function must not let another thread use the array meanwhile, as with every library
    /// that releases the interpreter while it writes to an array.
    pub(crate) fn bytes_mut(&mut self) -> PyResult<&mut [u8]> {
        if self.device().kind != CPU {
            return Err(PyValueError::new_err("expected an array in the CPU's memory"));
        }
        if !self.is_in_c_order() {
            return Err(PyValueError::new_err(
                "expected an array in C order without gaps; numpy.ascontiguousarray makes one",
            ));
        }
        let bytes = self.len() * self.element_bytes();
        if bytes == 0 {
            return Ok(&mut []);
        }
        // SAFETY: the producer vouches for this many elements in this order at this address until the deleter is
        // called; version 0 of the protocol hands over writable memory only.
        Ok(unsafe { std::slice::from_raw_parts_mut(self.address(), bytes) })
    }

    /// Fill an array on the CPU with bytes.
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
        // SAFETY: we took the capsule, so its deleter is ours to call, once; this thread is attached to the
        // interpreter, because Python's arguments are dropped where they were taken.
        unsafe {
            if let Some(deleter) = self.managed.as_ref().deleter {
                deleter(self.managed.as_ptr());
            }
        }
    }
}
