//! A temporary folder that is renamed when it is complete.

use std::fs::{self, File};
use std::io::{Error, Result};
use std::path::Path;

use crate::open_folder::{OpenFolder, is_taken};
use crate::temporary::{Temporary, lock_in_use, name, sweep};
use crate::write_target::make_folder;

/// A folder that only this process uses. It is removed when this value is dropped or a signal ends
/// the process; after a SIGKILL the next process that makes such a folder in the same parent
/// removes it.
#[derive(Debug)]
pub struct TemporaryFolder {
    temporary: Temporary,
    parent: OpenFolder,
    /// Handle that holds the lock.
    _owner: Option<File>,
}

impl TemporaryFolder {
    /// Makes such a folder inside of `parent`, and `parent` if it is missing.
    ///
    /// # Errors
    /// The parent can't be written to.
    pub fn inside(parent: &Path) -> Result<Self> {
        let parent = make_folder(parent)?;
        sweep(parent.path());
        // The path is made absolute, because programs that use it may have another working folder.
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

    /// Renames the folder to `name` in its parent, and keeps it.
    ///
    /// # Errors
    /// The name is taken or too long.
    pub fn rename(mut self, name: &str) -> Result<()> {
        self.parent.rename(self.temporary.name(), name.as_ref())?;
        self.temporary.keep();
        Ok(())
    }
}
