//! Errors of states: the path of a wrong or different value, and the reason why a state is refused.

use core::fmt;

use super::VERSION;

/// Maximum length of a path, such as `ppu.pipeline.dot`.
const DEEPEST: usize = 4;

/// Path of a value in the machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Path {
    names: [&'static str; DEEPEST],
    depth: usize,
    /// Element of an array.
    pub index: Option<usize>,
}

impl Path {
    /// The machine itself.
    pub const fn root() -> Path {
        Path { names: [""; DEEPEST], depth: 0, index: None }
    }

    /// Goes on to a field.
    pub fn enter(&mut self, name: &'static str) {
        self.names[self.depth] = name;
        self.depth += 1;
    }

    /// Goes back to the struct that has the field.
    pub fn leave(&mut self) {
        self.depth -= 1;
    }
}

impl fmt::Display for Path {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (depth, name) in self.names[..self.depth].iter().enumerate() {
            if depth > 0 {
                f.write_str(".")?;
            }
            f.write_str(name)?;
        }
        match self.index {
            Some(index) => write!(f, "[{index:#x}]"),
            None => Ok(()),
        }
    }
}

/// A value in which two machines differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Path of the value.
    pub path: Path,
    /// Value in this machine.
    pub ours: u32,
    /// Value in the other machine.
    pub theirs: u32,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {:#x} and {:#x}", self.path, self.ours, self.theirs)
    }
}

/// Reasons why bytes or a buffer are refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The bytes don't begin with a state's magic.
    NotAState,
    /// The state is of a machine of the other model.
    OtherModel,
    /// The state has another version of the format.
    OtherVersion {
        /// Version in the state.
        version: u32,
    },
    /// Bytes are missing or left over.
    WrongLength {
        /// Length of a state of this cartridge.
        expected_bytes: usize,
        /// Length of the bytes given.
        found_bytes: usize,
    },
    /// The state belongs to another ROM.
    OtherCartridge {
        /// The ROM's title.
        title: [u8; 16],
    },
    /// A flag or an enum has a code without a meaning.
    Meaningless {
        /// Path of the value.
        path: Path,
        /// Value found there.
        code: u8,
    },
    /// No machine can be in this state.
    Impossible {
        /// Rule that the state breaks.
        rule: &'static str,
    },
    /// The slices given don't fit the cartridge or the state.
    WrongBuffer {
        /// Purpose of the buffer.
        what: &'static str,
        /// Length that it must have.
        expected_bytes: usize,
        /// Length that it has.
        found_bytes: usize,
    },
}

/// The title up to its padding.
fn printable(title: &[u8; 16]) -> core::slice::EscapeAscii<'_> {
    let end = title.iter().position(|&byte| byte == 0).unwrap_or(title.len());
    title[..end].escape_ascii()
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            StateError::NotAState => {
                write!(f, "not a state of this program; check that this is the right file")
            }
            StateError::OtherModel => write!(
                f,
                "the state is one of the other model, original or Color, or of another revision; load \
                 it with the model that saved it"
            ),
            StateError::OtherVersion { version } => write!(
                f,
                "the state has format version {version}, this program reads version {VERSION}; \
                 load it with the program that saved it"
            ),
            StateError::WrongLength { expected_bytes, found_bytes } => write!(
                f,
                "the state has {found_bytes} bytes, one of this cartridge has {expected_bytes}; \
                 it is cut off or damaged"
            ),
            StateError::OtherCartridge { title } => write!(
                f,
                "the state was made with another ROM, titled `{}`; load that ROM, the very same \
                 version",
                printable(&title)
            ),
            StateError::Meaningless { path, code } => {
                write!(f, "the state is damaged: {code:#04x} has no meaning for {path}")
            }
            StateError::Impossible { rule } => write!(f, "the state is damaged: {rule}"),
            StateError::WrongBuffer { what, expected_bytes, found_bytes } => write!(
                f,
                "the buffer for {what} has {found_bytes} bytes, it must have {expected_bytes}"
            ),
        }
    }
}

impl core::error::Error for StateError {}
