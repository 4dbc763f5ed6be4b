//! Frames as learners take them: packed, gray, or reduced to a quarter.
//!
//! The two reductions are both in use and not equal: one averages each square of four pixels, one
//! keeps its upper left pixel.

use gbxcule_gameboy::FRAME_BYTES;

/// Pixels of a line.
pub(crate) const WIDTH: usize = 160;
/// Lines of a frame.
pub(crate) const HEIGHT: usize = 144;
const LINE_BYTES: usize = WIDTH / 4;

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
}

impl Picture {
    /// Lines and bytes of a line.
    #[must_use]
    pub fn shape(self) -> (usize, usize) {
        match self {
            Self::Packed => (HEIGHT, LINE_BYTES),
            Self::Gray => (HEIGHT, WIDTH),
            Self::Mean | Self::Stride => (HEIGHT / 2, WIDTH / 2),
        }
    }

    /// Bytes of the whole.
    #[must_use]
    pub fn bytes(self) -> usize {
        let (lines, columns) = self.shape();
        lines * columns
    }

    /// Put a packed frame into `out`, which has [`Picture::bytes`].
    pub(crate) fn fill(self, grays: Grays, frame: &[u8; FRAME_BYTES], out: &mut [u8]) {
        let grays = grays.table();
        match self {
            Self::Packed => out.copy_from_slice(frame),
            Self::Gray => {
                for (pixels, packed) in out.chunks_exact_mut(4).zip(frame) {
                    pixels.copy_from_slice(&grays[usize::from(*packed)]);
                }
            }
            Self::Mean => for_each_square(frame, out, |upper, lower| {
                let [a, b] = [upper, lower].map(|byte| grays[usize::from(byte)].map(u16::from));
                let mean = |left: usize| (a[left] + a[left + 1] + b[left] + b[left + 1]) / 4;
                // The mean of bytes is a byte.
                [mean(0) as u8, mean(2) as u8]
            }),
            Self::Stride => for_each_square(frame, out, |upper, _| {
                let gray = grays[usize::from(upper)];
                [gray[0], gray[2]]
            }),
        }
    }
}

/// How light the four shades are, from the lightest to the darkest. Packed frames hold shades and
/// don't depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Grays {
    /// 255, 170, 85, 0: as far from each other as can be.
    #[default]
    Even,
    /// 255, 153, 85, 0: PyBoy's, for what was trained on it.
    Pyboy,
}

impl Grays {
    /// From the lightest shade to the darkest.
    #[must_use]
    pub const fn shades(self) -> [u8; 4] {
        match self {
            Self::Even => [255, 170, 85, 0],
            Self::Pyboy => [255, 153, 85, 0],
        }
    }

    fn table(self) -> &'static [[u8; 4]; 256] {
        static EVEN: [[u8; 4]; 256] = grays(Grays::Even.shades());
        static PYBOY: [[u8; 4]; 256] = grays(Grays::Pyboy.shades());
        match self {
            Self::Even => &EVEN,
            Self::Pyboy => &PYBOY,
        }
    }
}

/// Two squares at a time: a byte of the upper line and the byte below it.
fn for_each_square(frame: &[u8; FRAME_BYTES], out: &mut [u8], reduce: impl Fn(u8, u8) -> [u8; 2]) {
    for (line, pair) in out.chunks_exact_mut(WIDTH / 2).zip(frame.chunks_exact(2 * LINE_BYTES)) {
        let (upper, lower) = pair.split_at(LINE_BYTES);
        for (squares, (above, below)) in line.chunks_exact_mut(2).zip(upper.iter().zip(lower)) {
            squares.copy_from_slice(&reduce(*above, *below));
        }
    }
}

/// The four grays of each packed byte.
const fn grays(shades: [u8; 4]) -> [[u8; 4]; 256] {
    let mut table = [[0; 4]; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut pixel = 0;
        while pixel < 4 {
            table[byte][pixel] = shades[byte >> (6 - 2 * pixel) & 3];
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
        picture.fill(grays, frame, &mut out);
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
