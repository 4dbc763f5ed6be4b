//! Results of compilers on disk, found by a digest of the compiler's input, so that the compiler
//! need not be installed.
//!
//! A file's name consists of the digest of the compiler's input and the compiler's version;
//! results of several versions lie side by side. Other processes see a complete file or no file.
//! A file holds a digest of its name and its content. Because the content is executed, a file is
//! made again if its digest is wrong or if another user could have written it. If the files of a
//! folder take more than `MAX_FOLDER_BYTES`, the files that were written first are removed.

use crate::error::Error;
use gbxcule_files::{NewFile, read_own, sweep};
use sha2::{Digest, Sha256};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::SystemTime;

/// Variable that names the folder.
const VARIABLE: &str = "GBXCULE_CACHE";
/// Value of the variable that turns the cache off: nothing is stored and nothing is found.
const OFF: &str = "off";
/// Greatest total size of the files in a folder. It is checked at some writes only, so a folder may
/// be larger for a while.
const MAX_FOLDER_BYTES: u64 = 2 << 30;
/// Number of writes of a process between two checks of a folder.
const WRITES_BETWEEN_CHECKS: u32 = 64;
/// First bytes of a file, with the version of the layout.
const MAGIC: &[u8] = b"gbxcule code 3\n";
const DIGEST_BYTES: usize = 32;
/// Size of the largest file that is read.
const MAX_BYTES: u64 = 1 << 28;

/// Major and minor version of a compiler.
type Version = (u32, u32);

/// Folder with results of compilers. Its files may be deleted at any time.
pub struct CodeFolder {
    folder: PathBuf,
    /// Ending of the names of the folder's files.
    extension: &'static str,
    /// True if the user named the folder; then a failed write is an error.
    named: bool,
    max_bytes: u64,
}

impl CodeFolder {
    /// Returns the folder that `GBXCULE_CACHE` names, else a folder in the user's cache, for
    /// files whose names have this ending; `None` if there is no such folder, or if the variable
    /// is `off`. The user's home is `HOME`, else the home in the system's user database, because
    /// services and containers often have no `HOME`.
    #[must_use]
    pub fn find(extension: &'static str) -> Option<Self> {
        let folder = Self::find_quietly(extension);
        if folder.is_none() && std::env::var_os(VARIABLE).is_none_or(|value| value != OFF) {
            say_once("this user has no home");
        }
        folder
    }

    /// Finds the folder as [`find`](Self::find) does, but reports nothing if it finds no folder.
    /// This is for results that are quick to make again.
    #[must_use]
    pub fn find_quietly(extension: &'static str) -> Option<Self> {
        let path =
            |name: &str| std::env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
        let max_bytes = MAX_FOLDER_BYTES;
        if let Some(folder) = path(VARIABLE) {
            let is_on = folder.as_os_str() != OFF;
            return is_on.then_some(Self { folder, extension, named: true, max_bytes });
        }
        let user = if cfg!(windows) {
            path("LOCALAPPDATA")
        } else {
            let home = || std::env::home_dir().filter(|home| home.is_absolute());
            path("XDG_CACHE_HOME").or_else(|| Some(home()?.join(".cache")))
        };
        Some(Self { folder: user?.join("gbxcule"), extension, named: false, max_bytes })
    }

    /// Returns the name of a result whose input consists of these parts.
    #[must_use]
    pub fn key(parts: &[&[u8]]) -> String {
        let mut digest = Sha256::new_with_prefix(MAGIC);
        for part in parts {
            digest.update((part.len() as u64).to_le_bytes());
            digest.update(part);
        }
        gbxcule_files::hex(&digest.finalize())
    }

    /// Returns the result with this name, of the newest of the wanted compilers.
    pub fn find_code(&self, key: &str, wanted: impl Fn(Version) -> bool) -> Option<Vec<u8>> {
        self.codes(key, wanted).next()
    }

    /// Returns the result with this name and this version, without looking at other files.
    pub fn find_version(&self, key: &str, version: Version) -> Option<Vec<u8>> {
        read(&self.folder.join(self.name(key, version)), key)
    }

    /// Iterates over the results with this name, of all wanted compilers, the newest first. Each is
    /// read when the iterator reaches it.
    pub(crate) fn codes(
        &self,
        key: &str,
        wanted: impl Fn(Version) -> bool,
    ) -> impl Iterator<Item = Vec<u8>> {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let version =
            |file: std::fs::DirEntry| self.version_of(key, &file.file_name().to_string_lossy());
        let mut versions: Vec<Version> =
            files.filter_map(version).filter(|version| wanted(*version)).collect();
        versions.sort_unstable();
        versions
            .into_iter()
            .rev()
            .filter_map(move |version| read(&self.folder.join(self.name(key, version)), key))
    }

    /// Stores a result of a compiler.
    ///
    /// # Errors
    /// The user named the folder, and nothing can be written there.
    pub fn keep(&self, key: &str, version: Version, code: &[u8]) -> Result<(), Error> {
        match self.write(&self.name(key, version), key, code) {
            Err(error) if self.named => {
                Err(Error::Cache { path: self.folder.clone(), reason: error.to_string() })
            }
            // The next process only has to compile again.
            Err(error) => {
                say_once(&format!("{}: {error}", self.folder.display()));
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }

    /// Stores a result that is made again quickly. A folder that can't be written is not an error;
    /// it is reported once if the user named it.
    pub fn keep_if_possible(&self, key: &str, version: Version, code: &[u8]) {
        let written = self.write(&self.name(key, version), key, code);
        if let Err(error) = written.map_err(|error| format!("{}: {error}", self.folder.display()))
            && self.named
        {
            say_once(&error);
        }
    }

    fn name(&self, key: &str, (major, minor): Version) -> String {
        format!("{key}-{major}.{minor}{}", self.extension)
    }

    fn write(&self, name: &str, key: &str, content: &[u8]) -> io::Result<()> {
        static WRITES: AtomicU32 = AtomicU32::new(0);
        if WRITES.fetch_add(1, Ordering::Relaxed).is_multiple_of(WRITES_BETWEEN_CHECKS) {
            sweep(&self.folder);
            self.make_room();
        }
        let mut file = NewFile::replacing(&self.folder, name.as_ref())?;
        file.deny_others_writing()?;
        file.write_all(MAGIC)?;
        file.write_all(&digest(key, content))?;
        file.write_all(content)?;
        // A file that a power cut has damaged doesn't fit its digest.
        file.commit_unsynced()
    }

    /// Removes files if all of them together take more than the limit: the files that were
    /// written first go, until a quarter of the limit is free. Files with names of other kinds
    /// stay.
    fn make_room(&self) {
        let files = std::fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let results = files.filter(|file| is_own_name(&file.file_name().to_string_lossy()));
        let mut all: Vec<(SystemTime, u64, PathBuf)> = results
            .filter_map(|file| {
                let facts = file.metadata().ok().filter(std::fs::Metadata::is_file)?;
                Some((facts.modified().ok()?, facts.len(), file.path()))
            })
            .collect();
        let mut total: u64 = all.iter().map(|(_, bytes, _)| bytes).sum();
        if total <= self.max_bytes {
            return;
        }
        all.sort_unstable();
        for (_, bytes, path) in all {
            if total <= self.max_bytes / 4 * 3 {
                break;
            }
            // Another process may have removed the file, or the system may refuse.
            _ = std::fs::remove_file(path);
            total -= bytes;
        }
    }

    /// Returns the compiler's version in a file's name, if the name has this key.
    fn version_of(&self, key: &str, name: &str) -> Option<Version> {
        let version = name.strip_prefix(key)?.strip_prefix('-')?.strip_suffix(self.extension)?;
        let (major, minor) = version.split_once('.')?;
        Some((major.parse().ok()?, minor.parse().ok()?))
    }
}

/// Returns true if a name begins with a digest and a version, as those of results do.
fn is_own_name(name: &str) -> bool {
    let Some((key, version)) = name.split_once('-') else { return false };
    let is_digit = |byte: u8| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte);
    key.len() == 2 * DIGEST_BYTES
        && key.bytes().all(is_digit)
        && version.starts_with(|first: char| first.is_ascii_digit())
}

/// Reports once that results can't be stored, because each process then compiles again, which
/// takes minutes.
fn say_once(reason: &str) {
    static SAID: std::sync::Once = std::sync::Once::new();
    SAID.call_once(|| {
        // A message that can't be written has no other way to the user.
        _ = writeln!(
            std::io::stderr(),
            "gbxcule: {reason}, so compiled kernels are not kept: name a folder in {VARIABLE}"
        );
    });
}

/// Returns the content of a file that is complete and belongs to this user.
fn read(path: &Path, key: &str) -> Option<Vec<u8>> {
    let bytes = read_own(path, MAX_BYTES).ok()?;
    let (stored_digest, content) = bytes.strip_prefix(MAGIC)?.split_at_checked(DIGEST_BYTES)?;
    (digest(key, content) == *stored_digest).then(|| content.to_vec())
}

/// Returns the digest that a file must hold. It includes the file's name, so that a renamed file is
/// refused.
fn digest(key: &str, content: &[u8]) -> [u8; DIGEST_BYTES] {
    Sha256::new_with_prefix(key).chain_update(content).finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(folder: PathBuf, named: bool) -> CodeFolder {
        CodeFolder { folder, extension: ".cubin", named, max_bytes: MAX_FOLDER_BYTES }
    }

    fn any(_: Version) -> bool {
        true
    }

    #[test]
    fn a_result_is_found_again_until_it_is_damaged() {
        let root = tempfile::tempdir().expect("a folder");
        let cache = folder(root.path().join("a/b"), true);
        assert_eq!(cache.find_code("key", any), None);
        cache.keep("key", (13, 0), b"code").expect("a folder of ours");
        assert_eq!(cache.find_code("key", any).as_deref(), Some(&b"code"[..]));
        let path = root.path().join("a/b/key-13.0.cubin");
        let whole = std::fs::read(&path).expect("the file");
        for at in 0..whole.len() {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            for damaged in [&damaged[..], &whole[..at]] {
                std::fs::write(&path, damaged).expect("a file");
                assert_eq!(cache.find_code("key", any), None, "{at}");
            }
        }
        cache.keep("key", (13, 0), &[7]).expect("a folder of ours");
        assert_eq!(cache.find_code("key", any), Some(vec![7]));
        let names = std::fs::read_dir(root.path().join("a/b")).expect("the folder");
        assert_eq!(names.count(), 1, "nothing is left half written");
    }

    /// Another user who may write to the folder, such as one in `/tmp`, must not choose the code
    /// that runs.
    #[cfg(unix)]
    #[test]
    fn files_that_others_could_have_written_are_not_used() {
        use std::os::unix::fs::PermissionsExt;
        let root = tempfile::tempdir().expect("a folder");
        let cache = folder(root.path().into(), true);
        cache.keep("key", (13, 0), b"code").expect("a folder of ours");
        let path = root.path().join("key-13.0.cubin");
        let mode = |mode| std::fs::set_permissions(&path, PermissionsExt::from_mode(mode));
        for others in [0o646, 0o664] {
            mode(others).expect("ours");
            assert_eq!(cache.find_code("key", any), None, "others may write to it: {others:o}");
        }
        cache.keep("key", (13, 0), b"code").expect("a folder of ours");
        assert_eq!(cache.find_code("key", any).as_deref(), Some(&b"code"[..]), "made again");
        // A copy with another name is refused.
        std::fs::copy(&path, root.path().join("other-13.0.cubin")).expect("a file");
        assert_eq!(cache.find_code("other", any), None);
        // Only the system's owner can make files that belong to others.
        if std::os::unix::fs::chown(&path, Some(12345), None).is_ok() {
            assert_eq!(cache.find_code("key", any), None, "another user's");
        }
        std::fs::remove_file(&path).expect("ours");
        let made = std::process::Command::new("mkfifo").arg(&path).status();
        assert!(made.expect("mkfifo runs").success());
        assert_eq!(cache.find_code("key", any), None, "nobody waits for a writer");
    }

    #[test]
    fn of_several_compilers_the_newest_that_is_wanted_counts() {
        let root = tempfile::tempdir().expect("a folder");
        let kept = folder(root.path().into(), true);
        for (minor, version) in [(12, 8), (13, 2), (13, 10)].into_iter().enumerate() {
            kept.keep("key", version, &[minor as u8]).expect("a folder of ours");
        }
        kept.keep("other", (14, 0), &[9]).expect("a folder of ours");
        std::fs::write(root.path().join("key-99.cubin"), "").expect("a file");
        assert_eq!(kept.find_code("key", any), Some(vec![2]));
        assert_eq!(kept.find_code("key", |version| version < (13, 10)), Some(vec![1]));
        assert_eq!(kept.find_code("key", |version| version == (12, 8)), Some(vec![0]));
        assert_eq!(kept.find_code("key", |version| version == (13, 0)), None);
        std::fs::write(root.path().join("key-13.10.cubin"), "damaged").expect("a file");
        assert_eq!(kept.find_code("key", any), Some(vec![1]));
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_an_error_only_if_the_user_named_it() {
        let root = tempfile::tempdir().expect("a folder");
        std::fs::write(root.path().join("file"), "").expect("a file");
        let inside = root.path().join("file/inside");
        let error = folder(inside.clone(), true).keep("key", (13, 0), &[1]);
        let error = error.expect_err("it names a file").to_string();
        assert!(error.contains(VARIABLE) && error.contains("inside"), "{error}");
        assert_eq!(folder(inside, false).keep("key", (13, 0), &[1]), Ok(()));
    }

    #[test]
    fn the_oldest_results_make_room_and_foreign_files_stay() {
        let root = tempfile::tempdir().expect("a folder");
        let cache = CodeFolder { max_bytes: 20_000, ..folder(root.path().into(), true) };
        let foreign = root.path().join("notes-1.0.cubin");
        std::fs::write(&foreign, [0; 30_000]).expect("a file");
        let keys: Vec<String> = (0..10u8).map(|at| CodeFolder::key(&[&[at]])).collect();
        for (position, key) in keys.iter().enumerate() {
            cache.keep(key, (1, 0), &[7; 2_500]).expect("a folder of ours");
            let file = std::fs::File::open(root.path().join(format!("{key}-1.0.cubin")));
            let minutes = std::time::Duration::from_secs(60 * position as u64);
            file.expect("the file").set_modified(SystemTime::UNIX_EPOCH + minutes).expect("ours");
        }
        cache.make_room();
        let is_kept = keys.iter().map(|key| cache.find_version(key, (1, 0)).is_some());
        // Ten files of 2,547 bytes take more than 20,000; five of them at most 15,000.
        assert_eq!(is_kept.collect::<Vec<_>>(), [[false; 5], [true; 5]].concat());
        assert!(foreign.exists());
        cache.make_room();
        assert!(cache.find_version(&keys[5], (1, 0)).is_some(), "there is room now");
    }

    #[test]
    fn keys_tell_where_a_part_ends() {
        assert_ne!(CodeFolder::key(&[b"ab", b"c"]), CodeFolder::key(&[b"a", b"bc"]));
        assert_eq!(CodeFolder::key(&[b"a"]).len(), 64);
    }
}
