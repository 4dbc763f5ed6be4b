//! Gray pictures of the original's frames, made from packed shades. For a reduced picture a table
//! holds what each packed byte adds to a reduced line, and only lines that changed since the last
//! picture are made anew. The results equal those of `Picture::fill` and `Area`.

use gbxcule_gameboy::FRAME_BYTES;

use super::{Crop, PictureStack};
use crate::picture::{HEIGHT, LINE_BYTES, WIDTH};
use crate::{Grays, Picture};

/// Maximum of reduced pixels to which one packed byte contributes.
const LANES: usize = 4;
/// Four black pixels.
const BLACK: u8 = 0xff;
/// Reduced lines that are made together.
const ROWS: usize = 8;
/// Machine words of a packed line.
const WORDS: usize = LINE_BYTES / 8;

/// The picture that was made last, as far as the next one needs it.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shown {
    /// The packed frame, if it is known.
    frame: Option<Box<[Line; HEIGHT]>>,
}

impl Shown {
    pub(crate) fn is_known(&self) -> bool {
        self.frame.is_some()
    }

    pub(crate) fn forget(&mut self) {
        self.frame = None;
    }

    /// Bytes that are kept for an env.
    pub(crate) const BYTES: usize = FRAME_BYTES;
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
        &mut self,
        frame: &[u8; FRAME_BYTES],
        before: Option<&[u8; FRAME_BYTES]>,
        shown: &mut Shown,
        out: &mut [u8],
    ) {
        let is_known = shown.is_known();
        let shown = shown.frame.get_or_insert_with(|| Box::new([[BLACK; LINE_BYTES]; HEIGHT]));
        let Crop { top, lines, .. } = self.crop;
        let part = usize::from(top)..usize::from(top + lines);
        let (shown, frame) = (&mut shown[part.clone()], &frame.as_chunks().0[part.clone()]);
        let before = before.map_or(frame, |it| &it.as_chunks().0[part]);
        let mut changed = change(shown, frame, before);
        if !is_known {
            changed.fill(true);
        }
        match &mut self.reduction {
            Some(reduction) => reduction.reduce(shown, &changed, out),
            None => self.expand(shown, &changed, out),
        }
    }

    fn expand(&self, lines: &[Line], changed: &[bool; HEIGHT], out: &mut [u8]) {
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

/// A packed line.
type Line = [u8; LINE_BYTES];

/// Puts the lighter pixels of two frames into `shown`. Returns for each line whether it changed.
fn change(shown: &mut [Line], frame: &[Line], before: &[Line]) -> [bool; HEIGHT] {
    let mut changed = [false; HEIGHT];
    let lines = shown.iter_mut().zip(frame.iter().zip(before));
    for (changed, (shown, (frame, before))) in changed.iter_mut().zip(lines) {
        let [old, frame, before] = [&*shown, frame, before].map(words);
        let new: [u64; WORDS] = std::array::from_fn(|word| lighter(frame[word], before[word]));
        // A comparison of arrays would be a call.
        *changed = new.iter().zip(old).fold(0, |all, (new, old)| all | (new ^ old)) != 0;
        for (eight, word) in shown.as_chunks_mut().0.iter_mut().zip(new) {
            *eight = word.to_le_bytes();
        }
    }
    changed
}

fn words(line: &Line) -> [u64; WORDS] {
    std::array::from_fn(|word| u64::from_le_bytes(line.as_chunks().0[word]))
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

/// Reduction of packed lines by areas. Weights and grays are divided by their common divisors, so
/// that all sums fit 16 bits.
#[derive(Debug)]
struct Reduction {
    /// Bytes beside the picture add nothing.
    bytes: [PackedByte; LINE_BYTES],
    /// Contributions of the 256 values of each packed byte to neighbouring pixels.
    parts: Vec<[[u16; LANES]; 256]>,
    /// The lines that each reduced line covers, with their weights.
    rows: Vec<Row>,
    width: usize,
    division: Division,
    /// Contributions of the bytes at even and at odd places, of some neighbouring lines.
    /// Neighbouring bytes share pixels.
    turns: Vec<[Lanes; 2]>,
}

/// A packed byte of a line.
#[derive(Debug, Clone, Copy)]
struct PackedByte {
    /// Index of the byte's table in `parts`.
    table: u8,
    /// The pixel of the reduced line to which the first lane belongs.
    first: u8,
}

/// The pixels of a reduced line, with space for the last byte's lanes and for bytes that add
/// nothing.
type Lanes = [u16; WIDTH + 2 * LANES];

/// The lines that a reduced line covers, with their weights.
type Row = Vec<(usize, u16)>;

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
    /// Returns `None` if a packed byte contributes to more than [`LANES`] pixels, if the next byte
    /// but one contributes to the same pixel, or if sums need more than 16 bits.
    fn new(grays: Grays, crop: Crop, [to_lines, to_columns]: [usize; 2]) -> Option<Self> {
        let (from_lines, from_columns) = (usize::from(crop.lines), usize::from(crop.columns));
        let line_unit = divisor(from_lines, to_lines);
        let column_unit = divisor(from_columns, to_columns);
        let gray_unit = grays.levels().into_iter().fold(0, |unit, it| divisor(unit, it.into()));
        let levels = grays.levels().map(|it| usize::from(it) / gray_unit);
        let all = (from_lines / line_unit * (from_columns / column_unit)) as u64;
        let division = Division::find(all * levels[0] as u64, gray_unit as u64, all)?;
        let row = |row: usize| -> Row {
            let lines = row * from_lines / to_lines..((row + 1) * from_lines).div_ceil(to_lines);
            let weight = |line| overlap([row, from_lines], [line, to_lines]) / line_unit;
            lines.map(|line| (line, weight(line) as u16 * division.scale)).collect()
        };

        let left = usize::from(crop.left);
        let mut parts = vec![[[0; LANES]; 256]];
        let mut bytes = [PackedByte { table: 0, first: (WIDTH + LANES) as u8 }; LINE_BYTES];
        let mut ends = [0; 2];
        for at in left / 4..(left + from_columns).div_ceil(4) {
            let columns = (4 * at).max(left) - left..(4 * at + 4).min(left + from_columns) - left;
            let first = columns.start * to_columns / from_columns;
            let end = (columns.end * to_columns).div_ceil(from_columns);
            if end - first > LANES || first < ends[at % 2] {
                return None;
            }
            ends[at % 2] = end;
            let mut weights = [[0; LANES]; 4];
            for column in columns {
                weights[(column + left) % 4] = std::array::from_fn(|lane| {
                    overlap([first + lane, from_columns], [column, to_columns]) / column_unit
                });
            }
            let table = std::array::from_fn(|packed| {
                std::array::from_fn(|lane| {
                    let of_pixel =
                        |pixel: usize| levels[packed >> (6 - 2 * pixel) & 3] * weights[pixel][lane];
                    (0..4).map(of_pixel).sum::<usize>() as u16
                })
            });
            let known = parts.iter().position(|it| *it == table);
            let table = known.unwrap_or_else(|| {
                parts.push(table);
                parts.len() - 1
            });
            bytes[at] = PackedByte { table: table as u8, first: first as u8 };
        }
        let rows: Vec<Row> = (0..to_lines).map(row).collect();
        let covered = rows.chunks(ROWS).map(|rows| rows.iter().flatten().count()).max();
        let turns = vec![[[0; _]; 2]; covered.unwrap_or(0)];
        Some(Self { bytes, parts, rows, width: to_columns, division, turns })
    }

    /// Makes the picture's lines that depend on lines that changed.
    fn reduce(&mut self, lines: &[Line], changed: &[bool; HEIGHT], out: &mut [u8]) {
        let Self { bytes, parts, rows, width, division, turns } = self;
        let is_changed = |row: &Row| row.iter().any(|&(line, _)| changed[line]);
        for (rows, out) in rows.chunks(ROWS).zip(out.chunks_mut(ROWS * *width)) {
            let first = rows[0][0].0;
            // All of these lines before their sums: a wide load that follows narrow stores waits.
            let mut reduced = first;
            for &(line, _) in rows.iter().filter(|row| is_changed(row)).flatten() {
                if line >= reduced {
                    let [even, odd] = &mut turns[line - first];
                    // In order: the last lanes of a byte hold zeros where the next byte of its turn
                    // begins.
                    let pairs = lines[line].as_chunks::<2>().0.iter();
                    for (packed, places) in pairs.zip(bytes.as_chunks::<2>().0) {
                        places[0].put(parts, packed[0], even);
                        places[1].put(parts, packed[1], odd);
                    }
                    reduced = line + 1;
                }
            }
            let rows = rows.iter().zip(out.chunks_exact_mut(*width));
            for (row, out) in rows.filter(|(row, _)| is_changed(row)) {
                let mut sums = [division.offset; WIDTH];
                let sums = &mut sums[..*width];
                for &(line, weight) in row {
                    let [even, odd] = &turns[line - first];
                    for (sum, (even, odd)) in sums.iter_mut().zip(even.iter().zip(odd)) {
                        *sum += weight * (even + odd);
                    }
                }
                for (out, &mut sum) in out.iter_mut().zip(sums) {
                    let product = u32::from(sum) * u32::from(division.factor);
                    *out = ((product >> 16) as u16 >> (Division::SHIFT - 16)) as u8;
                }
            }
        }
    }
}

impl PackedByte {
    /// Stores what a value of this byte adds to its pixels.
    fn put(self, parts: &[[[u16; LANES]; 256]], value: u8, lanes: &mut Lanes) {
        let first = usize::from(self.first);
        let part = parts[usize::from(self.table)][usize::from(value)];
        lanes[first..first + LANES].copy_from_slice(&part);
    }
}

/// The length that two pieces have in common; a piece is its number and its length.
fn overlap([a, a_length]: [usize; 2], [b, b_length]: [usize; 2]) -> usize {
    let end = ((a + 1) * a_length).min((b + 1) * b_length);
    end.saturating_sub((a * a_length).max(b * b_length))
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
