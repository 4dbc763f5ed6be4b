//! Details of one machine, for a viewer who has selected it.

use gbxcule_swarm::{CpuState, Swarm, SwarmError};

/// Numbers of an observation that are shown.
const MAX_SHOWN: usize = 32;

/// Details of one machine.
#[derive(Debug, Clone)]
pub(crate) struct EnvDetails {
    pub(crate) cpu: CpuState,
    pub(crate) frames: u64,
    /// C000 to C01F.
    pub(crate) memory: Vec<u8>,
    /// The first numbers of the observation, and how many there are.
    pub(crate) observation: Option<(Vec<f32>, usize)>,
    pub(crate) step: StepDetails,
}

/// Details of a machine's last step, known to the code that steps it.
#[derive(Debug, Clone)]
pub(crate) struct StepDetails {
    /// None where there are no rewards.
    pub(crate) reward: Option<f32>,
    /// Sum of the rewards of the episode, which ends when it is said to be done and begins when it
    /// no longer is.
    pub(crate) episode_return: Option<f32>,
    /// `None` without a program that ends episodes.
    pub(crate) is_done: Option<bool>,
    /// The action of the present step by its codec's name; none while a user holds the buttons.
    pub(crate) action: Option<String>,
    /// The joypad bits pressed by a user, or by the action in the last frame.
    pub(crate) buttons: u8,
    pub(crate) held: bool,
}

impl EnvDetails {
    /// Looks at an env of a swarm.
    pub(crate) fn of(swarm: &Swarm, env: usize, step: StepDetails) -> Result<Self, SwarmError> {
        let observes = swarm.config().stage.owns_observation();
        Ok(Self {
            cpu: swarm.cpu_state(env)?,
            frames: swarm.counters(env)?.frames,
            memory: swarm.read_memory(env, 0xC000..0xC020)?,
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
