//! A boot ROM with a cartridge: the memory that the CPU sees from 0000 on until FF50 is written,
//! and the logo that it leaves in video RAM. Host side: not translated.
//!
//! A bank that holds the boot ROM and, in its gaps, the cartridge's bytes is appended to the
//! cartridge's ROM. So a machine reads it like any bank.

use crate::header::Model;

/// Bytes of the bank.
pub const BANK_BYTES: usize = 0x4000;
/// The cartridge's header, which shows through the Color's boot ROM.
const GAP: core::ops::Range<usize> = 0x100..0x200;

/// The registered-trademark tile comes from the boot ROM itself.
const TRADEMARK_ROWS: [u8; 8] = [0x3c, 0x42, 0xb9, 0xa5, 0xb9, 0xa5, 0x42, 0x3c];

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

/// Writes the tiles of a header's logo and the trademark into video RAM, each pixel doubled.
pub fn leave_logo(vram: &mut [u8], logo: &[u8]) {
    for (index, byte) in logo.iter().enumerate() {
        for (half, nibble) in [byte >> 4, byte & 0xf].into_iter().enumerate() {
            let mut row = 0;
            for bit in 0..4 {
                row |= ((nibble >> bit & 1) * 3) << (bit * 2);
            }
            let first_row = 0x10 + index * 8 + half * 4;
            vram[first_row] = row;
            vram[first_row + 2] = row;
        }
    }
    for (index, row) in TRADEMARK_ROWS.into_iter().enumerate() {
        vram[0x190 + index * 2] = row;
    }
}

/// Writes the numbers of the logo's tiles into the map.
pub fn map_logo(vram: &mut [u8]) {
    for column in 0..12 {
        vram[0x1904 + column] = column as u8 + 1;
        vram[0x1924 + column] = column as u8 + 13;
    }
    vram[0x1910] = 0x19;
}
