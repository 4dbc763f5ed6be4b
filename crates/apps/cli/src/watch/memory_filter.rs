//! A browser's request to drop addresses from the search of memory, and the forms of its numbers.

use std::ops::Range;

use serde::Deserialize;

/// Encoding of a number in one byte or two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Form {
    #[default]
    Byte,
    /// Two bytes, the lower one first.
    Word,
    /// Two bytes, the higher one first.
    WordHigh,
    /// Two decimal digits in a byte.
    Bcd,
    /// Four decimal digits in two bytes, the lower ones first.
    BcdWord,
    /// Four decimal digits in two bytes, the higher ones first.
    BcdWordHigh,
}

impl Form {
    /// Returns the number of bytes.
    pub(crate) fn bytes(self) -> usize {
        if matches!(self, Self::Byte | Self::Bcd) { 1 } else { 2 }
    }

    /// Returns the places of the number that begins at a place.
    pub(crate) fn range(self, place: u32) -> Range<u32> {
        place..place.saturating_add(self.bytes() as u32)
    }

    /// Reads the number in the first bytes; `None` if there are too few bytes, or a digit isn't
    /// decimal.
    pub(crate) fn number(self, bytes: &[u8]) -> Option<u32> {
        let bytes = bytes.get(..self.bytes())?;
        let is_decimal = matches!(self, Self::Bcd | Self::BcdWord | Self::BcdWordHigh);
        let value = |byte: u8| match (byte >> 4, byte & 15) {
            (high @ 0..=9, low @ 0..=9) if is_decimal => Some(u32::from(high * 10 + low)),
            _ if is_decimal => None,
            _ => Some(u32::from(byte)),
        };
        let base = if is_decimal { 100 } else { 256 };
        let join = |number: u32, byte: &u8| Some(number * base + value(*byte)?);
        match self {
            Self::WordHigh | Self::BcdWordHigh => bytes.iter().try_fold(0, join),
            _ => bytes.iter().rev().try_fold(0, join),
        }
    }
}

/// Condition for an address to stay in the search. All conditions except `All` and `Equal` compare
/// with the last filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Keep {
    /// Begins a new search.
    All,
    Changed,
    Unchanged,
    Greater,
    Less,
    /// Equal to the filter's number.
    Equal,
}

/// Machines in which the condition must hold.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Scope {
    #[default]
    Every,
    Some,
    /// The machine [`Filter::env`] alone.
    Chosen,
}

/// Request to drop addresses from the search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Filter {
    pub(crate) keep: Keep,
    #[serde(default)]
    pub(crate) number: u32,
    #[serde(default)]
    pub(crate) form: Form,
    #[serde(default)]
    pub(crate) scope: Scope,
    /// The enlarged machine, if there is one: every new search has it among its machines, whatever
    /// the scope.
    #[serde(default)]
    pub(crate) env: Option<usize>,
}
