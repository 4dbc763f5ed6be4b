//! Order in which lanes and warps of a launch run: choices of a GPU, on which no result may depend.

use super::warp::Mask;

/// Rule that chooses the group of lanes that runs next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Policy {
    /// The group at the lowest address.
    #[default]
    LowestAddress,
    /// The largest group.
    MostLanes,
    /// Mostly the group at the lowest address; sometimes a seed chooses another group, so that
    /// each group runs at some time.
    Seeded(u64),
}

/// Choices that a GPU makes in a launch, and that no result may depend on.
#[derive(Clone, Copy, Debug)]
pub struct RunOrder {
    /// Order of lanes.
    pub policy: Policy,
    /// Instructions after which the next warp of a block runs.
    pub turn: u64,
    /// True if the lanes of a warp share its barriers of convergence, as registers of the warp;
    /// otherwise each lane has barriers of its own.
    pub shares_barriers: bool,
}

impl RunOrder {
    /// Returns the lanes whose barriers of convergence an instruction in some lanes changes.
    pub(super) fn sharing(self, lanes: Mask) -> Mask {
        if self.shares_barriers { !0 } else { lanes }
    }
}

impl From<Policy> for RunOrder {
    fn from(policy: Policy) -> Self {
        Self { policy, turn: u64::MAX, shares_barriers: false }
    }
}
