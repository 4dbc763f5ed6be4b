//! The Color's part of the fetcher and of the background's queue: attributes, banks, and the
//! glitches when LCDC or the window changes within a fetch. Called by `fetcher` and `pipeline`.
#![cfg(color)]

use crate::ppu::pipeline::{OBJECT_ARRIVED, OBJECT_HAS_LOW};
use crate::ppu::{LCDC_WINDOW, Pipeline, Ppu, VRAM_BYTES};

/// Address of no byte of video RAM: all its lines are high.
pub(crate) const NO_READ: u16 = 0xffff;

impl Ppu {
    /// Fetches the number and the attributes of the next tile.
    pub(super) fn fetch_tile(&mut self, vram: &[u8; VRAM_BYTES]) {
        self.pipeline.tile_line = self.fetch_row();
        if self.misses_fetch() {
            return;
        }
        let address = self.map_address() as usize & 0x1fff;
        self.pipeline.tile = vram[address];
        self.pipeline.tile_attributes = if self.compatible { 0 } else { vram[0x2000 | address] };
    }

    /// One plane of the tile's row.
    pub(super) fn tile_row(&mut self, vram: &[u8; VRAM_BYTES], plane: u16) -> u8 {
        if self.misses_fetch() {
            // The fetcher keeps the last plane.
            return if plane == 0 { self.pipeline.data_high } else { self.pipeline.data_low };
        }
        let bank = (self.pipeline.tile_attributes as u16 & 8) << 10;
        vram[(row_address(self) | bank | plane) as usize & 0x3fff]
    }

    /// Returns true if the window begins on a pixel on which the fetcher forms an address: the
    /// fetch then reads nothing (mealybug `m3_window_timing*`, on a Color).
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

/// Returns the row of the map's pixels that is fetched. A CPU CGB E keeps it from the fetch of the
/// tile's number on (mealybug `m3_scy_change`, on a CPU CGB D).
fn tile_line(ppu: &Ppu) -> u8 {
    #[cfg(not(usual_revision))]
    if ppu.is_cgb_e {
        return ppu.pipeline.tile_line;
    }
    ppu.fetch_row()
}

/// Returns the address, in a bank, of the row of the tile that is fetched.
fn row_address(ppu: &Ppu) -> u16 {
    let line = tile_line(ppu);
    let row = if ppu.pipeline.tile_attributes & 0x40 != 0 { !line } else { line };
    ppu.tile_address(ppu.pipeline.tile, row) & 0x1fff
}

/// Puts 0 in the place of the byte that was read on the last dot, because a block of HDMA has the
/// bus. Returns the byte's address in its bank, or `NO_READ`.
pub(crate) fn lose_read(ppu: &mut Ppu) -> u16 {
    let step = ppu.pipeline.object_step;
    if step == OBJECT_HAS_LOW || step == OBJECT_ARRIVED {
        return lose_object_read(ppu);
    }
    match ppu.pipeline.fetch_step {
        1 => {
            ppu.pipeline.tile = 0;
            ppu.pipeline.tile_attributes = 0;
            ppu.map_address() & 0x1fff
        }
        3 => {
            ppu.pipeline.data_low = 0;
            row_address(ppu)
        }
        5 => {
            ppu.pipeline.data_high = 0;
            row_address(ppu) | 1
        }
        _ => NO_READ,
    }
}

fn lose_object_read(ppu: &mut Ppu) -> u16 {
    let y = ppu.scan.y[ppu.pipeline.object as usize];
    let (tile, flags) = (ppu.pipeline.object_tile, ppu.pipeline.object_flags);
    let address = ppu.object_row(y, tile, flags) as u16 & 0x1fff;
    if ppu.pipeline.object_step == OBJECT_ARRIVED {
        ppu.pipeline.object_data_high = 0;
        return address | 1;
    }
    ppu.pipeline.object_data_low = 0;
    address
}

impl Pipeline {
    pub(super) fn note_fine_scroll(&mut self) {
        self.scrolls_finely = true;
    }

    /// Returns true if no pixel of the background is ready.
    pub(super) fn is_queue_empty(&self) -> bool {
        self.background_count == 0 || self.holds_pixels
    }

    pub(super) fn stop_queue(&mut self) {
        self.holds_pixels = true;
    }

    /// Dots that objects or the window took at the last pixel: HBlank's interrupt does not wait for
    /// them (gambatte `*_wxA6_*`, `*xposA7_m0irq*`).
    pub(super) fn hblank_ahead(&self) -> u16 {
        if self.last_pixel_dots > 0 { self.last_pixel_dots - 1 } else { 0 }
    }
}

/// Glitch of a fetch whose address was formed on the dot before LCDC moves the tile data. If the
/// data leaves 8000, the fetch reads the tile's number, if it is below 80; if the data moves to
/// 8000, the fetch reads the last upper plane from there (mealybug-tearoom-tests, "TILE_SEL").
impl Pipeline {
    pub(super) fn garble_low(&mut self) {
        if self.misses_fetch {
            return;
        }
        if self.enters_8000 {
            self.data_low = self.last_high;
        } else if self.leaves_8000 {
            self.last_high = self.data_low;
            if self.tile < 0x80 {
                self.data_low = self.tile;
            }
        }
    }

    pub(super) fn garble_high(&mut self, from_8000: bool) {
        if self.misses_fetch {
            return;
        }
        if self.enters_8000 {
            self.data_high = self.last_high;
        } else if self.leaves_8000 {
            self.last_high = self.data_high;
            if self.tile < 0x80 {
                self.data_high = self.tile;
            }
        } else if from_8000 {
            self.last_high = self.data_high;
        }
    }
}
