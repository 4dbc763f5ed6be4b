//! The Color's pixels: which of background and object shows, and its colour out of the palettes.
#![cfg(color)]

use crate::ppu::{FRAME_BYTES, LCDC_BACKGROUND, LCDC_OBJECTS, Ppu};

/// Attribute bit of a tile of the background: it lies in front of objects.
const IN_FRONT: u8 = 0x80;
/// White.
const WHITE: u16 = 0x7fff;

impl Ppu {
    /// The colour of the next pixel of both queues.
    pub(super) fn mixed_front(&self) -> u16 {
        let pipeline = &self.pipeline;
        let background = pipeline.front_background();
        let object = pipeline.object_low >> 7 | pipeline.object_high >> 7 << 1;
        let palette = pipeline.object_palette >> 7
            | pipeline.object_palette_1 >> 7 << 1
            | pipeline.object_palette_2 >> 7 << 2;
        let behind = pipeline.object_behind & 0x80 != 0;
        self.mixed(background, object, palette, behind)
    }

    /// The colour of one pixel. In compatibility mode LCDC bit 0 blanks the background, and its
    /// colours and the objects' are shades of BGP, OBP0 and OBP1 first; else that bit takes every
    /// priority from the background.
    fn mixed(&self, background: u8, object: u8, palette: u8, behind: bool) -> u16 {
        let compatible = self.compatible;
        let enabled = self.lcdc & LCDC_BACKGROUND != 0;
        let ground = if compatible && !enabled { 0 } else { background };
        let attributes = self.pipeline.background_attributes;
        let hides =
            ground != 0 && (behind || attributes & IN_FRONT != 0) && (enabled || compatible);
        let shows_object = object != 0 && self.lcdc & LCDC_OBJECTS != 0 && !hides;
        if compatible {
            if shows_object {
                let shades = if palette != 0 { self.obp1 } else { self.obp0 };
                self.palettes.object_color(palette, shades >> (object * 2) & 3)
            } else {
                self.palettes.background_color(0, self.bgp >> (ground * 2) & 3)
            }
        } else if shows_object {
            self.palettes.object_color(palette, object)
        } else {
            self.palettes.background_color(attributes & 7, ground)
        }
    }

    /// Puts the eight queued pixels into the frame.
    pub(super) fn put_eight_dots(&self, frame: &mut [u8; FRAME_BYTES]) {
        let pipeline = &self.pipeline;
        for pixel in 0..8 {
            let bit = 7 - pixel;
            let background =
                pipeline.background_low >> bit & 1 | (pipeline.background_high >> bit & 1) << 1;
            let object = pipeline.object_low >> bit & 1 | (pipeline.object_high >> bit & 1) << 1;
            let palette = pipeline.object_palette >> bit & 1
                | (pipeline.object_palette_1 >> bit & 1) << 1
                | (pipeline.object_palette_2 >> bit & 1) << 2;
            let behind = pipeline.object_behind >> bit & 1 != 0;
            let color = self.mixed(background, object, palette, behind);
            let column = pipeline.column.wrapping_add(pixel);
            if column < 160 {
                store_pixel(frame, self.line, column, color);
            }
        }
    }

    /// Puts an object's row with the object pixels that are queued already: over those of objects
    /// that lie behind it, and under all others.
    pub(super) fn queue_object(&mut self) {
        let (sorts_by_x, compatible) = (self.sorts_by_x, self.compatible);
        let entry = self.scan.entry[self.pipeline.object as usize];
        let position = self.pipeline.position;
        let pipeline = &mut self.pipeline;
        let flags = pipeline.object_flags;
        let mut low = pipeline.object_data_low;
        let mut high = pipeline.object_data_high;
        if flags & 0x20 != 0 {
            low = low.reverse_bits();
            high = high.reverse_bits();
        }
        let mut takes = !(pipeline.object_low | pipeline.object_high);
        for pixel in 0..8u8 {
            let slot = (position as u8).wrapping_add(pixel) & 7;
            let bit = 0x80 >> pixel;
            if !sorts_by_x && entry < pipeline.object_entries[slot as usize] {
                takes |= bit;
            }
            if takes & bit & (low | high) != 0 {
                pipeline.object_entries[slot as usize] = entry;
            }
        }
        takes &= low | high;
        let palette = if compatible { flags >> 4 & 1 } else { flags & 7 };
        pipeline.object_low = pipeline.object_low & !takes | low & takes;
        pipeline.object_high = pipeline.object_high & !takes | high & takes;
        pipeline.object_palette = pipeline.object_palette & !takes | plane(palette) & takes;
        pipeline.object_palette_1 =
            pipeline.object_palette_1 & !takes | plane(palette >> 1) & takes;
        pipeline.object_palette_2 =
            pipeline.object_palette_2 & !takes | plane(palette >> 2) & takes;
        pipeline.object_behind = pipeline.object_behind & !takes | plane(flags >> 7) & takes;
    }
}

/// All ones if bit 0 is set.
fn plane(bit: u8) -> u8 {
    0u8.wrapping_sub(bit & 1)
}

/// Stores a colour without bit 15, which palette memory keeps and the screen doesn't know.
pub(super) fn store_pixel(frame: &mut [u8; FRAME_BYTES], line: u8, column: u8, color: u16) {
    let index = (line as usize * 320 + column as usize * 2) % FRAME_BYTES;
    frame[index] = color as u8;
    frame[index | 1] = (color >> 8) as u8 & 0x7f;
}

pub(super) fn load_pixel(frame: &[u8; FRAME_BYTES], line: u8, column: u8) -> u16 {
    let index = (line as usize * 320 + column as usize * 2) % FRAME_BYTES;
    frame[index] as u16 | (frame[index | 1] as u16) << 8
}

/// Fills the picture with the panel's white.
pub(super) fn clear(frame: &mut [u8; FRAME_BYTES]) {
    for pixel in 0..FRAME_BYTES / 2 {
        frame[pixel * 2] = WHITE as u8;
        frame[pixel * 2 + 1] = (WHITE >> 8) as u8;
    }
}
