//! One Game Boy, written once in plain Rust: the original (DMG) or, with the flag `color`, the
//! Color.
//!
//! The package `gbxcule-gameboy-color` compiles these files a second time, with the flag set. Code
//! for one model alone stands behind `#[cfg(color)]` or `#[cfg(not(color))]`. Where the models
//! differ only in numbers, code tests the constant `COLOR`. Parts that see only their own section
//! of the machine have crates of their own: `chips`, which both models use, and `apu`, which is
//! compiled for each.
//!
//! The files `kept_color_line`, `kept_line`, `power_on`, `source`, `state` and `step_with` run on
//! the host only. All other files keep to a small subset of Rust, so that the kernel compiler can
//! translate the same text for GPUs; they call the two files of kept lines behind the flag
//! `keeps_lines`, which the compiler doesn't set.
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
//! A chip's methods see the chip's section of `Machine` and their arguments. Work that involves
//! several chips, such as the PPU's reads of memory and its interrupts, is done by functions in the
//! file of the acting chip; they take the whole machine, as the CPU's functions do.
#![cfg_attr(all(doctest, not(color)), doc = include_str!("../README.md"))]
#![cfg_attr(all(doctest, color), doc = include_str!("../color/README.md"))]
#![no_std]
// The subset has neither `contains` of ranges nor iterators.
#![allow(clippy::manual_range_contains, clippy::needless_range_loop)]

pub mod boot_control;
pub mod bus;
pub mod color;
pub mod cpu;
pub mod dma;
mod hblank_interrupt;
pub mod hdma;
pub mod hook;
pub mod kernel_call;
pub mod machine;
mod power_on;
pub mod ppu;
pub mod source;
pub mod speed;
pub mod state;
mod step_with;
mod stop;
pub mod view;

#[cfg(not(color))]
pub use gbxcule_apu as apu;
#[cfg(color)]
pub use gbxcule_apu_color as apu;
pub use gbxcule_chips::{
    PowerOnMemory, Revision, boot_rom, cart, header, interrupts, joypad, serial, step,
    super_game_boy, timer,
};
pub use header::{Cartridge, Model, RomError};
pub use machine::{COLOR, FRAME_MCYCLES, Machine};
pub use ppu::FRAME_BYTES;
pub use source::{FLAGS, SOURCES, USUAL_FLAGS};
pub use step::Step;
pub use step_with::run_frame_pressing_at;
