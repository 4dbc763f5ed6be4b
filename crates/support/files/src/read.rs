//! Reading of files whose names come from a user or from foreign data: only regular files, up to a
//! size.
//!
//! A pipe or a device may never end, so neither is opened to be read. The limit counts the bytes
//! read, because a file may grow, or report a wrong size as those in `/proc` do.

use std::fs::{File, FileType, Metadata};
use std::io::{Error, ErrorKind, Read, Result};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::{Mode, OFlags};

use crate::open_folder::WRITABLE_BY_OTHERS;
use crate::patience::{Patient, patiently};

/// Size of the largest cartridge, and so of the largest ROM file.
pub const MAX_ROM_BYTES: u64 = 8 << 20;
/// Bytes of the largest text that a person wrote by hand: a program, a manifest.
pub const MAX_TEXT_BYTES: u64 = 16 << 20;

/// Opens a regular file to be read.
///
/// # Errors
/// The path is a URL, or the file can't be opened, or is a folder, a pipe, a socket or a device.
pub fn open(path: &Path) -> Result<Patient<File>> {
    crate::check_local(path)?;
    // The check comes before the opening, because opening some devices has a side effect.
    check_regular(path.metadata()?.file_type())?;
    // The file may have been replaced since the check: opening a pipe would wait for a writer.
    let flags = OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let file: File = patiently(|| rustix::fs::open(path, flags, Mode::empty()))?.into();
    check_regular(file.metadata()?.file_type())?;
    Ok(Patient::new(file))
}

fn check_regular(kind: FileType) -> Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    let what = if kind.is_dir() { "a folder" } else { "a pipe, a socket or a device" };
    Err(Error::new(ErrorKind::InvalidInput, format!("this is {what}, not a file")))
}

/// Reads a regular file of at most `most_bytes`.
///
/// # Errors
/// As for [`open`], or the file is larger.
pub fn read(path: &Path, most_bytes: u64) -> Result<Vec<u8>> {
    read_open(open(path)?, most_bytes)
}

/// Reads a regular file of at most `most_bytes` that no other user could have written: this user
/// or the system's owner owns it, and nobody else may write to it.
///
/// # Errors
/// As those of [`read()`], or another user could have written it.
pub fn read_own(path: &Path, most_bytes: u64) -> Result<Vec<u8>> {
    let file = open(path)?;
    // The check is on the open file, because the path may lead to another file by now.
    if !is_own(&file.get().metadata()?) {
        let message = "another user could have written this";
        return Err(Error::new(ErrorKind::PermissionDenied, message));
    }
    read_open(file, most_bytes)
}

fn is_own(there: &Metadata) -> bool {
    let owners = [rustix::process::geteuid().as_raw(), 0];
    owners.contains(&there.uid()) && there.mode() & WRITABLE_BY_OTHERS == 0
}

fn read_open(file: Patient<File>, most_bytes: u64) -> Result<Vec<u8>> {
    let size = file.get().metadata()?.len();
    if size > most_bytes {
        return Err(too_large(size, most_bytes));
    }
    let mut bytes = Vec::with_capacity(usize::try_from(size).unwrap_or(0));
    file.take(most_bytes + 1).read_to_end(&mut bytes)?;
    let size = bytes.len() as u64;
    if size > most_bytes { Err(too_large(size, most_bytes)) } else { Ok(bytes) }
}

/// Reads a regular file of at most `most_bytes` that begins with `magic`. If the file begins
/// otherwise, only its beginning is returned, for the caller's parser to refuse.
///
/// # Errors
/// As those of [`read()`].
pub fn read_record(path: &Path, magic: &[u8], most_bytes: u64) -> Result<Vec<u8>> {
    let mut beginning = Vec::with_capacity(magic.len());
    open(path)?.take(magic.len() as u64).read_to_end(&mut beginning)?;
    if beginning == magic { read(path, most_bytes) } else { Ok(beginning) }
}

/// Reads a regular file of at most `most_bytes` as UTF-8 text.
///
/// # Errors
/// As those of [`read()`], or the file is not UTF-8 text.
pub fn read_text(path: &Path, most_bytes: u64) -> Result<String> {
    String::from_utf8(read(path, most_bytes)?)
        .map_err(|_| Error::new(ErrorKind::InvalidData, "this is no UTF-8 text"))
}

fn too_large(size: u64, most_bytes: u64) -> Error {
    let limit = if most_bytes >= 1 << 20 {
        format!("{} MiB", most_bytes >> 20)
    } else {
        format!("{most_bytes} bytes")
    };
    let message = format!("this has {size} bytes or more, and at most {limit} are read");
    Error::new(ErrorKind::FileTooLarge, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(path: &Path, most_bytes: u64) -> String {
        read(path, most_bytes).expect_err("refused").to_string()
    }

    #[test]
    fn a_file_is_read_up_to_the_limit_and_refused_beyond_it() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("rom");
        std::fs::write(&path, [7; 100]).expect("a file");
        assert_eq!(read(&path, 100).expect("a small file"), [7; 100]);
        assert_eq!(refusal(&path, 99), "this has 100 bytes or more, and at most 99 bytes are read");
        assert!(read_text(&path, 100).is_ok());
        std::fs::write(&path, [0xFF]).expect("a file");
        assert_eq!(read_text(&path, 1).expect_err("no text").kind(), ErrorKind::InvalidData);
    }

    #[test]
    fn of_a_file_that_begins_otherwise_the_beginning_is_read_alone() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), b"magic and more").expect("a file");
        let read = |magic| read_record(file.path(), magic, 1 << 50).expect("a file");
        assert_eq!(read(b"magic"), b"magic and more");
        file.as_file().set_len(1 << 40).expect("a hole");
        assert_eq!(read(b"other"), b"magic");
    }

    /// Without the limit, reading would take too long for a test, and too much memory.
    #[test]
    fn a_file_of_a_tebibyte_is_refused_before_it_is_read() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        file.as_file().set_len(1 << 40).expect("a hole");
        let message = refusal(file.path(), MAX_ROM_BYTES);
        assert_eq!(message, "this has 1099511627776 bytes or more, and at most 8 MiB are read");
    }

    #[test]
    fn folders_are_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(read(folder.path(), 100).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn pipes_and_devices_are_refused_without_waiting_for_their_bytes() {
        let folder = tempfile::tempdir().expect("a folder");
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
        assert!(made.success());
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/dev/zero", &link).expect("a link");
        for path in [&*pipe, Path::new("/dev/zero"), &link] {
            assert_eq!(refusal(path, 100), "this is a pipe, a socket or a device, not a file");
        }
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_file_that_says_it_is_empty_is_read_up_to_the_limit_too() {
        let path = Path::new("/proc/self/status");
        assert_eq!(std::fs::metadata(path).expect("a file").len(), 0);
        assert!(read(path, 1 << 20).expect("a small file").len() > 100);
        assert!(refusal(path, 10).contains("at most 10 bytes"));
    }
}
