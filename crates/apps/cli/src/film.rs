//! Choice of a film's frames, and the time of each picture, for `record` and for films of episodes.

use anyhow::ensure;

/// T-cycles of a frame, and of a second.
pub(crate) const FRAME_TCYCLES: u32 = 70_224;
pub(crate) const TCYCLES_PER_S: u32 = 4_194_304;
/// Frames a second of a real machine.
pub(crate) const REAL_FRAMES_PER_S: f64 = TCYCLES_PER_S as f64 / FRAME_TCYCLES as f64;

/// Counter of a film's frames; a picture follows each `every` frames.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilmClock {
    every: u32,
    frames: u32,
}

impl FilmClock {
    pub(crate) fn new(every: u32) -> Self {
        Self { every, frames: 0 }
    }

    /// Returns the number of frames until the next picture.
    pub(crate) fn frames_to_picture(&self) -> u32 {
        self.every - self.frames % self.every
    }

    /// Counts frames that ran. If a picture follows them, returns the second in which the picture
    /// appears; the first one appears at once.
    pub(crate) fn add(&mut self, frames: u32) -> Option<f64> {
        self.frames += frames;
        self.frames.is_multiple_of(self.every).then(|| second(self.frames - self.every))
    }

    /// Returns true before the first picture.
    pub(crate) fn is_before_first_picture(&self) -> bool {
        self.frames < self.every
    }

    /// Returns the second in which the film ends.
    pub(crate) fn end_s(&self) -> f64 {
        second(self.frames)
    }
}

fn second(frames: u32) -> f64 {
    f64::from(frames) / REAL_FRAMES_PER_S
}

/// Checks that a GIF can show one in `every` frames.
pub(crate) fn check_gif_rate(every: u32) -> anyhow::Result<()> {
    ensure!(
        every > 1,
        "a GIF shows 50 pictures a second at most; show one in 2 frames (--every 2), or make an .mp4"
    );
    Ok(())
}
