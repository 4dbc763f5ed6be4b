//! Limit on the work that is queued on a device, so that a new request does not wait long. After
//! each piece of a step `session` asks whether to wait for the device, and reports the time of the
//! wait. This module reads no clock.

use std::time::Duration;

/// Number of pieces, and time, after which the session waits for the device.
const MAX_PIECES: u32 = 64;
const MAX_TIME: Duration = Duration::from_millis(50);

/// Pieces that were queued since the last wait for the device.
#[derive(Debug, Default)]
pub(crate) struct QueuedPieces {
    pieces: u32,
    /// Time that queueing took.
    busy: Duration,
    /// Time of one piece, measured by the last wait for the device; zero before the first wait.
    piece_took: Duration,
}

impl QueuedPieces {
    /// Counts a piece that took `took` to queue; returns true if it is time to wait.
    pub(crate) fn must_wait_after(&mut self, took: Duration) -> bool {
        self.pieces += 1;
        self.busy += took;
        let is_first = self.piece_took.is_zero();
        is_first || self.pieces >= MAX_PIECES || self.piece_took * self.pieces >= MAX_TIME
    }

    /// Returns true if there is work to wait for.
    pub(crate) fn is_waiting(&self) -> bool {
        self.pieces > 0
    }

    /// Records a wait for the device, and its time.
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

    /// Returns the number of pieces until it is time to wait, if each takes `took` to queue.
    fn asked(queue: &mut QueuedPieces, took: Duration) -> u32 {
        (1..).find(|_| queue.must_wait_after(took)).unwrap_or_default()
    }

    #[test]
    fn the_first_piece_is_waited_for_because_nobody_knows_what_one_takes() {
        let mut queue = QueuedPieces::default();
        assert!(!queue.is_waiting());
        assert!(queue.must_wait_after(US) && queue.is_waiting());
        queue.settle(9 * US);
        assert_eq!((queue.is_waiting(), queue.piece_took()), (false, 10 * US));
    }

    #[test]
    fn short_pieces_are_waited_for_after_64_and_long_ones_when_50_ms_are_out() {
        for (piece, pieces) in
            [(US, 64), (MS / 2, 64), (MS, 50), (7 * MS, 8), (50 * MS, 1), (9000 * MS, 1)]
        {
            let mut queue = QueuedPieces::default();
            queue.must_wait_after(Duration::ZERO);
            queue.settle(piece);
            for _ in 0..3 {
                // Queueing is quick, and the work is done while the session waits.
                assert_eq!(asked(&mut queue, Duration::ZERO), pieces, "{piece:?}");
                queue.settle(piece * pieces);
                assert_eq!(queue.piece_took(), piece);
            }
        }
    }

    #[test]
    fn work_that_is_done_while_it_is_queued_counts() {
        let mut queue = QueuedPieces::default();
        queue.must_wait_after(5 * MS);
        queue.settle(Duration::ZERO);
        assert_eq!((asked(&mut queue, 5 * MS), queue.piece_took()), (10, 5 * MS));
    }

    #[test]
    fn a_slower_swarm_is_noticed_at_the_next_wait() {
        let mut queue = QueuedPieces::default();
        queue.must_wait_after(US);
        queue.settle(Duration::ZERO);
        assert_eq!(asked(&mut queue, US), 64);
        queue.settle(640 * MS);
        assert_eq!(asked(&mut queue, US), 5);
    }

    #[test]
    fn waiting_for_nothing_changes_nothing() {
        let mut queue = QueuedPieces::default();
        queue.must_wait_after(MS);
        queue.settle(MS);
        queue.settle(900 * MS);
        assert_eq!(queue.piece_took(), 2 * MS);
    }
}
