//! Steps of pairs of envs with a cable between them.

use gbxcule_gameboy as original;
use gbxcule_gameboy::link::{FRAME_TCYCLES, LEAD_TCYCLES};
use gbxcule_gameboy_color as color;

use super::Shard;
use crate::frame_range::StepPlan;
use crate::{AnyMachine, Counters};

/// T-cycles that a machine can be beyond the end of a frame at most: the longest pause of a CPU is
/// a change of speed.
const MOST_AHEAD_TCYCLES: i64 = 100_000;

/// An end of a cable: its buttons and for how many frames of the step they are held, and the
/// T-cycles by which it is beyond the end of the last frame.
#[derive(Clone, Copy)]
struct PairMember {
    buttons: u8,
    frames_held: u32,
    ahead: i32,
}

/// Makes a function that runs frames of a pair of machines of one model. It gives the T-cycles by
/// which each is beyond the end.
macro_rules! run_pair_of {
    ($name:ident, $model:ident) => {
        fn $name(
            rom: &[u8],
            machines: [(&mut $model::Machine, &mut [u8]); 2],
            saved_machine: &mut $model::Machine,
            held: [PairMember; 2],
            plan: StepPlan,
        ) -> [i32; 2] {
            let [one, other] = machines;
            let ends = [(one, held[0]), (other, held[1])].map(|((machine, cart_ram), held)| {
                $model::link::CableEnd::new(machine, cart_ram, held.ahead)
            });
            let mut link = $model::link::Link::new(rom, ends, saved_machine);
            for frame in plan.first_frame..plan.first_frame + plan.frames {
                for (end, held) in link.ends.iter_mut().zip(held) {
                    if frame == plan.first_frame && frame < held.frames_held {
                        end.set_buttons(held.buttons);
                    } else if frame == plan.first_frame || frame == held.frames_held {
                        end.set_buttons(0);
                    }
                }
                link.run_frame(plan.draws_in_pairs(frame));
            }
            link.sync_for_observers();
            link.ends.map(|end| end.ahead())
        }
    };
}
run_pair_of!(run_originals, original);
run_pair_of!(run_colors, color);

impl Shard {
    /// Runs frames of the envs `first` and `first + 1`.
    pub(super) fn run_pair(&mut self, first: usize, plan: StepPlan) {
        let held = [first, first + 1].map(|slot| {
            let (buttons, frames_held) = self.pressed(slot, plan);
            PairMember { buttons, frames_held, ahead: ahead(self.counters[slot]) }
        });
        let ram_bytes = self.rom.cart_ram_bytes();
        let cart_ram = &mut self.cart_ram[first * ram_bytes..][..2 * ram_bytes];
        let (ram, others_ram) = cart_ram.split_at_mut(ram_bytes);
        let rom = self.rom.bytes();
        let (Some(saved_machine), [one, other]) =
            (&mut self.saved_machine, &mut self.machines[first..first + 2])
        else {
            unreachable!("pairs have a neighbour and a saved machine")
        };
        let reached = match (one, other, saved_machine) {
            (
                AnyMachine::Original(one),
                AnyMachine::Original(other),
                AnyMachine::Original(saved_machine),
            ) => run_originals(rom, [(one, ram), (other, others_ram)], saved_machine, held, plan),
            (
                AnyMachine::Color(one),
                AnyMachine::Color(other),
                AnyMachine::Color(saved_machine),
            ) => run_colors(rom, [(one, ram), (other, others_ram)], saved_machine, held, plan),
            _ => unreachable!("all machines of a swarm are of one model"),
        };
        let counters = self.counters[first..first + 2].iter_mut();
        for ((counters, held), reached) in counters.zip(held).zip(reached) {
            counters.frames += u64::from(plan.frames);
            let frames = u64::from(plan.frames) * u64::from(FRAME_TCYCLES);
            let tcycles = counters.tcycles + frames;
            counters.tcycles = tcycles.wrapping_add_signed(i64::from(reached - held.ahead));
        }
    }
}

/// Counters of an env that joins a pair: those of an env that was alone say nothing about a
/// pair's time.
pub(super) fn joined(counters: Counters) -> Counters {
    let ahead = beyond(counters);
    if (-i64::from(LEAD_TCYCLES)..MOST_AHEAD_TCYCLES).contains(&ahead) {
        return counters;
    }
    Counters { tcycles: counters.frames.wrapping_mul(u64::from(FRAME_TCYCLES)), ..counters }
}

/// T-cycles by which an env is beyond the end of its last frame: they are counted from its reset
/// on, and its first frame ends later by the lead.
fn beyond(Counters { frames, tcycles }: Counters) -> i64 {
    let ended = frames.wrapping_mul(u64::from(FRAME_TCYCLES));
    tcycles.wrapping_sub(ended).cast_signed().saturating_sub(i64::from(LEAD_TCYCLES))
}

fn ahead(counters: Counters) -> i32 {
    i32::try_from(beyond(counters)).unwrap_or(-LEAD_TCYCLES)
}
