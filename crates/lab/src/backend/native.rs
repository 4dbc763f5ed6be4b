//! `warp_vec_cpu`: the swarm on CPU threads.

use std::ops::Range;

use gbxcule_swarm::{NativeSwarm, Rom};
use serde_json::{Value, json};

use super::{Backend, BackendConfig, BackendKind, EnvState};
use crate::LabError;

pub(crate) struct Native {
    swarm: NativeSwarm,
    workers: usize,
}

impl Native {
    pub(crate) fn open(config: &BackendConfig) -> Result<Self, LabError> {
        let swarm = NativeSwarm::new(Rom::new(&config.rom)?, config.swarm())?;
        Ok(Self { swarm, workers: config.workers() })
    }
}

impl Backend for Native {
    fn kind(&self) -> BackendKind {
        BackendKind::WarpVecCpu
    }

    fn details(&self) -> Value {
        json!({ "threads": self.workers })
    }

    fn num_envs(&self) -> usize {
        self.swarm.config().num_envs
    }

    fn reset(&mut self, seed: u64) -> Result<(), LabError> {
        self.swarm.reset(seed);
        Ok(())
    }

    fn step(&mut self, actions: &[u8]) -> Result<(), LabError> {
        Ok(self.swarm.step(actions)?)
    }

    fn states(&mut self) -> Result<Vec<EnvState>, LabError> {
        let state = |env| {
            let counters = self.swarm.counters(env)?;
            let cpu = self.swarm.cpu_state(env)?;
            Ok(EnvState { cpu, tcycles: Some(counters.tcycles), frames: Some(counters.frames) })
        };
        (0..self.num_envs()).map(state).collect()
    }

    fn read_memory(&mut self, env: usize, range: Range<u32>) -> Result<Vec<u8>, LabError> {
        Ok(self.swarm.read_memory(env, range)?)
    }

    fn frame(&mut self, env: usize) -> Result<Vec<u8>, LabError> {
        Ok(self.swarm.frame(env)?.to_vec())
    }

    fn rewards(&self) -> Result<Vec<f32>, LabError> {
        Ok(self.swarm.rewards().to_vec())
    }

    fn observations(&self) -> Result<Vec<f32>, LabError> {
        Ok(self.swarm.observations().to_vec())
    }
}
