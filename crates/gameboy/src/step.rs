//! A step: some frames under one action, as swarms run them on every device.

use crate::machine::Machine;

/// How long a step lasts and what of it is drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Frames that it runs.
    pub frames: u32,
    /// Frames after which the buttons are released; with 0 they are not pressed at all.
    pub release_after: u32,
    /// Draw the last frame; the others are never drawn.
    pub draw_last: bool,
}

impl Machine {
    /// Holds the buttons for the first frames of a step and nothing for the rest; gives the
    /// M-cycles that it took.
    pub fn run_step(&mut self, rom: &[u8], cart_ram: &mut [u8], buttons: u8, step: Step) -> u32 {
        let start = self.now;
        self.set_buttons(if step.release_after == 0 { 0 } else { buttons });
        for frame in 0..step.frames {
            if frame == step.release_after {
                self.set_buttons(0);
            }
            self.run_frame(rom, cart_ram, step.draw_last && frame + 1 == step.frames);
        }
        self.now.wrapping_sub(start)
    }
}
