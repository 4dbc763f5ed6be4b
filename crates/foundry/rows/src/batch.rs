//! Datasets on disk: blocks of rows, made by any number of workers and processes.
//!
//! Block `b` holds the rows from `b * BLOCK_ROWS` on; its bytes don't depend on the process that
//! makes it. An incomplete block is made again, so a run that was stopped continues by making the
//! missing blocks.

use crate::block;
use crate::data_file::{Format, block_paths, files, write_block};
use crate::error::SynthError;
use crate::external_column::{Ptx, Tools};
use crate::harvested::Harvest;
use crate::jsonl::read_jsonl;
use crate::row::{COMPILER_VERSION, GENERATOR_VERSION, Plan, Row, make};
use crate::shard::Shard;
use crate::table::{self, SCHEMA_VERSION, write_whole};
use crate::validate;
use crate::worker_threads::in_order;
use gbxcule_files::{sweep, write_new};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::{BTreeMap, HashSet};
use std::path::{Path, PathBuf};

/// Rows in a block.
pub const BLOCK_ROWS: u64 = 500;
/// Greatest number of rows of a dataset, because the names of blocks have six digits.
pub const MAX_ROWS: u64 = 1_000_000 * BLOCK_ROWS;
/// Name of the file that describes the folder's dataset.
pub const MANIFEST: &str = "dataset.json";
/// Folders in the folder of a dataset.
const FOLDERS: [&str; 3] = ["data", "jsonl", "statistics"];

/// Description of a dataset's folder, stored as [`MANIFEST`] before the first row is made.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(expecting = "the description of a dataset", deny_unknown_fields)]
pub struct Manifest {
    /// Number of rows of the whole dataset; their numbers are below it.
    pub count: u64,
    /// Number of rows in the folder, if some were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rows: Option<u64>,
    /// Recipe of the rows.
    pub plan: Plan,
    /// Version of the generator that makes the rows.
    pub generator_version: u32,
    /// Version of the files' schema.
    pub schema_version: u32,
    /// The compiler that made the texts.
    #[serde(default = "this_compiler")]
    pub compiler: String,
    /// Tool that made PTX.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ptx: Option<Ptx>,
    /// Wheel of NVIDIA Warp that wrote its text: version, address, hashes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub warp: Option<Value>,
    /// Origin of the rows, if they were harvested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub harvest: Option<Harvest>,
}

fn this_compiler() -> String {
    COMPILER_VERSION.into()
}

impl Manifest {
    /// Describes a dataset made by this program with these tools.
    pub fn new(count: u64, plan: Plan, tools: &Tools) -> Self {
        Self {
            count,
            rows: None,
            plan,
            generator_version: GENERATOR_VERSION,
            schema_version: SCHEMA_VERSION,
            compiler: this_compiler(),
            ptx: tools.ptx(),
            warp: tools.warp(),
            harvest: None,
        }
    }

    /// Returns the command that makes the dataset, without its output folder.
    pub(crate) fn command(&self) -> String {
        let Plan { seed, mode, device, host_every, sampled } = self.plan;
        let (device, mode) = (format!("{device:?}"), format!("{mode:?}"));
        if let Some(harvest) = &self.harvest {
            let word = |text: &str| gbxcule_files::shell_word(Path::new(text));
            let (folder, license) = (word(&harvest.folder), word(&harvest.license));
            let device = device.to_lowercase();
            return format!(
                "gbxcule synth harvest {folder} --license {license} --seed {seed} --device {device}"
            );
        }
        let host =
            if host_every == 0 { String::new() } else { format!(" --host-every {host_every}") };
        format!(
            "gbxcule synth batch --count {} --seed {seed} --sampled {sampled} --device {} --mode {}{host}{}",
            self.count,
            device.to_lowercase(),
            mode.to_lowercase(),
            self.tool_options()
        )
    }

    /// Reads the manifest of a folder.
    pub fn read(folder: &Path) -> Result<Self, SynthError> {
        let path = folder.join(MANIFEST);
        if !path.exists() && !path.is_symlink() {
            return Err(SynthError::no_dataset(folder, MANIFEST));
        }
        let text = gbxcule_files::read_text(&path, gbxcule_files::MAX_TEXT_BYTES)
            .map_err(SynthError::file(&path))?;
        // Another schema may have other keys: name the schema first.
        let value = serde_json::from_str::<Value>(&text).ok();
        let version = value.and_then(|manifest| manifest.get("schema_version")?.as_u64());
        if let Some(version) = version
            && version != u64::from(SCHEMA_VERSION)
        {
            return Err(table::other_schema(&path, &version.to_string()));
        }
        let manifest: Self = serde_json::from_str(&text).map_err(|error| {
            SynthError::data(&path, format!("{error}: get the file as `gbxcule synth` wrote it"))
        })?;
        if manifest.count > MAX_ROWS {
            let reason = format!("{} rows, and a dataset has {MAX_ROWS} at most", manifest.count);
            return Err(SynthError::data(&path, reason));
        }
        match manifest.harvest.as_ref().and_then(Harvest::fault) {
            Some(reason) => Err(SynthError::data(&path, reason)),
            None => Ok(manifest),
        }
    }

    /// Returns the number of blocks.
    pub fn blocks(&self) -> u64 {
        self.count.div_ceil(BLOCK_ROWS)
    }

    /// Returns the blocks of one process.
    fn own_blocks(&self, work: &Work) -> impl Iterator<Item = u64> {
        let shard = work.shard;
        (0..self.blocks()).filter(move |block| shard.owns(*block))
    }

    fn rows(&self, block: u64) -> std::ops::Range<u64> {
        block * BLOCK_ROWS..((block + 1) * BLOCK_ROWS).min(self.count)
    }
}

/// Part of a dataset that a process makes, with its settings.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// The blocks of this process.
    pub shard: Shard,
    /// Number of threads.
    pub workers: usize,
    /// True to keep the blocks that exist already.
    pub resume: bool,
    /// True to write each block as JSON lines, too.
    pub jsonl: bool,
}

/// Size of the work of one process, and the part that is done already.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BatchProgress {
    /// Number of rows in all blocks of the process.
    pub rows: u64,
    /// Number of rows in the blocks that exist.
    pub there: u64,
    /// Files of incomplete blocks, which are made again with the missing ones.
    pub damaged: Vec<PathBuf>,
    /// Number of files and folders of killed processes that were removed.
    pub swept: usize,
    missing: Vec<u64>,
    /// Blocks that still need a copy as JSON lines.
    twins: Vec<u64>,
}

/// Begins the work in a folder: writes the manifest, refuses a folder with another dataset, finds
/// the existing blocks, and removes the temporary files of killed processes. If the work resumes
/// with a larger number of rows, the folder's last block is made again.
pub fn begin(folder: &Path, manifest: &Manifest, work: &Work) -> Result<BatchProgress, SynthError> {
    claim(folder, manifest, work.resume)?;
    let progress = progress(folder, manifest, work);
    if !work.resume && progress.there > 0 {
        return Err(SynthError::NotEmpty { path: folder.into() });
    }
    Ok(progress)
}

fn progress(folder: &Path, manifest: &Manifest, work: &Work) -> BatchProgress {
    let swept = sweep(folder) + FOLDERS.iter().map(|it| sweep(&folder.join(it))).sum::<usize>();
    let (mut rows, mut there, mut damaged) = (0, 0, Vec::new());
    let (mut missing, mut twins) = (Vec::new(), Vec::new());
    for block in manifest.own_blocks(work) {
        let range = manifest.rows(block);
        let paths = block_paths(folder, Format::Parquet, block);
        let present: Vec<&PathBuf> = paths.iter().filter(|path| path.exists()).collect();
        let count = range.end - range.start;
        rows += count;
        if !present.is_empty() && (!work.resume || block::holds(&paths, &range, manifest)) {
            there += count;
            let lines = block_paths(folder, Format::Jsonl, block);
            if work.jsonl && !block::have_lines(&lines, count) {
                twins.push(block);
            }
        } else {
            damaged.extend(present.into_iter().cloned());
            missing.push(block);
        }
    }
    BatchProgress { rows, there, damaged, swept, missing, twins }
}

/// Returns true if all rows of a dataset exist, no matter which process made them.
pub fn is_whole(folder: &Path, manifest: &Manifest) -> bool {
    let is_whole = |block| {
        block_paths(folder, Format::Parquet, block).iter().all(|path| block::has_ends(path))
    };
    (0..manifest.blocks()).all(is_whole)
}

/// Makes the rows of one process, with the tools of its manifest; calls `made` for each.
pub fn batch(
    folder: &Path,
    manifest: &Manifest,
    work: &Work,
    tools: &Tools,
    made: &(dyn Fn() + Sync),
) -> Result<(), SynthError> {
    finish(folder, manifest, (work, &begin(folder, manifest, work)?), tools, made)
}

/// Does the work of [`batch`] after [`begin`].
pub fn finish(
    folder: &Path,
    manifest: &Manifest,
    (work, progress): (&Work, &BatchProgress),
    tools: &Tools,
    made: &(dyn Fn() + Sync),
) -> Result<(), SynthError> {
    for &block in &progress.twins {
        let mut rows = Vec::new();
        for path in block_paths(folder, Format::Parquet, block) {
            rows.extend(table::read_parquet(&path)?);
        }
        write_block(folder, Format::Jsonl, block, &rows)?;
    }
    for &block in &progress.missing {
        let paths = block_paths(folder, Format::Parquet, block);
        // Another process may have made the block by now.
        if paths.iter().all(|path| path.exists() && !progress.damaged.contains(path)) {
            continue;
        }
        let mut rows = rows(manifest, block, (work.workers, tools), made)?;
        sample(&mut rows, manifest.plan.host_every, folder)?;
        if work.jsonl {
            write_block(folder, Format::Jsonl, block, &rows)?;
        }
        write_block(folder, Format::Parquet, block, &rows)?;
    }
    Ok(())
}

/// Writes the manifest into a folder, or refuses a folder with another dataset.
fn claim(folder: &Path, manifest: &Manifest, resumes: bool) -> Result<(), SynthError> {
    // With a link the folder's owner could choose files of this user to be replaced.
    for inside in FOLDERS.map(|inside| folder.join(inside)) {
        if inside.is_symlink() {
            let reason = "a link is in the place of a folder: make it one, or name another folder";
            return Err(SynthError::data(&inside, reason));
        }
    }
    let path = folder.join(MANIFEST);
    let text = serde_json::to_string_pretty(manifest);
    let text = text.map_err(|error| SynthError::data(&path, error))? + "\n";
    if !path.exists() {
        // Of several processes that start at once, one writes the manifest; the others read it.
        let written = write_new(folder, MANIFEST, text.as_bytes());
        written.map_err(SynthError::file(&path))?;
    }
    let existing = Manifest::read(folder)?;
    let grows = resumes && existing.count < manifest.count;
    if grows && (Manifest { count: manifest.count, ..existing.clone() }) == *manifest {
        return write_whole(folder, MANIFEST, text.as_bytes());
    }
    if existing == *manifest {
        return Ok(());
    }
    let (command, version) = (existing.command(), existing.generator_version);
    let reason = format!("`{command}`, generator version {version}");
    Err(SynthError::Other { path: folder.into(), reason })
}

/// Makes the rows of a block on several threads, and returns them in order.
fn rows(
    manifest: &Manifest,
    block: u64,
    (workers, tools): (usize, &Tools),
    made: &(dyn Fn() + Sync),
) -> Result<Vec<Row>, SynthError> {
    let range = manifest.rows(block);
    let count = (range.end - range.start) as usize;
    let mut rows = in_order(workers, count, |number| -> Result<Row, SynthError> {
        let mut row = make(manifest.plan, range.start + number as u64);
        tools.finish(&mut row)?;
        made();
        Ok(row)
    })?;
    tools.finish_block(&mut rows)?;
    Ok(rows)
}

/// Compiles the C++ texts of one in `every` rows into one program, and runs the program below a
/// folder.
fn sample(rows: &mut [Row], every: u64, folder: &Path) -> Result<(), SynthError> {
    if every == 0 {
        return Ok(());
    }
    let (at, chosen): (Vec<usize>, Vec<Row>) = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.id % every == 0)
        .map(|(at, row)| (at, row.clone()))
        .unzip();
    let checks = validate::host(&chosen, folder)?;
    for (at, check) in at.into_iter().zip(checks) {
        if let Ok(check) = check {
            rows[at].add_check(check);
        }
    }
    Ok(())
}

/// Reads all rows of a folder without their bulky columns, for statistics, and calls `read` with
/// the number of rows so far.
pub fn read_brief(folder: &Path, read: &dyn Fn(usize)) -> Result<Vec<Row>, SynthError> {
    read_by(folder, read, read_file_brief)
}

/// Reads all rows of a folder.
pub fn read(folder: &Path) -> Result<Vec<Row>, SynthError> {
    read_by(folder, &|_| (), read_file)
}

/// Reads the rows for whose numbers `wanted` is true. Of a table without such rows only the numbers
/// are read.
pub fn read_some(
    folder: &Path,
    wanted: &dyn Fn(u64) -> bool,
) -> Result<BTreeMap<u64, Row>, SynthError> {
    let mut rows = BTreeMap::new();
    let (format, paths) = files(folder)?;
    for path in paths {
        let is_table = format == Format::Parquet;
        if is_table && !table::read_splits(&path)?.iter().any(|row| wanted(row.id)) {
            continue;
        }
        for row in read_file(format, &path)?.into_iter().filter(|row| wanted(row.id)) {
            if let Some(other) = rows.insert(row.id, row) {
                return Err(repeated(folder, &other));
            }
        }
    }
    Ok(rows)
}

/// Reads the rows of a data file.
pub fn read_file(format: Format, path: &Path) -> Result<Vec<Row>, SynthError> {
    match format {
        Format::Parquet => table::read_parquet(path),
        Format::Jsonl => read_jsonl(path, |_| ()),
    }
}

/// Reads the rows of a data file without their bulky columns.
pub fn read_file_brief(format: Format, path: &Path) -> Result<Vec<Row>, SynthError> {
    match format {
        Format::Parquet => table::read_brief(path),
        Format::Jsonl => read_jsonl(path, table::make_brief),
    }
}

type Reader = fn(Format, &Path) -> Result<Vec<Row>, SynthError>;

fn read_by(folder: &Path, read: &dyn Fn(usize), rows_of: Reader) -> Result<Vec<Row>, SynthError> {
    let (format, paths) = files(folder)?;
    if format == Format::Jsonl {
        Manifest::read(folder)?;
    }
    let mut rows = Vec::new();
    for path in paths {
        rows.extend(rows_of(format, &path)?);
        read(rows.len());
    }
    rows.sort_by_key(|row| row.id);
    Ok(rows)
}

/// Checks that no two rows have the same number, because tasks, answers and origins name a row only
/// by its number.
pub fn check_numbers(folder: &Path, rows: &[Row]) -> Result<(), SynthError> {
    let mut numbers = HashSet::new();
    match rows.iter().find(|row| !numbers.insert(row.id)) {
        None => Ok(()),
        Some(row) => Err(repeated(folder, row)),
    }
}

fn repeated(folder: &Path, row: &Row) -> SynthError {
    let reason = format!(
        "two rows have the number {}, and an answer names its row by that number: put the rows of each dataset into a folder of its own",
        row.id
    );
    SynthError::data(folder, reason)
}
