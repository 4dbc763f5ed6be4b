//! Times frames with blocks and without; blocks are used only where they win.

use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

/// Pairs of frames that decide.
const PAIRS: u32 = 63;

/// Neither way was found to be faster yet.
const RUNNING: u8 = 0;
const WON: u8 = 1;
const LOST: u8 = 2;

/// Frames are compared in pairs, one with blocks and one without, next to each other; the way that
/// won more pairs is used until there are new blocks.
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

    /// Says which way is next: the first frame of a pair has blocks in every second pair.
    pub(crate) fn are_blocks_next(&self, is_second: bool) -> bool {
        (self.pairs.load(Ordering::Relaxed) & 1 == 0) != is_second
    }

    /// Notes the times of a pair.
    pub(crate) fn note(&self, blocks: u64, interpreter: u64) {
        let won = self.won.fetch_add(u32::from(blocks < interpreter), Ordering::Relaxed)
            + u32::from(blocks < interpreter);
        if self.pairs.fetch_add(1, Ordering::Relaxed) + 1 == PAIRS {
            let state = if won * 2 > PAIRS { WON } else { LOST };
            self.state.store(state, Ordering::Relaxed);
        }
    }
}
