//! Kernels that a device can run.

use crate::error::Error;
use crate::launch::Launch;
use gbxcule_runtime::{Argument, Device};

/// A kernel, compiled for one device. Cheap to clone.
#[derive(Clone)]
pub struct Kernel {
    compiled: gbxcule_runtime::Kernel,
}

impl Kernel {
    pub(crate) fn new(compiled: gbxcule_runtime::Kernel) -> Self {
        Self { compiled }
    }

    /// Returns the device.
    pub fn device(&self) -> Device {
        self.compiled.device()
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.compiled.reflection().name
    }

    /// Returns true if the kernel may write the array of a parameter, or its gradient.
    pub(crate) fn writes(&self, position: usize) -> bool {
        self.compiled.reflection().parameters.get(position).is_some_and(|it| it.written)
    }

    /// Returns the names of the parameters, in order.
    pub fn parameters(&self) -> Vec<&str> {
        self.compiled.reflection().parameters.iter().map(|it| it.name.as_str()).collect()
    }

    /// Begins a launch over a grid of one to four dimensions, with slices of the caller.
    pub fn launch<'s>(&self, grid: &[usize]) -> Launch<'s> {
        Launch::new(self, grid)
    }

    /// Launches over a grid with arrays on the device. On the CPU the call returns at the launch's
    /// end; on CUDA it queues the launch in the stream of its arrays.
    ///
    /// # Errors
    /// An argument doesn't fit its parameter, the grid is too large, or (on the CPU) a thread
    /// faulted.
    pub fn launch_arrays(&self, grid: &[usize], arguments: &[Argument]) -> Result<(), Error> {
        Ok(self.compiled.launch(grid, arguments)?)
    }
}
