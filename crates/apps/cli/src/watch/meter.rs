//! Measures the frames a second of all machines together.

use std::time::{Duration, Instant};

/// Time over which frames are counted.
const WINDOW: Duration = Duration::from_millis(500);

/// Number of frames, and the time at which the count began.
#[derive(Debug)]
pub(crate) struct Meter {
    since: Instant,
    frames: u64,
    rate: f64,
}

impl Default for Meter {
    fn default() -> Self {
        Self { since: Instant::now(), frames: 0, rate: 0.0 }
    }
}

impl Meter {
    pub(crate) fn count(&mut self, frames: u64) {
        self.frames += frames;
        let time = self.since.elapsed();
        if time >= WINDOW {
            self.rate = self.frames as f64 / time.as_secs_f64();
            (self.since, self.frames) = (Instant::now(), 0);
        }
    }

    /// Returns the frames a second; 0 in the first moments.
    pub(crate) fn rate(&self) -> f64 {
        self.rate
    }
}
