//! Reduction of a picture by areas: a pixel of the result is the mean of the area that it covers,
//! in integers, rounded to the nearest integer. OpenCV's `INTER_AREA` sums in floating point, and
//! differs by 1 at most.

/// The source pixels that each pixel of a reduced line or column covers, with weights.
#[derive(Debug)]
struct Cover {
    first: Vec<usize>,
    /// `taps` weights for each pixel of the result, one for each covered pixel. They sum to the
    /// length before the reduction.
    weights: Vec<u16>,
    taps: usize,
}

impl Cover {
    fn new(from: usize, to: usize) -> Self {
        let covered = |it: usize| it * from / to..((it + 1) * from).div_ceil(to);
        let taps = (0..to).map(|it| covered(it).len()).max().unwrap_or(1);
        let (mut first, mut weights) = (Vec::new(), Vec::new());
        for it in 0..to {
            // The last pixels begin earlier and have weights of 0 there, so that each pixel has
            // `taps` weights.
            let start = covered(it).start.min(from - taps);
            first.push(start);
            weights.extend((start..start + taps).map(|pixel| {
                let (low, high) =
                    ((it * from).max(pixel * to), ((it + 1) * from).min((pixel + 1) * to));
                high.saturating_sub(low) as u16
            }));
        }
        Self { first, weights, taps }
    }

    fn each(&self) -> impl Iterator<Item = (usize, &[u16])> {
        self.first.iter().copied().zip(self.weights.chunks_exact(self.taps))
    }
}

/// A reduction from one size to another.
#[derive(Debug)]
pub(super) struct Area {
    lines: Cover,
    columns: Cover,
    channels: usize,
    /// The covered area, and 2^40 divided by this area.
    all: u32,
    reciprocal: u64,
    source: Vec<u8>,
    line: Vec<u16>,
}

impl Area {
    pub(super) fn new(from: [usize; 2], to: [usize; 2], channels: usize) -> Self {
        let [lines, columns] = [0, 1].map(|axis| Cover::new(from[axis], to[axis]));
        let all = (from[0] * from[1]) as u32;
        let width = from[1] * channels;
        Self {
            lines,
            columns,
            channels,
            all,
            reciprocal: (1 << 40) / u64::from(all) + 1,
            source: vec![0; from[0] * width],
            line: vec![0; width],
        }
    }

    /// Reduces a picture, line by line.
    pub(super) fn reduce<'l>(&mut self, lines: impl Iterator<Item = &'l [u8]>, out: &mut [u8]) {
        let Self { line, channels, all, reciprocal, .. } = self;
        let width = line.len();
        for (own, given) in self.source.chunks_exact_mut(width).zip(lines) {
            own.copy_from_slice(given);
        }
        let out_width = self.columns.first.len() * *channels;
        for ((first, weights), out) in self.lines.each().zip(out.chunks_exact_mut(out_width)) {
            // At most 255 times 144.
            line.fill(0);
            for (given, &weight) in self.source.chunks_exact(width).skip(first).zip(weights) {
                for (sum, &byte) in line.iter_mut().zip(given) {
                    *sum += weight * u16::from(byte);
                }
            }
            let divided = |sum: u32| {
                // Exact: sums are below 2^23 and areas below 2^15.
                ((u64::from(sum + *all / 2) * *reciprocal) >> 40) as u8
            };
            let pixels = self.columns.each().zip(out.chunks_exact_mut(*channels));
            match (*channels, self.columns.taps) {
                (1, 3) => pixels.for_each(|((first, weights), out)| {
                    let [a, b, c] =
                        [0, 1, 2].map(|tap| u32::from(line[first + tap]) * u32::from(weights[tap]));
                    out[0] = divided(a + b + c);
                }),
                _ => pixels.for_each(|((first, weights), out)| {
                    for (channel, out) in out.iter_mut().enumerate() {
                        let covered = line[first * *channels + channel..].iter().step_by(*channels);
                        let sum = covered
                            .zip(weights)
                            .map(|(&it, &by)| u32::from(it) * u32::from(by))
                            .sum();
                        *out = divided(sum);
                    }
                }),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reduced_pixel_is_the_mean_of_its_area() {
        for (from, to, channels) in [
            ([144, 160], [84, 84], 1),
            ([144, 160], [1, 1], 3),
            ([7, 5], [7, 4], 2),
            ([72, 80], [36, 79], 1),
        ] {
            let byte = |y: usize, x: usize| (y * 37 + x * 101 + y * x % 7) as u8;
            let width = from[1] * channels;
            let lines: Vec<Vec<u8>> =
                (0..from[0]).map(|y| (0..width).map(|x| byte(y, x)).collect()).collect();
            let mut out = vec![0; to[0] * to[1] * channels];
            Area::new(from, to, channels).reduce(lines.iter().map(Vec::as_slice), &mut out);
            // Each source pixel counts once for each of its pieces in the area.
            let share = |at: usize, axis: usize, pixel: usize| {
                let pieces = (0..to[axis]).map(|piece| (pixel * to[axis] + piece) / from[axis]);
                pieces.filter(|&area| area == at).count() as u64
            };
            let shares = [0, 1].map(|axis| {
                let of = |at: usize| (0..from[axis]).map(move |pixel| share(at, axis, pixel));
                (0..to[axis]).map(|at| of(at).collect()).collect::<Vec<Vec<u64>>>()
            });
            for (place, mean) in out.into_iter().enumerate() {
                let (y, x, channel) =
                    (place / channels / to[1], place / channels % to[1], place % channels);
                let mut sum = 0;
                for (line, by_line) in lines.iter().zip(&shares[0][y]) {
                    for (sx, by_column) in shares[1][x].iter().enumerate() {
                        sum += by_line * by_column * u64::from(line[sx * channels + channel]);
                    }
                }
                let all = (from[0] * from[1]) as u64;
                assert_eq!(u64::from(mean), (2 * sum + all) / (2 * all), "{from:?} {to:?} {place}");
            }
        }
    }
}
