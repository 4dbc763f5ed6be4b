//! `stub_bad`: correct machines with wrong reports. It tests that a disagreement is found, recorded
//! and replayed.

use std::ops::Range;

use serde_json::{Value, json};

use super::swarm::SwarmBackend;
use super::{Backend, BackendConfig, BackendKind, EnvState};
use crate::LabError;

pub(crate) struct StubBad {
    honest: SwarmBackend,
}

impl StubBad {
    pub(crate) fn open(config: &BackendConfig) -> Result<Self, LabError> {
        Ok(Self { honest: SwarmBackend::open(BackendKind::SwarmCpu, config)? })
    }
}

impl Backend for StubBad {
    fn kind(&self) -> BackendKind {
        BackendKind::StubBad
    }

    fn details(&self) -> Value {
        json!({ "lies_about": ["register a", "memory"] })
    }

    fn num_envs(&self) -> usize {
        self.honest.num_envs()
    }

    fn reset(&mut self, seed: u64) -> Result<(), LabError> {
        self.honest.reset(seed)
    }

    fn step(&mut self, actions: &[u8]) -> Result<(), LabError> {
        self.honest.step(actions)
    }

    fn states(&mut self) -> Result<Vec<EnvState>, LabError> {
        let mut states = self.honest.states()?;
        for state in &mut states {
            state.cpu.a = !state.cpu.a;
        }
        Ok(states)
    }

    fn read_memory(&mut self, env: usize, range: Range<u32>) -> Result<Vec<u8>, LabError> {
        let mut bytes = self.honest.read_memory(env, range)?;
        for byte in &mut bytes {
            *byte = !*byte;
        }
        Ok(bytes)
    }

    fn frame(&mut self, env: usize) -> Result<Vec<u8>, LabError> {
        self.honest.frame(env)
    }

    fn rewards(&self) -> Result<Vec<f32>, LabError> {
        self.honest.rewards()
    }

    fn observations(&self) -> Result<Vec<f32>, LabError> {
        self.honest.observations()
    }
}
