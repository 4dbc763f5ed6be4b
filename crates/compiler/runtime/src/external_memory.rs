//! Arrays over memory of other owners, such as a NumPy array or a tensor, without a copy; and
//! streams of other owners, which wait for this library's streams or make them wait.
#![allow(unsafe_code, reason = "memory that another owner lends")]

use crate::array::Array;
use crate::buffer::Buffer;
use crate::cuda;
use crate::data_type::DataType;
use crate::error::Error;
use crate::stream::Stream;
use std::ptr::NonNull;
use std::sync::Arc;

/// Bytes at an address, whose validity the lender guarantees.
#[derive(Debug)]
pub(crate) struct ExternalMemory {
    address: NonNull<u8>,
    size: usize,
}

// SAFETY: the memory is bound to no thread; `Array::external` asks its caller to vouch for the
// memory in every thread.
unsafe impl Send for ExternalMemory {}
// SAFETY: as above; the buffer's lock orders reads and writes.
unsafe impl Sync for ExternalMemory {}

impl ExternalMemory {
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: `Array::external`'s caller vouches for these bytes; the buffer's lock keeps
        // writers away.
        unsafe { std::slice::from_raw_parts(self.address.as_ptr(), self.size) }
    }

    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and the buffer's lock keeps everybody away.
        unsafe { std::slice::from_raw_parts_mut(self.address.as_ptr(), self.size) }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    pub(crate) fn address(&self) -> u64 {
        self.address.as_ptr() as u64
    }
}

impl Stream {
    /// Makes an array over memory of another owner on this stream's device, such as a tensor, with
    /// `size` bytes from `address`.
    ///
    /// # Safety
    /// The conditions of [`Array::external`] hold for the device's memory: it stays valid for
    /// reads, and for writes by work queued on this array, until the array, its clones and its
    /// views are gone. Work that others queued on the memory is done, or will be done before the
    /// work of this stream. Work of this stream may still run when the array is gone. So before
    /// the owner frees the memory or uses it otherwise, the owner waits for this stream, or makes
    /// its own stream wait for this one ([`Stream::make_wait`]).
    ///
    /// # Errors
    /// As [`Array::external`].
    pub unsafe fn external(
        &self,
        address: u64,
        size: usize,
        data_type: DataType,
        offset: usize,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Array, Error> {
        let Some(queue) = self.queue() else {
            let address = std::ptr::with_exposed_provenance_mut(address as usize);
            // SAFETY: the caller promises what `Array::external` asks for.
            return unsafe { Array::external(address, size, data_type, offset, shape, strides) };
        };
        let (_, align) = data_type.layout();
        if !address.is_multiple_of(align as u64) {
            let reason = format!("elements of `{data_type}` lie at multiples of {align} bytes");
            return Err(Error::Array(reason));
        }
        let memory = cuda::Memory::external(queue, address);
        let buffer = Buffer::on_device(memory, size, self.clone());
        Array::in_buffer(Arc::new(buffer), data_type, offset, shape, strides)
    }

    /// Returns the driver's handle, a `CUstream`, for libraries that queue their own work in this
    /// stream; `None` on the CPU.
    pub fn handle(&self) -> Option<u64> {
        self.queue().map(|queue| queue.handle())
    }

    /// Makes another library's stream wait for the work queued here so far; no thread waits on the
    /// host. On the CPU all of this work is done already.
    ///
    /// # Safety
    /// `other` is the handle of a living stream of the same device.
    ///
    /// # Errors
    /// The driver refuses.
    pub unsafe fn make_wait(&self, other: u64) -> Result<(), Error> {
        // SAFETY: the caller promises that the stream lives.
        self.queue()
            .map_or(Ok(()), |queue| unsafe { queue.order(other, cuda::StreamOrder::Before) })
    }

    /// Makes this stream wait for the work queued in another library's stream so far.
    ///
    /// # Safety
    /// `other` is the handle of a living stream of the same device.
    ///
    /// # Errors
    /// The driver refuses.
    pub unsafe fn wait_for(&self, other: u64) -> Result<(), Error> {
        // SAFETY: the caller promises that the stream lives.
        self.queue().map_or(Ok(()), |queue| unsafe { queue.order(other, cuda::StreamOrder::After) })
    }
}

impl Array {
    /// Makes an array over memory of another owner, with `size` bytes from `address`; the first
    /// element is at `offset`.
    ///
    /// # Safety
    /// Until this array, its clones and its views are gone, the memory stays valid for reads, and
    /// for writes by kernels that write to this array. No other code changes the memory, and no
    /// other code reads it while such a kernel runs.
    ///
    /// # Errors
    /// The address is not a multiple of the elements' alignment, or the elements lie outside of the
    /// memory.
    pub unsafe fn external(
        address: *mut u8,
        size: usize,
        data_type: DataType,
        offset: usize,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Self, Error> {
        let (_, align) = data_type.layout();
        if !address.addr().is_multiple_of(align) {
            let reason = format!("elements of `{data_type}` lie at multiples of {align} bytes");
            return Err(Error::Array(reason));
        }
        // Memory of 0 bytes may have no address.
        let address = NonNull::new(address).unwrap_or_else(|| NonNull::<u128>::dangling().cast());
        let buffer = Buffer::external(ExternalMemory { address, size });
        Self::in_buffer(Arc::new(buffer), data_type, offset, shape, strides)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data_type::Element;

    #[test]
    fn an_array_over_lent_memory_is_that_memory() {
        let mut memory = [1.0f32, 2.0, 3.0, 4.0, 5.0];
        let address = memory.as_mut_ptr().cast::<u8>();
        {
            // SAFETY: `memory` outlives the array, and no other code uses it meanwhile.
            let array = unsafe { Array::external(address, 20, f32::data_type(), 16, &[3], &[-8]) };
            let array = array.expect("inside");
            assert_eq!(array.to_vec::<f32>().expect("f32"), [5.0, 3.0, 1.0]);
            array.write(&[-5.0f32, -3.0, -1.0]).expect("3 elements");
        }
        assert_eq!(memory, [-1.0, 2.0, -3.0, 4.0, -5.0]);
    }

    #[test]
    fn lent_memory_is_checked_as_any_other() {
        let mut memory = [0u64; 2];
        let address = memory.as_mut_ptr().cast::<u8>();
        let external = |address, shape: &[usize]| {
            // SAFETY: refused, or not used before `memory` is gone.
            unsafe { Array::external(address, 15, f32::data_type(), 0, shape, &[4]) }.is_ok()
        };
        assert!(external(address, &[3]) && external(std::ptr::null_mut(), &[0]));
        assert!(!external(address, &[4]) && !external(address.wrapping_add(1), &[1]));
    }
}
