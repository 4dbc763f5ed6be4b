//! Arrays on the swarm's device: the one place that makes them, all in the swarm's own stream.

use gbxcule_ir::Scalar;
use gbxcule_runtime::{Array, DataType, Device, Element, Stream};

use crate::{SwarmError, capacity};

/// The device and stream in which arrays are made.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    pub(crate) stream: Stream,
}

impl Memory {
    /// A stream of its own on a device.
    pub(crate) fn new(device: Device) -> Result<Self, SwarmError> {
        Ok(Self { stream: Stream::new(device)? })
    }

    /// Zeros.
    pub(crate) fn zeros(&self, of: Scalar, shape: &[usize]) -> Result<Array, SwarmError> {
        Ok(self.stream.zeros(DataType::Scalar(of), shape)?)
    }

    /// Allocates `count` bytes of zeros.
    pub(crate) fn bytes(&self, count: usize) -> Result<Array, SwarmError> {
        self.zeros(Scalar::U8, &[count])
    }

    /// A copy of the host's elements.
    pub(crate) fn copy_of<T: Element>(&self, elements: &[T]) -> Result<Array, SwarmError> {
        Ok(self.stream.from_slice(elements)?)
    }

    /// Refuses more envs than a device with memory of its own has room for.
    pub(crate) fn fits(&self, num_envs: usize, env_bytes: u64) -> Result<(), SwarmError> {
        let Some(free_bytes) = self.stream.free_bytes()? else { return Ok(()) };
        capacity::check(self.stream.device(), free_bytes, env_bytes, num_envs)
    }
}
