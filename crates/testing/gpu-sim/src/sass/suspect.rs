//! Words of wide loads of shared memory that mean nothing: nobody has written them, or they race.
//!
//! They are a fault if their values are used. Launches that find other values in their places tell:
//! a kernel that uses one gives other results, or takes other ways.

use super::fault::Fault;
use super::shadow::WordRead;
use rustc_hash::FxHashSet;

/// Values in the place of suspect words, of a launch each: zero, and the greatest and least float,
/// which are great and small integers.
pub const VALUES: [u32; 3] = [0, 0x7F7F_FFFF, 0xFF7F_FFFF];
/// Suspect words of a launch, at most; with more the first one is a fault.
const MAX_SUSPECTS: usize = 1 << 20;

/// Suspect words of a launch.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    words: FxHashSet<WordRead>,
    /// Fault of the first of them.
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
    /// Puts a word aside, with its fault.
    pub(super) fn add(&mut self, word: WordRead, fault: Fault) {
        if self.words.len() >= MAX_SUSPECTS {
            fault.raise();
        }
        self.words.insert(word);
        self.first.get_or_insert(fault);
    }

    /// The words with a value.
    pub fn replaced_by(&self, value: u32) -> Replacement {
        Replacement { words: self.words.clone(), value }
    }
}
