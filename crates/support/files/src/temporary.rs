//! Names of unfinished files and folders. This process keeps a list of them; a lock marks them for
//! other processes.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::Result;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags};

use crate::patience::patiently;
use crate::removal::remove;

const PREFIX: &str = ".gbxcule-";
const SUFFIX: &str = ".part";
/// The only extension that a temporary name keeps, because image encoders choose the format by it.
/// Readers look for other extensions, so these are dropped.
const PICTURE: &str = "png";

/// Temporary files and folders that this process is using.
static UNDER_WAY: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

/// Folders that this process has swept before it wrote there.
static SWEPT: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());

fn with_temporaries<R>(change: impl FnOnce(&mut BTreeSet<PathBuf>) -> R) -> R {
    change(&mut UNDER_WAY.lock().unwrap_or_else(PoisonError::into_inner))
}

/// Creates a random name. Its length is always the same, so that even a file with a name of 255
/// bytes gets one beside it.
pub(crate) fn name(extension: Option<&OsStr>) -> OsString {
    let random = random();
    let extension = if extension == Some(OsStr::new(PICTURE)) { ".png" } else { "" };
    format!("{PREFIX}{random:016x}{SUFFIX}{extension}").into()
}

/// Returns another number at each call, seeded by the system for each thread. A process id would
/// not be unique across containers.
fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// Creates eight random digits, for the names of runs.
#[must_use]
pub fn random_word() -> String {
    format!("{:08x}", random() as u32)
}

fn is_name(name: &OsStr) -> bool {
    let Some(rest) = name.to_str().and_then(|name| name.strip_prefix(PREFIX)) else { return false };
    let Some((digits, rest)) = rest.split_at_checked(16) else { return false };
    digits.bytes().all(|byte| byte.is_ascii_hexdigit()) && rest.starts_with(SUFFIX)
}

/// A path that is removed unless it is kept.
#[derive(Debug)]
pub(crate) struct Temporary {
    path: PathBuf,
    kept: bool,
}

impl Temporary {
    /// Registers a path that is about to be made.
    pub(crate) fn new(path: PathBuf) -> Self {
        with_temporaries(|all| all.insert(path.clone()));
        Self { path, kept: false }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns its name in its folder.
    pub(crate) fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    /// Keeps the file or folder, which has another name by now.
    pub(crate) fn keep(&mut self) {
        self.kept = true;
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.kept {
            // If that fails, the next start sweeps it away.
            let _ = remove(&self.path);
        }
        with_temporaries(|all| all.remove(&self.path));
    }
}

/// Takes the lock that marks a temporary file or folder as used; returns false if a sweep was
/// faster. On a file system without locks, sweeps remove nothing.
pub(crate) fn lock_in_use(file: &File, path: &Path) -> bool {
    !matches!(file.try_lock(), Err(TryLockError::WouldBlock)) && path.exists()
}

/// Removes the temporary files and folders that killed processes left in a folder, and returns
/// their number. Those of living processes are locked and stay.
pub fn sweep(folder: &Path) -> usize {
    let Ok(entries) = fs::read_dir(folder) else { return 0 };
    let left = entries.flatten().filter(|entry| is_name(&entry.file_name()));
    left.filter(|entry| is_abandoned(&entry.path()).unwrap_or(false)).count()
}

/// Sweeps a folder before this process's first write there. So incomplete files of killed processes
/// don't accumulate beside a file that is often replaced, such as a checkpoint.
pub(crate) fn sweep_first(folder: &Path) {
    let is_first = SWEPT.lock().unwrap_or_else(PoisonError::into_inner).insert(folder.to_owned());
    if is_first {
        sweep(folder);
    }
}

fn is_abandoned(path: &Path) -> Result<bool> {
    let kind = fs::symlink_metadata(path)?.file_type();
    // The flags hold even if the entry was replaced since the check: no pipe blocks the call, and
    // no link is followed.
    let common = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let flags = match () {
        () if kind.is_file() => OFlags::WRONLY | OFlags::APPEND,
        () if kind.is_dir() => OFlags::DIRECTORY,
        () => return Ok(false),
    };
    let file: File = patiently(|| rustix::fs::open(path, common | flags, Mode::empty()))?.into();
    let is_own = file.metadata()?.uid() == rustix::process::geteuid().as_raw();
    if !is_own || file.try_lock().is_err() {
        return Ok(false);
    }
    remove(path)?;
    Ok(true)
}

/// Removes all temporary files and folders of this process: for a signal that ends it.
pub fn remove_all() {
    let all = with_temporaries(std::mem::take);
    for path in all {
        // Another thread may be adding files to the folder.
        for _ in 0..5 {
            let _ = remove(&path);
            if !path.exists() {
                break;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_differ_and_are_known_again() {
        let names: BTreeSet<OsString> = (0..1000).map(|_| name(None)).collect();
        assert_eq!(names.len(), 1000);
        assert!(names.iter().all(|name| is_name(name)));
        assert!(is_name(&name(Some(OsStr::new("png")))));
        assert!(
            name(Some(OsStr::new("parquet"))).to_string_lossy().ends_with(".part"),
            "readers look for tables"
        );
        let others =
            ["part", ".gbxcule-", ".gbxcule-0123456789abcdef", ".gbxcule-0123456789abcdeg.part"];
        assert!(others.iter().all(|name| !is_name(OsStr::new(name))));
    }

    #[test]
    fn temporary_files_that_nobody_holds_are_swept_and_no_others() {
        let folder = tempfile::tempdir().expect("a folder");
        let [left, held, other] =
            [name(None), name(None), "data".into()].map(|it| folder.path().join(it));
        for path in [&left, &held, &other] {
            fs::write(path, "text").expect("a file");
        }
        let scratch = folder.path().join(name(None));
        fs::create_dir(&scratch).expect("a folder");
        fs::write(scratch.join("main"), "text").expect("a file");
        let owner = File::options().append(true).open(&held).expect("the file");
        owner.lock().expect("nobody else has it");
        assert_eq!(sweep(folder.path()), 2);
        assert!(!left.exists() && !scratch.exists() && held.exists() && other.exists());
        drop(owner);
        assert_eq!(sweep(folder.path()), 1);
        assert!(!held.exists());
    }
}
