//! The Python front end: NVIDIA Warp's dialect, read as text.
//!
//! A text is parsed once ([`Program::parse`]); each of its kernels is then lowered into a module of
//! its own or of several. Python never runs: a construct whose meaning only a run could tell is
//! refused, with its line and a stable code. Nothing here panics on any text.
//!
//! # Generic kernels
//! A kernel with `Any` in its signature is compiled for the types of each `wp.overload(kernel, ..)`
//! in the text, or for those that the caller gives ([`ImportOptions::types`]). Nothing is guessed:
//! only [`Reader::with_trial_types`] tries types.

mod entry_point;
mod lower;
mod program;
mod reader;

pub use entry_point::{EntryParam, EntryPoint};
pub use gbxcule_ir::source::FileText;
pub use gbxcule_python_names::{ImportOptions, ReadFile, Texts};
pub use gbxcule_warp_types::library::Library;
pub use program::Program;
pub use reader::{GenericParameter, KernelName, Reader};

/// Example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
