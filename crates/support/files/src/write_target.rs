//! Finds the file to which a path leads through symbolic links, with a clear error if it can't be
//! written.

use std::fs;
use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};

/// Greatest number of links that are followed from one path, as in the kernel.
const MAX_LINKS: usize = 40;

/// Target of a path to be written.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum WriteTarget {
    /// A regular file that exists or not; it is replaced as a whole.
    File(PathBuf),
    /// A pipe, a device, or a descriptor of this process, which is written to directly.
    Stream(PathBuf),
}

impl WriteTarget {
    /// Follows links to the file that is written, so that a link stays a link.
    pub(crate) fn find(path: &Path) -> Result<Self> {
        crate::check_local(path)?;
        let mut at = path.to_owned();
        if at.file_name().is_none() {
            return Err(Error::new(ErrorKind::InvalidInput, "it names no file"));
        }
        for _ in 0..MAX_LINKS {
            let metadata = match fs::symlink_metadata(&at) {
                Ok(metadata) => metadata,
                Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::File(at)),
                Err(error) => return Err(explained(&at, error)),
            };
            let kind = metadata.file_type();
            if kind.is_dir() {
                return Err(Error::new(ErrorKind::IsADirectory, "a folder is in its place"));
            }
            if kind.is_file() {
                return Ok(Self::File(at));
            }
            check_owner(&at, &metadata)?;
            // `/dev/stdout` and `/dev/fd/1` lead to files that others hold open.
            if !kind.is_symlink() || at.starts_with("/dev") || at.starts_with("/proc") {
                return Ok(Self::Stream(at));
            }
            let target = fs::read_link(&at)?;
            at = at.parent().unwrap_or(Path::new("")).join(target);
        }
        Err(Error::new(ErrorKind::InvalidInput, "its symbolic links lead in a circle"))
    }
}

/// Refuses a link or a pipe that another user left in a folder where everybody may write, such as
/// `/tmp`. This is the rule of Linux's `fs.protected_symlinks` and `fs.protected_fifos`, which
/// doesn't cover links that are resolved here.
#[cfg(unix)]
fn check_owner(path: &Path, metadata: &fs::Metadata) -> Result<()> {
    use std::os::unix::fs::MetadataExt;

    const STICKY_AND_OPEN: u32 = 0o1002;
    let folder = path.parent().filter(|it| *it != Path::new("")).unwrap_or(Path::new("."));
    let folder = fs::metadata(folder)?;
    let own = rustix::process::geteuid().as_raw();
    let is_open = folder.mode() & STICKY_AND_OPEN == STICKY_AND_OPEN;
    if is_open && metadata.uid() != own && metadata.uid() != folder.uid() {
        let text = format!(
            "`{}` is a link or a pipe of another user in a folder that everybody may write to: remove it, or name another file",
            path.display()
        );
        return Err(Error::new(ErrorKind::PermissionDenied, text));
    }
    Ok(())
}

#[cfg(not(unix))]
fn check_owner(_: &Path, _: &fs::Metadata) -> Result<()> {
    Ok(())
}

/// Makes the folder of a file; returns it as a path that can be opened.
pub(crate) fn make_folder(file: &Path) -> Result<PathBuf> {
    let folder = match file.parent() {
        Some(folder) if folder != Path::new("") => folder.to_owned(),
        _ => PathBuf::from("."),
    };
    fs::create_dir_all(&folder).map_err(|error| explained(&folder, error))?;
    Ok(folder)
}

/// Adds a remedy to an error, if the system's text has none.
pub(crate) fn explained(path: &Path, error: Error) -> Error {
    if error.kind() != ErrorKind::InvalidFilename {
        return error;
    }
    let name = path.file_name().map_or(0, |name| name.as_encoded_bytes().len());
    let whole = path.as_os_str().as_encoded_bytes().len();
    let long = format!(
        "{error}: its name has {name} bytes and its path {whole}; most file systems take 255 and 4095"
    );
    Error::new(ErrorKind::InvalidFilename, long)
}
