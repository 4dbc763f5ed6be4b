//! Turns one checked module into another: passes and gradients.
//!
//! Pure: no I/O, no unsafe. [`pass`] reshapes a module without changing what it does; [`grad`] adds
//! the functions that carry gradients backwards; [`specialise`] leaves of a function what part of
//! its arguments does not decide.

pub mod grad;
pub mod pass;
pub mod specialise;

/// Example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
