//! PTX as NVRTC prints it, to C++.
//!
//! text -> [`token`] -> [`parse`] -> [`syntax::Module`] -> [`emit`] -> C++ that includes `ptx.h`.
//! An instruction means what its row in the table of forms ([`form`]) says, and one without a row
//! is refused by its name, so that no modifier is ever guessed. Each form is held against its rule
//! in the PTX ISA document by `tests/ptx`.

mod emit;
pub mod form;
mod parse;
pub mod syntax;
mod token;
pub mod ty;

use std::fmt;

/// Meaning of all forms in C++, which translated text includes.
pub const HEADER: &str = include_str!("ptx/ptx.h");
/// Name under which translated text includes it.
pub const HEADER_NAME: &str = "ptx.h";

/// A place of a text that is not translated, and why.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// Line of the PTX, from 1.
    pub line: usize,
    /// Thing that was found there, by name.
    pub reason: String,
}

/// All places of a text that are not translated, one at least.
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

/// Translates a whole text, or reports everything that has no translation.
pub fn translate(text: &str) -> Result<String, Refusals> {
    emit::module(&parse::module(text)?)
}
