//! Length of a step, and the frames for which an action is held that has no number of its own.

use crate::SwarmError;

/// Maximum of frames in a step: some five hours of a machine's time.
const MAX_FRAMES_PER_STEP: u32 = 1 << 20;

/// Frames of a step. The action is pressed for the first frames, then released.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Schedule {
    frames_per_step: u32,
    release_after_frames: u32,
}

impl Schedule {
    /// Makes a step of `frames_per_step` frames whose action is released after
    /// `release_after_frames`.
    ///
    /// With `release_after_frames >= frames_per_step` the action is held through the step, and
    /// without a release into the next step if that step presses it again.
    ///
    /// # Errors
    /// Either number is 0, or the step has more frames than the limit.
    pub fn new(frames_per_step: u32, release_after_frames: u32) -> Result<Self, SwarmError> {
        if frames_per_step == 0 || release_after_frames == 0 {
            return Err(SwarmError::EmptySchedule { frames_per_step, release_after_frames });
        }
        if frames_per_step > MAX_FRAMES_PER_STEP {
            return Err(SwarmError::LongStep { frames_per_step, most: MAX_FRAMES_PER_STEP });
        }
        Ok(Self { frames_per_step, release_after_frames })
    }

    /// Frames that one step runs.
    pub fn frames_per_step(self) -> u32 {
        self.frames_per_step
    }

    /// Frames for which an action is held, unless the action states a number.
    pub fn release_after_frames(self) -> u32 {
        self.release_after_frames
    }
}

impl Default for Schedule {
    /// 24 frames with a release after 8, as is common in Game Boy RL.
    fn default() -> Self {
        Self { frames_per_step: 24, release_after_frames: 8 }
    }
}
