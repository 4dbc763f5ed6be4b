//! ROMs of this project: an SM83 assembler, the micro-ROM suite written with it, and the built-in
//! games.
//!
//! The crate reads nothing from disk: `all()` assembles the sources in `asm/` and in
//! `gbxcule-games`, which are compiled in. The result is the same every time. Tests, benches and
//! the swarm use it.
#![cfg_attr(doctest, doc = include_str!("../README.md"))]

mod argument;
mod art;
mod assemble;
mod disassemble;
mod emit;
mod error;
mod expand;
mod expression;
mod header;
mod layout;
mod lex;
mod meant;
pub mod opcode;
mod rom;
mod select_form;
mod statement;
mod suite;

pub use assemble::{Assembler, assemble};
pub use disassemble::disassemble;
pub use error::{AssembleError, AssembleErrors};
pub use expand::Folder;
pub use header::{CartridgeType, global_checksum, header_checksum};
pub use meant::meant_by;
pub use rom::{Rom, Symbol};
pub use suite::{BuiltIn, all, by_name, for_color, includes};
