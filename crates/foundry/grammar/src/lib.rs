//! Kernels sampled from typed grammars, and the inputs of their launches.
//!
//! [`draft()`] draws a kernel in NVIDIA Warp's dialect from a seed: a tree (`ast`) that is printed
//! as Python (`spell`). [`input`] draws the arguments of a launch, each by its position, so that a
//! row stores a seed instead of data. This crate compiles and runs nothing.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod ast;
mod draft;
mod identifiers;
pub mod input;
pub mod random;
mod spell;

pub use draft::{Draft, Family, draft};
