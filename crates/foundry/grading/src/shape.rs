//! Other shapes and ranges for a row's inputs. A row stores one shape, but an answer must work for
//! every shape for which the row's program works.
//!
//! Equal extents may be the same quantity, so a reshaping maps equal extents to equal new values
//! and different extents to different ones. The interpreter decides whether the row's program runs
//! on the result.

use gbxcule_grammar::input::{ArgumentInput, Arrangement};
use gbxcule_grammar::random::Random;
use std::collections::BTreeMap;

/// Extents and inputs of a launch.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Shaped {
    /// Extents of the launch.
    pub(crate) dims: Vec<u32>,
    /// Inputs.
    pub(crate) inputs: Vec<ArgumentInput>,
}

/// Greatest number of points of a launch, and of elements of an array.
pub(crate) const MAX_ELEMENTS: u64 = 6000;
/// Least number of points of a launch of which all arrays are long.
const LONG: u32 = 385;
/// Number of points of a large launch, which 16 bits can't count.
pub(crate) const MANY_POINTS: u32 = 100_003;

/// Kinds of changes of extents.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reshaping {
    /// Each extent becomes another number, smaller or larger.
    Free,
    /// Each extent becomes another, larger number.
    Growing,
    /// All extents grow by one factor.
    Scaled,
    /// All extents but 1 are divided by their common divisor.
    Shrunk,
    /// The first extent of the launch becomes one more than a multiple of a block; other extents
    /// grow.
    Long,
    /// The length of an array's rows, or an extent that is not one of the launch, becomes one more
    /// than a multiple of a warp; other extents grow.
    Wide,
    /// One of [`Shaped::broad_extents`], the first number, becomes the second, which is larger than
    /// a block or tile of a kernel. If an array has rows, other extents become small.
    Broad(u32, u32),
    /// Each extent becomes another multiple of a warp, and that of a launch with one dimension the
    /// number, a multiple of a block.
    Even(u32),
    /// The length of an array's rows, or an extent that is not one of the launch, becomes at most
    /// three.
    Narrow,
    /// All extents but 1 become as many times as large.
    Times(u32),
    /// The first extent of the launch becomes 1.
    One,
    /// The first extent of the launch becomes 0.
    Zero,
    /// The first extent of the launch grows until there are so many points.
    Large(u32),
    /// No extent changes.
    Same,
}

impl Reshaping {
    /// Lengths of [`Self::Broad`], each one more than the size of a block or tile. The first length
    /// on which the row's program is cheap enough is taken.
    pub(crate) const BROAD: [u32; 4] = [1025, 257, 129, 65];
    /// Lengths of [`Self::Broad`] for [`Shaped::inner_extents`]: weights and bins for which 8 bits
    /// are too few and the shared memory of a block suffices.
    pub(crate) const INNER: [u32; 3] = [353, 129, 65];
    /// Lengths of [`Self::Even`], tried as those of [`Self::Broad`].
    pub(crate) const EVEN: [u32; 3] = [1024, 256, 64];

    /// Returns the reshapings that are tried for a draw, the best first.
    pub(crate) fn of_draw(number: usize) -> &'static [Self] {
        match number {
            0 => &[Self::Free, Self::Growing, Self::Shrunk, Self::Scaled, Self::Same],
            1 => &[Self::Long, Self::Growing, Self::Scaled, Self::Same],
            2 => &[Self::One, Self::Free, Self::Growing, Self::Scaled, Self::Same],
            _ => &[Self::Zero],
        }
    }
}

impl Shaped {
    /// Returns the inputs with other extents, or `None` if they are too large.
    pub(crate) fn reshaped(&self, way: Reshaping, random: &mut Random) -> Option<Self> {
        let map = self.map(way, random);
        let to = |extent: &u32| map.get(extent).copied().unwrap_or(*extent);
        let mut other = self.clone();
        other.dims.iter_mut().for_each(|extent| *extent = to(extent));
        for (given, before) in other.inputs.iter_mut().zip(&self.inputs) {
            given.shape.iter_mut().for_each(|extent| *extent = to(extent));
            // A bound that equals an extent, or an extent's last index, changes with the extent.
            let bound = |number: i64, by: i64| {
                let extent = u32::try_from(number + by).ok()?;
                map.get(&extent).map(|new| i64::from(*new) - by)
            };
            let most = bound(before.most, 0).or_else(|| bound(before.most, 1));
            if let Some(most) = most.filter(|_| before.most >= 2) {
                // If both ends are the same number, as for a count, both change.
                given.least = if before.least == before.most { most } else { given.least };
                given.most = most.max(given.least);
            }
        }
        let size = |dims: &[u32]| dims.iter().map(|it| u64::from(*it)).product::<u64>();
        let most = match way {
            Reshaping::Large(points) => 4 * u64::from(points),
            _ => MAX_ELEMENTS.max(4 * size(&self.dims)),
        };
        let is_small = |dims: &[u32]| size(dims) <= most;
        let all_small = is_small(&other.dims) && other.inputs.iter().all(|it| is_small(&it.shape));
        (all_small && (way == Reshaping::Same || other != *self)).then_some(other)
    }

    /// Returns pairs of shapes that separate two extents which may be equal in the row only by
    /// accident. In the first shape of a pair the last extent of an array is larger, in the second
    /// its other extents are. If the row's program runs on both, the extents are different
    /// quantities; a program for square matrices runs on neither or one. Extents of one-dimensional
    /// arrays change with the last extent and, in a second pair, with the others.
    pub(crate) fn oblong(&self, random: &mut Random) -> Vec<[Self; 2]> {
        let arrays = self.inputs.iter().filter(|it| it.arrangement.is_free());
        let shapes: Vec<&[u32]> = arrays.map(|it| &it.shape[..]).chain([&self.dims[..]]).collect();
        let is_repeated = |extent: u32| {
            let is_square = |it: &&[u32]| {
                it.split_last().is_some_and(|(last, it)| *last == extent && it.contains(last))
            };
            extent > 1 && shapes.iter().any(is_square)
        };
        if !shapes.iter().any(|it| it.iter().any(|it| is_repeated(*it))) {
            return Vec::new();
        }
        let (less, more) = (1 + random.below(2) as u32, 4 + random.below(3) as u32);
        let parted = |is_wide: bool, is_flat_last: bool| {
            let to = |extent: u32, is_last: bool| match is_repeated(extent) {
                true => extent + if is_last == is_wide { more } else { less },
                false => extent,
            };
            let part = |shape: &mut [u32]| {
                let count = shape.len();
                for (at, extent) in shape.iter_mut().enumerate() {
                    *extent = to(*extent, if count == 1 { is_flat_last } else { at + 1 == count });
                }
            };
            let mut other = self.clone();
            part(&mut other.dims);
            for given in &mut other.inputs {
                part(&mut given.shape);
                let is_count = given.shape.is_empty() && given.least == given.most;
                if let (true, Ok(count)) = (is_count, u32::try_from(given.most)) {
                    given.most = to(count, is_flat_last).into();
                    given.least = given.most;
                }
            }
            other
        };
        [true, false].map(|is_flat| [true, false].map(|is_wide| parted(is_wide, is_flat))).into()
    }

    /// Returns the length of an array's rows. If no array has rows, the array that offsets divide
    /// into segments takes their place, or an array whose extent is not one of the launch, such as
    /// bins or weights.
    fn row(&self) -> Option<u32> {
        let rows = self.inputs.iter().find(|it| it.shape.len() > 1);
        let row = rows.and_then(|it| it.shape.last()).copied();
        let mut others = self.inputs.iter().flat_map(|it| &it.shape).copied();
        let other = || others.find(|it| *it > 1 && !self.dims.contains(it));
        row.or_else(|| self.segmented()).or_else(other)
    }

    /// Returns the extent of the array that offsets divide into segments.
    fn segmented(&self) -> Option<u32> {
        let offsets = self.inputs.iter().find(|it| it.arrangement == Arrangement::Offsets)?;
        let total = u32::try_from(offsets.most).ok()?;
        let mut extents = self.inputs.iter().flat_map(|it| &it.shape);
        extents.any(|it| *it == total && !self.dims.contains(it)).then_some(total)
    }

    /// Returns the extents of arrays that are not extents of the launch.
    pub(crate) fn inner_extents(&self) -> Vec<u32> {
        let mut all: Vec<u32> = Vec::new();
        for extent in
            self.inputs.iter().filter(|it| it.arrangement.is_free()).flat_map(|it| &it.shape)
        {
            if *extent > 1 && !self.dims.contains(extent) && !all.contains(extent) {
                all.push(*extent);
            }
        }
        all
    }

    /// Returns factors by which all extents of flat arrays grow, so that the launch has several
    /// blocks. The list is empty if each array is as long as the launch: other shapes cover that.
    pub(crate) fn long_factors(&self) -> Vec<u32> {
        let is_flat = self.inputs.iter().all(|it| it.shape.len() < 2);
        let [extent] = self.dims[..] else { return Vec::new() };
        let factor = LONG.div_ceil(extent.max(1));
        let is_such = is_flat && extent > 1 && !self.inner_extents().is_empty() && factor > 3;
        if is_such { vec![factor, factor / 2] } else { Vec::new() }
    }

    /// Returns the extents that an answer may take to fit a block or tile: the length of rows, that
    /// of an array in segments, and the extents of a launch of several dimensions.
    pub(crate) fn broad_extents(&self) -> Vec<u32> {
        let launch = self.dims.iter().copied().filter(|it| *it > 1 && self.dims.len() > 1);
        let mut all: Vec<u32> = Vec::new();
        for extent in self.row().into_iter().chain(self.segmented()).chain(launch) {
            if !all.contains(&extent) {
                all.push(extent);
            }
        }
        all
    }

    /// Returns the flat arrays whose extent is neither one of the launch nor one of an array with
    /// rows.
    pub(crate) fn unrelated(&self) -> Vec<usize> {
        let rows = self.inputs.iter().filter(|it| it.shape.len() > 1).flat_map(|it| &it.shape);
        let related: Vec<u32> = self.dims.iter().chain(rows).copied().collect();
        let is_unrelated = |it: &ArgumentInput| {
            it.arrangement.is_free() && matches!(it.shape[..], [one] if !related.contains(&one))
        };
        (0..self.inputs.len()).filter(|at| is_unrelated(&self.inputs[*at])).collect()
    }

    /// Returns the new value of each extent.
    fn map(&self, way: Reshaping, random: &mut Random) -> BTreeMap<u32, u32> {
        let shapes = self.inputs.iter().flat_map(|it| &it.shape);
        let extents: Vec<u32> = self.dims.iter().chain(shapes).copied().collect();
        // Of several launches the extents follow from arrays: mostly from those that are written.
        let written = || self.inputs.iter().find(|it| it.written && !it.shape.is_empty());
        let first = self.dims.first().or_else(|| written()?.shape.first());
        let first = first.copied().unwrap_or(1);
        let rank = self.inputs.iter().map(|it| it.shape.len()).max().unwrap_or(0);
        let is_flat = rank < 2;
        // A window of two elements has no neighbour on one side.
        let least = if rank > 2 { 1 } else { 3 };
        let row = self.row();
        let mut map = BTreeMap::new();
        match (way, row) {
            (Reshaping::Wide, Some(row)) => _ = map.insert(row, 33 + 32 * random.below(3) as u32),
            (Reshaping::Broad(extent, new), _) => _ = map.insert(extent, new),
            (Reshaping::Narrow, Some(row)) => _ = map.insert(row, 1 + random.below(3) as u32),
            _ => {}
        }
        let factor = 2 + random.below(2) as u32;
        let sizes = extents.iter().copied().filter(|it| *it > 1);
        let divisor = sizes.fold(0, common_divisor).max(1);
        for extent in extents.iter().copied() {
            if map.contains_key(&extent) {
                continue;
            }
            let new = match way {
                Reshaping::Free => {
                    let new = 1 + random.below(2 * extent as usize + 8) as u32;
                    unused(if new == extent { new + 1 } else { new }, &map)
                }
                Reshaping::Long if extent == first => 257 + 256 * random.below(4) as u32,
                Reshaping::Wide if row.is_none() => extent,
                Reshaping::Broad(..) if !is_flat => unused(least + random.below(3) as u32, &map),
                Reshaping::Growing | Reshaping::Broad(..) | Reshaping::Long | Reshaping::Wide => {
                    unused(extent + 1 + random.below(extent as usize + 5) as u32, &map)
                }
                Reshaping::Scaled => extent * factor,
                Reshaping::Times(factor) if extent > 1 => extent * factor,
                Reshaping::Even(length) if self.dims == [extent] => length,
                Reshaping::Even(_) if extent > 1 => unused_multiple(&map),
                Reshaping::Even(_) => extent,
                Reshaping::Shrunk if extent > 1 => extent / divisor,
                Reshaping::Large(points) if extent == first => self.large(first, points),
                Reshaping::One if extent == first => 1,
                Reshaping::Zero if extent == first => 0,
                Reshaping::One | Reshaping::Zero | Reshaping::Large(_) => extent,
                Reshaping::Narrow | Reshaping::Shrunk | Reshaping::Same => extent,
                Reshaping::Times(_) => extent,
            };
            map.insert(extent, new);
        }
        // Offsets are one more than their segments.
        for given in self.inputs.iter().filter(|it| it.arrangement == Arrangement::Offsets) {
            let segments = given.shape.first().and_then(|it| it.checked_sub(1));
            if let Some(new) = segments.and_then(|it| map.get(&it).copied()) {
                map.insert(given.shape[0], new + 1);
            }
        }
        map
    }

    /// Returns the first extent with which the launch has about so many points. Equal extents of
    /// the launch are one quantity.
    fn large(&self, first: u32, points: u32) -> u32 {
        let (equal, others): (Vec<u32>, Vec<u32>) = self.dims.iter().partition(|it| **it == first);
        let points = f64::from(points / others.iter().product::<u32>().max(1));
        points.powf(1.0 / equal.len().max(1) as f64).round() as u32
    }

    /// Returns the inputs with wider ranges: floats of both signs, up to a multiple of the largest,
    /// and larger integers.
    pub(crate) fn widened(&self, factor: Option<f64>, integers: i64) -> Self {
        let mut other = self.clone();
        for given in other.inputs.iter_mut().filter(|it| !it.zero) {
            if let Some(factor) = factor {
                let size = factor * given.low.abs().max(given.high.abs());
                (given.low, given.high) = (-size, size);
            }
            // Integers stay non-negative: a negative index counts from an array's end in Python and
            // is an error in CUDA.
            given.most = given.most.saturating_add(given.most.abs().saturating_mul(integers));
            given.least = given.least.saturating_add(given.least.min(0).saturating_mul(integers));
        }
        other
    }
}

fn common_divisor(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// Returns the least multiple of a warp that no extent has.
fn unused_multiple(map: &BTreeMap<u32, u32>) -> u32 {
    let mut multiples = (1..).map(|it| 32 * it);
    multiples.find(|it| !map.values().any(|other| other == it)).unwrap_or(32)
}

/// Returns the number, or the next larger number that no extent has.
fn unused(mut number: u32, map: &BTreeMap<u32, u32>) -> u32 {
    while map.values().any(|it| *it == number) {
        number += 1;
    }
    number
}

#[cfg(test)]
mod tests {
    use super::*;

    fn square() -> Shaped {
        let array = |shape: Vec<u32>, least, most| ArgumentInput::integers(shape, least, most);
        let inputs = vec![array(vec![8, 8], 0, 7), array(vec![8, 3], -1, 4), array(vec![], 8, 8)];
        Shaped { dims: vec![8, 3], inputs }
    }

    #[test]
    fn several_launches_have_as_many_points_as_a_written_array() {
        let array = |shape: Vec<u32>| ArgumentInput::integers(shape, 0, 7);
        let offsets = ArgumentInput { arrangement: Arrangement::Offsets, ..array(vec![12]) };
        let inputs = vec![offsets, ArgumentInput::zeros(vec![11]), array(vec![40])];
        let several = Shaped { dims: Vec::new(), inputs };
        let long = several.reshaped(Reshaping::Long, &mut Random::new(1)).expect("a shape");
        let extents: Vec<u32> = long.inputs.iter().map(|it| it.shape[0]).collect();
        assert!(extents[1] > 256 && extents[0] == extents[1] + 1 && extents[2] < 90, "{extents:?}");
    }

    #[test]
    fn equal_extents_stay_equal_and_others_differ() {
        for seed in 0..50 {
            let ways = [Reshaping::Free, Reshaping::Growing, Reshaping::Wide, Reshaping::One];
            for way in ways.into_iter().chain([Reshaping::Long]) {
                let Some(other) = square().reshaped(way, &mut Random::new(seed)) else { continue };
                let (n, m) = (other.dims[0], other.dims[1]);
                assert_eq!(
                    (&other.inputs[0].shape, &other.inputs[1].shape),
                    (&vec![n, n], &vec![n, m])
                );
                assert!(n != m || way == Reshaping::Long, "{way:?} {other:?}");
                // The last index and the count follow the extent, another range does not.
                assert_eq!(other.inputs[0].most, i64::from(n) - 1);
                assert_eq!((other.inputs[2].least, other.inputs[2].most), (n.into(), n.into()));
                assert_eq!(other.inputs[1].most, 4);
            }
        }
    }

    #[test]
    fn equal_extents_of_one_array_part_in_both_directions() {
        let array = |shape: Vec<u32>| ArgumentInput::integers(shape, 0, 7);
        let inputs = vec![array(vec![2, 5, 5]), array(vec![9]), array(vec![5])];
        let pairs = Shaped { dims: vec![9], inputs }.oblong(&mut Random::new(3));
        for (pair, is_flat_last) in pairs.iter().zip([true, false]) {
            for (other, is_wide) in pair.iter().zip([true, false]) {
                let [channels, rows, columns] = other.inputs[0].shape[..] else { panic!() };
                assert_eq!((channels, rows < columns), (2, is_wide));
                let flat = if is_flat_last { columns } else { rows };
                assert_eq!(
                    (&other.inputs[1].shape, &other.inputs[2].shape),
                    (&vec![9], &vec![flat])
                );
            }
        }
        assert!(square().widened(None, 0).oblong(&mut Random::new(3)).len() == 2);
        let oblong = Shaped { dims: vec![8, 3], inputs: vec![array(vec![8, 3])] };
        assert!(oblong.oblong(&mut Random::new(3)).is_empty());
    }

    #[test]
    fn floats_grow_to_both_signs_and_integers_keep_theirs() {
        let wide = square().widened(Some(4.0), 1);
        let given = &wide.inputs[0];
        assert_eq!((given.low, given.high, given.least, given.most), (-4.0, 4.0, 0, 14));
        assert_eq!(square().widened(None, 0), square());
    }
}
