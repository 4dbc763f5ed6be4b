//! HuC3: ROM and RAM banks, an infrared port, and a clock inside a 4-bit microcontroller.
//!
//! Called by `Cart`. The program writes a command to a mailbox and asks for its execution, which
//! takes no time in this emulation. The clock is that of `rtc`; days beyond its nine bits are
//! counted in the registers that an MBC3 uses for latched time. The upper half-byte of `ram_bank`
//! is the selected device, the lower one the RAM bank. Sound and light outputs are not emulated.
//! Source: Pan Docs "HuC-3".
// UNVERIFIED: bits of registers that Pan Docs doesn't name read as ones, but 0 in the mailbox.

use super::registers::{register, set_register};
use super::{Cart, RamPort};

/// The mailbox: command and argument as written, the address in the microcontroller's memory, and
/// the result of the last command.
const MAILBOX: usize = 128;
const ADDRESS: usize = 129;
const RESULT: usize = 130;

/// Addresses of times in the microcontroller's memory of half-bytes: the time that commands copy,
/// the running time, and the time of an event. Each begins with the minute of the day; the day
/// follows.
const COPIED_TIME: u16 = 0x00;
const RUNNING_TIME: u16 = 0x10;
const EVENT_TIME: u16 = 0x58;
const DAY_MINUTES: u32 = 1440;
/// Minutes of the 4,096 days that three half-bytes can count.
const ALL_MINUTES: u32 = DAY_MINUTES << 12;
const DAY_CARRY: u8 = 0x80;

impl Cart {
    pub(super) fn write_huc3_control(&mut self, address: u16, value: u8) {
        match (address >> 13) & 3 {
            0 => self.ram_bank = self.ram_bank & 0x0f | value << 4,
            1 => self.rom_bank = (value & 0x7f) as u16,
            2 => self.ram_bank = self.ram_bank & 0xf0 | value & 3,
            _ => {}
        }
    }

    pub(super) fn map_huc3(&mut self) {
        let port = match self.ram_bank >> 4 {
            0x0 | 0xb..=0xd => RamPort::Huc3,
            0xa => RamPort::Bytes,
            0xe => RamPort::Infrared,
            _ => RamPort::Closed,
        };
        self.select(0, self.rom_bank, self.ram_bank & 3, port);
    }

    pub(super) fn read_huc3(&self, ram: &[u8], address: u16) -> u8 {
        let selected = self.ram_bank >> 4;
        if selected == 0x0 && self.has_ram {
            self.read_byte(ram, address)
        } else if selected == 0xc {
            0x80 | register(ram, MAILBOX) as u8 & 0x70 | register(ram, RESULT) as u8 & 0x0f
        } else {
            // The microcontroller is always ready.
            0xff
        }
    }

    pub(super) fn write_huc3(&mut self, ram: &mut [u8], now: u32, value: u8) {
        let selected = self.ram_bank >> 4;
        if selected == 0xb {
            set_register(ram, MAILBOX, value as u16);
        } else if selected == 0xd && value & 1 == 0 {
            self.execute_huc3(ram, now);
        }
    }

    fn execute_huc3(&mut self, ram: &mut [u8], now: u32) {
        let mailbox = register(ram, MAILBOX);
        let address = register(ram, ADDRESS) & 0xff;
        let argument = mailbox & 0x0f;
        self.rtc.sync(now);
        self.show_huc3_time(ram, RUNNING_TIME);
        match (mailbox >> 4) & 7 {
            1 => {
                let value = nibble(ram, address);
                set_register(ram, RESULT, value);
                set_register(ram, ADDRESS, address + 1);
            }
            3 => {
                set_nibble(ram, address, argument);
                set_register(ram, ADDRESS, address + 1);
                if address >= RUNNING_TIME && address < RUNNING_TIME + 6 {
                    self.set_huc3_time(time_at(ram, RUNNING_TIME));
                }
            }
            4 => set_register(ram, ADDRESS, address & 0xf0 | argument),
            5 => set_register(ram, ADDRESS, address & 0x0f | argument << 4),
            6 => self.execute_extended_huc3(ram, argument),
            _ => {}
        }
    }

    fn execute_extended_huc3(&mut self, ram: &mut [u8], argument: u16) {
        match argument {
            0 => self.show_huc3_time(ram, COPIED_TIME),
            // The distance to the event stays the same.
            1 => {
                let old = time_at(ram, RUNNING_TIME);
                let new = time_at(ram, COPIED_TIME);
                let event = time_at(ram, EVENT_TIME) + ALL_MINUTES + new - old;
                put_time(ram, EVENT_TIME, event % ALL_MINUTES);
                self.set_huc3_time(new);
            }
            2 => set_register(ram, RESULT, 1),
            _ => {}
        }
    }

    /// Writes the clock's time into the microcontroller's memory.
    fn show_huc3_time(&mut self, ram: &mut [u8], address: u16) {
        let rtc = &mut self.rtc;
        if rtc.running.days_high & DAY_CARRY != 0 {
            rtc.running.days_high &= !DAY_CARRY;
            rtc.latched.days_low = rtc.latched.days_low.wrapping_add(1);
        }
        let low = rtc.running.days_low as u32 | ((rtc.running.days_high & 1) as u32) << 8;
        let days = (low | (rtc.latched.days_low as u32) << 9) & 0xfff;
        let minutes = rtc.running.hours as u32 * 60 + rtc.running.minutes as u32;
        put_time(ram, address, days * DAY_MINUTES + minutes % DAY_MINUTES);
    }

    fn set_huc3_time(&mut self, time: u32) {
        let minutes = time % DAY_MINUTES;
        let days = time / DAY_MINUTES;
        self.rtc.running.hours = (minutes / 60) as u8;
        self.rtc.running.minutes = (minutes % 60) as u8;
        self.rtc.running.days_low = days as u8;
        self.rtc.running.days_high = (days >> 8 & 1) as u8;
        self.rtc.latched.days_low = (days >> 9) as u8;
    }
}

/// Reads a half-byte of the microcontroller's memory; a register holds two.
fn nibble(ram: &[u8], address: u16) -> u16 {
    let two = register(ram, ((address & 0xff) >> 1) as usize);
    two >> (8 * (address & 1)) & 0x0f
}

fn set_nibble(ram: &mut [u8], address: u16, value: u16) {
    let number = ((address & 0xff) >> 1) as usize;
    let shift = 8 * (address & 1);
    let two = register(ram, number) & !(0xff << shift);
    set_register(ram, number, two | (value & 0x0f) << shift);
}

/// Returns a time in memory in minutes: the minute of the day in three half-bytes, the day in
/// three.
fn time_at(ram: &[u8], address: u16) -> u32 {
    let mut numbers = [0u32; 2];
    for place in 0..6u16 {
        let half = (place / 3) as usize;
        numbers[half] |= (nibble(ram, address + place) as u32) << (4 * (place % 3));
    }
    numbers[0] % DAY_MINUTES + numbers[1] * DAY_MINUTES
}

fn put_time(ram: &mut [u8], address: u16, time: u32) {
    let numbers = [time % DAY_MINUTES, time / DAY_MINUTES];
    for place in 0..6u16 {
        let number = numbers[(place / 3) as usize];
        set_nibble(ram, address + place, (number >> (4 * (place % 3))) as u16);
    }
}
