//! Compares paths by the files to which they lead.

use std::path::{Path, PathBuf};

/// Returns true if both paths, however they are spelled, lead to one file, or to one place for a
/// file that doesn't exist yet.
pub fn is_same_file(one: &Path, other: &Path) -> bool {
    one == other || place(one).is_some_and(|one| place(other) == Some(one))
}

fn place(path: &Path) -> Option<PathBuf> {
    path.canonicalize().ok().or_else(|| {
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        Some(folder.unwrap_or(Path::new(".")).canonicalize().ok()?.join(path.file_name()?))
    })
}
