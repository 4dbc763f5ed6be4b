//! Random numbers that depend on a seed only. They are the same on every machine and must never
//! change.
//!
//! The generator is SplitMix64, because inputs are drawn by position: element `k` of a stream is
//! computed without the elements before it, and three lines of Python draw the same numbers.

use gbxcule_ir::splitmix::STEP;
pub use gbxcule_ir::splitmix::mix;

/// Returns number `at` of a stream.
pub fn at(seed: u64, at: u64) -> u64 {
    mix(seed.wrapping_add(at.wrapping_add(1).wrapping_mul(STEP)))
}

/// Derives a seed from a seed and the number of a part.
pub fn seed(seed: u64, part: u64) -> u64 {
    mix(mix(seed.wrapping_add(STEP)) ^ part.wrapping_mul(STEP))
}

/// Returns the upper 53 bits as a number from 0 to below 1.
pub fn fraction(word: u64) -> f64 {
    (word >> 11) as f64 / (1u64 << 53) as f64
}

/// A stream that is read in order.
#[derive(Clone, Debug)]
pub struct Random {
    seed: u64,
    next: u64,
}

impl Random {
    /// Returns the stream of a seed.
    pub fn new(seed: u64) -> Self {
        Self { seed, next: 0 }
    }

    fn word(&mut self) -> u64 {
        self.next += 1;
        at(self.seed, self.next)
    }

    /// Draws a number from 0 to below `count`, which isn't 0.
    pub fn below(&mut self, count: usize) -> usize {
        ((u128::from(self.word()) * count as u128) >> 64) as usize
    }

    /// Draws a number from `low` to `high`, both included.
    pub fn between(&mut self, low: i64, high: i64) -> i64 {
        low + self.below((high - low + 1) as usize) as i64
    }

    /// Returns true in `percent` of a hundred draws.
    pub fn chance(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    /// Draws one of some values.
    pub fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }

    /// Draws a number from 0 to below 1.
    pub fn fraction(&mut self) -> f64 {
        fraction(self.word())
    }

    /// Draws a position, each in proportion to its weight.
    pub fn weighted(&mut self, weights: impl IntoIterator<Item = u32> + Clone) -> usize {
        let total: u32 = weights.clone().into_iter().sum();
        let mut left = self.below(total.max(1) as usize) as u32;
        for (position, weight) in weights.into_iter().enumerate() {
            if left < weight {
                return position;
            }
            left -= weight;
        }
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_stream_is_that_of_splitmix64() {
        // These are the first numbers of SplitMix64 with seed 0, as its authors print them.
        assert_eq!(at(0, 0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(at(0, 1), 0x6e78_9e6a_a1b9_65f4);
    }
}
