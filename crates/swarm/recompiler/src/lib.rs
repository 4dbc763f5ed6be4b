//! Code made for a ROM: the machine's own source, specialised block by block.
//!
//! ROM does not change, so where PC is known, opcodes and operands are known, too.
//! `gbxcule_passes::specialise` evaluates most of `Cpu::fetch` and `Cpu::execute`, as the Rust
//! front end reads them, in advance. [`Block`] is the remaining code as IR, [`BlockCode`] its
//! machine code, which changes the native machine in place, and [`BlockTable`] maps addresses to
//! blocks. [`EagerRunner`] runs one machine by blocks; [`Runner`] runs machines of a swarm by
//! [`SharedBlocks`], which a background thread makes. The interpreter defines what a block must do,
//! and goes on where a block ends.
//!
//! The package in the folder `color` compiles these sources for the Color.
#![cfg_attr(all(doctest, not(color)), doc = include_str!("../README.md"))]
#![cfg_attr(all(doctest, color), doc = include_str!("../color/README.md"))]

// The Color's machine has the same functions.
#[cfg(color)]
extern crate gbxcule_gameboy_color as gbxcule_gameboy;

mod block;
mod code;
mod host_call;
#[cfg(not(color))]
mod hot_code;
mod kept_heads;
mod learning;
mod machine_ir;
mod maker;
#[cfg(not(color))]
mod recompile;
mod runner;
mod shared_blocks;
mod table;
mod trial;

pub use block::{Block, MemoryMap};
pub use code::{BlockCode, Memories};
#[cfg(color)]
pub use gbxcule_recompiler::Recompile;
#[cfg(not(color))]
pub use hot_code::HotCode;
pub use machine_ir::MachineIr;
#[cfg(not(color))]
pub use recompile::Recompile;
pub use runner::EagerRunner;
pub use shared_blocks::{Runner, SharedBlocks};
pub use table::BlockTable;
