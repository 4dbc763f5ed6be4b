//! MBC7: two gates, a ROM bank, a sensor of tilt, and an EEPROM (93LC56) behind four pins.
//!
//! Called by `Cart`. The lower half of the cartridge's memory is the EEPROM; writes take no time in
//! this emulation. The first two registers of the upper half are the tilt, which `set_tilt` sets.
//! Source: Pan Docs "MBC7"; Microchip 93LC56 "Instruction set".

use super::registers::{register, set_register};
use super::{Cart, RamPort};

/// Registers: the tilt's offset from `LEVEL`, and the last latched values, XOR `ERASED`.
const TILT_X: usize = 0;
const TILT_Y: usize = 1;
const LATCHED_X: usize = 2;
const LATCHED_Y: usize = 3;
/// The EEPROM's pins as A080 shows them, and two flags.
const PINS: usize = 4;
/// Bits that came in since CS rose, from the start bit on; `ENDED` when the command is done.
const COMMAND: usize = 5;
/// The word that is shifted in or out.
const WORD: usize = 6;
/// Bits of the word that are still to be shifted in.
const LEFT: usize = 7;

const DATA_OUT: u16 = 0x01;
const DATA_IN: u16 = 0x02;
const CLOCK: u16 = 0x40;
const SELECT: u16 = 0x80;
const INPUTS: u16 = DATA_IN | CLOCK | SELECT;
/// Flag: the sensor's values were erased, so they can be latched.
const IS_ERASED: u16 = 0x100;
/// Flag: the EEPROM can be written.
const IS_WRITABLE: u16 = 0x200;
const ENDED: u16 = 0x8000;
/// A complete command: a start bit and ten more bits.
const WHOLE_COMMAND: u16 = 0x400;

/// The sensor's value without tilt, and before the first latch.
const LEVEL: u16 = 0x81d0;
const ERASED: u16 = 0x8000;
/// Part of the sensor's value that the gravity of Earth adds.
pub const GRAVITY: i16 = 0x70;

impl Cart {
    pub(super) fn write_mbc7(&mut self, address: u16, value: u8) {
        match (address >> 13) & 3 {
            0 => self.ram_enabled = value == 0x0a,
            1 => self.rom_bank = (value & 0x7f) as u16,
            2 => self.banking_mode = value == 0x40,
            _ => {}
        }
    }

    pub(super) fn map_mbc7(&mut self) {
        let port = if self.banking_mode { RamPort::Sensor } else { RamPort::Closed };
        self.select(0, self.rom_bank, 0, port);
    }
}

/// Tilts a cartridge with a sensor, in parts of `GRAVITY`: to the right and to the bottom.
pub fn set_tilt(ram: &mut [u8], right: i16, down: i16) {
    set_register(ram, TILT_X, right.wrapping_neg() as u16);
    set_register(ram, TILT_Y, down.wrapping_neg() as u16);
}

/// A read from A000-BFFF: bits 4 to 7 of the address choose.
pub(super) fn read_sensor(ram: &[u8], address: u16) -> u8 {
    if address >= 0xb000 {
        return 0xff;
    }
    match address >> 4 & 0x0f {
        2 => (register(ram, LATCHED_X) ^ ERASED) as u8,
        3 => ((register(ram, LATCHED_X) ^ ERASED) >> 8) as u8,
        4 => (register(ram, LATCHED_Y) ^ ERASED) as u8,
        5 => ((register(ram, LATCHED_Y) ^ ERASED) >> 8) as u8,
        6 => 0,
        8 => register(ram, PINS) as u8,
        _ => 0xff,
    }
}

/// A write to A000-BFFF.
pub(super) fn write_sensor(ram: &mut [u8], address: u16, value: u8) {
    if address >= 0xb000 {
        return;
    }
    let pins = register(ram, PINS);
    let number = address >> 4 & 0x0f;
    if number == 0 && value == 0x55 {
        set_register(ram, LATCHED_X, 0);
        set_register(ram, LATCHED_Y, 0);
        set_register(ram, PINS, pins | IS_ERASED);
    } else if number == 1 && value == 0xaa && pins & IS_ERASED != 0 {
        let x = LEVEL.wrapping_add(register(ram, TILT_X)) ^ ERASED;
        let y = LEVEL.wrapping_add(register(ram, TILT_Y)) ^ ERASED;
        set_register(ram, LATCHED_X, x);
        set_register(ram, LATCHED_Y, y);
        set_register(ram, PINS, pins & !IS_ERASED);
    } else if number == 8 {
        write_pins(ram, pins, value as u16 & INPUTS);
    }
}

fn write_pins(ram: &mut [u8], pins: u16, inputs: u16) {
    set_register(ram, PINS, pins & !INPUTS | inputs);
    if inputs & SELECT == 0 {
        set_register(ram, COMMAND, 0);
        set_register(ram, LEFT, 0);
        // Writes take no time: when CS rises again, DO says that the command is done.
        set_out(ram, 1);
    } else if pins & CLOCK == 0 && inputs & CLOCK != 0 {
        clock(ram, (inputs & DATA_IN) >> 1);
    }
}

fn set_out(ram: &mut [u8], bit: u16) {
    let pins = register(ram, PINS);
    set_register(ram, PINS, pins & !DATA_OUT | bit);
}

/// A rising clock while the EEPROM is selected.
fn clock(ram: &mut [u8], bit: u16) {
    let command = register(ram, COMMAND);
    let word = register(ram, WORD);
    let left = register(ram, LEFT);
    if command & ENDED != 0 {
        set_out(ram, word >> 15);
        set_register(ram, WORD, word << 1 | 1);
    } else if left > 0 {
        set_register(ram, WORD, word << 1 | bit);
        set_register(ram, LEFT, left - 1);
        if left == 1 {
            store(ram, command, word << 1 | bit);
        }
    } else {
        let longer = command << 1 | bit;
        set_register(ram, COMMAND, longer);
        if longer & WHOLE_COMMAND != 0 {
            begin_command(ram, longer);
        }
    }
}

/// Executes a complete command; WRITE and WRAL then wait for their word.
fn begin_command(ram: &mut [u8], command: u16) {
    match command >> 6 & 0x0f {
        // READ; a zero comes before the word.
        0x8..=0xb => {
            set_out(ram, 0);
            let word = word_at(ram, command);
            end_command(ram, word);
        }
        // WRITE, WRAL
        0x1 | 0x4..=0x7 => set_register(ram, LEFT, 16),
        // EWDS, EWEN
        0x0 | 0x3 => {
            let pins = register(ram, PINS) & !IS_WRITABLE;
            let flag = if command & 0x80 != 0 { IS_WRITABLE } else { 0 };
            set_register(ram, PINS, pins | flag);
            end_command(ram, 0xffff);
        }
        // ERASE, ERAL
        _ => store(ram, command, 0xffff),
    }
}

/// Ends a command: further clocks shift this word out.
fn end_command(ram: &mut [u8], word: u16) {
    set_register(ram, WORD, word);
    set_register(ram, COMMAND, ENDED);
}

/// Writes a word to the command's address, or to all.
fn store(ram: &mut [u8], command: u16, word: u16) {
    if register(ram, PINS) & IS_WRITABLE != 0 {
        let is_one = command & 0x100 != 0;
        for index in 0..128u16 {
            if !is_one || index == command & 0x7f {
                let at = 2 * index as usize;
                if at + 1 < ram.len() {
                    ram[at] = word as u8;
                    ram[at + 1] = (word >> 8) as u8;
                }
            }
        }
    }
    set_out(ram, 1);
    end_command(ram, 0xffff);
}

/// Reads the word of the command's address.
fn word_at(ram: &[u8], command: u16) -> u16 {
    let at = 2 * (command & 0x7f) as usize;
    if at + 1 < ram.len() { ram[at] as u16 | (ram[at + 1] as u16) << 8 } else { 0xffff }
}
