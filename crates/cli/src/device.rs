//! `--device` of the verbs that run a swarm.

use clap::Args;
use gbxcule_lab::BackendKind;
use gbxcule_runtime::Device;

/// Where the swarm runs.
#[derive(Args)]
pub(crate) struct DeviceOption {
    /// Where the machines run: cpu (all threads), cuda (an NVIDIA GPU) or cuda:N; what is asked for is what is used, or
    /// an error
    #[arg(long, value_name = "cpu|cuda[:N]", default_value_t)]
    pub(crate) device: Device,
}

impl DeviceOption {
    /// The swarm's backend there.
    pub(crate) fn backend(&self) -> BackendKind {
        match self.device {
            Device::Cpu => BackendKind::WarpVecCpu,
            Device::Cuda(_) => BackendKind::WarpVecCuda,
        }
    }

    /// Which GPU it is, if it is one.
    pub(crate) fn cuda(&self) -> u32 {
        match self.device {
            Device::Cpu => 0,
            Device::Cuda(ordinal) => ordinal,
        }
    }
}
