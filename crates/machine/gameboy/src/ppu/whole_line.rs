//! A whole line at once: the shortcut for lines that nothing disturbs in the middle.
//!
//! It gives the pixels and the length of mode 3 that `pipeline` would give (a property test holds
//! that).

use crate::machine::{COLOR, Machine};
#[cfg(not(color))]
use crate::ppu::packed_line;
use crate::ppu::{LCDC_WINDOW, LINE_TCYCLES, LineProgress, Ppu, timing};

/// Dots of mode 3's renderer without scrolling, window or objects.
const PLAIN_DOTS: u16 = 167;
/// Dots the window takes to fill the queue anew.
const WINDOW_DOTS: u16 = 6;
/// Dots an object takes once the background fetcher can be interrupted.
const OBJECT_DOTS: u16 = 6;

impl Machine {
    /// The dot on which mode 3 ends, if nothing changes any more. Mode 2 must be over.
    pub fn mode3_end(&mut self) -> u16 {
        if self.ppu.mode3_end == 0 {
            self.scan_objects(timing::MODE3_DOT + 1);
            #[cfg(color)]
            {
                self.ppu.hblank_ahead = 0;
            }
            self.ppu.mode3_end =
                if self.ppu.stage == LineProgress::Untouched && self.ppu.is_plain_line() {
                    self.ppu.plain_mode3_end()
                } else {
                    self.probe_mode3_end()
                };
        }
        self.ppu.mode3_end
    }

    /// Draws the current line as a whole.
    pub fn draw_line(&mut self) {
        if self.ppu.fetches_objects() {
            self.scan_objects(timing::MODE3_DOT + 1);
        }
        if !self.ppu.is_plain_line() {
            self.start_pipeline();
            return;
        }
        #[cfg(color)]
        self.draw_plain_line();
        #[cfg(not(color))]
        self.draw_plain_line(&mut packed_line::TileRow::none());
        self.ppu.stage = LineProgress::Done;
    }

    /// Draws a line that the shortcut covers and whose objects are known. `tiles` are those of the
    /// line before.
    #[cfg(not(color))]
    fn draw_plain_line(&mut self, tiles: &mut packed_line::TileRow) {
        let window_at = self.ppu.window_at();
        let background = self.ppu.background(&self.vram, window_at, tiles);
        if window_at < 160 {
            self.ppu.window_line += 1;
        }
        let mut shades = background.shaded(self.ppu.bgp);
        if self.ppu.scan.count > 0 && self.ppu.fetches_objects() {
            shades = self.ppu.mix(&self.vram, &self.oam, background, shades);
        }
        packed_line::store_line(&mut self.frame, self.ppu.line, shades);
    }
}

#[cfg(color)]
impl Machine {
    /// Draws no lines: they are drawn one by one.
    pub(super) fn draw_lines(&mut self, _lines: u8) -> u8 {
        0
    }
}

#[cfg(not(color))]
impl Machine {
    /// Draws the lines that come next, as far as the shortcut covers them, and returns their
    /// number. Nothing happens in them that can be seen from outside but their pixels.
    pub(super) fn draw_lines(&mut self, lines: u8) -> u8 {
        if self.dma.active {
            // The objects that OAM DMA hides depend on the moment.
            return 0;
        }
        let first = self.ppu.line;
        let candidates = self.candidates(lines);
        let mut tiles = packed_line::TileRow::none();
        let mut drawn = 0;
        while drawn < lines {
            self.ppu.line = first + drawn;
            self.ppu.meet_wy();
            if self.ppu.carries_window() || !self.ppu.is_plain_line() {
                break;
            }
            if self.ppu.fetches_objects() {
                self.scan_candidates(&candidates);
            }
            self.draw_plain_line(&mut tiles);
            self.ppu.scan.restart();
            drawn += 1;
        }
        self.ppu.line = first;
        drawn
    }
}

impl Ppu {
    /// Returns true if the shortcut covers this line: the oddities of a window at the very left, at
    /// 166 or switched off after it was met are left to the pipeline.
    pub(crate) fn is_plain_line(&self) -> bool {
        if self.pipeline.window_active || self.ends_with_object() {
            false
        } else if !self.is_window_met() {
            true
        } else if self.lcdc & LCDC_WINDOW != 0 {
            self.wx >= 7 && self.wx != 166
        } else {
            COLOR || self.wx > 166
        }
    }

    /// Returns true if an object is fetched at the last column, where HBlank overtakes it.
    #[cfg(not(color))]
    #[inline(always)]
    fn ends_with_object(&self) -> bool {
        false
    }

    /// Returns true if an object is fetched at the last column, where HBlank overtakes it.
    #[cfg(color)]
    fn ends_with_object(&self) -> bool {
        self.scan.count > 0 && self.scan.x[self.scan.count as usize - 1] > 166
    }

    /// The screen column at which the window begins, 160 or more if it does not.
    pub(super) fn window_at(&self) -> u16 {
        if self.is_window_met() && self.lcdc & LCDC_WINDOW != 0 && self.wx >= 7 && self.wx < 166 {
            self.wx as u16 - 7
        } else {
            LINE_TCYCLES
        }
    }

    fn plain_mode3_end(&self) -> u16 {
        let fine = self.fine_scroll() as u16;
        let window_at = self.window_at();
        let mut end = self.mode3_start() + PLAIN_DOTS + fine;
        if window_at < 160 {
            end += WINDOW_DOTS;
        }
        if self.fetches_objects() {
            end += self.object_dots(fine, window_at);
        }
        end
    }

    /// Dots the objects take: six each, and for the first object over a tile what the fetcher still
    /// needs to finish that tile.
    fn object_dots(&self, fine: u16, window_at: u16) -> u16 {
        let mut dots = 0;
        let mut last_tile = 0xffff;
        for object in 0..self.scan.count as usize {
            let x = self.scan.x[object] as u16;
            if x < 168 {
                // Pixels of background since the queue was filled with the tile under the object.
                let in_window = x >= window_at + 8;
                let pixels = if x == 0 {
                    0
                } else if in_window {
                    x - 8 - window_at
                } else {
                    x + fine
                };
                let tile = pixels >> 3 | (in_window as u16) << 8;
                dots += OBJECT_DOTS;
                if tile != last_tile && pixels & 7 < 5 {
                    dots += 5 - (pixels & 7);
                }
                last_tile = tile;
            }
        }
        dots
    }
}
