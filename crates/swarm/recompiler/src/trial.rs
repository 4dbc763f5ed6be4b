//! Measurement of frames with and without blocks; blocks are used only where they are faster.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// Number of pairs of frames that decide.
const PAIRS: u32 = 63;

/// The measurement goes on.
const RUNNING: u8 = 0;
const WON: u8 = 1;
const LOST: u8 = 2;

/// Comparison of frames in pairs: one frame with blocks, one without, one directly after the other.
/// The variant that won more pairs is used until there are new blocks.
#[derive(Debug, Default)]
pub(crate) struct Trial {
    state: AtomicU8,
    pairs: AtomicU32,
    won: AtomicU32,
}

impl Trial {
    /// Begins anew.
    pub(crate) fn restart(&self) {
        self.pairs.store(0, Ordering::Relaxed);
        self.won.store(0, Ordering::Relaxed);
        self.state.store(RUNNING, Ordering::Relaxed);
    }

    pub(crate) fn is_running(&self) -> bool {
        self.state.load(Ordering::Relaxed) == RUNNING
    }

    pub(crate) fn is_won(&self) -> bool {
        self.state.load(Ordering::Relaxed) == WON
    }

    /// Returns true if the next frame runs with blocks. In every second pair the first frame does.
    pub(crate) fn are_blocks_next(&self, is_second: bool) -> bool {
        (self.pairs.load(Ordering::Relaxed) & 1 == 0) != is_second
    }

    /// Records the times of a pair.
    pub(crate) fn note(&self, blocks: u64, interpreter: u64) {
        let won = self.won.fetch_add(u32::from(blocks < interpreter), Ordering::Relaxed)
            + u32::from(blocks < interpreter);
        if self.pairs.fetch_add(1, Ordering::Relaxed) + 1 == PAIRS {
            let state = if won * 2 > PAIRS { WON } else { LOST };
            self.state.store(state, Ordering::Relaxed);
        }
    }
}
