//! HuC1: RAM or an infrared port, a ROM bank, a RAM bank. RAM has no gate.
//!
//! Called by `Cart`. The infrared port receives no light, and its output has no receiver. Source:
//! Pan Docs "HuC1".
// UNVERIFIED: ROM bank 0 is taken as bank 0.

use super::{Cart, RamPort};

impl Cart {
    pub(super) fn write_huc1(&mut self, address: u16, value: u8) {
        match (address >> 13) & 3 {
            0 => self.banking_mode = value & 0x0f == 0x0e,
            1 => self.rom_bank = (value & 0x3f) as u16,
            2 => self.ram_bank = value & 3,
            _ => {}
        }
    }

    pub(super) fn map_huc1(&mut self) {
        let port = if self.banking_mode { RamPort::Infrared } else { RamPort::Bytes };
        self.select(0, self.rom_bank, self.ram_bank, port);
    }
}
