//! An exit status whose number the Python package can read; `std::process::ExitCode` hides its
//! number.

/// Exit status of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExitCode(u8);

impl ExitCode {
    /// The claim holds.
    pub(crate) const HOLDS: Self = Self(0);
    /// The claim does not hold.
    pub(crate) const FAILS: Self = Self(1);
    /// The claim could not be examined.
    pub(crate) const UNKNOWN: Self = Self(2);

    /// Returns the number for the system.
    pub fn code(self) -> u8 {
        self.0
    }
}
