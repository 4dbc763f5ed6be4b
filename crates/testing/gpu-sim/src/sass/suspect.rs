//! Suspects: words of loads of shared memory that no thread has written, or that race with another
//! access. The compiler also loads words that the source doesn't read.
//!
//! A suspect is a fault if the kernel uses its value. Further launches show this, in which the
//! suspects have other values: a kernel that uses a suspect then gives other results, or takes
//! another path.

use super::fault::Fault;
use super::shadow::WordRead;
use rustc_hash::FxHashSet;

/// Values for suspect words, one for each further launch: zero, nearly the greatest float, nearly
/// the least float, and a NaN, of which a product with zero is no zero. As integers the second is
/// large, and the third is small.
pub const VALUES: [u32; 4] = [0, 0x7F7F_FFFF, 0xFF7F_FFFF, 0x7FC0_0000];
/// Greatest number of suspect words of a launch; if there are more, the first one counts as a
/// fault.
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
