//! The splits of a dataset. Rows of the same structure are in the same split, so no test row
//! differs from a training row only in names and numbers.

/// The splits, as the column `split` and the names of data files spell them.
pub const SPLITS: [&str; 3] = ["train", "valid", "test"];

/// Returns the split of a structure: of 10 structures 8 are for training, 1 for validation, 1 for
/// tests.
pub(crate) fn split_of(hash: &str) -> &'static str {
    let first = u32::from_str_radix(hash.get(..8).unwrap_or("0"), 16).unwrap_or(0);
    match (u64::from(first) * 10) >> 32 {
        0..8 => "train",
        8 => "valid",
        _ => "test",
    }
}
