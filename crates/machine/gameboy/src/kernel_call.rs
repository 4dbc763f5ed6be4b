//! Functions by which the kernels of a swarm run a machine. `swarm/src/kernel_source/kernels.py`
//! calls them, and the functions of `view`. Arguments are numbers, because that text has no other
//! values.

use crate::link::{FRAME_TCYCLES, LEAD_TCYCLES, Link};
use crate::machine::Machine;
use crate::step::{Step, buttons_in_frame};
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

/// A step of one machine of a pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct PairMember {
    /// Buttons that are held for the first frames.
    pub buttons: u8,
    /// Frames after which the buttons are released; with 0 they are not pressed at all.
    pub release_after: u32,
    /// T-cycles by which the machine is beyond the end of the pair's last frame.
    pub ahead: i32,
}

/// Frames of a pair's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct PairStep {
    /// Each machine's part.
    pub members: [PairMember; 2],
    /// Frames to run.
    pub frames: u32,
    /// The first frame that is drawn.
    pub draw_from: u32,
    /// The first frame after it that is not drawn.
    pub draw_until: u32,
}

/// Runs frames of a pair of machines with a cable between them.
pub fn run_pair_frames(
    one: &mut Machine,
    other: &mut Machine,
    rom: &[u8],
    one_ram: &mut [u8],
    other_ram: &mut [u8],
    step: &mut PairStep,
) {
    let mut link = Link::new(one, other, [step.members[0].ahead, step.members[1].ahead]);
    for frame in 0..step.frames {
        press(one, step.members[0], frame);
        press(other, step.members[1], frame);
        link.draw = frame >= step.draw_from && frame < step.draw_until;
        link.run_frame(one, other, rom, one_ram, other_ram);
    }
    link.sync_for_observers(one, other);
    let ahead = link.ahead(one, other);
    step.members[0].ahead = ahead[0];
    step.members[1].ahead = ahead[1];
}

/// T-cycles by which a machine of a pair is beyond the end of its last frame, computed from its
/// counters since the reset. The first frame is longer by `LEAD_TCYCLES`.
pub fn pair_ahead(frames: u64, tcycles: u64) -> i64 {
    let ended = frames.wrapping_mul(FRAME_TCYCLES as u64);
    (tcycles.wrapping_sub(ended) as i64).wrapping_sub(LEAD_TCYCLES as i64)
}

/// Returns the counter of T-cycles after some frames of a pair. The machine was `before` T-cycles
/// ahead at their beginning, and `after` at their end.
pub fn pair_tcycles(tcycles: u64, frames: u32, before: i32, after: i32) -> u64 {
    let passed = (frames as u64).wrapping_mul(FRAME_TCYCLES as u64);
    tcycles.wrapping_add(passed).wrapping_add((after - before) as i64 as u64)
}

/// Presses or releases buttons at the start of a frame.
fn press(machine: &mut Machine, member: PairMember, frame: u32) {
    if frame == 0 || frame == member.release_after {
        machine.set_buttons(buttons_in_frame(member.buttons, member.release_after, frame));
    }
}
