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

/// A bit plane of a line: 24 bytes of 8 pixels, the leftmost pixel in the top bit of word 0. The
/// first byte lies left of the screen, so that objects and tiles may hang over its edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Plane {
    words: [u64; 3],
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
        let window_at = self.ppu.window_at();
        let background = self.ppu.background(&self.vram, window_at);
        if window_at < 160 {
            self.ppu.window_line += 1;
        }
        let mut shades = background.shaded(self.ppu.bgp);
        if self.ppu.lcdc & LCDC_OBJECTS != 0 {
            self.scan_objects(timing::MODE3_DOT + 1);
            if self.ppu.scan.count > 0 {
                shades = self.ppu.mix(&self.vram, &self.oam, background, shades);
            }
        }
        store_line(&mut self.frame, self.ppu.line, shades);
        self.ppu.stage = Stage::Done;
    }
}

impl Ppu {
    /// Returns true if the shortcut covers this line: the oddities of a window at the very left, at
    /// 166 or switched off after it was met are left to the pipeline.
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
        let fine = self.fine_scroll() as u16;
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

    /// The line's background and window, as colours.
    fn background(&self, vram: &[u8; 0x2000], window_at: u16) -> Planes {
        if self.lcdc & LCDC_BACKGROUND == 0 {
            return Planes::empty();
        }
        let map = if self.lcdc & LCDC_BACKGROUND_MAP != 0 { 0x1c00 } else { 0x1800 };
        let row = self.line.wrapping_add(self.scy);
        let background = self.tiles(vram, map, row, self.scx >> 3).moved_right(8 - (self.scx & 7));
        if window_at >= 160 {
            return background;
        }
        let map = if self.lcdc & LCDC_WINDOW_MAP != 0 { 0x1c00 } else { 0x1800 };
        let left = window_at as u8 + 8;
        let window = self.tiles(vram, map, self.window_line, 0).moved_right(left);
        background.up_to(left, window)
    }

    /// A row of 21 tiles from a map, the first at the planes' left end.
    fn tiles(&self, vram: &[u8; 0x2000], map: u16, row: u8, first_column: u8) -> Planes {
        let mut planes = Planes::empty();
        let map_row = map | ((row >> 3) as u16 * 32);
        // Tile data at 8800 is counted from 9000 with a sign: tile 128 comes first.
        let unsigned = self.lcdc & LCDC_TILE_DATA != 0;
        let toggle = if unsigned { 0 } else { 0x80 };
        let origin = (if unsigned { 0 } else { 0x800 }) + (row & 7) as u16 * 2;
        let mut column = first_column as u16;
        for word in 0..3 {
            let tiles = if word == 2 { 5 } else { 8 };
            let mut low = 0;
            let mut high = 0;
            for _ in 0..tiles {
                let tile = vram[((map_row | column & 31) & 0x1fff) as usize] ^ toggle;
                let address = (origin + tile as u16 * 16) & 0x1ffe;
                low = low << 8 | vram[address as usize] as u64;
                high = high << 8 | vram[(address | 1) as usize] as u64;
                column += 1;
            }
            planes.low.words[word] = low << (64 - tiles * 8);
            planes.high.words[word] = high << (64 - tiles * 8);
        }
        planes
    }

    /// Puts the objects over the background.
    fn mix(
        &self,
        vram: &[u8; 0x2000],
        oam: &[u8; 0xa0],
        background: Planes,
        ground: Planes,
    ) -> Planes {
        let mut object = Planes::empty();
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
        let first = object.shaded(self.obp0);
        let second = object.shaded(self.obp1);
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

impl Planes {
    const fn empty() -> Planes {
        Planes { low: Plane::empty(), high: Plane::empty() }
    }

    fn moved_right(&self, pixels: u8) -> Planes {
        Planes { low: self.low.moved_right(pixels), high: self.high.moved_right(pixels) }
    }

    /// These planes left of a pixel, the others from it on.
    fn up_to(&self, pixel: u8, others: Planes) -> Planes {
        Planes { low: self.low.up_to(pixel, others.low), high: self.high.up_to(pixel, others.high) }
    }

    /// Colours looked up in a palette.
    fn shaded(&self, palette: u8) -> Planes {
        Planes { low: self.looked_up(palette), high: self.looked_up(palette >> 1) }
    }

    /// One plane of the shades: bits 0, 2, 4 and 6 of `palette` say for which colours it is set.
    #[inline(always)]
    fn looked_up(&self, palette: u8) -> Plane {
        let zero = mask(palette);
        let two = mask(palette >> 4);
        let zero_or_one = zero ^ mask(palette >> 2);
        let two_or_three = two ^ mask(palette >> 6);
        let mut shades = Plane::empty();
        for word in 0..3 {
            let low = self.low.words[word];
            let lower = zero ^ low & zero_or_one;
            let upper = two ^ low & two_or_three;
            shades.words[word] = lower ^ self.high.words[word] & (lower ^ upper);
        }
        shades
    }
}

/// All ones if bit 0 is set.
#[inline(always)]
fn mask(bit: u8) -> u64 {
    0u64.wrapping_sub((bit & 1) as u64)
}

impl Plane {
    const fn empty() -> Plane {
        Plane { words: [0; 3] }
    }

    /// Sets the pixels under `cover`, and only them, to those of `row`: eight pixels, the first at
    /// a distance of `at` pixels from the plane's left end. Words are changed one by one: what is
    /// read soon after must have been written as widely.
    #[inline(always)]
    fn replace(&mut self, at: u8, cover: u8, row: u8) {
        let word = (at >> 6) as usize;
        let offset = at as u32 & 63;
        let covers = (cover as u64) << 56;
        let pixels = (row as u64 & cover as u64) << 56;
        if word < 3 {
            self.words[word] = self.words[word] & !(covers >> offset) | pixels >> offset;
            if offset > 56 && word < 2 {
                let back = 64 - offset;
                self.words[word + 1] = self.words[word + 1] & !(covers << back) | pixels << back;
            }
        }
    }

    fn moved_right(&self, pixels: u8) -> Plane {
        let mut from = *self;
        let mut left = pixels;
        while left >= 64 {
            from.words = [0, from.words[0], from.words[1]];
            left -= 64;
        }
        if left == 0 {
            return from;
        }
        let back = 64 - left;
        Plane {
            words: [
                from.words[0] >> left,
                from.words[1] >> left | from.words[0] << back,
                from.words[2] >> left | from.words[1] << back,
            ],
        }
    }

    fn up_to(&self, pixel: u8, others: Plane) -> Plane {
        let mut both = others;
        for word in 0..3 {
            let first = word as u8 * 64;
            if pixel >= first + 64 {
                both.words[word as usize] = self.words[word as usize];
            } else if pixel > first {
                let right = !0 >> (pixel - first);
                both.words[word as usize] =
                    self.words[word as usize] & !right | others.words[word as usize] & right;
            }
        }
        both
    }

    /// The 32 pixels of a group of the screen, which begins one byte into the plane.
    #[inline(always)]
    fn group(&self, group: usize) -> u32 {
        let word = group >> 1;
        if group & 1 == 0 {
            (self.words[word] >> 24) as u32
        } else {
            (self.words[word] << 8 | self.words[word + 1] >> 56) as u32
        }
    }
}

/// Writes the screen's 160 pixels into the frame.
fn store_line(frame: &mut [u8; 5760], line: u8, shades: Planes) {
    for group in 0..5 {
        let at = line as usize * 40 + group * 8;
        let pixels = spread(shades.low.group(group)) | spread(shades.high.group(group)) << 1;
        if at + 8 <= frame.len() {
            frame[at] = (pixels >> 56) as u8;
            frame[at + 1] = (pixels >> 48) as u8;
            frame[at + 2] = (pixels >> 40) as u8;
            frame[at + 3] = (pixels >> 32) as u8;
            frame[at + 4] = (pixels >> 24) as u8;
            frame[at + 5] = (pixels >> 16) as u8;
            frame[at + 6] = (pixels >> 8) as u8;
            frame[at + 7] = pixels as u8;
        }
    }
}

/// Moves the bits of a word apart, to the even bits of one twice as wide.
#[inline(always)]
fn spread(bits: u32) -> u64 {
    let mut wide = bits as u64;
    wide = (wide | wide << 16) & 0x0000_ffff_0000_ffff;
    wide = (wide | wide << 8) & 0x00ff_00ff_00ff_00ff;
    wide = (wide | wide << 4) & 0x0f0f_0f0f_0f0f_0f0f;
    wide = (wide | wide << 2) & 0x3333_3333_3333_3333;
    (wide | wide << 1) & 0x5555_5555_5555_5555
}
