//! Memory of a device, allocated and freed in the order of a stream, and copies between this
//! memory and the host.
#![allow(unsafe_code, reason = "calling the driver; memory that the device reads")]

use super::driver::Status;
use super::pinned::{Block, MAX_BLOCK};
use super::queue::Queue;
use crate::array::{Rectangle, ViewBytes};
use crate::error::Error;
use cudarc::driver::sys::{self, CUmemorytype};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

/// Bytes of a device's memory.
#[derive(Debug)]
pub(crate) struct Memory {
    address: u64,
    /// True if this library must free it.
    is_owned: bool,
    pub(super) queue: Arc<Queue>,
}

impl Memory {
    /// Allocates `bytes` bytes of zeros.
    pub(crate) fn zeroed(queue: &Arc<Queue>, bytes: usize) -> Result<Self, Error> {
        let context = &queue.context;
        let state = queue.enter()?;
        // An array without elements also gets an address: an address of 0 means an absent array.
        let bytes = bytes.max(16);
        let mut address = 0;
        // SAFETY: a place for an address, a living stream.
        let status = unsafe {
            match context.pool {
                Some(pool) => {
                    sys::cuMemAllocFromPoolAsync(&raw mut address, bytes, pool, queue.raw)
                }
                None => sys::cuMemAlloc_v2(&raw mut address, bytes),
            }
        };
        if status == Status::CUDA_ERROR_OUT_OF_MEMORY {
            let (free, _) = context.memory()?;
            return Err(Error::DeviceMemory {
                device: context.device(),
                wanted: bytes as u64,
                free,
            });
        }
        context.check("taking memory", status)?;
        let memory = Self { address, is_owned: true, queue: Arc::clone(queue) };
        // SAFETY: `bytes` bytes were just taken.
        let status = unsafe { sys::cuMemsetD8Async(address, 0, bytes, queue.raw) };
        drop(state);
        context.check("clearing memory", status)?;
        Ok(memory)
    }

    /// Wraps another owner's memory on the stream's device.
    pub(crate) fn external(queue: &Arc<Queue>, address: u64) -> Self {
        Self { address, is_owned: false, queue: Arc::clone(queue) }
    }

    pub(crate) fn address(&self) -> u64 {
        self.address
    }

    /// Copies the rectangles of a view to the host, packed together, and waits for the copy.
    pub(crate) fn download(&self, view: &ViewBytes, mut into: &mut [u8]) -> Result<(), Error> {
        let mut state = self.queue.enter()?;
        let closed = self.queue.close(&mut state);
        let mut copied = Ok(());
        for rectangle in &view.rectangles {
            let (part, rest) = into.split_at_mut(rectangle.width * rectangle.rows);
            copied = copied
                .and_then(|()| self.copy(rectangle, part.as_mut_ptr().cast(), Direction::Down));
            into = rest;
        }
        // The host's memory may be reused only when the stream has passed, even after an error.
        let finished = self.queue.finish(&mut state);
        closed.and(copied).and(finished)
    }

    /// Copies packed bytes into the rectangles of a view, through pinned memory.
    pub(crate) fn upload(&self, view: &ViewBytes, mut from: &[u8]) -> Result<(), Error> {
        let queue = &self.queue;
        let mut state = queue.enter()?;
        let mut parts = view.rectangles.iter().flat_map(|rectangle| parts(*rectangle)).peekable();
        while parts.peek().is_some() {
            let mut block = state.pinned.take(&queue.context, &queue.counter, from.len())?;
            let (mut used, mut copied) = (0, Ok(()));
            while let Some(part) =
                parts.next_if(|part| used + part.width * part.rows <= block.size())
            {
                let (bytes, rest) = from.split_at(part.width * part.rows);
                block.bytes()[used..used + bytes.len()].copy_from_slice(bytes);
                copied = copied.and_then(|()| self.copy_block(&part, &block, used));
                (used, from) = (used + bytes.len(), rest);
            }
            let sealed = state.pinned.release_after_copy(&queue.context, queue.raw, block);
            copied.and(sealed)?;
        }
        Ok(())
    }

    fn copy_block(&self, rectangle: &Rectangle, block: &Block, offset: usize) -> Result<(), Error> {
        self.copy(rectangle, block.address().wrapping_byte_add(offset), Direction::Up)
    }

    /// Queues a copy between a rectangle and as many bytes of the host, which must stay valid
    /// until the stream has passed.
    fn copy(&self, rectangle: &Rectangle, host: *mut c_void, way: Direction) -> Result<(), Error> {
        let (address, stream) = (self.address + rectangle.at as u64, self.queue.raw);
        let (width, rows, call) = (rectangle.width, rectangle.rows, "copying an array");
        // SAFETY: rectangles lie inside this memory; callers give as many bytes of the host, which
        // stay valid until the copy is done.
        let status = unsafe {
            match way {
                _ if rows > 1 => {
                    sys::cuMemcpy2DAsync_v2(&strided_copy(rectangle, address, host, way), stream)
                }
                Direction::Up => sys::cuMemcpyHtoDAsync_v2(address, host, width, stream),
                Direction::Down => sys::cuMemcpyDtoHAsync_v2(host, address, width, stream),
            }
        };
        self.queue.context.check(call, status)
    }

    /// Fills the rectangles of a view with an element; returns false if the device has no operation
    /// for an element of this size.
    pub(crate) fn fill(&self, view: &ViewBytes, element: &[u8]) -> Result<bool, Error> {
        let Some(unit) = unit(element) else { return Ok(false) };
        let fits = |rectangle: &Rectangle| {
            [rectangle.at, rectangle.pitch].iter().all(|at| at.is_multiple_of(unit.len()))
        };
        if !view.rectangles.iter().all(fits) {
            return Ok(false);
        }
        let _state = self.queue.enter()?;
        view.rectangles.iter().try_for_each(|rectangle| self.set(rectangle, unit))?;
        Ok(true)
    }

    /// Queues the filling of a rectangle with a unit. The rectangle begins at a multiple of the
    /// unit's size.
    fn set(&self, rectangle: &Rectangle, unit: &[u8]) -> Result<(), Error> {
        let (address, stream) = (self.address + rectangle.at as u64, self.queue.raw);
        let (count, rows, pitch) = (rectangle.width / unit.len(), rectangle.rows, rectangle.pitch);
        // SAFETY: rectangles lie inside this memory.
        let status = unsafe {
            match *unit {
                [one] if rows == 1 => sys::cuMemsetD8Async(address, one, count, stream),
                [one] => sys::cuMemsetD2D8Async(address, pitch, one, count, rows, stream),
                [a, b] => {
                    let unit = u16::from_le_bytes([a, b]);
                    if rows == 1 {
                        sys::cuMemsetD16Async(address, unit, count, stream)
                    } else {
                        sys::cuMemsetD2D16Async(address, pitch, unit, count, rows, stream)
                    }
                }
                [a, b, c, d] => {
                    let unit = u32::from_le_bytes([a, b, c, d]);
                    if rows == 1 {
                        sys::cuMemsetD32Async(address, unit, count, stream)
                    } else {
                        sys::cuMemsetD2D32Async(address, pitch, unit, count, rows, stream)
                    }
                }
                _ => unreachable!("units have 1, 2 or 4 bytes"),
            }
        };
        self.queue.context.check("filling an array", status)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        if !self.is_owned {
            // The memory's owner may use it only after this stream's work: the caller of
            // `Stream::external` has to wait for that.
            return;
        }
        let queue = &self.queue;
        let Ok(_state) = queue.enter() else { return };
        // SAFETY: `zeroed` took the memory in this stream, and no more work on it will be queued.
        // If the context is lost, so is the memory.
        unsafe {
            if queue.context.pool.is_some() {
                _ = sys::cuMemFreeAsync(self.address, queue.raw);
            } else {
                _ = sys::cuStreamSynchronize(queue.raw);
                _ = sys::cuMemFree_v2(self.address);
            }
        }
    }
}

#[derive(Clone, Copy)]
enum Direction {
    Up,
    Down,
}

fn strided_copy(
    rectangle: &Rectangle,
    address: u64,
    host: *mut c_void,
    way: Direction,
) -> sys::CUDA_MEMCPY2D {
    use CUmemorytype::{CU_MEMORYTYPE_DEVICE as ON_DEVICE, CU_MEMORYTYPE_HOST as ON_HOST};
    let (from, to) = match way {
        Direction::Up => (ON_HOST, ON_DEVICE),
        Direction::Down => (ON_DEVICE, ON_HOST),
    };
    let pitch = |kind| if kind == ON_HOST { rectangle.width } else { rectangle.pitch };
    sys::CUDA_MEMCPY2D {
        srcXInBytes: 0,
        srcY: 0,
        srcMemoryType: from,
        srcHost: host,
        srcDevice: address,
        srcArray: ptr::null_mut(),
        srcPitch: pitch(from),
        dstXInBytes: 0,
        dstY: 0,
        dstMemoryType: to,
        dstHost: host,
        dstDevice: address,
        dstArray: ptr::null_mut(),
        dstPitch: pitch(to),
        WidthInBytes: rectangle.width,
        Height: rectangle.rows,
    }
}

/// Splits a rectangle into parts that fit into one block each.
fn parts(rectangle: Rectangle) -> impl Iterator<Item = Rectangle> {
    let Rectangle { at, width, rows, pitch } = rectangle;
    let rows_each = (MAX_BLOCK / width).max(1);
    (0..rows).step_by(rows_each).flat_map(move |row| {
        let rows = rows_each.min(rows - row);
        (0..width).step_by(MAX_BLOCK).map(move |column| Rectangle {
            at: at + row * pitch + column,
            width: MAX_BLOCK.min(width - column),
            rows,
            pitch,
        })
    })
}

/// Returns the 1, 2 or 4 bytes of which an element is a repetition.
fn unit(element: &[u8]) -> Option<&[u8]> {
    [1, 2, 4].into_iter().filter(|size| element.len().is_multiple_of(*size)).find_map(|size| {
        let unit = &element[..size];
        element.chunks(size).all(|chunk| chunk == unit).then_some(unit)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_rectangles_go_in_parts_that_cover_them() {
        for (width, rows) in [(10, 3), (MAX_BLOCK + 5, 2), (1 << 20, 9)] {
            let rectangle = Rectangle { at: 7, width, rows, pitch: width + 3 };
            let rectangles: Vec<Rectangle> = parts(rectangle).collect();
            assert!(rectangles.iter().all(|part| part.width * part.rows <= MAX_BLOCK));
            let bytes: usize = rectangles.iter().map(|part| part.width * part.rows).sum();
            assert_eq!(bytes, width * rows);
        }
    }

    #[test]
    fn elements_that_repeat_a_word_are_filled_by_it() {
        assert_eq!(unit(&0.0f64.to_le_bytes()), Some(&[0][..]));
        assert_eq!(unit(&1.0f32.to_le_bytes()), Some(&[0, 0, 128, 63][..]));
        assert_eq!(unit(&[1, 2, 1, 2, 1, 2]), Some(&[1, 2][..]));
        assert_eq!(unit(&1.0f64.to_le_bytes()), None);
        assert_eq!(unit(&[1, 2, 3]), None);
    }
}
