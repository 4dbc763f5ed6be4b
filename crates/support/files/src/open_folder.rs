//! A folder that is held open. Files are made and renamed through its handle, so another user who
//! moves the folder, or puts a link in its place, can't redirect a write.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use crate::patience::patiently;

/// Flags that open a folder on the way to a file. On Linux this needs no right to list the folder.
#[cfg(target_os = "linux")]
const PASSED: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);
#[cfg(not(target_os = "linux"))]
const PASSED: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC);

/// Permission of the group and of all others to write. An access list appears in the group's bits.
pub(crate) const WRITABLE_BY_OTHERS: u32 = 0o022;

/// Permissions before the umask.
const FOLDER_MODE: Mode = Mode::from_raw_mode(0o777);
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);

#[derive(Debug)]
pub(crate) struct OpenFolder {
    handle: OwnedFd,
    /// Path by which the folder was reached, for messages and for programs that write by name.
    path: PathBuf,
}

impl OpenFolder {
    /// Opens the folder in which a path begins: the root, or the working folder.
    pub(crate) fn at_begin_of(path: &Path) -> Result<Self> {
        let begin = if path.is_absolute() { "/" } else { "" };
        let opened = if path.is_absolute() { "/" } else { "." };
        let handle = patiently(|| rustix::fs::openat(CWD, opened, PASSED, Mode::empty()))?;
        Ok(Self { handle, path: begin.into() })
    }

    pub(crate) fn handle(&self) -> &OwnedFd {
        &self.handle
    }

    pub(crate) fn path(&self) -> &Path {
        if self.path == Path::new("") { Path::new(".") } else { &self.path }
    }

    /// Returns the path of an entry.
    pub(crate) fn join(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    /// Returns the folder's own metadata.
    pub(crate) fn stat(&self) -> Result<Stat> {
        patiently(|| rustix::fs::fstat(&self.handle))
    }

    /// Returns the metadata of an entry, or `None` if there is no such entry; links are not
    /// followed.
    pub(crate) fn entry(&self, name: &OsStr) -> Result<Option<Stat>> {
        match patiently(|| rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)) {
            Ok(stat) => Ok(Some(stat)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(self.explained(name, error)),
        }
    }

    pub(crate) fn read_link(&self, name: &OsStr) -> Result<PathBuf> {
        use std::os::unix::ffi::OsStringExt;

        let text = patiently(|| rustix::fs::readlinkat(&self.handle, name, Vec::new()))?;
        Ok(std::ffi::OsString::from_vec(text.into_bytes()).into())
    }

    /// Opens a folder in this one. A link in its place is followed, or is an error.
    pub(crate) fn enter(&self, name: &OsStr, follows: bool) -> Result<Self> {
        let flags = if follows { PASSED } else { PASSED | OFlags::NOFOLLOW };
        let opened = patiently(|| rustix::fs::openat(&self.handle, name, flags, Mode::empty()));
        let handle = opened.map_err(|error| self.explained(name, error))?;
        Ok(Self { handle, path: self.join(name) })
    }

    /// Makes a folder in this one.
    pub(crate) fn make(&self, name: &OsStr) -> Result<()> {
        let made = patiently(|| rustix::fs::mkdirat(&self.handle, name, FOLDER_MODE));
        made.map_err(|error| self.explained(name, error))
    }

    /// Makes a file in this folder; an entry of that name is an error.
    pub(crate) fn create(&self, name: &OsStr) -> Result<File> {
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let made = patiently(|| rustix::fs::openat(&self.handle, name, flags, FILE_MODE));
        made.map(File::from).map_err(|error| self.explained(name, error))
    }

    /// Opens a pipe or a device to be written.
    pub(crate) fn open_stream(&self, name: &OsStr, follows: bool) -> Result<File> {
        let mut flags = OFlags::WRONLY | OFlags::NOCTTY | OFlags::CLOEXEC;
        if !follows {
            flags |= OFlags::NOFOLLOW;
        }
        let file = patiently(|| rustix::fs::openat(&self.handle, name, flags, Mode::empty()))?;
        Ok(File::from(file))
    }

    /// Opens a folder to be locked.
    pub(crate) fn open(&self, name: &OsStr) -> Result<File> {
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = patiently(|| rustix::fs::openat(&self.handle, name, flags, Mode::empty()))?;
        Ok(File::from(file))
    }

    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        let done = patiently(|| rustix::fs::renameat(&self.handle, from, &self.handle, to));
        done.map_err(|error| self.explained(to, error))
    }

    /// Moves the file or folder at `from` into this folder, under the name `to`.
    pub(crate) fn take(&self, from: &Path, to: &OsStr) -> Result<()> {
        let done = patiently(|| rustix::fs::renameat(CWD, from, &self.handle, to));
        done.map_err(|error| self.explained(to, error))
    }

    /// Gives a file of this folder a second name; a name that is taken is an error.
    pub(crate) fn link(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        let none = AtFlags::empty();
        patiently(|| rustix::fs::linkat(&self.handle, from, &self.handle, to, none))
    }

    /// Writes the folder's list of names to the disk, so that renamed files survive a power cut.
    pub(crate) fn sync(&self) {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let opened = patiently(|| rustix::fs::openat(&self.handle, ".", flags, Mode::empty()));
        if let Ok(opened) = opened {
            let _ = patiently(|| rustix::fs::fsync(&opened));
        }
    }

    /// Adds the cause and the remedy to errors whose system text lacks them.
    pub(crate) fn explained(&self, name: &OsStr, error: Error) -> Error {
        let text = match error.kind() {
            ErrorKind::InvalidFilename => {
                let (name, whole) = (name.len(), self.join(name).as_os_str().len());
                format!(
                    "{error}: its name has {name} bytes and its path {whole}; most file systems take 255 and 4095"
                )
            }
            ErrorKind::StorageFull if self.takes_no_files() => {
                format!(
                    "{error}: its file system takes no more files (no inodes are left), however many bytes are free; \
                     remove files there, or name another folder"
                )
            }
            _ => return error,
        };
        Error::new(error.kind(), text)
    }

    fn takes_no_files(&self) -> bool {
        let room = patiently(|| rustix::fs::fstatvfs(&self.handle));
        // A file system without a fixed table of inodes reports 0 of them.
        room.is_ok_and(|room| room.f_files > 0 && room.f_favail == 0)
    }
}

/// Returns true if another user made the entry in a folder that a group or everybody may write to;
/// paths may not lead through such an entry. Linux's `fs.protected_symlinks` makes the same check
/// where it is enabled, but only for links in sticky folders.
pub(crate) fn is_of_another(entry: &Stat, folder: &Stat) -> bool {
    let own = rustix::process::geteuid().as_raw();
    folder.st_mode & WRITABLE_BY_OTHERS != 0 && ![own, 0, folder.st_uid].contains(&entry.st_uid)
}

/// Kind of an entry.
pub(crate) fn kind(entry: &Stat) -> FileType {
    FileType::from_raw_mode(entry.st_mode)
}

/// Returns true if an error says that something has that name already.
pub(crate) fn is_taken(error: &Error) -> bool {
    error.raw_os_error() == Some(Errno::EXIST.raw_os_error())
}
