//! Memory of arrays on the host.

use crate::lent::Lent;
use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Memory shared by the arrays over it. Whoever reads or writes it holds the lock, a running kernel too.
#[derive(Debug)]
pub(crate) struct Buffer {
    memory: RwLock<Memory>,
    size: usize,
}

#[derive(Debug)]
enum Memory {
    /// Our own, aligned to 16 bytes.
    Own(Box<[u128]>),
    Lent(Lent),
}

impl Buffer {
    pub(crate) fn zeroed(size: usize) -> Self {
        let words = vec![0; size.div_ceil(size_of::<u128>())].into_boxed_slice();
        Self { memory: RwLock::new(Memory::Own(words)), size }
    }

    pub(crate) fn lent(lent: Lent) -> Self {
        let size = lent.size();
        Self { memory: RwLock::new(Memory::Lent(lent)), size }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The memory to read. A panic while it was written leaves bytes, which are never invalid.
    pub(crate) fn read(&self) -> ReadGuard<'_> {
        let memory = self.memory.read().unwrap_or_else(PoisonError::into_inner);
        ReadGuard { memory, size: self.size }
    }

    /// The memory to write.
    pub(crate) fn write(&self) -> WriteGuard<'_> {
        let memory = self.memory.write().unwrap_or_else(PoisonError::into_inner);
        WriteGuard { memory, size: self.size }
    }
}

/// Memory that only readers see.
pub(crate) struct ReadGuard<'a> {
    memory: RwLockReadGuard<'a, Memory>,
    size: usize,
}

impl ReadGuard<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        match &*self.memory {
            Memory::Own(words) => &bytemuck::cast_slice(words)[..self.size],
            Memory::Lent(lent) => lent.bytes(),
        }
    }

    pub(crate) fn address(&self) -> u64 {
        match &*self.memory {
            Memory::Own(words) => words.as_ptr() as u64,
            Memory::Lent(lent) => lent.address(),
        }
    }
}

/// Memory that nobody else sees.
pub(crate) struct WriteGuard<'a> {
    memory: RwLockWriteGuard<'a, Memory>,
    size: usize,
}

impl WriteGuard<'_> {
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        match &mut *self.memory {
            Memory::Own(words) => &mut bytemuck::cast_slice_mut(words)[..self.size],
            Memory::Lent(lent) => lent.bytes_mut(),
        }
    }

    pub(crate) fn address(&mut self) -> u64 {
        match &mut *self.memory {
            Memory::Own(words) => words.as_mut_ptr() as u64,
            Memory::Lent(lent) => lent.address(),
        }
    }
}
