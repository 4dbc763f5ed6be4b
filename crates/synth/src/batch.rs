//! Datasets on disk: blocks of rows, each a file of its own, made by any number of workers and processes.
//!
//! Block `b` holds rows `b * ROWS ..`; which process makes it, and when, changes nothing in it. A block is
//! written whole or not at all, so whatever stops a run, going on means making the blocks that aren't there.

use crate::error::SynthError;
use crate::jsonl::{read_jsonl, to_jsonl};
use crate::row::{GENERATOR_VERSION, Plan, Row, make};
use crate::table::{self, SCHEMA_VERSION, to_parquet, write_whole};
use crate::tool::{Tools, Used};
use crate::validate;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Rows in a block.
pub const BLOCK_ROWS: u64 = 500;
/// The file that says what the folder holds.
pub const MANIFEST: &str = "dataset.json";

/// What a folder holds, or will.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Manifest {
    /// Rows of the whole dataset.
    pub count: u64,
    /// What they are made of.
    pub plan: Plan,
    /// Of the program that makes them.
    pub generator_version: u32,
    /// Of the files.
    pub schema_version: u32,
    /// Whose tools made columns, beside it.
    #[serde(flatten)]
    pub tools: Used,
}

impl Manifest {
    /// A dataset of this program, and of these tools.
    pub fn new(count: u64, plan: Plan, tools: &Tools) -> Self {
        Self {
            count,
            plan,
            generator_version: GENERATOR_VERSION,
            schema_version: SCHEMA_VERSION,
            tools: tools.used(),
        }
    }

    /// The command that makes it, but for its folder.
    pub(crate) fn command(&self) -> String {
        let Plan { seed, mode, device, host_every } = self.plan;
        let (device, mode) = (format!("{device:?}"), format!("{mode:?}"));
        let host =
            if host_every == 0 { String::new() } else { format!(" --host-every {host_every}") };
        format!(
            "gbxcule synth batch --count {} --seed {seed} --device {} --mode {}{host}{}",
            self.count,
            device.to_lowercase(),
            mode.to_lowercase(),
            self.tools.options()
        )
    }

    /// What a folder says it holds.
    pub fn read(folder: &Path) -> Result<Self, SynthError> {
        let path = folder.join(MANIFEST);
        let text = std::fs::read_to_string(&path).map_err(SynthError::file(&path))?;
        serde_json::from_str(&text).map_err(|error| SynthError::data(&path, error))
    }

    fn blocks(&self) -> u64 {
        self.count.div_ceil(BLOCK_ROWS)
    }

    fn rows(&self, block: u64) -> std::ops::Range<u64> {
        block * BLOCK_ROWS..((block + 1) * BLOCK_ROWS).min(self.count)
    }
}

/// Which part of a dataset a process makes, and how.
#[derive(Clone, Copy, Debug)]
pub struct Work {
    /// This one
    pub shard: u64,
    /// of so many: every so manieth block.
    pub shards: u64,
    /// Threads.
    pub workers: usize,
    /// Whether blocks that are there are kept.
    pub resume: bool,
    /// Whether each block gets a twin of JSON lines.
    pub jsonl: bool,
}

/// Where a block lies.
pub fn block_path(folder: &Path, block: u64) -> PathBuf {
    folder.join("data").join(format!("part-{block:06}.parquet"))
}

/// Rows that a process has to make before anything is done, and those of them that are there.
pub fn extent(folder: &Path, manifest: &Manifest, work: &Work) -> (u64, u64) {
    let own = (0..manifest.blocks()).filter(|block| block % work.shards == work.shard);
    own.fold((0, 0), |(all, there), block| {
        let rows = manifest.rows(block);
        let count = rows.end - rows.start;
        (all + count, there + if block_path(folder, block).exists() { count } else { 0 })
    })
}

/// Whether all rows of a dataset are there, whoever made them.
pub fn is_whole(folder: &Path, manifest: &Manifest) -> bool {
    (0..manifest.blocks()).all(|block| block_path(folder, block).exists())
}

/// Makes the rows of one process, with the tools of its manifest; `made` hears of each.
pub fn batch(
    folder: &Path,
    manifest: &Manifest,
    work: &Work,
    tools: &Tools,
    made: &(dyn Fn() + Sync),
) -> Result<(), SynthError> {
    let path = folder.join(MANIFEST);
    if path.exists() {
        let found = Manifest::read(folder)?;
        if found != *manifest {
            let (command, version) = (found.command(), found.generator_version);
            let reason = format!("`{command}`, generator version {version}");
            return Err(SynthError::Other { path: folder.into(), reason });
        }
    } else {
        let text = serde_json::to_string_pretty(manifest)
            .map_err(|error| SynthError::data(&path, error))?;
        write_whole(&path, format!("{text}\n").as_bytes())?;
    }
    let own: Vec<u64> =
        (0..manifest.blocks()).filter(|block| block % work.shards == work.shard).collect();
    if !work.resume && own.iter().any(|&block| block_path(folder, block).exists()) {
        return Err(SynthError::NotEmpty { path: folder.into() });
    }
    for block in own {
        let path = block_path(folder, block);
        if path.exists() {
            continue;
        }
        let mut rows = rows(manifest, block, (work.workers, tools), made)?;
        let scratch = folder.join(format!("host-{}", std::process::id()));
        sample(&mut rows, manifest.plan.host_every, &scratch)?;
        if work.jsonl {
            write_whole(&path.with_extension("jsonl"), to_jsonl(&rows)?.as_bytes())?;
        }
        write_whole(&path, &to_parquet(&rows)?)?;
    }
    Ok(())
}

/// The rows of a block, in order, by several threads.
fn rows(
    manifest: &Manifest,
    block: u64,
    (workers, tools): (usize, &Tools),
    made: &(dyn Fn() + Sync),
) -> Result<Vec<Row>, SynthError> {
    let range = manifest.rows(block);
    let next = AtomicU64::new(range.start);
    let work = || -> Result<Vec<Row>, SynthError> {
        let mut rows = Vec::new();
        loop {
            let id = next.fetch_add(1, Ordering::Relaxed);
            if id >= range.end {
                return Ok(rows);
            }
            let mut row = make(manifest.plan, id);
            tools.finish(&mut row)?;
            rows.push(row);
            made();
        }
    };
    let parts: Result<Vec<Vec<Row>>, SynthError> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers.max(1)).map(|_| scope.spawn(work)).collect();
        let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
            thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        threads.into_iter().map(join).collect()
    });
    let mut rows: Vec<Row> = parts?.into_iter().flatten().collect();
    rows.sort_by_key(|row| row.id);
    tools.finish_block(&mut rows)?;
    Ok(rows)
}

/// Has the C++ text of every so many rows compiled and run, all of them together.
fn sample(rows: &mut [Row], every: u64, scratch: &Path) -> Result<(), SynthError> {
    if every == 0 {
        return Ok(());
    }
    let (at, chosen): (Vec<usize>, Vec<Row>) = rows
        .iter()
        .enumerate()
        .filter(|(_, row)| row.id % every == 0)
        .map(|(at, row)| (at, row.clone()))
        .unzip();
    let found = validate::host(&chosen, scratch)?;
    _ = std::fs::remove_dir_all(scratch);
    for (at, check) in at.into_iter().zip(found) {
        rows[at].add_check(check);
    }
    Ok(())
}

/// How a folder's rows are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// Tables.
    Parquet,
    /// Lines, where there are no tables.
    Jsonl,
}

impl Format {
    /// How its files end.
    pub fn extension(self) -> &'static str {
        match self {
            Self::Parquet => "parquet",
            Self::Jsonl => "jsonl",
        }
    }
}

/// The data files of a folder, in order: the Parquet files, or else those of JSON lines.
pub fn files(folder: &Path) -> Result<(Format, Vec<PathBuf>), SynthError> {
    let data = folder.join("data");
    let entries = std::fs::read_dir(&data).and_then(|entries| {
        entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<PathBuf>>>()
    });
    let mut paths = entries.map_err(SynthError::file(&data))?;
    paths.sort();
    let of = |format: Format| -> Vec<PathBuf> {
        let wanted = |path: &&PathBuf| path.extension().is_some_and(|it| it == format.extension());
        paths.iter().filter(wanted).cloned().collect()
    };
    let parquet = of(Format::Parquet);
    if !parquet.is_empty() {
        return Ok((Format::Parquet, parquet));
    }
    Ok((Format::Jsonl, of(Format::Jsonl)))
}

/// All rows of a folder, without what makes them long: for statistics. `read` hears how many are there.
pub fn read_brief(folder: &Path, read: &dyn Fn(usize)) -> Result<Vec<Row>, SynthError> {
    read_by(folder, read, table::read_brief, |path| read_jsonl(path, table::make_brief))
}

/// All rows of a folder.
pub fn read(folder: &Path) -> Result<Vec<Row>, SynthError> {
    read_by(folder, &|_| (), table::read_parquet, |path| read_jsonl(path, |_| ()))
}

type Reader = fn(&Path) -> Result<Vec<Row>, SynthError>;

fn read_by(
    folder: &Path,
    read: &dyn Fn(usize),
    parquet: Reader,
    jsonl: Reader,
) -> Result<Vec<Row>, SynthError> {
    let (format, paths) = files(folder)?;
    if format == Format::Jsonl {
        let found = Manifest::read(folder)?.schema_version;
        if found != SCHEMA_VERSION {
            return Err(table::other_schema(&folder.join(MANIFEST), &found.to_string()));
        }
    }
    let mut rows = Vec::new();
    for path in paths {
        rows.extend(match format {
            Format::Parquet => parquet(&path)?,
            Format::Jsonl => jsonl(&path)?,
        });
        read(rows.len());
    }
    Ok(rows)
}
