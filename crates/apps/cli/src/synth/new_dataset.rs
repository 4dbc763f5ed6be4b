//! Writes a dataset of existing rows, as `validate`, `dedupe` and `harvest` do.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use gbxcule_files::TemporaryFolder;
use gbxcule_rows::batch::Manifest;
use gbxcule_rows::feature_count::Usage;
use gbxcule_rows::jsonl::to_jsonl;
use gbxcule_rows::row::Row;
use gbxcule_rows::table::{to_parquet, write_whole};

use super::make::describe;

/// Number of rows in a file.
const FILE_ROWS: usize = 5000;

/// Folder for a new dataset. The dataset is made in a temporary folder, so that a full disk leaves
/// no data without a card. The temporary folder is made before the work begins, so that a place
/// that can't be written to costs no work.
pub(super) struct NewDataset {
    out: PathBuf,
    made: TemporaryFolder,
}

impl NewDataset {
    /// Makes the temporary folder.
    pub(super) fn at(out: &Path) -> anyhow::Result<Self> {
        check_free(out)?;
        // A link is followed, and an existing folder may be a disk of its own: a folder on another
        // disk could not be moved into it.
        let parent = match out.canonicalize() {
            Ok(there) => there,
            Err(_) => match out.parent() {
                Some(parent) if parent != Path::new("") => parent.to_owned(),
                _ => PathBuf::from("."),
            },
        };
        let made = TemporaryFolder::inside(&parent);
        let made =
            made.with_context(|| format!("--out: writing a dataset in {}", parent.display()))?;
        Ok(Self { out: out.to_owned(), made })
    }

    /// Writes the rows, with another file beside them if there is one, and moves them to their
    /// place.
    pub(super) fn write(
        self,
        manifest: &Manifest,
        rows: &[Row],
        jsonl: bool,
        beside: Option<(&str, &[u8])>,
    ) -> anyhow::Result<()> {
        let made = self.made.path();
        let count = rows.len() as u64;
        let left_out = (count != manifest.count).then_some(count);
        fill(made, &Manifest { rows: left_out, ..manifest.clone() }, rows, jsonl)?;
        if let Some((name, bytes)) = beside {
            write_whole(made, name, bytes)?;
        }
        check_free(&self.out)?;
        move_into(made, &self.out, Path::new(""))
            .with_context(|| format!("writing a dataset in {}", self.out.display()))
    }
}

/// Refuses a folder that holds data, and a path that is not a folder.
fn check_free(out: &Path) -> anyhow::Result<()> {
    let shown = out.display();
    if out.join("data").exists() {
        bail!("{shown} holds data already: choose another folder");
    }
    match out.symlink_metadata() {
        Ok(_) if !out.is_dir() => bail!("{shown} is not a folder: choose another name for --out"),
        _ => Ok(()),
    }
}

/// Moves the contents of a folder, below `inside`, into another one, `data` last: where there is
/// data, there is everything that describes it. No link in the other folder is followed.
fn move_into(from: &Path, to: &Path, inside: &Path) -> std::io::Result<()> {
    let mut entries = std::fs::read_dir(from.join(inside))?.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by_key(|entry| (entry.file_name() == "data", entry.file_name()));
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
    for (at, rows) in rows.chunks(FILE_ROWS).enumerate() {
        let name = format!("data/part-{at:06}");
        if jsonl {
            write_whole(out, &format!("{name}.jsonl"), to_jsonl(rows)?.as_bytes())?;
        } else {
            write_whole(out, &format!("{name}.parquet"), &to_parquet(rows)?)?;
        }
    }
    let text = serde_json::to_string_pretty(manifest)?;
    write_whole(out, "dataset.json", format!("{text}\n").as_bytes())?;
    describe(out, manifest, rows, &Usage::of_warp())
}
