//! Errors of this crate.

/// Error. The message says what was found and what is allowed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The text is refused. The message shows each faulty place with its line.
    #[error("{0}")]
    Text(String),
    /// The file can't be read.
    #[error("{path}: {reason}")]
    File {
        /// Path of the file.
        path: String,
        /// Reason.
        reason: String,
    },
    /// The program has no kernel of this name.
    #[error("the program has no kernel `{name}`; its kernels: {}", known.join(", "))]
    UnknownKernel {
        /// Name that was asked for.
        name: String,
        /// Names of the program's kernels.
        known: Vec<String>,
    },
    /// No built-in ROM has this name.
    #[cfg(feature = "swarm")]
    #[error("no built-in ROM is called `{name}`; their names: {}", known.join(", "))]
    UnknownRom {
        /// Name that was asked for.
        name: String,
        /// Names of the built-in ROMs.
        known: Vec<String>,
    },
    /// No built-in game has this name.
    #[cfg(feature = "swarm")]
    #[error("no built-in game is called `{name}`; the games: {}", known.join(", "))]
    UnknownGame {
        /// Name that was asked for.
        name: String,
        /// Names of the games.
        known: Vec<String>,
    },
    /// [`crate::Launch::shape`] doesn't follow an array.
    #[error(
        "kernel `{kernel}`: `shape({shape:?})` follows {follows}, which has no shape; call it right after the `read`, \
         `write` or `differentiate` that adds its array"
    )]
    Shape {
        /// Name of the kernel.
        kernel: String,
        /// The shape.
        shape: Vec<usize>,
        /// Description of what it follows.
        follows: String,
    },
    /// A launch was refused or stopped at a fault, or the device failed.
    #[error(transparent)]
    Run(#[from] crate::RunError),
    /// A swarm refused a call.
    #[cfg(feature = "swarm")]
    #[error(transparent)]
    Swarm(#[from] gbxcule_swarm::SwarmError),
}

#[cfg(feature = "swarm")]
impl From<gbxcule_swarm::ConsoleError> for Error {
    fn from(error: gbxcule_swarm::ConsoleError) -> Self {
        Self::Swarm(error.into())
    }
}
