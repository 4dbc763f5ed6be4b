//! The pixels of a whole line of the original in machine words, 32 pixels to a word, packed as in
//! the frame. Called by `whole_line`; `color_line` does the same for the Color, whose tiles have
//! attributes.
#![cfg(not(color))]

use crate::ppu::{
    FRAME_BYTES, LCDC_BACKGROUND, LCDC_BACKGROUND_MAP, LCDC_TILE_DATA, LCDC_WINDOW_MAP, Ppu,
};

/// Machine words of a line.
const WORDS: usize = 5;
/// Maximum of tiles that a line shows, whole or in part.
const TILES: usize = 21;
/// A row that no map has.
const NO_ROW: u8 = 32;
/// All bits of all pixels.
const ALL_BITS: u64 = 0xffff_ffff_ffff_ffff;
/// Rows 0 and 2 of four rows of a tile.
const EVEN_ROWS: u64 = 0x0000_ffff_0000_ffff;
/// The lower half of a word.
const LOWER_HALF: u64 = 0x0000_0000_ffff_ffff;
/// The lower bit of every pixel.
const LOW_BITS: u64 = 0x5555_5555_5555_5555;
/// A palette that gives each colour the shade of its number.
const IDENTITY: u8 = 0xe4;

/// The screen's pixels of a line, 2 bits each, the leftmost in the top bits of word 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PackedLine {
    words: [u64; WORDS],
}

/// The 21 tiles that a line may show; the last tile crosses the right edge.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileRow {
    /// Addresses of the tiles' first rows in video RAM.
    addresses: [u16; TILES],
    /// Row of the map, or `NO_ROW`.
    row: u8,
    /// True if `words` holds all lines of the tiles, for several lines of the screen.
    is_decoded: bool,
    /// Pixels of the eight lines, as words of four tiles; the last tile has a word of its own.
    words: [u64; 8 * (WORDS + 1)],
}

/// Tiles that neighbouring lines share.
#[derive(Clone, Copy, Debug)]
pub(super) struct TileRows {
    background: TileRow,
    window: TileRow,
}

impl TileRows {
    /// Makes a value that holds no tiles. `are_shared` is true for several lines, false for one.
    pub(super) fn none(are_shared: bool) -> TileRows {
        TileRows { background: TileRow::none(are_shared), window: TileRow::none(are_shared) }
    }
}

impl TileRow {
    fn none(is_decoded: bool) -> TileRow {
        TileRow { addresses: [0; TILES], row: NO_ROW, is_decoded, words: [0; 8 * (WORDS + 1)] }
    }

    /// Finds the tiles in a row of a map, from a column on.
    fn find(&mut self, ppu: &Ppu, vram: &[u8; 0x2000], map: u16, row: u8, first_column: u8) {
        if self.row == row {
            return;
        }
        self.row = row;
        let map_row = map | (row as u16 * 32);
        // Tile numbers in the data at 8800 are signed and count from 9000: tile 128 comes first.
        let unsigned = ppu.lcdc & LCDC_TILE_DATA != 0;
        let toggle = if unsigned { 0 } else { 0x80 };
        let origin = if unsigned { 0 } else { 0x800 };
        for at in 0..TILES {
            let column = first_column as u16 + at as u16;
            let tile = vram[((map_row | column & 31) & 0x1fff) as usize] ^ toggle;
            self.addresses[at] = origin + tile as u16 * 16;
        }
        if self.is_decoded {
            self.decode(vram);
        }
    }

    /// Decodes all lines of the tiles.
    fn decode(&mut self, vram: &[u8; 0x2000]) {
        for half in 0..2 {
            let line = half * 4;
            for word in 0..WORDS {
                let a = four_rows(vram, self.addresses[word * 4], line as u16);
                let b = four_rows(vram, self.addresses[word * 4 + 1], line as u16);
                let c = four_rows(vram, self.addresses[word * 4 + 2], line as u16);
                let d = four_rows(vram, self.addresses[word * 4 + 3], line as u16);
                // Rows 0 and 2, then rows 1 and 3 of two tiles, the left tile above the right one.
                let left_even = (a & EVEN_ROWS) << 16 | b & EVEN_ROWS;
                let left_odd = a & !EVEN_ROWS | b >> 16 & EVEN_ROWS;
                let right_even = (c & EVEN_ROWS) << 16 | d & EVEN_ROWS;
                let right_odd = c & !EVEN_ROWS | d >> 16 & EVEN_ROWS;
                let at = word * 8 + line;
                self.words[at] = left_even << 32 | right_even & LOWER_HALF;
                self.words[at + 1] = left_odd << 32 | right_odd & LOWER_HALF;
                self.words[at + 2] = left_even & !LOWER_HALF | right_even >> 32;
                self.words[at + 3] = left_odd & !LOWER_HALF | right_odd >> 32;
            }
            let last = four_rows(vram, self.addresses[TILES - 1], line as u16);
            self.words[WORDS * 8 + line] = last << 48;
            self.words[WORDS * 8 + line + 1] = last >> 16 << 48;
            self.words[WORDS * 8 + line + 2] = last >> 32 << 48;
            self.words[WORDS * 8 + line + 3] = last >> 48 << 48;
        }
        for at in 0..8 * (WORDS + 1) {
            self.words[at] = interleaved(self.words[at]);
        }
    }

    /// Pixels of one line of the tiles, without the first `skipped` ones.
    #[inline(always)]
    fn pixels(&self, vram: &[u8; 0x2000], line: u8, skipped: u8) -> PackedLine {
        let left = skipped * 2;
        let mut pixels = PackedLine::empty();
        let mut next = self.word(vram, line, 0);
        for word in 0..WORDS {
            let first = next;
            next = self.word(vram, line, word + 1);
            pixels.words[word] = first << left | next >> 1 >> (63 - left);
        }
        pixels
    }

    /// Pixels of one line of four tiles, or of the last tile.
    #[inline(always)]
    fn word(&self, vram: &[u8; 0x2000], line: u8, word: usize) -> u64 {
        if self.is_decoded {
            return self.words[word * 8 + line as usize];
        }
        let tiles = if word == WORDS { 1 } else { 4 };
        let mut rows = 0;
        for tile in 0..tiles {
            let address = (self.addresses[word * 4 + tile] + line as u16 * 2) & 0x1ffe;
            let low = vram[address as usize] as u16;
            let high = vram[(address | 1) as usize] as u16;
            rows = rows << 16 | (high << 8 | low) as u64;
        }
        interleaved(rows << (64 - tiles * 16))
    }
}

/// Four rows of a tile from a line on, the first one in the lowest 16 bits.
#[inline(always)]
fn four_rows(vram: &[u8; 0x2000], tile: u16, line: u16) -> u64 {
    let at = ((tile + line * 2) & 0x1ff8) as usize;
    vram[at] as u64
        | (vram[at + 1] as u64) << 8
        | (vram[at + 2] as u64) << 16
        | (vram[at + 3] as u64) << 24
        | (vram[at + 4] as u64) << 32
        | (vram[at + 5] as u64) << 40
        | (vram[at + 6] as u64) << 48
        | (vram[at + 7] as u64) << 56
}

impl PackedLine {
    const fn empty() -> PackedLine {
        PackedLine { words: [0; WORDS] }
    }

    /// The line's background and window, as colours. `tiles` holds the tiles of the line before.
    // Words that go through memory are copied in pairs, which waits for the single words' stores.
    #[inline(always)]
    pub(super) fn background(
        ppu: &Ppu,
        vram: &[u8; 0x2000],
        window_at: u16,
        tiles: &mut TileRows,
    ) -> PackedLine {
        if ppu.lcdc & LCDC_BACKGROUND == 0 {
            return PackedLine::empty();
        }
        let row = ppu.beam.line.wrapping_add(ppu.scy);
        let map = if ppu.lcdc & LCDC_BACKGROUND_MAP != 0 { 0x1c00 } else { 0x1800 };
        tiles.background.find(ppu, vram, map, row >> 3, ppu.scx >> 3);
        let background = tiles.background.pixels(vram, row & 7, ppu.scx & 7);
        if window_at >= 160 {
            return background;
        }
        let map = if ppu.lcdc & LCDC_WINDOW_MAP != 0 { 0x1c00 } else { 0x1800 };
        tiles.window.find(ppu, vram, map, ppu.window_line >> 3, 0);
        let window = tiles.window.pixels(vram, ppu.window_line & 7, 0);
        background.up_to(window_at as u8, window)
    }

    /// The background from the pipeline's position on, as colours: the queued pixels, then tiles
    /// that are fetched.
    pub(super) fn rest_of_background(ppu: &Ppu, vram: &[u8; 0x2000]) -> PackedLine {
        if ppu.lcdc & LCDC_BACKGROUND == 0 {
            return PackedLine::empty();
        }
        let position = ppu.pipeline.position;
        let queued = eight_pixels(ppu.pipeline.background_low, ppu.pipeline.background_high);
        let mut rest = PackedLine::empty();
        if position < 0 {
            rest.words[0] = queued << (-position as u32 * 2);
        } else {
            let word = (position >> 5) as usize;
            let left = (position as u32 & 31) * 2;
            rest.words[word] = queued >> left;
            if left > 48 && word + 1 < WORDS {
                rest.words[word + 1] = queued << (64 - left);
            }
        }
        let row = ppu.beam.line.wrapping_add(ppu.scy);
        let map = if ppu.lcdc & LCDC_BACKGROUND_MAP != 0 { 0x1c00 } else { 0x1800 };
        let column = (ppu.scx as i16 + position + 9) >> 3;
        let mut tiles = TileRow::none(false);
        tiles.find(ppu, vram, map, row >> 3, column as u8);
        rest.up_to((position + 8) as u8, tiles.pixels(vram, row & 7, 0))
    }

    /// Puts the objects from the scan's `first` on over the background, which is given as colours
    /// and as shades.
    pub(super) fn under_objects(
        &self,
        ppu: &Ppu,
        vram: &[u8; 0x2000],
        oam: &[u8; 0xa0],
        ground: PackedLine,
        first: usize,
    ) -> PackedLine {
        let mut mixed = ground;
        // From the lowest priority up: each object replaces what lies under its pixels.
        let mut index = ppu.scan.count as usize;
        while index > first {
            index -= 1;
            let x = ppu.scan.x[index];
            if x > 0 && x < 168 {
                let entry = ppu.scan.entry[index] as usize * 4;
                let flags = oam[(entry + 3) % 0xa0];
                let address = ppu.object_row(ppu.scan.y[index], oam[(entry + 2) % 0xa0], flags);
                let mut low = vram[address & 0x1fff];
                let mut high = vram[(address | 1) & 0x1fff];
                if flags & 0x20 != 0 {
                    low = low.reverse_bits();
                    high = high.reverse_bits();
                }
                let colours = eight_pixels(low, high);
                let palette = if flags & 0x10 != 0 { ppu.obp1 } else { ppu.obp0 };
                let pixels = looked_up(colours, palette);
                let covers = opaque(colours);
                let behind = flags & 0x80 != 0;
                // The first of eight pixels, from three tiles left of the screen on.
                let first = x as u32 * 2 + 48;
                let word = (first >> 6) as usize;
                let left = first & 63;
                if word > 0 && word <= WORDS {
                    let under = if behind { opaque(self.words[word - 1]) } else { 0 };
                    mixed.put(word - 1, covers >> left, pixels >> left, under, &ground);
                }
                if left > 48 && word < WORDS {
                    let under = if behind { opaque(self.words[word]) } else { 0 };
                    let back = 64 - left;
                    mixed.put(word, covers << back, pixels << back, under, &ground);
                }
            }
        }
        mixed
    }

    /// Joins this line, left of a pixel, with another one that begins there.
    fn up_to(&self, pixel: u8, other: PackedLine) -> PackedLine {
        let mut both = *self;
        let first = (pixel >> 5) as usize;
        let left = (pixel & 31) * 2;
        let mut before = 0;
        for word in first..WORDS {
            let after = other.words[word - first];
            let keeps = if word == first { !(ALL_BITS >> left) } else { 0 };
            both.words[word] =
                self.words[word] & keeps | after >> left | before << 1 << (63 - left);
            before = after;
        }
        both
    }

    /// Joins this line, left of a pixel, with the same columns of another one.
    pub(super) fn before(&self, pixel: u8, other: PackedLine) -> PackedLine {
        let mut both = other;
        let first = (pixel >> 5) as usize;
        for word in 0..WORDS {
            let keeps = if word < first {
                ALL_BITS
            } else if word == first {
                !(ALL_BITS >> ((pixel & 31) * 2))
            } else {
                0
            };
            both.words[word] = self.words[word] & keeps | other.words[word] & !keeps;
        }
        both
    }

    /// Looks the colours up in a palette.
    #[inline(always)]
    pub(super) fn shaded(&self, palette: u8) -> PackedLine {
        if palette == IDENTITY {
            return *self;
        }
        let mut shades = PackedLine::empty();
        for word in 0..WORDS {
            shades.words[word] = looked_up(self.words[word], palette);
        }
        shades
    }

    /// Sets the pixels that `covers` marks: from `ground` where `under` marks them, else from
    /// `pixels`.
    #[inline(always)]
    fn put(&mut self, word: usize, covers: u64, pixels: u64, under: u64, ground: &PackedLine) {
        let seen = ground.words[word] & under | pixels & !under;
        self.words[word] = self.words[word] & !covers | seen & covers;
    }
}

/// Pixels from four rows of tile data, each with its upper bits before its lower ones.
#[inline(always)]
fn interleaved(rows: u64) -> u64 {
    let mut pixels = rows;
    let mut moved = (pixels ^ pixels >> 4) & 0x00f0_00f0_00f0_00f0;
    pixels ^= moved ^ moved << 4;
    moved = (pixels ^ pixels >> 2) & 0x0c0c_0c0c_0c0c_0c0c;
    pixels ^= moved ^ moved << 2;
    moved = (pixels ^ pixels >> 1) & 0x2222_2222_2222_2222;
    pixels ^ moved ^ moved << 1
}

/// Eight pixels from two planes, in the top bits.
#[inline(always)]
pub(super) fn eight_pixels(low: u8, high: u8) -> u64 {
    interleaved((high as u64) << 56 | (low as u64) << 48)
}

/// Both bits of each pixel whose colour is not 0.
#[inline(always)]
fn opaque(colours: u64) -> u64 {
    let set = (colours | colours >> 1) & LOW_BITS;
    set | set << 1
}

/// The shades that a palette gives to colours.
#[inline(always)]
pub(super) fn looked_up(colours: u64, palette: u8) -> u64 {
    if palette == IDENTITY {
        return colours;
    }
    let zero = everywhere(palette);
    let two = everywhere(palette >> 4);
    let zero_or_one = zero ^ everywhere(palette >> 2);
    let two_or_three = two ^ everywhere(palette >> 6);
    let low = colours & LOW_BITS;
    let low = low | low << 1;
    let high = colours >> 1 & LOW_BITS;
    let high = high | high << 1;
    let lower = zero ^ low & zero_or_one;
    let upper = two ^ low & two_or_three;
    lower ^ high & (lower ^ upper)
}

/// A shade in all pixels.
#[inline(always)]
fn everywhere(shade: u8) -> u64 {
    (shade & 3) as u64 * LOW_BITS
}

/// Reads a line of the frame.
pub(super) fn load_line(frame: &[u8; FRAME_BYTES], line: u8) -> PackedLine {
    let mut pixels = PackedLine::empty();
    for byte in 0..8 * WORDS {
        let at = (line as usize * 40 + byte) % FRAME_BYTES;
        pixels.words[byte >> 3] = pixels.words[byte >> 3] << 8 | frame[at] as u64;
    }
    pixels
}

/// Writes the screen's 160 pixels into the frame.
#[inline(always)]
pub(super) fn store_line(frame: &mut [u8; FRAME_BYTES], line: u8, shades: PackedLine) {
    for word in 0..WORDS {
        let at = line as usize * 40 + word * 8;
        let pixels = shades.words[word];
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
