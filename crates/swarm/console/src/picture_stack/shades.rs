//! Gray pictures of the original's frames, made from packed shades. A reduced picture is kept as
//! sums; a table holds what each packed byte adds to them, and only bytes that changed since the
//! last picture are looked up. The results equal those of `Picture::fill` and `Area`.

use gbxcule_gameboy::FRAME_BYTES;

use super::{Crop, PictureStack};
use crate::picture::{HEIGHT, LINE_BYTES, WIDTH};
use crate::{Grays, Picture};

/// Maximum of reduced pixels to which one packed byte contributes.
const LANES: usize = 4;
/// Four black pixels.
const BLACK: u8 = 0xff;
/// Bits of the bytes at even places of a line.
const EVEN_BYTES: u64 = 0x5555_5555_5555_5555;

/// The picture that was made last, as far as the next one needs it.
#[derive(Debug, Clone, Default)]
pub struct Shown {
    /// The packed frame, if it is known.
    frame: Option<Box<[Line; HEIGHT]>>,
    /// The sums of a reduced picture.
    sums: Vec<u16>,
}

impl Shown {
    /// Returns true if the next picture can be made from this one.
    pub fn is_known(&self) -> bool {
        self.frame.is_some()
    }

    /// Forgets the frame, so that the next picture is made whole.
    pub fn forget(&mut self) {
        self.frame = None;
    }

    /// Bytes that are kept for an env.
    pub fn bytes(form: &PictureStack) -> usize {
        let [lines, columns, _] = form.shape();
        FRAME_BYTES + 2 * (lines + 1) * (columns + LANES)
    }
}

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
    /// picture `shown`, if that is known, and `shown` becomes the new picture.
    pub(super) fn draw(
        &self,
        frame: &[u8; FRAME_BYTES],
        before: Option<&[u8; FRAME_BYTES]>,
        shown: &mut Shown,
        out: &mut [u8],
    ) {
        let is_known = shown.is_known();
        if !is_known {
            shown.sums = self.reduction.as_ref().map_or(Vec::new(), Reduction::black);
        }
        let now = shown.frame.get_or_insert_with(|| Box::new([[BLACK; LINE_BYTES]; HEIGHT]));
        let old = **now;
        let Crop { top, lines, .. } = self.crop;
        let part = usize::from(top)..usize::from(top + lines);
        let (now, frame) = (&mut now[part.clone()], &frame.as_chunks().0[part.clone()]);
        let before = before.map_or(frame, |it| &it.as_chunks().0[part.clone()]);
        let mut changed = change(now, frame, before);
        match &self.reduction {
            Some(reduction) => {
                reduction.reduce(&changed, [&old[part], now], is_known, &mut shown.sums, out);
            }
            None => {
                if !is_known {
                    changed.fill(u64::MAX);
                }
                self.expand(now, &changed, out);
            }
        }
    }

    fn expand(&self, lines: &[Line], changed: &[u64; HEIGHT], out: &mut [u8]) {
        let grays = self.grays.table();
        let (left, columns) = (usize::from(self.crop.left), usize::from(self.crop.columns));
        let lines = lines.iter().zip(changed).zip(out.chunks_exact_mut(columns));
        for ((line, _), out) in lines.filter(|((_, changed), _)| **changed != 0) {
            let mut pixels = [0; WIDTH];
            for (four, packed) in pixels.as_chunks_mut().0.iter_mut().zip(line) {
                *four = grays[usize::from(*packed)];
            }
            out.copy_from_slice(&pixels[left..left + columns]);
        }
    }
}

/// A packed line.
type Line = [u8; LINE_BYTES];

/// Puts the lighter pixels of two frames into `shown`. Returns for each line a bit for each byte
/// that changed.
fn change(shown: &mut [Line], frame: &[Line], before: &[Line]) -> [u64; HEIGHT] {
    let mut changed = [0; HEIGHT];
    let lines = shown.iter_mut().zip(frame.iter().zip(before));
    for (changed, (shown, (frame, before))) in changed.iter_mut().zip(lines) {
        let words = frame.as_chunks::<8>().0.iter().zip(before.as_chunks::<8>().0);
        let words = shown.as_chunks_mut::<8>().0.iter_mut().zip(words);
        for (word, (shown, (frame, before))) in words.enumerate() {
            let [old, frame, before] = [*shown, *frame, *before].map(u64::from_le_bytes);
            if old == frame && old == before {
                continue;
            }
            let new = lighter(frame, before);
            *changed |= bytes_set(old ^ new) << (8 * word);
            *shown = new.to_le_bytes();
        }
    }
    changed
}

/// Returns, pixel by pixel, the lighter ones of two packed words: the smaller shades.
fn lighter(a: u64, b: u64) -> u64 {
    const UPPER_BITS: u64 = 0xaaaa_aaaa_aaaa_aaaa;
    let (only_a, only_b) = (a & !b, b & !a);
    // The upper bits of the pixels where `b` is smaller, then both bits of them.
    let smaller = (only_a | only_a << 1 & !only_b) & UPPER_BITS;
    let both = smaller | smaller >> 1;
    b & both | a & !both
}

/// A bit for each byte of a word that is not 0.
fn bytes_set(word: u64) -> u64 {
    const LOW_SEVEN: u64 = 0x7f7f_7f7f_7f7f_7f7f;
    let top_bits = (((word & LOW_SEVEN) + LOW_SEVEN) | word) & !LOW_SEVEN;
    // The product's top byte gathers the top bits.
    (top_bits >> 7).wrapping_mul(0x0102_0408_1020_4080) >> 56
}

/// Reduction of packed lines by areas. Weights and grays are divided by their common divisors, so
/// that all sums fit 16 bits. Black adds nothing to a sum.
#[derive(Debug)]
struct Reduction {
    bytes: [PackedByte; LINE_BYTES],
    /// Bits of the bytes that the picture shows.
    seen: u64,
    /// Contributions of the 256 values of each packed byte, as 16-bit lanes of a word.
    parts: Vec<[u64; 256]>,
    lines: Vec<Share>,
    rows: usize,
    width: usize,
    division: Division,
}

/// A packed byte of a line.
#[derive(Debug, Clone, Copy, Default)]
struct PackedByte {
    /// Index of the byte's table in `parts`.
    table: usize,
    /// The pixel of the reduced line to which the first lane belongs.
    first: usize,
}

/// The reduced line to which a line belongs, and its weights there and in the next reduced line.
#[derive(Debug)]
struct Share {
    row: usize,
    weights: [u16; 2],
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
    /// Returns `None` if a packed byte contributes to more than [`LANES`] pixels, or if sums need
    /// more than 16 bits.
    fn new(grays: Grays, crop: Crop, [to_lines, to_columns]: [usize; 2]) -> Option<Self> {
        let (from_lines, from_columns) = (usize::from(crop.lines), usize::from(crop.columns));
        let line_unit = divisor(from_lines, to_lines);
        let column_unit = divisor(from_columns, to_columns);
        let gray_unit = grays.levels().into_iter().fold(0, |unit, it| divisor(unit, it.into()));
        let levels = grays.levels().map(|it| (usize::from(it) / gray_unit) as u64);
        let all = (from_lines / line_unit * (from_columns / column_unit)) as u64;
        let division = Division::find(all * levels[0], gray_unit as u64, all)?;
        let share = |line: usize| {
            let row = line * to_lines / from_lines;
            let in_row = ((row + 1) * from_lines).min((line + 1) * to_lines) - line * to_lines;
            let weights = [in_row, to_lines - in_row];
            Share { row, weights: weights.map(|it| (it / line_unit) as u16 * division.scale) }
        };

        let left = usize::from(crop.left);
        let (mut bytes, mut seen) = ([PackedByte::default(); LINE_BYTES], 0);
        let mut parts = Vec::new();
        let end = (left + from_columns).div_ceil(4);
        for (at, byte) in bytes.iter_mut().enumerate().take(end).skip(left / 4) {
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
                    *weight = (covered / column_unit) as u64;
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
            let position = parts.iter().position(|it| *it == table);
            let table = position.unwrap_or_else(|| {
                parts.push(table);
                parts.len() - 1
            });
            *byte = PackedByte { table, first };
            seen |= 1 << at;
        }
        let lines = (0..from_lines).map(share).collect();
        Some(Self { bytes, seen, parts, lines, rows: to_lines, width: to_columns, division })
    }

    /// Length of a line of sums, with space for the last lanes.
    fn stride(&self) -> usize {
        self.width + LANES
    }

    /// The sums of a black picture, with space for the line after the last one.
    fn black(&self) -> Vec<u16> {
        vec![self.division.offset; (self.rows + 1) * self.stride()]
    }

    /// Changes the sums by the bytes that changed, and makes the picture's lines from them: all if
    /// `out` is unknown.
    fn reduce(
        &self,
        changed: &[u64; HEIGHT],
        [old, new]: [&[Line]; 2],
        is_known: bool,
        sums: &mut [u16],
        out: &mut [u8],
    ) {
        let mut is_changed = [!is_known; HEIGHT + 1];
        // Neighbouring bytes share sums, so the odd bytes wait until the sums of the even ones are
        // stored.
        for turn in [self.seen & EVEN_BYTES, self.seen & !EVEN_BYTES] {
            let lines = self.lines.iter().zip(changed).zip(old.iter().zip(new));
            for ((&Share { row, weights }, changed), (old, new)) in lines {
                let mut changed = changed & turn;
                if changed == 0 {
                    continue;
                }
                is_changed[row] = true;
                is_changed[row + 1] |= weights[1] != 0;
                let sums = &mut sums[row * self.stride()..][..2 * self.stride()];
                let (upper, lower) = sums.split_at_mut(self.stride());
                while changed != 0 {
                    let at = changed.trailing_zeros() as usize;
                    changed &= changed - 1;
                    let PackedByte { table, first } = self.bytes[at];
                    let [old, new] = [old, new].map(|it| self.parts[table][usize::from(it[at])]);
                    let change = new.wrapping_sub(old);
                    let window = first..first + LANES;
                    add(&mut upper[window.clone()], change.wrapping_mul(weights[0].into()));
                    if weights[1] != 0 {
                        add(&mut lower[window], change.wrapping_mul(weights[1].into()));
                    }
                }
            }
        }
        let rows = sums.chunks_exact(self.stride()).zip(out.chunks_exact_mut(self.width));
        for ((sums, out), _) in rows.zip(is_changed).filter(|(_, is_changed)| *is_changed) {
            for (out, &sum) in out.iter_mut().zip(sums) {
                let product = u32::from(sum) * u32::from(self.division.factor);
                *out = ((product >> 16) as u16 >> (Division::SHIFT - 16)) as u8;
            }
        }
    }
}

/// Adds a change to neighbouring sums, as one number: its lanes may borrow from each other.
fn add(sums: &mut [u16], change: u64) {
    let word = sums.iter().rev().fold(0, |word, sum| word << 16 | u64::from(*sum));
    let word = word.wrapping_add(change);
    for (lane, sum) in sums.iter_mut().enumerate() {
        *sum = (word >> (16 * lane)) as u16;
    }
}

fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
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
            let division = Division::find(white * all, unit, all).expect("numbers that fit");
            for sum in 0..=white * all {
                let scaled = sum * u64::from(division.scale) + u64::from(division.offset);
                assert!(scaled < 1 << 16, "{division:?} {sum}");
                let gray = (2 * sum * unit + all) / (2 * all);
                assert_eq!(
                    (scaled * u64::from(division.factor)) >> Division::SHIFT,
                    gray,
                    "{division:?} {sum}"
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
                    let (mut shown, mut none) = (Shown::default(), Shown::default());
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
