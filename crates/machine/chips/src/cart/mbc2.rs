//! MBC2: the registers RAMG and ROMB; address bit A8 chooses between them.
//!
//! Called by `Cart`. Its RAM is 512 half-bytes inside the chip, repeated over A000-BFFF.
//! Sources: Game Boy: Complete Technical Reference "MBC2 mapper chip"; Pan Docs "MBC2".

use super::Cart;

impl Cart {
    pub(super) fn write_mbc2(&mut self, address: u16, value: u8) {
        match address & 0x4100 {
            0x0000 => self.ram_enabled = value & 0x0f == 0x0a,
            0x0100 => self.rom_bank = if value & 0x0f == 0 { 1 } else { (value & 0x0f) as u16 },
            _ => {}
        }
    }
}
