//! Memory of arrays on the host.

use std::sync::{PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

/// Zeroed memory aligned to 16 bytes, shared by the arrays over it. Whoever reads or writes it holds
/// the lock, a running kernel too.
#[derive(Debug)]
pub(crate) struct Buffer {
    words: RwLock<Box<[u128]>>,
    size: usize,
}

impl Buffer {
    pub(crate) fn zeroed(size: usize) -> Self {
        let words = vec![0; size.div_ceil(size_of::<u128>())].into_boxed_slice();
        Self { words: RwLock::new(words), size }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// The memory to read. A panic while it was written leaves bytes, which are never invalid.
    pub(crate) fn read(&self) -> ReadGuard<'_> {
        let words = self.words.read().unwrap_or_else(PoisonError::into_inner);
        ReadGuard { words, size: self.size }
    }

    /// The memory to write.
    pub(crate) fn write(&self) -> WriteGuard<'_> {
        let words = self.words.write().unwrap_or_else(PoisonError::into_inner);
        WriteGuard { words, size: self.size }
    }
}

/// Memory that only readers see.
pub(crate) struct ReadGuard<'a> {
    words: RwLockReadGuard<'a, Box<[u128]>>,
    size: usize,
}

impl ReadGuard<'_> {
    pub(crate) fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.size]
    }

    pub(crate) fn address(&self) -> u64 {
        self.words.as_ptr() as u64
    }
}

/// Memory that nobody else sees.
pub(crate) struct WriteGuard<'a> {
    words: RwLockWriteGuard<'a, Box<[u128]>>,
    size: usize,
}

impl WriteGuard<'_> {
    pub(crate) fn bytes(&mut self) -> &mut [u8] {
        &mut bytemuck::cast_slice_mut(&mut self.words)[..self.size]
    }

    pub(crate) fn address(&mut self) -> u64 {
        self.words.as_mut_ptr() as u64
    }
}
