//! Steps of pairs of envs with a cable between them.

use gbxcule_link::pair::{self as original, PairMember, PairStep, pair_ahead, pair_tcycles};
use gbxcule_link::{FRAME_TCYCLES, LEAD_TCYCLES};
use gbxcule_link_color::pair as color;

use super::Shard;
use crate::step_plan::StepPlan;
use crate::{AnyMachine, Counters};

/// Maximum of T-cycles by which a machine can run past the end of a frame. A change of speed is the
/// longest pause of a CPU.
const MAX_AHEAD_TCYCLES: i64 = 100_000;

impl Shard {
    /// Runs frames of the envs `first` and `first + 1`.
    pub(super) fn run_pair(&mut self, first: usize, plan: StepPlan) {
        let members = [first, first + 1].map(|slot| {
            let (buttons, frames_held) = self.pressed(slot, plan);
            let release_after = frames_held.saturating_sub(plan.first_frame);
            PairMember { buttons, release_after, ahead: ahead(self.counters[slot]) }
        });
        let std::ops::Range { start: draw_from, end: draw_until } = plan.frames_drawn_in_pairs();
        let mut step = PairStep { members, frames: plan.frames, draw_from, draw_until };
        let ram_bytes = self.rom.cart_ram_bytes();
        let cart_ram = &mut self.cart_ram[first * ram_bytes..][..2 * ram_bytes];
        let (ram, others_ram) = cart_ram.split_at_mut(ram_bytes);
        let rom = self.rom.bytes();
        let [one, other] = &mut self.machines[first..first + 2] else {
            unreachable!("pairs have a neighbour")
        };
        match (one, other) {
            (AnyMachine::Original(one), AnyMachine::Original(other)) => {
                original::run_pair_frames(one, other, rom, ram, others_ram, &mut step);
            }
            (AnyMachine::Color(one), AnyMachine::Color(other)) => {
                let mut of_color = color_step(step);
                color::run_pair_frames(one, other, rom, ram, others_ram, &mut of_color);
                for (member, of_color) in step.members.iter_mut().zip(of_color.members) {
                    member.ahead = of_color.ahead;
                }
            }
            _ => unreachable!("all machines of a swarm are of one model"),
        }
        let counters = self.counters[first..first + 2].iter_mut();
        for ((counters, member), reached) in counters.zip(members).zip(step.members) {
            counters.frames += u64::from(plan.frames);
            let (before, after) = (member.ahead, reached.ahead);
            counters.tcycles = pair_tcycles(counters.tcycles, plan.frames, before, after);
        }
    }
}

/// Converts the step to the Color's types.
fn color_step(step: PairStep) -> color::PairStep {
    let PairStep { members, frames, draw_from, draw_until } = step;
    let members = members.map(|PairMember { buttons, release_after, ahead }| color::PairMember {
        buttons,
        release_after,
        ahead,
    });
    color::PairStep { members, frames, draw_from, draw_until }
}

/// Returns counters for an env that joins a pair. Counters that can't occur in a pair, such as
/// those of an env without a cable, are replaced.
pub(crate) fn joined(counters: Counters) -> Counters {
    let ahead = pair_ahead(counters.frames, counters.tcycles);
    if (-i64::from(LEAD_TCYCLES)..MAX_AHEAD_TCYCLES).contains(&ahead) {
        return counters;
    }
    Counters { tcycles: counters.frames.wrapping_mul(u64::from(FRAME_TCYCLES)), ..counters }
}

fn ahead(counters: Counters) -> i32 {
    // `joined` keeps the difference in this range.
    pair_ahead(counters.frames, counters.tcycles) as i32
}
