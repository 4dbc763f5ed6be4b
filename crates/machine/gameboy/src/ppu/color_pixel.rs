//! The Color's pixels: the choice between background and object, and the colour from the palettes.
//! `pipeline` makes one pixel at a time, `eight_dots` and `color_line` eight.
#![cfg(color)]

use crate::ppu::{FRAME_BYTES, LCDC_BACKGROUND, LCDC_OBJECTS, Ppu};

/// Attribute bit of a background tile that lies in front of objects.
pub(super) const IN_FRONT: u8 = 0x80;
/// The lowest bit of each of four pixels of 16 bits.
const LOWEST_BITS: u64 = 0x0001_0001_0001_0001;
/// Factor that spreads four bits: each bit lands three bits above the lowest bit of its pixel.
const SPREAD: u64 = 0x0008_0004_0002_0001;

/// Eight pixels of the background, for the priority against objects.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ground {
    /// Pixels with colours 1 to 3, the leftmost one in the top bit.
    pub(super) pixels: u8,
    /// Attributes of their tile.
    pub(super) attributes: u8,
}

/// Eight pixels of objects, as bit planes; a pixel of colour 0 is transparent.
#[derive(Clone, Copy, Debug)]
pub(super) struct ObjectPixels {
    /// Lower plane of the colour numbers.
    pub(super) low: u8,
    /// Upper plane of the colour numbers.
    pub(super) high: u8,
    /// Bit 0 of the palettes' numbers.
    pub(super) palette_0: u8,
    /// Bit 1 of the palettes' numbers.
    pub(super) palette_1: u8,
    /// Bit 2 of the palettes' numbers.
    pub(super) palette_2: u8,
    /// Pixels that lie behind colours 1 to 3 of the background.
    pub(super) behind: u8,
}

/// The four colours of a palette: colour 0 in four pixels of 16 bits, and the bits in which the
/// other colours differ from colour 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct FourColors {
    first: u64,
    /// Bits that differ where the lower plane is set.
    by_low: u64,
    /// Bits that differ where the upper plane is set.
    by_high: u64,
    /// Bits that differ, in addition, where both planes are set.
    by_both: u64,
}

/// The colours of eight pixels, in two halves with the leftmost pixel in the lowest bits.
#[derive(Clone, Copy, Debug)]
pub(super) struct EightColors {
    left: u64,
    right: u64,
}

impl Ppu {
    /// The colour of the next pixel of both queues.
    pub(super) fn mixed_front(&self) -> u16 {
        let pipeline = &self.pipeline;
        let background = pipeline.front_background();
        let object = pipeline.object_low >> 7 | pipeline.object_high >> 7 << 1;
        let palette = pipeline.object_palette >> 7
            | pipeline.object_palette_1 >> 7 << 1
            | pipeline.object_palette_2 >> 7 << 2;
        let behind = pipeline.object_behind & 0x80 != 0;
        self.mixed(background, object, palette, behind)
    }

    /// The colour of one pixel. In compatibility mode LCDC bit 0 blanks the background, and colour
    /// numbers first go through BGP, OBP0 or OBP1; otherwise a clear bit 0 takes all priority from
    /// the background.
    fn mixed(&self, background: u8, object: u8, palette: u8, behind: bool) -> u16 {
        let compatible = self.compatible;
        let enabled = self.lcdc & LCDC_BACKGROUND != 0;
        let ground = if compatible && !enabled { 0 } else { background };
        let attributes = self.pipeline.background_attributes;
        let hides =
            ground != 0 && (behind || attributes & IN_FRONT != 0) && (enabled || compatible);
        let shows_object = object != 0 && self.lcdc & LCDC_OBJECTS != 0 && !hides;
        if shows_object {
            self.object_color(palette, object)
        } else {
            self.background_color(attributes & 7, ground)
        }
    }

    /// Puts the eight queued pixels into the frame, without those left of the screen.
    pub(super) fn put_eight_dots(&self, frame: &mut [u8; FRAME_BYTES], skipped: u8) {
        let pipeline = &self.pipeline;
        let objects = ObjectPixels {
            low: pipeline.object_low,
            high: pipeline.object_high,
            palette_0: pipeline.object_palette,
            palette_1: pipeline.object_palette_1,
            palette_2: pipeline.object_palette_2,
            behind: pipeline.object_behind,
        };
        let planes = background_planes(self);
        let (low, high) = (pipeline.background_low & planes, pipeline.background_high & planes);
        let attributes = pipeline.background_attributes;
        let column = pipeline.column as i16 - skipped as i16;
        let both = low as u16 | (high as u16) << 8;
        let colors = FourColors::of(self, attributes & 7).eight_pixels(both);
        colors.show(frame, self.beam.line, column, 160);
        if self.lcdc & LCDC_OBJECTS != 0 {
            objects.show_over(self, frame, Ground { pixels: low | high, attributes }, column, 160);
        }
    }

    /// The number of an object's palette, out of its attributes.
    pub(super) fn object_palette(&self, flags: u8) -> u8 {
        if self.compatible { flags >> 4 & 1 } else { flags & 7 }
    }

    /// A colour of an object.
    pub(super) fn object_color(&self, palette: u8, number: u8) -> u16 {
        if self.compatible {
            let shades = if palette != 0 { self.obp1 } else { self.obp0 };
            self.palettes.object_color(palette, shades >> (number * 2) & 3)
        } else {
            self.palettes.object_color(palette, number)
        }
    }

    /// A colour of the background.
    fn background_color(&self, palette: u8, number: u8) -> u16 {
        if self.compatible {
            self.palettes.background_color(0, self.bgp >> (number * 2) & 3)
        } else {
            self.palettes.background_color(palette, number)
        }
    }

    /// Adds an object's row to the queued object pixels: it covers pixels of objects behind this
    /// object, and no others.
    pub(super) fn queue_object(&mut self) {
        let sorts_by_x = self.sorts_by_x;
        let palette = self.object_palette(self.pipeline.object_flags);
        let entry = self.scan.entry[self.pipeline.object as usize];
        let position = self.pipeline.position;
        let pipeline = &mut self.pipeline;
        let flags = pipeline.object_flags;
        let mut low = pipeline.object_data_low;
        let mut high = pipeline.object_data_high;
        if flags & 0x20 != 0 {
            low = low.reverse_bits();
            high = high.reverse_bits();
        }
        let mut takes = !(pipeline.object_low | pipeline.object_high);
        for pixel in 0..8u8 {
            let slot = (position as u8).wrapping_add(pixel) & 7;
            let bit = 0x80 >> pixel;
            if !sorts_by_x && entry < pipeline.object_entries[slot as usize] {
                takes |= bit;
            }
            if takes & bit & (low | high) != 0 {
                pipeline.object_entries[slot as usize] = entry;
            }
        }
        takes &= low | high;
        pipeline.object_low = pipeline.object_low & !takes | low & takes;
        pipeline.object_high = pipeline.object_high & !takes | high & takes;
        pipeline.object_palette = pipeline.object_palette & !takes | plane(palette) & takes;
        pipeline.object_palette_1 =
            pipeline.object_palette_1 & !takes | plane(palette >> 1) & takes;
        pipeline.object_palette_2 =
            pipeline.object_palette_2 & !takes | plane(palette >> 2) & takes;
        pipeline.object_behind = pipeline.object_behind & !takes | plane(flags >> 7) & takes;
    }
}

/// All ones if bit 0 is set.
fn plane(bit: u8) -> u8 {
    0u8.wrapping_sub(bit & 1)
}

impl ObjectPixels {
    /// Puts the pixels that the background does not hide into the frame, from a column on. Pixels
    /// left of the screen, or from column `end` on, are left out.
    pub(super) fn show_over(
        &self,
        ppu: &Ppu,
        frame: &mut [u8; FRAME_BYTES],
        ground: Ground,
        column: i16,
        end: i16,
    ) {
        let in_front = if ground.attributes & IN_FRONT != 0 { 0xff } else { 0 };
        let mut hidden = ground.pixels & (self.behind | in_front);
        if ppu.lcdc & LCDC_BACKGROUND == 0 && !ppu.compatible {
            hidden = 0;
        }
        let shown = (self.low | self.high) & !hidden;
        if shown != 0 {
            self.show(ppu, frame, shown, column, end);
        }
    }

    /// Puts the pixels of `shown` into the frame.
    fn show(&self, ppu: &Ppu, frame: &mut [u8; FRAME_BYTES], shown: u8, column: i16, end: i16) {
        for pixel in 0..8 {
            let bit = 7 - pixel;
            if shown >> bit & 1 != 0 && column + pixel >= 0 && column + pixel < end {
                let number = self.low >> bit & 1 | (self.high >> bit & 1) << 1;
                let palette = self.palette_0 >> bit & 1
                    | (self.palette_1 >> bit & 1) << 1
                    | (self.palette_2 >> bit & 1) << 2;
                let color = ppu.object_color(palette, number);
                store_pixel(frame, ppu.beam.line, (column + pixel) as u8, color);
            }
        }
    }
}

impl FourColors {
    /// The colours of a palette of the background.
    pub(super) fn of(ppu: &Ppu, palette: u8) -> FourColors {
        FourColors::from_palette(
            ppu.background_color(palette, 0),
            ppu.background_color(palette, 1),
            ppu.background_color(palette, 2),
            ppu.background_color(palette, 3),
        )
    }

    /// The colours of a palette of objects, with a colour 0 that is not shown.
    pub(super) fn of_objects(ppu: &Ppu, palette: u8) -> FourColors {
        FourColors::from_palette(
            0,
            ppu.object_color(palette, 1),
            ppu.object_color(palette, 2),
            ppu.object_color(palette, 3),
        )
    }

    #[inline(always)]
    fn from_palette(color_0: u16, color_1: u16, color_2: u16, color_3: u16) -> FourColors {
        let first = shown_bits(color_0);
        let by_low = first ^ shown_bits(color_1);
        let by_high = first ^ shown_bits(color_2);
        let by_both = first ^ shown_bits(color_3) ^ by_low ^ by_high;
        FourColors { first: first * LOWEST_BITS, by_low, by_high, by_both }
    }

    /// The colours of eight pixels, from the lower plane and, above it, the upper plane.
    #[inline(always)]
    pub(super) fn eight_pixels(&self, planes: u16) -> EightColors {
        EightColors {
            left: self.four_pixels(planes >> 4 & 0x0f0f),
            right: self.four_pixels(planes & 0x0f0f),
        }
    }

    /// The colours of four pixels, the leftmost one in the lowest bits, from four bits of each
    /// plane.
    #[inline(always)]
    fn four_pixels(&self, planes: u16) -> u64 {
        // The upper plane lands eight bits above the lower one.
        let spread = planes as u64 * SPREAD;
        let low = spread >> 3 & LOWEST_BITS;
        let high = spread >> 11 & LOWEST_BITS;
        // A factor of 0 or 1 in each pixel can't carry into the next pixel.
        self.first ^ (low * self.by_low) ^ (high * self.by_high) ^ ((low & high) * self.by_both)
    }
}

impl EightColors {
    /// Puts the pixels into a line that is drawn from left to right: pixels left of the screen are
    /// left out, and the same number of pixels right of the others may be overwritten.
    #[inline(always)]
    pub(super) fn show_in_line(&self, frame: &mut [u8; FRAME_BYTES], line: u8, column: i16) {
        let start = line as usize * 320;
        if column >= 0 && column <= 152 {
            store_eight(frame, start + column as usize * 2, self.left, self.right);
        } else if column > 152 {
            store_some(frame, line, self.left, self.right, column, 160);
        } else {
            let left_out = -column as u32;
            let (left, right) =
                if left_out >= 4 { (self.right, 0) } else { (self.left, self.right) };
            let bits = (left_out & 3) * 16;
            // A shift by 64 bits has no value.
            let left = left >> bits | right << 1 << (63 - bits);
            store_eight(frame, start, left, right >> bits);
        }
    }

    /// Puts the pixels that `shown` marks into the frame. All of them must lie on the screen.
    #[inline(always)]
    pub(super) fn show_over_line(
        &self,
        frame: &mut [u8; FRAME_BYTES],
        line: u8,
        column: i16,
        shown: u8,
    ) {
        if column >= 0 && column <= 152 {
            let at = line as usize * 320 + column as usize * 2;
            store_four_over(frame, at, self.left, shown >> 4);
            store_four_over(frame, at + 8, self.right, shown & 15);
            return;
        }
        for pixel in 0..8 {
            if shown << pixel & 0x80 != 0 {
                let four = if pixel < 4 { self.left } else { self.right };
                let color = (four >> ((pixel & 3) * 16)) as u16;
                store_pixel(frame, line, (column + pixel) as u8, color);
            }
        }
    }

    /// Puts the pixels into the frame from a column on. Pixels left of the screen, or from column
    /// `end` on, are left out.
    #[inline(always)]
    pub(super) fn show(&self, frame: &mut [u8; FRAME_BYTES], line: u8, column: i16, end: i16) {
        if column >= 0 && column + 8 <= end {
            let at = line as usize * 320 + column as usize * 2;
            store_eight(frame, at, self.left, self.right);
        } else {
            store_some(frame, line, self.left, self.right, column, end);
        }
    }
}

/// The lowest bit of each of four pixels, from a bit for each.
#[inline(always)]
fn spread(bits: u8) -> u64 {
    (bits as u64 * SPREAD) >> 3 & LOWEST_BITS
}

/// A colour without bit 15, which palette memory stores and the screen ignores.
#[inline(always)]
fn shown_bits(color: u16) -> u64 {
    (color & 0x7fff) as u64
}

/// Stores eight pixels, from two halves.
#[inline(always)]
fn store_eight(frame: &mut [u8; FRAME_BYTES], at: usize, left: u64, right: u64) {
    if at <= FRAME_BYTES - 16 {
        store_four(frame, at, left);
        store_four(frame, at + 8, right);
    }
}

/// Stores four pixels, the leftmost one in the lowest bits.
#[inline(always)]
fn store_four(frame: &mut [u8; FRAME_BYTES], at: usize, pixels: u64) {
    if at + 8 <= frame.len() {
        frame[at] = pixels as u8;
        frame[at + 1] = (pixels >> 8) as u8;
        frame[at + 2] = (pixels >> 16) as u8;
        frame[at + 3] = (pixels >> 24) as u8;
        frame[at + 4] = (pixels >> 32) as u8;
        frame[at + 5] = (pixels >> 40) as u8;
        frame[at + 6] = (pixels >> 48) as u8;
        frame[at + 7] = (pixels >> 56) as u8;
    }
}

/// Stores those of four pixels that the lower bits of `shown` mark.
#[inline(always)]
fn store_four_over(frame: &mut [u8; FRAME_BYTES], at: usize, pixels: u64, shown: u8) {
    let mask = spread(shown) * 0xffff;
    let before = load_four(frame, at);
    store_four(frame, at, before & !mask | pixels & mask);
}

/// Loads four pixels, the leftmost one in the lowest bits.
#[inline(always)]
fn load_four(frame: &[u8; FRAME_BYTES], at: usize) -> u64 {
    let mut pixels = 0;
    if at + 8 <= frame.len() {
        pixels = frame[at] as u64
            | (frame[at + 1] as u64) << 8
            | (frame[at + 2] as u64) << 16
            | (frame[at + 3] as u64) << 24
            | (frame[at + 4] as u64) << 32
            | (frame[at + 5] as u64) << 40
            | (frame[at + 6] as u64) << 48
            | (frame[at + 7] as u64) << 56;
    }
    pixels
}

/// Stores those of eight pixels that lie on the screen and before column `end`.
fn store_some(
    frame: &mut [u8; FRAME_BYTES],
    line: u8,
    left: u64,
    right: u64,
    column: i16,
    end: i16,
) {
    for pixel in 0..8 {
        if column + pixel >= 0 && column + pixel < end {
            let four = if pixel < 4 { left } else { right };
            let color = (four >> ((pixel & 3) * 16)) as u16;
            store_pixel(frame, line, (column + pixel) as u8, color);
        }
    }
}

/// Stores a colour without bit 15, which palette memory stores and the screen ignores.
pub(super) fn store_pixel(frame: &mut [u8; FRAME_BYTES], line: u8, column: u8, color: u16) {
    let index = (line as usize * 320 + column as usize * 2) % FRAME_BYTES;
    frame[index] = color as u8;
    frame[index | 1] = (color >> 8) as u8 & 0x7f;
}

pub(super) fn load_pixel(frame: &[u8; FRAME_BYTES], line: u8, column: u8) -> u16 {
    let index = (line as usize * 320 + column as usize * 2) % FRAME_BYTES;
    frame[index] as u16 | (frame[index | 1] as u16) << 8
}

/// A mask for the background's planes: in compatibility mode a clear LCDC bit 0 blanks the
/// background.
pub(super) fn background_planes(ppu: &Ppu) -> u8 {
    if ppu.compatible && ppu.lcdc & LCDC_BACKGROUND == 0 { 0 } else { 0xff }
}
