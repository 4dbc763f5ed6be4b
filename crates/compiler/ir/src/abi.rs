//! Agreement between compiled code and the runtime, on the CPU and on CUDA: faults, grids,
//! arguments.
//!
//! [`FaultKind`], [`FaultRecord`] and [`Grid`] are `gbx::FaultKind`, `gbx::Fault` and `gbx::Grid`
//! of the C++ header `gbxcule.h`; in a test of `back-cxx` a C++ compiler checks each number, size
//! and offset. [`RangeRecord`] is read and written by machine code of `back-clif` at the offsets of
//! its fields.

mod argument;
mod fault;
mod grid;

pub use argument::Arguments;
pub use fault::{Cause, FaultKind, FaultRecord};
pub use grid::{GRID_DIMS, Grid, RangeRecord};

use crate::Function;

/// Functions in which compiled code checks the operations that *fault* in [`crate`]'s words: wrong
/// indices, divisors and views. `Trap` and a failed `Assert` stop a thread in every build.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Checks {
    /// All functions.
    #[default]
    All,
    /// Functions that aren't [`Function::trusted`].
    Untrusted,
    /// No function.
    None,
}

impl Checks {
    /// Returns true if a function is checked.
    pub fn of(self, function: &Function) -> bool {
        match self {
            Self::All => true,
            Self::Untrusted => !function.trusted,
            Self::None => false,
        }
    }
}
