//! Memory of machines at power-on.

use std::fmt;
use std::str::FromStr;

use gbxcule_gameboy::PowerOnMemory as Contents;

/// Number of random contents from which episodes draw.
const RANDOM_CONTENTS: u64 = 16;

/// Contents of work RAM, high RAM and wave RAM at power-on. On hardware they are unpredictable, so
/// a program or an agent that works with one choice alone relies on chance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PowerOnChoice {
    /// All zeros.
    #[default]
    Zero,
    /// Alternating pages of FF and 00, similar to the memory of a cold DMG.
    Pattern,
    /// One of 16 random contents for each episode, chosen by the env's seed and the episode's
    /// number.
    Random,
}

impl PowerOnChoice {
    /// Every choice.
    pub const ALL: [Self; 3] = [Self::Zero, Self::Pattern, Self::Random];

    /// The name that artifacts record and command lines take.
    pub fn name(self) -> &'static str {
        match self {
            Self::Zero => "zero",
            Self::Pattern => "pattern",
            Self::Random => "random",
        }
    }

    /// Returns the contents from which episodes draw.
    pub fn contents(self) -> Vec<Contents> {
        match self {
            Self::Zero => vec![Contents::Zero],
            Self::Pattern => vec![Contents::Pattern],
            Self::Random => (0..RANDOM_CONTENTS).map(Contents::Random).collect(),
        }
    }
}

impl fmt::Display for PowerOnChoice {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for PowerOnChoice {
    type Err = String;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let memory = Self::ALL.into_iter().find(|memory| memory.name() == name);
        memory.ok_or_else(|| {
            format!("no memory `{name}` at power-on; there are zero, pattern, random")
        })
    }
}
