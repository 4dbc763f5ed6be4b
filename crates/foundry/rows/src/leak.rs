//! Duplicates by structure, and the nearness of a row's nearest neighbour in the training split.
//!
//! Nearness is the fraction of five-token sequences (names and literals erased) that two rows have
//! in common, estimated from 96 minima of hashes (MinHash).

use crate::row::Row;
use crate::structure::erased;
use crate::worker_threads::in_order;
use gbxcule_grammar::random::mix;
use gbxcule_runtime::worker_count;
use std::collections::HashSet;
use std::convert::Infallible;

const GRAM: usize = 5;
const HASHES: usize = 96;
/// Salts that make the hash functions differ from each other.
static SALTS: [u64; HASHES] = {
    let mut salts = [0; HASHES];
    let mut at = 0;
    while at < HASHES {
        salts[at] = mix(at as u64 + 1);
        at += 1;
    }
    salts
};
/// Rows between two reports of progress.
const STEP: usize = 500;

/// The lower halves of the minima: 32 bits rarely collide, and are compared twice as fast.
type Sketch = [u32; HASHES];

/// Returns the row with the lowest number of each structure.
pub fn unique(mut rows: Vec<Row>) -> Vec<Row> {
    let mut seen = HashSet::new();
    rows.retain(|row| seen.insert(row.structure.clone()));
    rows
}

/// Returns the number of distinct structures among the first rows, for about 20 numbers of rows.
pub fn curve(rows: &[Row]) -> Vec<(usize, usize)> {
    let (mut seen, mut points) = (HashSet::new(), Vec::new());
    let step = rows.len().div_ceil(20).max(1);
    for (at, row) in rows.iter().enumerate() {
        seen.insert(&row.structure);
        if (at + 1) % step == 0 || at + 1 == rows.len() {
            points.push((at + 1, seen.len()));
        }
    }
    points
}

/// Nearness of the rows of a split to their nearest training rows.
#[derive(Clone, PartialEq, Debug)]
pub struct Leakage {
    /// The split.
    pub split: &'static str,
    /// Nearness of each examined row, the least first.
    pub nearest: Vec<f64>,
}

impl Leakage {
    /// Levels of nearness for which reports give the fraction of rows at or above the level.
    pub const LEVELS: [f64; 3] = [0.8, 0.9, 1.0];

    /// Returns the median nearness.
    pub fn median(&self) -> f64 {
        self.nearest.get(self.nearest.len() / 2).copied().unwrap_or(0.0)
    }

    /// Returns the percentage of rows with at least this nearness.
    pub fn share(&self, least: f64) -> f64 {
        let count = self.nearest.iter().filter(|&&it| it >= least).count();
        100.0 * count as f64 / self.nearest.len().max(1) as f64
    }
}

/// Compares at most `most` rows of the validation and of the test split with all training rows.
/// `seen` gets the number of rows since its last call.
pub fn leakage(rows: &[Row], most: usize, seen: &(dyn Fn(usize) + Sync)) -> Vec<Leakage> {
    let of =
        |wanted: &str| -> Vec<&Row> { rows.iter().filter(|row| row.split == wanted).collect() };
    let train = by_threads(&of("train"), |row| sketch(&row.source), seen);
    let near = |own: &&Row| {
        let own = sketch(&own.source);
        train.iter().map(|other| common(&own, other)).max().unwrap_or(0) as f64 / HASHES as f64
    };
    ["valid", "test"]
        .map(|split| {
            let of_split = of(split);
            let first = &of_split[..of_split.len().min(most)];
            let mut nearest = by_threads(first, near, seen);
            seen(of_split.len() - first.len());
            nearest.sort_by(f64::total_cmp);
            Leakage { split, nearest }
        })
        .into()
}

/// Applies a function to each item, in order, with as many threads as there are cores.
fn by_threads<T: Sync, R: Send>(
    items: &[T],
    of: impl Fn(&T) -> R + Sync,
    seen: &(dyn Fn(usize) + Sync),
) -> Vec<R> {
    let chunks: Vec<&[T]> = items.chunks(STEP).collect();
    let Ok(results) = in_order(worker_count(None), chunks.len(), |number| {
        let results: Vec<R> = chunks[number].iter().map(&of).collect();
        seen(results.len());
        Ok::<_, Infallible>(results)
    });
    results.into_iter().flatten().collect()
}

/// Counts the equal minima of two rows.
fn common(one: &Sketch, other: &Sketch) -> u32 {
    one.iter().zip(other).map(|(left, right)| u32::from(left == right)).sum()
}

fn sketch(source: &str) -> Sketch {
    let text = erased(source);
    let words: Vec<u64> = text
        .split_whitespace()
        .map(|word| {
            word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            })
        })
        .collect();
    let grams = words.windows(GRAM);
    let mut hashes: Vec<u64> =
        grams.map(|gram| gram.iter().fold(0u64, |hash, &word| mix(hash ^ word))).collect();
    hashes.sort_unstable();
    hashes.dedup();
    let mut least = [u64::MAX; HASHES];
    for hash in hashes {
        // By index, because this crate is built without the inlining that iterators need.
        for at in 0..HASHES {
            let salted = mix(hash ^ SALTS[at]);
            if salted < least[at] {
                least[at] = salted;
            }
        }
    }
    least.map(|minimum| minimum as u32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn a_copy_with_other_names_is_as_near_as_can_be() {
        let row = |split: &str, source: &str| Row {
            split: split.into(),
            source: source.into(),
            ..Row::default()
        };
        let text = "@wp.kernel\ndef f(x: wp.array(dtype=float)):\n    i = wp.tid()\n    x[i] = wp.sin(x[i]) * 2.0\n";
        let other =
            "@wp.kernel\ndef g(a: wp.array(dtype=int)):\n    while a[0] > 1:\n        a[0] //= 3\n";
        let rows = [
            row("train", text),
            row("valid", &text.replace("2.0", "3.0").replace('x', "data")),
            row("test", other),
        ];
        let seen = AtomicUsize::new(0);
        let count = |rows: usize| _ = seen.fetch_add(rows, Ordering::Relaxed);
        let [valid, test] = &leakage(&rows, 10, &count)[..] else { unreachable!("two splits") };
        assert_eq!((valid.split, valid.median(), valid.share(1.0)), ("valid", 1.0, 100.0));
        assert!(test.median() < 0.5 && test.share(0.8) == 0.0, "{test:?}");
        assert_eq!(seen.load(Ordering::Relaxed), 3);
        assert!(leakage(&rows, 0, &|_| ()).iter().all(|it| it.nearest.is_empty()));
    }
}
