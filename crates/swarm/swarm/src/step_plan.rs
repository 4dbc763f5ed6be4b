//! Plan of a call that runs a step, whole or as a range of frames; alike for both swarms.

use std::ops::Range;

use gbxcule_gameboy::Step;

use crate::{SwarmConfig, SwarmError};

/// A range of a step's frames, for callers that read machines between frames. The ranges of a step
/// in their order leave what the whole step leaves; the last range runs the programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameRange {
    /// Range of frames, counted from the beginning of the step.
    pub frames: Range<u32>,
    /// Draw the last of them, also if no program looks at it.
    pub draw_last: bool,
}

/// The frames that one call runs and how, alike for every env.
#[derive(Debug, Clone, Copy)]
pub struct StepPlan {
    pub(crate) frames: u32,
    /// Number of the step's frames that ran before.
    pub(crate) first_frame: u32,
    pub(crate) draw_last: bool,
    /// Draw every frame: any of them may be the last.
    pub(crate) draw_each: bool,
    /// Frames of the whole step.
    pub(crate) step_frames: u32,
    /// True if a picture of the step is needed.
    pub(crate) is_picture_needed: bool,
    /// No button is pressed, whatever actions and manual buttons are.
    pub(crate) is_idle: bool,
    pub(crate) seed: u64,
    /// Run the programs after the range.
    pub(crate) computes: bool,
}

impl FrameRange {
    /// All frames of a step.
    pub(crate) fn whole(config: &SwarmConfig) -> Self {
        Self { frames: 0..config.schedule.frames_per_step(), draw_last: config.draw_last }
    }

    /// Draws the last frame if `draw_last` says so, or if it was drawn before.
    pub(crate) fn drawn(self, draw_last: bool) -> Self {
        Self { draw_last: self.draw_last || draw_last, ..self }
    }

    pub(crate) fn plan(&self, config: &SwarmConfig, seed: u64) -> Result<StepPlan, SwarmError> {
        let (of, Range { start, end }) = (config.schedule.frames_per_step(), self.frames.clone());
        if start >= end || end > of {
            return Err(SwarmError::BadFrameRange { start, end, of });
        }
        let computes = end == of;
        let draw_last = self.draw_last || computes && config.looks_at_pixels();
        let programs = &config.programs;
        let is_picture_needed = self.draw_last || config.draws();
        Ok(StepPlan {
            frames: end - start,
            first_frame: start,
            draw_last,
            draw_each: is_picture_needed && programs.can_end_steps_early(),
            step_frames: of,
            is_picture_needed,
            is_idle: false,
            seed,
            computes,
        })
    }
}

impl StepPlan {
    /// Divides the plan before the step's last frame, and draws the frame before it too, for
    /// pictures of both. A part without frames is `None`.
    pub(crate) fn before_last_frame(self) -> [Option<Self>; 2] {
        let last = self.step_frames - 1;
        let (start, end) = (self.first_frame, self.first_frame + self.frames);
        let before = Self {
            frames: end.min(last).saturating_sub(start),
            draw_last: end >= last,
            computes: false,
            ..self
        };
        let after = Self { frames: u32::from(end > last), first_frame: last, ..self };
        [before, after].map(|part| (part.frames > 0).then_some(part))
    }

    /// Returns frames of this range, counted from its first. A machine with a cable draws its own
    /// frames that begin in them, because its frames end at other times than the pair's. So
    /// the last picture that is complete at the step's end began two frames before that end, or
    /// three, because frames with the LCD off may last for two. In a step of one frame all frames
    /// are drawn.
    pub(crate) fn frames_drawn_in_pairs(&self) -> Range<u32> {
        if self.draw_last && !self.computes {
            return 0..self.frames;
        }
        let drawn = match self.step_frames {
            _ if !self.is_picture_needed => 0..0,
            1 => 0..1,
            step_frames => step_frames.saturating_sub(3)..step_frames - 1,
        };
        let back = |frame: u32| frame.saturating_sub(self.first_frame);
        back(drawn.start)..back(drawn.end)
    }

    /// Returns the part of the plan that one machine runs, with buttons held for so many frames of
    /// the step.
    pub(crate) fn step(&self, frames_held: u32) -> Step {
        let release_after = frames_held.saturating_sub(self.first_frame);
        Step { frames: self.frames, release_after, draw_last: self.draw_last }
    }
}
