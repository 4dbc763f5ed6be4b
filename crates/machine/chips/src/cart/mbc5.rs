//! MBC5: RAMG, a 9-bit ROM bank in two registers, RAMB.
//!
//! Called by `Cart`. Sources: Game Boy: Complete Technical Reference "MBC5 mapper chip"; Pan Docs
//! "MBC5".

use super::{Cart, Mapper, RamPort};

impl Cart {
    pub(super) fn write_mbc5(&mut self, address: u16, value: u8) {
        match (address >> 12) & 7 {
            // All eight bits are compared, unlike in older chips (Complete Technical Reference; Pan
            // Docs says four).
            0 | 1 => self.ram_enabled = value == 0x0a,
            2 => self.rom_bank = (self.rom_bank & 0x100) | value as u16,
            3 => self.rom_bank = (self.rom_bank & 0xff) | (((value & 1) as u16) << 8),
            4 | 5 => self.ram_bank = value & 0x0f,
            _ => {}
        }
    }

    pub(super) fn map_mbc5(&mut self) {
        let ram_bank = match self.mapper {
            Mapper::Mbc5Rumble => self.ram_bank & 0x07,
            _ => self.ram_bank,
        };
        self.select(0, self.rom_bank, ram_bank, RamPort::Bytes);
    }
}
