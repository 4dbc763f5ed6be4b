//! Parts of stored states that the crates of both models share: values as bytes, the lists of the
//! chips' fields, rules of the cartridge, and errors. Host side: not translated.
//!
//! `gbxcule_gameboy::state` stores whole machines by these parts.

mod codec;
mod error;
mod list;
mod rule;

pub use codec::{Field, Reader, Unreadable, Writer};
pub use error::{Difference, Path, StateError};
pub use rule::{RuleResult, check_cart, rule};

/// Number of the format; every change of a list raises it.
pub const VERSION: u32 = 11;
