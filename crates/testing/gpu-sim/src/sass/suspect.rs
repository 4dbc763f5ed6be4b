//! Suspects: words of wide loads of shared memory that no thread has written, or that race.
//!
//! They are a fault if the kernel uses their values. Launches with other values in their places
//! show this: a kernel that uses one gives other results, or takes another path.

use super::fault::Fault;
use super::shadow::WordRead;
use rustc_hash::FxHashSet;

/// Values for suspect words, one for each such launch: zero, and nearly the greatest and the least
/// float, which are also a large and a small integer.
pub const VALUES: [u32; 3] = [0, 0x7F7F_FFFF, 0xFF7F_FFFF];
/// Greatest number of suspect words of a launch; with more the first one is a fault.
const MAX_SUSPECTS: usize = 1 << 20;

/// Suspect words of a launch.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    words: FxHashSet<WordRead>,
    /// Fault of the first word.
    pub first: Option<Fault>,
}

/// Suspect words of an earlier launch, and their value in this one.
#[derive(Clone, Debug)]
pub struct Replacement {
    /// The words.
    pub(super) words: FxHashSet<WordRead>,
    /// Their value.
    pub(super) value: u32,
}

impl Suspects {
    /// Adds a word with its fault.
    pub(super) fn add(&mut self, word: WordRead, fault: Fault) {
        if self.words.len() >= MAX_SUSPECTS {
            fault.raise();
        }
        self.words.insert(word);
        self.first.get_or_insert(fault);
    }

    /// Returns the words with a value to replace them.
    pub fn replaced_by(&self, value: u32) -> Replacement {
        Replacement { words: self.words.clone(), value }
    }
}
