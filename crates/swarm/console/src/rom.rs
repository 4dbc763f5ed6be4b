//! A ROM that is ready to run: its header was read, and its bytes are padded to the size that the
//! machine indexes without checks.

use std::sync::Arc;

use gbxcule_gameboy::{Cartridge, Model, Revision, RomError, boot_rom};

use crate::ConsoleError;

/// Formats of archives, by their first bytes.
const ARCHIVES: [(&[u8], &str); 3] =
    [(b"PK\x03\x04", "ZIP"), (b"7z\xbc\xaf", "7z"), (b"\x1f\x8b", "gzip")];

/// One ROM, shared by all machines of a swarm.
#[derive(Debug, Clone)]
pub struct Rom {
    cartridge: Cartridge,
    model: Model,
    bytes: Arc<[u8]>,
}

impl Rom {
    /// Reads the header and pads the bytes with 0xFF, as an empty ROM chip reads. The model is the
    /// Color only if the program needs it.
    ///
    /// # Errors
    /// The header is damaged or asks for a mapper that is not supported.
    pub fn new(bytes: &[u8]) -> Result<Self, ConsoleError> {
        Self::for_model(bytes, None)
    }

    /// Makes a ROM as [`Rom::new`] does, for machines of a model; `None` chooses by the header.
    ///
    /// # Errors
    /// As [`Rom::new`], or the program does not run on that model.
    pub fn for_model(bytes: &[u8], model: Option<Model>) -> Result<Self, ConsoleError> {
        let cartridge = Cartridge::from_rom(bytes).map_err(|error| refused(bytes, error))?;
        let model = model.unwrap_or(match cartridge.check_model(Model::Original) {
            Ok(()) => Model::Original,
            Err(_) => Model::Color,
        });
        cartridge.check_model(model)?;
        let mut padded = bytes.to_vec();
        padded.resize(cartridge.rom_bytes as usize, 0xFF);
        Ok(Self { cartridge, model, bytes: padded.into() })
    }

    /// Makes a ROM as [`Rom::new`] does, for machines of a console by its name in
    /// [`Revision::names`]; `auto` chooses by the header.
    ///
    /// # Errors
    /// As [`Rom::for_model`], or no console has that name.
    pub fn for_console(bytes: &[u8], name: &str) -> Result<Self, ConsoleError> {
        if name == "auto" {
            return Self::new(bytes);
        }
        let no_console = || ConsoleError::NoConsole { name: name.to_owned() };
        let (model, revision) = Revision::by_name(name).ok_or_else(no_console)?;
        Ok(Self::for_model(bytes, Some(model))?.with_revision(revision))
    }

    /// Chooses the revision of the machines, which must be one of their model.
    pub fn with_revision(mut self, revision: Revision) -> Self {
        self.cartridge = self.cartridge.for_revision(revision);
        self
    }

    /// Puts a boot ROM before the program: machines begin in it, at 0000.
    ///
    /// # Errors
    /// The boot ROM has another length than the model's.
    pub fn with_boot_rom(self, boot_rom: &[u8]) -> Result<Self, ConsoleError> {
        let (found, expected) = (boot_rom.len(), boot_rom::length(self.model));
        if found != expected {
            return Err(ConsoleError::BootRom { found, expected, model: self.model });
        }
        let rom = self.without_boot_rom();
        let mut bytes = rom.bytes.to_vec();
        bytes.extend_from_within(..boot_rom::BANK_BYTES);
        boot_rom::overlay(&mut bytes[rom.bytes.len()..], boot_rom);
        let cartridge = Cartridge { has_boot_rom: true, ..rom.cartridge };
        Ok(Self { cartridge, bytes: bytes.into(), ..rom })
    }

    /// Returns the ROM without its boot ROM: machines begin in the cartridge's program.
    pub fn without_boot_rom(&self) -> Self {
        let cartridge = Cartridge { has_boot_rom: false, ..self.cartridge };
        Self { cartridge, bytes: self.chip().into(), model: self.model }
    }

    /// The bytes of the cartridge's ROM alone.
    pub fn chip(&self) -> &[u8] {
        &self.bytes[..self.cartridge.padded_len()]
    }

    /// The boot ROM in which machines begin.
    pub fn boot_rom(&self) -> Option<&[u8]> {
        let bank = &self.bytes[self.cartridge.padded_len()..];
        self.cartridge.has_boot_rom.then(|| &bank[..boot_rom::length(self.model)])
    }

    /// The facts that the cartridge's header states.
    pub fn cartridge(&self) -> &Cartridge {
        &self.cartridge
    }

    /// The model of the machines that run it.
    pub fn model(&self) -> Model {
        self.model
    }

    /// A warning if the file is shorter than its header says.
    pub fn warning(&self) -> Option<String> {
        let Cartridge { rom_bytes, missing_bytes, .. } = self.cartridge;
        let file_bytes = rom_bytes - missing_bytes;
        (missing_bytes > 0).then(|| {
            format!(
                "the ROM has {file_bytes} bytes and its header promises {rom_bytes}: the rest reads as FF, as linkers \
                 leave it out; if the program fails, get a complete file"
            )
        })
    }

    /// The model whose form the frames have: a Super Game Boy's are in colour, like a Color's.
    pub fn frame_model(&self) -> Model {
        if self.revision().is_super() { Model::Color } else { self.model }
    }

    /// The revision of the machines.
    pub fn revision(&self) -> Revision {
        self.cartridge.revision
    }

    /// The padded bytes, and the bank of a boot ROM.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The bytes of `bytes`, shared.
    pub fn shared_bytes(&self) -> &Arc<[u8]> {
        &self.bytes
    }

    /// Bytes of cartridge RAM that each machine needs.
    pub fn cart_ram_bytes(&self) -> usize {
        self.cartridge.ram_bytes as usize
    }
}

/// Makes the error for a file without a valid header, which names the kind of an archive.
fn refused(bytes: &[u8], error: RomError) -> ConsoleError {
    match ARCHIVES.iter().find(|(magic, _)| bytes.starts_with(magic)) {
        Some((_, kind)) => ConsoleError::PackedRom { kind },
        None => error.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::Rom;

    #[test]
    fn an_archive_is_to_be_unpacked() {
        for (magic, kind) in
            [(&b"PK\x03\x04"[..], "ZIP"), (b"7z\xbc\xaf", "7z"), (b"\x1f\x8b", "gzip")]
        {
            for length in [0x100, 0x8000] {
                let mut bytes = magic.to_vec();
                bytes.resize(length, 0xee);
                let error = Rom::new(&bytes).expect_err("an archive").to_string();
                assert!(error.contains(&format!("a {kind} archive: unpack it")), "{error}");
            }
        }
        let error = Rom::new(&[0xee; 0x8000]).expect_err("no header").to_string();
        assert!(error.contains("the ROM cannot be used"), "{error}");
    }

    #[test]
    fn a_short_file_is_padded_with_a_warning() {
        let built = gbxcule_assembler::by_name("MEM_RWB").expect("a built-in ROM").bytes();
        assert_eq!(Rom::new(built).expect("a ROM").warning(), None);
        let (file, rest) = built.split_at(0x1234);
        let short = Rom::new(file).expect("a short ROM");
        assert_eq!(short.bytes(), [file, &vec![0xff; rest.len()]].concat());
        let warning = short.warning().expect("a warning");
        assert!(warning.contains("has 4660 bytes"), "{warning}");
    }
}
