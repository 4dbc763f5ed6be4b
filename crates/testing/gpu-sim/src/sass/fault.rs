//! Faults: actions of a kernel that have no defined result, with the place and the threads.
//!
//! A fault ends its launch by unwinding with a [`Fault`], which [`catch`] returns as a value.

use std::any::Any;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

/// Kinds of faults.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum FaultKind {
    /// Two threads access one place, at least one of them writes, and nothing orders the
    /// accesses.
    Race,
    /// Two threads write the same value to one place, and nothing orders the writes.
    SameValueRace,
    /// Threads of a block wait at different barriers, or at a barrier to which other threads
    /// never come.
    DivergentBarrier,
    /// A read of shared memory that no thread has written.
    UninitialisedShared,
    /// An access outside of every array, or to an absent array.
    OutsideArray,
    /// An access whose address is not a multiple of its size.
    Misaligned,
    /// A launch that executes more instructions than it may.
    NoEnd,
    /// The kernel stops itself, by `__trap` or a failed `assert`.
    Trap,
    /// An instruction in a state for which the simulator has no rule.
    Unknown,
}

impl FaultKind {
    /// Returns the name in messages and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Race => "data race",
            Self::SameValueRace => "same-value race",
            Self::DivergentBarrier => "barrier in divergent code",
            Self::UninitialisedShared => "uninitialised shared read",
            Self::OutsideArray => "access outside its array",
            Self::Misaligned => "misaligned access",
            Self::NoEnd => "no end",
            Self::Trap => "trap",
            Self::Unknown => "unknown to the simulator",
        }
    }
}

/// A fault of a launch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fault {
    /// Kind of the fault.
    pub kind: FaultKind,
    /// Line of the source, if the code has line numbers.
    pub line: Option<u32>,
    /// Description with threads and place.
    pub message: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind.name(), self.message)
    }
}

impl Fault {
    /// Ends the launch with this fault.
    pub(super) fn raise(self) -> ! {
        // Unlike a panic, this prints nothing.
        resume_unwind(Box::new(self))
    }
}

/// Runs a launch, and returns the fault that ended it. Other panics continue.
pub(super) fn catch<R>(launch: impl FnOnce() -> R) -> Result<R, Fault> {
    catch_unwind(AssertUnwindSafe(launch)).map_err(|thrown: Box<dyn Any + Send>| {
        match thrown.downcast::<Fault>() {
            Ok(fault) => *fault,
            Err(other) => resume_unwind(other),
        }
    })
}
