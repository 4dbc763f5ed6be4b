//! A step whose frames the caller runs, for blocks and for sound. Host side: not translated.

use crate::machine::Machine;
use crate::step::{Step, buttons_in_frame};

impl Machine {
    /// Runs a step like `Machine::run_step`, but runs frames by `run_frame`, which gets the machine
    /// and a flag that is true if the frame is drawn. Both functions have the same loop: a change
    /// of one belongs in the other, and `tests/step.rs` compares them.
    pub fn run_step_with(
        &mut self,
        buttons: u8,
        step: Step,
        mut run_frame: impl FnMut(&mut Self, bool),
    ) -> u32 {
        let start = self.mcycles_at_single_speed();
        self.set_buttons(buttons_in_frame(buttons, step.release_after, 0));
        for frame in 0..step.frames {
            if frame == step.release_after {
                self.set_buttons(0);
            }
            run_frame(self, step.draw_last && frame + 1 == step.frames);
        }
        self.mcycles_at_single_speed().wrapping_sub(start)
    }
}
