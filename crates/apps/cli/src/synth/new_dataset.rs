//! Writes a dataset of existing rows, as `validate`, `dedupe` and `harvest` do.

use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use gbxcule_files::TemporaryFolder;
use gbxcule_rows::batch::Manifest;
use gbxcule_rows::feature_count::Usage;
use gbxcule_rows::jsonl::to_jsonl;
use gbxcule_rows::row::Row;
use gbxcule_rows::table::to_parquet;

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
            write_file(&made.join(name), bytes)?;
        }
        check_free(&self.out)?;
        move_into(made, &self.out)
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

/// Moves the contents of a folder into another one, `data` last: where there is data, there is
/// everything that describes it.
fn move_into(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    let mut entries = std::fs::read_dir(from)?.collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by_key(|entry| (entry.file_name() == "data", entry.file_name()));
    for entry in entries {
        let (here, there) = (entry.path(), to.join(entry.file_name()));
        if there.is_dir() {
            move_into(&here, &there)?;
        } else {
            std::fs::rename(here, there)?;
        }
    }
    Ok(())
}

fn fill(out: &Path, manifest: &Manifest, rows: &[Row], jsonl: bool) -> anyhow::Result<()> {
    for (at, rows) in rows.chunks(FILE_ROWS).enumerate() {
        let path = out.join("data").join(format!("part-{at:06}"));
        if jsonl {
            write_file(&path.with_extension("jsonl"), to_jsonl(rows)?.as_bytes())?;
        } else {
            write_file(&path.with_extension("parquet"), &to_parquet(rows)?)?;
        }
    }
    let text = serde_json::to_string_pretty(manifest)?;
    write_file(&out.join("dataset.json"), format!("{text}\n").as_bytes())?;
    describe(out, manifest, rows, &Usage::of_warp())
}

/// Writes a complete file of a dataset, with its path in an error. No link in the folder is
/// followed.
pub(super) fn write_file(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    gbxcule_files::replace(path, bytes).with_context(|| format!("writing {}", path.display()))
}
