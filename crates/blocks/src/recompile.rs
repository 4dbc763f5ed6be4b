//! When swarms run code made for their ROM.

/// Use of code made for a ROM. Results are the same in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recompile {
    /// Never.
    Off,
    /// When a ROM has run for a while in this process and frames with such code were found to be
    /// faster.
    #[default]
    WhereItWins,
    /// As soon as code was run a few times, and even if it is slower: for tests.
    Always,
}

impl Recompile {
    /// The name that artifacts record.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::WhereItWins => "where_it_wins",
            Self::Always => "always",
        }
    }
}
