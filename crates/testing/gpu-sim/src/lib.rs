//! Runs machine code of NVIDIA's compilers without a GPU.
//!
//! [`sass::module::LoadedCubin`] runs the machine code of a cubin, for tests and for answers in
//! CUDA; `docs/testing.md` says what the simulation shows and what it can't. The stand-in for
//! NVIDIA's driver (`crates/testing/testkit/src/stand_in`) loads this crate as a library.

pub mod sass;
