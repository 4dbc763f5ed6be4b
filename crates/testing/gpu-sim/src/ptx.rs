//! PTX as NVRTC prints it, to C++.
//!
//! text -> [`token`] -> [`parse`] -> [`syntax::Module`] -> [`emit`] -> C++ that includes `ptx.h`.
//! The table of forms ([`form`]) gives the meaning of an instruction. One without a row is refused
//! by its name, so that no modifier is ever guessed. `tests/ptx` compares each form with its rule
//! in the PTX ISA document.

mod emit;
pub mod form;
mod parse;
pub mod syntax;
mod token;
pub mod ty;

use std::fmt;

/// C++ functions for all forms; translated text includes it.
pub const HEADER: &str = include_str!("ptx/ptx.h");
/// Name under which translated text includes the header.
pub const HEADER_NAME: &str = "ptx.h";

/// A part of a text that is not translated, with the reason.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Line of the PTX, from 1.
    pub line: usize,
    /// Description of the part, by its name.
    pub reason: String,
}

/// All parts of a text that are not translated, at least one.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub struct Refusals(pub Vec<Refusal>);

impl fmt::Display for Refusals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, Refusal { line, reason }) in self.0.iter().enumerate() {
            let end = if number == 0 { "" } else { "\n" };
            write!(f, "{end}PTX line {line}: {reason}")?;
        }
        Ok(())
    }
}

impl Refusals {
    pub(crate) fn one(line: usize, reason: impl Into<String>) -> Self {
        Self(vec![Refusal { line, reason: reason.into() }])
    }
}

/// Translates a text, or reports all parts without a translation.
pub fn translate(text: &str) -> Result<String, Refusals> {
    emit::module(&parse::module(text)?)
}
