//! Reads a cartridge's header and builds the `Cart` that the header describes. Host side: not
//! translated.
//!
//! Called by every loader of ROMs. Any byte sequence is accepted, or refused with a message that
//! says what the header holds and what to do. Source: Pan Docs "The Cartridge Header".

use core::fmt;

use crate::cart::{Cart, Mapper, RamPort, Rtc};
use crate::compatibility_palette;
use crate::revision::Revision;

/// The first address after the header.
const HEADER_END: usize = 0x150;
/// MBC5's nine bank bits reach no further.
const MAX_ROM_BYTES: usize = 8 << 20;
const BANK_BYTES: usize = 0x4000;
/// Bytes for the Super Game Boy's memory and for registers of devices.
const SUPER_MEMORY_BYTES: u32 = 0x8000;
const LOGO_START: usize = 0x104;
const LOGO_BYTES: usize = 0x30;

/// Parts of a cartridge, and the fields of its header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cartridge {
    /// The title, zeros after it.
    pub title: [u8; 16],
    /// The chip that switches banks.
    pub mapper: Mapper,
    /// Size of the ROM chips, a power of two of at least 32 KiB.
    pub rom_bytes: u32,
    /// Bytes that the header promises and the file lacks.
    pub missing_bytes: u32,
    /// Size of the cartridge's memory, a power of two, or 0: RAM, and registers of its devices.
    pub ram_bytes: u32,
    /// Size of the part that holds the devices' registers, or 0; a battery keeps the other part.
    pub device_bytes: u32,
    /// True if RAM and clock are battery-backed.
    pub has_battery: bool,
    /// True if the cartridge has a clock.
    pub has_rtc: bool,
    /// The byte at 0143: bit 7 is set if the program knows the Game Boy Color.
    pub cgb_flag: u8,
    /// The bitmap at 0104-0133, which the boot ROM shows and leaves in VRAM.
    pub logo: [u8; LOGO_BYTES],
    /// True if the bitmap equals the one in the boot ROM. Otherwise a real Game Boy locks up; this
    /// machine runs the ROM.
    pub logo_ok: bool,
    /// The byte at 014D, on which the flags after the boot ROM depend.
    pub header_checksum: u8,
    /// True if 014D is right. Otherwise a real Game Boy locks up; this machine runs the ROM.
    pub header_checksum_ok: bool,
    /// The bytes at 014E and 014F, which no Game Boy checks; they distinguish versions of a ROM.
    pub global_checksum: u16,
    /// The sum of the title's bytes that the Color's boot ROM leaves in B.
    pub title_sum: u8,
    /// The palettes of OBP0, OBP1 and BGP that the Color's boot ROM gives a program for the
    /// original, RGB555 with red in the lowest bits.
    pub compatible_palettes: [[u16; 4]; 3],
    /// The counter behind DIV when the Color's boot ROM leaves, in T-cycles.
    pub color_divider: u16,
    /// True if the machine begins in a boot ROM, which is appended to the ROM (`boot_rom`).
    pub has_boot_rom: bool,
    /// Revision of the console in which the cartridge is (`for_revision`).
    pub revision: Revision,
    /// The header lets the program command a Super Game Boy.
    pub commands_super: bool,
}

/// The two models.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum Model {
    /// The original Game Boy, DMG.
    #[default]
    Original,
    /// The Game Boy Color, CGB.
    Color,
}

/// Reasons why a ROM is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RomError {
    /// The file is shorter than a header.
    TooShort {
        /// Length of the file.
        file_bytes: usize,
    },
    /// The file is longer than any mapper can address.
    TooLong {
        /// Length of the file.
        file_bytes: usize,
    },
    /// The size code at 0148 is unknown.
    UnknownRomSize {
        /// The byte at 0148.
        size_code: u8,
    },
    /// The size code at 0149 is unknown.
    UnknownRamSize {
        /// The byte at 0149.
        size_code: u8,
    },
    /// A real cartridge type that this machine lacks.
    UnsupportedMapper {
        /// The byte at 0147.
        type_code: u8,
        /// Name in Pan Docs.
        name: &'static str,
    },
    /// The type code at 0147 is unknown.
    UnknownMapper {
        /// The byte at 0147.
        type_code: u8,
    },
    /// The program needs a Game Boy Color.
    ColorOnly {
        /// The byte at 0143.
        cgb_flag: u8,
    },
}

impl Cartridge {
    /// Reads the header of `rom`, which may be longer than the header says (padding, overdump), or
    /// shorter: linkers leave padding out.
    pub fn from_rom(rom: &[u8]) -> Result<Cartridge, RomError> {
        if rom.len() < HEADER_END {
            return Err(RomError::TooShort { file_bytes: rom.len() });
        }
        let parts = Parts::from_type(rom[0x147])?;
        let cgb_flag = rom[0x143];
        let (rom_bytes, missing_bytes) = rom_size(rom)?;
        let ram_size = parts.ram_size(rom[0x149])?;
        let device_bytes = parts.device_size(ram_size);
        let (title_sum, compatible_palettes) = compatibility_palette::of(rom);
        Ok(Cartridge {
            title: title(rom),
            mapper: parts.mapper(rom, rom_bytes, ram_size),
            rom_bytes,
            missing_bytes,
            ram_bytes: ram_size + device_bytes,
            device_bytes,
            has_battery: parts.battery,
            has_rtc: parts.timer,
            cgb_flag,
            logo: logo(rom),
            logo_ok: has_logo(rom, 0),
            header_checksum: rom[0x14d],
            header_checksum_ok: header_checksum(rom) == rom[0x14d],
            global_checksum: u16::from_be_bytes([rom[0x14e], rom[0x14f]]),
            title_sum,
            compatible_palettes,
            color_divider: compatibility_palette::divider(rom),
            has_boot_rom: false,
            revision: Revision::Usual,
            // Pan Docs "Unlocking SGB functions".
            commands_super: rom[0x146] == 0x03 && rom[0x14b] == 0x33,
        })
    }

    /// Returns the cartridge in a console of a revision. The memory of a Super Game Boy is appended
    /// to the cartridge's.
    #[must_use]
    pub fn for_revision(self, revision: Revision) -> Cartridge {
        let battery_bytes = self.battery_bytes();
        let mut cartridge = Cartridge { revision, ..self };
        if revision.is_super() {
            // Registers of the cartridge's devices lie in the upper half.
            cartridge.ram_bytes = match battery_bytes {
                0 => SUPER_MEMORY_BYTES,
                bytes => 2 * bytes.max(SUPER_MEMORY_BYTES),
            };
            cartridge.device_bytes = cartridge.ram_bytes - battery_bytes;
        }
        cartridge
    }

    /// The title, with `?` in the place of bytes that are not printable ASCII.
    pub fn title(&self) -> &str {
        let end = self.title.iter().position(|&byte| byte == 0).unwrap_or(self.title.len());
        core::str::from_utf8(&self.title[..end]).unwrap_or("")
    }

    /// The model for which the program was written: the Color if the header names it.
    pub fn model(&self) -> Model {
        if self.cgb_flag & 0x80 != 0 { Model::Color } else { Model::Original }
    }

    /// Returns KEY0 as the Color's boot ROM leaves it: bit 2 locks the Color's registers, bit 3
    /// those of the picture alone.
    pub fn key0(&self) -> u8 {
        match self.model() {
            Model::Original => 4,
            Model::Color => self.cgb_flag,
        }
    }

    /// Checks that the program runs on a model.
    pub fn check_model(&self, model: Model) -> Result<(), RomError> {
        let is_color_only = self.cgb_flag & 0xc0 == 0xc0;
        if is_color_only && model == Model::Original {
            return Err(RomError::ColorOnly { cgb_flag: self.cgb_flag });
        }
        Ok(())
    }

    /// Returns the number of bytes of memory that a battery keeps: RAM or an EEPROM.
    pub fn battery_bytes(&self) -> u32 {
        self.ram_bytes - self.device_bytes
    }

    /// Returns the length that the ROM slice given to the machine must have. A shorter file is
    /// filled up with FF, which is what unprogrammed ROM reads as.
    pub fn padded_len(&self) -> usize {
        self.rom_bytes as usize
    }
}

impl Cart {
    /// The cartridge at power-on.
    pub fn new(cartridge: &Cartridge) -> Cart {
        let mut cart = Cart {
            mapper: cartridge.mapper,
            boot_rom: cartridge.has_boot_rom,
            rom_low: 0,
            rom_high: 0,
            rom_mask: cartridge.rom_bytes.wrapping_sub(1),
            ram_offset: 0,
            ram_mask: cartridge.battery_bytes().saturating_sub(1),
            ram_port: RamPort::Closed,
            has_ram: cartridge.battery_bytes() != 0,
            has_rtc: cartridge.has_rtc,
            // Cartridges without a mapper, and HuCs, have no RAM gate.
            ram_enabled: matches!(cartridge.mapper, Mapper::RomOnly | Mapper::Huc1 | Mapper::Huc3),
            rom_bank: 1,
            ram_bank: 0,
            banking_mode: false,
            rtc: Rtc::power_on(),
        };
        cart.map();
        cart
    }
}

/// Parts that the cartridge type at 0147 lists.
struct Parts {
    mapper: Mapper,
    ram: bool,
    battery: bool,
    timer: bool,
}

impl Parts {
    fn from_type(type_code: u8) -> Result<Parts, RomError> {
        use Mapper::{Huc1, Huc3, Mbc1, Mbc2, Mbc3, Mbc5, Mbc5Rumble, Mbc7, RomOnly};
        let (mapper, ram, battery, timer) = match type_code {
            0x00 => (RomOnly, false, false, false),
            0x01 => (Mbc1, false, false, false),
            0x02 => (Mbc1, true, false, false),
            0x03 => (Mbc1, true, true, false),
            0x05 => (Mbc2, true, false, false),
            0x06 => (Mbc2, true, true, false),
            0x08 => (RomOnly, true, false, false),
            0x09 => (RomOnly, true, true, false),
            0x0f => (Mbc3, false, true, true),
            0x10 => (Mbc3, true, true, true),
            0x11 => (Mbc3, false, false, false),
            0x12 => (Mbc3, true, false, false),
            0x13 => (Mbc3, true, true, false),
            0x19 => (Mbc5, false, false, false),
            0x1a => (Mbc5, true, false, false),
            0x1b => (Mbc5, true, true, false),
            0x1c => (Mbc5Rumble, false, false, false),
            0x1d => (Mbc5Rumble, true, false, false),
            0x1e => (Mbc5Rumble, true, true, false),
            0x22 => (Mbc7, true, true, false),
            0xfe => (Huc3, true, true, true),
            0xff => (Huc1, true, true, false),
            _ => return Err(refused_type(type_code)),
        };
        Ok(Parts { mapper, ram, battery, timer })
    }

    /// The code at 0149 gives RAM to cartridges with a mapper even if their type names no RAM, as
    /// in homebrew; MBC2 and MBC7 have built-in memory.
    fn ram_size(&self, size_code: u8) -> Result<u32, RomError> {
        match self.mapper {
            Mapper::Mbc2 => return Ok(512),
            Mapper::Mbc7 => return Ok(256),
            _ => {}
        }
        if !self.ram && (self.mapper == Mapper::RomOnly || size_code > 5) {
            return Ok(0);
        }
        match size_code {
            0 => Ok(0),
            1 => Ok(2 << 10),
            2 => Ok(8 << 10),
            3 => Ok(32 << 10),
            4 => Ok(128 << 10),
            5 => Ok(64 << 10),
            _ => Err(RomError::UnknownRamSize { size_code }),
        }
    }

    /// Registers of a device take the upper half, because the whole size must be a power of two.
    fn device_size(&self, ram_size: u32) -> u32 {
        match self.mapper {
            Mapper::Mbc7 => ram_size,
            Mapper::Huc3 => 2 * ram_size.max(512) - ram_size,
            _ => 0,
        }
    }

    /// The type at 0147 does not distinguish multicarts from MBC1, or MBC30 from MBC3, and some
    /// programs name no mapper there.
    fn mapper(&self, rom: &[u8], rom_bytes: u32, ram_bytes: u32) -> Mapper {
        match self.mapper {
            // All known multicarts are 1 MiB and have a game with a header of its own in bank 10
            // (Pan Docs "MBC1M", Complete Technical Reference "Detecting multicarts").
            Mapper::Mbc1 if rom_bytes == 1 << 20 && has_logo(rom, 0) && has_logo(rom, 0x10) => {
                Mapper::Mbc1Multicart
            }
            Mapper::Mbc3 if rom_bytes > 2 << 20 || ram_bytes > 32 << 10 => Mapper::Mbc30,
            // Programs with more ROM than the CPU addresses switch banks, whatever their type says;
            // SameBoy takes an MBC3, too.
            Mapper::RomOnly if rom_bytes > 32 << 10 => Mapper::Mbc3,
            mapper => mapper,
        }
    }
}

fn refused_type(type_code: u8) -> RomError {
    let name = match type_code {
        0x0b => "MMM01",
        0x0c => "MMM01+RAM",
        0x0d => "MMM01+RAM+BATTERY",
        0x20 => "MBC6",
        0xfc => "POCKET CAMERA",
        0xfd => "BANDAI TAMA5",
        _ => return RomError::UnknownMapper { type_code },
    };
    RomError::UnsupportedMapper { type_code, name }
}

/// Returns the size of the chips, and the number of bytes that the file lacks. If the file is
/// longer than the header says, the file's size counts, rounded up to whole chips: some homebrew
/// understates its size, and longer chips do no harm.
fn rom_size(rom: &[u8]) -> Result<(u32, u32), RomError> {
    let size_code = rom[0x148];
    if size_code > 8 {
        return Err(RomError::UnknownRomSize { size_code });
    }
    let header_bytes: usize = (32 << 10) << size_code;
    if rom.len() > MAX_ROM_BYTES {
        return Err(RomError::TooLong { file_bytes: rom.len() });
    }
    let rom_bytes = rom.len().max(header_bytes).next_power_of_two();
    Ok((rom_bytes as u32, header_bytes.saturating_sub(rom.len()) as u32))
}

fn title(rom: &[u8]) -> [u8; 16] {
    // 0143 belongs to the title only where it isn't a Game Boy Color flag.
    let length = if rom[0x143] & 0x80 != 0 { 15 } else { 16 };
    let mut title = [0; 16];
    for (out, &byte) in title.iter_mut().zip(&rom[0x134..0x134 + length]) {
        *out = match byte {
            0 => break,
            0x20..=0x7e => byte,
            _ => b'?',
        };
    }
    title
}

fn header_checksum(rom: &[u8]) -> u8 {
    rom[0x134..=0x14c].iter().fold(0, |sum: u8, &byte| sum.wrapping_sub(byte).wrapping_sub(1))
}

fn logo(rom: &[u8]) -> [u8; LOGO_BYTES] {
    let mut logo = [0; LOGO_BYTES];
    logo.copy_from_slice(&rom[LOGO_START..LOGO_START + LOGO_BYTES]);
    logo
}

/// Returns true if the bank holds the bitmap that every boot ROM checks; compares FNV-1a hashes.
fn has_logo(rom: &[u8], bank: usize) -> bool {
    let start = bank * BANK_BYTES + LOGO_START;
    let Some(logo) = rom.get(start..start + LOGO_BYTES) else { return false };
    let hash = logo
        .iter()
        .fold(0x811c_9dc5_u32, |hash, &byte| (hash ^ byte as u32).wrapping_mul(0x0100_0193));
    hash == 0x016b_ad3f
}

impl fmt::Display for RomError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            RomError::TooShort { file_bytes } => write!(
                f,
                "not a Game Boy ROM: the file has {file_bytes} bytes, a cartridge's header alone \
                 ends at byte 336; check that this is the right file"
            ),
            RomError::TooLong { file_bytes } => write!(
                f,
                "the file has {file_bytes} bytes, the largest Game Boy ROM has \
                 {MAX_ROM_BYTES}; check that this is the right file"
            ),
            RomError::UnknownRomSize { size_code } => write!(
                f,
                "the header's ROM size code {size_code:02X} at 0148 is unknown; 00 to 08 (32 KiB to \
                 8 MiB) are known, so the header is damaged or this is not a Game Boy ROM"
            ),
            RomError::UnknownRamSize { size_code } => write!(
                f,
                "the header's RAM size code {size_code:02X} at 0149 is unknown; 00 to 05 (up to \
                 128 KiB) are known, so the header is damaged or this is not a Game Boy ROM"
            ),
            RomError::UnsupportedMapper { type_code, name } => write!(
                f,
                "the cartridge is of type {type_code:02X} at 0147, {name}, which is not supported; \
                 supported are ROM ONLY, MBC1, MBC2, MBC3, MBC5, MBC7, HuC1 and HuC3"
            ),
            RomError::UnknownMapper { type_code } => write!(
                f,
                "the header's cartridge type {type_code:02X} at 0147 is unknown; supported are ROM \
                 ONLY, MBC1, MBC2, MBC3, MBC5, MBC7, HuC1 and HuC3, so the header is damaged or this \
                 is not a Game Boy ROM"
            ),
            RomError::ColorOnly { cgb_flag } => write!(
                f,
                "the program runs only on a Game Boy Color (flag {cgb_flag:02X} at 0143); ask for \
                 that model, or use a version with flag 80 or 00"
            ),
        }
    }
}

impl core::error::Error for RomError {}
