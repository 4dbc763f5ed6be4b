//! CUDA texts of unknown origin, run without a GPU: NVRTC compiles them in the sandbox
//! ([`compiler`]), the simulator executes the machine code and finds races ([`launch`]).
//!
//! `grading` uses it for each answer in CUDA, the verb `check` for a file.

pub mod compiler;
pub mod cost;
pub mod launch;
pub mod launch_line;
pub mod source_check;
