//! The parts that both models of a Game Boy have alike: the cartridge with its header, and the
//! small chips. Each part sees only its own section of the machine and its arguments.
//!
//! The packages `gbxcule-gameboy` and `gbxcule-gameboy-color` add what the models have each in
//! their own form, and export these parts under the same paths (`gbxcule_gameboy::cart`).
//!
//! The files `boot_rom`, `compatibility_palette`, `header`, `power_on_memory`, `revision` and
//! `state` run on the host only. The kernel compiler reads the others among the machine's sources
//! (`gbxcule_gameboy::SOURCES`), so they keep to its subset of Rust.
#![no_std]
// The subset has neither `contains` of ranges nor iterators.
#![allow(clippy::manual_range_contains, clippy::needless_range_loop)]

pub mod boot_rom;
pub mod cart;
mod compatibility_palette;
pub mod header;
pub mod interrupts;
pub mod joypad;
mod power_on_memory;
mod revision;
pub mod serial;
pub mod state;
pub mod step;
pub mod super_game_boy;
pub mod timer;

pub use power_on_memory::PowerOnMemory;
pub use revision::Revision;
