//! Turns one checked module into another: passes and gradients.
//!
//! The crate does no I/O and has no unsafe code. [`pass`] reshapes a module without changing what
//! it does; [`grad`] adds the functions that carry gradients backwards; [`specialise`] runs a
//! function on partly known arguments and leaves the operations that it can't compute as code.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod grad;
pub mod pass;
pub mod specialise;
