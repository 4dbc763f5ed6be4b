//! The files of a folder and of all folders below it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// Error: a folder, or an entry of a folder, can't be read.
#[derive(Debug)]
pub struct UnreadFolder {
    /// Path of the folder or entry.
    pub path: PathBuf,
    /// Reason of the system.
    pub source: io::Error,
}

impl fmt::Display for UnreadFolder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.path.display(), self.source)
    }
}

impl std::error::Error for UnreadFolder {}

/// Returns the Python files below a folder, in order.
///
/// # Errors
/// A folder can't be read.
pub fn python_files(folder: &Path) -> Result<Vec<PathBuf>, UnreadFolder> {
    let mut files = Vec::new();
    collect(folder, &mut files)?;
    files.sort();
    Ok(files)
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<(), UnreadFolder> {
    let unread = |path: &Path| {
        let path = path.to_owned();
        move |source| UnreadFolder { path, source }
    };
    for entry in std::fs::read_dir(folder).map_err(unread(folder))? {
        let entry = entry.map_err(unread(folder))?;
        let path = entry.path();
        // Links to folders are not followed, because they may lead in circles.
        if entry.file_type().map_err(unread(&path))?.is_dir() {
            collect(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "py") {
            files.push(path);
        }
    }
    Ok(())
}
