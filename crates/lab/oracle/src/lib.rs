//! The caller's end of the oracles: PyBoy and NVIDIA Warp, each in a child process that exchanges
//! frames.
//!
//! The other end is the Python package's `gbxcule.oracle`. A child may die, hang or print anything;
//! the caller always gets an answer or an error within the limit that it set.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod child;
mod error;
mod python;
mod restarting;

pub use child::{Answer, OracleChild};
pub use error::OracleError;
pub use python::Python;
pub use restarting::RestartingOracle;
