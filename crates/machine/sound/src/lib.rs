//! Samples of a machine's sound, computed on request from the writes to its sound registers.
//!
//! The machine holds only the state that programs can read (`gbxcule_gameboy::apu`). [`Sound`] has
//! separate channels, which also hold the state that programs cannot read: the steps of the waves,
//! the volumes and the noise. It runs the machine one instruction at a time, so that it sees every
//! write, and does not change the machine's behaviour. A machine without sound pays nothing. All
//! arithmetic is on integers, so the samples are the same everywhere.
//!
//! The package in the folder `color` compiles these sources for the Color, whose machine computes
//! the levels itself.
#![cfg_attr(all(doctest, not(color)), doc = include_str!("../README.md"))]
#![cfg_attr(all(doctest, color), doc = include_str!("../color/README.md"))]

// The Color's machine has the same functions.
#[cfg(color)]
extern crate gbxcule_gameboy_color as gbxcule_gameboy;

#[cfg(not(color))]
mod channels;
#[cfg(color)]
mod color_channels;
#[cfg(not(color))]
mod envelope;
mod fields;
mod mixer;
#[cfg(not(color))]
mod noise;
#[cfg(not(color))]
mod pulse;
mod sound;
#[cfg(not(color))]
mod wav;

pub use mixer::{Levels, SAMPLE_MCYCLES, SAMPLES_PER_FRAME, StereoSample};
pub use sound::Sound;
#[cfg(not(color))]
pub use wav::{sample_rate, wav};
