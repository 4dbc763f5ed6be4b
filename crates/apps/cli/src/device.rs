//! Option `--device` of the verbs that run a swarm.

use anyhow::{Context, ensure};
use clap::Args;
use gbxcule_lab::BackendKind;
use gbxcule_runtime::{Device, Stream};

/// Option that chooses the device on which the swarm runs.
#[derive(Args)]
pub(crate) struct DeviceOption {
    /// Device on which the machines run: cpu (all threads), cuda (an NVIDIA GPU) or cuda:N; the
    /// command fails if that device can't be used
    #[arg(long, value_name = "cpu|cuda[:N]", default_value_t)]
    pub(crate) device: Device,
}

impl DeviceOption {
    /// Returns the swarm's backend for the device.
    pub(crate) fn backend(&self) -> BackendKind {
        match self.device {
            Device::Cpu => BackendKind::SwarmCpu,
            Device::Cuda(_) => BackendKind::SwarmCuda,
        }
    }

    /// Checks that the device can be used, before any other work or output.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.check_for(&[self.backend()])
    }

    /// Checks the GPU as [`Self::check`] does if one of these backends needs it.
    pub(crate) fn check_for(&self, backends: &[BackendKind]) -> anyhow::Result<()> {
        let Some(on_gpu) = backends.iter().find(|it| **it == BackendKind::SwarmCuda) else {
            ensure!(
                self.device == Device::Cpu,
                "--device {} would have no effect: none of the chosen backends runs there; choose {}, or choose no backend",
                self.device,
                BackendKind::SwarmCuda
            );
            return Ok(());
        };
        let stream = Stream::new(Device::Cuda(self.cuda()));
        stream.map(drop).with_context(|| format!("{on_gpu} cannot start"))
    }

    /// Returns the ordinal of the GPU; 0 for the CPU.
    pub(crate) fn cuda(&self) -> u32 {
        match self.device {
            Device::Cpu => 0,
            Device::Cuda(ordinal) => ordinal,
        }
    }
}
