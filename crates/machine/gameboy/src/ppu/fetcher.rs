//! The background fetcher, which reads a tile's number and the two planes of its row, and queues
//! the pixels. Called by the pipeline, dot by dot, and by `eight_dots`.

use crate::machine::COLOR;
use crate::ppu::pipeline::FETCH_PUSH;
use crate::ppu::{
    LCDC_BACKGROUND_MAP, LCDC_TILE_DATA, LCDC_WINDOW, LCDC_WINDOW_MAP, Pipeline, Ppu, VRAM_BYTES,
};

impl Ppu {
    /// One dot of the background fetcher.
    pub(super) fn fetch_background(&mut self, vram: &[u8; VRAM_BYTES]) {
        match self.pipeline.fetch_step {
            0 => {
                if self.lcdc & LCDC_WINDOW == 0 {
                    self.pipeline.window_active = false;
                } else if self.pipeline.position <= -7 && self.pipeline.window_is_due() {
                    self.pipeline.window_active = true;
                    self.window_line = self.window_line.wrapping_add(1);
                }
                self.fetch_tile(vram);
                self.pipeline.fetch_step = 1;
            }
            2 => {
                self.pipeline.data_low = self.tile_row(vram, 0);
                self.pipeline.fetch_step = 3;
            }
            4 => {
                self.pipeline.data_high = self.tile_row(vram, 1);
                self.pipeline.fetch_step = 5;
            }
            1 => self.pipeline.fetch_step = 2,
            3 => {
                self.pipeline.garble_low();
                self.pipeline.fetch_step = 4;
            }
            _ => {
                if self.pipeline.fetch_step == 5 {
                    self.pipeline.garble_high(self.lcdc & LCDC_TILE_DATA != 0);
                    if self.pipeline.window_active {
                        self.pipeline.window_column = (self.pipeline.window_column + 1) & 0x1f;
                    }
                    self.pipeline.fetch_step = FETCH_PUSH;
                }
                self.push_background();
            }
        }
    }

    fn push_background(&mut self) {
        if !self.pipeline.is_queue_empty() {
            return;
        }
        // A disabled window whose WY has matched leaves one blank pixel where it would have begun.
        let is_met = self.wy_met && self.lcdc & LCDC_WINDOW == 0;
        if !COLOR && is_met && !self.pipeline.window_cut_short {
            let mut column = self.pipeline.position + 7;
            if column > 167 || column < 0 {
                column = 0;
            }
            if self.wx as i16 == column {
                self.pipeline.background_low = 0;
                self.pipeline.background_high = 0;
                self.pipeline.background_count = 1;
                return;
            }
        }
        self.pipeline.queue_background();
    }

    /// The row of the tile's data. If the window is disabled within a tile, the tile goes on with
    /// the background's row (docboy `window_turn_off_*_sprite_*`).
    pub(super) fn fetch_row(&self) -> u8 {
        if self.pipeline.window_active && self.lcdc & LCDC_WINDOW != 0 {
            self.window_line.wrapping_sub(1)
        } else {
            self.beam.line.wrapping_add(self.scy)
        }
    }

    pub(super) fn map_address(&self) -> u16 {
        let mut map = 0x1800;
        let column;
        if self.pipeline.window_active {
            if self.lcdc & LCDC_WINDOW_MAP != 0 {
                map = 0x1c00;
            }
            column = self.pipeline.window_column;
        } else {
            if self.lcdc & LCDC_BACKGROUND_MAP != 0 {
                map = 0x1c00;
            }
            column = if self.pipeline.position < -8 {
                self.scx >> 3
            } else {
                // The Color's fetcher is one pixel less ahead, unless it works for an object.
                let ahead = if COLOR && self.pipeline.object_step == 0 { 7 } else { 8 };
                ((self.scx as i16 + self.pipeline.position + ahead) >> 3) as u8 & 0x1f
            };
        }
        map + (self.fetch_row() >> 3) as u16 * 32 + column as u16
    }

    /// Returns the address in VRAM of a row of a tile of the background.
    pub(super) fn tile_address(&self, tile: u8, row: u8) -> u16 {
        let row = (row & 7) as u16 * 2;
        if self.lcdc & LCDC_TILE_DATA != 0 {
            tile as u16 * 16 + row
        } else {
            (0x1000 + tile as i8 as i16 * 16) as u16 + row
        }
    }

    /// Fetches the number of the next tile.
    #[cfg(not(color))]
    pub(super) fn fetch_tile(&mut self, vram: &[u8; VRAM_BYTES]) {
        let address = self.map_address();
        self.pipeline.tile = vram[address as usize & 0x1fff];
    }

    /// One plane of the tile's row.
    #[cfg(not(color))]
    pub(super) fn tile_row(&self, vram: &[u8; VRAM_BYTES], plane: u16) -> u8 {
        let address = self.tile_address(self.pipeline.tile, self.fetch_row());
        vram[(address | plane) as usize & 0x1fff]
    }
}

impl Pipeline {
    /// Queues the row of tile data that was fetched last.
    pub(super) fn queue_background(&mut self) {
        self.background_low = self.data_low;
        self.background_high = self.data_high;
        #[cfg(color)]
        {
            self.holds_pixels = false;
            self.background_attributes = self.tile_attributes;
            if self.tile_attributes & 0x20 != 0 {
                self.background_low = self.data_low.reverse_bits();
                self.background_high = self.data_high.reverse_bits();
            }
        }
        self.background_count = 8;
        self.fetch_step = 0;
    }
}

#[cfg(not(color))]
impl Pipeline {
    /// Returns true if a plane of one of the window's tiles is fetched on the next dot.
    pub(super) fn fetches_window_row(&self) -> bool {
        self.window_active && (self.fetch_step == 2 || self.fetch_step == 4)
    }

    #[inline(always)]
    fn garble_low(&mut self) {}

    #[inline(always)]
    fn garble_high(&mut self, _from_8000: bool) {}

    #[inline(always)]
    pub(super) fn note_fine_scroll(&mut self) {}

    /// Returns true if no pixel of the background is ready.
    #[inline(always)]
    pub(super) fn is_queue_empty(&self) -> bool {
        self.background_count == 0
    }

    #[inline(always)]
    pub(super) fn stop_queue(&mut self) {
        self.background_count = 0;
    }
}
