//! The return of each env's episode, summed by one kernel on the device that holds the rewards, so
//! that the host need not wait.

use std::sync::OnceLock;

use gbxcule_ir::check::Valid;
use gbxcule_ir::{Module, Scalar};
use gbxcule_runtime::{Array, Build, DataType, Device, Kernel, Stream, compile, get_or_make};

use crate::device::compiled;
use crate::{Swarm, SwarmError};

/// Sums of rewards. An episode ends with a step whose `done` is true, and the next one begins with
/// the first step whose `done` is false.
pub struct Returns {
    add: Kernel,
    rewards: Array,
    dones: Array,
    returns: Array,
    over: Array,
}

impl Returns {
    /// Starts counting for a swarm that was just made or reset.
    pub fn new(swarm: &Swarm) -> Result<Self, SwarmError> {
        let num_envs = swarm.config().num_envs;
        let zeros = |stream: &Stream, of| stream.zeros(DataType::Scalar(of), &[num_envs]);
        let (device, stream, rewards, dones) = match swarm.as_device() {
            Some(swarm) => {
                let outputs = (swarm.reward_array().clone(), swarm.done_array().clone());
                (swarm.device().device, swarm.stream().clone(), outputs.0, outputs.1)
            }
            None => {
                let stream = Stream::new(Device::Cpu)?;
                let outputs = (zeros(&stream, Scalar::F32)?, zeros(&stream, Scalar::U8)?);
                (Device::Cpu, stream, outputs.0, outputs.1)
            }
        };
        Ok(Self {
            add: compile(module(), device, Build::default())?.kernel("add")?,
            rewards,
            dones,
            returns: zeros(&stream, Scalar::F32)?,
            over: zeros(&stream, Scalar::U8)?,
        })
    }

    /// Adds a step's rewards; the step's stage must compute the reward.
    pub fn add(&self, swarm: &Swarm) -> Result<(), SwarmError> {
        if let Some(swarm) = swarm.as_native() {
            self.rewards.write(swarm.rewards())?;
            let dones: Vec<u8> = swarm.dones().iter().map(|done| u8::from(*done)).collect();
            self.dones.write(&dones)?;
        }
        let arrays = [&self.rewards, &self.dones, &self.returns, &self.over].map(Into::into);
        Ok(self.add.launch(self.returns.shape(), &arrays)?)
    }

    /// Clears all returns after a reset.
    pub fn reset(&self) -> Result<(), SwarmError> {
        self.returns.fill(0.0_f32)?;
        Ok(self.over.fill(0_u8)?)
    }

    /// Returns the return of an env.
    pub fn of(&self, env: usize) -> Result<f32, SwarmError> {
        let last = self.returns.len() - 1;
        if env > last {
            return Err(SwarmError::NoSuchEnv { env, last });
        }
        Ok(self.returns.slice(0, env..env + 1, 1)?.to_vec()?[0])
    }
}

fn module() -> &'static Valid<Module> {
    static MODULE: OnceLock<Valid<Module>> = OnceLock::new();
    get_or_make(&MODULE, || compiled("returns", include_str!("returns.py").into()))
}
