//! One Game Boy (DMG), written once in plain Rust.
//!
//! Every file but `header`, `power_on`, `source` and `state`, which run on the host only, keeps to
//! a small subset of the language, so that the kernel compiler can read the very same text and
//! print it for a GPU.
//!
//! The CPU drives the clock: each memory access takes place at `now` and then advances it by one
//! M-cycle. Every other chip is lazy: it is brought up to `now` only when it is read or
//! when its deadline comes. See `machine` for the loop and `bus` for the accesses.
#![no_std]
// The subset has neither `contains` of ranges nor macros.
#![allow(clippy::manual_range_contains)]

pub mod apu;
pub mod bus;
pub mod cart;
pub mod cpu;
pub mod dma;
pub mod header;
pub mod hook;
pub mod interrupts;
pub mod joypad;
pub mod machine;
mod power_on;
pub mod ppu;
mod schedule;
pub mod serial;
pub mod source;
pub mod state;
pub mod step;
pub mod timer;
pub mod view;

pub use header::{Cartridge, RomError};
pub use machine::{FRAME_MCYCLES, Machine};
pub use power_on::PowerOnMemory;
pub use source::SOURCES;
pub use step::Step;

/// Bytes of one picture: 160 x 144 pixels of 2 bits, four to a byte, the leftmost in the top bits.
pub const FRAME_BYTES: usize = 5760;
