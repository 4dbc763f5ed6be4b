//! Seeds of envs, for `gbxcule.start`.

use pyo3::prelude::*;

/// Returns the seeds of `count` envs of a swarm with this seed, from env `first` on.
#[pyfunction]
pub(crate) fn env_seeds(seed: u64, first: u64, count: u64) -> Vec<u64> {
    (first..first + count).map(|env| gbxcule_swarm::env_seed(seed, env)).collect()
}
