//! Errors of the lab.

use std::path::PathBuf;

use gbxcule_oracle::OracleError;
use gbxcule_swarm::{ConsoleError, SwarmError};

use crate::BackendKind;

/// Error of the lab, with advice on how to fix it.
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
    #[error("{found}")]
    GameLog { found: String },
    #[error(transparent)]
    Oracle(#[from] OracleError),
    #[error("{backend} has one machine, {num_envs} were asked for; {instead} has up to 4096")]
    OneEnvOnly { backend: BackendKind, num_envs: usize, instead: BackendKind },
    #[error("{backend} has {most} machines at most, {num_envs} were asked for")]
    TooManyEnvs { backend: BackendKind, num_envs: usize, most: usize },
    #[error(
        "{steps} steps of {num_envs} machines are more than can be recorded: {most} actions at most"
    )]
    TooManyActions { steps: u64, num_envs: usize, most: u64 },
    #[error("the regions to compare have {bytes} bytes together, and at most {most} are compared")]
    TooMuchMemory { bytes: u64, most: u64 },
    #[error(
        "no backend measures any of these numbers of machines; PyBoy gets {most_pyboy_envs} at most"
    )]
    NothingToMeasure { most_pyboy_envs: usize },
    #[error(
        "{backend} computes reward_v0 and obs_v0 only; for other programs take warp_vec_cpu or warp_vec_cuda, or \
         --stage emulate_only"
    )]
    BuiltInProgramsOnly { backend: BackendKind },
    #[error(
        "{backend} has machines without a cable; --link pairs is for warp_vec_cpu and its like, and to compare two of \
         them, name both"
    )]
    NoCable { backend: BackendKind },
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
    #[error("no bench artifact (`*.json` written by `gbxcule bench`) in {}", .0.display())]
    NothingToReport(PathBuf),
}

impl From<ConsoleError> for LabError {
    fn from(error: ConsoleError) -> Self {
        Self::Swarm(error.into())
    }
}

impl LabError {
    pub(crate) fn file(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        |source| Self::File { path, source }
    }
}
