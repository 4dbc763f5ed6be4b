//! Code made for a ROM: the machine's own source, specialised block by block.
//!
//! ROM does not change. So where PC is known, opcodes and operands are: of `Cpu::fetch` and
//! `Cpu::execute`, as the Rust front end reads them, little is left
//! (`gbxcule_passes::specialise`). [`Block`] is such code as IR, [`Code`] as machine code that
//! works on the native machine where it lies, and [`Table`] has them by address. [`EagerRunner`]
//! runs one machine by it; [`Runner`] runs machines of a swarm by [`SharedBlocks`], which a thread
//! makes meanwhile. The interpreter defines what a block must do, and runs on where a block ends.

mod block;
mod code;
mod door;
mod hot_code;
mod kept_heads;
mod learning;
mod machine_ir;
mod maker;
mod recompile;
mod runner;
mod shared_blocks;
mod table;
mod trial;

pub use block::{Block, MemoryMap};
pub use code::{Code, Memories};
pub use hot_code::HotCode;
pub use machine_ir::MachineIr;
pub use recompile::Recompile;
pub use runner::EagerRunner;
pub use shared_blocks::{Runner, SharedBlocks};
pub use table::Table;

/// Example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
