//! The swarm as compiled kernels: our compiler reads the machine's sources, and `gbxcule_runtime`
//! runs the kernels on the device of the [`crate::DeviceSwarm`]. The results equal those of
//! [`crate::NativeSwarm`].
//!
//! `machine_ir` reads the sources, `column` and `state_arrays` lay out a machine's state on the
//! device. `kernel` makes kernels from functions of `kernel_source`: `step` (with `single_frames`),
//! `begin`, `inspect`, and `link` for pairs. `copy_env` copies whole envs. `dialect_kernel`
//! compiles kernels that are written wholly in the dialect. `memory` makes arrays, `host_copy`
//! carries a machine from the host's form to the device's and back. `manual_buttons` holds the
//! buttons that a caller presses by hand. `rollout` runs steps in which nothing crosses the host.
//! `kernel_set` compiles the kernels of a swarm or finds them by their `recipe`; `swarm` launches
//! them, `engine` has the calls of every swarm, `outputs` reads results and machines.

mod begin;
mod buffers;
mod column;
mod copy_env;
mod dialect_kernel;
mod engine;
mod host_copy;
mod inspect;
mod kernel;
mod kernel_set;
mod link;
mod machine_ir;
mod manual_buttons;
mod memory;
mod outputs;
mod picture_stack;
mod recipe;
mod rollout;
mod single_frames;
mod state_arrays;
mod step;
mod sticky;
mod swarm;
#[cfg(test)]
mod tests;

pub use begin::begin_module;
pub(crate) use dialect_kernel::compiled;
pub use link::{outputs_kernel, pair_kernel};
pub use picture_stack::pictures_module;
pub use rollout::{MemoryNumber, RolloutArrays, RolloutConfig, RolloutState, refused_action};
pub use step::{Order, step_module};
pub use sticky::sticky_module;
pub use swarm::{DeviceConfig, DeviceEngine};
