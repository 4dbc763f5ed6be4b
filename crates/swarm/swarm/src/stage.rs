//! Stages: the outputs that a step computes after the emulation.

use std::fmt;
use std::str::FromStr;

/// The four stages. The emulated state after a step is the same in all of them; an output that the
/// stage does not own is left as it was.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Stage {
    /// The machines alone.
    EmulateOnly,
    /// The machines and the reward.
    RewardOnly,
    /// The machines and the observation.
    ObsOnly,
    /// The machines, the reward and the observation.
    #[default]
    FullStep,
}

impl Stage {
    /// Every stage.
    pub const ALL: [Self; 4] = [Self::EmulateOnly, Self::RewardOnly, Self::ObsOnly, Self::FullStep];

    /// The name that artifacts record and command lines take.
    pub fn name(self) -> &'static str {
        match self {
            Self::EmulateOnly => "emulate_only",
            Self::RewardOnly => "reward_only",
            Self::ObsOnly => "obs_only",
            Self::FullStep => "full_step",
        }
    }

    /// Returns true if this stage writes rewards.
    pub fn owns_reward(self) -> bool {
        matches!(self, Self::RewardOnly | Self::FullStep)
    }

    /// Returns true if this stage writes observations.
    pub fn owns_observation(self) -> bool {
        matches!(self, Self::ObsOnly | Self::FullStep)
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for Stage {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL.into_iter().find(|stage| stage.name() == name).ok_or_else(|| {
            format!("no stage `{name}`; there are emulate_only, reward_only, obs_only, full_step")
        })
    }
}
