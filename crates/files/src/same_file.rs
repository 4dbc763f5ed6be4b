//! Comparison of paths by the files to which they lead.

use std::path::Path;

/// Returns true if both paths lead to one file that is there, however they are spelled.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}
