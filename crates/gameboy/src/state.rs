//! A machine as bytes and back, and where two machines differ. Host side: not translated.
//!
//! A state holds the machine and its cartridge's RAM, but not the ROM: it says which one it belongs
//! to. Whatever loads can run: `rule` refuses what no machine can be in. `list` is the format.

mod codec;
mod list;
mod rule;

use core::fmt;

pub use codec::{Difference, Path};

use crate::cart::Cart;
use crate::header::Cartridge;
use crate::machine::Machine;
use codec::{Field, Reader, Unreadable, Writer};

const MAGIC: [u8; 8] = *b"gbxstate";
/// Raised with every change of `list`.
const VERSION: u32 = 3;

/// Why bytes were not taken as a state, or a buffer not as a place for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StateError {
    /// The bytes don't begin as a state does.
    NotAState,
    /// Made by a program that keeps its states differently.
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
    /// Made with another ROM.
    OtherCartridge {
        /// The ROM's title.
        title: [u8; 16],
    },
    /// A flag or a choice that is neither of its values.
    Meaningless {
        /// Where.
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
        /// How long it must be.
        expected_bytes: usize,
        /// How long it is.
        found_bytes: usize,
    },
}

impl Machine {
    /// How long a state of a machine with this cartridge is.
    pub fn state_len(&self, cartridge: &Cartridge) -> usize {
        let mut writer = Writer { out: &mut [], at: 0 };
        self.store_all(cartridge, &mut writer);
        writer.at + cartridge.ram_bytes as usize
    }

    /// Stores everything in `out`, which must be `state_len` bytes long.
    pub fn save_state(
        &self,
        cartridge: &Cartridge,
        cart_ram: &[u8],
        out: &mut [u8],
    ) -> Result<(), StateError> {
        check_buffer("the state", out.len(), self.state_len(cartridge))?;
        check_buffer("the cartridge RAM", cart_ram.len(), cartridge.ram_bytes as usize)?;
        let mut writer = Writer { out, at: 0 };
        self.store_all(cartridge, &mut writer);
        writer.put(cart_ram);
        Ok(())
    }

    /// Fetches what `save_state` stored. Unless it succeeds, `cart_ram` stays as it was.
    pub fn load_state(
        cartridge: &Cartridge,
        bytes: &[u8],
        cart_ram: &mut [u8],
    ) -> Result<Machine, StateError> {
        check_buffer("the cartridge RAM", cart_ram.len(), cartridge.ram_bytes as usize)?;
        let rest = check_preamble(cartridge, bytes)?;
        let mut reader = Reader { bytes: rest, path: Path::root() };
        let expected_bytes = Machine::power_on(cartridge).state_len(cartridge);
        if bytes.len() != expected_bytes {
            return Err(StateError::WrongLength { expected_bytes, found_bytes: bytes.len() });
        }
        let machine: Machine = Field::fetch(&mut reader)?;
        rule::check(&machine, &Cart::new(cartridge))?;
        cart_ram.copy_from_slice(reader.bytes);
        Ok(machine)
    }

    /// The first field, in the order of the state, in which two machines differ.
    pub fn first_difference(&self, other: &Machine) -> Option<Difference> {
        Field::first_difference(self, other, &mut Path::root())
    }

    fn store_all(&self, cartridge: &Cartridge, out: &mut Writer<'_>) {
        out.put(&MAGIC);
        VERSION.store(out);
        Identity::of(cartridge).store(out);
        self.store(out);
    }
}

/// Which ROM a state belongs to.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Identity {
    title: [u8; 16],
    header_checksum: u8,
    global_checksum: u16,
}

impl Identity {
    fn of(cartridge: &Cartridge) -> Identity {
        Identity {
            title: cartridge.title,
            header_checksum: cartridge.header_checksum,
            global_checksum: cartridge.global_checksum,
        }
    }

    fn store(&self, out: &mut Writer<'_>) {
        self.title.store(out);
        self.header_checksum.store(out);
        self.global_checksum.store(out);
    }

    fn fetch(input: &mut Reader<'_>) -> Result<Identity, Unreadable> {
        Ok(Identity {
            title: Field::fetch(input)?,
            header_checksum: Field::fetch(input)?,
            global_checksum: Field::fetch(input)?,
        })
    }
}

fn check_buffer(
    what: &'static str,
    found_bytes: usize,
    expected_bytes: usize,
) -> Result<(), StateError> {
    if found_bytes == expected_bytes {
        Ok(())
    } else {
        Err(StateError::WrongBuffer { what, expected_bytes, found_bytes })
    }
}

/// Gives what follows the preamble.
fn check_preamble<'a>(cartridge: &Cartridge, bytes: &'a [u8]) -> Result<&'a [u8], StateError> {
    let rest = bytes.strip_prefix(&MAGIC).ok_or(StateError::NotAState)?;
    let mut reader = Reader { bytes: rest, path: Path::root() };
    let version = u32::fetch(&mut reader).map_err(|_| StateError::NotAState)?;
    if version != VERSION {
        return Err(StateError::OtherVersion { version });
    }
    let identity = Identity::fetch(&mut reader).map_err(|_| StateError::NotAState)?;
    if identity != Identity::of(cartridge) {
        return Err(StateError::OtherCartridge { title: identity.title });
    }
    Ok(reader.bytes)
}

/// The title up to its padding.
fn printable(title: &[u8; 16]) -> core::slice::EscapeAscii<'_> {
    let end = title.iter().position(|&byte| byte == 0).unwrap_or(title.len());
    title[..end].escape_ascii()
}

impl From<Unreadable> for StateError {
    fn from(Unreadable { path, code }: Unreadable) -> StateError {
        StateError::Meaningless { path, code }
    }
}

impl fmt::Display for StateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            StateError::NotAState => {
                write!(f, "not a state of this program; check that this is the right file")
            }
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
