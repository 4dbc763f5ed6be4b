//! The swarm as compiled kernels: the machine's own sources, read by our compiler, run by `gbxcule_runtime` on
//! the device that [`DeviceSwarm`] was asked for. What it does there is what [`crate::NativeSwarm`] does.
//!
//! `translation` reads the sources, `column` and `part` say where a machine's state lies on the device, `step`,
//! `inspect` and `transfer` build the kernels, `memory` makes arrays, `image` carries a machine from the host's form to the device's
//! and back. `swarm` launches, `look` gives what somebody wants to see.

mod column;
mod image;
mod inspect;
mod look;
mod memory;
mod part;
mod step;
mod swarm;
#[cfg(test)]
mod tests;
mod transfer;
mod translation;

pub use part::Layout;
pub use step::step_module;
pub use swarm::{DeviceConfig, DeviceSwarm};
