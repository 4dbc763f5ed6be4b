//! Relations between the numbers of an array that algorithms rely on: sorted keys, offsets of
//! compressed rows, permutations, directions of length 1, matrices that can be solved.
//!
//! Numbers are drawn independently, and then moved or changed by these rules, in float64.

use super::ArgumentInput;
use gbxcule_ir::Literal;
use gbxcule_ir::layout::Leaf;
use serde::{Deserialize, Serialize};

/// Relation between the numbers of an array. A *row* is the last dimension of the array.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arrangement {
    /// Independent numbers.
    #[default]
    Free,
    /// Each row is sorted, the least number first.
    Sorted,
    /// Each row is sorted; its first number is the least of the range and its last the greatest.
    Offsets,
    /// Each row holds each number from 0 on once: the ranks of the drawn numbers.
    Permutation,
    /// The components of an element differ: a component that repeats an earlier one becomes the
    /// next free number of the range, cyclically.
    Distinct,
    /// Each element, a vector, is divided by its length.
    Unit,
    /// Each row is divided by its sum.
    Shares,
    /// Negative numbers become 0, for example the masses of fixed bodies.
    Clipped,
    /// Square matrices. The number of rows times the range's largest magnitude is added to the
    /// diagonal, so that it outweighs the other numbers of each row.
    Dominant,
    /// Symmetric square matrices: the mean of a dominant one and its transpose.
    Definite,
    /// Parents in a tree: -1 for the first place, then an earlier place for each.
    Parents,
}

impl Arrangement {
    /// Returns true for independent numbers.
    pub fn is_free(&self) -> bool {
        *self == Self::Free
    }

    /// Arranges the drawn bytes of an argument.
    pub(super) fn arrange(self, given: &ArgumentInput, leaves: &[Leaf], bytes: &mut [u8]) {
        if self == Self::Free || leaves.is_empty() || bytes.is_empty() {
            return;
        }
        let count = given.shape.iter().product::<u32>() as usize;
        let size = bytes.len() / count.max(1);
        let mut numbers: Vec<f64> = bytes
            .chunks_exact(size)
            .flat_map(|cell| leaves.iter().map(|leaf| leaf.read(cell).as_f64()))
            .collect();
        let row = given.shape.last().map_or(1, |&extent| extent as usize).max(1);
        match self {
            Self::Distinct | Self::Unit => {
                numbers.chunks_mut(leaves.len()).for_each(|row| self.arrange_row(given, row));
            }
            Self::Dominant | Self::Definite => {
                let side = if leaves.len() == 1 { row } else { leaves.len().isqrt() };
                numbers.chunks_mut(side * side).for_each(|it| self.arrange_matrix(given, it, side));
            }
            _ => numbers.chunks_mut(row).for_each(|row| self.arrange_row(given, row)),
        }
        for (cell, numbers) in bytes.chunks_exact_mut(size).zip(numbers.chunks(leaves.len())) {
            for (leaf, &number) in leaves.iter().zip(numbers) {
                let literal = match leaf.scalar.is_float() {
                    true => Literal::float(leaf.scalar, number),
                    false => Literal::int(leaf.scalar, number as i128),
                };
                leaf.write(cell, literal);
            }
        }
    }

    fn arrange_row(self, given: &ArgumentInput, row: &mut [f64]) {
        match self {
            Self::Sorted | Self::Offsets => {
                row.sort_by(f64::total_cmp);
                if self == Self::Offsets {
                    let last = row.len() - 1;
                    (row[0], row[last]) = (given.least as f64, given.most as f64);
                }
            }
            Self::Permutation => {
                let mut places: Vec<usize> = (0..row.len()).collect();
                places
                    .sort_by(|&one, &other| row[one].total_cmp(&row[other]).then(one.cmp(&other)));
                for (rank, place) in places.into_iter().enumerate() {
                    row[place] = rank as f64;
                }
            }
            Self::Distinct => {
                for at in 1..row.len() {
                    while row[..at].contains(&row[at]) {
                        let next = row[at] + 1.0;
                        row[at] = if next > given.most as f64 { given.least as f64 } else { next };
                        if (given.most - given.least) < at as i64 {
                            return;
                        }
                    }
                }
            }
            Self::Unit => {
                let length = row.iter().map(|it| it * it).sum::<f64>().sqrt().max(1e-9);
                row.iter_mut().for_each(|it| *it /= length);
            }
            Self::Shares => {
                let sum = row.iter().sum::<f64>();
                row.iter_mut().for_each(|it| *it /= sum);
            }
            Self::Clipped => row.iter_mut().for_each(|it| *it = it.max(0.0)),
            Self::Parents => {
                let span = (given.most - given.least + 1).max(1) as f64;
                for (at, it) in row.iter_mut().enumerate() {
                    let share = (*it - given.least as f64) / span;
                    *it = (share * at as f64).floor().min(at as f64 - 1.0);
                }
            }
            Self::Free | Self::Dominant | Self::Definite => {}
        }
    }

    fn arrange_matrix(self, given: &ArgumentInput, matrix: &mut [f64], side: usize) {
        if matrix.len() < side * side {
            return;
        }
        if self == Self::Definite {
            for (row, column) in (0..side).flat_map(|row| (0..row).map(move |it| (row, it))) {
                let (one, other) = (row * side + column, column * side + row);
                let mean = (matrix[one] + matrix[other]) / 2.0;
                (matrix[one], matrix[other]) = (mean, mean);
            }
        }
        let most = given.low.abs().max(given.high.abs());
        (0..side).for_each(|it| matrix[it * (side + 1)] += side as f64 * most);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gbxcule_ir::{Scalar, Type, Types};

    fn drawn(arrangement: Arrangement, shape: Vec<u32>, scalar: Scalar) -> Vec<f64> {
        let given = ArgumentInput { arrangement, ..ArgumentInput::integers(shape, 0, 11) };
        let bytes = given.bytes(&Types::default(), Type::scalar(scalar), 5, 0);
        let leaf = &gbxcule_ir::layout::leaves(&Types::default(), Type::scalar(scalar))[0];
        bytes.chunks(4).map(|cell| leaf.read(cell).as_f64()).collect()
    }

    #[test]
    fn arrays_hold_what_their_arrangement_says() {
        let sorted = drawn(Arrangement::Sorted, vec![2, 9], Scalar::I32);
        assert!(sorted.chunks(9).all(<[f64]>::is_sorted) && !sorted.is_sorted(), "{sorted:?}");
        let offsets = drawn(Arrangement::Offsets, vec![7], Scalar::I32);
        assert!(offsets.is_sorted() && (offsets[0], offsets[6]) == (0.0, 11.0), "{offsets:?}");
        let mut places = drawn(Arrangement::Permutation, vec![20], Scalar::I32);
        assert!(!places.is_sorted());
        places.sort_by(f64::total_cmp);
        assert_eq!(places, (0..20).map(f64::from).collect::<Vec<_>>());
        let shares = drawn(Arrangement::Shares, vec![3, 5], Scalar::F32);
        assert!(shares.chunks(5).all(|row| (row.iter().sum::<f64>() - 1.0).abs() < 1e-5));
        let parents = drawn(Arrangement::Parents, vec![12], Scalar::I32);
        let earlier = |(at, parent): (usize, &f64)| (-1.0..at as f64).contains(parent);
        assert!(parents[0] == -1.0 && parents.iter().enumerate().all(earlier), "{parents:?}");
        let matrix = drawn(Arrangement::Definite, vec![4, 4], Scalar::F32);
        for row in 0..4 {
            let others: f64 =
                (0..4).filter(|&it| it != row).map(|it| matrix[4 * row + it].abs()).sum();
            assert!(matrix[5 * row] >= others, "{matrix:?}");
            assert!((0..4).all(|it| matrix[4 * row + it] == matrix[4 * it + row]), "{matrix:?}");
        }
    }
}
