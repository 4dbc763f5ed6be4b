//! The frames of a step for hosts that run frames in ways of their own: by blocks, or with an ear
//! to the machine. Host side: not translated.

use crate::machine::Machine;
use crate::step::Step;

impl Step {
    /// Does what `Machine::run_step` does, with `run_frame` for `Machine::run_frame`: it gets the
    /// machine and whether to draw.
    pub fn run_by(
        self,
        machine: &mut Machine,
        buttons: u8,
        mut run_frame: impl FnMut(&mut Machine, bool),
    ) -> u32 {
        let start = machine.now;
        machine.set_buttons(if self.release_after == 0 { 0 } else { buttons });
        for frame in 0..self.frames {
            if frame == self.release_after {
                machine.set_buttons(0);
            }
            run_frame(machine, self.draw_last && frame + 1 == self.frames);
        }
        machine.now.wrapping_sub(start)
    }
}
