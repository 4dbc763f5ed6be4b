//! Queues of work, in which arrays are made and launches run one after the other, in the order of
//! the calls.
//!
//! On a CUDA device [`Array::write`], [`Array::fill`] and launches only queue work and return at
//! once; [`Array::to_vec`] and [`Stream::synchronize`] wait, and so does a write or a fill of a
//! view whose elements overlap or interleave. On the CPU all work is done when the call returns.
//! Callers are written the same way for both.

use crate::array::Array;
use crate::buffer::Buffer;
use crate::cuda;
use crate::data_type::{DataType, Element};
use crate::device::Device;
use crate::error::Error;
use crate::process::PerProcess;
use crate::worker_threads::check_threads;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Queue of work on a device. Clones are the same queue.
///
/// ```
/// use gbxcule_ir::Scalar;
/// use gbxcule_runtime::{DataType, Device, Stream};
///
/// let stream = Stream::new(Device::Cpu)?;
/// let array = stream.zeros(DataType::Scalar(Scalar::F32), &[2, 3])?;
/// array.fill(1.5f32)?;
/// stream.synchronize()?;
/// assert_eq!(array.to_vec::<f32>()?, [1.5; 6]);
/// # Ok::<(), gbxcule_runtime::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Stream {
    inner: Arc<StreamState>,
}

#[derive(Debug)]
struct StreamState {
    device: Device,
    counter: Arc<Counter>,
    /// Stream of the driver; `None` on the CPU.
    queue: Option<Arc<cuda::Queue>>,
}

/// Counts of bytes copied between the host and a stream's arrays, and of waits.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Traffic {
    /// Bytes copied to arrays.
    pub uploaded: u64,
    /// Bytes copied from arrays.
    pub downloaded: u64,
    /// Number of waits for queued work. On the CPU, where no call waits, the number counts the
    /// calls that would wait on a GPU.
    pub waits: u64,
}

/// Counts of a [`Traffic`] while they grow.
#[derive(Default, Debug)]
pub(crate) struct Counter {
    uploaded: AtomicU64,
    downloaded: AtomicU64,
    waits: AtomicU64,
}

impl Counter {
    pub(crate) fn count_upload(&self, bytes: usize) {
        self.uploaded.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn count_download(&self, bytes: usize) {
        self.downloaded.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    pub(crate) fn count_wait(&self) {
        self.waits.fetch_add(1, Ordering::Relaxed);
    }

    fn read(&self) -> Traffic {
        let [uploaded, downloaded, waits] = [&self.uploaded, &self.downloaded, &self.waits]
            .map(|count| count.load(Ordering::Relaxed));
        Traffic { uploaded, downloaded, waits }
    }
}

impl Stream {
    /// Makes a new queue on a device.
    ///
    /// # Errors
    /// A device that does not exist or that has no driver; a wrong value of `GBXCULE_THREADS`.
    pub fn new(device: Device) -> Result<Self, Error> {
        check_threads()?;
        let counter = Arc::default();
        let queue = match device {
            Device::Cpu => None,
            Device::Cuda(ordinal) => {
                Some(Arc::new(cuda::Queue::new(ordinal, Arc::clone(&counter))?))
            }
        };
        Ok(Self { inner: Arc::new(StreamState { device, counter, queue }) })
    }

    /// Returns the process's default stream of a device, for launches without arrays.
    pub(crate) fn of_device(device: Device) -> Result<Self, Error> {
        static KNOWN: PerProcess<Mutex<BTreeMap<Device, Stream>>> = PerProcess::new();
        let mut streams = KNOWN.get().lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(stream) = streams.get(&device) {
            return Ok(stream.clone());
        }
        let stream = Self::new(device)?;
        streams.insert(device, stream.clone());
        Ok(stream)
    }

    /// Returns the stream's device.
    pub fn device(&self) -> Device {
        self.inner.device
    }

    /// Makes an array of zeros, row-major without gaps.
    ///
    /// # Errors
    /// A shape that no array can have; too little memory on the device.
    pub fn zeros(&self, data_type: DataType, shape: &[usize]) -> Result<Array, Error> {
        Array::allocate(data_type, shape, |bytes| self.buffer(bytes))
    }

    /// Makes a one-dimensional array of these elements.
    ///
    /// # Errors
    /// Too little memory on the device, or another error of it.
    pub fn from_slice<T: Element>(&self, elements: &[T]) -> Result<Array, Error> {
        let array = self.zeros(T::data_type(), &[elements.len()])?;
        array.write(elements)?;
        Ok(array)
    }

    /// Makes an array over a copy of raw bytes; strides are in bytes and may be 0 or negative.
    ///
    /// # Errors
    /// Elements beyond the bytes, or a shape and strides that no array can have; too little memory.
    pub fn from_bytes(
        &self,
        bytes: &[u8],
        data_type: DataType,
        offset: usize,
        shape: &[usize],
        strides: &[isize],
    ) -> Result<Array, Error> {
        self.from_slice(bytes)?.view_as(data_type, offset, shape, strides)
    }

    /// Waits until all queued work is done; returns the first error of the work.
    ///
    /// # Errors
    /// The first fault of the launches waited for, or an error of the device.
    pub fn synchronize(&self) -> Result<(), Error> {
        match &self.inner.queue {
            Some(queue) => queue.synchronize(),
            None => {
                self.inner.counter.count_wait();
                Ok(())
            }
        }
    }

    /// Marks the present end of the stream's work, for callers that keep a value until the stream
    /// has passed it. The call does not wait.
    pub fn mark(&self) -> Result<Mark, Error> {
        let mark = self.inner.queue.as_ref().map(cuda::Queue::mark).transpose()?;
        Ok(Mark { mark })
    }

    /// Returns true if work that is queued now is captured in a CUDA graph; then it runs when the
    /// graph runs. `is_passed` fails for marks of captured work.
    pub fn is_captured(&self) -> Result<bool, Error> {
        self.inner.queue.as_ref().map_or(Ok(false), |queue| queue.is_captured())
    }

    /// Returns the counts of bytes copied and of waits so far.
    pub fn traffic(&self) -> Traffic {
        self.inner.counter.read()
    }

    /// Returns the device's free bytes, or `None` on the CPU. Waits for the stream.
    pub fn free_bytes(&self) -> Result<Option<u64>, Error> {
        self.inner.queue.as_ref().map(|queue| queue.free_bytes()).transpose()
    }

    pub(crate) fn counter(&self) -> &Counter {
        &self.inner.counter
    }

    /// Returns the driver's stream; `None` on the CPU.
    pub(crate) fn queue(&self) -> Option<&Arc<cuda::Queue>> {
        self.inner.queue.as_ref()
    }

    /// Allocates memory of zeros.
    pub(crate) fn buffer(&self, bytes: usize) -> Result<Buffer, Error> {
        match &self.inner.queue {
            None => Ok(Buffer::zeroed(bytes).in_stream(self.clone())),
            Some(queue) => {
                let memory = cuda::Memory::zeroed(queue, bytes)?;
                Ok(Buffer::on_device(memory, bytes, self.clone()))
            }
        }
    }
}

/// Place in a stream's work.
#[derive(Debug)]
pub struct Mark {
    /// Mark of the driver; `None` on the CPU, where work is done as soon as it is queued.
    mark: Option<cuda::QueueMark>,
}

impl Mark {
    /// Returns true if all work before this place is done.
    pub fn is_passed(&self) -> Result<bool, Error> {
        self.mark.as_ref().map_or(Ok(true), cuda::QueueMark::is_passed)
    }
}

impl PartialEq for Stream {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }
}

impl Eq for Stream {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_are_counted_and_no_more_is_copied_than_asked_for() {
        let stream = Stream::new(Device::Cpu).expect("the CPU is there");
        let array = stream.zeros(f32::data_type(), &[100, 8]).expect("small");
        assert_eq!(stream.traffic(), Traffic::default());
        array.fill(1.0f32).expect("f32");
        array.index_dim(0, 7).and_then(|row| row.write(&[2.0f32; 8])).expect("8 elements");
        assert_eq!(
            array.index_dim(1, 3).and_then(|column| column.to_vec::<f32>()).map(|it| it[7]),
            Ok(2.0)
        );
        let traffic = Traffic { uploaded: 32, downloaded: 400, waits: 1 };
        assert_eq!(stream.traffic(), traffic);
        assert_eq!(array.stream(), Some(&stream));
    }
}
