//! Runs PTX and machine code of NVIDIA's compilers without a GPU.
//!
//! [`ptx::translate`] turns the PTX that NVRTC prints into C++, instruction by instruction, and
//! [`object::build`] makes a shared object of it, which the stand-in for NVIDIA's driver loads
//! (`crates/testing/testkit/src/stand_in`). [`sass::module::LoadedCubin`] runs machine code, for
//! tests and for answers in CUDA; `docs/testing.md` says what the simulation shows and what it
//! can't.

pub mod object;
pub mod ptx;
pub mod sass;

/// Example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
