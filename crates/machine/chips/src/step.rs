//! A step: some frames under one action, as swarms run them on every device.

/// Length of a step, its release, and its drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Number of frames.
    pub frames: u32,
    /// Frames after which the buttons are released; with 0 they are not pressed at all.
    pub release_after: u32,
    /// True if the last frame is drawn; all other frames are never drawn.
    pub draw_last: bool,
}

/// Returns the buttons that are held in a frame of a step: the action's buttons in the first
/// frames, then none.
#[inline(always)]
pub fn buttons_in_frame(buttons: u8, release_after: u32, frame: u32) -> u8 {
    if frame < release_after { buttons } else { 0 }
}
