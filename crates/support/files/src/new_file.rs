//! A file that appears under its name when it is complete.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Error, ErrorKind, Result, Write};
use std::path::{Path, PathBuf};

use rustix::fs::Mode;

use crate::open_folder::{OpenFolder, is_taken, kind};
use crate::patience::{Patient, patiently};
use crate::temporary::{Temporary, lock_in_use, name, sweep_first};
use crate::write_target::{Place, WriteTarget, open_folder, open_stream, place_inside};

/// Greatest number of attempts at a name. A second attempt is needed only if another process sweeps
/// the new file away before it is locked.
const MAX_ATTEMPTS: usize = 16;

/// Checks that a file can be written at `path`, before the work begins that fills it. The check
/// makes the file and its folders as [`NewFile::create`] does and removes them again; it doesn't
/// open a pipe or a device.
///
/// # Errors
/// As for [`NewFile::create`].
pub fn check_writable(path: &Path) -> Result<()> {
    let WriteTarget::File(mut place) = WriteTarget::find(path)? else { return Ok(()) };
    let made = std::mem::take(&mut place.made);
    let outcome = NewFile::at(place).map(drop);
    // A folder into which another process has put a file meanwhile stays.
    made.iter().rev().for_each(|folder| _ = fs::remove_dir(folder));
    outcome
}

/// A file that is not complete yet. Without [`NewFile::commit`] it leaves nothing behind when it is
/// dropped. A pipe or a device gets its bytes at once.
#[derive(Debug)]
pub struct NewFile {
    file: Patient<File>,
    folder: OpenFolder,
    name: OsString,
    /// Temporary file; `None` for a pipe or a device.
    temporary: Option<Temporary>,
}

impl NewFile {
    /// Begins a file for `path`, whose folder is made if it doesn't exist. A symbolic link is
    /// followed, unless another user left it in a folder that others may write to.
    ///
    /// # Errors
    /// A folder is in its place, the name is too long, or the folder can't be written to.
    pub fn create(path: &Path) -> Result<Self> {
        match WriteTarget::find(path)? {
            WriteTarget::Stream(place) => {
                let file = Patient::new(open_stream(&place)?);
                let Place { folder, name, .. } = place;
                Ok(Self { file, folder, name, temporary: None })
            }
            WriteTarget::File(place) => Self::at(place),
        }
    }

    /// Begins a file for a path below a folder that others may have filled. The file replaces a
    /// link, a pipe or a device at its path instead of following it. A link in place of a folder of
    /// the path is an error.
    ///
    /// # Errors
    /// As for [`NewFile::create`].
    pub fn replacing(folder: &Path, inside: &Path) -> Result<Self> {
        let place = place_inside(folder, inside)?;
        if place.folder.entry(&place.name)?.is_some_and(|there| kind(&there).is_dir()) {
            return Err(Error::new(ErrorKind::IsADirectory, "a folder is in its place"));
        }
        Self::at(place)
    }

    fn at(Place { folder, name: place, .. }: Place) -> Result<Self> {
        // This look-up refuses a name that is too long before anything is written.
        let before = folder.entry(&place)?;
        sweep_first(folder.path());
        for _ in 0..MAX_ATTEMPTS {
            let name = name(Path::new(&place).extension());
            let temporary = Temporary::new(folder.join(&name));
            match folder.create(&name) {
                Ok(file) if lock_in_use(&file, temporary.path()) => {
                    // The new file is readable by as few users as the old one, which may hold
                    // secrets. A file of another user gives no rights.
                    let own = rustix::process::geteuid().as_raw();
                    if let Some(before) = before
                        && kind(&before).is_file()
                        && before.st_uid == own
                    {
                        let rights = Mode::from_raw_mode(before.st_mode & 0o777);
                        patiently(|| rustix::fs::fchmod(&file, rights))?;
                    }
                    let file = Patient::new(file);
                    return Ok(Self { file, folder, name: place, temporary: Some(temporary) });
                }
                Ok(_) => {}
                Err(error) if is_taken(&error) => {}
                Err(error) => return Err(error),
            }
        }
        Err(Error::other("no free name for a temporary file beside it"))
    }

    /// Returns the path of the temporary file, for a program or a library that writes by name.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.temporary.as_ref().map_or_else(|| self.folder.join(&self.name), |it| it.path().into())
    }

    /// Allows only the owner to write, whatever the umask or the replaced file says: for files that
    /// [`crate::read_own`] reads.
    ///
    /// # Errors
    /// The file system refuses.
    pub fn deny_others_writing(&self) -> Result<()> {
        let file = self.file.get();
        let mode = patiently(|| rustix::fs::fstat(file))?.st_mode;
        patiently(|| rustix::fs::fchmod(file, Mode::from_raw_mode(mode & 0o755)))
    }

    /// Waits until the bytes are on the disk, then moves the file to its place.
    ///
    /// # Errors
    /// The disk is full, or the folder can't be written to.
    pub fn commit(mut self) -> Result<()> {
        if self.temporary.is_some() {
            self.sync()?;
        }
        self.rename()?;
        self.folder.sync();
        Ok(())
    }

    /// Moves the file to its place without waiting for the disk: for files whose contents readers
    /// check, such as a cache's.
    ///
    /// # Errors
    /// The folder can't be written to.
    pub fn commit_unsynced(mut self) -> Result<()> {
        self.rename()
    }

    /// Moves the file to its place and returns true, or false if an entry of that name exists; that
    /// entry stays.
    ///
    /// # Errors
    /// The folder can't be written to.
    pub fn commit_new(self) -> Result<bool> {
        let Some(temporary) = &self.temporary else { return self.commit().map(|()| true) };
        self.sync()?;
        match self.folder.link(temporary.name(), &self.name) {
            Ok(()) => {
                self.folder.sync();
                Ok(true)
            }
            Err(error) if is_taken(&error) => Ok(false),
            // On a file system without hard links, the later of two simultaneous writers wins.
            Err(_) if self.folder.entry(&self.name)?.is_some() => Ok(false),
            Err(_) => self.commit().map(|()| true),
        }
    }

    fn sync(&self) -> Result<()> {
        patiently(|| rustix::fs::fsync(self.file.get()))
    }

    fn rename(&mut self) -> Result<()> {
        let Some(temporary) = &mut self.temporary else { return Ok(()) };
        self.folder.rename(temporary.name(), &self.name)?;
        temporary.keep();
        Ok(())
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

/// Writes a complete file below a folder that others may have filled. A symbolic link, a pipe or a
/// device at its place is replaced, and the target of a link stays unchanged.
///
/// # Errors
/// As those of [`write()`], or a link is in the place of a folder on the way.
pub fn replace(folder: &Path, inside: impl AsRef<Path>, bytes: &[u8]) -> Result<()> {
    let mut file = NewFile::replacing(folder, inside.as_ref())?;
    file.write_all(bytes)?;
    file.commit()
}

/// Moves a file or a folder of this user to a path below a folder that others may have filled, on
/// the same file system. A file replaces a file or a link at that path; a folder replaces neither.
///
/// # Errors
/// An entry at the path can't be replaced, or a folder on the way is a link.
pub fn move_inside(from: &Path, folder: &Path, inside: &Path) -> Result<()> {
    let Place { folder, name, .. } = place_inside(folder, inside)?;
    folder.take(from, &name)
}

/// Writes a complete file below a folder that others may have filled and returns true. If its path
/// is taken, by a link for example, it changes nothing and returns false.
///
/// # Errors
/// As those of [`replace()`].
pub fn write_new(folder: &Path, inside: impl AsRef<Path>, bytes: &[u8]) -> Result<bool> {
    let mut file = NewFile::replacing(folder, inside.as_ref())?;
    file.write_all(bytes)?;
    file.commit_new()
}

/// Writes a file in a [`crate::TemporaryFolder`], under its name at once, for other programs to
/// read. A file or a link that a program left under that name is removed, not followed.
///
/// # Errors
/// The disk is full.
pub fn write_scratch(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.file_name().unwrap_or_default();
    let folder = open_folder(path.parent().unwrap_or(path))?;
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Patient::new(folder.create(name)?).write_all(bytes),
    }
}

/// Lets the owner execute a file that a confined program wrote; the program itself may not set that
/// right. A link and a file with a second hard link are refused, because they may lead to the
/// user's own files.
///
/// # Errors
/// The file is missing, or is no regular file with exactly one hard link.
pub fn allow_execution(path: &Path) -> Result<()> {
    use rustix::fs::{OFlags, fchmod, fstat};

    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = patiently(|| rustix::fs::open(path, flags, Mode::empty()))?;
    let stat = fstat(&file)?;
    if !kind(&stat).is_file() || stat.st_nlink != 1 {
        return Err(Error::new(
            ErrorKind::InvalidInput,
            "it isn't a regular file with one hard link",
        ));
    }
    patiently(|| fchmod(&file, Mode::from_raw_mode(0o700)))
}
