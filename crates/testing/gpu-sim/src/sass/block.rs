//! Runs a block: its warps take turns. A turn lasts until the warp ends or comes to the block's
//! barrier, or for a number of instructions.
//!
//! The barrier is complete when all lanes of the block that have not ended have come to it. Here
//! barrier 0 is the only barrier, so warps of a block never wait at different barriers.

use super::count::Counts;
use super::warp::{Launch, Mask, Stop, Warp};

/// Reduction of the lanes' votes by a block's barrier.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reduction {
    /// The lanes only wait.
    Wait,
    /// True if one vote holds.
    Or,
    /// True if all votes hold.
    And,
    /// Number of votes that hold.
    Count,
}

/// Lanes that have come to the block's barrier, and their votes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Arrivals {
    reduction: Option<Reduction>,
    /// The lanes, if all of them belong to one warp.
    pub lanes: Mask,
    number: u32,
    votes: u32,
}

impl Arrivals {
    /// Makes the arrivals of lanes that belong to one warp and come together.
    pub fn of(lanes: Mask, reduction: Reduction, votes: Mask) -> Self {
        let votes = (votes & lanes).count_ones();
        Self { reduction: Some(reduction), lanes, number: lanes.count_ones(), votes }
    }

    /// Adds other lanes; all must ask for the same reduction.
    pub fn add(&mut self, others: &Self) -> Result<(), String> {
        match (self.reduction, others.reduction) {
            (Some(one), Some(other)) if one != other => {
                return Err(format!("lanes at one barrier ask for {one:?} and {other:?}"));
            }
            (None, other) => self.reduction = other,
            _ => {}
        }
        self.lanes |= others.lanes;
        self.number += others.number;
        self.votes += others.votes;
        Ok(())
    }

    /// Returns the result that each lane gets.
    pub fn result(&self) -> Option<(Reduction, u32)> {
        let reduction = self.reduction?;
        let value = match reduction {
            Reduction::Wait => return None,
            Reduction::Or => u32::from(self.votes != 0),
            Reduction::And => u32::from(self.votes == self.number),
            Reduction::Count => self.votes,
        };
        Some((reduction, value))
    }
}

/// Runs a block to its end, in the state objects of earlier warps of the launch. Warps that come
/// to no barrier run one after the other in the first state object.
pub fn run<'p>(
    warps: &mut Vec<Warp<'p>>,
    launch: &Launch<'p>,
    counts: &mut Counts,
    (block, threads): (u32, u32),
) {
    // Number of warps that have not ended; they are the first warps of the block.
    let mut live = 0;
    for thread in (0..threads).step_by(32) {
        if warps.len() == live {
            warps.push(Warp::new(launch));
        }
        warps[live].begin(block, thread, threads - thread);
        live += usize::from(warps[live].resume(counts) != Stop::Ended);
    }
    while live > 0 {
        if warps[..live].iter().all(Warp::is_at_barrier) {
            let result = meet(&warps[..live]);
            warps[..live].iter_mut().for_each(|warp| warp.pass_barrier(result));
        }
        for at in 0..std::mem::take(&mut live) {
            if warps[at].is_at_barrier() || warps[at].resume(counts) != Stop::Ended {
                warps.swap(live, at);
                live += 1;
            }
        }
    }
}

/// Returns the result that the lanes of these warps get.
fn meet(warps: &[Warp<'_>]) -> Option<(Reduction, u32)> {
    let mut all = Arrivals::default();
    for warp in warps {
        if let Err(reason) = all.add(&warp.arrivals) {
            warp.fail(warp.barrier_step(), &reason);
        }
    }
    all.result()
}
