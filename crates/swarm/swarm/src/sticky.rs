//! Sticky actions (Machado et al., 2018): with some probability an env repeats its last action
//! instead of the action that its agent chose.
//!
//! The draw depends only on the env's seed, the number of its episode and its frames since the
//! reset, so the draw needs no state. The scratch of an env has one more cell than its programs ask
//! for. The cell holds the number of the last action plus 1, or 0 at the beginning of an episode,
//! so the first step of an episode does what the agent chose. `device/sticky.rs` has the same rule
//! as a kernel.

use crate::Episode;

/// Returns the cell's value for an action.
pub(crate) fn cell_of(action: u8) -> f32 {
    f32::from(action) + 1.0
}

/// Returns the action of a cell; `None` at the beginning of an episode.
pub(crate) fn action_of(cell: f32) -> Option<u8> {
    (cell >= 1.0).then_some((cell - 1.0) as u8)
}

/// The probability as a share of 2^32.
pub(crate) fn threshold(probability: f64) -> u64 {
    (probability * f64::from(1_u32 << 31) * 2.0).round() as u64
}

/// Returns true if the step that begins now repeats the last action.
pub(crate) fn repeats(episode: Episode, frames: u64, threshold: u64) -> bool {
    episode.bits_at(frames) >> 32 < threshold
}
