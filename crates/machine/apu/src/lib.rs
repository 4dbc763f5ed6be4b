//! The audio unit of one model: its registers as programs see them. The crate `sound` makes
//! samples.
//!
//! The package `gbxcule-apu-color` compiles these files a second time, with the flag `color`. Code
//! for one model alone stands behind `#[cfg(color)]` or `#[cfg(not(color))]`. The kernel compiler
//! reads `apu` and the files below it among the machine's sources (`gbxcule_gameboy::SOURCES`), so
//! they keep to its subset of Rust; `state` runs on the host only.
#![no_std]
// The subset has no `contains` of ranges.
#![allow(clippy::manual_range_contains)]

mod apu;
mod state;

pub use apu::{Apu, LastWrites, PowerOnGlitch, Sequencer, Sweep, Wave};
#[cfg(color)]
pub use apu::{Envelope, Noise, Pulse, Voices};
pub use state::check_apu;
