//! Functions by which the kernels of a swarm run a machine: what
//! `swarm/src/kernel_source/kernels.py` calls besides the functions of `view`. Arguments are
//! numbers, as that text has no others.

use crate::machine::Machine;
use crate::step::Step;
use crate::view::StepNumbers;

/// Runs frames of a step; returns the M-cycles that they took.
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

/// The machine's time in M-cycles of four T-cycles.
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

/// Writes that a program has asked for, also those that found no room.
pub fn writes_asked(writes: &[u32]) -> u32 {
    writes[0]
}

/// Does the writes that a program asked for, in their order.
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
