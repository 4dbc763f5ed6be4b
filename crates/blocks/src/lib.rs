//! Code made for a ROM: the machine's own source, specialised block by block.
//!
//! ROM does not change. So where PC is known, opcodes and operands are: of `Cpu::fetch` and
//! `Cpu::execute`, as the Rust front end reads them, little is left
//! (`gbxcule_transform::specialise`). [`Block`] is such code as IR, [`Code`] as machine code that
//! works on the native machine where it lies, and [`Blocks`] runs a machine by it. The interpreter
//! stays the meaning, and the way out of every block.

mod block;
mod code;
mod door;
mod runner;
mod translation;

pub use block::{Block, MemoryMap};
pub use code::{Code, Memories};
pub use runner::Blocks;
pub use translation::Translation;

/// Example of the README, run as a test of the documentation.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;
