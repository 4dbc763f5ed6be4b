//! `warp_vec_cpu` and `warp_vec_cuda`: the swarm on CPU threads, and in one kernel on a CUDA
//! device. If the named device is missing, the result is an error, never another device.

use std::ops::Range;

use gbxcule_runtime::Device;
use gbxcule_runtime::cuda::Driver;
use gbxcule_swarm::{Counters, CpuState, DeviceConfig, Recompile, Swarm};
use serde_json::{Value, json};

use super::{Backend, BackendConfig, BackendKind, EnvState, frame_bytes};
use crate::LabError;

pub(crate) struct SwarmBackend {
    kind: BackendKind,
    swarm: Swarm,
    workers: usize,
}

impl SwarmBackend {
    pub(crate) fn open(kind: BackendKind, config: &BackendConfig) -> Result<Self, LabError> {
        let device = match kind {
            BackendKind::SwarmCuda => Device::Cuda(config.cuda),
            _ => Device::Cpu,
        };
        let mut settings = config.swarm();
        if kind == BackendKind::SwarmInterpreted {
            settings.recompile = Recompile::Off;
        }
        let swarm = Swarm::new(config.rom()?, settings, device);
        let swarm = swarm.map_err(|source| LabError::Start { backend: kind, source })?;
        Ok(Self { kind, swarm, workers: config.workers() })
    }
}

impl Backend for SwarmBackend {
    fn kind(&self) -> BackendKind {
        self.kind
    }

    fn details(&self) -> Value {
        match self.swarm.as_device() {
            None => json!({
                "threads": self.workers,
                "recompile": self.swarm.config().recompile.name(),
                "blocks": self.swarm.blocks(),
            }),
            Some(swarm) => {
                let DeviceConfig { device, checked } = swarm.device();
                json!({
                    "device": device.to_string(),
                    "gpu": gpu_name(device),
                    "order": swarm.order().name(),
                    "recompile": self.swarm.config().recompile.name(),
                    "blocks": self.swarm.blocks(),
                    "checked": checked,
                })
            }
        }
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
        let states = self.swarm.cpu_states()?.into_iter().zip(self.swarm.all_counters()?);
        let state = |(cpu, counters): (CpuState, Counters)| EnvState {
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
        let mut frame = Vec::new();
        self.swarm.frames(&[env], |picture| frame = frame_bytes(picture))?;
        Ok(frame)
    }

    fn rewards(&self) -> Result<Vec<f32>, LabError> {
        Ok(self.swarm.rewards()?)
    }

    fn observations(&self) -> Result<Vec<f32>, LabError> {
        Ok(self.swarm.observations()?)
    }
}

/// Returns the driver's name of a device.
fn gpu_name(device: Device) -> Option<String> {
    let Device::Cuda(ordinal) = device else { return None };
    Some(Driver::find().ok()?.gpus.into_iter().nth(ordinal as usize)?.name)
}
