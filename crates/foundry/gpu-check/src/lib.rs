//! Runs CUDA texts of unknown origin without a GPU: NVRTC compiles them in the sandbox
//! ([`compiler`]), and the simulator executes the machine code and finds races ([`launch`]).
//!
//! `grading` runs answers in CUDA by this crate, and the verb `check` runs a file.

pub mod compiler;
pub mod cost;
mod held;
pub mod launch;
pub mod launch_line;
pub mod source_check;
