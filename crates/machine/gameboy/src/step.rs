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

/// Returns the buttons that are held in a frame of a step: the action's, in the first frames.
#[inline(always)]
pub fn buttons_in_frame(buttons: u8, release_after: u32, frame: u32) -> u8 {
    if frame < release_after { buttons } else { 0 }
}
