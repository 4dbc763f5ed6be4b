//! The pixels of a whole line as bit planes in machine words, 160 at once instead of one by one.
//! Called by `line`. The Color, whose pixels have attributes, draws with the pipeline alone.
#![cfg(not(color))]

use crate::ppu::{
    FRAME_BYTES, LCDC_BACKGROUND, LCDC_BACKGROUND_MAP, LCDC_TALL_OBJECTS, LCDC_TILE_DATA,
    LCDC_WINDOW_MAP, Ppu,
};

/// A bit plane of a line: 24 bytes of 8 pixels, the leftmost pixel in the top bit of word 0. The
/// first byte lies left of the screen, so that objects and tiles may hang over its edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plane {
    words: [u64; 3],
}

/// The two planes of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Planes {
    low: Plane,
    high: Plane,
}

impl Ppu {
    /// The line's background and window, as colours.
    pub(super) fn background(&self, vram: &[u8; 0x2000], window_at: u16) -> Planes {
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
    pub(super) fn mix(
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
        let second = if second_palette.is_empty() { first } else { object.shaded(self.obp1) };
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

    /// Joins these planes, left of a pixel, with others from it on.
    fn up_to(&self, pixel: u8, others: Planes) -> Planes {
        Planes { low: self.low.up_to(pixel, others.low), high: self.high.up_to(pixel, others.high) }
    }

    /// Looks the colours up in a palette.
    pub(super) fn shaded(&self, palette: u8) -> Planes {
        // Most palettes are this one: each colour is the shade of its number.
        if palette == 0xe4 {
            return *self;
        }
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

    fn is_empty(&self) -> bool {
        self.words[0] | self.words[1] | self.words[2] == 0
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
pub(super) fn store_line(frame: &mut [u8; FRAME_BYTES], line: u8, shades: Planes) {
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
