//! The cartridge as the CPU sees it: bank registers, the RAM gate, and what they select.
//!
//! `map` alone computes the offsets that the registers select. The machine derives `rom_base` from
//! these offsets and reads ROM by it. Offsets stay within `rom_mask` and `ram_mask`, whatever is
//! written; only the offset of a boot ROM lies beyond.

mod huc1;
mod huc3;
mod mbc1;
mod mbc2;
mod mbc3;
mod mbc5;
mod mbc7;
mod registers;
mod rtc;

pub use mbc7::{GRAVITY, set_tilt};
use mbc7::{read_sensor, write_sensor};
pub use rtc::{ClockRegisters, Rtc};

/// The chip between the cartridge's edge and its ROM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Mapper {
    /// ROM wired straight to the bus, RAM (if any) always enabled.
    RomOnly = 0,
    /// MBC1 in its usual wiring.
    Mbc1 = 1,
    /// MBC1 with bit 4 of BANK1 unconnected: four games of 256 KiB.
    Mbc1Multicart = 2,
    /// MBC2, with 512 half-bytes of its own RAM.
    Mbc2 = 3,
    /// MBC3, with or without a clock.
    Mbc3 = 4,
    /// MBC30: MBC3 with one more bank bit for ROM and for RAM.
    Mbc30 = 5,
    /// MBC5.
    Mbc5 = 6,
    /// MBC5 whose RAM bank bit 3 drives a rumble motor instead.
    Mbc5Rumble = 7,
    /// HuC1, with an infrared port.
    Huc1 = 8,
    /// HuC3, with an infrared port and a clock.
    Huc3 = 9,
    /// MBC7, with a sensor of tilt and an EEPROM.
    Mbc7 = 10,
}

/// Device that answers at A000-BFFF.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum RamPort {
    /// Nothing: reads float to FF, writes are lost.
    Closed = 0,
    /// Bytes of cartridge RAM.
    Bytes = 1,
    /// MBC2's half-bytes: the upper half of the data bus floats.
    Nibbles = 2,
    /// One register of the clock.
    Clock = 3,
    /// An infrared port, which sees no light.
    Infrared = 4,
    /// Registers of a HuC3, or its RAM while that can't be written.
    Huc3 = 5,
    /// Registers of an MBC7.
    Sensor = 6,
}

/// Registers of the mapper and what they currently select.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Cart {
    /// Chip of the cartridge.
    pub mapper: Mapper,
    /// 0000-3FFF shows the boot ROM, which lies behind the cartridge's ROM (`boot_rom`).
    pub boot_rom: bool,
    /// Byte offset in ROM of what 0000-3FFF shows.
    pub rom_low: u32,
    /// Byte offset in ROM of what 4000-7FFF shows.
    pub rom_high: u32,
    /// ROM length - 1; the length is a power of two of at least 32 KiB.
    pub rom_mask: u32,
    /// Byte offset in RAM of what A000-BFFF shows.
    pub ram_offset: u32,
    /// RAM length - 1; the length is a power of two. 0 without RAM.
    pub ram_mask: u32,
    /// Device that answers at A000-BFFF now.
    pub ram_port: RamPort,
    /// The cartridge has RAM.
    pub has_ram: bool,
    /// The cartridge has a clock.
    pub has_rtc: bool,
    /// The RAM gate register holds its key.
    pub ram_enabled: bool,
    /// ROM bank register: BANK1, ROMB, or ROMB1:ROMB0.
    pub rom_bank: u16,
    /// Second register: BANK2, RAMB, or MBC3's RAM bank and clock select.
    pub ram_bank: u8,
    /// MBC1's MODE register.
    pub banking_mode: bool,
    /// MBC3's clock.
    pub rtc: Rtc,
}

/// Value read where nothing drives the bus. Real carts float; FF is the usual value.
const OPEN_BUS: u8 = 0xff;
/// Value of an infrared port that sees no light.
const NO_LIGHT: u8 = 0xc0;

impl Cart {
    /// A write to 0000-7FFF.
    #[inline(never)]
    pub fn write_control(&mut self, now: u32, address: u16, value: u8) {
        match self.mapper {
            Mapper::RomOnly => {}
            Mapper::Mbc1 | Mapper::Mbc1Multicart => self.write_mbc1(address, value),
            Mapper::Mbc2 => self.write_mbc2(address, value),
            Mapper::Mbc3 | Mapper::Mbc30 => self.write_mbc3(now, address, value),
            Mapper::Mbc5 | Mapper::Mbc5Rumble => self.write_mbc5(address, value),
            Mapper::Huc1 => self.write_huc1(address, value),
            Mapper::Huc3 => self.write_huc3_control(address, value),
            Mapper::Mbc7 => self.write_mbc7(address, value),
        }
        self.map();
    }

    /// A read from A000-BFFF.
    #[inline(always)]
    pub fn read_ram(&self, ram: &[u8], address: u16) -> u8 {
        match self.ram_port {
            RamPort::Bytes => self.read_byte(ram, address),
            _ => self.read_port(ram, address),
        }
    }

    /// A write to A000-BFFF.
    #[inline(always)]
    pub fn write_ram(&mut self, ram: &mut [u8], now: u32, address: u16, value: u8) {
        match self.ram_port {
            RamPort::Bytes => self.write_byte(ram, address, value),
            _ => self.write_port(ram, now, address, value),
        }
    }

    /// Returns true if the cartridge's motor shakes the console.
    #[inline]
    pub fn rumbles(&self) -> bool {
        self.mapper == Mapper::Mbc5Rumble && self.ram_bank & 8 != 0
    }

    /// Brings the clock up to `now`.
    #[inline]
    pub fn sync(&mut self, now: u32) {
        if self.has_rtc {
            self.rtc.sync(now);
        }
    }

    #[inline(never)]
    fn read_port(&self, ram: &[u8], address: u16) -> u8 {
        match self.ram_port {
            RamPort::Closed => OPEN_BUS,
            RamPort::Bytes => self.read_byte(ram, address),
            RamPort::Nibbles => self.read_byte(ram, address) | 0xf0,
            RamPort::Clock => self.rtc.read(self.ram_bank),
            RamPort::Infrared => NO_LIGHT,
            RamPort::Huc3 => self.read_huc3(ram, address),
            RamPort::Sensor => read_sensor(ram, address),
        }
    }

    #[inline(never)]
    fn write_port(&mut self, ram: &mut [u8], now: u32, address: u16, value: u8) {
        match self.ram_port {
            RamPort::Closed => {}
            RamPort::Bytes => self.write_byte(ram, address, value),
            RamPort::Nibbles => self.write_byte(ram, address, value & 0x0f),
            RamPort::Clock => self.rtc.write(now, self.ram_bank, value),
            RamPort::Infrared => {}
            RamPort::Huc3 => self.write_huc3(ram, now, value),
            RamPort::Sensor => write_sensor(ram, address, value),
        }
    }

    // The second mask can't be wrong even if the caller's slice is not the one `ram_mask` was made
    // for.
    #[inline(always)]
    fn read_byte(&self, ram: &[u8], address: u16) -> u8 {
        let length = ram.len();
        if length == 0 {
            return OPEN_BUS;
        }
        let offset = (self.ram_offset | (address & 0x1fff) as u32) & self.ram_mask;
        ram[offset as usize & (length - 1)]
    }

    #[inline(always)]
    fn write_byte(&self, ram: &mut [u8], address: u16, value: u8) {
        let length = ram.len();
        if length == 0 {
            return;
        }
        let offset = (self.ram_offset | (address & 0x1fff) as u32) & self.ram_mask;
        ram[offset as usize & (length - 1)] = value;
    }

    /// Derives every cached selection from the registers.
    pub fn map(&mut self) {
        match self.mapper {
            Mapper::RomOnly => self.select(0, 1, 0, RamPort::Bytes),
            Mapper::Mbc1 | Mapper::Mbc1Multicart => self.map_mbc1(),
            Mapper::Mbc2 => self.select(0, self.rom_bank, 0, RamPort::Nibbles),
            Mapper::Mbc3 | Mapper::Mbc30 => self.map_mbc3(),
            Mapper::Mbc5 | Mapper::Mbc5Rumble => self.map_mbc5(),
            Mapper::Huc1 => self.map_huc1(),
            Mapper::Huc3 => self.map_huc3(),
            Mapper::Mbc7 => self.map_mbc7(),
        }
    }

    /// Banks beyond the chips wrap: their upper address lines aren't connected.
    fn select(&mut self, low_bank: u16, high_bank: u16, ram_bank: u8, port: RamPort) {
        self.rom_low = if self.boot_rom {
            self.rom_mask.wrapping_add(1)
        } else {
            ((low_bank as u32) << 14) & self.rom_mask
        };
        self.rom_high = ((high_bank as u32) << 14) & self.rom_mask;
        self.ram_offset = ((ram_bank as u32) << 13) & self.ram_mask;
        let answers = match port {
            RamPort::Clock => self.has_rtc,
            RamPort::Bytes | RamPort::Nibbles => self.has_ram,
            _ => true,
        };
        self.ram_port = if self.ram_enabled && answers { port } else { RamPort::Closed };
    }
}
