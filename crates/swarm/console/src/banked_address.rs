//! Places in memory: an address as the CPU sees it, or an address in a bank, mapped or not.
//!
//! A place is a number: the address in bits 0 to 15, and above them 0 for mapped memory or else the
//! bank plus one. Debuggers, views, chance and the kernels of devices use places.

use std::ops::Range;

use gbxcule_gameboy::Model;

use crate::{ConsoleError, Rom};

const END: u32 = 0x1_0000;

/// The place of an address in a bank.
pub fn in_bank(bank: u16, address: u16) -> u32 {
    (u32::from(bank) + 1) << 16 | u32::from(address)
}

/// The bank of a place, if it has one, and its address.
pub fn split(place: u32) -> (Option<u16>, u16) {
    ((place >> 16).checked_sub(1).map(|bank| bank as u16), place as u16)
}

/// Checks that a range of places lies within one existing bank, or within the addresses that the
/// CPU sees.
///
/// # Errors
/// It does not; the message names the bank or the limit.
pub fn check_range(range: &Range<u32>, rom: &Rom) -> Result<(), ConsoleError> {
    let (low, high) = (range.start, range.end);
    if low > high {
        return Err(ConsoleError::BadRange { low, high });
    }
    if high <= END {
        return Ok(());
    }
    let (bank, address) = split(low);
    let Some(bank) = bank else {
        return Err(ConsoleError::BadRange { low, high });
    };
    let (bytes, last) = (high - low, last_of(address));
    if bytes > u32::from(last - address) + 1 {
        return Err(ConsoleError::LeavesBank { bank, address, bytes, last });
    }
    match banks(rom, address) {
        Some(banks) if usize::from(bank) >= banks => {
            Err(ConsoleError::NoMemoryBank { bank, address, banks })
        }
        _ => Ok(()),
    }
}

/// Checks that `bytes` bytes from `low` on lie where [`check_range`] allows.
///
/// # Errors
/// As [`check_range`].
pub fn check_write(low: u32, bytes: usize, rom: &Rom) -> Result<(), ConsoleError> {
    let bytes = u32::try_from(bytes).unwrap_or(u32::MAX);
    check_range(&(low..low.saturating_add(bytes)), rom)
}

/// Returns the last address of the banked window that holds an address.
fn last_of(address: u16) -> u16 {
    const LAST: [u16; 6] = [0x3FFF, 0x7FFF, 0x9FFF, 0xBFFF, 0xCFFF, 0xDFFF];
    LAST.into_iter().find(|last| address <= *last).unwrap_or(u16::MAX)
}

/// Returns the number of banks that can be mapped at an address; `None` for memory without banks.
fn banks(rom: &Rom, address: u16) -> Option<usize> {
    let is_color = rom.model() == Model::Color;
    match address {
        0x4000..=0x7FFF => Some(rom.chip().len().div_ceil(0x4000)),
        0x8000..=0x9FFF => Some(if is_color { 2 } else { 1 }),
        0xA000..=0xBFFF => Some(rom.cart_ram_bytes().div_ceil(0x2000)),
        0xD000..=0xDFFF => Some(if is_color { 8 } else { 2 }),
        _ => None,
    }
}
