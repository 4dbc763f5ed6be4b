//! Plan of a call that runs a step or a range of its frames, on either engine.

use std::ops::Range;

use gbxcule_gameboy::Step;

use crate::{SwarmConfig, SwarmError};

/// A range of a step's frames, for callers that read machines between frames. All ranges of a step,
/// in order, have the effect of the whole step; the last range runs the programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FrameRange {
    /// Range of frames, counted from the beginning of the step.
    pub frames: Range<u32>,
    /// True if the last frame of the range is drawn even if no program reads it.
    pub draw_last: bool,
}

/// The frames that one call runs, and how they are run; equal for all envs.
#[derive(Debug, Clone, Copy)]
pub struct StepPlan {
    pub(crate) frames: u32,
    /// Number of the step's frames that ran before.
    pub(crate) first_frame: u32,
    pub(crate) draw_last: bool,
    /// True if every frame is drawn, because any frame may be the last one.
    pub(crate) draw_each: bool,
    /// Frames of the whole step.
    pub(crate) step_frames: u32,
    /// True if a picture of the step is needed.
    pub(crate) is_picture_needed: bool,
    /// True if no button is pressed, whatever actions and manual buttons say.
    pub(crate) is_idle: bool,
    pub(crate) seed: u64,
    /// True if the programs run after the range.
    pub(crate) computes: bool,
}

impl FrameRange {
    /// Makes the plan of a whole step.
    pub(crate) fn whole(config: &SwarmConfig) -> Self {
        Self { frames: 0..config.schedule.frames_per_step(), draw_last: config.draw_last }
    }

    /// Adds the drawing of the last frame if `draw_last` is true.
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
    /// Splits the plan before the step's last frame, and draws the second-to-last frame too, for
    /// pictures made from both. A part without frames is `None`.
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

    /// Returns the drawn frames, counted from the first frame of this range. The frames of a
    /// machine with a cable end at other times than the pair's frames, so the machine draws each of
    /// its frames that begins in the returned range. The last picture that is complete at the
    /// step's end began two frames before that end, or three, because a frame with the LCD off may
    /// last for two. In a step of one frame all frames are drawn.
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

    /// Returns the part of the plan that one machine runs, with buttons held for `frames_held`
    /// frames of the step.
    pub(crate) fn step(&self, frames_held: u32) -> Step {
        let release_after = frames_held.saturating_sub(self.first_frame);
        Step { frames: self.frames, release_after, draw_last: self.draw_last }
    }
}
