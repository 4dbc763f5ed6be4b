//! Steps run whole or in pieces: what both swarms tell their machines of the frames that they run.

use std::ops::Range;

use gbxcule_gameboy::Step;

use crate::{SwarmConfig, SwarmError};

/// Some frames of a step, for whoever looks in between. All pieces of a step, one after the other, do what the step
/// does; the last of them runs the programs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// Which frames, counted from the step's begin.
    pub frames: Range<u32>,
    /// Draw the last of them, also if no program looks at it.
    pub draw_last: bool,
}

/// What one call runs, the same for every env.
#[derive(Debug, Clone, Copy)]
pub(crate) struct StepPlan {
    /// For envs without hands on their buttons.
    pub(crate) step: Step,
    pub(crate) seed: u64,
    /// Run the programs behind it.
    pub(crate) computes: bool,
}

impl Piece {
    /// All frames of a step.
    pub(crate) fn whole(config: &SwarmConfig) -> Self {
        Self { frames: 0..config.schedule.frames_per_step(), draw_last: config.draw_last }
    }

    pub(crate) fn plan(&self, config: &SwarmConfig, seed: u64) -> Result<StepPlan, SwarmError> {
        let (of, Range { start, end }) = (config.schedule.frames_per_step(), self.frames.clone());
        if start >= end || end > of {
            return Err(SwarmError::BadPiece { start, end, of });
        }
        let computes = end == of;
        let step = Step {
            frames: end - start,
            release_after: config.schedule.release_after_frames().saturating_sub(start),
            draw_last: self.draw_last || computes && config.programs.look_at_frame(),
        };
        Ok(StepPlan { step, seed, computes })
    }
}
