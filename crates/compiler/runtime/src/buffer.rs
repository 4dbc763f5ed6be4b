//! Memory of arrays.

use crate::array::{Rectangle, ViewBytes};
use crate::cuda;
use crate::error::Error;
use crate::external_memory::ExternalMemory;
use crate::stream::Stream;
use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Memory that arrays share. Code that reads or writes it holds the lock, and so does a running
/// kernel.
///
/// Memory of a CUDA device needs no lock: its stream orders all operations on it.
#[derive(Debug)]
pub(crate) struct Buffer {
    memory: Memory,
    size: usize,
    /// Stream in which it was made, which counts its copies.
    stream: Option<Stream>,
}

#[derive(Debug)]
enum Memory {
    Host(RwLock<HostMemory>),
    Cuda(cuda::Memory),
}

#[derive(Debug)]
enum HostMemory {
    /// Memory of this library, aligned to 16 bytes.
    Own(Box<[u128]>),
    External(ExternalMemory),
}

impl Buffer {
    pub(crate) fn zeroed(size: usize) -> Self {
        let words = vec![0; size.div_ceil(size_of::<u128>())].into_boxed_slice();
        let memory = Memory::Host(RwLock::new(HostMemory::Own(words)));
        Self { memory, size, stream: None }
    }

    /// Makes a buffer with a copy of these bytes.
    pub(crate) fn copied_from(bytes: &[u8]) -> Self {
        let buffer = Self::zeroed(bytes.len());
        buffer.write().bytes().copy_from_slice(bytes);
        buffer
    }

    pub(crate) fn in_stream(self, stream: Stream) -> Self {
        Self { stream: Some(stream), ..self }
    }

    /// Makes a buffer of zeros with the same size and place.
    pub(crate) fn zeros_beside(&self) -> Result<Self, Error> {
        match &self.stream {
            Some(stream) => stream.buffer(self.size),
            None => Ok(Self::zeroed(self.size)),
        }
    }

    pub(crate) fn stream(&self) -> Option<&Stream> {
        self.stream.as_ref()
    }

    /// Copies the rectangles of a view to the host, packed together.
    pub(crate) fn download(&self, view: &ViewBytes, mut into: &mut [u8]) -> Result<(), Error> {
        if let Some(stream) = &self.stream {
            stream.counter().count_download(view.bytes);
        }
        if let Memory::Cuda(memory) = &self.memory {
            return memory.download(view, into);
        }
        self.stream.iter().for_each(|stream| stream.counter().count_wait());
        let guard = self.read();
        for row in rows(&view.rectangles) {
            let (part, rest) = into.split_at_mut(row.len());
            part.copy_from_slice(&guard.bytes()[row]);
            into = rest;
        }
        Ok(())
    }

    /// Copies packed bytes into the rectangles of a view.
    pub(crate) fn upload(&self, view: &ViewBytes, mut from: &[u8]) -> Result<(), Error> {
        if let Some(stream) = &self.stream {
            stream.counter().count_upload(view.bytes);
        }
        if let Memory::Cuda(memory) = &self.memory {
            return memory.upload(view, from);
        }
        let mut guard = self.write();
        for row in rows(&view.rectangles) {
            let (part, rest) = from.split_at(row.len());
            guard.bytes()[row].copy_from_slice(part);
            from = rest;
        }
        Ok(())
    }

    /// Fills the rectangles of a view with an element.
    pub(crate) fn fill(&self, view: &ViewBytes, element: &[u8]) -> Result<(), Error> {
        if let Memory::Cuda(memory) = &self.memory {
            if memory.fill(view, element)? {
                return Ok(());
            }
            return self.upload(view, &element.repeat(view.bytes / element.len()));
        }
        let mut guard = self.write();
        for row in rows(&view.rectangles) {
            let cells = guard.bytes()[row].chunks_exact_mut(element.len());
            cells.for_each(|cell| cell.copy_from_slice(element));
        }
        Ok(())
    }

    pub(crate) fn external(external: ExternalMemory) -> Self {
        let size = external.size();
        let memory = Memory::Host(RwLock::new(HostMemory::External(external)));
        Self { memory, size, stream: None }
    }

    /// Makes a buffer of memory of a stream's device.
    pub(crate) fn on_device(memory: cuda::Memory, size: usize, stream: Stream) -> Self {
        Self { memory: Memory::Cuda(memory), size, stream: Some(stream) }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Returns the address of the first byte.
    pub(crate) fn address(&self) -> u64 {
        match &self.memory {
            Memory::Host(_) => self.read().address(),
            Memory::Cuda(memory) => memory.address(),
        }
    }

    fn host(&self) -> &RwLock<HostMemory> {
        match &self.memory {
            Memory::Host(memory) => memory,
            Memory::Cuda(_) => unreachable!("callers look where it lies"),
        }
    }

    /// Locks the memory for reading. A panic during a write leaves bytes, which are always valid.
    pub(crate) fn read(&self) -> ReadGuard<'_> {
        let memory = self.host().read().unwrap_or_else(PoisonError::into_inner);
        ReadGuard { memory, size: self.size }
    }

    /// Locks the memory for writing.
    pub(crate) fn write(&self) -> WriteGuard<'_> {
        let memory = self.host().write().unwrap_or_else(PoisonError::into_inner);
        WriteGuard { memory, size: self.size }
    }
}

/// Returns the rows of all rectangles in order.
fn rows(rectangles: &[Rectangle]) -> impl Iterator<Item = Range<usize>> {
    rectangles.iter().flat_map(|rectangle| {
        (0..rectangle.rows).map(|row| {
            let start = rectangle.at + row * rectangle.pitch;
            start..start + rectangle.width
        })
    })
}

/// Lock on memory that others may read as well.
pub(crate) struct ReadGuard<'a> {
    memory: RwLockReadGuard<'a, HostMemory>,
    size: usize,
}

impl ReadGuard<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match &*self.memory {
            HostMemory::Own(words) => &bytemuck::cast_slice(words)[..self.size],
            HostMemory::External(external) => external.bytes(),
        }
    }

    pub(crate) fn address(&self) -> u64 {
        match &*self.memory {
            HostMemory::Own(words) => words.as_ptr() as u64,
            HostMemory::External(external) => external.address(),
        }
    }
}

/// Lock on memory that no one else can access.
pub(crate) struct WriteGuard<'a> {
    memory: RwLockWriteGuard<'a, HostMemory>,
    size: usize,
}

impl WriteGuard<'_> {
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        match &mut *self.memory {
            HostMemory::Own(words) => &mut bytemuck::cast_slice_mut(words)[..self.size],
            HostMemory::External(external) => external.bytes_mut(),
        }
    }

    pub(crate) fn address(&mut self) -> u64 {
        match &mut *self.memory {
            HostMemory::Own(words) => words.as_mut_ptr() as u64,
            HostMemory::External(external) => external.address(),
        }
    }
}
