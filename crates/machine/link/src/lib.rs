//! The link cable: two machines of one model, run together.
//!
//! The package `gbxcule-link-color` compiles these files a second time, with the flag `color`, for
//! the Color. The kernel compiler reads them among the machine's sources
//! (`gbxcule_gameboy::SOURCES`), so they keep to its subset of Rust. A machine without a cable
//! needs none of this.
#![no_std]
// The subset has no `contains` of ranges.
#![allow(clippy::manual_range_contains)]

#[cfg(not(color))]
use gbxcule_gameboy as gameboy;
#[cfg(color)]
use gbxcule_gameboy_color as gameboy;

// The files name the machine's modules as the machine's own files do.
use gameboy::{cpu, dma, interrupts, machine, serial, step, view};

mod link;
pub mod pair;

pub use link::{CableEnd, FRAME_TCYCLES, LEAD_TCYCLES, Link};
