//! A whole line at once: the shortcut for lines that nothing disturbs in the middle.
//!
//! It gives the pixels and the length of mode 3 that `pipeline` would give (a property test holds
//! that), 160 pixels as bit planes in machine words instead of one by one.

use crate::machine::Machine;
use crate::ppu::{
    LCDC_BACKGROUND, LCDC_BACKGROUND_MAP, LCDC_OBJECTS, LCDC_TALL_OBJECTS, LCDC_TILE_DATA,
    LCDC_WINDOW, LCDC_WINDOW_MAP, LINE_TCYCLES, Ppu, Stage, timing,
};

/// Dots of mode 3's renderer without scrolling, window or objects.
const PLAIN_DOTS: u16 = 167;
/// Dots the window takes to fill the queue anew.
const WINDOW_DOTS: u16 = 6;
/// Dots an object takes once the background fetcher can be interrupted.
const OBJECT_DOTS: u16 = 6;

/// A bit plane of a line: 24 bytes of 8 pixels, the leftmost pixel in the top bit of word 0. The first
/// byte lies left of the screen, so that objects and tiles may hang over its edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plane {
    words: [u64; 3],
}

impl Plane {
    const fn empty() -> Plane {
        Plane { words: [0; 3] }
    }

    /// ORs eight pixels in, the first at a distance of `at` pixels from the plane's left end.
    fn insert(&mut self, at: u8, row: u8) {
        let word = (at >> 6) as usize;
        let offset = at as u32 & 63;
        let bits = (row as u64) << 56;
        if word < 3 {
            self.words[word] |= bits >> offset;
            if offset > 56 && word < 2 {
                self.words[word + 1] |= bits << (64 - offset);
            }
        }
    }
}

/// The two planes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Planes {
    low: Plane,
    high: Plane,
}

impl Machine {
    /// The dot on which mode 3 ends, if nothing changes any more. Mode 2 must be over.
    pub fn mode3_end(&mut self) -> u16 {
        if self.ppu.mode3_end == 0 {
            self.scan_objects(timing::MODE3_DOT + 1);
            self.ppu.mode3_end = if self.ppu.stage == Stage::Untouched && self.ppu.is_plain_line() {
                self.ppu.plain_mode3_end()
            } else {
                self.probe_mode3_end()
            };
        }
        self.ppu.mode3_end
    }

    /// Draws the current line as a whole.
    pub fn draw_line(&mut self) {
        if !self.ppu.is_plain_line() {
            self.start_pipeline();
            return;
        }
        self.scan_objects(timing::MODE3_DOT + 1);
        let window_at = self.ppu.window_at();
        let background = self.ppu.background(&self.vram, window_at);
        if window_at < 160 {
            self.ppu.window_line += 1;
        }
        let shades = if self.ppu.lcdc & LCDC_OBJECTS != 0 && self.ppu.scan.count > 0 {
            self.ppu.mix(&self.vram, &self.oam, background)
        } else {
            shade(background, self.ppu.bgp)
        };
        store_line(&mut self.frame, self.ppu.line, shades);
        self.ppu.stage = Stage::Done;
    }
}

impl Ppu {
    /// Whether the shortcut covers this line: the oddities of a window at the very left, at 166 or
    /// switched off after it was met are left to the pipeline.
    pub fn is_plain_line(&self) -> bool {
        if self.pipeline.window_active {
            false
        } else if !self.wy_met {
            true
        } else if self.lcdc & LCDC_WINDOW != 0 {
            self.wx >= 7 && self.wx != 166
        } else {
            self.wx > 166
        }
    }

    /// The screen column at which the window begins, 160 or more if it does not.
    fn window_at(&self) -> u16 {
        if self.wy_met && self.lcdc & LCDC_WINDOW != 0 && self.wx >= 7 && self.wx < 166 {
            self.wx as u16 - 7
        } else {
            LINE_TCYCLES
        }
    }

    fn plain_mode3_end(&self) -> u16 {
        let fine = (self.scx & 7) as u16;
        let window_at = self.window_at();
        let mut end = self.mode3_start() + PLAIN_DOTS + fine;
        if window_at < 160 {
            end += WINDOW_DOTS;
        }
        if self.lcdc & LCDC_OBJECTS != 0 {
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

    /// The line's background and window.
    fn background(&self, vram: &[u8; 0x2000], window_at: u16) -> Planes {
        let mut planes = Planes { low: Plane::empty(), high: Plane::empty() };
        if self.lcdc & LCDC_BACKGROUND == 0 {
            return planes;
        }
        let map = if self.lcdc & LCDC_BACKGROUND_MAP != 0 { 0x1c00 } else { 0x1800 };
        let row = self.line.wrapping_add(self.scy);
        let fine = self.scx & 7;
        let ends = window_at.min(160) as u8;
        self.tiles(vram, &mut planes, map, row, self.scx >> 3, 8 - fine, ends + 8);
        if window_at < 160 {
            // What the background drew beyond the window's edge goes away.
            planes.low.clear_from(ends + 8);
            planes.high.clear_from(ends + 8);
            let map = if self.lcdc & LCDC_WINDOW_MAP != 0 { 0x1c00 } else { 0x1800 };
            self.tiles(vram, &mut planes, map, self.window_line, 0, ends + 8, 168);
        }
        planes
    }

    /// Draws one row of tiles from a map into the planes, from `at` up to at least `ends`.
    #[allow(clippy::too_many_arguments)]
    fn tiles(
        &self,
        vram: &[u8; 0x2000],
        planes: &mut Planes,
        map: u16,
        row: u8,
        first_column: u8,
        first_at: u8,
        ends: u8,
    ) {
        let map_row = (map + (row >> 3) as u16 * 32) as usize;
        let tile_row = (row & 7) as usize * 2;
        let mut column = first_column as usize & 31;
        let mut at = first_at;
        while at < ends {
            let tile = vram[(map_row + column) & 0x1fff] as usize;
            let data = if self.lcdc & LCDC_TILE_DATA != 0 || tile >= 128 { 0 } else { 0x1000 };
            let address = (data + tile * 16 + tile_row) & 0x1fff;
            planes.low.insert(at, vram[address]);
            planes.high.insert(at, vram[address | 1]);
            column = (column + 1) & 31;
            at += 8;
        }
    }

    /// Puts the objects over the background and gives shades.
    fn mix(&self, vram: &[u8; 0x2000], oam: &[u8; 0xa0], background: Planes) -> Planes {
        let mut object = Planes { low: Plane::empty(), high: Plane::empty() };
        let mut second_palette = Plane::empty();
        let mut behind = Plane::empty();
        // From the lowest priority up: each object replaces what lies under its pixels.
        let mut index = self.scan.count as usize;
        while index > 0 {
            index -= 1;
            let x = self.scan.x[index];
            if x > 0 && x < 168 {
                let entry = self.scan.entry[index] as usize * 4;
                let flags = oam[(entry + 3) % 0xa0];
                let address = self.object_row(self.scan.y[index], oam[(entry + 2) % 0xa0], flags);
                let mut low = vram[address & 0x1fff];
                let mut high = vram[(address | 1) & 0x1fff];
                if flags & 0x20 != 0 {
                    low = low.reverse_bits();
                    high = high.reverse_bits();
                }
                let covers = low | high;
                object.low.replace(x, covers, low);
                object.high.replace(x, covers, high);
                second_palette.replace(x, covers, if flags & 0x10 != 0 { covers } else { 0 });
                behind.replace(x, covers, if flags & 0x80 != 0 { covers } else { 0 });
            }
        }
        let ground = shade(background, self.bgp);
        let first = shade(object, self.obp0);
        let second = shade(object, self.obp1);
        let mut mixed = ground;
        for word in 0..3 {
            let opaque = background.low.words[word] | background.high.words[word];
            let shows =
                (object.low.words[word] | object.high.words[word]) & !(behind.words[word] & opaque);
            let uses_second = second_palette.words[word];
            let low = first.low.words[word] & !uses_second | second.low.words[word] & uses_second;
            let high =
                first.high.words[word] & !uses_second | second.high.words[word] & uses_second;
            mixed.low.words[word] = ground.low.words[word] & !shows | low & shows;
            mixed.high.words[word] = ground.high.words[word] & !shows | high & shows;
        }
        mixed
    }

    fn object_row(&self, y: u8, tile: u8, flags: u8) -> usize {
        let tall = self.lcdc & LCDC_TALL_OBJECTS != 0;
        let last_row = if tall { 15 } else { 7 };
        let mut row = self.line.wrapping_sub(y) & last_row;
        if flags & 0x40 != 0 {
            row ^= last_row;
        }
        let tile = if tall { tile & 0xfe } else { tile };
        tile as usize * 16 + row as usize * 2
    }
}

impl Plane {
    /// Sets the pixels under `mask`, and only them, to those of `row`.
    fn replace(&mut self, at: u8, mask: u8, row: u8) {
        let mut covers = Plane::empty();
        covers.insert(at, mask);
        self.words[0] &= !covers.words[0];
        self.words[1] &= !covers.words[1];
        self.words[2] &= !covers.words[2];
        self.insert(at, row);
    }

    /// Clears every pixel from `at` on; `at` is less than 192.
    fn clear_from(&mut self, at: u8) {
        for word in 0..3 {
            let first = word as u8 * 64;
            if at <= first {
                self.words[word as usize] = 0;
            } else if at < first + 64 {
                self.words[word as usize] &= !(!0 >> (at - first));
            }
        }
    }
}

/// Looks colours up in a palette.
fn shade(colours: Planes, palette: u8) -> Planes {
    let mut shades = colours;
    for word in 0..3 {
        let low = colours.low.words[word];
        let high = colours.high.words[word];
        shades.low.words[word] = select(low, high, palette);
        shades.high.words[word] = select(low, high, palette >> 1);
    }
    shades
}

/// One plane of the shades: bits 0, 2, 4 and 6 of `palette` say for which colours it is set.
#[inline(always)]
fn select(low: u64, high: u64, palette: u8) -> u64 {
    let zero = 0u64.wrapping_sub((palette & 1) as u64);
    let one = 0u64.wrapping_sub((palette >> 2 & 1) as u64);
    let two = 0u64.wrapping_sub((palette >> 4 & 1) as u64);
    let three = 0u64.wrapping_sub((palette >> 6 & 1) as u64);
    !high & (!low & zero | low & one) | high & (!low & two | low & three)
}

/// Writes the 160 pixels behind the first byte of the planes into the frame.
fn store_line(frame: &mut [u8; 5760], line: u8, shades: Planes) {
    let start = line as usize * 40;
    for byte in 0..20 {
        let word = (byte + 1) >> 3;
        let shift = 56 - ((byte + 1) & 7) * 8;
        let low = (shades.low.words[word] >> shift) as u8;
        let high = (shades.high.words[word] >> shift) as u8;
        let pixels = spread(low) | spread(high) << 1;
        frame[(start + byte * 2) % 5760] = (pixels >> 8) as u8;
        frame[(start + byte * 2 + 1) % 5760] = pixels as u8;
    }
}

/// Moves the eight bits of a byte apart, to the even bits of a word.
#[inline(always)]
fn spread(bits: u8) -> u16 {
    let mut wide = bits as u16;
    wide = (wide | wide << 4) & 0x0f0f;
    wide = (wide | wide << 2) & 0x3333;
    (wide | wide << 1) & 0x5555
}
