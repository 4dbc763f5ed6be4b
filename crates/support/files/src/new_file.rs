//! File that appears under its name when it is complete.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

use crate::temporary::{Temporary, lock_in_use, name, sweep_first};
use crate::write_target::{WriteTarget, explained, make_folder};

/// Greatest number of attempts at a name; a second one is needed only if another process swept the
/// first away as it was made.
const MAX_ATTEMPTS: usize = 16;

/// Checks that a file can be written at `path`, before the work begins that makes it. The check is
/// that of [`NewFile::create`], but it doesn't open a pipe or a device, and removes the folders
/// that it made.
///
/// # Errors
/// As those of [`NewFile::create`].
pub fn check_writable(path: &Path) -> Result<()> {
    let WriteTarget::File(place) = WriteTarget::find(path)? else { return Ok(()) };
    let folders = place.ancestors().skip(1).filter(|it| *it != Path::new(""));
    let missing: Vec<PathBuf> =
        folders.take_while(|it| !it.exists()).map(Path::to_path_buf).collect();
    let outcome = NewFile::beside(place).map(drop);
    // A folder that isn't empty is in use by now, and stays.
    missing.iter().for_each(|folder| _ = fs::remove_dir(folder));
    outcome
}

/// File that is not complete yet. If it is dropped without [`NewFile::commit`], it leaves nothing
/// behind. A pipe or a device gets its bytes as they come.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    place: PathBuf,
    /// Temporary file; `None` for a pipe or a device.
    temporary: Option<Temporary>,
}

impl NewFile {
    /// Begins a file for `path`, whose folder is made if it doesn't exist. A symbolic link is
    /// followed.
    ///
    /// # Errors
    /// A folder is in its place, the name is too long, or the folder can't be written to.
    pub fn create(path: &Path) -> Result<Self> {
        match WriteTarget::find(path)? {
            WriteTarget::Stream(place) => {
                let file = File::options().write(true).open(&place)?;
                Ok(Self { file, place, temporary: None })
            }
            WriteTarget::File(place) => Self::beside(place),
        }
    }

    /// Begins a file for `path` in a folder that others may have filled. The file replaces a link,
    /// a pipe or a device at its place instead of following it.
    ///
    /// # Errors
    /// As those of [`NewFile::create`].
    pub fn replacing(path: &Path) -> Result<Self> {
        crate::check_local(path)?;
        if fs::symlink_metadata(path).is_ok_and(|there| there.is_dir()) {
            return Err(Error::new(ErrorKind::IsADirectory, "a folder is in its place"));
        }
        Self::beside(path.to_owned())
    }

    fn beside(place: PathBuf) -> Result<Self> {
        let folder = make_folder(&place)?;
        // A name that is too long is found now, and not only when everything has been written.
        if let Err(error) = fs::symlink_metadata(&place)
            && error.kind() == ErrorKind::InvalidFilename
        {
            return Err(explained(&place, error));
        }
        sweep_first(&folder);
        for _ in 0..MAX_ATTEMPTS {
            let temporary = Temporary::new(folder.join(name(place.extension())));
            match File::options().write(true).create_new(true).open(temporary.path()) {
                Ok(file) if lock_in_use(&file, temporary.path()) => {
                    // The new file is readable by as few users as the old one, which may hold
                    // secrets.
                    if let Ok(before) = fs::symlink_metadata(&place)
                        && before.is_file()
                    {
                        file.set_permissions(before.permissions())?;
                    }
                    return Ok(Self { file, place, temporary: Some(temporary) });
                }
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(explained(temporary.path(), error)),
            }
        }
        Err(Error::other("no free name for a temporary file beside it"))
    }

    /// Returns the path of the temporary file, for a program or a library that writes by name.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.temporary.as_ref().map_or(&self.place, Temporary::path)
    }

    /// Takes the permission to write from everybody but its owner, in spite of the system's setting
    /// or of an older file's permissions: for files that their readers only trust from their owner.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn deny_others_writing(&self) -> Result<()> {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = self.file.metadata()?.permissions().mode();
            self.file.set_permissions(PermissionsExt::from_mode(mode & !0o022))?;
        }
        Ok(())
    }

    /// Moves the file to its place when its bytes are on the disk.
    ///
    /// # Errors
    /// The disk is full, or the folder can't be written to.
    pub fn commit(self) -> Result<()> {
        if self.temporary.is_some() {
            self.file.sync_all()?;
        }
        let place = self.place.clone();
        self.commit_unsynced()?;
        sync_folder(&place);
        Ok(())
    }

    /// Moves the file to its place without waiting for the disk: for files that are checked when
    /// they are read, such as a cache.
    ///
    /// # Errors
    /// The folder can't be written to.
    pub fn commit_unsynced(mut self) -> Result<()> {
        self.file.flush()?;
        let Some(temporary) = &mut self.temporary else { return Ok(()) };
        fs::rename(temporary.path(), &self.place)?;
        temporary.keep();
        Ok(())
    }

    /// Moves the file to its place if nothing is there; returns false if something is, which stays.
    ///
    /// # Errors
    /// The folder can't be written to.
    pub fn commit_new(self) -> Result<bool> {
        let Some(temporary) = &self.temporary else { return self.commit().map(|()| true) };
        self.file.sync_all()?;
        match fs::hard_link(temporary.path(), &self.place) {
            Ok(()) => {
                sync_folder(&self.place);
                Ok(true)
            }
            Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(false),
            // On a file system without links, two writers at the same moment can't be told apart.
            Err(_) if self.place.exists() => Ok(false),
            Err(_) => self.commit().map(|()| true),
        }
    }
}

impl Write for NewFile {
    fn write(&mut self, bytes: &[u8]) -> Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> Result<()> {
        self.file.flush()
    }
}

/// Makes the new name survive a power cut, where the system can.
fn sync_folder(place: &Path) {
    let folder = place.parent().filter(|folder| !folder.as_os_str().is_empty());
    if let Ok(folder) = File::open(folder.unwrap_or(Path::new("."))) {
        let _ = folder.sync_all();
    }
}

/// Writes a complete file, or leaves nothing behind. A pipe or a device, such as `/dev/null`, is
/// written to directly; a symbolic link is followed.
///
/// # Errors
/// A folder is in its place, the name is too long, the disk is full, or the folder can't be written
/// to.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// Writes a complete file in a folder that others may have filled. A symbolic link, a pipe or a
/// device at its place is replaced, and the target of a link stays unchanged.
///
/// # Errors
/// As those of [`write()`].
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = NewFile::replacing(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// Writes a complete file if nothing is at its place; returns false if something is, which stays
/// unchanged.
///
/// # Errors
/// As those of [`write()`].
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<bool> {
    let mut file = NewFile::create(path)?;
    file.write_all(bytes)?;
    file.commit_new()
}

/// Writes a file in place, for programs to read, inside of a [`crate::TemporaryFolder`], which goes
/// with its owner. If a program left something at its place, that is removed, not followed.
///
/// # Errors
/// The disk is full.
pub fn write_scratch(path: &Path, bytes: &[u8]) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => File::options().write(true).create_new(true).open(path)?.write_all(bytes),
    }
}

/// Allows the owner to execute a file that a confined program wrote, which may not do so itself. A
/// link is not followed, and a file that has another name elsewhere stays unchanged.
///
/// # Errors
/// It isn't there, or isn't a file of one name.
pub fn allow_execution(path: &Path) -> Result<()> {
    #[cfg(unix)]
    {
        use rustix::fs::{Mode, OFlags, fchmod, fstat};

        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = rustix::fs::open(path, flags, Mode::empty())?;
        let found = fstat(&file)?;
        let is_file = rustix::fs::FileType::from_raw_mode(found.st_mode).is_file();
        if !is_file || found.st_nlink != 1 {
            return Err(Error::new(ErrorKind::InvalidInput, "it isn't a file of one name"));
        }
        fchmod(&file, Mode::from_raw_mode(0o700))?;
    }
    #[cfg(not(unix))]
    let _ = path;
    Ok(())
}
