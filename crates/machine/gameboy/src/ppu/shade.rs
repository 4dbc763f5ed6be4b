//! Chooses between background and object pixel on the original, and the pixel's shade.
#![cfg(not(color))]

use crate::ppu::packed_line::{eight_pixels, looked_up};
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

    /// Adds an object's row to the queue, behind the object pixels that are already queued.
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

    /// Puts the eight queued pixels into the frame, without those left of the screen.
    pub(super) fn put_eight_dots(&self, frame: &mut [u8; FRAME_BYTES], skipped: u8) {
        let pipeline = &self.pipeline;
        let shown = if self.lcdc & LCDC_BACKGROUND != 0 { 0xff } else { 0 };
        let low = pipeline.background_low & shown;
        let high = pipeline.background_high & shown;
        let mut shades = looked_up(eight_pixels(low, high), self.bgp);
        let opaque = pipeline.object_low | pipeline.object_high;
        let covers = opaque & !(pipeline.object_behind & (low | high));
        if covers != 0 && self.lcdc & LCDC_OBJECTS != 0 {
            let objects = eight_pixels(pipeline.object_low, pipeline.object_high);
            let covers = eight_pixels(covers, covers);
            let second = eight_pixels(pipeline.object_palette, pipeline.object_palette);
            let seen =
                looked_up(objects, self.obp0) & !second | looked_up(objects, self.obp1) & second;
            shades = shades & !covers | seen & covers;
        }
        let pixels = (shades << (skipped * 2) >> 48) as u32;
        store_pixels(frame, self.beam.line, pipeline.column, pixels, 8 - skipped);
    }
}

/// Stores the first `count` of the eight pixels in the upper 16 bits, up to the screen's edge.
fn store_pixels(frame: &mut [u8; FRAME_BYTES], line: u8, column: u8, pixels: u32, count: u8) {
    let count = count.min(160 - column.min(160));
    let covers = 0xffff & !(0xffff >> (count * 2));
    let back = 8 - (column & 3) * 2;
    let pixels = (pixels & covers) << back;
    let covers = covers << back;
    for byte in 0..3 {
        let shift = 16 - byte as u32 * 8;
        let index = (line as usize * 40 + (column >> 2) as usize + byte) % FRAME_BYTES;
        let takes = (covers >> shift) as u8;
        frame[index] = frame[index] & !takes | (pixels >> shift) as u8;
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
