//! Stages: the outputs that a step computes after the emulation.

gbxcule_ir::named! {
    /// The four stages. The emulated state after a step is the same in all of them; an output that
    /// the stage does not own is left as it was.
    #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
    pub enum Stage: "stage" {
        /// The machines alone.
        EmulateOnly = "emulate_only",
        /// The machines and the reward.
        RewardOnly = "reward_only",
        /// The machines and the observation.
        ObsOnly = "obs_only",
        /// The machines, the reward and the observation.
        #[default]
        FullStep = "full_step",
    }
}

impl Stage {
    /// Returns true if this stage writes rewards.
    pub fn owns_reward(self) -> bool {
        matches!(self, Self::RewardOnly | Self::FullStep)
    }

    /// Returns true if this stage writes observations.
    pub fn owns_observation(self) -> bool {
        matches!(self, Self::ObsOnly | Self::FullStep)
    }
}
