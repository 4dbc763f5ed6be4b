//! NVIDIA GPUs, through the driver's library, which is loaded when a GPU is first used.
//!
//! This code is not needed where the CPU is the only device, and then never runs. A context is a
//! device that is ready for work; a queue is a stream of the device with the work that waits in
//! it. Memory, code and launches belong to a queue. Only these files call the driver.

mod context;
mod driver;
mod launch;
mod memory;
mod module;
mod pinned;
mod queue;

pub(crate) use memory::Memory;
pub(crate) use module::{Image, LaunchTable};
pub(crate) use queue::{Queue, QueueMark, StreamOrder};

use crate::error::Error;
use crate::nvrtc::Arch;
use std::fmt;

/// Facts that the driver reports about itself and its devices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Driver {
    /// Major and minor version of the newest CUDA that the driver supports.
    pub cuda: (u32, u32),
    /// Devices by ordinal.
    pub gpus: Vec<Gpu>,
}

/// A device of the driver.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Gpu {
    /// Commercial name.
    pub name: String,
    /// Architecture.
    pub arch: Arch,
    /// Memory in bytes.
    pub memory_bytes: u64,
}

impl fmt::Display for Gpu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gibibytes = self.memory_bytes as f64 / f64::from(1 << 30);
        write!(f, "{}, {}, {gibibytes:.0} GiB", self.name, self.arch)
    }
}

impl Driver {
    /// Asks the driver; an error if there is no driver, or no device.
    pub fn find() -> Result<Self, Error> {
        let cuda = driver::load()?;
        let gpus = (0..driver::device_count()?).map(driver::gpu).collect::<Result<_, _>>()?;
        Ok(Self { cuda, gpus })
    }
}
