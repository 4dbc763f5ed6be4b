//! Conversion of a machine to bytes and back, and the first difference between two machines. Host
//! side: not translated.
//!
//! A state holds the machine and its cartridge's RAM, and names its ROM without holding it. A
//! loaded state can always run: `rule` refuses values that no machine can have. `list` is the
//! format.

mod list;
mod rule;

pub use gbxcule_chips::state::{Difference, Path, StateError};
use gbxcule_chips::state::{Field, Reader, Unreadable, VERSION, Writer};

#[cfg(color)]
use crate::Revision;
use crate::cart::Cart;
use crate::header::Cartridge;
use crate::machine::Machine;
#[cfg(keeps_lines)]
use crate::ppu::kept_lines::note_vram_change;

const MAGIC: [u8; 8] = if crate::COLOR { *b"gbxcolor" } else { *b"gbxstate" };
/// First bytes of a state of the other model.
const OTHER_MAGIC: [u8; 8] = if crate::COLOR { *b"gbxstate" } else { *b"gbxcolor" };
/// Number of bytes of a state before its first field: magic, version, and the cartridge's title and
/// two checksums.
pub const PREAMBLE_BYTES: usize = MAGIC.len() + 4 + 16 + 1 + 2;

/// Returns true if the machine is of the cartridge's console. Revisions that differ only at
/// power-on count as one console.
fn is_of_console(machine: &Machine, cartridge: &Cartridge) -> bool {
    let is_super = !crate::COLOR && cartridge.revision.is_super() && cartridge.commands_super;
    #[cfg(color)]
    let is_chip = (machine.apu.is_cgb_c, machine.ppu.is_cgb_e)
        == (cartridge.revision == Revision::CgbC, cartridge.revision == Revision::CgbE);
    #[cfg(not(color))]
    let is_chip = true;
    is_chip && machine.joypad.is_super == is_super
}

impl Machine {
    /// Returns the length of a state of a machine with this cartridge.
    pub fn state_len(&self, cartridge: &Cartridge) -> usize {
        let mut writer = Writer { out: &mut [], at: 0 };
        self.store_all(cartridge, &mut writer);
        writer.at + cartridge.ram_bytes as usize
    }

    /// Stores everything in `out`.
    ///
    /// # Errors
    /// `out` is not `state_len` bytes long, or `cart_ram` is not as large as the cartridge's RAM.
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

    /// Returns the machine that `save_state` stored, and copies its cartridge RAM to `cart_ram`.
    ///
    /// # Errors
    /// The bytes are no state of a machine with this cartridge, or `cart_ram` is not as large as
    /// the cartridge's RAM. Then `cart_ram` stays as it was.
    pub fn load_state(
        cartridge: &Cartridge,
        bytes: &[u8],
        cart_ram: &mut [u8],
    ) -> Result<Machine, StateError> {
        check_buffer("the cartridge RAM", cart_ram.len(), cartridge.ram_bytes as usize)?;
        let fields = check_preamble(cartridge, bytes)?;
        let mut reader = Reader { bytes: fields, path: Path::root() };
        let expected_bytes = Machine::power_on(cartridge).state_len(cartridge);
        if bytes.len() != expected_bytes {
            return Err(StateError::WrongLength { expected_bytes, found_bytes: bytes.len() });
        }
        let machine: Machine = Field::fetch(&mut reader).map_err(meaningless)?;
        rule::check(&machine, &Cart::new(cartridge))?;
        if !is_of_console(&machine, cartridge) {
            return Err(StateError::OtherModel);
        }
        cart_ram.copy_from_slice(reader.bytes);
        Ok(machine)
    }

    /// Bytes of the fields that compiled programs read: all but the last field.
    #[cfg(keeps_lines)]
    pub const TRANSLATED_BYTES: usize = core::mem::offset_of!(Machine, kept);

    /// Takes over the picture of another machine.
    pub fn copy_picture(&mut self, other: &Machine) {
        self.frame = other.frame;
        #[cfg(keeps_lines)]
        {
            self.kept = other.kept;
            // The other machine may have other video RAM.
            note_vram_change(self);
        }
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

/// Identity of the ROM that a state belongs to.
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

/// Returns the bytes that follow the preamble.
fn check_preamble<'a>(cartridge: &Cartridge, bytes: &'a [u8]) -> Result<&'a [u8], StateError> {
    if bytes.starts_with(&OTHER_MAGIC) {
        return Err(StateError::OtherModel);
    }
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

fn meaningless(Unreadable { path, code }: Unreadable) -> StateError {
    StateError::Meaningless { path, code }
}
