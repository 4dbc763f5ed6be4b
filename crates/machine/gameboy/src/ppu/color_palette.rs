//! The Color's palettes (FF68-FF6B): eight of four colours for the background, eight for objects.
#![cfg(color)]

use crate::machine::Machine;

/// Palette memory: two bytes a colour, RGB555 with red in the lowest bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Palettes {
    /// Colours of the background and the window.
    pub background: [u8; 64],
    /// Colours of objects.
    pub object: [u8; 64],
    /// FF68 (BCPS): the byte that FF69 shows; bit 7 moves it on with each write.
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

impl Machine {
    /// A read of FF69 or FF6B: nothing while the PPU draws.
    pub(crate) fn read_palette(&mut self, of_objects: bool) -> u8 {
        self.sync_ppu(self.tcycles());
        if self.is_palette_blocked() {
            0xff
        } else if of_objects {
            self.ppu.palettes.object[(self.ppu.palettes.object_index & 0x3f) as usize]
        } else {
            self.ppu.palettes.background[(self.ppu.palettes.background_index & 0x3f) as usize]
        }
    }

    /// A write to FF69 or FF6B. While the PPU draws the colour stays, but the index moves on.
    pub(crate) fn write_color_cell(&mut self, of_objects: bool, value: u8) {
        self.sync_ppu(self.tcycles());
        if !self.is_palette_blocked() {
            self.before_picture_change();
            let palettes = &mut self.ppu.palettes;
            if of_objects {
                palettes.object[(palettes.object_index & 0x3f) as usize] = value;
            } else {
                palettes.background[(palettes.background_index & 0x3f) as usize] = value;
            }
        }
        let palettes = &mut self.ppu.palettes;
        if of_objects {
            palettes.object_index = next_index(palettes.object_index);
        } else {
            palettes.background_index = next_index(palettes.background_index);
        }
    }
}

fn next_index(index: u8) -> u8 {
    if index & 0x80 != 0 { 0x80 | (index + 1) & 0x3f } else { index }
}
