//! Details of the machine that a viewer has selected.

use gbxcule_swarm::{CpuState, Swarm, SwarmError};

/// Greatest number of an observation's numbers that are shown.
const MAX_SHOWN: usize = 32;

/// Details of one machine.
#[derive(Debug, Clone)]
pub(crate) struct EnvDetails {
    pub(crate) cpu: CpuState,
    pub(crate) frames: u64,
    /// First numbers of the observation, and their total number.
    pub(crate) observation: Option<(Vec<f32>, usize)>,
    pub(crate) step: StepDetails,
}

/// Details of a machine's last step that the swarm doesn't know.
#[derive(Debug, Clone)]
pub(crate) struct StepDetails {
    /// Reward; `None` in stages without rewards.
    pub(crate) reward: Option<f32>,
    /// Sum of the rewards of the episode. The next episode begins with the first step whose `done`
    /// is false.
    pub(crate) episode_return: Option<f32>,
    /// True if the episode is done; `None` without a program that ends episodes.
    pub(crate) is_done: Option<bool>,
    /// Name of the present step's action in the codec; `None` while a user holds the buttons.
    pub(crate) action: Option<String>,
    /// Joypad bits that the user or else the action pressed in the last frame.
    pub(crate) buttons: u8,
    pub(crate) held: bool,
}

impl EnvDetails {
    /// Reads the details of an env of a swarm.
    pub(crate) fn of(swarm: &Swarm, env: usize, step: StepDetails) -> Result<Self, SwarmError> {
        let observes = swarm.config().stage.owns_observation();
        Ok(Self {
            cpu: swarm.cpu_state(env)?,
            frames: swarm.counters(env)?.frames,
            observation: observes.then(|| observation(swarm, env)).transpose()?,
            step,
        })
    }
}

fn observation(swarm: &Swarm, env: usize) -> Result<(Vec<f32>, usize), SwarmError> {
    let mut numbers = swarm.observations_of(env..env + 1)?;
    let obs_dim = numbers.len();
    numbers.truncate(MAX_SHOWN);
    Ok((numbers, obs_dim))
}
