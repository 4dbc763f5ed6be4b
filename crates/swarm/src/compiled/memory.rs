//! Arrays on the swarm's device: the one place that makes them.

use gbxcule_kernel::ir::Scalar;
use gbxcule_runtime::{Array, DataType, Device, Element, Error};

use crate::SwarmError;

/// Where arrays are made.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Memory {
    pub(crate) device: Device,
}

impl Memory {
    /// Zeros.
    pub(crate) fn zeros(self, of: Scalar, shape: &[usize]) -> Result<Array, SwarmError> {
        self.check()?;
        Ok(Array::zeros(DataType::Scalar(of), shape)?)
    }

    /// So many bytes, zero.
    pub(crate) fn bytes(self, count: usize) -> Result<Array, SwarmError> {
        self.zeros(Scalar::U8, &[count])
    }

    /// A copy of the host's elements.
    pub(crate) fn copied<T: Element>(self, elements: &[T]) -> Result<Array, SwarmError> {
        self.check()?;
        Ok(Array::from_slice(elements))
    }

    /// Arrays of this build are the host's: never one of those in place of the device's.
    fn check(self) -> Result<(), SwarmError> {
        match self.device {
            Device::Cpu => Ok(()),
            device @ Device::Cuda(_) => Err(Error::NoCuda(device).into()),
        }
    }
}
