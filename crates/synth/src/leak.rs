//! Duplicates by structure, and how near the nearest neighbour of a row is on the other side of a split.
//!
//! Nearness is the share of five-token sequences (names and literals erased) that two rows have in common,
//! estimated from 96 minima of hashes.

use crate::random::mix;
use crate::row::Row;
use crate::structure::erased;
use std::collections::HashSet;

const GRAM: usize = 5;
const HASHES: usize = 96;

/// The rows with the lowest number of each structure.
pub fn unique(mut rows: Vec<Row>) -> Vec<Row> {
    let mut seen = HashSet::new();
    rows.retain(|row| seen.insert(row.structure.clone()));
    rows
}

/// Distinct structures among the first rows, at about 20 points.
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

/// For each row of a split, the nearness of the nearest training row.
pub fn nearest(rows: &[Row], split: &str) -> Vec<f64> {
    let sketches = |wanted: &str| -> Vec<[u64; HASHES]> {
        rows.iter().filter(|row| row.split == wanted).map(|row| sketch(&row.source)).collect()
    };
    let train = sketches("train");
    let near = |own: &[u64; HASHES]| {
        let common = |other: &[u64; HASHES]| {
            own.iter().zip(other).filter(|(left, right)| left == right).count()
        };
        train.iter().map(common).max().unwrap_or(0) as f64 / HASHES as f64
    };
    sketches(split).iter().map(near).collect()
}

fn sketch(source: &str) -> [u64; HASHES] {
    let text = erased(source);
    let words: Vec<u64> = text
        .split_whitespace()
        .map(|word| {
            word.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3)
            })
        })
        .collect();
    let mut least = [u64::MAX; HASHES];
    for gram in words.windows(GRAM) {
        let hash = gram.iter().fold(0u64, |hash, &word| mix(hash ^ word));
        for (at, least) in least.iter_mut().enumerate() {
            *least = (*least).min(mix(hash ^ mix(at as u64 + 1)));
        }
    }
    least
}
