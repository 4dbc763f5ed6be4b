//! Allocation of the swarm's arrays on its device, all in the swarm's stream.

use gbxcule_ir::Scalar;
use gbxcule_runtime::{Array, DataType, Device, Element, Stream};

use crate::{SwarmError, capacity};

/// The device and stream in which arrays are made.
#[derive(Debug, Clone)]
pub(crate) struct Memory {
    pub(crate) stream: Stream,
}

impl Memory {
    /// Makes a new stream on a device.
    pub(crate) fn new(device: Device) -> Result<Self, SwarmError> {
        Ok(Self { stream: Stream::new(device)? })
    }

    /// Allocates an array of zeros.
    pub(crate) fn zeros(&self, of: Scalar, shape: &[usize]) -> Result<Array, SwarmError> {
        Ok(self.stream.zeros(DataType::Scalar(of), shape)?)
    }

    /// Allocates `count` bytes of zeros.
    pub(crate) fn bytes(&self, count: usize) -> Result<Array, SwarmError> {
        self.zeros(Scalar::U8, &[count])
    }

    /// Allocates a copy of the host's elements.
    pub(crate) fn copy_of<T: Element>(&self, elements: &[T]) -> Result<Array, SwarmError> {
        Ok(self.stream.from_slice(elements)?)
    }

    /// Refuses envs that the memory of a GPU can't hold.
    pub(crate) fn fits(&self, num_envs: usize, env_bytes: u64) -> Result<(), SwarmError> {
        let Some(free_bytes) = self.stream.free_bytes()? else { return Ok(()) };
        capacity::check(self.stream.device(), free_bytes, env_bytes, num_envs)
    }
}
