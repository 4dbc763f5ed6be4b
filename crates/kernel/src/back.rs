//! Back ends: from a checked module to something else. Each takes a `Valid<Module>`, so none of them
//! can fail on what the user wrote.

pub mod clif;
pub mod cxx;

use crate::ir::Function;

/// Which functions see what *faults* in [`crate::ir`]'s words: indices, divisors and views that are wrong. What
/// traps by itself always does.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Checks {
    /// All.
    #[default]
    All,
    /// Those whose maker does not vouch for them: see [`Function::trusted`].
    Untrusted,
    /// None.
    None,
}

impl Checks {
    /// Whether a function is checked.
    pub fn of(self, function: &Function) -> bool {
        match self {
            Self::All => true,
            Self::Untrusted => !function.trusted,
            Self::None => false,
        }
    }
}
