//! The lab: holds the swarm against references, measures it honestly, and writes down what was
//! found.
//!
//! Everything that can run Game Boys is a [`Backend`]: ours, PyBoy in child processes, libmgba, and
//! one that is wrong on purpose. [`verify`] steps two of them in lockstep; [`bundle`] writes a
//! disagreement down so that it can be replayed; [`bench`] times them; [`report`] draws what was
//! timed; [`doctor`] says what this machine has.

pub mod action_source;
pub mod artifact;
pub mod backend;
pub mod bench;
pub mod bundle;
pub mod command;
pub mod doctor;
mod error;
pub mod experiments;
pub mod gpu_report;
mod plot;
pub mod program;
pub mod region;
pub mod replay;
pub mod report;
pub mod suite;
pub mod system;
pub mod verify;

pub use backend::{Backend, BackendConfig, BackendKind};
pub use error::LabError;

/// Example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
