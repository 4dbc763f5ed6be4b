//! A temporary folder that is moved to its place when it is complete.

use std::fs::{self, File};
use std::io::{Error, Result};
use std::path::Path;

use crate::open_folder::{OpenFolder, is_taken};
use crate::temporary::{Temporary, lock_in_use, name, sweep};
use crate::write_target::make_folder;

/// A folder of this process alone, removed when it is dropped, at a signal that ends the process,
/// or, if the process was killed, by the next one that makes such a folder at the same place.
#[derive(Debug)]
pub struct TemporaryFolder {
    temporary: Temporary,
    parent: OpenFolder,
    /// Handle that holds the lock.
    _owner: Option<File>,
}

impl TemporaryFolder {
    /// A folder inside of `parent`, which is made if it is not there.
    ///
    /// # Errors
    /// The parent can't be written to.
    pub fn inside(parent: &Path) -> Result<Self> {
        let parent = make_folder(parent)?;
        sweep(parent.path());
        // Programs that run in the folder may have another working folder.
        let path = fs::canonicalize(parent.path())?;
        for _ in 0..16 {
            let name = name(None);
            let temporary = Temporary::new(path.join(&name));
            match parent.make(&name) {
                Ok(()) => {
                    let owner = parent.open(&name).ok();
                    // Another sweeper may have removed it as a leftover before it was locked.
                    let is_ours = match &owner {
                        Some(owner) => lock_in_use(owner, temporary.path()),
                        None => temporary.path().exists(),
                    };
                    if is_ours {
                        return Ok(Self { temporary, parent, _owner: owner });
                    }
                }
                Err(error) if is_taken(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::other("no free name for a temporary folder in it"))
    }

    /// Returns the folder's path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Renames it to a name in its parent at which no file exists.
    ///
    /// # Errors
    /// Something is there, or the name is too long.
    pub fn rename(mut self, name: &str) -> Result<()> {
        self.parent.rename(self.temporary.name(), name.as_ref())?;
        self.temporary.keep();
        Ok(())
    }
}
