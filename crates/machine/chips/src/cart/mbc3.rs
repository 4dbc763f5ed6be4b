//! MBC3 and MBC30: RAM and clock gate, ROM bank, RAM bank or clock register, latch.
//!
//! Called by `Cart`. Source: Pan Docs "MBC3".

use super::{Cart, Mapper, RamPort};

impl Cart {
    pub(super) fn write_mbc3(&mut self, now: u32, address: u16, value: u8) {
        let rom_bank_bits = match self.mapper {
            Mapper::Mbc30 => 0xff,
            _ => 0x7f,
        };
        match (address >> 13) & 3 {
            0 => self.ram_enabled = value & 0x0f == 0x0a,
            1 => {
                let bank = value & rom_bank_bits;
                self.rom_bank = if bank == 0 { 1 } else { bank as u16 };
            }
            2 => self.ram_bank = value & 0x0f,
            _ => {
                if self.has_rtc {
                    self.rtc.write_latch(now, value);
                }
            }
        }
    }

    // UNVERIFIED: selections that name neither a RAM bank nor a clock register are taken to leave
    // A000-BFFF undriven; Pan Docs lists 00-07 and 08-0C and says nothing of the others.
    pub(super) fn map_mbc3(&mut self) {
        let port = match self.ram_bank {
            0x00..=0x03 => RamPort::Bytes,
            0x04..=0x07 => match self.mapper {
                Mapper::Mbc30 => RamPort::Bytes,
                _ => RamPort::Closed,
            },
            0x08..=0x0c => RamPort::Clock,
            _ => RamPort::Closed,
        };
        self.select(0, self.rom_bank, self.ram_bank & 7, port);
    }
}
