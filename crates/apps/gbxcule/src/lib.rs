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
pub use gbxcule_back_cxx::{HEADER, HEADER_NAME};
pub use gbxcule_ir::diagnostic::{Code, Diagnostic};
pub use gbxcule_ir::source::Span;
pub use gbxcule_ir::{Literal, Scalar};
pub use gbxcule_runtime::nvrtc::Arch;
pub use gbxcule_runtime::{
    Argument, Array, DataType, Device, Element, Error as RunError, Fault, Mark, Stream, StructType,
    Traffic,
};
pub use kernel::Kernel;
pub use launch::Launch;
pub use program::{Program, ProgramOptions};

/// The page of the book, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../../../../docs/library.md")]
struct LibraryPage;
