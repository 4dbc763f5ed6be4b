//! Eight dots of the pipeline at once, for dots that only put out eight pixels and fetch one tile.
//!
//! The dots must begin right after a row of tile data was queued. A property test compares this
//! code with the pipeline, stepped dot by dot.

use crate::machine::COLOR;
#[cfg(color)]
use crate::ppu::LCDC_TILE_DATA;
use crate::ppu::{FRAME_BYTES, LCDC_WINDOW, Pipeline, Ppu, Scan, VRAM_BYTES};

/// The last position at which eight dots may begin. On the original these dots may end mode 3. On
/// the Color the last pixel of a line is worked on dot by dot.
const LAST_POSITION: i16 = if COLOR { 151 } else { 152 };

impl Ppu {
    /// Returns true if the next eight dots put out eight pixels and fetch one tile, and nothing
    /// else.
    fn are_eight_dots_plain(&self) -> bool {
        let pipeline = &self.pipeline;
        let position = pipeline.position;
        let aligned = pipeline.fetch_step == 0
            && pipeline.background_count == 8
            && pipeline.object_step == 0
            && pipeline.stall == 0
            && position >= -7
            && position <= LAST_POSITION;
        aligned
            && !self.window_may_act(position)
            && !(self.fetches_objects() && pipeline.object_may_begin(&self.scan))
    }

    fn window_may_act(&self, position: i16) -> bool {
        if !self.is_window_met() && !self.is_window_allowed() && !self.pipeline.window_active {
            false
        } else if self.lcdc & LCDC_WINDOW == 0 {
            true
        } else {
            let wx = self.wx as i16;
            self.pipeline.inserts_pixel || wx >= position + 6 && wx <= position + 15
        }
    }

    /// Works on eight dots for which `are_eight_dots_plain` holds.
    fn render_eight_dots(
        &mut self,
        vram: &[u8; VRAM_BYTES],
        frame: &mut [u8; FRAME_BYTES],
        draws: bool,
    ) {
        let position = self.pipeline.position;
        let skipped = if position < 0 { -position as u8 } else { 0 };
        if draws {
            self.put_eight_dots(frame, skipped);
        }
        // The fetcher reads the map after the first of the eight pixels.
        take_tile(self, vram, position + 1);
        let pipeline = &mut self.pipeline;
        #[cfg(color)]
        {
            if self.lcdc & LCDC_TILE_DATA != 0 {
                pipeline.last_high = pipeline.data_high;
            }
        }
        pipeline.queue_background();
        if pipeline.window_active {
            pipeline.window_column = (pipeline.window_column + 1) & 0x1f;
        }
        pipeline.position = position + 8;
        pipeline.column = pipeline.column.wrapping_add(8 - skipped);
        self.note_window();
    }
}

/// Renders the next eight dots if they are plain, and returns false otherwise. If mode 3 ends
/// within them, the pipeline stays on the last dot, so that the caller ends the line.
pub(super) fn has_rendered_eight_dots(
    ppu: &mut Ppu,
    vram: &[u8; VRAM_BYTES],
    frame: &mut [u8; FRAME_BYTES],
    draws: bool,
) -> bool {
    if ppu.are_eight_dots_plain() {
        ppu.render_eight_dots(vram, frame, draws);
        if ppu.pipeline.position >= 160 {
            ppu.pipeline.dot -= 1;
            ppu.pipeline.position = 159;
            ppu.pipeline.skip_passed_objects(&ppu.scan);
            ppu.pipeline.position = 160;
        }
        return true;
    }
    #[cfg(not(color))]
    if are_first_dots_plain(ppu) {
        take_tile(ppu, vram, -15);
        ppu.pipeline.queue_background();
        ppu.pipeline.position = -(ppu.fine_scroll() as i16);
        return true;
    }
    false
}

/// Takes eight pixels off both queues, and fetches a tile at a position.
fn take_tile(ppu: &mut Ppu, vram: &[u8; VRAM_BYTES], position: i16) {
    let pipeline = &mut ppu.pipeline;
    pipeline.object_low = 0;
    pipeline.object_high = 0;
    pipeline.object_palette = 0;
    #[cfg(color)]
    {
        pipeline.object_palette_1 = 0;
        pipeline.object_palette_2 = 0;
    }
    pipeline.object_behind = 0;
    pipeline.window_just_started = false;
    pipeline.position = position;
    pipeline.dot += 8;
    ppu.fetch_tile(vram);
    ppu.pipeline.data_low = ppu.tile_row(vram, 0);
    ppu.pipeline.data_high = ppu.tile_row(vram, 1);
}

/// Returns true if the next eight dots are the first ones of a line and nothing else happens in
/// them: they discard the queued pixels, match the fine scroll and fetch one tile.
#[cfg(not(color))]
fn are_first_dots_plain(ppu: &Ppu) -> bool {
    let pipeline = &ppu.pipeline;
    let aligned = pipeline.position == -16
        && pipeline.fetch_step == 0
        && pipeline.background_count == 8
        && pipeline.object_step == 0
        && pipeline.stall == 0;
    let has_object = ppu.fetches_objects()
        && pipeline.object < ppu.scan.count
        && ppu.scan.x[pipeline.object as usize] <= 8;
    aligned && !ppu.wy_met && !ppu.carries_window() && !has_object
}

impl Pipeline {
    /// Returns true if an object begins on one of the next eight pixels.
    fn object_may_begin(&self, scan: &Scan) -> bool {
        let mut object = self.object as usize;
        while object < scan.count as usize && (scan.x[object] as i16) < self.position + 8 {
            object += 1;
        }
        object < scan.count as usize && scan.x[object] as i16 <= self.position + 15
    }
}
