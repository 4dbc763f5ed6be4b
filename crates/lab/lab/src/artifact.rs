//! Artifacts of the lab: JSON with a schema version. A file is complete or missing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::{fs, io};

use serde_json::Value;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use time::macros::format_description;

use crate::LabError;

/// Version of every artifact's layout, which changes whenever readers must change.
pub const SCHEMA_VERSION: u32 = 1;

/// Size of the largest artifact in bytes.
const MAX_JSON_BYTES: u64 = 64 << 20;

/// ROM with its name, and the hash that identifies it.
#[derive(Debug, Clone)]
pub struct RomImage {
    /// Name of a micro-ROM, or of the file.
    pub name: String,
    /// Bytes of the ROM, unchanged.
    pub bytes: Arc<[u8]>,
    /// SHA-256 of the bytes.
    pub sha256: String,
}

impl RomImage {
    /// Makes a ROM with this name and these bytes.
    #[must_use]
    pub fn new(name: impl Into<String>, bytes: impl Into<Arc<[u8]>>) -> Self {
        let bytes = bytes.into();
        Self { name: name.into(), sha256: sha256(&bytes), bytes }
    }

    /// Finds a micro-ROM by name, else reads a file.
    ///
    /// # Errors
    /// There is no such micro-ROM and the file cannot be read.
    pub fn find(name_or_path: &str) -> Result<Self, LabError> {
        if let Some(rom) = gbxcule_assembler::by_name(name_or_path) {
            return Ok(Self::new(rom.name, rom.bytes()));
        }
        let path = Path::new(name_or_path);
        let bytes = gbxcule_files::read(path, gbxcule_files::MAX_ROM_BYTES)
            .map_err(LabError::file(path))?;
        let name =
            path.file_stem().map_or_else(String::new, |stem| stem.to_string_lossy().into_owned());
        Ok(Self::new(name, bytes))
    }
}

/// Returns the paths of a folder's entries, sorted.
pub(crate) fn entries(folder: &Path) -> Result<Vec<PathBuf>, LabError> {
    let read = || fs::read_dir(folder)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>();
    let mut paths: Vec<PathBuf> = read().map_err(LabError::file(folder))?;
    paths.sort();
    Ok(paths)
}

/// Returns the SHA-256 in lower-case hexadecimal.
pub fn sha256(bytes: &[u8]) -> String {
    gbxcule_files::hex(&Sha256::digest(bytes))
}

/// Returns the present time as `20261121T031500Z`, which sorts by time and fits a file name.
pub fn timestamp() -> String {
    let format = format_description!("[year][month][day]T[hour][minute][second]Z");
    OffsetDateTime::now_utc().format(format).unwrap_or_default()
}

/// Converts a name to a part of a file's name: short, and without characters that are special to
/// shells, file systems or terminals.
pub fn file_part(name: &str) -> String {
    const MOST: usize = 80;
    let is_kept = |it: char| it.is_alphanumeric() || "-_.".contains(it);
    let mut part: String =
        name.chars().map(|it| if is_kept(it) { it } else { '_' }).take(MOST).collect();
    while part.len() > MOST {
        part.pop();
    }
    part
}

/// Makes a name for this run: the time, the kind of run, and a random number, so that two runs in
/// one second have different names on all machines.
pub fn run_id(kind: &str) -> String {
    format!("{}-{}-{}", timestamp(), file_part(kind), gbxcule_files::random_word())
}

/// Writes a complete file: see [`gbxcule_files::write`].
///
/// # Errors
/// The file cannot be written.
pub fn write_whole(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    gbxcule_files::write(path, bytes).map_err(LabError::file(path))
}

/// Writes a file into a folder that others may have filled, and returns its path: see
/// [`gbxcule_files::replace`].
pub(crate) fn replace(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, LabError> {
    let path = folder.join(name);
    gbxcule_files::replace(folder, name, bytes).map_err(LabError::file(&path))?;
    Ok(path)
}

/// Writes JSON for people and programs to read.
///
/// # Errors
/// The folder cannot be written to.
pub fn write_json(path: &Path, value: &Value) -> Result<(), LabError> {
    write_whole(path, format!("{value:#}\n").as_bytes())
}

/// Reads JSON that [`write_json`] wrote.
///
/// # Errors
/// No such file, not JSON, or another schema version.
pub fn read_json(path: &Path) -> Result<Value, LabError> {
    let value = read_foreign_json(path)?;
    if value["schema_version"] == SCHEMA_VERSION {
        return Ok(value);
    }
    let found =
        format!("schema version {}, this build reads {SCHEMA_VERSION}", value["schema_version"]);
    Err(LabError::Artifact { path: path.into(), found })
}

/// Reads JSON of unknown origin.
///
/// # Errors
/// No such file, or not JSON.
pub fn read_foreign_json(path: &Path) -> Result<Value, LabError> {
    let text = gbxcule_files::read(path, MAX_JSON_BYTES).map_err(LabError::file(path))?;
    serde_json::from_slice(&text).map_err(|source| LabError::Json { path: path.into(), source })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn names_of_roms_make_short_plain_parts_of_file_names() {
        assert_eq!(file_part("PEARL_DRIFT"), "PEARL_DRIFT");
        assert_eq!(file_part("two words/../$(x)\n"), "two_words_..___x__");
        assert_eq!(file_part(&"é".repeat(300)), "é".repeat(40));
    }

    #[test]
    fn a_file_that_cannot_be_written_is_named_and_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("summary.md");
        fs::create_dir(&path).expect("a folder in the way");
        let message = write_whole(&path, b"text").expect_err("a folder is in the way").to_string();
        assert!(message.starts_with(&format!("{}: ", path.display())), "{message}");
        assert_eq!(fs::read_dir(folder.path()).expect("the folder").count(), 1);
    }

    #[test]
    fn a_long_name_makes_a_short_one() {
        let name = run_id(&"é".repeat(200));
        assert!(name.len() <= 120, "{name}");
        assert_ne!(run_id("a"), run_id("a"));
    }
}
