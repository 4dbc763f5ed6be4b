//! One Game Boy, written once in plain Rust: the original (DMG) or, with the flag `color`, the
//! Color.
//!
//! The package `gbxcule-gameboy-color` compiles these files a second time, with the flag set. Code
//! for one model alone stands behind `#[cfg(color)]` or `#[cfg(not(color))]`. Where both models run
//! the same line with other numbers, it tests the constant `COLOR`.
//!
//! Every file but `boot_rom`, `compatibility_palette`, `header`, `power_on`, `power_on_memory`,
//! `revision`, `source`, `state` and `step_with`, which run on the host only, keeps to a small
//! subset of the language, so that the kernel compiler can read the very same text and print it for
//! a GPU.
//!
//! The CPU drives the clock: each memory access takes place at `now` and then advances it by one
//! M-cycle. Every other chip is lazy: it is brought up to `now` only when it is read or
//! when its deadline comes. See `machine` for the loop and `bus` for the accesses.
//!
//! ```text
//!   cpu --address, value--> bus --+--> cart, wram, hram
//!    ^                            +--> joypad, serial, timer, apu
//!    |                            +--> ppu <--> vram, oam --> frame
//! interrupts <-- every chip       +--> dma: bus --> oam    hdma (Color): bus --> vram
//! ```
//!
//! A chip's methods see its own section of `Machine` and what they are passed. Where several chips
//! meet, as where the PPU reads memory and requests an interrupt, a function in the file of the
//! chip that acts takes the machine, as the CPU's functions do.
#![no_std]
// The subset has neither `contains` of ranges nor macros.
#![allow(clippy::manual_range_contains)]

pub mod apu;
pub mod boot_control;
#[cfg(not(color))]
pub mod boot_rom;
pub mod bus;
pub mod color;
pub mod cpu;
pub mod dma;
pub mod hdma;
pub mod hook;
pub mod kernel_call;
pub mod link;
pub mod machine;
mod power_on;
pub mod ppu;
pub mod serial;
pub mod source;
pub mod speed;
pub mod state;
mod step_with;
pub mod view;

// Both models have these, so the Color takes the original's.
#[cfg(not(color))]
pub mod cart;
#[cfg(not(color))]
mod compatibility_palette;
#[cfg(not(color))]
pub mod header;
#[cfg(not(color))]
pub mod interrupts;
#[cfg(not(color))]
pub mod joypad;
#[cfg(not(color))]
mod power_on_memory;
#[cfg(not(color))]
mod revision;
#[cfg(not(color))]
pub mod step;
mod stop;
#[cfg(not(color))]
pub mod super_game_boy;
#[cfg(not(color))]
pub mod timer;
#[cfg(color)]
pub use gbxcule_gameboy::{
    PowerOnMemory, Revision, boot_rom, cart, header, interrupts, joypad, step, timer,
};
#[cfg(not(color))]
pub use power_on_memory::PowerOnMemory;
#[cfg(not(color))]
pub use revision::Revision;

pub use header::{Cartridge, Model, RomError};
pub use machine::{COLOR, FRAME_MCYCLES, Machine};
pub use ppu::FRAME_BYTES;
pub use source::{FLAGS, SOURCES, USUAL_FLAGS};
pub use step::Step;

/// Example of the README, run as a test of the documentation.
#[cfg(all(doctest, not(color)))]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

/// Example of the Color's README.
#[cfg(all(doctest, color))]
#[doc = include_str!("../color/README.md")]
struct ReadmeExample;
