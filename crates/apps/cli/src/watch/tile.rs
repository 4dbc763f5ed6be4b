//! Reduction of machines' pictures: averages a packed picture over squares of 2, 4 or 8 pixels, and
//! packs the result; a Color's red, green and blue are averaged separately.
//!
//! The reduction runs for every visible machine of every view, on the swarm's thread, so it sums
//! pixels by a table.

use gbxcule_swarm::{Frame, Model};
use serde::Deserialize;

const WIDTH: usize = 160;
const HEIGHT: usize = 144;
const ROW_BYTES: usize = WIDTH / 4;

/// Sum of the four pixels in each byte.
const BYTE_SUM: [u8; 256] = {
    let mut sums = [0; 256];
    let mut byte = 0_usize;
    while byte < 256 {
        sums[byte] = (byte >> 6 & 3) as u8
            + (byte >> 4 & 3) as u8
            + (byte >> 2 & 3) as u8
            + (byte & 3) as u8;
        byte += 1;
    }
    sums
};

/// Factor by which a picture is made smaller: 1, 2, 4 or 8.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(try_from = "usize")]
pub(crate) struct Shrink(usize);

impl TryFrom<usize> for Shrink {
    type Error = String;

    fn try_from(divisor: usize) -> Result<Self, String> {
        match divisor {
            1 | 2 | 4 | 8 => Ok(Self(divisor)),
            _ => Err(format!("shrink is {divisor}, but must be 1, 2, 4 or 8")),
        }
    }
}

impl Shrink {
    pub(crate) const WHOLE: Self = Self(1);

    pub(crate) fn divisor(self) -> usize {
        self.0
    }

    /// Returns the bytes of one picture of a machine.
    pub(crate) fn tile_bytes(self, model: Model) -> usize {
        let bits = match model {
            Model::Original => 2,
            Model::Color => 16,
        };
        WIDTH * HEIGHT * bits / 8 / (self.0 * self.0)
    }

    /// Appends a smaller picture.
    pub(crate) fn append(self, picture: Frame<'_>, out: &mut Vec<u8>) {
        match picture {
            Frame::Shades(packed) => self.append_shades(packed, out),
            Frame::Colors(bytes) => self.append_colors(bytes, out),
        }
    }

    fn append_colors(self, picture: &[u8], out: &mut Vec<u8>) {
        if self.0 == 1 {
            out.extend_from_slice(picture);
            return;
        }
        let area = (self.0 * self.0) as u16;
        let mut sums = [[0_u16; 3]; WIDTH / 2];
        let sums = &mut sums[..WIDTH / self.0];
        let (pixels, _) = picture.as_chunks();
        for rows in pixels.chunks_exact(WIDTH * self.0) {
            sums.fill([0; 3]);
            for row in rows.chunks_exact(WIDTH) {
                for (sum, pixels) in sums.iter_mut().zip(row.chunks_exact(self.0)) {
                    for pixel in pixels {
                        let color = u16::from_le_bytes(*pixel);
                        sum[0] += color & 31;
                        sum[1] += color >> 5 & 31;
                        sum[2] += color >> 10 & 31;
                    }
                }
            }
            for sum in &*sums {
                let [red, green, blue] = sum.map(|sum| (sum + area / 2) / area);
                out.extend((red | green << 5 | blue << 10).to_le_bytes());
            }
        }
    }

    fn append_shades(self, picture: &[u8], out: &mut Vec<u8>) {
        if self.0 == 1 {
            out.extend_from_slice(picture);
            return;
        }
        let half_of_square = self.0 * self.0 / 2;
        let mut sums = [0_u16; WIDTH / 2];
        let sums = &mut sums[..WIDTH / self.0];
        for rows in picture.chunks_exact(ROW_BYTES * self.0).take(HEIGHT / self.0) {
            sums.fill(0);
            for row in rows.chunks_exact(ROW_BYTES) {
                self.add_row(row, sums);
            }
            for four in sums.chunks_exact(4) {
                let shade = |sum: u16| (usize::from(sum) + half_of_square) / (2 * half_of_square);
                let packed = four.iter().fold(0, |packed, sum| packed << 2 | shade(*sum));
                // The byte has four shades of 2 bits.
                out.push(packed as u8);
            }
        }
    }

    fn add_row(self, row: &[u8], sums: &mut [u16]) {
        match self.0 {
            2 => {
                for (two, byte) in sums.chunks_exact_mut(2).zip(row) {
                    two[0] += u16::from(BYTE_SUM[usize::from(byte >> 4)]);
                    two[1] += u16::from(BYTE_SUM[usize::from(byte & 15)]);
                }
            }
            _ => {
                for (sum, bytes) in sums.iter_mut().zip(row.chunks_exact(self.0 / 4)) {
                    *sum += bytes
                        .iter()
                        .map(|byte| u16::from(BYTE_SUM[usize::from(*byte)]))
                        .sum::<u16>();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_swarm::FRAME_BYTES;

    const COLOR_BYTES: usize = WIDTH * HEIGHT * 2;

    fn pixel(packed: &[u8], width: usize, x: usize, y: usize) -> usize {
        usize::from(packed[(y * width + x) / 4] >> (6 - 2 * (x % 4)) & 3)
    }

    #[test]
    fn every_small_pixel_is_the_rounded_mean_of_its_square() {
        let picture: [u8; FRAME_BYTES] = std::array::from_fn(|byte| ((byte * 167) >> 3) as u8);
        for divisor in [1, 2, 4, 8] {
            let shrink = Shrink::try_from(divisor).expect("one of them");
            let mut small = Vec::new();
            shrink.append(Frame::Shades(&picture), &mut small);
            assert_eq!(small.len(), shrink.tile_bytes(Model::Original));
            let (width, height) = (WIDTH / divisor, HEIGHT / divisor);
            for (x, y) in (0..height).flat_map(|y| (0..width).map(move |x| (x, y))) {
                let square = (0..divisor * divisor)
                    .map(|at| (x * divisor + at % divisor, y * divisor + at / divisor));
                let sum: usize = square.map(|(x, y)| pixel(&picture, WIDTH, x, y)).sum();
                let area = divisor * divisor;
                assert_eq!(
                    pixel(&small, width, x, y),
                    (sum + area / 2) / area,
                    "{x} {y} / {divisor}"
                );
            }
        }
    }

    #[test]
    fn red_green_and_blue_of_a_small_pixel_are_each_the_rounded_mean_of_its_square() {
        let color = |x: usize, y: usize| (x * 1237 + y * 7919) as u16 & 0x7FFF;
        let colors = (0..HEIGHT).flat_map(|y| (0..WIDTH).map(move |x| color(x, y)));
        let bytes: Vec<u8> = colors.flat_map(u16::to_le_bytes).collect();
        let picture: &[u8; COLOR_BYTES] = bytes.as_slice().try_into().expect("a frame");
        for divisor in [1, 2, 4, 8] {
            let shrink = Shrink::try_from(divisor).expect("one of them");
            let mut small = Vec::new();
            shrink.append(Frame::Colors(picture), &mut small);
            assert_eq!(small.len(), shrink.tile_bytes(Model::Color));
            let (pixels, _) = small.as_chunks();
            for (at, pixel) in pixels.iter().enumerate() {
                let (x, y) = (at % (WIDTH / divisor), at / (WIDTH / divisor));
                let mean = |shift: u16| {
                    let square = (0..divisor * divisor)
                        .map(|at| color(x * divisor + at % divisor, y * divisor + at / divisor));
                    let sum: usize = square.map(|color| usize::from(color >> shift & 31)).sum();
                    let area = divisor * divisor;
                    ((sum + area / 2) / area) as u16
                };
                let expected = mean(0) | mean(5) << 5 | mean(10) << 10;
                assert_eq!(u16::from_le_bytes(*pixel), expected, "{x} {y} / {divisor}");
            }
        }
    }
}
