//! The lab: compares the swarm with references, measures its speed, and records the results.
//!
//! Every program that can run Game Boys is a [`Backend`]: the swarm, PyBoy in child processes,
//! libmgba, and a stub that is wrong on purpose. [`verify`] steps two of them in lockstep;
//! [`bundle`] records a disagreement so that it can be replayed; [`bench`] measures speeds;
//! [`report`] draws them; [`doctor`] lists the tools of this computer.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

pub mod action_source;
pub mod artifact;
pub mod backend;
pub mod bench;
pub mod bundle;
pub mod command;
pub mod doctor;
mod error;
pub mod experiments;
pub mod game_log;
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
