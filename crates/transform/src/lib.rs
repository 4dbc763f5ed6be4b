//! From one checked module to another: passes and gradients.
//!
//! Pure: no I/O, no unsafe. [`pass`] reshapes a module without changing what it does; [`grad`] adds
//! the functions that carry gradients backwards.

pub mod grad;
pub mod pass;

/// Example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
