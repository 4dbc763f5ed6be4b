//! Steps of pairs, as swarms run them: `swarm/src/kernel_source/kernels.py` and the swarm's shards
//! call these functions. Arguments are numbers and structs of numbers, because kernels have no
//! other values.

use crate::link::{FRAME_TCYCLES, LEAD_TCYCLES, Link};
use crate::machine::Machine;
use crate::step::buttons_in_frame;

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
