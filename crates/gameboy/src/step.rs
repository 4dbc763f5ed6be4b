//! A step: some frames under one action, as swarms run them on every device.

/// Length of a step, and what of it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Frames that it runs.
    pub frames: u32,
    /// Frames after which the buttons are released; with 0 they are not pressed at all.
    pub release_after: u32,
    /// Draw the last frame; the others are never drawn.
    pub draw_last: bool,
}
