//! The background fetcher: a tile's number, its row's two planes, and the queue they go to. Called
//! by the pipeline, dot by dot, and by `octet`.

use crate::machine::COLOR;
use crate::ppu::pipeline::FETCH_PUSH;
use crate::ppu::{
    LCDC_BACKGROUND_MAP, LCDC_TILE_DATA, LCDC_WINDOW, LCDC_WINDOW_MAP, Ppu, VRAM_BYTES,
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
                self.garble_low();
                self.pipeline.fetch_step = 4;
            }
            _ => {
                if self.pipeline.fetch_step == 5 {
                    self.garble_high();
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
        // A window that was met but is disabled leaves one blank pixel where it would have begun.
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

    fn fetch_row(&self) -> u8 {
        if self.pipeline.window_active {
            self.window_line.wrapping_sub(1)
        } else {
            self.line.wrapping_add(self.scy)
        }
    }

    fn map_address(&self) -> u16 {
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
                // The Color's fetcher looks one pixel less ahead, unless it works for an object.
                let ahead = if COLOR && self.pipeline.object_step == 0 { 7 } else { 8 };
                ((self.scx as i16 + self.pipeline.position + ahead) >> 3) as u8 & 0x1f
            };
        }
        map + (self.fetch_row() >> 3) as u16 * 32 + column as u16
    }

    fn tile_address(&self, row: u8) -> u16 {
        let row = (row & 7) as u16 * 2;
        let tile = self.pipeline.tile;
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

    /// Fetches the number and the attributes of the next tile.
    #[cfg(color)]
    pub(super) fn fetch_tile(&mut self, vram: &[u8; VRAM_BYTES]) {
        if self.misses_fetch() {
            return;
        }
        let address = self.map_address() as usize & 0x1fff;
        self.pipeline.tile = vram[address];
        self.pipeline.tile_attributes = if self.compatible { 0 } else { vram[0x2000 | address] };
    }

    /// One plane of the tile's row.
    #[cfg(not(color))]
    pub(super) fn tile_row(&self, vram: &[u8; VRAM_BYTES], plane: u16) -> u8 {
        let address = self.tile_address(self.fetch_row());
        vram[(address | plane) as usize & 0x1fff]
    }

    /// One plane of the tile's row.
    #[cfg(color)]
    pub(super) fn tile_row(&mut self, vram: &[u8; VRAM_BYTES], plane: u16) -> u8 {
        if self.misses_fetch() {
            // The plane read last stays.
            return if plane == 0 { self.pipeline.data_high } else { self.pipeline.data_low };
        }
        let attributes = self.pipeline.tile_attributes;
        let row = if attributes & 0x40 != 0 { !self.fetch_row() } else { self.fetch_row() };
        let bank = (attributes as u16 & 8) << 10;
        let address = self.tile_address(row) & 0x1fff | bank | plane;
        vram[address as usize & 0x3fff]
    }

    /// Returns true if the window begins on the pixel for which the fetcher addresses something:
    /// then it reads nothing (mealybug `m3_window_timing*`, on a Color).
    #[cfg(color)]
    fn misses_fetch(&mut self) -> bool {
        let pipeline = &self.pipeline;
        let position = pipeline.position;
        let misses = if !self.is_window_met() || self.lcdc & LCDC_WINDOW == 0 {
            false
        } else if self.wx == 0 {
            position <= -8 || position == -7 && pipeline.scrolls_finely
        } else {
            self.wx as i16 == position + 7 + pipeline.window_just_started as i16
        };
        self.pipeline.misses_fetch = misses;
        misses
    }
}

#[cfg(not(color))]
impl Ppu {
    #[inline(always)]
    fn garble_low(&mut self) {}

    #[inline(always)]
    fn garble_high(&mut self) {}
}

/// A fetch whose address was formed on the dot before LCDC moves the tiles' data reads something
/// else: the tile's number, if it is below 80, while the data leaves 8000, and the upper plane that
/// was read from there last while it enters 8000 (mealybug-tearoom-tests, "TILE_SEL").
#[cfg(color)]
impl Ppu {
    fn garble_low(&mut self) {
        let pipeline = &mut self.pipeline;
        if pipeline.misses_fetch {
            return;
        }
        if pipeline.enters_8000 {
            pipeline.data_low = pipeline.last_high;
        } else if pipeline.leaves_8000 {
            pipeline.last_high = pipeline.data_low;
            if pipeline.tile < 0x80 {
                pipeline.data_low = pipeline.tile;
            }
        }
    }

    fn garble_high(&mut self) {
        let pipeline = &mut self.pipeline;
        if pipeline.misses_fetch {
            return;
        }
        if pipeline.enters_8000 {
            pipeline.data_high = pipeline.last_high;
        } else if pipeline.leaves_8000 {
            pipeline.last_high = pipeline.data_high;
            if pipeline.tile < 0x80 {
                pipeline.data_high = pipeline.tile;
            }
        } else if self.lcdc & LCDC_TILE_DATA != 0 {
            pipeline.last_high = pipeline.data_high;
        }
    }
}
