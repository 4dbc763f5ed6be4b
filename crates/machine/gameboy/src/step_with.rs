//! A step whose frames the caller runs, for blocks and for sound; a frame in which buttons change.
//! Host side: not translated.

use crate::machine::{Machine, earlier, is_before};
use crate::step::{Step, buttons_in_frame};

/// Lines of a frame.
const LINES: u32 = 154;

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

/// Runs a frame like `Machine::run_frame`, in which the buttons change as this line of the 154
/// begins, for programs that take chance from LY. They change at most an instruction later, and
/// at the frame's end if it is shorter.
pub fn run_frame_pressing_at(
    machine: &mut Machine,
    rom: &[u8],
    cart_ram: &mut [u8],
    draw: bool,
    (line, buttons): (u8, u8),
) {
    machine.begin_frame(draw);
    let press = machine.now.wrapping_add(machine.frame_mcycles() / LINES * u32::from(line));
    while !machine.frame_done && is_before(machine.now, press) {
        // A halted CPU waits for a chip's deadline. The port may be synced at any time.
        machine.serial.deadline = earlier(machine.serial.deadline, press);
        machine.run_instruction(rom, cart_ram);
    }
    machine.set_buttons(buttons);
    while !machine.frame_done {
        machine.run_instruction(rom, cart_ram);
    }
}
