//! The joypad that a user of the live view holds: the view's requests name it, and the driver
//! presses its buttons.

use serde::Deserialize;

/// Joypad of an env that a user holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub(crate) struct Pad {
    pub(crate) env: usize,
    /// Number of the controller: 1 to 3 are the further ones of a Super Game Boy.
    #[serde(default)]
    pub(crate) controller: u8,
}
