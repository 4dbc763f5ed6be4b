//! Kernels from text, their gradients, and swarms of Game Boys: the library for programs in Rust.
//!
//! [`Program`] reads a text in NVIDIA Warp's dialect. A [`Kernel`] of it runs on a [`Device`] over
//! slices of the caller ([`Launch`]) or over arrays that stay on the device ([`Array`]). The module
//! `swarm` steps Game Boys.
#![doc = include_str!("../README.md")]

mod error;
mod kernel;
mod launch;
mod program;
#[cfg(feature = "swarm")]
pub mod swarm;

pub use error::Error;
pub use gbxcule_runtime::{Argument, Array, DataType, Device, Element, Stream};
pub use kernel::Kernel;
pub use launch::Launch;
pub use program::Program;
