//! Devices in the cartridges of a swarm: tilt sensors and motors.

use pyo3::prelude::*;

use crate::swarm::{Swarm, as_mask};

/// Tilts the cartridges of the envs marked by bytes that are not 0, with a row of two numbers for
/// each of them.
#[pyfunction]
#[allow(clippy::needless_pass_by_value, reason = "PyO3 passes lists by value")]
pub(crate) fn set_tilts(
    py: Python<'_>,
    swarm: &Swarm,
    mask: &[u8],
    tilts: Vec<[f32; 2]>,
) -> PyResult<()> {
    let mask = as_mask(mask);
    swarm.change(py, |swarm| swarm.set_tilts(&mask, &tilts))
}

/// Returns true for each env whose cartridge's motor runs.
#[pyfunction]
pub(crate) fn rumbles(py: Python<'_>, swarm: &Swarm) -> PyResult<Vec<bool>> {
    swarm.look(py, gbxcule_swarm::Swarm::rumbles)
}
