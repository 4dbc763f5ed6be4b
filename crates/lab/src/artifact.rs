//! What the lab writes down: JSON with a schema version, never half written.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use time::macros::format_description;

use crate::LabError;

/// The version of every artifact's layout; it changes when a reader would have to.
pub const SCHEMA_VERSION: u32 = 1;

/// A ROM with the name it goes by and the hash that identifies it.
#[derive(Debug, Clone)]
pub struct RomImage {
    /// A micro-ROM's name, or the file's.
    pub name: String,
    /// The bytes as they came.
    pub bytes: Arc<[u8]>,
    /// Their SHA-256.
    pub sha256: String,
}

impl RomImage {
    /// Name some bytes.
    #[must_use]
    pub fn new(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { name: name.into(), sha256: sha256(&bytes), bytes }
    }

    /// A micro-ROM by name, else a file.
    ///
    /// # Errors
    /// There is no such micro-ROM and the file cannot be read.
    pub fn find(name_or_path: &str) -> Result<Self, LabError> {
        if let Some(rom) = gbxcule_roms::by_name(name_or_path) {
            return Ok(Self::new(rom.name, rom.bytes()));
        }
        let path = Path::new(name_or_path);
        let bytes = fs::read(path).map_err(LabError::file(path))?;
        let name =
            path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Ok(Self::new(name, bytes))
    }
}

/// SHA-256 in lower-case hexadecimal.
#[must_use]
pub fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// The present moment as `20261121T031500Z`, which sorts by time and fits a file name.
#[must_use]
pub fn timestamp() -> String {
    let format = format_description!("[year][month][day]T[hour][minute][second]Z");
    OffsetDateTime::now_utc().format(format).unwrap_or_default()
}

/// A name for this run: when, what, and which process, so that two runs of one second differ.
#[must_use]
pub fn run_id(what: &str) -> String {
    format!("{}-{what}-{}", timestamp(), std::process::id())
}

/// Write bytes under a temporary name, then rename. What can't be written leaves nothing behind. A pipe or device, such as
/// `/dev/null`, is written to as it is: renaming would put a file in its place.
///
/// # Errors
/// The folder cannot be written to.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(LabError::file(folder))?;
    }
    if fs::metadata(path).is_ok_and(|there| !there.is_file() && !there.is_dir()) {
        return fs::write(path, bytes).map_err(LabError::file(path));
    }
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}.tmp", std::process::id()));
    let temporary: PathBuf = path.with_file_name(name);
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    written.map_err(|error| {
        // It may not even have been made.
        let _ = fs::remove_file(&temporary);
        LabError::file(path)(error)
    })
}

/// Write JSON for people and programs to read.
///
/// # Errors
/// The folder cannot be written to.
pub fn write_json(path: &Path, value: &Value) -> Result<(), LabError> {
    write_whole(path, format!("{value:#}\n").as_bytes())
}

/// Read JSON that [`write_json`] wrote.
///
/// # Errors
/// No such file, not JSON, or another schema version.
pub fn read_json(path: &Path) -> Result<Value, LabError> {
    let text = fs::read(path).map_err(LabError::file(path))?;
    let value: Value = serde_json::from_slice(&text)
        .map_err(|source| LabError::Json { path: path.into(), source })?;
    if value["schema_version"] == SCHEMA_VERSION {
        return Ok(value);
    }
    let found =
        format!("schema version {}, this build reads {SCHEMA_VERSION}", value["schema_version"]);
    Err(LabError::Artifact { path: path.into(), found })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cant_be_written_leaves_nothing_behind_and_is_named() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("summary.md");
        fs::create_dir(&path).expect("a folder in the way");
        let message = write_whole(&path, b"text").expect_err("a folder is in the way").to_string();
        assert!(message.starts_with(&format!("{}: ", path.display())), "{message}");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_written_to_and_stays_a_pipe() {
        use std::os::unix::fs::FileTypeExt;

        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&path).status().expect("mkfifo");
        assert!(made.success());
        let reader = std::thread::spawn({
            let path = path.clone();
            move || fs::read(path)
        });
        write_whole(&path, b"text").expect("somebody reads");
        assert_eq!(reader.join().expect("a thread").expect("bytes"), b"text");
        assert!(fs::metadata(&path).expect("still there").file_type().is_fifo());
    }
}
