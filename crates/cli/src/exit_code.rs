//! An exit status as a number. `std::process::ExitCode` can only be returned from Rust's `main`;
//! the Python package has another.

/// Exit status of a command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ExitCode(u8);

impl ExitCode {
    /// Exit status of a command whose claim holds.
    pub(crate) const SUCCESS: Self = Self(0);

    /// The number for the system.
    #[must_use]
    pub fn code(self) -> u8 {
        self.0
    }
}

impl From<u8> for ExitCode {
    fn from(code: u8) -> Self {
        Self(code)
    }
}
