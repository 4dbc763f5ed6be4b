//! The world's failures, as the lab meets them.

use std::path::PathBuf;

use gbxcule_oracle::OracleError;
use gbxcule_swarm::SwarmError;

use crate::BackendKind;

/// What went wrong, and what can be done about it.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs)]
pub enum LabError {
    #[error(transparent)]
    Swarm(#[from] SwarmError),
    #[error("{}: {source}", path.display())]
    File { path: PathBuf, source: std::io::Error },
    #[error("{}: {source}", path.display())]
    Json { path: PathBuf, source: serde_json::Error },
    #[error("{}: {found}", path.display())]
    Artifact { path: PathBuf, found: String },
    #[error(transparent)]
    Oracle(#[from] OracleError),
    #[error(
        "{backend} has one machine, {num_envs} were asked for; {instead} has as many as you like"
    )]
    OneEnvOnly { backend: BackendKind, num_envs: usize, instead: BackendKind },
    #[error(
        "{backend} computes reward_v0 and obs_v0 only; for other programs take warp_vec_cpu or warp_vec_cuda, or \
         --stage emulate_only"
    )]
    BuiltInProgramsOnly { backend: BackendKind },
    #[error("{backend} cannot start")]
    Start { backend: BackendKind, source: SwarmError },
    #[error("this build has no {backend}: {why}")]
    NotInThisBuild { backend: BackendKind, why: &'static str },
    #[error("env {env} does not exist; {backend} has the envs 0 to {last}")]
    NoSuchEnv { backend: BackendKind, env: usize, last: usize },
    #[error("a row of the suite: {0}")]
    Suite(String),
    #[error("libmgba {0}")]
    Mgba(String),
    #[error("the plot could not be drawn: {0}")]
    Plot(String),
    #[error(
        "NVRTC was found by the system's loader, which does not say where: name its folder in GBXCULE_NVRTC"
    )]
    NvrtcBySystem,
    #[error("the folder `python/gbxcule` of the project is not here: run this inside of a clone")]
    NoPackage,
    #[error("no bench artifact (`*.json` written by `gbxcule bench`) in {}", .0.display())]
    NothingToReport(PathBuf),
}

impl LabError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }
}
