//! A boot ROM beside a cartridge: what the CPU sees from 0000 on until FF50 is written. Host side:
//! not translated.
//!
//! The bank that shows the boot ROM and, where it has gaps, the cartridge, lies behind the
//! cartridge's ROM, so that a machine reads it as it reads every bank.

use crate::header::Model;

/// Bytes of the bank.
pub const BANK_BYTES: usize = 0x4000;
/// The cartridge's header, which shows through the Color's boot ROM.
const GAP: core::ops::Range<usize> = 0x100..0x200;

/// Returns the length of a model's boot ROM: 256 bytes, or the Color's 2,304, of which the header
/// covers 256.
#[must_use]
pub fn length(model: Model) -> usize {
    match model {
        Model::Original => GAP.start,
        Model::Color => 0x900,
    }
}

/// Lays a boot ROM over a copy of the cartridge's first bank.
pub fn overlay(bank: &mut [u8], boot_rom: &[u8]) {
    for (index, (cell, byte)) in bank.iter_mut().zip(boot_rom).enumerate() {
        if !GAP.contains(&index) {
            *cell = *byte;
        }
    }
}
