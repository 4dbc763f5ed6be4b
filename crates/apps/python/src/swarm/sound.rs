//! Samples of a step for `Swarm.sound_into`, the same number for each env.

use gbxcule_swarm::{Swarm, SwarmConfig, SwarmError};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;

/// Size of a sample in bytes, left and right.
const SAMPLE_BYTES: usize = size_of::<[i16; 2]>();

/// Checks that a swarm makes sound, and that an array holds the same number of samples for each
/// env.
pub(super) fn check(config: &SwarmConfig, bytes: usize) -> PyResult<()> {
    if !config.sound {
        return Err(PyValueError::new_err("this swarm makes no sound: make it with `sound=True`"));
    }
    let each = SAMPLE_BYTES * config.num_envs;
    if bytes == 0 || !bytes.is_multiple_of(each) {
        let message = format!("`out` has {bytes} bytes, and a sample of each env has {each}");
        return Err(PyValueError::new_err(message));
    }
    Ok(())
}

/// Writes the newest samples of the marked envs, after zeros if there are fewer.
pub(super) fn fill(swarm: &Swarm, out: &mut [u8], mask: Option<&[u8]>) -> Result<(), SwarmError> {
    let row = out.len() / swarm.config().num_envs;
    for (env, row) in out.chunks_mut(row).enumerate() {
        if mask.is_some_and(|mask| mask.get(env) != Some(&1)) {
            continue;
        }
        let samples: &[u8] = bytemuck::cast_slice(swarm.samples(env)?);
        let newest = &samples[samples.len().saturating_sub(row.len())..];
        let (zeros, end) = row.split_at_mut(row.len() - newest.len());
        zeros.fill(0);
        end.copy_from_slice(newest);
    }
    Ok(())
}
