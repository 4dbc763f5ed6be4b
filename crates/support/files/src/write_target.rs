//! Finds the file to which a path leads. The walk holds each folder of the path open, follows only
//! trusted symbolic links, and reports clearly why a file can't be written.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Error, ErrorKind, Result};
use std::path::{Component, Path, PathBuf};

use rustix::fs::FileType;

use crate::open_folder::{OpenFolder, is_of_another, is_taken, kind};

/// Greatest number of links that are followed from one path, as in Linux.
const MAX_LINKS: usize = 40;

/// A name in a folder that is held open.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) folder: OpenFolder,
    pub(crate) name: OsString,
    /// Folders that were missing on the way and were made, the outermost first.
    pub(crate) made: Vec<PathBuf>,
}

/// Target of a path to be written.
#[derive(Debug)]
pub(crate) enum WriteTarget {
    /// A regular file that exists or not; it is replaced as a whole.
    File(Place),
    /// A pipe, a device, or a descriptor of this process, which is written to directly.
    Stream(Place),
}

impl WriteTarget {
    /// Follows links to the file itself, so that a write leaves the links in place, and makes
    /// missing folders.
    pub(crate) fn find(path: &Path) -> Result<Self> {
        crate::check_local(path)?;
        if path.file_name().is_none() {
            return Err(Error::new(ErrorKind::InvalidInput, "it names no file"));
        }
        Walk::along(path)?.target()
    }
}

/// Opens a folder; links on the way are followed.
pub(crate) fn open_folder(path: &Path) -> Result<OpenFolder> {
    folder_along(path, false)
}

/// Opens a folder, and makes it if it is missing; links on the way are followed.
pub(crate) fn make_folder(path: &Path) -> Result<OpenFolder> {
    folder_along(path, true)
}

fn folder_along(path: &Path, makes: bool) -> Result<OpenFolder> {
    crate::check_local(path)?;
    let mut walk = Walk::along(path)?;
    while let Some(name) = walk.ahead.pop() {
        walk.pass(&name, makes)?;
    }
    Ok(walk.folder)
}

/// Finds a place below a folder that others may have filled: missing folders are made, and a link
/// on the way is an error.
pub(crate) fn place_inside(folder: &Path, inside: &Path) -> Result<Place> {
    let mut folder = make_folder(folder)?;
    let mut names: Vec<&OsStr> = Vec::new();
    for part in inside.components() {
        let Component::Normal(name) = part else {
            return Err(Error::new(ErrorKind::InvalidInput, "it lies outside of its folder"));
        };
        names.push(name);
    }
    let last = names.pop();
    for name in names {
        folder = match folder.entry(name)? {
            Some(there) if kind(&there).is_symlink() => return Err(link_in_the_way(&folder, name)),
            Some(_) => folder.enter(name, false)?,
            None => made_below(&folder, name)?,
        };
    }
    let name = last.ok_or_else(|| Error::new(ErrorKind::InvalidInput, "it names no file"))?;
    Ok(Place { folder, name: name.to_owned(), made: Vec::new() })
}

fn link_in_the_way(folder: &OpenFolder, name: &OsStr) -> Error {
    let path = folder.join(name);
    let text = format!(
        "`{}` is a link in the place of a folder, and its owner would choose which files are replaced: make it a \
         folder, or name another one",
        path.display()
    );
    Error::new(ErrorKind::PermissionDenied, text)
}

fn made_below(folder: &OpenFolder, name: &OsStr) -> Result<OpenFolder> {
    match folder.make(name) {
        Err(error) if !is_taken(&error) => Err(error),
        // Another process may have made it.
        _ => folder.enter(name, false),
    }
}

/// A path that is followed name by name.
struct Walk {
    folder: OpenFolder,
    /// Names that lie ahead, the next one last.
    ahead: Vec<OsString>,
    links: usize,
    made: Vec<PathBuf>,
}

impl Walk {
    fn along(path: &Path) -> Result<Self> {
        let folder = OpenFolder::at_begin_of(path)?;
        let mut walk = Self { folder, ahead: Vec::new(), links: 0, made: Vec::new() };
        walk.put_ahead(path);
        Ok(walk)
    }

    fn put_ahead(&mut self, path: &Path) {
        let is_name = |part: &Component<'_>| {
            !matches!(part, Component::RootDir | Component::CurDir | Component::Prefix(_))
        };
        let parts: Vec<_> = path.components().filter(is_name).collect();
        self.ahead.extend(parts.iter().rev().map(|part| part.as_os_str().to_owned()));
    }

    fn target(mut self) -> Result<WriteTarget> {
        while let Some(name) = self.ahead.pop() {
            if !self.ahead.is_empty() || name == ".." {
                self.pass(&name, true)?;
                continue;
            }
            let there = self.folder.entry(&name)?;
            let target: fn(Place) -> WriteTarget = match there.as_ref().map(kind) {
                None | Some(FileType::RegularFile) => WriteTarget::File,
                Some(FileType::Directory) => break,
                // `/dev/stdout` and `/dev/fd/1` lead to files that others hold open.
                Some(FileType::Symlink) if !is_of_system(&self.folder) => {
                    self.follow(&name)?;
                    continue;
                }
                Some(_) => {
                    check_owner(&self.folder, &name)?;
                    WriteTarget::Stream
                }
            };
            return Ok(target(Place { folder: self.folder, name, made: self.made }));
        }
        Err(Error::new(ErrorKind::IsADirectory, "a folder is in its place"))
    }

    /// Goes into a folder, through links that lead to it, and makes it if it is missing and `makes`
    /// is true.
    fn pass(&mut self, name: &OsStr, makes: bool) -> Result<()> {
        self.folder = match self.folder.entry(name)? {
            None if makes => {
                self.made.push(self.folder.join(name));
                made_below(&self.folder, name)?
            }
            Some(there)
                if kind(&there).is_symlink() && !self.folder.path().starts_with("/proc") =>
            {
                return self.follow(name);
            }
            // Links of `/proc` may lead to open files that have no path, so the kernel follows
            // them.
            _ => self.folder.enter(name, is_of_system(&self.folder))?,
        };
        Ok(())
    }

    fn follow(&mut self, name: &OsStr) -> Result<()> {
        check_owner(&self.folder, name)?;
        self.links += 1;
        if self.links > MAX_LINKS {
            let circle = "its symbolic links lead in a circle";
            return Err(Error::new(ErrorKind::InvalidInput, circle));
        }
        let target = self.folder.read_link(name)?;
        if target.is_absolute() {
            self.folder = OpenFolder::at_begin_of(&target)?;
        }
        self.put_ahead(&target);
        Ok(())
    }
}

/// Returns true in the folders in which the system itself keeps devices and open files.
fn is_of_system(folder: &OpenFolder) -> bool {
    folder.path() == Path::new("/dev") || folder.path().starts_with("/proc")
}

/// Refuses a link or a pipe that another user made in a folder that others may write to, such as
/// `/tmp`.
fn check_owner(folder: &OpenFolder, name: &OsStr) -> Result<()> {
    match folder.entry(name)? {
        Some(there) if is_of_another(&there, &folder.stat()?) => Err(of_another(folder, name)),
        _ => Ok(()),
    }
}

fn of_another(folder: &OpenFolder, name: &OsStr) -> Error {
    let text = format!(
        "`{}` is a link or a pipe of another user in a folder that others may write to: remove it, or name another file",
        folder.join(name).display()
    );
    Error::new(ErrorKind::PermissionDenied, text)
}

/// Opens a pipe or a device, and refuses a file that replaced it since [`WriteTarget::find`].
pub(crate) fn open_stream(place: &Place) -> Result<File> {
    let is_of_system = is_of_system(&place.folder);
    let file = place.folder.open_stream(&place.name, is_of_system)?;
    if !is_of_system {
        let there = rustix::fs::fstat(&file)?;
        if kind(&there).is_file() || is_of_another(&there, &place.folder.stat()?) {
            return Err(of_another(&place.folder, &place.name));
        }
    }
    Ok(file)
}
