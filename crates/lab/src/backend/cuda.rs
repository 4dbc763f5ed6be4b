//! `warp_vec_cuda`: the swarm in one kernel on a CUDA device, which was asked for by name. Without it there is an
//! error, never another device.

use std::ops::Range;

use gbxcule_runtime::Device;
use gbxcule_swarm::{DeviceConfig, DeviceSwarm, Rom};
use serde_json::{Value, json};

use super::{Backend, BackendConfig, BackendKind, EnvState};
use crate::LabError;

pub(crate) struct Cuda {
    swarm: DeviceSwarm,
}

impl Cuda {
    pub(crate) fn open(config: &BackendConfig) -> Result<Self, LabError> {
        let swarm = DeviceSwarm::new(
            Rom::new(&config.rom)?,
            config.swarm(),
            DeviceConfig { device: Device::Cuda(config.cuda), ..DeviceConfig::default() },
        );
        let backend = BackendKind::WarpVecCuda;
        let swarm = swarm.map_err(|source| LabError::Start { backend, source })?;
        Ok(Self { swarm })
    }
}

impl Backend for Cuda {
    fn kind(&self) -> BackendKind {
        BackendKind::WarpVecCuda
    }

    fn details(&self) -> Value {
        let DeviceConfig { device, layout, checked } = self.swarm.device();
        json!({ "device": device.to_string(), "layout": layout.name(), "checked": checked })
    }

    fn num_envs(&self) -> usize {
        self.swarm.config().num_envs
    }

    fn reset(&mut self, seed: u64) -> Result<(), LabError> {
        Ok(self.swarm.reset(seed)?)
    }

    fn step(&mut self, actions: &[u8]) -> Result<(), LabError> {
        Ok(self.swarm.step(actions)?)
    }

    fn sync(&mut self) -> Result<(), LabError> {
        Ok(self.swarm.sync()?)
    }

    fn states(&mut self) -> Result<Vec<EnvState>, LabError> {
        let counters = self.swarm.all_counters()?;
        let states = self.swarm.cpu_states()?.into_iter().zip(counters);
        let state = |(cpu, counters): (_, gbxcule_swarm::Counters)| EnvState {
            cpu,
            tcycles: Some(counters.tcycles),
            frames: Some(counters.frames),
        };
        Ok(states.map(state).collect())
    }

    fn read_memory(&mut self, env: usize, range: Range<u32>) -> Result<Vec<u8>, LabError> {
        Ok(self.swarm.read_memory(env, range)?)
    }

    fn frame(&mut self, env: usize) -> Result<Vec<u8>, LabError> {
        Ok(self.swarm.frame(env)?)
    }

    fn rewards(&self) -> Result<Vec<f32>, LabError> {
        Ok(self.swarm.rewards()?)
    }

    fn observations(&self) -> Result<Vec<f32>, LabError> {
        Ok(self.swarm.observations()?)
    }
}
