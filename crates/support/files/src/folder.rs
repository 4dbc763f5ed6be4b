//! A temporary folder that is moved to its place when it is complete.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

use crate::temporary::{Temporary, lock_in_use, name, sweep};
use crate::write_target::explained;

/// A folder of this process alone, removed when it is dropped, at a signal that ends the process,
/// or, if the process was killed, by the next one that makes such a folder at the same place.
#[derive(Debug)]
pub struct TemporaryFolder {
    temporary: Temporary,
    /// Locked for as long as it is open.
    _owner: Option<File>,
}

impl TemporaryFolder {
    /// A folder inside of `parent`, which is made if it is not there.
    ///
    /// # Errors
    /// The parent can't be written to.
    pub fn inside(parent: &Path) -> Result<Self> {
        crate::check_local(parent)?;
        fs::create_dir_all(parent).map_err(|error| explained(parent, error))?;
        sweep(parent);
        // Programs that run in it may have another working folder.
        let parent = fs::canonicalize(parent)?;
        for _ in 0..16 {
            let temporary = Temporary::new(parent.join(name(None)));
            match fs::DirBuilder::new().create(temporary.path()) {
                Ok(()) => {
                    let owner = File::open(temporary.path()).ok();
                    // Another sweeper may have taken it for a leftover before it was locked.
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

    /// Gives it a name at which nothing is yet.
    ///
    /// # Errors
    /// Something is there, or the name is too long.
    pub fn rename(mut self, place: &Path) -> Result<PathBuf> {
        fs::rename(self.path(), place).map_err(|error| explained(place, error))?;
        self.temporary.keep();
        Ok(place.to_owned())
    }
}
