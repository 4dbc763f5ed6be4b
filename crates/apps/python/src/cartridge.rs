//! Devices in the cartridges of a swarm, tilt sensors and motors; borders and controllers of a
//! Super Game Boy.

use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::swarm::{Swarm, as_mask};

/// Tilts the cartridges of the envs that nonzero bytes mark; there is a row of two numbers for each
/// of these envs.
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
    swarm.read(py, gbxcule_swarm::Swarm::rumbles)
}

/// Returns the envs' pictures with their borders, 224 lines of 256 pixels of three bytes, one
/// picture after the other.
#[pyfunction]
pub(crate) fn bordered_pictures<'py>(
    py: Python<'py>,
    swarm: &Swarm,
) -> PyResult<Bound<'py, PyBytes>> {
    let pictures = swarm.read(py, |swarm| {
        let picture = |env| swarm.bordered_picture(env);
        (0..swarm.config().num_envs).map(picture).collect::<Result<Vec<_>, _>>()
    })?;
    let bytes: Vec<u8> = pictures.into_iter().flatten().flat_map(gbxcule_swarm::rgb).collect();
    Ok(PyBytes::new(py, &bytes))
}

/// Holds buttons on a controller of the envs marked by bytes that are not 0.
#[pyfunction]
pub(crate) fn set_controllers(
    py: Python<'_>,
    swarm: &Swarm,
    mask: &[u8],
    controller: u8,
    buttons: &[u8],
) -> PyResult<()> {
    let mask = as_mask(mask);
    swarm.change(py, |swarm| swarm.set_controllers(&mask, controller, buttons))
}
