//! `--device`: where the swarm runs.

use clap::ValueEnum;
use gbxcule_lab::BackendKind;

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
