//! Steps with actions on the swarm's CUDA device, and the order between its stream and others.

// PyO3 passes arguments by value.
#![allow(clippy::needless_pass_by_value)]
#![allow(unsafe_code, reason = "memory and streams that Python objects lend")]

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use gbxcule_ir::Scalar;
use gbxcule_runtime::{Array, DataType, Device, Error, Mark, Stream};
use gbxcule_swarm::{
    DeviceEngine, MemoryNumber, RolloutArrays, RolloutConfig, RolloutState, SwarmError,
};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::array::DeviceArray;
use crate::dlpack::{Borrowed, CPU, CUDA, Element};
use crate::kernel::launch_target::DEFAULT_STREAM;
use crate::swarm::Swarm;

/// A number: address, number of bytes, and whether it is big-endian, signed, decimal.
type NumberTuple = (u32, u8, bool, bool, bool);

/// Lengths, returns, flags for finished episodes, and flags for episodes that continue with the
/// next step.
type StateTuple = (Vec<i32>, Vec<f32>, Vec<bool>, Vec<bool>);

/// Actions that the device may still read.
#[derive(Default)]
struct Lent {
    until: VecDeque<(Mark, Borrowed)>,
    /// Actions of steps in CUDA graphs, which may run again at any time.
    in_graphs: Vec<Borrowed>,
}

/// Rollouts of a swarm on its CUDA device.
#[pyclass(module = "gbxcule._native", frozen)]
pub(crate) struct Rollout {
    swarm: Py<Swarm>,
    config: RolloutConfig,
    lent: Mutex<Lent>,
}

#[pymethods]
impl Rollout {
    #[new]
    #[pyo3(signature = (
        swarm, *, same_step, max_episode_steps, program_pays, program_ends, changes, ends, lives
    ))]
    #[allow(clippy::too_many_arguments, reason = "keywords in Python")]
    fn new(
        py: Python<'_>,
        swarm: Py<Swarm>,
        same_step: bool,
        max_episode_steps: Option<u32>,
        program_pays: bool,
        program_ends: bool,
        changes: Vec<(NumberTuple, f32)>,
        ends: Vec<NumberTuple>,
        lives: Option<NumberTuple>,
    ) -> PyResult<Self> {
        let changes = changes.into_iter().map(|(tuple, scale)| (number(tuple), scale)).collect();
        let ends = ends.into_iter().map(number).collect();
        let config = RolloutConfig {
            same_step,
            max_episode_steps,
            program_pays,
            program_ends,
            changes,
            ends,
            lives: lives.map(number),
        };
        let rollout = Self { swarm, config, lent: Mutex::default() };
        rollout.change(py, |swarm, config| swarm.prepare_rollout(config).map(drop))?;
        Ok(rollout)
    }

    /// Returns the rollout's arrays by name.
    fn arrays<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let RolloutArrays {
            returns,
            lengths,
            terminated,
            truncated,
            final_observations,
            action_masks,
        } = self.change(py, |swarm, config| swarm.prepare_rollout(config).cloned())?;
        let arrays = PyDict::new(py);
        for (name, array) in [
            ("terminated", terminated),
            ("truncated", truncated),
            ("returns", returns),
            ("lengths", lengths),
            ("final_observations", final_observations),
            ("action_masks", action_masks),
        ] {
            if !array.shape().contains(&0) {
                arrays.set_item(name, Bound::new(py, DeviceArray::new(array))?)?;
            }
        }
        Ok(arrays)
    }

    /// Begins a rollout from these positions in the envs' episodes.
    fn enter(
        &self,
        py: Python<'_>,
        lengths: Vec<i32>,
        returns: Vec<f32>,
        over: Vec<bool>,
        goes_on: Vec<bool>,
    ) -> PyResult<()> {
        let state = RolloutState { lengths, returns, over, goes_on };
        self.change(py, |swarm, config| {
            swarm.prepare_rollout(config)?;
            swarm.enter_rollout(&state)
        })
    }

    /// Queues a step with actions on the device. The actions stay borrowed until the device has
    /// read them.
    fn step(&self, py: Python<'_>, actions: &Bound<'_, PyAny>) -> PyResult<()> {
        let tables = self.swarm.get().read(py, |swarm| Ok(swarm.config().codec.choices().len()))?;
        let (device, stream) =
            self.change(py, |swarm, _| Ok((swarm.device().device, swarm.stream().clone())))?;
        check_device(actions, device)?;
        let borrowed = Borrowed::in_order_of(actions, stream.handle())?;
        let array = array_of(&borrowed, &stream, tables)?;
        let stepped = self.change(py, |swarm, _| swarm.step_rollout(&array));
        drop(array);
        // After an error the device may still read the actions.
        self.hold_until_read(&stream, borrowed)?;
        stepped
    }

    /// Ends a rollout and waits for its steps. Returns lengths and returns of the episodes so far,
    /// and flags for envs whose next step begins another episode; `None` if there is no rollout.
    fn leave(&self, py: Python<'_>) -> PyResult<Option<StateTuple>> {
        let left = self.change(py, |swarm, _| swarm.leave_rollout());
        self.lent.lock().unwrap_or_else(PoisonError::into_inner).until.clear();
        let left = left?;
        Ok(left.map(|it| (it.lengths, it.returns, it.over, it.goes_on)))
    }
}

/// Makes the swarm wait for the work queued so far in a stream of its device: on the device, not on
/// the host.
#[pyfunction]
pub(crate) fn wait_for(py: Python<'_>, swarm: &Swarm, stream: u64) -> PyResult<()> {
    order(
        py,
        swarm,
        |own, other| {
            // SAFETY: the caller of the Python function vouches for the stream.
            unsafe { own.wait_for(other) }
        },
        stream,
    )
}

/// Makes a stream of the swarm's device wait for the work queued so far for the swarm: on the
/// device, not on the host.
#[pyfunction]
pub(crate) fn ready_on(py: Python<'_>, swarm: &Swarm, stream: u64) -> PyResult<()> {
    order(
        py,
        swarm,
        |own, other| {
            // SAFETY: the caller of the Python function vouches for the stream.
            unsafe { own.make_wait(other) }
        },
        stream,
    )
}

fn order(
    py: Python<'_>,
    swarm: &Swarm,
    put: impl FnOnce(&Stream, u64) -> Result<(), Error> + Send,
    stream: u64,
) -> PyResult<()> {
    // Many libraries use 0 for the default stream.
    let other = if stream == 0 { DEFAULT_STREAM } else { stream };
    swarm.read(py, |swarm| {
        let Some(swarm) = swarm.as_device() else { return Ok(()) };
        Ok(put(swarm.stream(), other)?)
    })
}

impl Rollout {
    fn change<T: Send>(
        &self,
        py: Python<'_>,
        call: impl FnOnce(&mut DeviceEngine, &RolloutConfig) -> Result<T, SwarmError> + Send,
    ) -> PyResult<T> {
        self.swarm.get().change(py, |swarm| match swarm.as_device_mut() {
            Some(swarm) => call(swarm, &self.config),
            None => Err(SwarmError::NoRollout),
        })
    }

    /// Stores borrowed actions until the device has read them, and releases actions that it has
    /// read.
    fn hold_until_read(&self, stream: &Stream, actions: Borrowed) -> PyResult<()> {
        let failed = |error: Error| PyRuntimeError::new_err(error.to_string());
        let mut lent = self.lent.lock().unwrap_or_else(PoisonError::into_inner);
        // Events can't be used while a graph is captured.
        if stream.is_captured().map_err(failed)? {
            lent.in_graphs.push(actions);
            return Ok(());
        }
        lent.until.push_back((stream.mark().map_err(failed)?, actions));
        while let Some((mark, _)) = lent.until.front() {
            if !mark.is_passed().map_err(failed)? {
                break;
            }
            lent.until.pop_front();
        }
        Ok(())
    }
}

fn number((low, width_bytes, big_endian, signed, decimal): NumberTuple) -> MemoryNumber {
    MemoryNumber { low, width_bytes, big_endian, signed, decimal }
}

/// Refuses actions that lie on another device than the swarm.
fn check_device(actions: &Bound<'_, PyAny>, wanted: Device) -> PyResult<()> {
    let (kind, ordinal): (i32, i32) = actions.call_method0("__dlpack_device__")?.extract()?;
    let actions_device = match (kind, u32::try_from(ordinal)) {
        (CPU, _) => Device::Cpu.to_string(),
        (CUDA, Ok(ordinal)) => Device::Cuda(ordinal).to_string(),
        _ => format!("a device of DLPack's kind {kind}"),
    };
    if actions_device == wanted.to_string() {
        return Ok(());
    }
    Err(PyValueError::new_err(format!(
        "the actions lie on {actions_device}, and the machines on {wanted}: make them there, or pass a NumPy array"
    )))
}

/// Returns the actions in place, with a row for each env and a column for each table of the codec.
fn array_of(actions: &Borrowed, stream: &Stream, tables: usize) -> PyResult<Array> {
    let (found, shape) = (actions.element(), actions.shape());
    let scalars = [Scalar::I32, Scalar::I64, Scalar::U8];
    let Some(scalar) = scalars.into_iter().find(|scalar| Element::of(*scalar) == found) else {
        return Err(PyTypeError::new_err(format!(
            "actions on a device are int32, int64 or uint8, found {}",
            found.name()
        )));
    };
    if !actions.is_in_c_order() {
        return Err(PyValueError::new_err(
            "actions on a device lie in C order without gaps; `contiguous()` makes a tensor so",
        ));
    }
    let dims = if tables == 1 { 1 } else { 2 };
    if shape.len() != dims {
        let wanted = if dims == 1 { "[num_envs]" } else { "[num_envs, choices]" };
        return Err(PyValueError::new_err(format!(
            "actions on a device have the shape {wanted}, found {shape:?}"
        )));
    }
    let extents = [shape[0] as usize, shape.get(1).map_or(1, |&extent| extent as usize)];
    let size = scalar.bytes() as usize;
    let strides = [(extents[1] * size) as isize, size as isize];
    let address = actions.address().expose_provenance() as u64;
    let bytes = extents[0] * extents[1] * size;
    // SAFETY: the producer vouches for these elements until `actions` is dropped, which happens
    // when the stream has passed the step. It has made our stream wait for its own.
    let array =
        unsafe { stream.external(address, bytes, DataType::Scalar(scalar), 0, &extents, &strides) };
    array.map_err(|error| PyValueError::new_err(error.to_string()))
}
