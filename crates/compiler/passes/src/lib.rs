//! Turns one checked module into another: passes and gradients.
//!
//! Pure: no I/O, no unsafe. [`pass`] reshapes a module without changing what it does; [`grad`] adds
//! the functions that carry gradients backwards; [`specialise`] runs a function on partly known
//! arguments and keeps the rest as code.

pub mod grad;
pub mod pass;
pub mod specialise;

/// Example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
