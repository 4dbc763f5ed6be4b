//! A file that appears under its name when it is whole.

use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

use crate::temporary::{Temporary, lock_in_use, name, sweep_first};
use crate::write_target::{WriteTarget, explained, make_folder};

/// Attempts at a name; a second one only if another process swept the first away as it was made.
const ATTEMPTS: usize = 16;

/// Checks that a file can be written at `path`, before the work begins that makes it: as
/// [`NewFile::create`] does, but a pipe or a device is not opened, and folders that are made for it
/// are removed again.
///
/// # Errors
/// As those of [`NewFile::create`].
pub fn check_writable(path: &Path) -> Result<()> {
    let WriteTarget::File(place) = WriteTarget::find(path)? else { return Ok(()) };
    let folders = place.ancestors().skip(1).filter(|it| *it != Path::new(""));
    let missing: Vec<PathBuf> =
        folders.take_while(|it| !it.exists()).map(Path::to_path_buf).collect();
    let outcome = NewFile::beside(place).map(drop);
    // One that isn't empty is in use by now, and stays.
    missing.iter().for_each(|folder| _ = fs::remove_dir(folder));
    outcome
}

/// A file that is not complete yet. Dropped without [`NewFile::commit`] it leaves nothing behind,
/// unless it is a pipe or a device, which gets its bytes as they come.
#[derive(Debug)]
pub struct NewFile {
    file: File,
    place: PathBuf,
    /// Nothing for a pipe or a device.
    temporary: Option<Temporary>,
}

impl NewFile {
    /// A file that is to be at `path`, whose folder is made if it is not there. A symbolic link is
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

    /// A file that is to be at `path` in a folder that others may have filled: what is in its place
    /// is replaced when this is whole, be it a link, a pipe or a device.
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
        // A name that is too long is found now, not when everything has been written.
        if let Err(error) = fs::symlink_metadata(&place)
            && error.kind() == ErrorKind::InvalidFilename
        {
            return Err(explained(&place, error));
        }
        sweep_first(&folder);
        for _ in 0..ATTEMPTS {
            let temporary = Temporary::new(folder.join(name(place.extension())));
            match File::options().write(true).create_new(true).open(temporary.path()) {
                Ok(file) if lock_in_use(&file, temporary.path()) => {
                    // Secrets stay as readable as they were.
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

    /// Takes the permission to write from everybody but its owner, whatever the system's setting or
    /// a file that was there before: for what only its owner may have written when it is read.
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

    /// Moves it to its place when its bytes are on the disk.
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

    /// Moves it to its place without waiting for the disk: for what is checked when it is read,
    /// such as a cache.
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

    /// Moves it to its place if nothing is there; false if something is, which stays.
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
            // A file system without links: two that come at the same moment can't be told apart.
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

/// Writes a file whole. What can't be written leaves nothing behind; a pipe or a device, such as
/// `/dev/null`, is written to as it is; a symbolic link is followed.
///
/// # Errors
/// A folder is in its place, the name is too long, the disk is full, or the folder can't be written
/// to.
pub fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = NewFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// Writes a file whole in a folder that others may have filled: a symbolic link, a pipe or a device
/// in its place is replaced, and what a link leads to stays as it is.
///
/// # Errors
/// As those of [`write()`].
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = NewFile::replacing(path)?;
    file.write_all(bytes)?;
    file.commit()
}

/// Writes a file whole if nothing is in its place; false if something is, which stays as it is.
///
/// # Errors
/// As those of [`write()`].
pub fn write_new(path: &Path, bytes: &[u8]) -> Result<bool> {
    let mut file = NewFile::create(path)?;
    file.write_all(bytes)?;
    file.commit_new()
}

/// Writes a file in place, for programs to read, inside of a [`crate::TemporaryFolder`], which goes
/// with its owner. A program that worked there may have left something in its place: it is removed,
/// not followed.
///
/// # Errors
/// The disk is full.
pub fn write_scratch(path: &Path, bytes: &[u8]) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => File::options().write(true).create_new(true).open(path)?.write_all(bytes),
    }
}

/// Lets its owner execute a file that a confined program wrote, which may not do so itself. A link
/// is not followed, and what has another name elsewhere stays as it is.
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
