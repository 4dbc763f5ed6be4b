//! The cartridge header at $0100-$014F and its two checksums. Pan Docs "The Cartridge Header".

/// Chips of a cartridge, as the header's byte $0147 names them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CartridgeType(u8);

/// Name in sources and code in the header.
const CARTRIDGES: [(&str, u8); 17] = [
    ("rom_only", 0x00),
    ("mbc1", 0x01),
    ("mbc1_ram", 0x02),
    ("mbc1_ram_battery", 0x03),
    ("mbc2", 0x05),
    ("mbc2_battery", 0x06),
    ("rom_ram", 0x08),
    ("rom_ram_battery", 0x09),
    ("mbc3_timer_battery", 0x0F),
    ("mbc3_timer_ram_battery", 0x10),
    ("mbc3", 0x11),
    ("mbc3_ram", 0x12),
    ("mbc3_ram_battery", 0x13),
    ("mbc5", 0x19),
    ("mbc5_ram", 0x1A),
    ("mbc5_ram_battery", 0x1B),
    ("mbc5_rumble", 0x1C),
];

/// Models of console for which a program is made, as the header's byte $0143 names them. Pan Docs
/// "CGB flag".
const MODELS: [(&str, u8); 3] = [("original", 0x00), ("both", 0x80), ("color", 0xC0)];

/// Returns the header's byte $0143 for a name in sources.
pub(crate) fn model_by_name(name: &str) -> Option<u8> {
    MODELS.iter().find(|row| row.0 == name).map(|row| row.1)
}

/// Returns the names of models that sources may use.
pub(crate) fn model_names() -> impl Iterator<Item = &'static str> {
    MODELS.iter().map(|row| row.0)
}

/// RAM sizes in KiB and their codes in the header's byte $0149.
pub(crate) const RAM_SIZES: [(i64, u8); 5] = [(0, 0), (8, 2), (32, 3), (128, 4), (64, 5)];

/// The logo, without which the console's boot ROM doesn't start a cartridge.
const LOGO: [u8; 48] = [
    0xCE, 0xED, 0x66, 0x66, 0xCC, 0x0D, 0x00, 0x0B, 0x03, 0x73, 0x00, 0x83, 0x00, 0x0C, 0x00, 0x0D,
    0x00, 0x08, 0x11, 0x1F, 0x88, 0x89, 0x00, 0x0E, 0xDC, 0xCC, 0x6E, 0xE6, 0xDD, 0xDD, 0xD9, 0x99,
    0xBB, 0xBB, 0x67, 0x63, 0x6E, 0x0E, 0xEC, 0xCC, 0xDD, 0xDC, 0x99, 0x9F, 0xBB, 0xB9, 0x33, 0x3E,
];

impl CartridgeType {
    /// A bare ROM without a mapper.
    pub const ROM_ONLY: CartridgeType = CartridgeType(0);

    /// Returns the cartridge with a name of the sources, such as `mbc1_ram`.
    pub fn by_name(name: &str) -> Option<CartridgeType> {
        CARTRIDGES.iter().find(|row| row.0 == name).map(|row| CartridgeType(row.1))
    }

    /// Returns the names that sources may use.
    pub fn names() -> impl Iterator<Item = &'static str> {
        CARTRIDGES.iter().map(|row| row.0)
    }

    /// Returns the name in sources.
    pub(crate) fn name(self) -> &'static str {
        CARTRIDGES.iter().find(|row| row.1 == self.0).map_or("", |row| row.0)
    }

    /// Returns the greatest number of ROM banks of the cartridge. Pan Docs "MBCs".
    pub(crate) fn max_banks(self) -> u16 {
        match self.0 {
            0x01..=0x03 | 0x0F..=0x13 => 128,
            0x05..=0x06 => 16,
            0x19..=0x1E => 512,
            _ => 2,
        }
    }

    /// Returns the header's byte $0147.
    pub fn code(self) -> u8 {
        self.0
    }
}

/// Header of a cartridge, as its source declares it.
#[derive(Clone, Debug)]
pub(crate) struct Header {
    pub(crate) title: String,
    pub(crate) cartridge: CartridgeType,
    pub(crate) ram_code: u8,
    pub(crate) model: u8,
}

impl Header {
    /// Writes the header into a ROM of a valid size whose code and data are in place.
    pub(crate) fn write(&self, rom: &mut [u8], start: u16) {
        let [low, high] = start.to_le_bytes();
        // The entry point is a nop, then a jp to the program.
        rom[0x100..0x104].copy_from_slice(&[0x00, 0xC3, low, high]);
        rom[0x104..0x134].copy_from_slice(&LOGO);
        rom[0x134..0x134 + self.title.len()].copy_from_slice(self.title.as_bytes());
        rom[0x143] = self.model;
        rom[0x147] = self.cartridge.code();
        rom[0x148] = (rom.len() / 0x8000).trailing_zeros() as u8;
        rom[0x149] = self.ram_code;
        // $014A: sold anywhere but in Japan. The old licensee byte belongs to no company.
        rom[0x14A] = 1;
        rom[0x14D] = header_checksum(rom);
        let global = global_checksum(rom);
        rom[0x14E..0x150].copy_from_slice(&global.to_be_bytes());
    }
}

/// Computes the checksum of $0134-$014C that the boot ROM checks. Panics if the header is
/// incomplete.
pub fn header_checksum(rom: &[u8]) -> u8 {
    rom[0x134..0x14D].iter().fold(0, |sum: u8, byte| sum.wrapping_sub(*byte).wrapping_sub(1))
}

/// Computes the sum of all bytes except the two bytes of the checksum. Panics if the header is
/// incomplete.
pub fn global_checksum(rom: &[u8]) -> u16 {
    let counted = rom[..0x14E].iter().chain(&rom[0x150..]);
    counted.fold(0, |sum: u16, byte| sum.wrapping_add(u16::from(*byte)))
}
