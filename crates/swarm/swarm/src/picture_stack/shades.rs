//! Gray pictures of the original's frames, made from packed shades by tables: a table holds the
//! contribution of each packed byte to the reduced line. Only lines that changed since the last
//! picture are computed. The results equal those of `Picture::fill` and `Area`.

use gbxcule_gameboy::FRAME_BYTES;

use super::area::Cover;
use super::{Crop, PictureStack};
use crate::picture::{HEIGHT, LINE_BYTES, WIDTH};
use crate::{Grays, Picture};

/// Maximum of reduced pixels to which one packed byte contributes.
const LANES: usize = 4;

/// Makes gray pictures of shades.
#[derive(Debug)]
pub(super) struct ShadePictures {
    grays: Grays,
    crop: Crop,
    reduction: Option<Reduction>,
}

impl ShadePictures {
    /// Returns `None` for a form that these tables can't make.
    pub(super) fn new(stack: &PictureStack) -> Option<Self> {
        let (crop, grays) = (stack.part(), stack.grays);
        let to = stack.size.filter(|size| *size != [crop.lines, crop.columns]);
        let reduction = match to {
            Some(to) => Some(Reduction::new(grays, crop, to.map(usize::from))?),
            None => None,
        };
        (stack.picture == Picture::Gray).then_some(Self { grays, crop, reduction })
    }

    /// Makes the picture of a frame, or of the lighter pixels of two frames. `out` holds the
    /// picture of the packed frame `shown`, and `shown` becomes the new frame; an empty `shown`
    /// means that `out` holds no picture.
    pub(super) fn draw(
        &mut self,
        frame: &[u8; FRAME_BYTES],
        before: Option<&[u8; FRAME_BYTES]>,
        shown: &mut Vec<u8>,
        out: &mut [u8],
    ) {
        let pooled;
        let frame = match before {
            Some(before) if before != frame => {
                pooled = lighter(frame, before);
                &pooled
            }
            _ => frame,
        };
        let mut changed = [true; HEIGHT];
        if shown.is_empty() {
            shown.extend_from_slice(frame);
        } else {
            let lines = frame.as_chunks::<LINE_BYTES>().0.iter();
            let shown = shown.as_chunks_mut::<LINE_BYTES>().0.iter_mut();
            for ((changed, line), shown) in changed.iter_mut().zip(lines).zip(shown) {
                *changed = line != shown;
                if *changed {
                    *shown = *line;
                }
            }
        }
        let (lines, _) = frame.as_chunks();
        let part = usize::from(self.crop.top)..usize::from(self.crop.top + self.crop.lines);
        let (lines, changed) = (&lines[part.clone()], &changed[part]);
        match &mut self.reduction {
            Some(reduction) => {
                let first = usize::from(self.crop.left) / 4;
                reduction.reduce(|at| &lines[at][first..], changed, out);
            }
            None => self.expand(lines, changed, out),
        }
    }

    fn expand(&self, lines: &[[u8; LINE_BYTES]], changed: &[bool], out: &mut [u8]) {
        let grays = self.grays.table();
        let (left, columns) = (usize::from(self.crop.left), usize::from(self.crop.columns));
        let lines = lines.iter().zip(changed).zip(out.chunks_exact_mut(columns));
        for ((line, _), out) in lines.filter(|((_, changed), _)| **changed) {
            let mut pixels = [0; WIDTH];
            for (four, packed) in pixels.as_chunks_mut().0.iter_mut().zip(line) {
                *four = grays[usize::from(*packed)];
            }
            out.copy_from_slice(&pixels[left..left + columns]);
        }
    }
}

/// Reduction of packed lines by areas. Weights and grays are divided by their common divisors, so
/// that all sums fit 16 bits.
#[derive(Debug)]
struct Reduction {
    bytes: Vec<PackedByte>,
    /// Contributions of the 256 values of each packed byte, as 16-bit lanes of a word.
    parts: Vec<[u64; 256]>,
    lines: Cover,
    width: usize,
    division: Division,
    /// Sums of each of the picture's lines.
    rows: Vec<Row>,
    sums: Vec<u16>,
}

/// Sums of the pixels of a reduced line, with space for the last lanes.
type Row = [u16; WIDTH + LANES];

/// A packed byte of a line.
#[derive(Debug, Clone, Copy)]
struct PackedByte {
    /// Index of the byte's table in `parts`.
    table: usize,
    /// The pixel of the reduced line to which the first lane belongs.
    first: usize,
    /// Bits of the lanes that are complete after this byte.
    shift: u32,
}

/// Division by multiplication: the gray of a sum is `(sum * scale + offset) * factor >> SHIFT`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Division {
    scale: u16,
    offset: u16,
    factor: u16,
}

impl Division {
    const SHIFT: u32 = 23;

    /// Finds constants that give the exact gray for all sums: the sum times `unit`, divided by
    /// `all`, rounded to the nearest integer.
    fn find(most: u64, unit: u64, all: u64) -> Option<Self> {
        let largest = 65535 / (most + 1);
        (largest.saturating_sub(15).max(1)..=largest).rev().find_map(|scale| {
            let low = (unit << Self::SHIFT) / (all * scale);
            [low, low + 1].into_iter().filter(|it| (1..1 << 16).contains(it)).find_map(|factor| {
                let (mut least, mut greatest) = (0, 65535 - scale * most);
                for sum in 0..=most {
                    let gray = (2 * sum * unit + all) / (2 * all);
                    let next = ((gray + 1) << Self::SHIFT) - 1;
                    least = (gray << Self::SHIFT)
                        .div_ceil(factor)
                        .saturating_sub(scale * sum)
                        .max(least);
                    greatest = (next / factor).checked_sub(scale * sum)?.min(greatest);
                    if least > greatest {
                        return None;
                    }
                }
                let [scale, offset, factor] = [scale, least, factor].map(|it| it as u16);
                Some(Self { scale, offset, factor })
            })
        })
    }
}

impl Reduction {
    /// Returns `None` if a packed byte contributes to more than [`LANES`] pixels or completes that
    /// many, or if sums need more than 16 bits.
    fn new(grays: Grays, crop: Crop, [to_lines, to_columns]: [usize; 2]) -> Option<Self> {
        let (from_lines, from_columns) = (usize::from(crop.lines), usize::from(crop.columns));
        let mut lines = Cover::new(from_lines, to_lines);
        let unit = lines.weights.iter().fold(0, |unit, &weight| divisor(unit, weight));
        lines.weights.iter_mut().for_each(|weight| *weight /= unit);
        let of_lines = from_lines / usize::from(unit);

        let column_unit = divisor(from_columns as u16, to_columns as u16);
        let of_columns = from_columns / usize::from(column_unit);
        let gray_unit = grays.levels().into_iter().fold(0, |unit, it| divisor(unit, it.into()));
        let levels = grays.levels().map(|it| u64::from(it) / u64::from(gray_unit));
        let all = (of_lines * of_columns) as u64;
        let division = Division::find(all * levels[0], gray_unit.into(), all)?;
        lines.weights.iter_mut().for_each(|weight| *weight *= division.scale);

        let left = usize::from(crop.left);
        let (mut bytes, mut parts) = (Vec::<PackedByte>::new(), Vec::new());
        for at in left / 4..(left + from_columns).div_ceil(4) {
            // The columns of this byte, in pixels times `to_columns`.
            let columns = (4 * at).max(left) - left..(4 * at + 4).min(left + from_columns) - left;
            let first = columns.start * to_columns / from_columns;
            let last = (columns.end * to_columns).div_ceil(from_columns) - 1;
            if last - first >= LANES {
                return None;
            }
            let mut weights = [[0; LANES]; 4];
            for column in columns {
                for (lane, weight) in weights[(column + left) % 4].iter_mut().enumerate() {
                    let area = (first + lane) * from_columns..(first + lane + 1) * from_columns;
                    let covered = column * to_columns..(column + 1) * to_columns;
                    let covered =
                        area.end.min(covered.end).saturating_sub(area.start.max(covered.start));
                    *weight = (covered / usize::from(column_unit)) as u64;
                }
            }
            let table: [u64; 256] = std::array::from_fn(|packed| {
                let of_lane = |lane: usize| {
                    let of_pixel =
                        |pixel: usize| levels[packed >> (6 - 2 * pixel) & 3] * weights[pixel][lane];
                    (0..4).map(of_pixel).sum::<u64>() << (16 * lane)
                };
                (0..LANES).map(of_lane).sum()
            });
            let known = parts.iter().position(|it| *it == table);
            let table = known.unwrap_or_else(|| {
                parts.push(table);
                parts.len() - 1
            });
            if let Some(before) = bytes.last_mut() {
                let ended = first - before.first;
                before.shift = (ended < LANES).then_some(16 * ended as u32)?;
            }
            bytes.push(PackedByte { table, first, shift: 0 });
        }
        Some(Self {
            bytes,
            parts,
            lines,
            width: to_columns,
            division,
            rows: vec![[0; WIDTH + LANES]; from_lines],
            sums: vec![0; to_columns],
        })
    }

    /// Reduces the changed lines and their neighbours. `line` returns a line from the picture's
    /// first byte on.
    fn reduce<'l>(&mut self, line: impl Fn(usize) -> &'l [u8], changed: &[bool], out: &mut [u8]) {
        let Self { bytes, parts, sums, division, .. } = self;
        let mut summed = [false; HEIGHT];
        for ((first, weights), out) in self.lines.each().zip(out.chunks_exact_mut(self.width)) {
            let covered = first..first + weights.len();
            if !changed[covered.clone()].contains(&true) {
                continue;
            }
            sums.fill(division.offset);
            for (at, &weight) in covered.zip(weights) {
                let row = &mut self.rows[at];
                if !std::mem::replace(&mut summed[at], true) {
                    sum_line(bytes, parts, line(at), row);
                }
                sums.iter_mut().zip(&*row).for_each(|(sum, part)| *sum += weight * *part);
            }
            for (out, &sum) in out.iter_mut().zip(&*sums) {
                let product = u32::from(sum) * u32::from(division.factor);
                *out = ((product >> 16) as u16 >> (Division::SHIFT - 16)) as u8;
            }
        }
    }
}

/// Sums a packed line by columns. The next byte overwrites lanes that are not complete yet.
fn sum_line(bytes: &[PackedByte], parts: &[[u64; 256]], line: &[u8], row: &mut Row) {
    let mut lanes = 0_u64;
    for (&PackedByte { table, first, shift }, packed) in bytes.iter().zip(line) {
        lanes += parts[table][usize::from(*packed)];
        row[first..first + LANES]
            .copy_from_slice(&[0, 16, 32, 48].map(|lane: u32| (lanes >> lane) as u16));
        lanes = lanes.wrapping_shr(shift);
    }
}

fn divisor(a: u16, b: u16) -> u16 {
    if b == 0 { a } else { divisor(b, a % b) }
}

/// Returns, pixel by pixel, the lighter one of two frames: the smaller shade.
fn lighter(frame: &[u8; FRAME_BYTES], before: &[u8; FRAME_BYTES]) -> [u8; FRAME_BYTES] {
    const UPPER_BITS: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    let mut pooled = [0; FRAME_BYTES];
    let pairs = frame.as_chunks::<8>().0.iter().zip(before.as_chunks().0);
    for (out, (a, b)) in pooled.as_chunks_mut().0.iter_mut().zip(pairs) {
        let [a, b] = [a, b].map(|it| u64::from_le_bytes(*it));
        let (only_a, only_b) = (a & !b, b & !a);
        // The upper bits of the pixels where `b` is smaller, then both bits of them.
        let smaller = (only_a | only_a << 1 & !only_b) & UPPER_BITS;
        let both = smaller | smaller >> 1;
        *out = (b & both | a & !both).to_le_bytes();
    }
    pooled
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Frame;
    use crate::picture_stack::PictureMaker;

    /// A frame whose lines are alike in places, so that some stay as they were.
    fn frame(seed: usize) -> [u8; FRAME_BYTES] {
        std::array::from_fn(|at| {
            let (line, byte) = (at / LINE_BYTES, at % LINE_BYTES);
            let moved = if line / 9 % 4 == seed % 4 { seed * 73 } else { 0 };
            (line * 37 + byte * 101 + byte * line % 7 + moved) as u8
        })
    }

    #[test]
    fn grays_are_divided_exactly() {
        let cases = [(3, 85, 480), (15, 17, 480), (3, 85, 45), (15, 17, 225), (3, 85, 6)];
        for (white, unit, all) in cases {
            let found = Division::find(white * all, unit, all).expect("numbers that fit");
            for sum in 0..=white * all {
                let scaled = sum * u64::from(found.scale) + u64::from(found.offset);
                assert!(scaled < 1 << 16, "{found:?} {sum}");
                let gray = (2 * sum * unit + all) / (2 * all);
                assert_eq!(
                    (scaled * u64::from(found.factor)) >> Division::SHIFT,
                    gray,
                    "{found:?} {sum}"
                );
            }
        }
        assert_eq!(Division::find(70_000, 17, 5000), None);
    }

    #[test]
    fn pictures_of_shades_are_the_general_ones() {
        let crops = [(0, 0, 144, 160), (9, 3, 97, 121), (20, 8, 100, 100), (1, 2, 3, 5)];
        let sizes =
            [None, Some([84, 84]), Some([36, 40]), Some([72, 80]), Some([61, 67]), Some([2, 3])];
        let mut fast = 0;
        for (top, left, lines, columns) in crops {
            for size in sizes {
                for (grays, max_pool) in
                    [(Grays::Even, true), (Grays::Pyboy, false), (Grays::Pyboy, true)]
                {
                    let crop = Some(Crop { top, left, lines, columns });
                    let form = PictureStack {
                        picture: Picture::Gray,
                        grays,
                        crop,
                        size,
                        depth: 1,
                        max_pool,
                    };
                    if size.is_some_and(|[y, x]| y > lines || x > columns) {
                        continue;
                    }
                    let (mut maker, mut general) =
                        (PictureMaker::new(form), PictureMaker::new(form));
                    general.shades = None;
                    fast += usize::from(maker.shades.is_some());
                    let (mut shown, mut none) = (Vec::new(), Vec::new());
                    let [mut found, mut expected] = [0, 1].map(|_| vec![7; form.bytes()]);
                    maker.fill(Frame::Shades(&frame(0)), &mut found, &mut shown);
                    general.fill(Frame::Shades(&frame(0)), &mut expected, &mut none);
                    for seed in 0..8 {
                        assert!(found == expected, "{form:?}, {seed}");
                        let (last, before) = (frame(seed), frame(seed * 5 + 1));
                        let before = max_pool.then_some(Frame::Shades(&before));
                        maker.draw(Frame::Shades(&last), before, &mut found, &mut shown);
                        general.draw(Frame::Shades(&last), before, &mut expected, &mut none);
                    }
                }
            }
        }
        assert!(fast > 20, "only {fast} forms are made of shades");
    }
}
