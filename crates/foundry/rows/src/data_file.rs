//! Data files of a dataset: tables in `data`, JSON lines in `jsonl`, and for each block of rows a
//! file of each split.
//!
//! `data/train-000003.parquet` has the training rows of block 3. Loaders find a split by such a
//! name. They read all files of a folder, so each format has its own.

use crate::error::SynthError;
use crate::jsonl::to_jsonl;
use crate::row::Row;
use crate::split::SPLITS;
use crate::table::{to_parquet, write_whole};
use std::path::{Path, PathBuf};

/// Format of a folder's data files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Tables.
    Parquet,
    /// JSON lines.
    Jsonl,
}

impl Format {
    /// Both formats. If a dataset has both, the first one is read.
    pub const ALL: [Self; 2] = [Self::Parquet, Self::Jsonl];

    /// Returns the extension of the data files.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Jsonl => "jsonl",
        }
    }

    /// Returns the name of the folder of the data files.
    pub fn folder(self) -> &'static str {
        match self {
            Self::Parquet => "data",
            Self::Jsonl => "jsonl",
        }
    }
}

/// Returns the path, inside the dataset's folder, of the file with a block's rows of a split.
pub fn part_name(format: Format, split: &str, block: u64) -> String {
    format!("{}/{split}-{block:06}.{}", format.folder(), format.extension())
}

/// Returns the paths of a block's files, one for each split.
pub fn block_paths(folder: &Path, format: Format, block: u64) -> [PathBuf; 3] {
    SPLITS.map(|split| folder.join(part_name(format, split, block)))
}

/// Writes the rows of a block. A split without rows gets an empty file, so that a complete block
/// has all files.
pub fn write_block(
    folder: &Path,
    format: Format,
    block: u64,
    rows: &[Row],
) -> Result<(), SynthError> {
    for split in SPLITS {
        let of_split: Vec<Row> = rows.iter().filter(|row| row.split == split).cloned().collect();
        let bytes = match format {
            Format::Parquet => to_parquet(&of_split)?,
            Format::Jsonl => to_jsonl(&of_split)?.into_bytes(),
        };
        write_whole(folder, &part_name(format, split, block), &bytes)?;
    }
    Ok(())
}

/// Returns the split that a file's name declares, to which all its rows must belong.
pub(crate) fn declared_split(path: &Path) -> Option<&'static str> {
    let name = path.file_name()?.to_str()?;
    SPLITS.into_iter().find(|split| name.strip_prefix(split).is_some_and(|it| it.starts_with('-')))
}

/// Returns the data files of a folder, in order: the Parquet files, or else the files of JSON
/// lines.
pub fn files(folder: &Path) -> Result<(Format, Vec<PathBuf>), SynthError> {
    for format in Format::ALL {
        let paths = files_of(folder, format)?;
        if !paths.is_empty() {
            return Ok((format, paths));
        }
    }
    if Format::ALL.iter().any(|format| folder.join(format.folder()).exists()) {
        return Ok((Format::Parquet, Vec::new()));
    }
    let data = format!("folder {}", Format::Parquet.folder());
    Err(SynthError::no_dataset(folder, &data))
}

/// Returns the data files of a format, in order.
pub(crate) fn files_of(folder: &Path, format: Format) -> Result<Vec<PathBuf>, SynthError> {
    let inside = folder.join(format.folder());
    if !inside.exists() {
        return Ok(Vec::new());
    }
    let entries = std::fs::read_dir(&inside).and_then(|entries| {
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>()
    });
    let mut paths = entries.map_err(SynthError::file(&inside))?;
    paths.retain(|path| path.extension().is_some_and(|it| it == format.extension()));
    paths.sort();
    Ok(paths)
}
