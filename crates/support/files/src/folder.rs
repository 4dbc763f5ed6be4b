//! Temporary folder that is moved to its place when it is complete.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use crate::temporary::{Temporary, lock_in_use, name, sweep};
use crate::write_target::explained;

/// Folder of this process alone. It is removed when it is dropped, or at a signal that ends the
/// process. If the process was killed, the next process that makes such a folder at the same place
/// removes it.
#[derive(Debug)]
pub struct TemporaryFolder {
    temporary: Temporary,
    /// Handle that holds the lock.
    _owner: Option<File>,
}

impl TemporaryFolder {
    /// Makes a folder inside of `parent`, which is made as well if it doesn't exist.
    ///
    /// # Errors
    /// The parent can't be written to.
    pub fn inside(parent: &Path) -> Result<Self> {
        crate::check_local(parent)?;
        fs::create_dir_all(parent).map_err(|error| explained(parent, error))?;
        sweep(parent);
        // Programs that run in the folder may have another working folder.
        let parent = fs::canonicalize(parent)?;
        for _ in 0..16 {
            let temporary = Temporary::new(parent.join(name(None)));
            match fs::DirBuilder::new().create(temporary.path()) {
                Ok(()) => {
                    let owner = File::open(temporary.path()).ok();
                    // Another sweeper may have removed it as a leftover before it was locked.
                    let is_ours = match &owner {
                        Some(owner) => lock_in_use(owner, temporary.path()),
                        None => temporary.path().exists(),
                    };
                    if is_ours {
                        return Ok(Self { temporary, _owner: owner });
                    }
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(explained(temporary.path(), error)),
            }
        }
        Err(Error::other("no free name for a temporary folder in it"))
    }

    /// Returns the folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Renames it to a path at which no file exists.
    ///
    /// # Errors
    /// Something is there, or the name is too long.
    pub fn rename(mut self, place: &Path) -> Result<PathBuf> {
        fs::rename(self.path(), place).map_err(|error| explained(place, error))?;
        self.temporary.keep();
        Ok(place.to_owned())
    }
}
