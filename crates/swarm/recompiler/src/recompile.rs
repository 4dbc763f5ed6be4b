//! The setting that says whether swarms run code made for their ROM.

use std::str::FromStr;

/// Use of code made for a ROM. Results are the same in every case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Recompile {
    /// Never.
    Off,
    /// Code is made when a ROM has run for a while in this process, and used if it makes frames
    /// faster.
    #[default]
    WhereItWins,
    /// Code is made after a few frames and always used, even if it is slower: for tests.
    Always,
}

impl Recompile {
    /// All settings.
    pub const ALL: [Self; 3] = [Self::Off, Self::WhereItWins, Self::Always];

    /// The name that artifacts record.
    pub fn name(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::WhereItWins => "where_it_wins",
            Self::Always => "always",
        }
    }
}

impl FromStr for Recompile {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let choice = Self::ALL.into_iter().find(|recompile| recompile.name() == name);
        choice.ok_or_else(|| format!("no `{name}`; there are off, where_it_wins, always"))
    }
}
