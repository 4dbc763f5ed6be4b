//! `--device`: where the swarm runs.

use clap::{Args, ValueEnum};
use gbxcule_lab::BackendKind;

/// Where a verb's own machines run.
#[derive(Args)]
pub(crate) struct DeviceOption {
    /// Where the machines run: cpu (all threads), cuda (an NVIDIA GPU) or cuda:N; what is asked for is what is used, or
    /// an error
    #[arg(long, value_name = "cpu|cuda[:N]", default_value_t)]
    pub(crate) device: gbxcule_runtime::Device,
}

impl DeviceOption {
    /// The swarm's backend there.
    pub(crate) fn backend(&self) -> BackendKind {
        match self.device {
            gbxcule_runtime::Device::Cpu => BackendKind::WarpVecCpu,
            gbxcule_runtime::Device::Cuda(_) => BackendKind::WarpVecCuda,
        }
    }

    /// Which GPU it is, if it is one.
    pub(crate) fn cuda(&self) -> u32 {
        match self.device {
            gbxcule_runtime::Device::Cpu => 0,
            gbxcule_runtime::Device::Cuda(ordinal) => ordinal,
        }
    }
}

/// Where the swarm runs; what is asked for is what is used, or an error.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Device {
    /// All CPU threads (`warp_vec_cpu`)
    Cpu,
    /// An NVIDIA GPU (`warp_vec_cuda`)
    #[value(alias = "cuda:0")]
    Cuda,
}

impl Device {
    /// The swarm's backend there.
    pub(crate) fn backend(self) -> BackendKind {
        match self {
            Self::Cpu => BackendKind::WarpVecCpu,
            Self::Cuda => BackendKind::WarpVecCuda,
        }
    }
}
