//! The splits of a dataset. Rows of one structure are in one split, so that no test row has a
//! training row that differs in names and numbers only.

/// The splits, as the column `split` and the names of data files spell them.
pub const SPLITS: [&str; 3] = ["train", "valid", "test"];

/// The part of the data set that a structure belongs to: 8 of 10 train, 1 valid, 1 test.
pub(crate) fn split_of(hash: &str) -> &'static str {
    let first = u32::from_str_radix(hash.get(..8).unwrap_or("0"), 16).unwrap_or(0);
    match (u64::from(first) * 10) >> 32 {
        0..8 => "train",
        8 => "valid",
        _ => "test",
    }
}
