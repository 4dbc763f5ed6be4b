//! The limit on work that is asked of a device before it is waited for, so that a new request does
//! not wait long. `session` asks after each piece of a step, and reports how long waiting took.
//! This module reads no clock.

use std::time::Duration;

/// A device is waited for after so many pieces, or after less if they take this long.
const MOST_PIECES: u32 = 64;
const LONGEST: Duration = Duration::from_millis(50);

/// Pieces asked for since the device was waited for.
#[derive(Debug, Default)]
pub(crate) struct QueuedPieces {
    pieces: u32,
    /// The time that asking took.
    busy: Duration,
    /// Time of one piece, measured when the device was last waited for; zero before that.
    piece_took: Duration,
}

impl QueuedPieces {
    /// A piece was asked for, which took so long; says whether to wait now.
    pub(crate) fn ask(&mut self, took: Duration) -> bool {
        self.pieces += 1;
        self.busy += took;
        let is_first = self.piece_took.is_zero();
        is_first || self.pieces >= MOST_PIECES || self.piece_took * self.pieces >= LONGEST
    }

    /// Returns true if there is work to wait for.
    pub(crate) fn is_waiting(&self) -> bool {
        self.pieces > 0
    }

    /// The device was waited for, which took so long.
    pub(crate) fn settle(&mut self, waited: Duration) {
        if self.is_waiting() {
            let piece_took = (self.busy + waited) / self.pieces;
            *self = Self { piece_took, ..Self::default() };
        }
    }

    pub(crate) fn piece_took(&self) -> Duration {
        self.piece_took
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    const US: Duration = Duration::from_micros(1);

    /// Pieces until it says to wait, each of which takes so long to ask for.
    fn asked(ahead: &mut QueuedPieces, took: Duration) -> u32 {
        (1..).find(|_| ahead.ask(took)).unwrap_or_default()
    }

    #[test]
    fn the_first_piece_is_waited_for_because_nobody_knows_what_one_takes() {
        let mut ahead = QueuedPieces::default();
        assert!(!ahead.is_waiting());
        assert!(ahead.ask(US) && ahead.is_waiting());
        ahead.settle(9 * US);
        assert_eq!((ahead.is_waiting(), ahead.piece_took()), (false, 10 * US));
    }

    #[test]
    fn short_pieces_are_waited_for_after_64_and_long_ones_when_50_ms_are_out() {
        for (piece, pieces) in
            [(US, 64), (MS / 2, 64), (MS, 50), (7 * MS, 8), (50 * MS, 1), (9000 * MS, 1)]
        {
            let mut ahead = QueuedPieces::default();
            ahead.ask(Duration::ZERO);
            ahead.settle(piece);
            for _ in 0..3 {
                // Asking is quick, the work is done while the session waits.
                assert_eq!(asked(&mut ahead, Duration::ZERO), pieces, "{piece:?}");
                ahead.settle(piece * pieces);
                assert_eq!(ahead.piece_took(), piece);
            }
        }
    }

    #[test]
    fn where_asking_does_the_work_it_counts() {
        let mut ahead = QueuedPieces::default();
        ahead.ask(5 * MS);
        ahead.settle(Duration::ZERO);
        assert_eq!((asked(&mut ahead, 5 * MS), ahead.piece_took()), (10, 5 * MS));
    }

    #[test]
    fn a_slower_swarm_is_noticed_at_the_next_wait() {
        let mut ahead = QueuedPieces::default();
        ahead.ask(US);
        ahead.settle(Duration::ZERO);
        assert_eq!(asked(&mut ahead, US), 64);
        ahead.settle(640 * MS);
        assert_eq!(asked(&mut ahead, US), 5);
    }

    #[test]
    fn waiting_for_nothing_changes_nothing() {
        let mut ahead = QueuedPieces::default();
        ahead.ask(MS);
        ahead.settle(MS);
        ahead.settle(900 * MS);
        assert_eq!(ahead.piece_took(), 2 * MS);
    }
}
