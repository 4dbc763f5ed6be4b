//! Chooses between background and object pixel on the original, and the pixel's shade.
#![cfg(not(color))]

use crate::ppu::{FRAME_BYTES, LCDC_BACKGROUND, LCDC_OBJECTS, Ppu};

impl Ppu {
    /// The shade of the next pixel of both queues.
    pub(super) fn mixed_front(&self) -> u8 {
        let pipeline = &self.pipeline;
        let colour = pipeline.front_background();
        let object = pipeline.object_low >> 7 | pipeline.object_high >> 7 << 1;
        let behind = pipeline.object_behind & 0x80 != 0;
        let palette = if pipeline.object_palette & 0x80 != 0 { self.obp1 } else { self.obp0 };
        let background = if self.lcdc & LCDC_BACKGROUND == 0 { 0 } else { colour };
        let shows_object =
            object != 0 && self.lcdc & LCDC_OBJECTS != 0 && !(behind && background != 0);
        if shows_object { palette >> (object * 2) & 3 } else { self.bgp >> (background * 2) & 3 }
    }

    /// Puts an object's row under the object pixels that are queued already.
    pub(super) fn queue_object(&mut self) {
        let pipeline = &mut self.pipeline;
        let mut low = pipeline.object_data_low;
        let mut high = pipeline.object_data_high;
        if pipeline.object_flags & 0x20 != 0 {
            low = low.reverse_bits();
            high = high.reverse_bits();
        }
        let free = !(pipeline.object_low | pipeline.object_high);
        let takes = free & (low | high);
        pipeline.object_low |= low & takes;
        pipeline.object_high |= high & takes;
        let palette = if pipeline.object_flags & 0x10 != 0 { takes } else { 0 };
        pipeline.object_palette = pipeline.object_palette & !takes | palette;
        let behind = if pipeline.object_flags & 0x80 != 0 { takes } else { 0 };
        pipeline.object_behind = pipeline.object_behind & !takes | behind;
    }

    /// Puts the eight queued pixels into the frame.
    pub(super) fn put_eight_dots(&self, frame: &mut [u8; FRAME_BYTES]) {
        let pipeline = &self.pipeline;
        let mut background_low = pipeline.background_low;
        let mut background_high = pipeline.background_high;
        if self.lcdc & LCDC_BACKGROUND == 0 {
            background_low = 0;
            background_high = 0;
        }
        let opaque = background_low | background_high;
        let mut shows =
            (pipeline.object_low | pipeline.object_high) & !(pipeline.object_behind & opaque);
        if self.lcdc & LCDC_OBJECTS == 0 {
            shows = 0;
        }
        let second = pipeline.object_palette;
        for pixel in 0..8 {
            let bit = 7 - pixel;
            let shade = if shows >> bit & 1 != 0 {
                let colour =
                    pipeline.object_low >> bit & 1 | (pipeline.object_high >> bit & 1) << 1;
                let palette = if second >> bit & 1 != 0 { self.obp1 } else { self.obp0 };
                palette >> (colour * 2) & 3
            } else {
                let colour = background_low >> bit & 1 | (background_high >> bit & 1) << 1;
                self.bgp >> (colour * 2) & 3
            };
            let column = pipeline.column.wrapping_add(pixel);
            if column < 160 {
                store_pixel(frame, self.beam.line, column, shade);
            }
        }
    }
}

pub(super) fn store_pixel(frame: &mut [u8; FRAME_BYTES], line: u8, column: u8, shade: u8) {
    let index = (line as usize * 40 + (column >> 2) as usize) % FRAME_BYTES;
    let shift = 6 - (column & 3) * 2;
    frame[index] = frame[index] & !(3 << shift) | shade << shift;
}

pub(super) fn load_pixel(frame: &[u8; FRAME_BYTES], line: u8, column: u8) -> u8 {
    frame[(line as usize * 40 + (column >> 2) as usize) % FRAME_BYTES] >> (6 - (column & 3) * 2) & 3
}
