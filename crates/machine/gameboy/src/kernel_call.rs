//! Functions by which the kernels of a swarm run a machine. `swarm/src/kernel_source/kernels.py`
//! calls them, and the functions of `view`. Arguments are numbers, because that text has no other
//! values.

use crate::machine::Machine;
use crate::step::Step;
use crate::view::StepNumbers;

/// Runs frames of a step; returns their length in M-cycles.
pub fn run_frames(
    machine: &mut Machine,
    rom: &[u8],
    cart_ram: &mut [u8],
    buttons: u8,
    frames: u32,
    release_after: u32,
    draw_last: bool,
) -> u32 {
    machine.run_step(rom, cart_ram, buttons, Step { frames, release_after, draw_last })
}

/// The machine's time in M-cycles, as if the Color never ran at double speed.
pub fn now(machine: &Machine) -> u32 {
    machine.mcycles_at_single_speed()
}

/// Sets the numbers that programs see besides the machine.
pub fn set_step_numbers(
    step_numbers: &mut StepNumbers,
    frames: u32,
    seed: u32,
    env: u32,
    step_frames: u32,
    action: u8,
    buttons: u8,
) {
    step_numbers.frames = frames;
    step_numbers.seed = seed;
    step_numbers.env = env;
    step_numbers.step_frames = step_frames;
    step_numbers.action = action;
    step_numbers.buttons = buttons;
}

/// Number of writes that a program asked for, including writes that did not fit into `writes`.
pub fn writes_asked(writes: &[u32]) -> u32 {
    writes[0]
}

/// Executes the writes that a program asked for, in their order.
pub fn apply_writes(machine: &mut Machine, rom: &[u8], cart_ram: &mut [u8], writes: &mut [u32]) {
    let count = writes[0] as usize;
    for index in 0..count {
        let asked = writes[index + 1];
        let bank = asked >> 24;
        if bank == 0 {
            machine.poke(rom, cart_ram, (asked >> 8) as u16, asked as u8);
        } else {
            machine.poke_bank(rom, cart_ram, (bank - 1) as u16, (asked >> 8) as u16, asked as u8);
        }
    }
    writes[0] = 0;
}
