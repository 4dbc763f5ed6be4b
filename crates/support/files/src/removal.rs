//! Removal of a folder that a hostile program may have filled: with folders nested so deep that a
//! path exceeds the system's limit or a recursion exceeds the stack, and with folders without
//! permissions.

use std::ffi::{OsStr, OsString};
use std::io::{ErrorKind, Result};
use std::path::Path;

use rustix::fs::{AtFlags, Dir, Mode};

use crate::open_folder::{OpenFolder, kind};
use crate::patience::patiently;
use crate::write_target::open_folder;

/// Removes a file, or a folder with all that is below it. A link is removed, not followed.
pub(crate) fn remove(path: &Path) -> Result<()> {
    let Some(name) = path.file_name() else { return Err(ErrorKind::InvalidInput.into()) };
    let parent = open_folder(path.parent().unwrap_or(path))?;
    match unlink(&parent, name, AtFlags::empty()) {
        Err(_) if is_folder(&parent, name)? => remove_folder(&parent, name),
        outcome => outcome,
    }
}

fn unlink(folder: &OpenFolder, name: &OsStr, flags: AtFlags) -> Result<()> {
    patiently(|| rustix::fs::unlinkat(folder.handle(), name, flags))
}

fn is_folder(folder: &OpenFolder, name: &OsStr) -> Result<bool> {
    Ok(folder.entry(name)?.is_some_and(|there| kind(&there).is_dir()))
}

/// Removes a folder by moving each folder inside its folders up into it until none is left. So no
/// path has more than two names, and at most three folders are open at once.
fn remove_folder(parent: &OpenFolder, name: &OsStr) -> Result<()> {
    let top = parent.enter(name, false)?;
    let mut count = 0_u64;
    loop {
        let folders = remove_files(&top)?;
        if folders.is_empty() {
            return unlink(parent, name, AtFlags::REMOVEDIR);
        }
        for name in folders {
            allow(&top, &name)?;
            let folder = top.enter(&name, false)?;
            for inner in remove_files(&folder)? {
                let free = loop {
                    count += 1;
                    let free = OsString::from(format!("{count}"));
                    if top.entry(&free)?.is_none() {
                        break free;
                    }
                };
                allow(&folder, &inner)?;
                patiently(|| rustix::fs::renameat(folder.handle(), &inner, top.handle(), &free))?;
            }
            unlink(&top, &name, AtFlags::REMOVEDIR)?;
        }
    }
}

/// Gives the owner all permissions on a folder, because a program may have removed them.
fn allow(folder: &OpenFolder, name: &OsStr) -> Result<()> {
    patiently(|| rustix::fs::chmodat(folder.handle(), name, Mode::RWXU, AtFlags::empty()))
}

/// Removes the files of a folder and returns the names of the folders in it.
fn remove_files(folder: &OpenFolder) -> Result<Vec<OsString>> {
    use std::os::unix::ffi::OsStrExt;

    let mut folders = Vec::new();
    let mut entries = Dir::new(folder.open(OsStr::new("."))?)?;
    while let Some(entry) = entries.read() {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        if is_folder(folder, name)? {
            folders.push(name.to_owned());
        } else {
            unlink(folder, name, AtFlags::empty())?;
        }
    }
    Ok(folders)
}
