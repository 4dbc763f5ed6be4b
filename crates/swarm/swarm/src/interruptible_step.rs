//! Steps that can be interrupted: they run in ranges of frames, each about a tenth of a second.

use std::time::{Duration, Instant};

use crate::engine::Engine;
use crate::swarm::SwarmOf;
use crate::{FrameRange, LinkMode, SwarmError};

/// Time between two calls of `go_on`, which is the time that a caller may wait for a step to stop.
const TIME_BETWEEN_ASKS: Duration = Duration::from_millis(100);

/// The buttons that a step presses.
#[derive(Debug, Clone, Copy)]
pub enum Pressed<'a> {
    /// An action for each env.
    Actions(&'a [u8]),
    /// An action for each env. Only marked envs press theirs; all others rest, as in
    /// [`crate::Swarm::step_frames_masked`].
    Masked {
        /// An action for each env.
        actions: &'a [u8],
        /// The envs that do not rest.
        mask: &'a [bool],
    },
    /// No button, not even manual buttons.
    Nothing,
}

/// Measured time of a frame. It decides how many frames run between two calls of `go_on`; results
/// do not depend on it.
#[derive(Debug, Default)]
pub(crate) struct FrameTime {
    /// The time of one frame of all envs, as last measured.
    frame: Option<Duration>,
}

impl FrameTime {
    /// Number of frames to run before the next call of `go_on`.
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
    /// Runs a step, calls `go_on` several times a second, and stops when `go_on` returns false.
    /// Returns true if the step finished. If it did not, its first frames have run with their calls
    /// of hooks and `settled`, but `reward`, `done` and `observe` were not called. On a device,
    /// where steps are queued, `go_on` is never called and the result is always true. With
    /// `draw_last` the last frame is drawn even if the configuration does not ask for it.
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
            // Only the last frame of a step is shown; with a cable that frame may have begun before
            // this range.
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
