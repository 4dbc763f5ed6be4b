//! MBC1: RAMG, BANK1, BANK2 and MODE, in its usual and its multicart wiring.
//!
//! Called by `Cart`. Only A13-A15 reach the chip, so each register fills 8 KiB of addresses.
//! Sources: Game Boy: Complete Technical Reference "MBC1 mapper chip"; Pan Docs "MBC1".

use super::{Cart, Mapper, RamPort};

impl Cart {
    pub(super) fn write_mbc1(&mut self, address: u16, value: u8) {
        match (address >> 13) & 3 {
            0 => self.ram_enabled = value & 0x0f == 0x0a,
            // All five bits are compared with zero, even if fewer bits are connected to the ROM.
            1 => self.rom_bank = if value & 0x1f == 0 { 1 } else { (value & 0x1f) as u16 },
            2 => self.ram_bank = value & 3,
            _ => self.banking_mode = value & 1 != 0,
        }
    }

    /// MODE 0 hides BANK2 from 0000-3FFF and A000-BFFF, where A14 is low.
    pub(super) fn map_mbc1(&mut self) {
        let bank2 = self.ram_bank as u16;
        let (upper, lower) = match self.mapper {
            Mapper::Mbc1Multicart => (bank2 << 4, self.rom_bank & 0x0f),
            _ => (bank2 << 5, self.rom_bank),
        };
        let ungated_upper = if self.banking_mode { upper } else { 0 };
        let ram_bank = if self.banking_mode { self.ram_bank } else { 0 };
        self.select(ungated_upper, upper | lower, ram_bank, RamPort::Bytes);
    }
}
