//! Eight dots of the pipeline at once, where nothing can happen in them but eight pixels and one
//! tile.
//!
//! The dots must begin right after a row of tile data was queued. A property test holds this
//! against the pipeline stepped dot by dot.

use crate::ppu::pipeline::store_pixel;
use crate::ppu::{LCDC_BACKGROUND, LCDC_OBJECTS, LCDC_WINDOW, Ppu};

impl Ppu {
    /// Returns true if the next eight dots put out eight pixels and fetch one tile, and nothing
    /// else.
    pub(super) fn is_octet_plain(&self) -> bool {
        let pipeline = &self.pipeline;
        let position = pipeline.position;
        let aligned = pipeline.fetch_step == 0
            && pipeline.background_count == 8
            && pipeline.object_step == 0
            && pipeline.stall == 0
            && position >= 0
            && position <= 144;
        aligned && !self.window_may_act(position) && !self.object_may_begin(position)
    }

    fn window_may_act(&self, position: i16) -> bool {
        if !self.wy_met && !self.pipeline.window_active {
            false
        } else if self.lcdc & LCDC_WINDOW == 0 {
            true
        } else {
            let wx = self.wx as i16;
            self.pipeline.inserts_pixel || wx >= position + 6 && wx <= position + 15
        }
    }

    fn object_may_begin(&self, position: i16) -> bool {
        let mut object = self.pipeline.object as usize;
        while object < self.scan.count as usize && (self.scan.x[object] as i16) < position + 8 {
            object += 1;
        }
        self.lcdc & LCDC_OBJECTS != 0
            && object < self.scan.count as usize
            && self.scan.x[object] as i16 <= position + 15
    }

    /// Works on eight dots for which `is_octet_plain` holds.
    pub(super) fn render_octet(
        &mut self,
        vram: &[u8; 0x2000],
        frame: &mut [u8; 5760],
        draws: bool,
    ) {
        if draws {
            self.put_octet(frame);
        }
        let pipeline = &mut self.pipeline;
        pipeline.object_low = 0;
        pipeline.object_high = 0;
        pipeline.object_palette = 0;
        pipeline.object_behind = 0;
        pipeline.window_just_started = false;
        // The fetcher looks at the map after the first of the eight pixels.
        pipeline.position += 1;
        let tile = vram[self.map_address() as usize & 0x1fff];
        self.pipeline.tile = tile;
        let address = self.tile_address() as usize;
        let pipeline = &mut self.pipeline;
        pipeline.data_low = vram[address & 0x1fff];
        pipeline.data_high = vram[(address | 1) & 0x1fff];
        pipeline.background_low = pipeline.data_low;
        pipeline.background_high = pipeline.data_high;
        if pipeline.window_active {
            pipeline.window_column = (pipeline.window_column + 1) & 0x1f;
        }
        pipeline.position += 7;
        pipeline.column = pipeline.column.wrapping_add(8);
        pipeline.dot += 8;
    }

    fn put_octet(&mut self, frame: &mut [u8; 5760]) {
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
                store_pixel(frame, self.line, column, shade);
            }
        }
    }
}
