//! The Color's palettes (FF68-FF6B): eight of four colours for the background, eight for objects.
#![cfg(color)]

use crate::color::has_color_registers;
use crate::machine::{Machine, is_before};
use crate::ppu::color_timing::is_palette_blocked;
use crate::ppu::whole_or_by_dots::before_picture_change;
use crate::ppu::{stays_in_hblank, sync_ppu_now};

/// M-cycles of the line after an HBlank that was found, at single speed, in which the PPU does not
/// draw yet: colours can be written in place.
pub(crate) const MODE2_MCYCLES: u32 = 20;

/// Palette memory: two bytes a colour, RGB555 with red in the lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Palettes {
    /// Colours of the background and the window.
    pub background: [u8; 64],
    /// Colours of objects.
    pub object: [u8; 64],
    /// FF68 (BCPS): the index of the byte that FF69 accesses; with bit 7 each write increments the
    /// index.
    pub background_index: u8,
    /// FF6A (OCPS).
    pub object_index: u8,
}

impl Palettes {
    /// A colour of the background.
    pub(crate) fn background_color(&self, palette: u8, color: u8) -> u16 {
        let at = (palette * 8 + color * 2) as usize & 0x3e;
        self.background[at] as u16 | (self.background[at | 1] as u16) << 8
    }

    /// A colour of an object.
    pub(crate) fn object_color(&self, palette: u8, color: u8) -> u16 {
        let at = (palette * 8 + color * 2) as usize & 0x3e;
        self.object[at] as u16 | (self.object[at | 1] as u16) << 8
    }
}

/// A read of FF69 or FF6B, which is blocked while the PPU draws.
pub(crate) fn read_palette(machine: &mut Machine, of_objects: bool) -> u8 {
    sync_ppu_now(machine);
    if is_palette_blocked(machine) {
        0xff
    } else if of_objects {
        machine.ppu.palettes.object[(machine.ppu.palettes.object_index & 0x3f) as usize]
    } else {
        machine.ppu.palettes.background[(machine.ppu.palettes.background_index & 0x3f) as usize]
    }
}

/// Writes FF68-FF6B at a moment, if that needs no sync; returns true if it did. All programs can
/// write both indices (docboy `cgb_dmg_mode/ppu/bcps_write_read`).
#[inline(always)]
pub(crate) fn has_written_in_place(machine: &mut Machine, now: u32, low: u8, value: u8) -> bool {
    if low == 0x68 {
        machine.ppu.palettes.background_index = value & 0xbf;
    } else if low == 0x6a {
        machine.ppu.palettes.object_index = value & 0xbf;
    } else if is_before(now.wrapping_sub(MODE2_MCYCLES), machine.ppu.hblank_until) {
        store_color(machine, low == 0x6b, value);
    } else {
        return false;
    }
    true
}

/// A write to FF68-FF6B.
#[inline(always)]
pub(crate) fn write_palettes(machine: &mut Machine, low: u8, value: u8) {
    let now = machine.now;
    if !has_written_in_place(machine, now, low, value) {
        write_color_cell(machine, low == 0x6b, value);
    }
}

/// A write to FF69 or FF6B. While the PPU draws, the colour stays, but the index is incremented.
#[inline(never)]
pub fn write_color_cell(machine: &mut Machine, of_objects: bool, value: u8) {
    if !has_color_registers(machine) {
        return;
    }
    if stays_in_hblank(machine) {
        store_color(machine, of_objects, value);
        return;
    }
    sync_ppu_now(machine);
    if !is_palette_blocked(machine) {
        before_picture_change(machine);
        store_color(machine, of_objects, value);
    } else if of_objects {
        machine.ppu.palettes.object_index = next_index(machine.ppu.palettes.object_index);
    } else {
        machine.ppu.palettes.background_index = next_index(machine.ppu.palettes.background_index);
    }
}

#[inline(always)]
fn store_color(machine: &mut Machine, of_objects: bool, value: u8) {
    let palettes = &mut machine.ppu.palettes;
    if of_objects {
        let index = palettes.object_index;
        palettes.object[(index & 0x3f) as usize] = value;
        palettes.object_index = next_index(index);
    } else {
        let index = palettes.background_index;
        palettes.background[(index & 0x3f) as usize] = value;
        palettes.background_index = next_index(index);
    }
}

#[inline(always)]
fn next_index(index: u8) -> u8 {
    // Bit 7 adds 1 to the index. Bit 6, which is always clear, takes the carry.
    index.wrapping_add(index >> 7) & 0xbf
}
