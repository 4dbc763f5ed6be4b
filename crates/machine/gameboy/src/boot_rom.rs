//! A boot ROM with a cartridge: the memory that the CPU sees from 0000 on until FF50 is written.
//! Host side: not translated.
//!
//! A bank that holds the boot ROM and, in its gaps, the cartridge's bytes is appended to the
//! cartridge's ROM. So a machine reads it like any bank.

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
