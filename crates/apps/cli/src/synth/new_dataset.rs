//! Writes a dataset of given rows, for `validate`, `dedupe` and `harvest`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use gbxcule_files::TemporaryFolder;
use gbxcule_rows::batch::{BLOCK_ROWS, Manifest};
use gbxcule_rows::data_file::{Format, write_block};
use gbxcule_rows::feature_count::Usage;
use gbxcule_rows::row::Row;
use gbxcule_rows::shard::BlockResults;
use gbxcule_rows::table::write_whole;

use super::make::describe;

/// Folder for a new dataset. The dataset is written into a temporary folder, so that a full disk
/// leaves no data without a card. The temporary folder is made before the work begins, so that an
/// unwritable path is found before any work.
pub(super) struct NewDataset {
    out: PathBuf,
    /// `None` if several processes share the folder; one of them writes the dataset at the end.
    made: Option<TemporaryFolder>,
}

impl NewDataset {
    /// Makes the temporary folder, or checks the folder that processes share.
    pub(super) fn at(out: &Path, is_shared: bool) -> anyhow::Result<Self> {
        if !is_shared {
            check_free(out)?;
            return Ok(Self { out: out.to_owned(), made: Some(temporary(out)?) });
        }
        if !BlockResults::are_in(out) {
            check_free(out)?;
        }
        Ok(Self { out: out.to_owned(), made: None })
    }

    /// Writes the rows, and another file if there is one, and moves them into the folder. Of
    /// several processes only the first succeeds.
    pub(super) fn write(
        self,
        manifest: &Manifest,
        rows: &[Row],
        jsonl: bool,
        beside: Option<(&str, &[u8])>,
    ) -> anyhow::Result<()> {
        let is_shared = self.made.is_none();
        if is_shared && holds_data(&self.out) {
            return Ok(());
        }
        let made = self.made.map_or_else(|| temporary(&self.out), Ok)?;
        let count = rows.len() as u64;
        let left_out = (count != manifest.count).then_some(count);
        fill(made.path(), &Manifest { rows: left_out, ..manifest.clone() }, rows, jsonl)?;
        if let Some((name, bytes)) = beside {
            write_whole(made.path(), name, bytes)?;
        }
        if !is_shared {
            check_free(&self.out)?;
        }
        move_into(made.path(), &self.out, Path::new(""))
            .with_context(|| format!("writing a dataset in {}", self.out.display()))
    }
}

fn temporary(out: &Path) -> anyhow::Result<TemporaryFolder> {
    // A folder can only be moved within a file system, and the target may be a link or the root of
    // another file system.
    let parent = match out.canonicalize() {
        Ok(there) => there,
        Err(_) => match out.parent() {
            Some(parent) if parent != Path::new("") => parent.to_owned(),
            _ => PathBuf::from("."),
        },
    };
    let made = TemporaryFolder::inside(&parent);
    made.with_context(|| format!("--out: writing a dataset in {}", parent.display()))
}

/// Returns true if a folder has data files, or folders that hold data files.
fn holds_data(out: &Path) -> bool {
    Format::ALL.iter().any(|format| out.join(format.folder()).exists())
}

/// Refuses a folder that holds data, and a path that is not a folder.
fn check_free(out: &Path) -> anyhow::Result<()> {
    let shown = out.display();
    if holds_data(out) {
        bail!("{shown} holds data already: choose another folder");
    }
    match out.symlink_metadata() {
        Ok(_) if !out.is_dir() => bail!("{shown} is not a folder: choose another name for --out"),
        _ => Ok(()),
    }
}

/// Moves the contents of a folder, below `inside`, into another one, data files last, so that data
/// never lacks its description. No link in the other folder is followed.
fn move_into(from: &Path, to: &Path, inside: &Path) -> std::io::Result<()> {
    let mut entries = std::fs::read_dir(from.join(inside))?.collect::<std::io::Result<Vec<_>>>()?;
    let is_data = |name: &OsStr| Format::ALL.iter().any(|format| name == format.folder());
    entries.sort_by_key(|entry| (is_data(&entry.file_name()), entry.file_name()));
    for entry in entries {
        let inside = inside.join(entry.file_name());
        let there = to.join(&inside).symlink_metadata();
        if entry.file_type()?.is_dir() && there.is_ok_and(|there| there.is_dir()) {
            move_into(from, to, &inside)?;
        } else {
            gbxcule_files::move_inside(&entry.path(), to, &inside)?;
        }
    }
    Ok(())
}

fn fill(out: &Path, manifest: &Manifest, rows: &[Row], jsonl: bool) -> anyhow::Result<()> {
    let format = if jsonl { Format::Jsonl } else { Format::Parquet };
    for (block, rows) in (0..).zip(rows.chunks(BLOCK_ROWS as usize)) {
        write_block(out, format, block, rows)?;
    }
    let text = serde_json::to_string_pretty(manifest)?;
    write_whole(out, "dataset.json", format!("{text}\n").as_bytes())?;
    describe(out, manifest, rows, &Usage::of_warp())
}
