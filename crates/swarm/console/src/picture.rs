//! Forms of a frame for learners: packed, gray, reduced to a quarter, or in colour.
//!
//! Frames of the original have four shades, the Color's have RGB555. Either can be converted to the
//! other form: shades to grays, colours to their lightness.
//!
//! There are two reductions: the first averages each square of four pixels, the second keeps the
//! square's upper left pixel.

use std::borrow::Cow;
use std::sync::LazyLock;

use gbxcule_gameboy::FRAME_BYTES;

use crate::Frame;

/// Pixels of a line.
pub const WIDTH: usize = 160;
/// Lines of a frame.
pub const HEIGHT: usize = 144;
/// Bytes of a packed line.
pub const LINE_BYTES: usize = WIDTH / 4;

/// A form of the 160 x 144 pixels of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Picture {
    /// Four pixels to a byte as [`FRAME_BYTES`] says, 144 x 40 bytes.
    Packed,
    /// One byte a pixel, 144 x 160, as [`Grays`] says: 255 is the lightest shade, 0 the darkest.
    Gray,
    /// 72 x 80: the mean of each square of four pixels, rounded down.
    Mean,
    /// 72 x 80: the upper left pixel of each square of four.
    Stride,
    /// 144 x 160 colours of two bytes, the lower one first: RGB555, red in the lowest bits.
    Rgb555,
    /// 144 x 160 colours of three bytes: the Color's five bits of each part are spread over eight,
    /// and shades become the [`Grays`].
    Rgb,
    /// `Rgb` in the colours of the Color's dim panel, on which each primary colour also lights the
    /// others.
    RgbCorrected,
}

impl Picture {
    /// Lines and bytes of a line.
    pub fn shape(self) -> (usize, usize) {
        match self {
            Self::Packed => (HEIGHT, LINE_BYTES),
            Self::Gray => (HEIGHT, WIDTH),
            Self::Mean | Self::Stride => (HEIGHT / 2, WIDTH / 2),
            Self::Rgb555 => (HEIGHT, 2 * WIDTH),
            Self::Rgb | Self::RgbCorrected => (HEIGHT, 3 * WIDTH),
        }
    }

    /// Every form.
    const ALL: [Self; 7] = [
        Self::Packed,
        Self::Gray,
        Self::Mean,
        Self::Stride,
        Self::Rgb,
        Self::RgbCorrected,
        Self::Rgb555,
    ];

    /// The name that users write and artifacts record.
    pub fn name(self) -> &'static str {
        match self {
            Self::Packed => "packed",
            Self::Gray => "gray",
            Self::Mean => "mean",
            Self::Stride => "stride",
            Self::Rgb => "rgb",
            Self::RgbCorrected => "rgb_corrected",
            Self::Rgb555 => "rgb555",
        }
    }

    /// Returns the form of a name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|picture| picture.name() == name)
    }

    /// Returns true if the form shows the colours of a Color's frame.
    pub fn has_colors(self) -> bool {
        matches!(self, Self::Rgb555 | Self::Rgb | Self::RgbCorrected)
    }

    /// Bytes of a pixel, or of four pixels of a packed picture.
    pub fn pixel_bytes(self) -> usize {
        match self {
            Self::Rgb | Self::RgbCorrected => 3,
            Self::Rgb555 => 2,
            Self::Packed | Self::Gray | Self::Mean | Self::Stride => 1,
        }
    }

    /// Bytes of the whole picture.
    pub fn bytes(self) -> usize {
        let (lines, columns) = self.shape();
        lines * columns
    }

    /// Puts a frame into `out`, which has [`Picture::bytes`].
    pub fn fill(self, grays: Grays, frame: Frame<'_>, out: &mut [u8]) {
        match self {
            Self::Rgb555 => fill_colors(frame, grays, out, u16::to_le_bytes),
            Self::RgbCorrected => fill_colors(frame, grays, out, corrected_rgb),
            Self::Packed => out.copy_from_slice(&*frame.shades()),
            Self::Rgb => match frame {
                Frame::Shades(frame) => fill_grays_thrice(grays, frame, out),
                Frame::Colors(_) => fill_colors(frame, grays, out, rgb),
            },
            Self::Gray | Self::Mean | Self::Stride => match frame {
                Frame::Shades(frame) => self.fill_shades(grays, frame, out),
                Frame::Colors(frame) => self.fill_lightness(frame, out),
            },
        }
    }

    /// Fills `out` with the grays of a frame in colour, or with their reduction.
    fn fill_lightness(self, frame: &[u8], out: &mut [u8]) {
        let (colors, _) = frame.as_chunks();
        static LIGHTNESS: LazyLock<[u8; 0x8000]> =
            LazyLock::new(|| std::array::from_fn(|color| lightness(color as u16)));
        let table = &*LIGHTNESS;
        let gray_of = |color: [u8; 2]| table[usize::from(u16::from_le_bytes(color) & 0x7fff)];
        if self == Self::Gray {
            out.iter_mut().zip(colors).for_each(|(out, color)| *out = gray_of(*color));
            return;
        }
        let gray = |x: usize, y: usize| gray_of(colors[y * WIDTH + x]);
        let (lines, columns) = self.shape();
        for y in 0..lines {
            for x in 0..columns {
                let (left, top) = (2 * x, 2 * y);
                let square = || {
                    [
                        gray(left, top),
                        gray(left + 1, top),
                        gray(left, top + 1),
                        gray(left + 1, top + 1),
                    ]
                };
                out[y * columns + x] =
                    if self == Self::Mean { mean(square()) } else { gray(left, top) };
            }
        }
    }

    fn fill_shades(self, grays: Grays, frame: &[u8; FRAME_BYTES], out: &mut [u8]) {
        let grays = grays.table();
        match self {
            Self::Mean => for_each_square(frame, out, |upper, lower| {
                let [a, b] = [upper, lower].map(|byte| grays[usize::from(byte)]);
                [0, 2].map(|left| mean([a[left], a[left + 1], b[left], b[left + 1]]))
            }),
            Self::Stride => for_each_square(frame, out, |upper, _| {
                let gray = grays[usize::from(upper)];
                [gray[0], gray[2]]
            }),
            _ => {
                for (pixels, packed) in out.chunks_exact_mut(4).zip(frame) {
                    pixels.copy_from_slice(&grays[usize::from(*packed)]);
                }
            }
        }
    }
}

/// Writes each gray three times. `fill_colors` would not do, because RGB555 can't hold 170 and 153.
fn fill_grays_thrice(grays: Grays, frame: &[u8; FRAME_BYTES], out: &mut [u8]) {
    let grays = grays.table();
    for (pixels, packed) in out.as_chunks_mut::<12>().0.iter_mut().zip(frame) {
        let four = grays[usize::from(*packed)];
        *pixels = std::array::from_fn(|part| four[part / 3]);
    }
}

/// The mean of a square of pixels, rounded down.
fn mean(square: [u8; 4]) -> u8 {
    (square.map(u16::from).iter().sum::<u16>() / 4) as u8
}

impl Frame<'_> {
    /// The frame as shades, four pixels to a byte; colours by their lightness.
    pub fn shades(&self) -> Cow<'_, [u8; FRAME_BYTES]> {
        match self {
            Self::Shades(frame) => Cow::Borrowed(frame),
            Self::Colors(frame) => {
                let (colors, _) = frame.as_chunks::<8>();
                let mut shades = [0; FRAME_BYTES];
                for (packed, four) in shades.iter_mut().zip(colors) {
                    let (four, _) = four.as_chunks();
                    *packed = four
                        .iter()
                        .fold(0, |byte, &color| byte << 2 | shade(u16::from_le_bytes(color)));
                }
                Cow::Owned(shades)
            }
        }
    }

    /// Calls `see` with each pixel's colour, RGB555; shades are grays.
    pub fn colors(&self, grays: Grays, mut see: impl FnMut(u16)) {
        match self {
            Self::Shades(frame) => {
                let colors = grays.levels().map(|gray| u16::from(gray >> 3) * 0x421);
                for byte in *frame {
                    for shift in [6, 4, 2, 0] {
                        see(colors[usize::from(byte >> shift & 3)]);
                    }
                }
            }
            Self::Colors(frame) => {
                frame.as_chunks().0.iter().for_each(|&color| see(u16::from_le_bytes(color)));
            }
        }
    }
}

fn fill_colors<const N: usize>(
    frame: Frame<'_>,
    grays: Grays,
    out: &mut [u8],
    bytes: impl Fn(u16) -> [u8; N],
) {
    let mut places = out.as_chunks_mut::<N>().0.iter_mut();
    frame.colors(grays, |color| {
        if let Some(place) = places.next() {
            *place = bytes(color);
        }
    });
}

fn parts(color: u16) -> [u16; 3] {
    [color & 31, color >> 5 & 31, color >> 10 & 31]
}

/// Red, green and blue of RGB555, five bits spread over eight.
pub fn rgb(color: u16) -> [u8; 3] {
    parts(color).map(|five| (five << 3 | five >> 2) as u8)
}

/// Red, green and blue as the Color's panel shows RGB555: every primary colour lights the others a
/// little, and white is dimmer than 255.
pub fn corrected_rgb(color: u16) -> [u8; 3] {
    let [red, green, blue] = parts(color);
    let shown =
        [26 * red + 4 * green + 2 * blue, 24 * green + 8 * blue, 6 * red + 4 * green + 22 * blue];
    shown.map(|sum| (sum.min(960) >> 2) as u8)
}

/// Weights of red, green and blue in lightness, in thousandths (BT.601).
const BT601: [u32; 3] = [299, 587, 114];

fn weighted(parts: [u32; 3]) -> u32 {
    parts.iter().zip(BT601).map(|(part, weight)| part * weight).sum()
}

/// The shade of a colour, as programs see it (`gbxcule_gameboy_color::view::pixel`).
fn shade(color: u16) -> u8 {
    3 - (weighted(parts(color).map(u32::from)) / 8000) as u8
}

/// Returns the lightness of a colour, 0 to 255, by the weights of BT.601.
fn lightness(color: u16) -> u8 {
    (weighted(rgb(color).map(u32::from)) / 1000) as u8
}

/// Lightness of the four shades, from the lightest to the darkest. Packed frames hold numbers of
/// shades, which are the same for every lightness.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Grays {
    /// 255, 170, 85, 0: evenly spaced.
    #[default]
    Even,
    /// 255, 153, 85, 0: PyBoy's levels, for agents that were trained on PyBoy.
    Pyboy,
}

impl Grays {
    /// The name that users write and artifacts record.
    pub fn name(self) -> &'static str {
        match self {
            Self::Even => "even",
            Self::Pyboy => "pyboy",
        }
    }

    /// The grays of a name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        [Self::Even, Self::Pyboy].into_iter().find(|grays| grays.name() == name)
    }

    /// Returns the grays of the four shades, from the lightest to the darkest.
    pub const fn levels(self) -> [u8; 4] {
        match self {
            Self::Even => [255, 170, 85, 0],
            Self::Pyboy => [255, 153, 85, 0],
        }
    }

    /// The four grays of each packed byte.
    pub fn table(self) -> &'static [[u8; 4]; 256] {
        static EVEN: [[u8; 4]; 256] = gray_table(Grays::Even.levels());
        static PYBOY: [[u8; 4]; 256] = gray_table(Grays::Pyboy.levels());
        match self {
            Self::Even => &EVEN,
            Self::Pyboy => &PYBOY,
        }
    }
}

/// Calls `reduce` for two squares at a time: a byte of the upper line and the byte below it.
fn for_each_square(frame: &[u8; FRAME_BYTES], out: &mut [u8], reduce: impl Fn(u8, u8) -> [u8; 2]) {
    for (line, pair) in out.chunks_exact_mut(WIDTH / 2).zip(frame.chunks_exact(2 * LINE_BYTES)) {
        let (upper, lower) = pair.split_at(LINE_BYTES);
        for (squares, (above, below)) in line.chunks_exact_mut(2).zip(upper.iter().zip(lower)) {
            squares.copy_from_slice(&reduce(*above, *below));
        }
    }
}

/// The four grays of each packed byte.
const fn gray_table(levels: [u8; 4]) -> [[u8; 4]; 256] {
    let mut table = [[0; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut pixel = 0;
        while pixel < 4 {
            table[byte][pixel] = levels[byte >> (6 - 2 * pixel) & 3];
            pixel += 1;
        }
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pictured(picture: Picture, frame: &[u8; FRAME_BYTES]) -> Vec<u8> {
        with(Grays::Even, picture, frame)
    }

    fn with(grays: Grays, picture: Picture, frame: &[u8; FRAME_BYTES]) -> Vec<u8> {
        let mut out = vec![7; picture.bytes()];
        picture.fill(grays, Frame::Shades(frame), &mut out);
        out
    }

    /// Every byte different from its neighbours in both directions.
    fn frame() -> [u8; FRAME_BYTES] {
        std::array::from_fn(|at| (at * 37 + at / LINE_BYTES * 11) as u8)
    }

    #[test]
    fn gray_is_light_for_shade_0_and_dark_for_shade_3() {
        let mut frame = [0; FRAME_BYTES];
        frame[0] = 0b00_01_10_11;
        assert_eq!(pictured(Picture::Gray, &frame)[..5], [255, 170, 85, 0, 255]);
    }

    #[test]
    fn pyboys_grays_differ_in_one_shade_and_not_in_packed_pictures() {
        let mut frame = [0; FRAME_BYTES];
        (frame[0], frame[LINE_BYTES]) = (0b00_01_10_11, 0b01_01_00_00);
        let of = |picture| with(Grays::Pyboy, picture, &frame);
        assert_eq!(of(Picture::Gray)[..5], [255, 153, 85, 0, 255]);
        assert_eq!(of(Picture::Stride)[..3], [255, 85, 255]);
        let sum: u32 = 255 + 153 + 153 + 153;
        assert_eq!(u32::from(of(Picture::Mean)[0]), sum / 4);
        assert_eq!(of(Picture::Packed), frame);
        assert_eq!(of(Picture::Rgb)[..12], [255, 255, 255, 153, 153, 153, 85, 85, 85, 0, 0, 0]);
    }

    #[test]
    fn shades_have_the_same_gray_in_all_three_parts_of_a_color() {
        for grays in [Grays::Even, Grays::Pyboy] {
            let gray = with(grays, Picture::Gray, &frame());
            let rgb = with(grays, Picture::Rgb, &frame());
            assert!(rgb.chunks(3).zip(&gray).all(|(color, gray)| color == [*gray; 3]));
        }
    }

    #[test]
    fn the_reductions_are_those_of_the_gray_picture() {
        let frame = frame();
        let gray = pictured(Picture::Gray, &frame);
        let (mean, stride) = (pictured(Picture::Mean, &frame), pictured(Picture::Stride, &frame));
        let pixel = |x: usize, y: usize| u32::from(gray[y * WIDTH + x]);
        for y in 0..HEIGHT / 2 {
            for x in 0..WIDTH / 2 {
                let (left, top) = (2 * x, 2 * y);
                let sum = pixel(left, top)
                    + pixel(left + 1, top)
                    + pixel(left, top + 1)
                    + pixel(left + 1, top + 1);
                assert_eq!(u32::from(mean[y * 80 + x]), sum / 4, "mean at {x}, {y}");
                assert_eq!(u32::from(stride[y * 80 + x]), pixel(left, top), "stride at {x}, {y}");
            }
        }
        assert_ne!(mean, stride);
    }

    #[test]
    fn a_packed_picture_is_the_frame_itself() {
        let frame = frame();
        assert_eq!(pictured(Picture::Packed, &frame), frame);
    }
}
