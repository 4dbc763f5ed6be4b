//! Steps that can be interrupted: they run in ranges of frames, each about a tenth of a second.

use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::swarm::SwarmOf;
use crate::{FrameRange, LinkMode, SwarmError};

/// Time between two calls of `go_on`: as long as a caller may wait for a step to stop.
const TIME_BETWEEN_ASKS: Duration = Duration::from_millis(100);

/// The buttons that a step presses.
#[derive(Debug, Clone, Copy)]
pub enum Pressed<'a> {
    /// An action for each env.
    Actions(&'a [u8]),
    /// An action for each env, which only the marked ones press; all others rest, as in
    /// [`crate::Swarm::step_frames_masked`].
    Masked {
        /// An action for each env.
        actions: &'a [u8],
        /// The envs that do not rest.
        mask: &'a [bool],
    },
    /// No button, not even a manual one.
    Nothing,
}

/// Measured time of a frame. It decides how many frames run between two calls of `go_on`, and
/// changes nothing of what a step computes.
#[derive(Debug, Default)]
pub(crate) struct FrameTime {
    /// The time of one frame of all envs, as last measured.
    frame: Option<Duration>,
}

impl FrameTime {
    /// Frames to run before asking again.
    fn frames(&self) -> u32 {
        let frame = self.frame.map(|frame| frame.as_nanos().max(1));
        let frames = frame.map_or(1, |frame| TIME_BETWEEN_ASKS.as_nanos() / frame);
        u32::try_from(frames).unwrap_or(u32::MAX).max(1)
    }

    fn note(&mut self, frames: u32, took: Duration) {
        self.frame = Some(took / frames);
    }
}

impl<E: Engine + ?Sized> SwarmOf<E> {
    /// Runs a step, calls `go_on` several times a second, and stops when it returns false. Returns
    /// true if the step finished. If it did not, its first frames have run; hooks and `settled`
    /// were called in them, `reward`, `done` and `observe` were not. On a device, where steps are
    /// only queued, `go_on` is never called and the result is always true. `draw_last` draws the
    /// last frame, even if the configuration does not ask for it.
    ///
    /// # Errors
    /// As in [`Self::step`].
    pub fn step_while(
        &mut self,
        pressed: Pressed<'_>,
        draw_last: bool,
        go_on: &mut dyn FnMut() -> bool,
    ) -> Result<bool, SwarmError> {
        let FrameRange { frames, draw_last } = FrameRange::whole(self.config()).drawn(draw_last);
        let mut first = frames.start;
        while first < frames.end {
            if first > frames.start && !go_on() {
                return Ok(false);
            }
            let count = self.state().frame_time.as_ref().map_or(u32::MAX, FrameTime::frames);
            let end = first.saturating_add(count).min(frames.end);
            // Only the last frame of a step is looked at; with a cable it may have begun before.
            let is_last = end == frames.end || self.config().link == LinkMode::Pairs;
            let range = FrameRange { frames: first..end, draw_last: draw_last && is_last };
            let begun = Instant::now();
            match pressed {
                Pressed::Actions(actions) => self.step_frames(actions, &range)?,
                Pressed::Masked { actions, mask } => {
                    self.step_frames_masked(actions, mask, &range)?;
                }
                Pressed::Nothing => self.step_frames_without_buttons(&range)?,
            }
            if let Some(frame_time) = &mut self.state_mut().frame_time {
                frame_time.note(end - first, begun.elapsed());
            }
            first = end;
        }
        Ok(true)
    }
}
