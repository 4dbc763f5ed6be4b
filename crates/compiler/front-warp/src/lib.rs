//! The Python front end: NVIDIA Warp's dialect, read as text.
//!
//! A text is parsed once ([`Program::parse`]). Each of its kernels is then lowered into its own
//! module ([`Reader::lower`]), or several kernels into one ([`Reader::compile_kernels`]). Python
//! never runs: a construct whose meaning only a run could tell is refused, with its line and a
//! stable code. No text makes this crate panic.
//!
//! # Generic kernels
//! A kernel with `Any` in its signature is compiled for the types of each `wp.overload(kernel,
//! ..)` in the text, or for types that the caller gives ([`ImportOptions::types`]). The front end
//! guesses no types; only [`Reader::with_trial_types`] tries some.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod entry_point;
mod lower;
mod module_builder;
mod program;
mod reader;

pub use entry_point::{EntryParam, EntryPoint};
pub use gbxcule_ir::source::FileText;
pub use gbxcule_python_names::{ImportOptions, ReadFile, Texts};
pub use gbxcule_warp_types::library::Library;
pub use program::Program;
pub use reader::{GenericParameter, KernelName, Reader};
