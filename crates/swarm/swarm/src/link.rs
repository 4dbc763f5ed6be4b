//! The setting for cables between neighbouring envs.

use std::str::FromStr;

/// Cables in the machines' link ports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LinkMode {
    /// No cable.
    #[default]
    Open,
    /// A cable between envs 2i and 2i + 1.
    Pairs,
}

impl LinkMode {
    /// Returns the name in options and records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Pairs => "pairs",
        }
    }
}

impl FromStr for LinkMode {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, String> {
        match name {
            "open" => Ok(Self::Open),
            "pairs" => Ok(Self::Pairs),
            _ => Err(format!("no link `{name}`; there are open, pairs")),
        }
    }
}
