//! Sound as samples, on request: computed beside the machine from the writes to its sound
//! registers.
//!
//! The machine itself keeps what programs can read back (`gbxcule_gameboy::apu`). [`Sound`] runs a
//! copy of that with what only ears notice: the steps of the waves, the volumes and the noise. It
//! runs the machine one instruction at a time, so that no write is missed, and changes nothing in
//! it; nobody who doesn't ask for sound pays for it. Everything is whole numbers, so the samples
//! are the same everywhere.

mod channels;
mod envelope;
mod mixer;
mod noise;
mod pulse;
mod sound;
mod wav;

pub use channels::Levels;
pub use mixer::{Frame, SAMPLE_MCYCLES, SAMPLES_PER_FRAME};
pub use sound::Sound;
pub use wav::{sample_rate, wav};

/// Example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
