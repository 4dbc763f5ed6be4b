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
/// Greatest number of loads of suspect words in a launch; the next one is a fault.
const MAX_SUSPECTS: usize = 1 << 20;

/// Suspect words of a launch, by the line of their faults.
#[derive(Clone, Debug, Default)]
pub struct Suspects {
    lines: Vec<SuspectLine>,
    /// Number of words that were added.
    added: usize,
}

/// Suspect words of one line, with the first one's fault.
#[derive(Clone, Debug)]
struct SuspectLine {
    fault: Fault,
    words: FxHashSet<WordRead>,
}

/// A launch that a fault ended.
#[derive(Clone, Debug)]
pub struct StoppedLaunch {
    /// The fault.
    pub fault: Fault,
    /// Suspect words that were read before it.
    pub suspects: Suspects,
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
        self.added += 1;
        if self.added > MAX_SUSPECTS {
            fault.raise();
        }
        match self.lines.iter_mut().find(|it| it.fault.line == fault.line) {
            Some(line) => _ = line.words.insert(word),
            None => self.lines.push(SuspectLine { fault, words: [word].into_iter().collect() }),
        }
    }

    /// Returns the fault of the first word.
    pub fn first(&self) -> Option<&Fault> {
        self.lines.first().map(|it| &it.fault)
    }

    /// Returns the suspects of each line, in the order of their first words.
    pub fn of_each_line(&self) -> impl Iterator<Item = Self> {
        self.lines.iter().map(|it| Self { added: it.words.len(), lines: vec![it.clone()] })
    }

    /// Returns the words with a value to replace them.
    pub fn replaced_by(&self, value: u32) -> Replacement {
        let words = self.lines.iter().flat_map(|it| it.words.iter().copied()).collect();
        Replacement { words, value }
    }
}
