//! Machine code on disk, found again by the content of what it was made of.
//!
//! Files are written beside their place and renamed, so another process sees a whole one or none. A file holds the
//! digest of its content; one that doesn't fit it is thrown away and made again.

use crate::error::Error;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// The variable that names the folder.
const VARIABLE: &str = "GBXCULE_CACHE";
/// What a file begins with, the layout's version with it.
const MAGIC: &[u8] = b"gbxcule code 1\n";
const DIGEST_BYTES: usize = 32;

/// A folder of machine code. Its files may be deleted at any time.
pub(crate) struct Disk {
    folder: PathBuf,
    /// Whether the user named it: then he learns if it can't be written.
    named: bool,
}

impl Disk {
    /// The folder that `GBXCULE_CACHE` names, else one in the user's cache; `None` if there is no such place.
    pub(crate) fn find() -> Option<Self> {
        let path =
            |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        if let Some(folder) = path(VARIABLE) {
            return Some(Self { folder, named: true });
        }
        let user = if cfg!(windows) {
            path("LOCALAPPDATA")
        } else {
            path("XDG_CACHE_HOME").or_else(|| Some(path("HOME")?.join(".cache")))
        };
        Some(Self { folder: user?.join("gbxcule"), named: false })
    }

    /// The name of what is made of these parts.
    pub(crate) fn key(parts: &[&str]) -> String {
        let mut digest = Sha256::new_with_prefix(MAGIC);
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        digest.finalize().iter().fold(String::new(), |mut text, byte| {
            _ = write!(text, "{byte:02x}");
            text
        })
    }

    /// What is kept by this name; else it is made, and kept.
    pub(crate) fn fetch(
        &self,
        key: &str,
        make: impl FnOnce() -> Result<Vec<u8>, Error>,
    ) -> Result<Vec<u8>, Error> {
        let path = self.folder.join(format!("{key}.cubin"));
        if let Some(content) = read(&path) {
            return Ok(content);
        }
        let content = make()?;
        match self.write(&path, &content) {
            Err(error) if self.named => {
                Err(Error::Cache { path: self.folder.clone(), reason: error.to_string() })
            }
            // It only has to be made again next time.
            _ => Ok(content),
        }
    }

    fn write(&self, path: &Path, content: &[u8]) -> std::io::Result<()> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        std::fs::create_dir_all(&self.folder)?;
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let beside = path.with_extension(format!("{}.{number}.part", std::process::id()));
        let write = || {
            let mut file = std::fs::File::create(&beside)?;
            file.write_all(MAGIC)?;
            file.write_all(&Sha256::digest(content))?;
            file.write_all(content)?;
            std::fs::rename(&beside, path)
        };
        write().inspect_err(|_| _ = std::fs::remove_file(&beside))
    }
}

/// The content of a file that is whole.
fn read(path: &Path) -> Option<Vec<u8>> {
    let bytes = std::fs::read(path).ok()?;
    let (digest, content) = bytes.strip_prefix(MAGIC)?.split_at_checked(DIGEST_BYTES)?;
    (*Sha256::digest(content) == *digest).then(|| content.to_vec())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn never() -> Result<Vec<u8>, Error> {
        panic!("it is kept")
    }

    #[test]
    fn what_was_made_is_found_again_until_it_is_damaged() {
        let root = tempfile::tempdir().expect("a folder");
        let disk = Disk { folder: root.path().join("a/b"), named: true };
        let made = || Ok(b"code".to_vec());
        assert_eq!(disk.fetch("key", made), made());
        assert_eq!(disk.fetch("key", never), made());
        let path = root.path().join("a/b/key.cubin");
        let whole = std::fs::read(&path).expect("the file");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            for damaged in [&damaged[..], &whole[..at]] {
                std::fs::write(&path, damaged).expect("a file");
                assert_eq!(disk.fetch("key", || Ok(vec![7])), Ok(vec![7]), "{at}");
            }
        }
        assert_eq!(disk.fetch("key", never), Ok(vec![7]));
        let names = std::fs::read_dir(root.path().join("a/b")).expect("the folder");
        assert_eq!(names.count(), 1, "nothing is left half written");
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_only_if_the_user_named_it() {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::write(root.path().join("file"), "").expect("a file");
        let folder = root.path().join("file/inside");
        let made = || Ok(vec![1]);
        let error = Disk { folder: folder.clone(), named: true }.fetch("key", made);
        let error = error.expect_err("it names a file").to_string();
        assert!(error.contains(VARIABLE) && error.contains("inside"), "{error}");
        assert_eq!(Disk { folder, named: false }.fetch("key", made), made());
    }

    #[test]
    fn keys_tell_where_a_part_ends() {
        assert_ne!(Disk::key(&["ab", "c"]), Disk::key(&["a", "bc"]));
        assert_eq!(Disk::key(&["a"]).len(), 64);
    }
}
