//! A stream of random numbers that a seed decides.

use gbxcule_ir::splitmix;

/// State of the stream.
#[derive(Clone, Debug)]
pub struct Random {
    state: u64,
}

impl Random {
    /// Begins the stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }

    /// Returns 64 random bits.
    pub fn bits(&mut self) -> u64 {
        splitmix::next(&mut self.state)
    }

    /// Returns a number in `0..end`.
    pub fn below(&mut self, end: u32) -> u32 {
        (((self.bits() >> 32) * u64::from(end)) >> 32) as u32
    }

    /// Returns true in `percent` of a hundred draws.
    pub fn chance(&mut self, percent: u32) -> bool {
        self.below(100) < percent
    }

    /// Returns an element of a slice that isn't empty.
    pub fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u32) as usize]
    }

    /// Returns an element of a slice, or `None` for an empty slice.
    pub fn find<'a, T>(&mut self, of: &'a [T]) -> Option<&'a T> {
        if of.is_empty() { None } else { of.get(self.below(of.len() as u32) as usize) }
    }
}
