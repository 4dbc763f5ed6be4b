//! What the verbs that step machines say alike: how machines are driven.

use clap::Args;
use gbxcule_lab::action_source::ActionGen;
use gbxcule_swarm::{Codec, Programs, Stage};

/// How machines are driven.
#[derive(Args)]
#[command(next_help_heading = "How machines are driven")]
pub(crate) struct RunOptions {
    /// Frames after which the action is released; the last frames of a step run with nothing pressed
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) release_after_frames: u32,

    /// What an action number means: pokemonred_puffer_v1 (A B START UP DOWN LEFT RIGHT) or full_v1 (those, SELECT, NOOP)
    #[arg(long, value_name = "NAME", default_value = "full_v1", value_parser = codec)]
    pub(crate) codec: Codec,

    /// Where actions come from: random, cycle, noop, or hold:ACTION
    #[arg(long, visible_alias = "actions", value_name = "SOURCE", default_value = "random")]
    pub(crate) action_gen: ActionGen,

    /// Seed of the actions; the same seed gives the same actions on every backend
    #[arg(long, value_name = "S", default_value_t = 0)]
    pub(crate) actions_seed: u64,

    /// What a step computes: emulate_only, reward_only, obs_only, full_step
    #[arg(long, value_name = "STAGE", default_value = "emulate_only")]
    pub(crate) stage: Stage,
}

impl RunOptions {
    /// Do the parts fit each other?
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.action_gen.check(self.codec).map_err(anyhow::Error::msg)
    }
}

/// What runs behind each step, in stages that compute something.
#[derive(Args)]
#[command(next_help_heading = "Reward and observation")]
pub(crate) struct ProgramOptions {
    /// The reward: reward_v0, or a program of yours with `reward` and perhaps `done` (docs/programs.md)
    #[arg(long, value_name = "NAME|FILE.py", default_value = "reward_v0")]
    reward: String,

    /// The observation: obs_v0, or a program of yours with `observe`
    #[arg(long, value_name = "NAME|FILE.py", default_value = "obs_v0")]
    obs: String,
}

impl ProgramOptions {
    pub(crate) fn programs(&self) -> anyhow::Result<Programs> {
        Ok(Programs::find(&self.reward, &self.obs)?)
    }
}

fn codec(name: &str) -> Result<Codec, String> {
    Codec::by_name(name).ok_or_else(|| {
        let names: Vec<_> = Codec::ALL.iter().map(|codec| codec.name).collect();
        format!("no codec `{name}`; there are {}", names.join(", "))
    })
}
